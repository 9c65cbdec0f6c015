//! A search for duplicates on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use transect::table::{Row, Table};
use transect_duplicates::{FindOptions, find};

use crate::message::{Message, RequestId};

/// Starts to search below a directory. `options` have the counters, and the request to stop.
pub(crate) fn start(
    request: RequestId,
    table: Arc<Table>,
    below: Row,
    mut options: FindOptions,
    messages: Sender<Message>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        options.below = Some(below);
        let found = find(&table, &options);
        // A failed send means that the view has closed.
        let _ = messages.send(Message::Duplicates { request, table, found });
    })
}
