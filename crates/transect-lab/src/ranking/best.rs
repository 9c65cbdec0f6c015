//! The group of methods that a headline names.
//!
//! Of equal methods, one always has the smallest median. So the headline names the fastest together with
//! every method that is not clearly slower: paired by round, judged by the rule of all verdicts,
//! corrected for the number of methods.

use crate::ranking::row::Row;
use transect_stats::verdict::DEFAULT_THRESHOLD;
use transect_stats::{Ratios, Verdict, judge_all};

/// Returns the names of the group, the smallest median first, and whether the others are shown to make no difference
/// to it. `rows` are the methods, sorted; `against`
/// returns the ratios of a cell (second) to another (first).
///
/// A row below the floor is left out, as its time is impossible. A method without a ratio to the fastest
/// stays in the group.
pub(super) fn best_group(
    rows: &[&Row],
    against: impl Fn(&str, &str) -> Option<Ratios>,
) -> (Vec<String>, bool) {
    let mut rows = rows.iter().filter(|row| !row.below_the_floor).map(|row| &row.cell.name);
    let Some(fastest) = rows.next() else { return (Vec::new(), false) };
    let others: Vec<(&String, Option<Ratios>)> =
        rows.map(|name| (name, against(fastest, name))).collect();
    let ratios: Vec<Ratios> = others.iter().filter_map(|(_, ratios)| *ratios).collect();
    let mut judged = judge_all(&ratios, DEFAULT_THRESHOLD).into_iter();
    let verdicts = others.into_iter().map(|(name, ratios)| {
        let judgement = ratios.and_then(|_| judged.next());
        (name, judgement.map_or(Verdict::Undecided, |judgement| judgement.verdict))
    });
    let group: Vec<_> = verdicts.filter(|(_, verdict)| *verdict != Verdict::Slower).collect();
    let are_equal = group.iter().all(|(_, verdict)| *verdict == Verdict::NoDifference);
    let names = std::iter::once(fastest).chain(group.into_iter().map(|(name, _)| name));
    (names.cloned().collect(), are_equal)
}

// Arithmetic, the same on every system: testing it on one is enough, and slow under Wine.
#[cfg(test)]
#[cfg(not(windows))]
mod tests {
    use crate::fixtures::with;
    use crate::harness::log::{Outcome, SessionData};
    use crate::ranking::rank;
    use transect_stats::SplitMix64;

    /// Sessions per rate, each with its own seed.
    const SESSIONS: u64 = 200;

    /// Returns a session of twelve rounds with the base, its second cell, and three other methods, all with
    /// this noise; the last takes `truth` times as long as the others.
    fn session(noise: f64, truth: f64, seed: u64) -> SessionData {
        let cells = ["base", "base (again)", "a", "b", "c"];
        let mut data = with(&cells.map(|cell| (cell, 1000)), 12);
        data.spec.seed = seed;
        let mut random = SplitMix64::new(seed);
        for sample in &mut data.samples {
            let Outcome::Right { runs, .. } = &mut sample.outcome else { continue };
            // The sum of several uniform draws is nearly normal; its deviation is 1.
            let bell: f64 = (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let factor = if sample.cell == "c" { truth } else { 1.0 };
            runs[0].elapsed_ns = (5e7 * factor * libm::exp(noise * bell)) as u64;
        }
        data
    }

    /// Returns how many of the sessions satisfy a condition on the group.
    fn count(noise: f64, truth: f64, is_so: impl Fn(&[String]) -> bool) -> u64 {
        let groups = (0..SESSIONS).map(|seed| rank(&session(noise, truth, seed)).remove(0).best);
        groups.filter(|best| is_so(best)).count() as u64
    }

    #[test]
    fn equal_methods_rarely_one_winner() {
        for noise in [0.02, 0.2] {
            let crowned = count(noise, 1.0, |best| best.len() == 1);
            println!("A/A, noise {noise}: {crowned} of {SESSIONS} headlines name one method");
            assert!(crowned <= SESSIONS / 20, "{crowned}");
        }
    }

    #[test]
    fn equal_methods_usually_all_named() {
        let all = count(0.05, 1.0, |best| best.len() == 4);
        println!("A/A, noise 0.05: all named in {all} of {SESSIONS} sessions");
        // The same samples choose the fastest, so more than 5 % of sessions lose a method. A session can
        // lose one only if, of the six pairs among four methods, one has p <= 0.04 / 3, the first step of
        // `holm`: at most 6 * 0.04 / 3 = 8 %. Of 200 sessions, that is 16 with a standard deviation of
        // 3.8; three of these are allowed.
        assert!(SESSIONS - all <= 27, "{all}");
    }

    #[test]
    fn truly_fastest_method_named_alone() {
        let alone = count(0.02, 0.9, |best| *best == ["c"]);
        println!("10 % faster, noise 0.02: named alone in {alone} of {SESSIONS} sessions");
        assert!(alone >= SESSIONS * 9 / 10, "{alone}");
    }

    #[test]
    fn method_below_the_floor_never_named() {
        let mut data =
            with(&[("base", 1000), ("base (again)", 1000), ("floor", 900), ("a", 1000)], 12);
        let fast = |data: &mut SessionData| {
            crate::fixtures::change(data, "a", |runs, _| runs[0].elapsed_ns = 500);
        };
        fast(&mut data);
        crate::fixtures::own(&mut data);
        let ranking = &rank(&data)[0];
        assert!(ranking.rows[0].below_the_floor, "{:?}", ranking.rows[0].cell.name);
        assert_eq!(ranking.best, ["base"]);
    }
}
