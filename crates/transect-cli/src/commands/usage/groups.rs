//! Groups of entries, by extension, owner, age, type or kind.

use std::collections::BTreeMap;
use std::time::Duration;

use transect::FileType;
use transect::table::{Age, SubtreeTotals, Table};
use transect_snapshot::StoredMeasure as Measure;
use transect_sys::host::now;

use transect_program::CliError;

use crate::args::Key;
use crate::kinds::Kinds;
use crate::output::units::counted;
use crate::output::{owner, quote};

#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The name, as in text and JSON.
    pub(super) key: String,
    pub(super) sums: SubtreeTotals,
}

const DAY: Duration = Duration::from_secs(24 * 3600);

const AGES: [(Duration, &str); 5] = [
    (DAY, "1 day"),
    (DAY.saturating_mul(7), "1 week"),
    (DAY.saturating_mul(30), "1 month"),
    (DAY.saturating_mul(365), "1 year"),
    (DAY.saturating_mul(5 * 365), "5 years"),
];

/// Returns the largest groups in descending order, but ages from the youngest to the oldest. All
/// groups beyond `most` are summed up in one, so that the groups add up to the total.
///
/// # Errors
/// The rules for kinds cannot be loaded.
pub(super) fn largest(
    table: &Table,
    key: Key,
    measure: Measure,
    most: usize,
    min_size: u64,
) -> Result<Vec<Group>, CliError> {
    let mut groups = match key {
        Key::Extension => by_extension(table),
        Key::Owner => named(table.by_owner(table.iter()), |uid| {
            uid.map_or_else(|| "(unknown)".to_owned(), owner::user_name_or_id)
        }),
        Key::Age => return Ok(by_age(table)),
        Key::Kind => by_kind(table, &Kinds::load()?),
        Key::Type => {
            let groups = table.group(table.iter(), |row| Some(table.file_type(row)));
            named(groups, |file_type| file_type.as_str().to_owned())
        }
    };
    groups.sort_by(|a, b| {
        let larger = measure.size(&b.sums).cmp(&measure.size(&a.sums));
        larger.then_with(|| a.key.cmp(&b.key))
    });
    // If all groups are empty, none is too small.
    let min_size = min_size.min(measure.size(&table.grand_total()));
    let large = groups.iter().take_while(|group| measure.size(&group.sums) >= min_size).count();
    let others = groups.split_off(large.min(most.max(1)));
    if !others.is_empty() {
        let mut sums = SubtreeTotals::default();
        others.iter().for_each(|other| sums += other.sums);
        let key = format!("({})", counted(others.len() as u64, "other", "others"));
        groups.push(Group { key, sums });
    }
    Ok(groups)
}

fn by_extension(table: &Table) -> Vec<Group> {
    let groups = table.group(table.iter(), |row| {
        Some(match table.file_type(row) {
            FileType::File => Ok(table.extension(row)),
            FileType::Directory => Err("(directories)"),
            _ => Err("(other types)"),
        })
    });
    named(groups, |key| match key {
        Ok(Some(extension)) => format!(".{}", quote::for_terminal(extension)),
        Ok(None) => "(no extension)".to_owned(),
        Err(word) => word.to_owned(),
    })
}

fn by_age(table: &Table) -> Vec<Group> {
    named(table.by_age(table.iter(), now(), &AGES.map(|age| age.0)), |age| match age {
        Age::Future => "in the future".to_owned(),
        Age::Below(limit) => format!("less than {}", AGES[limit].1),
        Age::Older => "older".to_owned(),
        Age::Unknown => "(unknown)".to_owned(),
    })
}

fn by_kind(table: &Table, kinds: &Kinds) -> Vec<Group> {
    let mut groups: BTreeMap<Option<&str>, SubtreeTotals> = BTreeMap::new();
    kinds.each(table, |row, kind| {
        let sums = kind.map_or_else(|| table.own_totals(row), |_| table.totals(row));
        *groups.entry(kind).or_default() += sums;
    });
    named(groups, |kind| kind.unwrap_or("(of no kind)").to_owned())
}

fn named<K>(
    groups: impl IntoIterator<Item = (K, SubtreeTotals)>,
    name: impl Fn(K) -> String,
) -> Vec<Group> {
    groups.into_iter().map(|(key, sums)| Group { key: name(key), sums }).collect()
}
