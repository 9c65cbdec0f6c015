//! What no program can be faster than: its own system calls at the price of the cheapest one, and the floor, which
//! makes the necessary calls and nothing else. Both are measured in the same session, so this holds for a tree of
//! every size, unlike [`plausibility`](super::plausibility), which finds only times longer than the noise of a start.

use transect_stats::Ratios;
use transect_stats::verdict::{DEFAULT_THRESHOLD, MIN_ROUNDS};
use transect_text::units::time;

/// The share of the floor's CPU time that each program needs, as methods make different calls.
const SHARE: f64 = 0.5;

/// What bounds the time of a run from below; times in nanoseconds.
pub(super) struct Bounds<'s> {
    /// The number of system calls of a run, and the time of the cheapest one, if both are known.
    pub(super) calls: Option<(f64, f64)>,
    /// The CPU time of a run of the floor, and its name, if it is known.
    pub(super) floor: Option<(f64, &'s str)>,
    /// The ratios to the floors that bind it: none with cold caches, where threads that wait for a device win.
    pub(super) to_floors: Vec<Ratios>,
    /// How many processors can work at once on a run.
    pub(super) processors: f64,
}

impl Bounds<'_> {
    /// Returns why a program cannot have taken the time that it claims, if so.
    pub(super) fn objection_to(&self, claimed: f64) -> Option<String> {
        let is_too_short = |needed: f64| claimed * self.processors < needed;
        if let Some((calls, each)) = self.calls.filter(|(calls, each)| is_too_short(calls * each)) {
            let (claimed, needed) = (time(claimed), time(calls * each));
            return Some(format!(
                "it claims {claimed} for {calls:.0} system calls, which take {needed} even if each is as short \
                 as the shortest here"
            ));
        }
        if let Some((floor, name)) = self.floor.filter(|(floor, _)| is_too_short(SHARE * floor)) {
            let (claimed, floor) = (time(claimed), time(floor));
            return Some(format!(
                "it claims {claimed}, and the necessary system calls alone ({name}) use {floor} of CPU time"
            ));
        }
        // By more than the smallest difference that counts.
        let is_clear = |it: &Ratios| it.n >= MIN_ROUNDS && it.high < 1.0 - DEFAULT_THRESHOLD;
        let is_below = !self.to_floors.is_empty() && self.to_floors.iter().all(is_clear);
        is_below.then(|| {
            let ratio = self.to_floors[0].median;
            format!(
                "it claims {ratio:.2} times the floor, which makes the necessary system calls alone"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: f64 = 1e3;

    fn said(bounds: &Bounds<'_>, claimed: f64) -> String {
        bounds.objection_to(claimed).unwrap_or_default()
    }

    #[test]
    fn time_below_the_price_of_its_calls_impossible() {
        let bounds = Bounds {
            calls: Some((1850.0, 70.0)),
            floor: None,
            to_floors: Vec::new(),
            processors: 2.0,
        };
        let expected = "it claims 15 µs for 1850 system calls, which take 130 µs even if each is as short as \
                        the shortest here";
        assert_eq!(said(&bounds, 15.0 * US), expected);
        assert_eq!(said(&bounds, 70.0 * US), "");
    }

    #[test]
    fn time_below_the_cpu_time_of_the_floor_impossible() {
        let floor = Some((1200.0 * US, "floor"));
        let one = Bounds { calls: None, floor, to_floors: Vec::new(), processors: 1.0 };
        let expected = "it claims 100 µs, and the necessary system calls alone (floor) use 1.20 ms of CPU time";
        assert_eq!(said(&one, 100.0 * US), expected);
        assert_eq!(said(&one, 700.0 * US), "");
        assert_eq!(said(&Bounds { processors: 8.0, ..one }, 100.0 * US), "", "on eight processors");
    }

    #[test]
    fn time_below_all_its_floors_impossible() {
        let ratios = |time: f64, rounds| Ratios::paired(&vec![(1.0, time); rounds], 7).unwrap();
        let bounds = |to_floors| Bounds { calls: None, floor: None, to_floors, processors: 1.0 };
        let expected =
            "it claims 0.60 times the floor, which makes the necessary system calls alone";
        assert_eq!(said(&bounds(vec![ratios(0.6, MIN_ROUNDS)]), 1.0), expected);
        for possible in [
            vec![],
            vec![ratios(0.6, MIN_ROUNDS - 1)],
            vec![ratios(0.99, MIN_ROUNDS)],
            vec![ratios(0.6, MIN_ROUNDS), ratios(1.05, MIN_ROUNDS)],
        ] {
            assert_eq!(said(&bounds(possible), 1.0), "");
        }
    }
}
