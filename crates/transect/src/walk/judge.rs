//! The verdicts of filters, the caller's closure, and the sink on the entries of a directory.

use std::path::PathBuf;

use transect_sys::{Batch, FileType, Verdict};

use crate::dir::Dir;
use crate::filter::Overruling;
use crate::plan::ScanPlan;
use crate::sink::{Flow, Omission, Sink};

/// Drops entries by name and type. `relative` is a buffer for paths. Roots are judged by the filters alone.
pub(super) fn judge(
    plan: &ScanPlan,
    sink: &mut dyn Sink,
    dir: &Dir,
    relative: &mut PathBuf,
    batch: &mut Batch,
) -> Flow {
    let mut flow = Flow::Continue;
    let is_top = dir.is_top();
    if let Some(filter) = &plan.filter {
        if filter.needs_paths {
            dir.write_relative(relative);
        }
        batch.judge(|entry| {
            let (verdict, reason) = match is_top {
                true => filter.judge_root(entry),
                false => {
                    let overrides = filter.overrides.as_ref();
                    let overruling = overrides.map_or(Overruling::None, |it| it.judge(dir, entry));
                    filter.judge(dir, relative, entry, overruling)
                }
            };
            if let Some(reason) = reason
                && sink.omit(dir, Omission::of_entry(entry.name, reason)) == Flow::Quit
            {
                flow = Flow::Quit;
            }
            verdict
        });
    }
    if let Some(entry_filter) = plan.options.entry_filter.as_ref().filter(|_| !is_top) {
        batch.judge(|entry| entry_filter.judge(dir, entry));
    }
    if sink.judges() && !is_top {
        batch.judge(|entry| match entry.verdict {
            Verdict::Keep => sink.judge(dir, entry),
            verdict => verdict,
        });
    }
    flow
}

/// Prunes the delivered directories that the sink does not want to be read.
pub(super) fn prune(sink: &mut dyn Sink, dir: &Dir, batch: &mut Batch) {
    batch.judge(|entry| match entry.verdict {
        Verdict::Keep if entry.file_type() == FileType::Directory && sink.skips(dir, entry) => {
            Verdict::Prune
        }
        verdict => verdict,
    });
}
