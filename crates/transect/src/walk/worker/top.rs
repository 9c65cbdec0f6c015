//! The roots, as the entries of the top.

use std::path::Path;
use std::sync::Arc;

use transect_sys::{FieldMask, FileType, Reader};

use super::Worker;
use crate::dir::Dir;
use crate::error::Operation;
use crate::sink::{Omission, SkipReason};
use crate::walk::enter_top;
use crate::walk::judge::judge;
use crate::walk::task::Tasks;

impl<R: Reader> Worker<'_, R> {
    /// Queries the roots and delivers them as the entries of the top. Returns the top and the
    /// directories among the roots.
    pub(in crate::walk) fn visit_roots(&mut self) -> (Arc<Dir>, Tasks<R>) {
        let top = enter_top(self.sink);
        let plan = &self.shared.plan;
        let want = self.shared.want.entries | self.shared.want.directories;
        self.batch.clear();
        for (index, root) in plan.options.roots.iter().enumerate() {
            if self.shared.roots.is_repeated(index) {
                self.omit(&top, Omission::of_entry(root.as_os_str(), SkipReason::OverlappingRoot));
                continue;
            }
            match self.reader.stat_root(root, want, plan.options.follow_links) {
                Ok(attributes) => {
                    self.batch.push(root.as_os_str(), attributes);
                    if plan.options.follow_links && self.is_link(root) {
                        self.batch.mark_last_followed();
                    }
                }
                Err(fault) => {
                    self.error(&top, Operation::Stat, root.clone(), 0, fault.into());
                }
            }
        }
        let Self { shared, sink, batch, relative, .. } = self;
        shared.obey(judge(plan, *sink, &top, relative, batch));
        self.judge_contents(&top, None);
        self.deliver(&top, true);
        let (mut tasks, mut links) = (Vec::new(), Vec::new());
        self.collect(&top, &mut tasks, &mut links);
        top.add_pending(tasks.len() + links.len());
        links.into_iter().for_each(|link| self.shared.defer(link));
        (top, tasks)
    }

    fn is_link(&mut self, root: &Path) -> bool {
        let itself = self.reader.stat_root(root, FieldMask::empty(), false);
        itself.is_ok_and(|itself| itself.file_type() == FileType::Symlink)
    }
}
