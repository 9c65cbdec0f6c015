//! Imports the published listings of the fourth article: its tables, and verdicts on their differences.
//!
//! Its runs were not interleaved, the cache state was not proved, and the outputs are unknown, so they are
//! never ranked with sessions of this lab. Samples have no rounds, so groups are compared as a whole
//! ([`Ratios::unpaired`]).

pub mod listing;

use serde::Serialize;

use listing::ListedRun;
use transect_stats::verdict::DEFAULT_THRESHOLD;
use transect_stats::{Judgement, Ratios, Summary, judge, judge_all};

/// Seed of the intervals, as a listing has none.
const SEED: u64 = 1;

/// The runs of one listing file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportedListing {
    /// Groups of equal runs, in the order of the listing.
    pub cells: Vec<RunGroup>,
    pub differences: Vec<Difference>,
}

/// The parameters of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellKey {
    /// The API, in capitals.
    pub api: String,
    /// The length of a block in bytes.
    pub block: u64,
    /// The length of the file in bytes, in whole blocks.
    pub size: u64,
    pub sequential: bool,
}

/// All runs with the same parameters. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunGroup {
    #[serde(flatten)]
    pub key: CellKey,
    pub real: Summary,
    pub user: Summary,
    pub system: Summary,
    /// Wall times, as listed.
    pub real_ns: Vec<f64>,
    /// User times, as listed.
    pub user_ns: Vec<f64>,
    /// Kernel times, as listed.
    pub system_ns: Vec<f64>,
    /// Indexes of outliers among the wall times.
    pub outliers: Vec<usize>,
}

/// The parameter in which two cells differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// Another API than the first, with the same block size.
    Api,
    /// A larger block size than the smallest, with the same API.
    Block,
    /// The sequential flag, with the same API and block size.
    Sequential,
}

/// A comparison of two cells by wall time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    #[serde(rename = "question")]
    pub factor: Factor,
    pub base: CellKey,
    pub other: CellKey,
    /// `other ÷ base`: the ratio of the medians.
    pub ratios: Ratios,
    /// The verdict without a correction for other differences.
    pub alone: Judgement,
    /// The verdict corrected for all differences of the table.
    pub among_all: Judgement,
}

/// Groups the runs of a listing and compares the groups. A group with a time of zero has no ratio and no
/// difference.
pub fn import(samples: &[ListedRun]) -> ImportedListing {
    let cells = group_runs(samples);
    let differences = differences(&comparisons(&cells));
    ImportedListing { cells, differences }
}

/// Compares cells with the sequential flag with those without, across all listings.
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

fn group_runs(samples: &[ListedRun]) -> Vec<RunGroup> {
    let mut groups: Vec<(CellKey, Vec<&ListedRun>)> = Vec::new();
    for sample in samples {
        let key = CellKey::of(sample);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, runs)) => runs.push(sample),
            None => groups.push((key, vec![sample])),
        }
    }
    groups.into_iter().filter_map(|(key, runs)| RunGroup::of(key, &runs)).collect()
}

impl CellKey {
    fn of(sample: &ListedRun) -> Self {
        let ListedRun { api, block, size, sequential, .. } = sample;
        Self { api: api.clone(), block: *block, size: *size, sequential: *sequential }
    }
}

impl RunGroup {
    fn of(key: CellKey, runs: &[&ListedRun]) -> Option<Self> {
        let times = |time: fn(&ListedRun) -> u64| -> Vec<f64> {
            runs.iter().map(|run| time(run) as f64).collect()
        };
        let real_ns = times(|run| run.real_ns);
        let (user_ns, system_ns) = (times(|run| run.user_ns), times(|run| run.system_ns));
        let real = Summary::of(&real_ns)?;
        let (user, system) = (Summary::of(&user_ns)?, Summary::of(&system_ns)?);
        let outliers = real.outliers(&real_ns);
        Some(Self { key, real, user, system, real_ns, user_ns, system_ns, outliers })
    }
}

/// A comparison: the parameter that differs, the base, the other cell.
type Comparison<'a> = (Factor, &'a RunGroup, &'a RunGroup);

/// Returns the comparisons within one listing that the article makes.
fn comparisons(cells: &[RunGroup]) -> Vec<Comparison<'_>> {
    let Some(first) = cells.first() else { return Vec::new() };
    let mut pairs = Vec::new();
    for other in cells {
        let key = &other.key;
        let find = |base: CellKey| cells.iter().find(|cell| cell.key == base);
        if key.api != first.key.api {
            let base = CellKey { api: first.key.api.clone(), ..key.clone() };
            pairs.extend(find(base).map(|base| (Factor::Api, base, other)));
        }
        let of_the_api = cells.iter().filter(|cell| {
            let same = CellKey { block: cell.key.block, ..key.clone() };
            cell.key == same
        });
        let smallest = of_the_api.min_by_key(|cell| cell.key.block);
        let smaller = smallest.filter(|cell| cell.key.block < key.block);
        pairs.extend(smaller.map(|base| (Factor::Block, base, other)));
    }
    pairs
}

fn differences(pairs: &[Comparison<'_>]) -> Vec<Difference> {
    let pairs_with_ratios: Vec<(&Comparison<'_>, Ratios)> = pairs
        .iter()
        .filter_map(|pair| {
            let (base, other) = (&pair.1.real_ns, &pair.2.real_ns);
            Some((pair, Ratios::unpaired(base, other, SEED)?))
        })
        .collect();
    let ratios: Vec<Ratios> = pairs_with_ratios.iter().map(|(_, ratios)| *ratios).collect();
    let among_all = judge_all(&ratios, DEFAULT_THRESHOLD);
    pairs_with_ratios
        .into_iter()
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
    use transect_stats::Verdict;

    /// Returns five runs within a few percent of `middle` milliseconds.
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
    fn import_keeps_order_and_every_sample() {
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
    fn import_compares_with_first_api_and_smallest_block() {
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
        // Three of four have the smallest p; the first is multiplied by four, so all are.
        assert!((slower.among_all.adjusted_p - 8.0 / 252.0).abs() < 1e-12);
        assert_eq!(slower.among_all.verdict, Verdict::Slower);
        let same = find(&imported, Factor::Api, "STD", 1024);
        assert_eq!(same.alone.verdict, Verdict::Undecided);
        let block = find(&imported, Factor::Block, "CRT", 2048);
        assert_eq!((block.base.block, block.alone.verdict), (1024, Verdict::Faster));
    }

    #[test]
    fn verdict_alone_may_not_survive_correction() {
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
    fn sequential_flag_compared_across_listings() {
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
    fn import_keeps_outliers_and_skips_zero_times() {
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
