//! A tree that a service follows: the view is updated whenever something changes.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use transect::table::Table;

use crate::message::Message;

/// A tree that is known without a walk.
pub trait FollowedTree: Send + Sync {
    /// Returns the tree as it is now; `None` if it is not followed any more.
    fn read(&self) -> Option<Table>;

    /// Calls `show` with the tree after each change, until that returns false or the tree is not followed any more.
    fn follow(&self, show: &dyn Fn(Table) -> bool);
}

impl fmt::Debug for dyn FollowedTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FollowedTree")
    }
}

/// Sends a table after each change, until the view has closed or the tree is not followed any more.
pub(crate) fn follow(tree: &dyn FollowedTree, messages: &Sender<Message>) {
    tree.follow(&|table| messages.send(Message::Followed(Arc::new(table))).is_ok());
    // A failed send means that the view has closed.
    let _ = messages.send(Message::NotFollowed);
}
