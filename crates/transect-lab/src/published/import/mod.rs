//! Sessions of the fourth article, from the listings that it published: its tables once more, and
//! which of the differences in them are decided.
//!
//! The runs of such a session were not interleaved, its state was not proved, and whatever its
//! outputs were is unknown: nothing here is ranked with sessions of this lab. Samples have no rounds
//! either, so that groups are compared as they are ([`Ratios::unpaired`]), with the exact rank test
//! that fits so few of them ([`rank_sum_p`]).

pub mod listing;

use serde::Serialize;

use crate::stats::verdict::DEFAULT_THRESHOLD;
use crate::stats::{Judgement, Ratios, Summary, judge, judge_all, rank_sum_p};
use listing::ListedRun;

/// What the intervals are drawn from: a listing has no seed of its own.
const SEED: u64 = 1;

/// The runs of one file of listings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportedListing {
    /// What the runs have in common, and their times; in the order in which they were listed.
    pub cells: Vec<Cell>,
    /// Which differences there are between cells of this listing.
    pub differences: Vec<Difference>,
}

/// What runs have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellKey {
    /// The API, in capitals.
    pub api: String,
    /// The length of a block in bytes.
    pub block: u64,
    /// The length of the file in bytes, in whole blocks.
    pub size: u64,
    /// The sequential flag was set.
    pub sequential: bool,
}

/// Runs of the same. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// What they did.
    #[serde(flatten)]
    pub key: CellKey,
    /// Time on the wall.
    pub real: Summary,
    /// CPU time outside the kernel.
    pub user: Summary,
    /// CPU time in the kernel.
    pub system: Summary,
    /// The times on the wall, as they were listed.
    pub real_ns: Vec<f64>,
    /// The same for CPU time outside the kernel.
    pub user_ns: Vec<f64>,
    /// The same for CPU time in the kernel.
    pub system_ns: Vec<f64>,
    /// Which of the times on the wall lie far out.
    pub outliers: Vec<usize>,
}

/// Which question a difference answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// Another API than the first, with the same block.
    Api,
    /// A larger block than the smallest, with the same API.
    Block,
    /// The sequential flag, with the same API and block.
    Sequential,
}

/// One cell against another, by time on the wall.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// What is asked.
    #[serde(rename = "question")]
    pub factor: Factor,
    /// What it is held against.
    pub base: CellKey,
    /// What is held against it.
    pub other: CellKey,
    /// `other ÷ base`: the ratio of the medians.
    pub ratios: Ratios,
    /// What may be said of it, if it is the only difference that somebody asked for.
    pub alone: Judgement,
    /// What may be said of it as one of all differences here.
    pub among_all: Judgement,
}

/// Puts the runs of a listing together, and compares them. Where a time is zero there is no ratio,
/// and no difference is told.
pub fn import(samples: &[ListedRun]) -> ImportedListing {
    let cells = cells(samples);
    let differences = differences(&within(&cells));
    ImportedListing { cells, differences }
}

/// Compares cells with the sequential flag to those without, of all listings together.
pub fn sequential(listings: &[ImportedListing]) -> Vec<Difference> {
    let cells = || listings.iter().flat_map(|listing| &listing.cells);
    let mut pairs = Vec::new();
    for other in cells().filter(|cell| cell.key.sequential) {
        let without = CellKey { sequential: false, ..other.key.clone() };
        pairs.extend(
            cells()
                .filter(|cell| cell.key == without)
                .map(|base| (Factor::Sequential, base, other)),
        );
    }
    differences(&pairs)
}

fn cells(samples: &[ListedRun]) -> Vec<Cell> {
    let mut groups: Vec<(CellKey, Vec<&ListedRun>)> = Vec::new();
    for sample in samples {
        let what = CellKey::of(sample);
        match groups.iter_mut().find(|(other, _)| *other == what) {
            Some((_, runs)) => runs.push(sample),
            None => groups.push((what, vec![sample])),
        }
    }
    groups.into_iter().filter_map(|(what, runs)| Cell::of(what, &runs)).collect()
}

