//! The objects of `diff --json`: a line for each change, then the numbers.

use std::cmp::Reverse;
use std::io::{self, Write};

use serde::Serialize;
use transect_snapshot::{Change, Diff, Facts, Metadata};

use crate::args::ComparisonArgs;
use crate::output::columns::Column;
use crate::output::json::{self, PathEntry, object};
use crate::output::{self, stream};

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
            output::write_json(&mut out, &change_object(change))?;
        }
    }
    let numbers = &diff.summary;
    let grown = diff.growth.iter().map(|it| {
        object! { ..path: PathEntry::from(&*it.path), before: it.before, after: it.after }
    });
    let summary = object! {
        schema: "transect.diff/1",
        complete: a.complete && b.complete,
        before: side(a, args.errors),
        after: side(b, args.errors),
        added: numbers.added,
        removed: numbers.removed,
        modified: numbers.modified,
        renamed: numbers.renamed,
        type_changed: numbers.type_changed,
        unreadable: numbers.unreadable,
        readable: numbers.readable,
        disk_usage_before: numbers.allocated_before,
        disk_usage_after: numbers.allocated_after,
        grown: grown.collect::<Vec<_>>(),
    };
    output::write_json(&mut out, &summary)?;
    out.flush()
}

fn change_object(change: &Change) -> impl Serialize {
    let from = change.from.as_deref().map(String::from_utf8_lossy);
    let is_text = change.from.as_deref().is_none_or(|from| std::str::from_utf8(from).is_ok());
    let changed = Column::compared().filter(|it| change.fields.contains(it.field()));
    object! {
        change: change.kind.as_str(),
        ..path: PathEntry::from(&*change.path),
        from: from.map(std::borrow::Cow::into_owned),
        from_raw: change.from.as_deref().filter(|_| !is_text).map(json::hex),
        changed: changed.map(Column::as_str).collect::<Vec<_>>(),
        before: change.before.as_ref().map(facts),
        after: change.after.as_ref().map(facts),
        moved_entries: change.moved_entries,
        reason: change.reason.as_deref(),
    }
}

fn facts(facts: &Facts) -> impl Serialize + use<> {
    let of = &facts.attributes;
    object! {
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

fn side(of: &Metadata, list_errors: bool) -> impl Serialize {
    object! {
        roots: &of.roots,
        host: of.host.as_deref(),
        started: of.started,
        ended: of.ended,
        complete: of.complete,
        errors: of.errors,
        unverified: of.unverified,
        inherited: &of.inherited,
        error_list?: list_errors.then_some(&of.error_list),
    }
}
