//! The object of `--json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use transect_duplicates::{Action, Duplicate, Group, KeptEntry};

use super::act::Acted;
use super::found::Found;
use crate::args::DuplicatesArgs;
use crate::output::json::{self, ErrorEntry, PathEntry};
use crate::output::stream;

/// Prints the object.
///
/// # Errors
/// The output cannot be written.
pub(super) fn print(
    args: &DuplicatesArgs,
    found: &Found,
    acted: Option<&Acted>,
) -> std::io::Result<()> {
    use std::io::Write;
    let roots = args.walk.roots();
    let mut out = std::io::BufWriter::with_capacity(64 << 10, stream::stdout());
    crate::output::write_json(&mut out, &Object::new(args, &roots, found, acted))?;
    out.flush()
}

#[derive(Serialize)]
struct Object<'a> {
    schema: &'static str,
    roots: Vec<String>,
    complete: bool,
    interrupted: bool,
    group_count: usize,
    copies: u64,
    freed: u64,
    groups: Groups<'a>,
    action: Option<ActionObject<'a>>,
    errors: u64,
    errors_by: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    vanished: u64,
    changed: u64,
    skipped: BTreeMap<&'static str, u64>,
    bytes_read: u64,
    elapsed_ns: u64,
    reader: &'static str,
    order: &'static str,
    threads: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_list: Option<Vec<ErrorEntry<'a>>>,
}

impl<'a> Object<'a> {
    fn new(
        args: &DuplicatesArgs,
        roots: &'a [PathBuf],
        found: &'a Found,
        acted: Option<&'a Acted>,
    ) -> Self {
        let (walk, search) = (found.table.diagnostics(), &found.duplicates.diagnostics);
        let groups = &found.duplicates.groups;
        let errors = walk.kept_errors.iter().chain(&search.kept_errors);
        Self {
            schema: "transect.duplicates/1",
            roots: roots.iter().map(|root| root.to_string_lossy().into_owned()).collect(),
            complete: found.complete(),
            interrupted: found.interrupted(),
            group_count: groups.len(),
            copies: groups.iter().map(|group| group.copies.len() as u64 - 1).sum(),
            freed: groups.iter().fold(0, |sum, group| sum.saturating_add(group.freed)),
            groups: Groups(found),
            action: acted.map(ActionObject::new),
            errors: walk.errors + search.errors,
            errors_by: json::errors_by([walk, search]),
            vanished: walk.vanished,
            changed: found.duplicates.changed,
            skipped: walk.skipped.iter().map(|(reason, n)| (reason.as_str(), *n)).collect(),
            bytes_read: found.duplicates.bytes_read,
            elapsed_ns: u64::try_from(found.elapsed.as_nanos()).unwrap_or(u64::MAX),
            reader: found.walk.reader.as_str(),
            order: found.walk.order.as_str(),
            threads: found.walk.threads,
            error_list: args.errors.then(|| errors.map(Into::into).collect()),
        }
    }
}

/// The groups, made one at a time: their paths together may need much memory.
struct Groups<'a>(&'a Found);

impl Serialize for Groups<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let groups = self.0.groups();
        let mut list = serializer.serialize_seq(Some(groups.len()))?;
        for group in groups {
            list.serialize_element(&GroupObject::new(self.0, group))?;
        }
        list.end()
    }
}

#[derive(Serialize)]
struct GroupObject {
    size: u64,
    freed: u64,
    blake3: String,
    files: Vec<FileObject>,
}

impl GroupObject {
    fn new(found: &Found, group: &Group) -> Self {
        Self {
            size: group.size,
            freed: group.freed,
            blake3: json::hex(&group.digest),
            files: group.copies.iter().map(|file| FileObject::new(found, file)).collect(),
        }
    }
}

/// A path that is made for its object.
struct OwnedPath(PathBuf);

impl Serialize for OwnedPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PathEntry::from(self.0.as_path()).serialize(serializer)
    }
}

#[derive(Serialize)]
struct FileObject {
    #[serde(flatten)]
    path: OwnedPath,
    freed: u64,
    clone: bool,
    other_names: bool,
    hard_links: Vec<OwnedPath>,
}

impl FileObject {
    fn new(found: &Found, file: &Duplicate) -> Self {
        let mut paths = file.names.iter().map(|&row| OwnedPath(found.table.path(row)));
        Self {
            path: paths.next().expect("BUG: a file without a name"),
            freed: file.freed,
            clone: file.is_clone,
            other_names: file.has_other_names,
            hard_links: paths.collect(),
        }
    }
}

#[derive(Serialize)]
struct ActionObject<'a> {
    name: &'static str,
    dry_run: bool,
    done: u64,
    kept: u64,
    vanished: u64,
    freed: u64,
    kept_list: Vec<Kept<'a>>,
}

impl<'a> ActionObject<'a> {
    fn new(acted: &'a Acted) -> Self {
        let counts = acted.done.as_ref().map(|done| done.report.counts).unwrap_or_default();
        let kept = acted.done.iter().flat_map(|done| &done.report.kept);
        Self {
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
            kept_list: kept.map(Kept::from).collect(),
        }
    }
}

#[derive(Serialize)]
struct Kept<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    reason: &'static str,
    os_error: Option<i32>,
}

impl<'a> From<&'a KeptEntry> for Kept<'a> {
    fn from(kept: &'a KeptEntry) -> Self {
        let path: &Path = kept.path();
        Self {
            path: path.into(),
            reason: kept.reason().as_str(),
            os_error: kept.io_error().and_then(std::io::Error::raw_os_error),
        }
    }
}