impl CellKey {
    fn of(sample: &ListedRun) -> Self {
        let ListedRun { api, block, size, sequential, .. } = sample;
        Self { api: api.clone(), block: *block, size: *size, sequential: *sequential }
    }
}

impl Cell {
    fn of(what: CellKey, runs: &[&ListedRun]) -> Option<Self> {
        let times = |time: fn(&ListedRun) -> u64| -> Vec<f64> {
            runs.iter().map(|run| time(run) as f64).collect()
        };
        let real_ns = times(|run| run.real_ns);
        let (user_ns, system_ns) = (times(|run| run.user_ns), times(|run| run.system_ns));
        let real = Summary::of(&real_ns)?;
        let (user, system) = (Summary::of(&user_ns)?, Summary::of(&system_ns)?);
        let outliers = real.outliers(&real_ns);
        Some(Self { key: what, real, user, system, real_ns, user_ns, system_ns, outliers })
    }
}

/// A difference that is looked at: the question, the base, the other.
type Pair<'a> = (Factor, &'a Cell, &'a Cell);

/// Returns the differences within one listing: the article's own questions.
fn within(cells: &[Cell]) -> Vec<Pair<'_>> {
    let Some(first) = cells.first() else { return Vec::new() };
    let mut pairs = Vec::new();
    for other in cells {
        let what = &other.key;
        let find = |base: CellKey| cells.iter().find(|cell| cell.key == base);
        if what.api != first.key.api {
            let base = CellKey { api: first.key.api.clone(), ..what.clone() };
            pairs.extend(find(base).map(|base| (Factor::Api, base, other)));
        }
        let of_the_api = cells.iter().filter(|cell| {
            let same = CellKey { block: cell.key.block, ..what.clone() };
            cell.key == same
        });
        let smallest = of_the_api.min_by_key(|cell| cell.key.block);
        let smaller = smallest.filter(|cell| cell.key.block < what.block);
        pairs.extend(smaller.map(|base| (Factor::Block, base, other)));
    }
    pairs
}

