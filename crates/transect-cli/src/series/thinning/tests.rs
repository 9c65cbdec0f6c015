//! The rule beside one that is asked what a correct clock would have kept.

use proptest::prelude::*;

use super::*;

const HOUR: i64 = DAY / 24;

fn at(text: &str) -> i64 {
    let time: Timestamp = text.parse().unwrap();
    i64::try_from(time.as_nanosecond()).unwrap()
}

/// What was stored when, by a correct clock.
#[derive(Clone, Copy, Debug)]
struct Event {
    real: i64,
    /// How much the clock of the machine was ahead.
    ahead: i64,
    is_complete: bool,
}

/// A series, and the clock of its machine.
#[derive(Default)]
struct Machine {
    /// All that was ever stored; the index is the number.
    events: Vec<Event>,
    members: Vec<Member>,
}

impl Machine {
    /// Stores a snapshot, and returns the numbers of those that were removed.
    fn store(&mut self, event: Event) -> Vec<usize> {
        let mut taken = event.real + event.ahead;
        while self.members.iter().any(|it| it.taken == taken) {
            taken += 1_000_000;
        }
        let place = next_place(&self.members, taken);
        assert_eq!(usize::try_from(place.number), Ok(self.events.len()));
        self.events.push(event);
        self.members.push(Member { taken, place, is_complete: event.is_complete });
        let gone = superfluous(&self.members, taken);
        let (gone, kept) =
            self.members.drain(..).partition::<Vec<_>, _>(|it| gone.contains(&it.taken));
        self.members = kept;
        gone.into_iter().map(|it| usize::try_from(it.place.number).unwrap()).collect()
    }

    fn kept(&self) -> Vec<usize> {
        self.members.iter().map(|it| usize::try_from(it.place.number).unwrap()).collect()
    }

    /// Returns whether the rule keeps a snapshot if the clock is always correct.
    fn would_be_kept(&self, number: usize) -> bool {
        let now = self.events.last().unwrap().real;
        let it = self.events[number];
        let is_same: fn(i64, i64) -> bool = match now - it.real {
            ..DAY => return true,
            age if age < DAYS * DAY => |a, b| a.div_euclid(DAY) == b.div_euclid(DAY),
            _ => |a, b| month(a) == month(b),
        };
        let mut later = self.events[number + 1..].iter();
        !later.any(|other| is_same(it.real, other.real) && (other.is_complete || !it.is_complete))
    }

    /// Returns whether a snapshot remains that is as complete, and was stored at most so much earlier or later.
    fn has_substitute(&self, number: usize, within: i64) -> bool {
        let it = self.events[number];
        self.kept().into_iter().any(|kept| {
            let other = self.events[kept];
            let distance = (other.real - it.real).abs();
            distance <= within && (other.is_complete || !it.is_complete)
        })
    }
}

/// Intervals of minutes or of up to 40 hours, and whether the result is complete.
fn steps() -> impl Strategy<Value = Vec<(i64, bool)>> {
    let minutes = prop_oneof![1..90_i64, 1..40 * 60_i64];
    prop::collection::vec((minutes, prop::bool::weighted(0.8)), 20..250)
}

#[test]
fn clock_months_ahead_once_removes_nothing() {
    let start = at("2026-11-20T00:30:00Z");
    let mut machine = Machine::default();
    for number in 0..8 {
        let event = Event { real: start + number * 150 * HOUR / 60, ahead: 0, is_complete: true };
        assert!(machine.store(event).is_empty());
    }
    for hour in 20..24 {
        let event = Event { real: start + hour * HOUR, ahead: 46 * DAY, is_complete: true };
        assert!(machine.store(event).is_empty(), "hour {hour}");
    }
    // A snapshot of the future is not in the way of what is stored after the repair.
    let event = Event { real: start + 24 * HOUR, ahead: 0, is_complete: true };
    assert!(machine.store(event).is_empty());
    assert_eq!(machine.kept().len(), 8 + 4 + 1);
}

