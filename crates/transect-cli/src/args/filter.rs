//! Parsers of the filters: types, sizes, times, owners.

use std::path::Path;
use std::time::SystemTime;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::{Span, Timestamp, Zoned, civil};
use transect::{Conditions, FileType};
use transect_text::size;

use crate::output::owner;
use crate::time_zone;

/// A type that entries may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeFilter {
    Type(FileType),
    /// A file that a user may execute.
    Executable,
}

impl TypeFilter {
    pub(super) fn file_type(self) -> FileType {
        match self {
            Self::Type(file_type) => file_type,
            Self::Executable => FileType::File,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Type(file_type) => file_type.as_str(),
            Self::Executable => "executable",
        }
    }
}

/// The types with their letters, as in `find` and `fd`.
const TYPES: [(TypeFilter, &str); 8] = [
    (TypeFilter::Type(FileType::File), "f"),
    (TypeFilter::Type(FileType::Directory), "d"),
    (TypeFilter::Type(FileType::Symlink), "l"),
    (TypeFilter::Type(FileType::Block), "b"),
    (TypeFilter::Type(FileType::Char), "c"),
    (TypeFilter::Type(FileType::Fifo), "p"),
    (TypeFilter::Type(FileType::Socket), "s"),
    (TypeFilter::Executable, "x"),
];

pub(super) fn type_parser() -> impl TypedValueParser<Value = TypeFilter> {
    let value = |(filter, letter): (TypeFilter, &'static str)| {
        PossibleValue::new(letter).alias(filter.as_str())
    };
    PossibleValuesParser::new(TYPES.map(value)).map(|word| {
        let named =
            |&(filter, letter): &(TypeFilter, &str)| word == letter || word == filter.as_str();
        TYPES.into_iter().find(named).expect("BUG: the parser accepts only these words").0
    })
}

/// A limit on sizes, with the meaning of `fd --size`. (In `find`, `+N` means *more than* N, in units
/// that sizes are rounded up to: `-size -1M` matches only empty files.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeFilter {
    /// `+N`
    AtLeast(u64),
    /// `-N`
    AtMost(u64),
    /// `N`
    Exactly(u64),
}

impl SizeFilter {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (limit, size): (fn(u64) -> Self, _) = match text.split_at_checked(1) {
            Some(("+", size)) => (Self::AtLeast, size),
            Some(("-", size)) => (Self::AtMost, size),
            _ => (Self::Exactly, text),
        };
        Ok(limit(size::parse(size)? as u64))
    }

    /// Adds the limit to `conditions`. Several limits all apply.
    pub(super) fn apply_to(self, conditions: &mut Conditions) {
        let (least, most) = match self {
            Self::AtLeast(size) => (Some(size), None),
            Self::AtMost(size) => (None, Some(size)),
            Self::Exactly(size) => (Some(size), Some(size)),
        };
        conditions.min_size = conditions.min_size.max(least);
        conditions.max_size = match (conditions.max_size, most) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

/// Parses a time into nanoseconds since 1970 UTC: the local beginning of a day ([`day`]), an age
/// (`2d`), a timestamp with its zone, a local date or date and time, or the path of a file, which
/// stands for its modification time.
pub(super) fn parse_time(text: &str) -> Result<i64, String> {
    let nanoseconds = |time: Timestamp| {
        let out_of_range = |_| "the time is out of range".to_owned();
        i64::try_from(time.as_nanosecond()).map_err(out_of_range)
    };
    if let Some(day) = day(text, &Timestamp::now().to_zoned(time_zone::local())) {
        return nanoseconds(day.map_err(|error| error.to_string())?.timestamp());
    }
    if let Ok(ago) = humantime::parse_duration(text) {
        let ago = jiff::SignedDuration::try_from(ago).map_err(|error| error.to_string())?;
        let then = Timestamp::now().checked_sub(ago).map_err(|error| error.to_string())?;
        return nanoseconds(then);
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return nanoseconds(moment);
    }
    if let Ok(date) = text.parse::<civil::DateTime>() {
        let zoned = date.to_zoned(time_zone::local()).map_err(|error| error.to_string())?;
        return nanoseconds(zoned.timestamp());
    }
    let modified = Path::new(text).metadata().and_then(|metadata| metadata.modified());
    let modified: SystemTime = modified.map_err(|error| {
        let reason = transect::reason(&error);
        format!("not a time (2026-01-31, 2026-01-31T10:00, 2d, yesterday), nor a file: {reason}")
    })?;
    nanoseconds(Timestamp::try_from(modified).map_err(|error| error.to_string())?)
}

/// Returns the beginning of a day that words name: today, yesterday, or the same day of the last week,
/// month or year. `None` for other words.
fn day(text: &str, now: &Zoned) -> Option<Result<Zoned, jiff::Error>> {
    let ago = match text {
        "today" => Span::new(),
        "yesterday" => Span::new().days(1),
        "last week" => Span::new().weeks(1),
        "last month" => Span::new().months(1),
        "last year" => Span::new().years(1),
        _ => return None,
    };
    Some(now.checked_sub(ago).and_then(|day| day.start_of_day()))
}

/// The owner that entries must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OwnerFilter {
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
}

