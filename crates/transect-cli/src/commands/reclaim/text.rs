//! Prints a proposal for people.

use std::io::{self, Write};

use transect_text::table;

use super::proposal::Proposal;
use super::removed::Removed;
use crate::args::ReclaimArgs;
use crate::output::time::age;
use crate::output::units::{bytes, bytes_between, counted};
use crate::output::{self, DIM, GOOD, WARN, quote};

/// From this width on, kinds are shown.
const MIN_WIDE: usize = 60;

/// The room that a path keeps on a narrow terminal.
const MIN_PATH: usize = 8;

pub(super) fn write(args: &ReclaimArgs, proposal: &Proposal<'_>) -> io::Result<()> {
    let mut out = output::buffer();
    let terminal = output::terminal_width();
    // Paths say more than kinds where there is little room.
    let is_narrow = terminal.is_some_and(|width| width < MIN_WIDE);
    let mut table = match is_narrow {
        true => table::Table::new(&[], &["frees", "age"], &["path"]),
        false => table::Table::new(&[], &["frees", "unchanged for"], &["kind", "path"]),
    };
    for tree in &proposal.trees {
        let newest = tree.newest.and_then(|newest| u64::try_from(newest / 1_000_000_000).ok());
        let age = newest.map_or_else(|| "-".to_owned(), age);
        let kind = (!is_narrow).then(|| tree.kind.to_owned());
        table.add(anstyle::Style::new(), [bytes(tree.freed), age].into_iter().chain(kind));
    }
    // The path takes the rest of the line.
    let others = table.width() - "path".len();
    let room = terminal.map(|width| width.saturating_sub(others).max(MIN_PATH));
    for (tree, (_, cells)) in proposal.trees.iter().zip(&mut table.rows) {
        let path = quote::for_terminal(proposal.table.path(tree.row).as_os_str());
        cells.push(quote::shorten(path, room.unwrap_or(usize::MAX)));
    }
    if !proposal.trees.is_empty() {
        table.write(&mut out)?;
        writeln!(out)?;
    }
    write_sum(&mut out, args, proposal)?;
    if !args.remove && !proposal.trees.is_empty() {
        writeln!(out, "{DIM}nothing was removed; --remove removes these{DIM:#}")?;
    }
    output::print_wrapped(out)
}

fn write_sum(out: &mut impl Write, args: &ReclaimArgs, proposal: &Proposal<'_>) -> io::Result<()> {
    let Proposal { trees, left, freed, disk, is_enough, .. } = proposal;
    if let (Some(keep), Some(disk)) = (args.keep, disk) {
        let (keep, available) = (bytes(keep as u64), bytes(disk.available));
        if *is_enough && trees.is_empty() {
            return writeln!(
                out,
                "{GOOD}{available} are available, which is at least {keep}{GOOD:#}"
            );
        }
        if !is_enough {
            writeln!(out, "{WARN}not enough for {keep}: {available} are available{WARN:#}")?;
        }
    }
    if trees.is_empty() {
        return writeln!(out, "found nothing that can be made again");
    }
    let places = counted(trees.len() as u64, "place", "places");
    write!(out, "{} in {places}", bytes_between(freed))?;
    if freed.start != freed.end {
        write!(out, ", as clones share some of it")?;
    }
    if let Some(disk) = disk {
        let then = disk.available.saturating_add(freed.start);
        write!(out, "; available: {} now, {} then", bytes(disk.available), bytes(then))?;
    }
    if *left > 0 {
        write!(out, "; {} left out", counted(*left as u64, "newer place", "newer places"))?;
    }
    writeln!(out)
}

pub(super) fn write_removed(proposal: &Proposal<'_>, removed: &Removed) -> io::Result<()> {
    let mut out = output::buffer();
    let counts = removed.report.counts;
    write!(out, "removed {}", counted(counts.removed, "entry", "entries"))?;
    for (number, what) in [(counts.kept, "kept"), (counts.vanished, "gone before")] {
        if number > 0 {
            write!(out, ", {} {what}", counted(number, "entry", "entries"))?;
        }
    }
    let predicted = bytes_between(&proposal.freed);
    match removed.measured {
        Some(measured) => {
            writeln!(out, "; {} more are available, predicted were {predicted}", bytes(measured))?;
        }
        None => writeln!(out, "; predicted were {predicted}")?,
    }
    output::print_wrapped(out)
}