#[test]
fn clock_years_behind_keeps_what_was_stored_then() {
    let start = at("2026-11-20T06:00:00Z");
    let mut machine = Machine::default();
    for day in 0..60 {
        machine.store(Event { real: start + day * DAY, ahead: 0, is_complete: true });
    }
    let behind = at("2016-01-01T00:00:00Z") - start - 60 * DAY;
    for minute in 1..=10 {
        let real = start + 60 * DAY + minute * HOUR / 60;
        assert!(machine.store(Event { real, ahead: behind, is_complete: true }).is_empty());
    }
    let real = start + 60 * DAY + HOUR;
    assert!(machine.store(Event { real, ahead: 0, is_complete: true }).is_empty());
    // Later, they are thinned like all others, except for the last of them.
    let mut gone = Vec::new();
    for day in 61..100 {
        gone.extend(machine.store(Event { real: start + day * DAY, ahead: 0, is_complete: true }));
    }
    let of_then: Vec<usize> =
        machine.kept().into_iter().filter(|it| (60..70).contains(it)).collect();
    assert_eq!(of_then, [69]);
}

#[test]
fn clock_a_month_behind_does_not_replace_the_last_of_a_month() {
    let start = at("2026-03-01T23:30:00Z");
    let store = |machine: &mut Machine, day: i64, ahead: i64| {
        machine.store(Event { real: start + day * DAY, ahead, is_complete: true });
    };
    let mut machine = Machine::default();
    (0..31).for_each(|day| store(&mut machine, day, 0));
    // On the first of April, the clock shows the second of March.
    store(&mut machine, 31, -30 * DAY + HOUR);
    (32..80).for_each(|day| store(&mut machine, day, 0));
    let of_march: Vec<usize> = machine.kept().into_iter().filter(|&it| it < 32).collect();
    assert_eq!(of_march, [30, 31], "the last one, and the one that seems to be of March");
}

#[test]
fn complete_snapshot_is_not_replaced_by_a_partial_one() {
    let start = at("2026-03-10T01:00:00Z");
    let mut machine = Machine::default();
    for hour in 0..24 * 90 {
        // The last ones of each day are partial.
        let event = Event { real: start + hour * HOUR, ahead: 0, is_complete: hour % 24 < 20 };
        machine.store(event);
    }
    let kept = machine.kept();
    let of_day = |day: usize| kept.iter().filter(|&&it| (it + 1) / 24 == day).copied().collect();
    // The last complete one of a day, and the last one, which is partial.
    let day: Vec<usize> = of_day(80);
    assert_eq!(day, [80 * 24 + 19, 80 * 24 + 22]);
}

#[test]
fn clock_set_back_for_weeks_replaces_nothing_stored_before() {
    let start = at("2026-01-29T11:00:00Z");
    let mut machine = Machine::default();
    for step in 0..200 {
        // What was stored right after the step goes, and the wrong clock reaches the end of January.
        let ahead = if (1..80).contains(&step) { -16 * DAY } else { 0 };
        let event = Event { real: start + step * 9 * HOUR, ahead, is_complete: true };
        let gone = machine.store(event);
        assert!(!gone.contains(&0), "the last of January, at step {step}");
    }
}

#[test]
fn series_of_a_correct_clock_has_days_and_months() {
    // Every seven hours for 400 days.
    let start = at("2025-01-01T00:30:00Z");
    let mut machine = Machine::default();
    for number in 0..1371 {
        machine.store(Event { real: start + number * 7 * HOUR, ahead: 0, is_complete: true });
    }
    let kept = machine.kept();
    let needed: Vec<usize> = (0..1371).filter(|&it| machine.would_be_kept(it)).collect();
    assert!(needed.iter().all(|it| kept.contains(it)));
    // The reserve of a day: one day more, and four more of the day before.
    assert!((needed.len()..needed.len() + 6).contains(&kept.len()), "{needed:?} {kept:?}");
    assert!((30 + 12..=31 + 13 + 4).contains(&needed.len()), "{}", needed.len());
}

