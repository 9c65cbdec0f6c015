//! Looks into directories and at the targets of links, with a reader of its own.

use std::ffi::OsStr;
use std::path::Path;

use transect_sys::{Batch, Fault, FaultKind, FieldMask, FileType, ListStatus, Reader, Want};

use crate::walk::budget::HandleBudget;

/// Looks into directories while another reader lists their parent: a reader lists only one directory
/// at a time.
pub(in crate::walk) struct Prober<R> {
    reader: R,
    batch: Batch,
}

impl<R: Reader> Prober<R> {
    pub(in crate::walk) fn new(reader: R) -> Self {
        Self { reader, batch: Batch::new() }
    }

    /// Returns whether the system lists nothing in a directory. `parent` is `None` for a root.
    pub(super) fn is_empty(
        &mut self,
        parent: Option<&R::Handle>,
        name: &OsStr,
        follow: bool,
        budget: &HandleBudget,
    ) -> Result<bool, Fault> {
        let Self { reader, batch } = self;
        let handle = budget.with_descriptor(|| match parent {
            Some(parent) => reader.open(parent, &[name], follow),
            None => reader.open_root(Path::new(name), follow),
        })?;
        loop {
            let status = reader.list(&handle, batch, &Want::default())?;
            if !batch.is_empty() {
                return Ok(false);
            }
            if status == ListStatus::End {
                return Ok(true);
            }
        }
    }

    /// Returns whether the target of a link does not exist. `parent` is `None` for a root.
    pub(super) fn is_broken(
        &mut self,
        parent: Option<&R::Handle>,
        name: &OsStr,
    ) -> Result<bool, Fault> {
        let target = match parent {
            Some(parent) => self.reader.stat(parent, &[name], FieldMask::empty(), true),
            None => self.reader.stat_root(Path::new(name), FieldMask::empty(), true),
        };
        match target {
            // Readers return the link itself if its target does not exist, or if it leads in a loop.
            Ok(target) => Ok(target.file_type() == FileType::Symlink),
            Err(Fault::Failed(error)) if FaultKind::of(&error) == FaultKind::NameTooLong => {
                Ok(true)
            }
            Err(fault) => Err(fault),
        }
    }
}
