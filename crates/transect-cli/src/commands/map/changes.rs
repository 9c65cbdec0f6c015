//! `transect map A B`: a map of what changed between two trees.

use std::path::Path;

use transect::table::{Row, Table};
use transect::{Cancel, FieldMask};
use transect_snapshot::{Change, ChangeKind, DiffOptions, Metadata, Snapshot};
use transect_web::map::{self, Comparison, Settings, StaticMap};
use transect_web::page::Nonce;
use transect_web::serve::Server;

use super::page;
use crate::args::MapArgs;
use crate::commands::changes::since_kept;
use crate::commands::diff::{ReadingOptions, Side, Sides};
use transect_program::{CliError, ExitStatus};

/// The columns of a snapshot that the page shows, and those that count files with several names once.
const COLUMNS: FieldMask = page::SHOWN.union(FieldMask::FILE_ID).union(FieldMask::NLINK);

/// Returns whether two trees are to be compared: with `--diff` or `--since`, or if one of two paths is a snapshot.
pub(super) fn are_requested(args: &MapArgs) -> bool {
    let paths = &args.walk.paths;
    args.diff
        || args.since.is_some()
        || paths.len() == 2 && paths.iter().any(|path| Snapshot::is_likely(path))
}

pub(super) fn run(args: &MapArgs, cancel: &Cancel) -> Result<ExitStatus, CliError> {
    if !args.walk.filter.allows_diff() {
        return Err(CliError::failed("a map of changes shows whole trees: leave out filters"));
    }
    if args.allow_removal {
        let why = "--allow-removal needs one directory: a map of changes does not remove";
        return Err(CliError::failed(why));
    }
    if let Some(file) = &args.html {
        page::check_openable(args, file)?;
    }
    let reading = ReadingOptions {
        fields: FieldMask::empty(),
        one_file_system: args.walk.filter.one_file_system,
        errors: args.errors,
        progress: args.progress,
    };
    let (sides, end) = read(args, reading, cancel)?;
    let found = sides.compare(&DiffOptions::default())?;
    sides.show_stored_errors(args.errors);
    let (mut before, mut after) = (None, None);
    let before = table(&sides, &sides.before, &mut before)?;
    let after = table(&sides, &sides.after, &mut after)?;
    let moved: Vec<(Row, Row)> =
        found.changes.iter().filter_map(|change| moved_rows(before, after, change)).collect();
    let before_read_at = read_at(sides.before.metadata());
    let comparison = Comparison { before, after, moved: &moved, before_read_at };
    let settings = page::settings(args);
    let settings = Settings {
        read_at: read_at(sides.after.metadata()).unwrap_or(settings.read_at),
        disk: None,
        ..settings
    };
    if let Some(file) = &args.html {
        let html = map::changes_html(comparison, &settings, &Nonce::random()?)?;
        page::write_page(args, &html, file)?;
    } else {
        serve(args, comparison, &settings, cancel)?;
    }
    Ok(if sides.are_complete() { end } else { ExitStatus::Partial })
}

/// Reads the two trees: two paths, or the kept snapshot of one path and what is there now.
fn read(
    args: &MapArgs,
    reading: ReadingOptions,
    cancel: &Cancel,
) -> Result<(Sides, ExitStatus), CliError> {
    match (args.since, args.walk.roots().as_slice()) {
        (Some(since), [path]) => {
            let kept = since_kept(path, Some(since), reading, None, cancel)?;
            Ok((kept.sides, kept.end))
        }
        (None, [before, after]) => {
            Ok((Sides::read([before, after], &reading, cancel)?, ExitStatus::Complete))
        }
        (Some(_), _) => Err(CliError::failed("--since needs one PATH")),
        (None, _) => {
            Err(CliError::failed("--diff needs two PATHs, each a directory or a snapshot"))
        }
    }
}

fn serve(
    args: &MapArgs,
    comparison: Comparison<'_>,
    settings: &Settings,
    cancel: &Cancel,
) -> Result<(), CliError> {
    let page = StaticMap::of_changes(comparison, settings, cancel.clone())?;
    transect_sys::host::raise_handle_limit();
    let server = Server::start()?;
    // Exists as long as the server: the browser may be slow.
    let _redirect = page::announce(args, &server)?;
    Ok(server.serve(&page)?)
}

/// Returns the table of a tree; that of a snapshot is read into `stored`.
fn table<'t>(
    sides: &Sides,
    side: &'t Side,
    stored: &'t mut Option<Table>,
) -> Result<&'t Table, CliError> {
    match side {
        Side::Live(tree, _) => Ok(tree.table()),
        Side::Stored(snapshot) => {
            let table = snapshot.table(COLUMNS).map_err(|error| sides.cannot_compare(&error))?;
            Ok(stored.insert(table))
        }
    }
}

fn moved_rows(before: &Table, after: &Table, change: &Change) -> Option<(Row, Row)> {
    let from = change.from.as_ref().filter(|_| change.kind == ChangeKind::Renamed)?;
    Some((find(before, from)?, find(after, &change.path)?))
}

fn find(table: &Table, path: &[u8]) -> Option<Row> {
    let path = transect_sys::name_from_bytes(path.to_vec());
    table.roots().find_map(|root| {
        let below = Path::new(&path).strip_prefix(table.name(root)).ok()?;
        below.components().try_fold(root, |row, name| table.child(row, name.as_os_str()))
    })
}

/// Returns when a tree was read, in seconds since 1970 UTC.
fn read_at(metadata: &Metadata) -> Option<i64> {
    metadata.ended.map(|time| time.div_euclid(1_000_000_000))
}
