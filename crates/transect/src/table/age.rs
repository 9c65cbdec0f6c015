//! Groups entries by age.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Row, SubtreeTotals, Table};

/// How long ago the content of an entry changed, youngest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Age {
    /// The time is in the future.
    Future,
    /// Less than the limit with this index, and not less than the one before.
    Below(usize),
    /// Not less than the last limit.
    Older,
    /// The time is unknown.
    Unknown,
}

impl Age {
    /// Returns the age of a change at `mtime`. Both times are nanoseconds since 1970 UTC; their
    /// difference may exceed 64 bits. `limits` must ascend.
    pub fn of(mtime: Option<i64>, now: i64, limits: &[Duration]) -> Self {
        let Some(mtime) = mtime else { return Self::Unknown };
        let Ok(age) = u64::try_from(i128::from(now) - i128::from(mtime)) else {
            return Self::Future;
        };
        let age = Duration::from_nanos(age);
        limits.iter().position(|&limit| age < limit).map_or(Self::Older, Self::Below)
    }
}

impl Table {
    /// Groups entries by age and adds up their totals, as [`Table::group`] does.
    /// Without the column [`MTIME`](transect_sys::FieldMask::MTIME) all ages are unknown.
    ///
    /// ```
    /// # use transect::{FieldMask, ScanOptions, table::TableBuilder};
    /// use std::time::{Duration, SystemTime};
    /// # let builder = TableBuilder::new(FieldMask::MTIME);
    /// # let table = ScanOptions::new(["src"]).plan()?.run(|| builder.sink())?.sink.into_table()?;
    ///
    /// let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos() as i64);
    /// let day = Duration::from_secs(24 * 3600);
    /// for (age, totals) in table.by_age(table.iter(), now, &[day, 7 * day, 365 * day]) {
    ///     println!("{age:?}: {} bytes", totals.disk_usage);
    /// }
    /// # Ok::<(), transect::Error>(())
    /// ```
    pub fn by_age(
        &self,
        rows: impl IntoIterator<Item = Row>,
        now: i64,
        limits: &[Duration],
    ) -> BTreeMap<Age, SubtreeTotals> {
        let age = |row| Some(Age::of(self.mtime(row), now, limits));
        self.group(rows, age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn age_of_extreme_times_sorted_into_limits() {
        let now = 1_800_000_000 * 1_000_000_000;
        let day = DAY.as_nanos() as i64;
        let limits = [DAY, 7 * DAY, 365 * DAY];
        for (mtime, age) in [
            (now + 1, Age::Future),
            (i64::MAX, Age::Future),
            (now, Age::Below(0)),
            (now - day + 1, Age::Below(0)),
            (now - day, Age::Below(1)),
            (now - 7 * day, Age::Below(2)),
            (now - 365 * day, Age::Older),
            (0, Age::Older),
            (i64::MIN, Age::Older),
        ] {
            assert_eq!(Age::of(Some(mtime), now, &limits), age, "{mtime}");
        }
        assert_eq!(Age::of(Some(i64::MAX), i64::MIN, &limits), Age::Future);
        assert_eq!(Age::of(Some(i64::MIN), i64::MAX, &limits), Age::Older);
        assert_eq!(Age::of(None, now, &limits), Age::Unknown);
        assert_eq!(Age::of(Some(now), now, &[]), Age::Older);
    }
}
