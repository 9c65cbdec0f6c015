//! Which snapshots of a series are no longer needed.
//!
//! All of the last day are kept, the last one of each day for 31 days, and the last one of each month
//! forever. Days and months are those of UTC. So the result does not depend on how often a series is thinned,
//! and the newest snapshot is always kept.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;
/// For how many days one snapshot of each day is kept.
const DAYS: i64 = 31;

/// Returns which of these times, sorted, are no longer needed at `now`. All are nanoseconds since 1970
/// UTC; what is later than `now` is kept.
pub(super) fn superfluous(taken: &[i64], now: i64) -> Vec<i64> {
    let is_needed = |(place, &time): (usize, &i64)| {
        let Some(&next) = taken.get(place + 1) else { return true };
        let age = now.saturating_sub(time);
        if age < DAY {
            true
        } else if age < DAYS * DAY {
            time.div_euclid(DAY) != next.div_euclid(DAY)
        } else {
            month(time) != month(next)
        }
    };
    let all = taken.iter().enumerate();
    all.filter(|&it| !is_needed(it)).map(|(_, &time)| time).collect()
}

/// Returns the year and the month of a time.
fn month(time: i64) -> (i16, i8) {
    let time = Timestamp::from_nanosecond(time.into())
        .expect("BUG: 64 bits of nanoseconds are within a thousand years");
    let time = time.to_zoned(TimeZone::UTC);
    (time.year(), time.month())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        let time: Timestamp = text.parse().unwrap();
        i64::try_from(time.as_nanosecond()).unwrap()
    }

    fn dates(times: &[i64]) -> Vec<String> {
        let date = |&time: &i64| Timestamp::from_nanosecond(time.into()).unwrap().to_string();
        times.iter().map(date).collect()
    }

    #[test]
    fn superfluous_follows_the_documented_policy() {
        let now = at("2026-03-31T12:00:00Z");
        let taken = [
            "2024-12-31T23:59:59Z",
            "2025-01-01T00:00:00Z", // not the last of its month
            "2025-01-31T23:59:59Z",
            "2026-02-27T12:00:00Z", // not the last of its month, older than 31 days
            "2026-02-28T13:00:00Z", // not the last of its day
            "2026-02-28T23:00:00Z",
            "2026-03-01T00:00:00Z",
            "2026-03-29T08:00:00Z", // not the last of its day
            "2026-03-29T09:00:00Z",
            "2026-03-30T11:59:59Z", // not the last of its day, a day and a second old
            "2026-03-30T12:00:01Z",
            "2026-03-30T12:00:02Z",
            "2026-03-31T12:00:00Z",
            "2027-01-01T00:00:00Z",
            "2027-01-01T00:00:01Z",
        ]
        .map(at);
        let gone = superfluous(&taken, now);
        let expected = [
            "2025-01-01T00:00:00Z",
            "2026-02-27T12:00:00Z",
            "2026-02-28T13:00:00Z",
            "2026-03-29T08:00:00Z",
            "2026-03-30T11:59:59Z",
        ];
        assert_eq!(dates(&gone), expected);
        for few in [&[][..], &[i64::MIN, i64::MAX], &[at("1999-01-01T00:00:00Z")]] {
            assert!(superfluous(few, now).is_empty());
        }
    }

    #[test]
    fn superfluous_often_or_once_is_the_same() {
        // A snapshot every seven hours for 400 days; thinned after each, or once at the end.
        let start = at("2025-01-01T00:30:00Z");
        let all: Vec<i64> = (0..1371).map(|number| start + number * 7 * DAY / 24).collect();
        let thin = |kept: &mut Vec<i64>, now: i64| {
            let gone = superfluous(kept, now);
            kept.retain(|time| !gone.contains(time));
        };
        let (mut often, mut once) = (Vec::new(), all.clone());
        for &now in &all {
            often.push(now);
            thin(&mut often, now);
        }
        thin(&mut once, *all.last().unwrap());
        assert_eq!(dates(&often), dates(&once));
        assert!((30 + 12..=31 + 13 + 4).contains(&often.len()), "{}", often.len());
    }
}
