//! The object that `usage --json` prints.

use serde::Serialize;
use transect::table::{SubtreeTotals, UnreadReason};

use super::groups::Group;
use super::view::{Report, ReportEntry, ReportRows};
use crate::output::json::{PathEntry, disk, object};

pub(super) fn usage<'u>(report: &'u Report<'_>) -> impl Serialize + use<'u> {
    let outcome = report.outcome;
    let (mut entries, mut groups) = (None, None);
    match &report.rows {
        ReportRows::Entries(all) => {
            let entry = |entry: &'u ReportEntry| {
                object! {
                    ..path: PathEntry::from(entry.path.as_path()),
                    depth: entry.depth,
                    r#type: entry.file_type.as_str(),
                    ..sums: sums(&entry.totals),
                    shared_size: entry.shared,
                    exclusive_size: entry.exclusive,
                    exclusive_least?: entry.freed.as_ref().map(|it| it.start),
                    exclusive_most?: entry.freed.as_ref().map(|it| it.end),
                    errors: entry.errors,
                    unread: entry.unread.map(UnreadReason::as_str),
                }
            };
            entries = Some(all.iter().map(entry).collect::<Vec<_>>());
        }
        ReportRows::Groups(all) => {
            let group =
                |group: &Group| object! { key: group.key.clone(), ..sums: sums(&group.sums) };
            groups = Some(all.iter().map(group).collect::<Vec<_>>());
        }
    }
    object! {
        schema: "transect.usage/1",
        roots: report.roots.iter().map(|root| root.to_string_lossy()).collect::<Vec<_>>(),
        complete: report.errors == 0 && !report.interrupted,
        unverified: report.unverified,
        interrupted: report.interrupted,
        measure: report.measure.as_str(),
        ..total: sums(&report.total),
        hard_links: report.hard_links,
        disk: report.disk.map(disk),
        errors: report.errors,
        vanished: report.vanished,
        elapsed_ns: u64::try_from(report.elapsed.as_nanos()).unwrap_or(u64::MAX),
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
