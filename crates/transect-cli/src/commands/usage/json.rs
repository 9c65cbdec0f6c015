//! The object that `usage --json` prints.

use std::path::PathBuf;

use serde::Serialize;
use transect::table::{SubtreeTotals, UnreadReason};

use super::groups::Group;
use super::tree::Line;
use super::view::{Usage, View};
use crate::output::json::{OwnedPath, disk, object};

pub(super) fn usage(roots: &[PathBuf], usage: &Usage) -> impl Serialize {
    let Usage { unverified, elapsed, interrupted, table, disk: space, measure, view, .. } = usage;
    let outcome = usage.outcome.as_ref();
    let (mut entries, mut groups) = (None, None);
    match view {
        View::Tree(lines) => {
            let entry = |line: &Line| {
                let row = line.row;
                let exclusive = usage.shared.as_ref().map(|shared| shared.exclusive(table, row));
                object! {
                    ..path: OwnedPath(table.path(row)),
                    depth: line.last.len(),
                    r#type: table.file_type(row).as_str(),
                    ..sums: sums(&usage.totals(row)),
                    shared_size: table.shared(row),
                    exclusive_size: table.exclusive(row),
                    exclusive_least?: exclusive.as_ref().map(|it| it.start),
                    exclusive_most?: exclusive.as_ref().map(|it| it.end),
                    errors: table.errors(row),
                    unread: table.unread_reason(row).map(UnreadReason::as_str),
                }
            };
            entries = Some(lines.iter().map(entry).collect::<Vec<_>>());
        }
        View::Groups(all) => {
            let group =
                |group: &Group| object! { key: group.key.clone(), ..sums: sums(&group.sums) };
            groups = Some(all.iter().map(group).collect::<Vec<_>>());
        }
    }
    object! {
        schema: "transect.usage/1",
        roots: roots.iter().map(|root| root.to_string_lossy().into_owned()).collect::<Vec<_>>(),
        complete: usage.errors() == 0 && !interrupted,
        unverified: *unverified,
        interrupted: *interrupted,
        measure: measure.as_str(),
        ..total: sums(&usage.grand_total()),
        hard_links: table.hard_links(),
        disk: space.map(disk),
        errors: usage.errors(),
        vanished: usage.vanished(),
        elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
        reader: outcome.map(|outcome| outcome.reader.as_str()),
        reader_reason?: outcome.and_then(|outcome| outcome.reader_reason.as_deref()),
        order: outcome.map(|outcome| outcome.order.as_str()),
        threads: outcome.map(|outcome| outcome.threads),
        entries?: entries,
        groups?: groups,
    }
}

fn sums(sums: &SubtreeTotals) -> impl Serialize + use<> {
    object! {
        files: sums.files,
        directories: sums.directories,
        others: sums.others,
        apparent_size: sums.apparent,
        disk_usage: sums.disk_usage,
        newest_mtime: sums.newest(),
    }
}
