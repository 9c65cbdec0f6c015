//! Which snapshots of a series are no longer needed. `docs/SERIES.md` has the rule and its reasons.
//!
//! All of the last day are kept, the last one of each day for 31 days, and the last one of each month forever. Days
//! and months are those of UTC. A clock can be wrong, so its time alone removes nothing: a snapshot is only as old as
//! the snapshots after it prove, and only a snapshot that was stored later replaces it.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use transect_snapshot::SeriesPlace;

/// Nanoseconds of a day. No two snapshots prove that more time passed between them.
pub(super) const DAY: i64 = 86_400_000_000_000;
/// For how many days one snapshot of each day is kept.
const DAYS: i64 = 31;
/// By how much longer everything is kept: a clock that jumps ahead once, and stays there, proves a day that never was.
const RESERVE: i64 = DAY;

/// What thinning has to know of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// When reading began by the clock of the machine, in nanoseconds since 1970 UTC.
    pub(super) taken: i64,
    pub(super) place: SeriesPlace,
    pub(super) is_complete: bool,
}

/// Returns the members of a series in the order in which they were stored. Those without a place are of earlier
/// versions of the program: they get one by their times, before all others.
pub(super) fn in_order(mut all: Vec<(i64, Option<SeriesPlace>, bool)>) -> Vec<Member> {
    all.sort_unstable_by_key(|&(taken, place, _)| (place.map(|it| it.number), taken));
    let mut members: Vec<Member> = Vec::with_capacity(all.len());
    let mut next: Option<(i64, SeriesPlace)> = None;
    for (taken, place, is_complete) in all.into_iter().rev() {
        let place = place.unwrap_or_else(|| {
            let place = next.map_or(SeriesPlace::new(-1, 0), |(later, place)| {
                SeriesPlace::new(
                    place.number - 1,
                    place.elapsed.saturating_sub(proven(taken, later)),
                )
            });
            next = Some((taken, place));
            place
        });
        members.push(Member { taken, place, is_complete });
    }
    members.reverse();
    members
}

/// Returns the place of a snapshot that is taken after all others.
pub(super) fn next_place(members: &[Member], taken: i64) -> SeriesPlace {
    let Some(last) = members.last() else { return SeriesPlace::new(0, 0) };
    let elapsed = last.place.elapsed.saturating_add(proven(last.taken, taken));
    SeriesPlace::new(last.place.number.saturating_add(1), elapsed)
}

/// Returns how much time passed between two snapshots as far as it is proven. A step ahead and the step back add up to
/// nothing.
fn proven(from: i64, to: i64) -> i64 {
    to.saturating_sub(from).clamp(-DAY, DAY)
}

/// Returns the times of those that are no longer needed at `now`, in nanoseconds since 1970 UTC. The members are in the
/// order in which they were stored.
pub(super) fn superfluous(members: &[Member], now: i64) -> Vec<i64> {
    let elapsed = next_place(members, now).elapsed;
    let is_superfluous = |&place: &usize| {
        let it = &members[place];
        let proven = elapsed.saturating_sub(it.place.elapsed);
        let age = now.saturating_sub(it.taken).min(proven).saturating_sub(RESERVE);
        let is_same: fn(i64, i64) -> bool = match age {
            ..DAY => return false,
            age if age < DAYS * DAY => |a, b| a.div_euclid(DAY) == b.div_euclid(DAY),
            _ => |a, b| month(a) == month(b),
        };
        // Where the clock was set back, nothing proves which day a snapshot is of.
        let ascending = members[place..].windows(2).take_while(|it| it[0].taken < it[1].taken);
        // Those right after the step may be gone; but then more time is proven than the clock shows.
        let is_after_step = |other: &Member| {
            let proven = other.place.elapsed.saturating_sub(it.place.elapsed);
            proven > other.taken.saturating_sub(it.taken)
        };
        let mut later = ascending
            .map(|it| &it[1])
            .take_while(|other| is_same(it.taken, other.taken) && !is_after_step(other));
        later.any(|other| other.is_complete || !it.is_complete)
    };
    (0..members.len()).filter(is_superfluous).map(|place| members[place].taken).collect()
}

fn month(time: i64) -> (i16, i8) {
    let time = Timestamp::from_nanosecond(time.into())
        .expect("BUG: 64 bits of nanoseconds are within a thousand years");
    let time = time.to_zoned(TimeZone::UTC);
    (time.year(), time.month())
}

#[cfg(test)]
mod tests;
