//! The objects of `diff --json`: a line for each change, then the numbers.

use std::cmp::Reverse;
use std::io::{self, Write};

use serde::Serialize;
use transect::FieldMask;
use transect_snapshot::{Change, Diff, Facts, Metadata, StoredError};

use crate::args::{Compared, ComparisonArgs};
use crate::output::inherited::InheritedObject;
use crate::output::json::{self, PathEntry};
use crate::output::stream;

#[derive(Serialize)]
struct ChangeObject<'a> {
    change: &'static str,
    #[serde(flatten)]
    path: PathEntry<'a>,
    from: Option<String>,
    from_raw: Option<String>,
    changed: Vec<&'static str>,
    before: Option<FactsObject>,
    after: Option<FactsObject>,
    moved_entries: u64,
    reason: Option<&'a str>,
}

/// An entry as one of the trees has it.
#[derive(Serialize)]
struct FactsObject {
    r#type: &'static str,
    size: Option<u64>,
    allocated: Option<u64>,
    mtime: Option<i64>,
    mode: Option<u16>,
    uid: Option<u32>,
    gid: Option<u32>,
    nlink: Option<u32>,
    inode: Option<u64>,
    device: Option<u64>,
    entries: u64,
    total_allocated: u64,
}

impl From<&Facts> for FactsObject {
    fn from(facts: &Facts) -> Self {
        let of = &facts.attributes;
        Self {
            r#type: of.file_type().as_str(),
            size: of.size(),
            allocated: of.allocated(),
            mtime: of.mtime(),
            mode: of.mode(),
            uid: of.uid(),
            gid: of.gid(),
            nlink: of.nlink(),
            inode: of.inode(),
            device: of.device(),
            entries: facts.entries(),
            total_allocated: facts.allocated(),
        }
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    schema: &'static str,
    complete: bool,
    before: SideObject<'a>,
    after: SideObject<'a>,
    added: u64,
    removed: u64,
    modified: u64,
    renamed: u64,
    type_changed: u64,
    unreadable: u64,
    readable: u64,
    disk_usage_before: u64,
    disk_usage_after: u64,
    grown: Vec<GrowthObject<'a>>,
}

#[derive(Serialize)]
struct SideObject<'a> {
    roots: &'a [String],
    host: Option<&'a str>,
    started: Option<i64>,
    ended: Option<i64>,
    complete: bool,
    errors: u64,
    unverified: bool,
    inherited: Option<InheritedObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_list: Option<&'a [StoredError]>,
}

impl<'a> SideObject<'a> {
    fn of(of: &'a Metadata, list_errors: bool) -> Self {
        Self {
            roots: &of.roots,
            host: of.host.as_deref(),
            started: of.started,
            ended: of.ended,
            complete: of.complete,
            errors: of.errors,
            unverified: of.unverified,
            inherited: of.inherited.clone().map(Into::into),
            error_list: list_errors.then_some(of.error_list.as_slice()),
        }
    }
}

#[derive(Serialize)]
struct GrowthObject<'a> {
    #[serde(flatten)]
    path: PathEntry<'a>,
    before: u64,
    after: u64,
}

/// Writes the changes and the summary as JSON.
pub(super) fn write(
    args: &ComparisonArgs,
    diff: &Diff,
    a: &Metadata,
    b: &Metadata,
) -> io::Result<()> {
    let mut out = io::BufWriter::new(stream::stdout());
    let mut changes: Vec<&Change> = diff.changes.iter().collect();
    if let Some(top) = args.top {
        changes.sort_by_key(|change| Reverse(change.growth().abs()));
        changes.truncate(top);
    }
    if !args.summary {
        for change in changes {
            json::write(&mut out, &object(change))?;
            writeln!(out)?;
        }
    }
    let numbers = &diff.summary;
    let summary = Summary {
        schema: "transect.diff/1",
        complete: a.complete && b.complete,
        before: SideObject::of(a, args.errors),
        after: SideObject::of(b, args.errors),
        added: numbers.added,
        removed: numbers.removed,
        modified: numbers.modified,
        renamed: numbers.renamed,
        type_changed: numbers.type_changed,
        unreadable: numbers.unreadable,
        readable: numbers.readable,
        disk_usage_before: numbers.allocated_before,
        disk_usage_after: numbers.allocated_after,
        grown: diff
            .growth
            .iter()
            .map(|it| GrowthObject {
                path: it.path.as_slice().into(),
                before: it.before,
                after: it.after,
            })
            .collect(),
    };
    json::write(&mut out, &summary)?;
    writeln!(out)?;
    out.flush()
}

fn object(change: &Change) -> ChangeObject<'_> {
    let from = change.from.as_deref().map(String::from_utf8_lossy);
    let is_text = change.from.as_deref().is_none_or(|from| std::str::from_utf8(from).is_ok());
    ChangeObject {
        change: change.kind.as_str(),
        path: change.path.as_slice().into(),
        from: from.map(std::borrow::Cow::into_owned),
        from_raw: change.from.as_deref().filter(|_| !is_text).map(json::hex),
        changed: names(change.fields),
        before: change.before.as_ref().map(FactsObject::from),
        after: change.after.as_ref().map(FactsObject::from),
        moved_entries: change.moved_entries,
        reason: change.reason.as_deref(),
    }
}

fn names(fields: FieldMask) -> Vec<&'static str> {
    let is_changed = |it: &&Compared| fields.contains(it.field());
    Compared::ALL.iter().filter(is_changed).map(|it| it.as_str()).collect()
}