impl OwnerFilter {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if !cfg!(unix) {
            return Err("this system has no numeric owners to filter by".to_owned());
        }
        let (user, group) = text.split_once(':').unwrap_or((text, ""));
        let number = |name: &str, named: fn(&str) -> Option<u32>, what: &str| match name {
            "" => Ok(None),
            name => named(name)
                .or_else(|| name.parse().ok())
                .map(Some)
                .ok_or_else(|| format!("no such {what}: '{name}'")),
        };
        let owner = Self {
            uid: number(user, owner::uid_by_name, "user")?,
            gid: number(group, owner::gid_by_name, "group")?,
        };
        if owner == Self::default() { Err("name a user or a group".to_owned()) } else { Ok(owner) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_limits_repeated_all_apply() {
        let limits = |texts: &[&str]| {
            let mut conditions = Conditions::default();
            for text in texts {
                SizeFilter::parse(text).unwrap().apply_to(&mut conditions);
            }
            (conditions.min_size, conditions.max_size)
        };
        assert_eq!(limits(&["+10"]), (Some(10), None));
        assert_eq!(limits(&["-1K"]), (None, Some(1024)));
        assert_eq!(limits(&["7"]), (Some(7), Some(7)));
        assert_eq!(limits(&["+1K", "+2K", "-1M", "-2M"]), (Some(2048), Some(1 << 20)));
        for text in ["", "+", "-", "+-1", "much", "++1"] {
            assert!(SizeFilter::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn time_accepts_timestamp_date_age_and_file() {
        assert_eq!(parse_time("1970-01-01T00:00:01Z"), Ok(1_000_000_000));
        assert_eq!(parse_time("2001-09-09T03:46:40+02:00"), Ok(1_000_000_000_000_000_000));
        let day = 24 * 3600 * 1_000_000_000;
        let (yesterday, now) = (parse_time("1d").unwrap(), parse_time("0s").unwrap());
        assert!((day..day + 60_000_000_000).contains(&(now - yesterday)));
        // Local midnight differs from UTC by at most 15 hours.
        let noon = parse_time("2001-09-09T12:00").unwrap();
        assert!((noon - 1_000_029_600_000_000_000).abs() <= 15 * 3600 * 1_000_000_000);
        assert_eq!(parse_time("2001-09-09").unwrap() + day / 2, noon);
        assert!(parse_time(".").unwrap() <= now);
        let refused = parse_time("yesterday or so").unwrap_err();
        assert!(refused.contains("not a time"), "{refused}");
    }

    #[test]
    fn time_words_are_beginnings_of_local_days() {
        let now: Zoned = "2026-03-31T10:30[Europe/Berlin]".parse().unwrap();
        for (words, beginning) in [
            ("today", "2026-03-31T00:00[Europe/Berlin]"),
            ("yesterday", "2026-03-30T00:00[Europe/Berlin]"),
            // Before the clocks changed.
            ("last week", "2026-03-24T00:00[Europe/Berlin]"),
            ("last month", "2026-02-28T00:00[Europe/Berlin]"),
            ("last year", "2025-03-31T00:00[Europe/Berlin]"),
        ] {
            assert_eq!(day(words, &now).unwrap().unwrap(), beginning.parse().unwrap(), "{words}");
        }
        assert!(day("next week", &now).is_none());
        assert!(parse_time("yesterday").unwrap() < parse_time("today").unwrap());
    }

    #[test]
    fn time_m_is_a_minute_and_capital_m_a_month() {
        let now = parse_time("0s").unwrap();
        let [minute, month] = ["1m", "1M"].map(|age| now - parse_time(age).unwrap());
        assert!(minute < 3600 * 1_000_000_000 && month > 28 * 24 * 3600 * 1_000_000_000);
    }

    #[cfg(unix)]
    #[test]
    fn owner_accepts_names_and_numbers() {
        let of = |uid, gid| Ok(OwnerFilter { uid, gid });
        assert_eq!(OwnerFilter::parse("root"), of(Some(0), None));
        assert_eq!(OwnerFilter::parse("0:0"), of(Some(0), Some(0)));
        assert_eq!(OwnerFilter::parse(":4000000"), of(None, Some(4_000_000)));
        for text in ["", ":", "nobody has this name", "-1", "4294967296"] {
            assert!(OwnerFilter::parse(text).is_err(), "{text}");
        }
    }
}
