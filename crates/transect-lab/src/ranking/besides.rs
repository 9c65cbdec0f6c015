//! What differs between the methods of a pair besides their typical time: how much their times vary, how long the
//! longest take, and how much memory they need.

use std::fmt;

use serde::Serialize;
use transect_stats::verdict::DEFAULT_THRESHOLD;
use transect_stats::{Ratios, judge_all};

use crate::ranking::runs::Run;

/// Rounds in a row that give one range of times, and one longest time: with two, the range would be a mere
/// difference of neighbours; with more, fewer ranges could be compared.
const ROUNDS: usize = 3;

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Quantity {
        /// The longest minus the shortest of three times in a row.
        Range = "range of three times",
        Longest = "longest of three times",
        Memory = "peak memory",
    }
}

impl Quantity {
    fn ratios(self, rounds: &[[&Run; 2]], seed: u64) -> Option<Ratios> {
        let longest = |times: [f64; ROUNDS]| times.into_iter().fold(f64::MIN, f64::max);
        let shortest = |times: [f64; ROUNDS]| times.into_iter().fold(f64::MAX, f64::min);
        let range = |times| longest(times) - shortest(times);
        let of_times = |of: &dyn Fn([f64; ROUNDS]) -> f64| {
            let of_side =
                |block: &[[&Run; 2]; ROUNDS], side: usize| of(block.map(|it| it[side].time));
            let blocks = rounds.as_chunks().0.iter();
            blocks.map(|block| (of_side(block, 0), of_side(block, 1))).collect()
        };
        let pairs: Vec<(f64, f64)> = match self {
            Self::Range => of_times(&range),
            Self::Longest => of_times(&longest),
            Self::Memory => {
                let memory = |run: &Run| run.usage.peak_memory as f64;
                rounds.iter().map(|[base, other]| (memory(base), memory(other))).collect()
            }
        };
        Ratios::paired(&pairs, seed)
    }
}

/// A quantity of a method divided by that of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Beside {
    pub quantity: Quantity,
    pub ratios: Ratios,
    /// The p-value, corrected for the other pairs.
    pub adjusted_p: f64,
    /// Whether it differs, by the rule of verdicts on times.
    pub differs: bool,
}

impl Beside {
    /// Compares the quantities of pairs, each given by the runs of a base and of a method in the same rounds.
    pub(super) fn of_pairs(pairs: &[Vec<[&Run; 2]>], seed: u64) -> Vec<Vec<Self>> {
        let mut besides = vec![Vec::new(); pairs.len()];
        for &quantity in Quantity::ALL {
            let ratios = pairs.iter().map(|rounds| quantity.ratios(rounds, seed));
            let known: Vec<(usize, Ratios)> =
                ratios.enumerate().filter_map(|(pair, ratios)| Some((pair, ratios?))).collect();
            let of_known: Vec<Ratios> = known.iter().map(|(_, ratios)| *ratios).collect();
            for ((pair, ratios), judged) in
                known.into_iter().zip(judge_all(&of_known, DEFAULT_THRESHOLD))
            {
                let differs = judged.verdict.is_difference();
                besides[pair].push(Self {
                    quantity,
                    ratios,
                    adjusted_p: judged.adjusted_p,
                    differs,
                });
            }
        }
        besides
    }
}

/// Formats it as `peak memory 1.52 (1.49 to 1.60)`.
impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.quantity.as_str(), self.ratios)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::fixtures::{change, with};
    use crate::ranking::{Ranking, rank};

    const FIFTEEN: usize = 15;

    fn line(ranking: &Ranking) -> String {
        ranking.pairs[0].line(ranking.by, ranking.noisy)
    }

    #[test]
    fn range_longest_time_and_memory_named_where_they_differ() {
        let cells = [("base", 1_000_000), ("base (again)", 1_000_000), ("a", 1_000_000)];
        let mut data = with(&cells, FIFTEEN);
        data.spec.add_pair("a:base").unwrap();
        assert_eq!(line(&rank(&data)[0]), "a against base: 1.00 (1.00 to 1.00), no difference");
        // Three times in turn: of the base within 2 %, of the other within 40 %.
        for (cell, each) in [("base", 10_000), ("a", 200_000)] {
            let round = Cell::new(0);
            change(&mut data, cell, |runs, _| {
                runs[0].elapsed_ns += each * (round.replace(round.get() + 1) % 3);
            });
        }
        change(&mut data, "base", |_, usage| usage.peak_memory = 1 << 20);
        change(&mut data, "a", |_, usage| usage.peak_memory = 3 << 20);
        let ranking = &rank(&data)[0];
        let line = line(ranking);
        for part in [
            "; range of three times 20.00 (20.00 to 20.00)",
            "; longest of three times 1.37 (1.37 to 1.37)",
            "; peak memory 3.00 (3.00 to 3.00)",
        ] {
            assert!(line.contains(part), "{line}");
        }
        data.samples.retain(|sample| sample.round < FIFTEEN - 3);
        let ranking = &rank(&data)[0];
        let [range, .., memory] = ranking.pairs[0].besides.as_slice() else { panic!() };
        assert!(!range.differs, "four ranges are too few");
        assert!(memory.differs);
    }
}
