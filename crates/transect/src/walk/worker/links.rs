//! Links to directories: followed in rounds, once all real directories are known.

use transect_sys::Reader;

use super::Worker;
use crate::sink::{Omission, SkipReason};
use crate::walk::shared::DeferredLink;
use crate::walk::task::Tasks;

impl<R: Reader> Worker<'_, R> {
    /// Returns the directories that the links of the last round lead to, except those read before.
    ///
    /// Links are sorted by path, so that of two links to one directory the same one is followed in
    /// every run.
    pub(in crate::walk) fn take_links(&mut self) -> Tasks<R> {
        let mut links = self.shared.take_links();
        // Links to be read come first: a link that is only counted must not claim the directory.
        links.sort_by_cached_key(|link| {
            (!link.task.flags.read, link.task.parent.path_of(&link.task.name))
        });
        let mut tasks = Vec::new();
        for DeferredLink { task, target } in links {
            let new = match task.flags.read {
                true => self.shared.mark_seen(target),
                false => !self.shared.was_seen(target),
            };
            if new || self.shared.is_stopped() {
                tasks.push(task);
            } else {
                let reason = SkipReason::for_revisit(&task.parent, target);
                self.omit(&task.parent, Omission::of_entry(&task.name, reason));
                self.release(task.parent);
            }
        }
        tasks
    }
}
