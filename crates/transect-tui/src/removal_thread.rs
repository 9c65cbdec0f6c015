//! A removal on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use transect::Cancel;
use transect::table::{Row, Table};
use transect_remove::{Counts, Removal, Report, Trash};

use crate::background::Worker;
use crate::message::Message;
use transect_text::quote;

const REPORT_INTERVAL: Duration = Duration::from_millis(50);

/// The trash, or `None` to delete.
pub(crate) type Destination = Option<Trash>;

/// Starts to remove entries of a table.
pub(crate) fn start(
    table: Arc<Table>,
    rows: Vec<Row>,
    destination: Destination,
    messages: Sender<Message>,
) -> Worker<()> {
    let cancel = Cancel::new();
    let stop = cancel.clone();
    Worker::start(cancel, move || {
        let message = match remove(&table, rows, destination, &stop, &messages) {
            Ok(report) => Message::Removed { table, report },
            Err(why) => Message::RemovalFailed(why),
        };
        // A failed send means that the view has closed.
        let _ = messages.send(message);
    })
}

fn remove(
    table: &Table,
    rows: Vec<Row>,
    destination: Destination,
    stop: &Cancel,
    messages: &Sender<Message>,
) -> Result<Report, String> {
    let removal = Removal::new(table, rows).map_err(|refused| refused.to_string())?;
    let mut last_report = Instant::now();
    let mut progress = |counts: &Counts, row| {
        if last_report.elapsed() >= REPORT_INTERVAL {
            last_report = Instant::now();
            let last = quote::for_terminal(table.path(row).as_os_str());
            let _ = messages.send(Message::RemovalProgress { counts: *counts, last });
        }
    };
    Ok(match destination {
        Some(trash) => removal.trash(&trash, stop, &mut progress),
        None => removal.delete(stop, &mut progress),
    })
}
