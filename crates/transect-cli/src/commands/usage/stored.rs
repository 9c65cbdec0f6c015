//! The largest directories of a snapshot, from the totals that are stored with them: the entries in them
//! are not read.

use std::time::Instant;

use transect_snapshot::{LargeDirectory, LargestDirectories, LargestLimits, StoredMeasure};
use transect_sys::name_from_bytes;
use transect_text::notes;

use super::measure::Measure;
use super::terminal::{self, EntryLine, Lines, Shown, Total};
use super::tree::{self, Limits, Line, Tree};
use crate::args::UsageArgs;
use crate::commands::snapshot::{StoredTree, cannot_read, whole_snapshot};
use crate::output::{self, quote};
use transect_program::exit::{CliError, ExitStatus};

/// Shows the snapshot that is the only path of the arguments. Returns `None` if they name something else, or
/// ask for more than stored totals can answer.
pub(super) fn show(
    args: &UsageArgs,
    limits: &Limits,
    began: Instant,
) -> Result<Option<ExitStatus>, CliError> {
    let is_exact = args.json || args.csv || args.export_ncdu.is_some();
    if is_exact || args.files || args.by.is_some() || args.import_ncdu.is_some() {
        return Ok(None);
    }
    let Some((path, snapshot)) = whole_snapshot(&args.walk)? else { return Ok(None) };
    let measure = Measure::of(args);
    let by = match measure {
        Measure::DiskUsage => StoredMeasure::Allocated,
        Measure::Apparent => StoredMeasure::Apparent,
        Measure::Entries => StoredMeasure::Entries,
    };
    let mut stored_limits = LargestLimits::new(limits.lines);
    stored_limits.depth = limits.depth.map(|depth| u32::try_from(depth).unwrap_or(u32::MAX));
    stored_limits.min_size = limits.min_size;
    let largest = snapshot.largest_directories(by, &stored_limits);
    let largest = largest.map_err(|error| cannot_read(path, &error))?;
    let Some(LargestDirectories { total, directories, .. }) = largest else { return Ok(None) };

    let diagnostics = snapshot.metadata().diagnostics();
    let interrupted = snapshot.metadata().interrupted;
    let end = StoredTree::end_of(&diagnostics, interrupted);
    output::show_stored_errors("the snapshot", &diagnostics, args.errors);
    let lines = tree::largest(&StoredDirectories::new(&directories), limits);
    let shown = Shown {
        measure,
        lines: Lines::Tree(lines.into_iter().map(|line| entry_line(&directories, line)).collect()),
        total: Total {
            entries: total.entries,
            disk_usage: total.allocated,
            apparent: total.apparent,
        },
        interrupted,
        is_complete: diagnostics.is_complete(),
        elapsed: began.elapsed(),
        disk: None,
    };
    let mut text = output::buffer();
    terminal::write(&mut text, &shown)?;
    output::print(text)?;
    Ok(Some(end))
}

fn entry_line(directories: &[LargeDirectory], line: Line<usize>) -> EntryLine {
    let of = &directories[line.row];
    EntryLine {
        size: line.size,
        last: line.last,
        name: quote::for_terminal(&name_from_bytes(of.name.clone())),
        is_directory: true,
        notes: notes::of_parts(of.shared, of.unread, of.errors),
    }
}

struct StoredDirectories<'d> {
    all: &'d [LargeDirectory],
    children: Vec<Vec<usize>>,
}

impl<'d> StoredDirectories<'d> {
    fn new(all: &'d [LargeDirectory]) -> Self {
        let mut children = vec![Vec::new(); all.len()];
        for (index, directory) in all.iter().enumerate() {
            if let Some(parent) = directory.parent {
                children[parent].push(index);
            }
        }
        children.iter_mut().for_each(|all_in| {
            // Stable: equal ones stay in the order of their names.
            all_in.sort_by_key(|&child| std::cmp::Reverse(all[child].size));
        });
        Self { all, children }
    }
}

impl Tree for StoredDirectories<'_> {
    type Entry = usize;

    fn roots(&self) -> Vec<usize> {
        (0..self.all.len()).filter(|&index| self.all[index].parent.is_none()).collect()
    }

    fn parent(&self, of: usize) -> Option<usize> {
        self.all[of].parent
    }

    fn size(&self, of: usize) -> u64 {
        self.all[of].size
    }

    fn largest_children(&self, of: usize, most: usize) -> Vec<usize> {
        self.children[of].iter().copied().take(most).collect()
    }
}
