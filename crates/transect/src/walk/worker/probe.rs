//! Filters that look into directories and at the targets of links: `empty` and `broken_links`.

use std::sync::Arc;

use transect_sys::{EntryRef, Fault, FileType, Reader, Verdict};

use super::Worker;
use crate::dir::Dir;
use crate::error::Operation;
use crate::filter;

impl<R: Reader> Worker<'_, R> {
    /// Drops directories that are not empty and links that are not broken, if the filters require it.
    /// `handle` is `None` for roots.
    pub(super) fn judge_contents(&mut self, dir: &Arc<Dir>, handle: Option<&R::Handle>) {
        let Self { shared, batch, prober: Some(prober), .. } = self else { return };
        let plan = &shared.plan;
        let Some(filter) = &plan.filter else { return };
        let mut faults = Vec::new();
        batch.judge(|entry: EntryRef<'_>| {
            if !matches!(entry.verdict, Verdict::Keep | Verdict::Prune) {
                return entry.verdict;
            }
            let is_match = match entry.file_type() {
                FileType::Directory if filter.empty => {
                    // Opening a placeholder would download what is in it.
                    if entry.attributes.is_placeholder() && !plan.options.follow_links {
                        Ok(false)
                    } else {
                        let follow =
                            entry.followed || plan.options.follow_links && handle.is_none();
                        prober.is_empty(handle, entry.name, follow, &shared.budget)
                    }
                }
                FileType::Symlink if filter.broken_links => prober.is_broken(handle, entry.name),
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