fn differences(pairs: &[Pair<'_>]) -> Vec<Difference> {
    let told: Vec<(&Pair<'_>, Ratios)> = pairs
        .iter()
        .filter_map(|pair| {
            let (base, other) = (&pair.1.real_ns, &pair.2.real_ns);
            let ratios = Ratios::unpaired(base, other, SEED).ok()?;
            Some((pair, Ratios { p: rank_sum_p(base, other), ..ratios }))
        })
        .collect();
    let ratios: Vec<Ratios> = told.iter().map(|(_, ratios)| *ratios).collect();
    let among_all = judge_all(&ratios, DEFAULT_THRESHOLD);
    told.into_iter()
        .zip(among_all)
        .map(|((&(factor, base, other), ratios), among_all)| Difference {
            factor,
            base: base.key.clone(),
            other: other.key.clone(),
            ratios,
            alone: judge(&ratios, ratios.p, DEFAULT_THRESHOLD),
            among_all,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Verdict;

    /// Returns five runs, a few percent around so many milliseconds.
    fn runs(api: &str, block: u64, sequential: bool, middle: u64) -> Vec<ListedRun> {
        let run = |percent: u64| ListedRun {
            api: api.to_owned(),
            block,
            size: 1 << 30,
            sequential,
            real_ns: middle * percent * 10_000,
            user_ns: 0,
            system_ns: percent,
        };
        [102, 98, 100, 97, 104].map(run).to_vec()
    }

    fn find<'a>(
        imported: &'a ImportedListing,
        factor: Factor,
        api: &str,
        block: u64,
    ) -> &'a Difference {
        let asked = |difference: &&Difference| {
            let other = &difference.other;
            difference.factor == factor && other.api == api && other.block == block
        };
        imported.differences.iter().find(asked).expect("it is asked")
    }

    #[test]
    fn cells_keep_their_order_and_every_sample() {
        let samples = [runs("WIN", 2048, false, 300), runs("CRT", 1024, false, 100)].concat();
        let imported = import(&samples);
        let names: Vec<_> = imported.cells.iter().map(|cell| cell.key.api.as_str()).collect();
        assert_eq!(names, ["WIN", "CRT"]);
        let cell = &imported.cells[1];
        assert_eq!(cell.real_ns, [102e6, 98e6, 100e6, 97e6, 104e6]);
        assert_eq!((cell.real.min, cell.real.median, cell.real.max), (97e6, 100e6, 104e6));
        assert_eq!((cell.user.max, cell.system.median), (0.0, 100.0));
        assert!(imported.differences.is_empty(), "they have neither API nor block in common");
    }

    #[test]
    fn other_apis_are_held_against_the_first_and_blocks_against_the_smallest() {
        let samples = [
            runs("CRT", 1024, false, 200),
            runs("CRT", 2048, false, 150),
            runs("STD", 1024, false, 202),
            runs("STD", 2048, false, 330),
        ];
        let imported = import(&samples.concat());
        assert_eq!(imported.differences.len(), 4);
        let slower = find(&imported, Factor::Api, "STD", 2048);
        assert_eq!(slower.alone.verdict, Verdict::Slower);
        assert!((slower.ratios.median - 2.2).abs() < 1e-9);
        assert!((slower.ratios.p - 2.0 / 252.0).abs() < 1e-12);
        // Three of four are as clear as can be: the first is corrected for four, and so are all.
        assert!((slower.among_all.adjusted_p - 8.0 / 252.0).abs() < 1e-12);
        assert_eq!(slower.among_all.verdict, Verdict::Slower);
        let same = find(&imported, Factor::Api, "STD", 1024);
        assert_eq!(same.alone.verdict, Verdict::Undecided);
        let block = find(&imported, Factor::Block, "CRT", 2048);
        assert_eq!((block.base.block, block.alone.verdict), (1024, Verdict::Faster));
    }

    #[test]
    fn what_is_clear_alone_may_not_be_among_many() {
        let apis = ["CRT", "A", "B", "C", "D", "E", "F", "G"];
        let samples = apis.map(|api| runs(api, 1024, false, if api == "CRT" { 100 } else { 150 }));
        let imported = import(&samples.concat());
        assert_eq!(imported.differences.len(), 7);
        for difference in &imported.differences {
            assert_eq!(difference.alone.verdict, Verdict::Slower);
            assert!((difference.among_all.adjusted_p - 14.0 / 252.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_flag_is_looked_at_across_listings() {
        let without = import(&runs("CRT", 1024, false, 100));
        let with = import(&runs("CRT", 1024, true, 103));
        let other = import(&runs("CRT", 2048, true, 50));
        let differences = sequential(&[without, with, other]);
        assert_eq!(differences.len(), 1, "nothing is there to hold the other against");
        let Difference { factor, base, other, ratios, .. } = &differences[0];
        assert_eq!((*factor, base.sequential, other.sequential), (Factor::Sequential, false, true));
        assert!((ratios.median - 1.03).abs() < 1e-9);
    }

    #[test]
    fn an_outlier_is_kept_and_told_and_a_time_of_zero_has_no_ratio() {
        let mut samples = [runs("CRT", 1024, false, 100), runs("WIN", 1024, false, 100)].concat();
        samples[3].real_ns *= 8;
        let imported = import(&samples);
        assert_eq!(imported.cells[0].outliers, [3]);
        assert_eq!(imported.cells[0].real.max, 776e6);
        assert_eq!(imported.differences.len(), 1);
        samples[0].real_ns = 0;
        assert!(import(&samples).differences.is_empty());
        assert_eq!(import(&samples).cells[0].real.min, 0.0);
    }
}
