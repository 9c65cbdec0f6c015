//! The state of a running removal.

use crate::refusal::Refusal;
use crate::report::{Counts, Report};
use transect::Cancel;
use transect::table::{Row, Table};

/// A running removal: the data that all of its parts need, and the report so far.
pub(super) struct Run<'a> {
    pub(super) table: &'a Table,
    /// Rows of mount points, sorted.
    pub(super) mounts: &'a [Row],
    pub(super) cancel: &'a Cancel,
    pub(super) progress: &'a mut dyn FnMut(&Counts, Row),
    pub(super) report: Report,
}

impl Run<'_> {
    /// Returns whether to stop here, with entries left.
    pub(super) fn is_cancelled(&mut self) -> bool {
        self.report.cancelled |= self.cancel.is_cancelled();
        self.report.cancelled
    }

    /// Records the outcome of an entry, before which `gone` rows were gone: the bytes freed, or the
    /// error. Returns whether the entry is gone.
    pub(super) fn record(&mut self, row: Row, gone: usize, outcome: Result<u64, Refusal>) -> bool {
        let report = &mut self.report;
        let is_gone = match outcome {
            Ok(freed) => {
                report.counts.removed += 1;
                report.counts.freed += freed;
                true
            }
            Err(Refusal::Vanished) => {
                report.counts.vanished += 1;
                true
            }
            Err(Refusal::Kept(reason, error)) => {
                report.keep(reason, error, row, || self.table.path(row));
                false
            }
            Err(Refusal::Reported) => false,
        };
        if is_gone {
            // The rows below it need not be listed.
            report.gone.truncate(gone);
            report.gone.push(row);
        }
        (self.progress)(&report.counts, row);
        is_gone
    }
}
