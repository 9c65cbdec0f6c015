//! `transect find`: finds entries of snapshots by their names.

mod disk;
mod hits;
mod live;
mod patterns;
mod sources;

use std::io::Write;

use serde::Serialize;
use transect::internal::SortKey;
use transect::{Cancel, FieldMask};
use transect_snapshot::{Hit, Search};

use crate::args::FindArgs;
use crate::commands::list::lines;
use crate::commands::snapshot::{cannot_read, check_fields};
use crate::output::columns::Column;
use crate::output::json::{PathEntry, object};
use crate::output::{self, stream};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

use hits::Hits;
use sources::{Source, Sources};

pub(crate) fn run(args: &FindArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let columns = columns(args);
    let search = search(args, &columns)?;
    let followed = live::followed(args, &search);
    let Sources { all: sources, unusable, mut end } = match &followed {
        Some(_) => Sources::default(),
        None => sources::of(&args.within, args.progress, &cancel)?,
    };
    for source in &sources {
        check_fields(&source.path, &source.snapshot, search.needed_fields())?;
    }
    if !args.lines.json {
        followed.iter().for_each(|followed| output::note(&followed.text()));
        sources.iter().for_each(|source| output::note(&source.text()));
    }
    let mut hits = Hits::new(args, &columns)?;
    let followed_root = followed.as_ref().map(|followed| followed.root.clone());
    if let Some(followed) = followed {
        let diagnostics = live::find(followed.entries, &search, &cancel, &mut hits)?;
        output::show_errors(&diagnostics, true);
        end = end.max(ExitStatus::from_diagnostics(&diagnostics, false));
    }
    find_stored(&sources, &search, &cancel, &mut hits)?;
    let found = hits.finish()?;
    if cancel.is_cancelled() {
        return Ok(ExitStatus::Interrupted);
    }
    if args.lines.json {
        let summary = object! {
            schema: "transect.find/1",
            found: found.entries,
            disk: args.verify.then_some(found.disk),
            snapshots: sources.iter().map(snapshot).collect::<Vec<_>>(),
            followed: followed_root.as_deref().map(PathEntry::from),
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

fn find_stored(
    sources: &[Source],
    search: &Search,
    cancel: &Cancel,
    hits: &mut Hits<'_>,
) -> Result<(), CliError> {
    for source in sources {
        if hits.is_full {
            break;
        }
        let found = match hits.args.count {
            true => source.snapshot.count(search, cancel).map(|count| hits.found.entries += count),
            false => {
                let add = |hit: &Hit<'_>| hits.add(hit.directory, hit.name, hit.attributes);
                source.snapshot.find(search, cancel, add).map(drop)
            }
        };
        found.map_err(|error| cannot_read(&source.path, &error))?;
    }
    Ok(())
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
