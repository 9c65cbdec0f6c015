//! The object of `--json`.

use std::path::PathBuf;

use serde::{Serialize, Serializer};
use transect_duplicates::{Action, Duplicate, Group};

use super::act::Acted;
use super::found::Found;
use crate::args::DuplicatesArgs;
use crate::output::json::{self, OwnedPath, object};
use crate::output::stream;

pub(super) fn print(
    args: &DuplicatesArgs,
    found: &Found,
    acted: Option<&Acted>,
) -> std::io::Result<()> {
    use std::io::Write;
    let roots = args.walk.roots();
    let mut out = std::io::BufWriter::with_capacity(64 << 10, stream::stdout());
    crate::output::write_json(&mut out, &object(args, &roots, found, acted))?;
    out.flush()
}

/// Returns the object. Groups are made one at a time: their paths together may need much memory.
fn object<'a>(
    args: &DuplicatesArgs,
    roots: &[PathBuf],
    found: &'a Found,
    acted: Option<&'a Acted>,
) -> impl Serialize {
    let (walk, search) = (found.table.diagnostics(), &found.duplicates.diagnostics);
    let groups = &found.duplicates.groups;
    let errors = walk.kept_errors.iter().chain(&search.kept_errors);
    object! {
        schema: "transect.duplicates/1",
        roots: roots.iter().map(|root| root.to_string_lossy().into_owned()).collect::<Vec<_>>(),
        complete: found.complete(),
        interrupted: found.interrupted(),
        group_count: groups.len(),
        copies: found.copies(),
        freed: found.freed(),
        groups: Groups(found),
        action: acted.map(action),
        errors: walk.errors + search.errors,
        errors_by: json::errors_by([walk, search]),
        vanished: walk.vanished,
        changed: found.duplicates.changed,
        skipped: json::skipped(walk),
        bytes_read: found.duplicates.bytes_read,
        elapsed_ns: u64::try_from(found.elapsed.as_nanos()).unwrap_or(u64::MAX),
        reader: found.walk.reader.as_str(),
        order: found.walk.order.as_str(),
        threads: found.walk.threads,
        error_list?: args.errors.then(|| json::error_list(errors)),
    }
}

struct Groups<'a>(&'a Found);

impl Serialize for Groups<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.groups().iter().map(|group| group_object(self.0, group)))
    }
}

fn group_object(found: &Found, group: &Group) -> impl Serialize {
    object! {
        size: group.size,
        freed: group.freed,
        blake3: json::hex(&group.digest),
        files: group.copies.iter().map(|file| file_object(found, file)).collect::<Vec<_>>(),
    }
}

fn file_object(found: &Found, file: &Duplicate) -> impl Serialize {
    let mut paths = file.names.iter().map(|&row| OwnedPath(found.table.path(row)));
    object! {
        ..path: paths.next().expect("BUG: a file without a name"),
        freed: file.freed,
        clone: file.is_clone,
        other_names: file.has_other_names,
        hard_links: paths.collect::<Vec<_>>(),
    }
}

fn action(acted: &Acted) -> impl Serialize {
    let report = acted.done.as_ref().map(|done| &done.report);
    let counts = report.map(|report| report.counts).unwrap_or_default();
    object! {
        name: match acted.action {
            Action::Remove => "remove",
            Action::Link { .. } => "link",
            Action::Clone => "clone",
        },
        dry_run: acted.done.is_none(),
        done: counts.removed,
        kept: counts.kept,
        vanished: counts.vanished,
        freed: counts.freed,
        kept_list: json::kept_list(report.map_or(&[], |report| &report.kept)),
    }
}
