//! Which directories of a batch a callback skips.

use std::collections::VecDeque;

use transect_sys::{FileType, Verdict};

use crate::sink::{Flow, Visit, VisitEntry};

/// What a callback said of each directory of the batch that the walk would read.
#[derive(Debug, Default)]
pub struct Skips(VecDeque<bool>);

impl Skips {
    /// Passes the entries of a batch to a callback, and returns what the sink returns from
    /// [`Sink::visit`](crate::Sink::visit).
    pub fn visit<'a>(
        &mut self,
        visit: &Visit<'a>,
        mut callback: impl FnMut(VisitEntry<'a>) -> Flow,
    ) -> Flow {
        self.0.clear();
        let mut skips = false;
        for entry in visit.entries() {
            let flow = callback(entry);
            if flow == Flow::Quit {
                return flow;
            }
            if entry.verdict == Verdict::Keep && entry.file_type() == FileType::Directory {
                self.0.push_back(flow == Flow::Skip);
                skips |= flow == Flow::Skip;
            }
        }
        if skips { Flow::Skip } else { Flow::Continue }
    }

    /// Returns whether the next directory of the batch is skipped.
    pub fn take_next(&mut self) -> bool {
        self.0.pop_front().unwrap_or(false)
    }
}
