//! `transect find`: finds entries of snapshots by their names.

mod disk;
mod patterns;
mod sources;

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Serialize;
use transect::internal::{ListEntry, ListSink, SortKey};
use transect::{Cancel, FieldMask, Flow};
use transect_snapshot::{Hit, Search};
use transect_sys::name_from_bytes;

use crate::args::FindArgs;
use crate::commands::list::lines;
use crate::commands::snapshot::{cannot_read, check_fields};
use crate::output::columns::Column;
use crate::output::json::{PathEntry, object};
use crate::output::{self, stream};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

use disk::{DiskCounts, DiskState};
use sources::{Source, Sources};

#[derive(Default)]
struct Found {
    entries: u64,
    disk: DiskCounts,
}

pub(crate) fn run(args: &FindArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let columns = columns(args);
    let search = search(args, &columns)?;
    let Sources { all: sources, unusable, end } =
        sources::of(&args.within, args.progress, &cancel)?;
    for source in &sources {
        check_fields(&source.path, &source.snapshot, search.needed_fields())?;
        if !args.lines.json {
            output::note(&source.text());
        }
    }
    let found = match args.count {
        true => count(&sources, &search, &cancel)?,
        false => print(args, &columns, &sources, &search, &cancel)?,
    };
    if cancel.is_cancelled() {
        return Ok(ExitStatus::Interrupted);
    }
    if args.lines.json {
        let summary = object! {
            schema: "transect.find/1",
            found: found.entries,
            disk: args.verify.then_some(found.disk),
            snapshots: sources.iter().map(snapshot).collect::<Vec<_>>(),
            unusable: unusable,
        };
        output::print_json(&summary)?;
    } else if args.count {
        writeln!(stream::stdout(), "{}", found.entries)?;
    }
    let there = found.entries - found.disk.vanished;
    Ok(if there > 0 { end } else { ExitStatus::Partial })
}

fn columns(args: &FindArgs) -> Vec<Column> {
    let columns = lines::columns(&args.lines, true);
    let disk = (args.verify && !args.lines.null).then_some(Column::Disk);
    disk.into_iter().chain(columns).collect()
}

fn search(args: &FindArgs, columns: &[Column]) -> Result<Search, CliError> {
    let shown: FieldMask = columns.iter().map(|column| column.field()).collect();
    let sorted_by = args.lines.sort.map_or(FieldMask::empty(), SortKey::field);
    let compared = if args.verify { disk::FIELDS } else { FieldMask::empty() };
    Ok(Search::new(patterns::parse(args)?)
        .ignore_case(args.ignore_case)
        .filter(args.attributes.filter())
        .fields(shown | sorted_by | compared))
}

fn count(sources: &[Source], search: &Search, cancel: &Cancel) -> Result<Found, CliError> {
    let mut found = Found::default();
    for source in sources {
        let counted = source.snapshot.count(search, cancel);
        found.entries += counted.map_err(|error| cannot_read(&source.path, &error))?;
    }
    Ok(found)
}

fn print(
    args: &FindArgs,
    columns: &[Column],
    sources: &[Source],
    search: &Search,
    cancel: &Cancel,
) -> Result<Found, CliError> {
    let output = lines::to_stdout(&args.lines, columns)?;
    let output = Arc::new(lines::ordered(&args.lines, output));
    let mut sink = ListSink::new(Arc::clone(&output), 0);
    let mut found = Found::default();
    let mut is_full = false;
    for source in sources {
        if is_full {
            break;
        }
        let add = |hit: &Hit<'_>| {
            let name = name_from_bytes(hit.name.to_vec());
            let mut entry = ListEntry::new(hit.directory, &name, hit.attributes);
            found.entries += 1;
            if args.verify {
                let state = DiskState::of(&entry);
                found.disk.add(state);
                if args.lines.null && state == DiskState::Vanished {
                    return ControlFlow::Continue(());
                }
                entry = entry.with_remark(Some(state.as_str()));
            }
            is_full = sink.add(&entry) == Flow::Quit;
            if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let searched = source.snapshot.find(search, cancel, add);
        searched.map_err(|error| cannot_read(&source.path, &error))?;
    }
    drop(sink.finish());
    output.finish()?;
    Ok(found)
}

fn snapshot(source: &Source) -> impl Serialize {
    let metadata = source.snapshot.metadata();
    object! {
        ..file: PathEntry::from(source.path.as_path()),
        roots: &metadata.roots,
        host: metadata.host.as_deref(),
        taken: metadata.started,
        entries: source.snapshot.len(),
        complete: metadata.complete,
        errors: metadata.errors,
        unverified: metadata.unverified,
    }
}
