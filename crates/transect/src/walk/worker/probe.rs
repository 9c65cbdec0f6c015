//! Filters that look into directories and at the targets of links: `empty` and `broken_links`.

use std::ffi::OsStr;
use std::path::Path;

use transect_sys::{
    Batch, EntryRef, Fault, FaultKind, FieldMask, FileType, ListStatus, Reader, Verdict, Want,
};

use super::enter::with_descriptor;
use super::{DirOf, Worker};
use crate::error::Operation;
use crate::filter;
use crate::sink::Sink;
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
    fn is_empty(
        &mut self,
        parent: Option<&R::Handle>,
        name: &OsStr,
        follow: bool,
        budget: &HandleBudget,
    ) -> Result<bool, Fault> {
        let Self { reader, batch } = self;
        let handle = with_descriptor(budget, || match parent {
            Some(parent) => reader.open(parent, &[name], follow),
            None => reader.open_root(Path::new(name), follow),
        })?;
        loop {
            let status = reader.list(&handle, batch, &Want::default())?;
            if batch.entries().next().is_some() {
                return Ok(false);
            }
            if status == ListStatus::End {
                return Ok(true);
            }
        }
    }

    /// Returns whether the target of a link does not exist. `parent` is `None` for a root.
    fn is_broken(&mut self, parent: Option<&R::Handle>, name: &OsStr) -> Result<bool, Fault> {
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

impl<R: Reader, S: Sink> Worker<'_, R, S> {
    /// Drops directories that are not empty and links that are not broken, if the filters require it.
    /// `handle` is `None` for roots.
    pub(super) fn judge_contents(&mut self, dir: &DirOf<S>, handle: Option<&R::Handle>) {
        let Self { shared, batch, prober: Some(prober), .. } = self else { return };
        let plan = &shared.plan;
        let Some(filter) = &plan.filter else { return };
        let mut faults = Vec::new();
        batch.judge(|entry: EntryRef<'_>| {
            if !matches!(entry.verdict, Verdict::Keep | Verdict::Prune) {
                return entry.verdict;
            }
            let is_match = match entry.file_type() {
                FileType::Directory if filter.requires_empty() => {
                    // Opening a placeholder would download what is in it.
                    if entry.attributes.is_placeholder() && !plan.follow {
                        Ok(false)
                    } else {
                        let follow = entry.followed || plan.follow && handle.is_none();
                        prober.is_empty(handle, entry.name, follow, &shared.budget)
                    }
                }
                FileType::Symlink if filter.requires_broken() => {
                    prober.is_broken(handle, entry.name)
                }
                _ => Ok(true),
            };
            match is_match {
                Ok(true) => return entry.verdict,
                Ok(false) => {}
                Err(fault) => {
                    faults.push((entry.name.to_owned(), entry.verdict, *entry.attributes, fault));
                }
            }
            filter::without(entry.verdict)
        });
        for (name, verdict, attributes, fault) in faults {
            let is_dir = attributes.file_type() == FileType::Directory;
            if is_dir && verdict == Verdict::Keep && self.unread_reason(dir, &attributes).is_none()
            {
                // The walk is about to meet the same fault, and reports it.
                continue;
            }
            match fault {
                Fault::Vanished => self.note_missing(dir, &name, attributes.file_type()),
                Fault::Failed(error) => {
                    let operation = if is_dir { Operation::OpenDirectory } else { Operation::Stat };
                    self.error(dir, operation, dir.path_of(&name), dir.entry_depth(), error);
                }
            }
        }
    }
}
