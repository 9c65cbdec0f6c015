//! The times of all runs on one dataset in one cache state, by round.

use std::collections::BTreeMap;

use crate::experiments::transform::{Floor, Variant};
use crate::harness::log::{Outcome, SessionData};
use crate::spec::{Dataset, SessionSpec};
use transect_stats::verdict::DEFAULT_THRESHOLD;
use transect_stats::{Ratios, Summary, aa_check};

/// Largest idle share of a copy in memory; above it, other processes used the processor.
const MAX_IDLE_SHARE: f64 = 0.25;

/// One run, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Time by its own clock.
    pub(super) time: f64,
    /// Part of that time without processor time, if it has one thread.
    pub(super) waited: f64,
    /// Share of the time of its process without processor time, if it has one thread.
    pub(super) idle: f64,
    pub(super) output_ratio: f64,
}

impl Run {
    pub(super) fn busy(&self) -> f64 {
        self.time - self.waited
    }
}

/// All runs on one dataset in one cache state, by cell and round.
#[derive(Debug)]
pub(super) struct RunTimes<'s> {
    pub(super) spec: &'s SessionSpec,
    pub(super) dataset: &'s Dataset,
    cells: BTreeMap<&'s str, BTreeMap<usize, Run>>,
}

impl<'s> RunTimes<'s> {
    pub(super) fn of(data: &'s SessionData, dataset: usize, cache_state: usize) -> Self {
        let mut cells: BTreeMap<&str, BTreeMap<usize, Run>> = BTreeMap::new();
        for sample in data.samples_in(dataset, cache_state) {
            let Outcome::Right { runs, usage, files: Some(files), .. } = &sample.outcome else {
                continue;
            };
            let Some(run) = runs.first().filter(|run| run.elapsed_ns > 0) else { continue };
            let time = run.elapsed_ns as f64;
            let worked = usage.user_ns.saturating_add(usage.system_ns);
            let waited = usage.wall_ns.saturating_sub(worked) as f64;
            let output_ratio = files.written.unwrap_or(0) as f64 / files.bytes.max(1) as f64;
            let idle = waited / (usage.wall_ns.max(1) as f64);
            let run = Run { time, waited: waited.min(time), idle, output_ratio };
            cells.entry(&sample.cell).or_default().insert(sample.round, run);
        }
        Self { spec: &data.spec, dataset: &data.spec.datasets[dataset], cells }
    }

    pub(super) fn times(&self, cell: &str) -> Vec<f64> {
        self.cells.get(cell).into_iter().flat_map(BTreeMap::values).map(|run| run.time).collect()
    }

    pub(super) fn median(&self, cell: &str) -> Option<f64> {
        Summary::of(&self.times(cell)).map(|times| times.median)
    }

    pub(super) fn rounds(&self, cell: &str) -> usize {
        self.cells.get(cell).map_or(0, BTreeMap::len)
    }

    /// Returns the ratios of one cell's times to another's, in the wanted rounds.
    pub(super) fn ratios(
        &self,
        base: &str,
        other: &str,
        wanted: impl Fn(usize) -> bool,
    ) -> Option<Ratios> {
        let (base, other) = (self.cells.get(base)?, self.cells.get(other)?);
        let pairs = base.iter().filter(|(round, _)| wanted(**round));
        let pairs = pairs.filter_map(|(round, run)| Some((run.time, other.get(round)?.time)));
        Ratios::paired(&pairs.collect::<Vec<_>>(), self.spec.seed)
    }

    /// Returns a share of a cell's time, computed from its run and those of other cells in the same round.
    pub(super) fn share(
        &self,
        cell: &str,
        part: impl Fn(&Run, &dyn Fn(&str) -> Option<Run>) -> Option<f64>,
    ) -> Option<Ratios> {
        let pairs = self.cells.get(cell)?.iter().filter_map(|(round, run)| {
            let beside = |other: &str| self.cells.get(other)?.get(round).copied();
            // Clamped to 1 ns: a ratio of 0 is invalid.
            Some((run.time, part(run, &beside)?.clamp(1.0, run.time)))
        });
        Ratios::paired(&pairs.collect::<Vec<_>>(), self.spec.seed)
    }

    /// Returns an error if the base differs from itself or did not run twice: then no verdict counts.
    pub(super) fn check_noise(&self) -> Result<(), String> {
        let pair = self.ratios(&self.spec.base, &self.spec.second_base, |_| true);
        match pair.is_some_and(|pair| aa_check(&pair, DEFAULT_THRESHOLD)) {
            true => Ok(()),
            false => Err("the base differs from itself, or did not run twice".to_owned()),
        }
    }

    /// Returns a message if other processes used the processors: a copy in memory waits for nothing but a
    /// processor.
    pub(super) fn busy_machine(&self) -> Option<String> {
        let copies = self.cells.get(Floor::Memory.as_str())?;
        let idle: Vec<f64> = copies.values().map(|run| run.idle).collect();
        let idle = Summary::of(&idle)?.median;
        (idle > MAX_IDLE_SHARE).then(|| {
            let percent = 100.0 * idle;
            format!("other processes used the processor for {percent:.0} % of the time of a copy in memory")
        })
    }

    /// Returns the methods of the engine that ran: cell names and variants.
    pub(super) fn of_the_engine(&self) -> Vec<(&'s str, Variant)> {
        let cells = self.spec.cells.iter().filter(|cell| cell.kind == "engine");
        cells
            .filter(|cell| {
                cell.name != self.spec.second_base && self.cells.contains_key(&*cell.name)
            })
            .filter_map(|cell| Some((cell.name.as_str(), cell.method.parse().ok()?)))
            .collect()
    }
}
