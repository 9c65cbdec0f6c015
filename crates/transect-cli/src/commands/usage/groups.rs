//! What entries come to together, wherever they are.

use std::time::SystemTime;

use transect::FileType;
use transect::table::{Row, Sums, Table};

use super::measure::Measure;
use crate::args::Key;
use crate::output::units::counted;
use crate::output::{owner, quote};

/// Entries that have something in common.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// What it is, as people and JSON read it.
    pub(super) key: String,
    pub(super) sums: Sums,
}

/// Ages in days, each with the word for what is younger.
const AGES: [(i64, &str); 6] = [
    (0, "in the future"),
    (1, "1 day"),
    (7, "1 week"),
    (30, "1 month"),
    (365, "1 year"),
    (5 * 365, "5 years"),
];

/// Returns the largest groups, the largest first; those of ages from the youngest to the oldest.
/// What there are no lines for is one group of its own, so that all of them are the total.
pub(super) fn largest(
    table: &Table,
    key: Key,
    measure: Measure,
    most: usize,
    least: u64,
) -> Vec<Group> {
    let mut groups = match key {
        Key::Extension => by_extension(table),
        Key::Owner => by_owner(table),
        Key::Age => return by_age(table),
        Key::Type => by_type(table),
    };
    groups.sort_by(|a, b| {
        let larger = measure.size(&b.sums).cmp(&measure.size(&a.sums));
        larger.then_with(|| a.key.cmp(&b.key))
    });
    // Where nothing has any size, nothing is too small.
    let least = least.min(measure.size(&table.total()));
    let large = groups.iter().take_while(|group| measure.size(&group.sums) >= least).count();
    let others = groups.split_off(large.min(most.max(1)));
    if !others.is_empty() {
        let mut sums = Sums::default();
        others.iter().for_each(|other| sums += other.sums);
        let key = format!("({})", counted(others.len() as u64, "other", "others"));
        groups.push(Group { key, sums });
    }
    groups
}

fn by_extension(table: &Table) -> Vec<Group> {
    let groups = table.group(table.iter(), |row| {
        Some(match table.file_type(row) {
            FileType::File => Ok(table.extension(row)),
            FileType::Directory => Err("(directories)"),
            _ => Err("(other types)"),
        })
    });
    let name = |key: Result<Option<&std::ffi::OsStr>, &str>| match key {
        Ok(Some(extension)) => format!(".{}", quote::for_terminal(extension)),
        Ok(None) => "(no extension)".to_owned(),
        Err(word) => word.to_owned(),
    };
    groups.into_iter().map(|(key, sums)| Group { key: name(key), sums }).collect()
}

fn by_owner(table: &Table) -> Vec<Group> {
    let groups = table.group(table.iter(), |row| Some(table.attributes(row).uid()));
    let name = |uid: Option<u32>| uid.map_or_else(|| "(unknown)".to_owned(), owner::name);
    groups.into_iter().map(|(uid, sums)| Group { key: name(uid), sums }).collect()
}

fn by_type(table: &Table) -> Vec<Group> {
    let groups = table.group(table.iter(), |row| Some(table.file_type(row)));
    groups
        .into_iter()
        .map(|(file_type, sums)| Group { key: file_type.as_str().to_owned(), sums })
        .collect()
}

fn by_age(table: &Table) -> Vec<Group> {
    let now = nanoseconds(SystemTime::now());
    let age = |row: Row| table.mtime(row).map(|mtime| age_of(mtime, now));
    let groups = table.group(table.iter(), |row| Some(age(row)));
    let name = |age: Option<usize>| match age.map(|age| AGES.get(age)) {
        Some(Some((0, word))) => (*word).to_owned(),
        Some(Some((_, word))) => format!("less than {word}"),
        Some(None) => "older".to_owned(),
        None => "(unknown)".to_owned(),
    };
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|&(age, _)| age.unwrap_or(usize::MAX));
    groups.into_iter().map(|(age, sums)| Group { key: name(age), sums }).collect()
}

/// Returns the place of an age among [`AGES`]; the one behind them if it is older.
fn age_of(mtime: i64, now: i64) -> usize {
    const DAY: i64 = 24 * 3600 * 1_000_000_000;
    let old = now.saturating_sub(mtime);
    AGES.iter().position(|&(days, _)| old < days * DAY).unwrap_or(AGES.len())
}

fn nanoseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_their_places_however_far_times_are() {
        let now = 1_800_000_000 * 1_000_000_000;
        let day = 24 * 3600 * 1_000_000_000;
        for (mtime, word) in [
            (now + 1, Some("in the future")),
            (i64::MAX, Some("in the future")),
            (now, Some("1 day")),
            (now - day, Some("1 week")),
            (now - 29 * day, Some("1 month")),
            (now - 364 * day, Some("1 year")),
            (now - 365 * day, Some("5 years")),
            (now - 5 * 365 * day, None),
            (0, None),
            (i64::MIN, None),
        ] {
            assert_eq!(AGES.get(age_of(mtime, now)).map(|age| age.1), word, "{mtime}");
        }
    }
}
