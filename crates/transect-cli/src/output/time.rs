//! Times for people, in the local time zone.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use transect::FieldMask;
use transect_sys::host::now;
use transect_text::units::counted;

use crate::time_zone;

/// Returns the time since `second` (since 1970) in words.
pub(crate) fn age(second: u64) -> String {
    let seconds = (now().unsigned_abs() / 1_000_000_000).saturating_sub(second);
    match seconds {
        0..60 => "less than a minute".to_owned(),
        60..3600 => counted(seconds / 60, "minute", "minutes"),
        3600..86_400 => counted(seconds / 3600, "hour", "hours"),
        _ => counted(seconds / 86_400, "day", "days"),
    }
}

#[derive(Debug)]
pub(crate) struct TimeFormatter(TimeZone);

impl TimeFormatter {
    pub(crate) fn local() -> Self {
        Self(time_zone::local())
    }

    /// Returns a formatter for these attributes. The zone is read only if there are times among them: it
    /// takes several files.
    pub(crate) fn for_fields(fields: FieldMask) -> Self {
        if fields.intersects(FieldMask::TIMES) { Self::local() } else { Self(TimeZone::UTC) }
    }

    /// Formats the day of nanoseconds since 1970 UTC.
    pub(crate) fn date(&self, nanoseconds: i64) -> String {
        let text = self.text(nanoseconds);
        let is_date = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
        text.split(' ').find(is_date).unwrap_or_default().to_owned()
    }

    /// Formats nanoseconds since 1970 UTC, to the second. The largest value stands for all later
    /// times, the smallest for all earlier ones.
    pub(crate) fn text(&self, nanoseconds: i64) -> String {
        let time = Timestamp::from_nanosecond(nanoseconds.into())
            .expect("BUG: 64 bits of nanoseconds are within a thousand years");
        let format = match nanoseconds {
            i64::MIN => "before %Y-%m-%d",
            i64::MAX => "after %Y-%m-%d",
            _ => "%Y-%m-%d %H:%M:%S",
        };
        time.to_zoned(self.0.clone()).strftime(format).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_equal_calendar() {
        let times = TimeFormatter(TimeZone::UTC);
        for (nanoseconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (-1, "1969-12-31 23:59:59"),
            (951_782_400_999_999_999, "2000-02-29 00:00:00"),
            (1_795_269_192_123_456_789, "2026-11-21 13:53:12"),
            (i64::MAX - 1, "2262-04-11 23:47:16"),
            (i64::MAX, "after 2262-04-11"),
            (i64::MIN + 1, "1677-09-21 00:12:43"),
            (i64::MIN, "before 1677-09-21"),
        ] {
            assert_eq!(times.text(nanoseconds), text);
            assert!(text.contains(&times.date(nanoseconds)) && times.date(nanoseconds).len() == 10);
        }
    }
}
