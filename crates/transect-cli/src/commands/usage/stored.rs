//! The largest directories of a snapshot, from the totals that are stored with them: the entries in them
//! are not read.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use transect::FileType;
use transect::internal::push_name;
use transect_snapshot::{LargeDirectory, LargestDirectories, LargestLimits};
use transect_sys::name_from_bytes;
use transect_text::notes;

use super::report;
use super::terminal::{self, EntryLine, Lines, Shown};
use super::tree::{self, Line};
use super::view::{Report, ReportEntry, ReportRows};
use crate::args::UsageArgs;
use crate::commands::snapshot::{StoredTree, cannot_read, whole_snapshot};
use crate::output;
use transect_program::{CliError, ExitStatus};

/// Shows the snapshot that is the only path of the arguments. Returns `None` if they name something else, or
/// ask for more than stored totals can answer.
pub(super) fn show(
    args: &UsageArgs,
    limits: &LargestLimits,
    began: Instant,
) -> Result<Option<ExitStatus>, CliError> {
    let is_exact = args.is_exact();
    if args.export_ncdu.is_some() || args.import_ncdu.is_some() || args.files || args.by.is_some() {
        return Ok(None);
    }
    let Some((path, snapshot)) = whole_snapshot(&args.walk)? else { return Ok(None) };
    let measure = args.measure();
    let mut most = *limits;
    most.totals = is_exact;
    if !is_exact {
        // Several directories may share a line.
        most.count = most.count.saturating_add(1).saturating_mul(tree::MAX_NAMES);
    }
    let largest = snapshot.largest_directories(measure, &most);
    let largest = largest.map_err(|error| cannot_read(path, &error))?;
    let Some(LargestDirectories { total, hard_links, directories, .. }) = largest else {
        return Ok(None);
    };

    let diagnostics = snapshot.metadata().diagnostics();
    let interrupted = snapshot.metadata().interrupted;
    let end = StoredTree::end_of(&diagnostics, interrupted);
    output::show_stored_errors("the snapshot", &diagnostics, args.errors);
    let mut children: HashMap<Option<usize>, Vec<(usize, u64)>> = HashMap::new();
    for (index, of) in directories.iter().enumerate() {
        children.entry(of.parent).or_default().push((index, of.size));
    }
    let in_directory = |of, _| children.get(&of).cloned().unwrap_or_default();
    let folds = |of: usize| !is_exact && notes_of(&directories[of]).is_empty();
    let lines = tree::largest(limits, folds, in_directory);
    let named: BTreeSet<usize> =
        lines.iter().flat_map(|line| line.above.iter().chain([&line.row])).copied().collect();
    let names = snapshot.names_of(named.iter().map(|&of| &directories[of]));
    let names = names.map_err(|error| cannot_read(path, &error))?;
    let names: Names = named.into_iter().zip(names.into_iter().map(name_from_bytes)).collect();
    if is_exact {
        let rows = lines.iter().map(|line| report_entry(&directories, &names, line)).collect();
        report::print(
            args,
            &Report {
                roots: vec![path_of(&directories, &names, 0)],
                outcome: None,
                unverified: snapshot.metadata().unverified,
                elapsed: began.elapsed(),
                interrupted,
                disk: None,
                measure,
                total: directories[0].totals.unwrap_or_default().0,
                hard_links,
                errors: diagnostics.errors,
                vanished: diagnostics.vanished,
                rows: ReportRows::Entries(rows),
            },
        )?;
        return Ok(Some(end));
    }
    let lines = lines.into_iter().map(|line| entry_line(&directories, &names, line));
    let shown = Shown {
        measure,
        lines: Lines::Tree(lines.collect()),
        whole: directories.first().map_or(0, |root| root.size),
        total,
        interrupted,
        is_complete: diagnostics.is_complete(),
        elapsed: began.elapsed(),
        disk: None,
    };
    terminal::print(&shown)?;
    Ok(Some(end))
}

/// Those of the directories that are shown, by index.
type Names = HashMap<usize, OsString>;

fn report_entry(directories: &[LargeDirectory], names: &Names, line: &Line<usize>) -> ReportEntry {
    let of = &directories[line.row];
    let (totals, exclusive) = of.totals.unwrap_or_default();
    ReportEntry {
        path: path_of(directories, names, line.row),
        depth: line.last.len(),
        file_type: FileType::Directory,
        totals,
        shared: of.shared,
        exclusive,
        freed: None,
        errors: of.errors,
        unread: of.unread,
    }
}

/// A directory is shown only below those that it is in.
fn path_of(directories: &[LargeDirectory], names: &Names, of: usize) -> PathBuf {
    let above = |&of: &usize| directories[of].parent;
    let inside: Vec<usize> = std::iter::successors(Some(of), above).collect();
    let mut path = OsString::new();
    for of in inside.into_iter().rev() {
        push_name(&mut path, &names[&of]);
    }
    path.into()
}

fn entry_line(directories: &[LargeDirectory], names: &Names, line: Line<usize>) -> EntryLine {
    EntryLine {
        name: line.name(|of| &names[&of]),
        size: line.size,
        exclusive: None,
        last: line.last,
        is_directory: true,
        notes: notes_of(&directories[line.row]),
    }
}

fn notes_of(of: &LargeDirectory) -> String {
    notes::of_parts(of.shared, of.unread, of.errors)
}
