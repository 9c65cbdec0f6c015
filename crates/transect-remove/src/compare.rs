//! Compares an entry with the walk.

use transect_sys::{Attributes, FileType};

use crate::report::KeepReason;
use transect::table::{Row, Table};

/// Compares the attributes of an entry with those in the table: type; device and inode if the table
/// has them; size and modification time except for directories, which change when their entries are
/// removed.
pub(super) fn compare(table: &Table, row: Row, now: &Attributes) -> Result<(), KeepReason> {
    let then = table.attributes(row);
    let differ =
        |then: Option<u64>, now: Option<u64>| then.zip(now).is_some_and(|(then, now)| then != now);
    if then.file_type() != now.file_type()
        || differ(then.inode(), now.inode())
        || differ(then.device(), now.device())
    {
        return Err(KeepReason::Changed);
    }
    if now.file_type() == FileType::Directory {
        return Ok(());
    }
    let (Some(size), Some(mtime)) = (then.size(), then.mtime()) else {
        return Err(KeepReason::NotSeen);
    };
    if now.size() == Some(size) && now.mtime() == Some(mtime) {
        Ok(())
    } else {
        Err(KeepReason::Changed)
    }
}