#[test]
fn series_of_weekly_snapshots_is_thinned_to_months() {
    let start = at("2025-01-01T00:30:00Z");
    let mut machine = Machine::default();
    for week in 0..150 {
        machine.store(Event { real: start + week * 7 * DAY, ahead: 0, is_complete: true });
    }
    // Each proves a day: for 32 weeks, all are kept.
    let kept = machine.kept();
    assert!(kept.ends_with(&(118..150).collect::<Vec<_>>()) && kept.len() < 33 + 30, "{kept:?}");
}

#[test]
fn members_of_earlier_versions_come_first_and_age_by_their_times() {
    let start = at("2026-03-01T12:00:00Z");
    let mut all: Vec<_> = (0..100).map(|day| (start + day * DAY, None, true)).collect();
    let members = in_order(all.clone());
    let gone = superfluous(&members, start + 99 * DAY);
    // 31 days and the reserve; the last ones of March and April.
    assert_eq!(gone.len(), 100 - 32 - 2);
    let place = next_place(&members, start + 100 * DAY);
    assert_eq!(place, SeriesPlace::new(0, DAY));
    all.push((start + 100 * DAY, Some(place), true));
    let more = in_order(all);
    assert_eq!(more[..100], members[..]);
    assert_eq!(next_place(&more, start + 90 * DAY), SeriesPlace::new(1, 0));
    assert!(superfluous(&[], start).is_empty());
    let extreme = [i64::MIN, i64::MAX].map(|taken| (taken, None, true));
    assert!(superfluous(&in_order(extreme.to_vec()), i64::MAX).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 4000 }))]

    /// The clock jumps by three days to eleven years, back or ahead, and returns or stays: of what was stored while it
    /// was correct, nothing goes that a correct clock would have kept.
    #[test]
    fn jumping_clock_removes_nothing_that_a_correct_clock_keeps(
        steps in steps(),
        jumps in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![-4000..-3_i64, -40..-3_i64, 3..40_i64, 3..4000_i64]), 0..12),
    ) {
        let mut machine = Machine::default();
        let (mut real, mut ahead, mut jumped) = (at("2026-01-05T21:00:00Z"), 0, i64::MIN);
        for (step, &(minutes, is_complete)) in steps.iter().enumerate() {
            real += minutes * HOUR / 60;
            let jump = jumps.iter().find(|(index, _)| index.index(steps.len()) == step);
            match jump {
                Some(_) if ahead != 0 => (ahead, jumped) = (0, real),
                Some(&(_, days)) if real.saturating_sub(jumped) > DAY => ahead = days * DAY + minutes * 1_000_000,
                _ => {}
            }
            for gone in machine.store(Event { real, ahead, is_complete }) {
                let it = machine.events[gone];
                prop_assert!(real - it.real >= DAY, "{gone} is not a day old");
                prop_assert!(it.ahead != 0 || !machine.would_be_kept(gone), "{gone} at {step}: {:?}", machine.events);
                prop_assert!(machine.has_substitute(gone, i64::MAX), "{gone}");
            }
        }
    }

    /// A clock that shows the time of a zone now and then, or two machines with one name and folder, one of which is in
    /// another zone. No program can find out; what a correct clock would have kept has a substitute of
    /// the days before or after it.
    #[test]
    fn clock_of_another_zone_leaves_a_substitute_of_days_nearby(
        steps in steps(),
        zone in -12..=14_i64,
        wrong in prop::collection::vec(any::<bool>(), 250),
    ) {
        let mut machine = Machine::default();
        let mut real = at("2026-01-05T21:00:00Z");
        for (step, &(minutes, is_complete)) in steps.iter().enumerate() {
            real += minutes * HOUR / 60;
            let ahead = if wrong[step] { zone * HOUR } else { 0 };
            for gone in machine.store(Event { real, ahead, is_complete }) {
                prop_assert!(real - machine.events[gone].real >= DAY, "{gone} is not a day old");
            }
            for number in (0..machine.events.len()).filter(|_| step % 20 == 0) {
                let is_missing = machine.would_be_kept(number) && !machine.kept().contains(&number);
                prop_assert!(!is_missing || machine.has_substitute(number, 10 * DAY), "{number}");
            }
        }
    }
}
