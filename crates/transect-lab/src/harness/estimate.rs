//! Estimates the duration of a session: one cell of each kind and language is measured once on every dataset in
//! every state, and discarded. Of files, only the smallest is measured, as time is proportional to bytes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use transect::Cancel;

use crate::harness::experiment::{Job, Measure};
use crate::harness::log::Outcome;
use crate::spec::{Cell, Dataset, SessionSpec};

/// A session of one round, from which the duration of the real session is estimated.
#[derive(Debug)]
pub struct Estimate {
    pub spec: SessionSpec,
    /// Samples of the real session for one of the estimate: more rounds, and larger inputs.
    scale: f64,
}

impl Estimate {
    pub fn new(spec: &SessionSpec) -> Self {
        let mut scale = spec.rounds as f64;
        let mut estimate = spec.clone();
        let bytes = |dataset: &Dataset| dataset.expected.bytes;
        if spec.transform.is_some()
            && let Some(smallest) = spec.datasets.iter().min_by_key(|dataset| bytes(dataset))
        {
            let all: u64 = spec.datasets.iter().map(bytes).sum();
            scale *= all as f64 / bytes(smallest).max(1) as f64;
            estimate.datasets = vec![smallest.clone()];
        }
        Self { spec: estimate, scale }
    }

    /// Measures one cell of each kind once on every dataset in every state, and returns what each cell takes in the
    /// session; `None` if the base cannot be measured or the user interrupts.
    pub fn run(
        &self,
        measure: &mut impl Measure,
        cancel: &Cancel,
    ) -> Result<Option<Times>, String> {
        let spec = &self.spec;
        let mut times = BTreeMap::new();
        for dataset in 0..spec.datasets.len() {
            for (cell, alike) in self.of_each_kind(dataset) {
                let began = Instant::now();
                for cache_state in 0..spec.cache_states.len() {
                    let outcome = measure.measure(&Job::new(spec, cell, dataset, cache_state))?;
                    let is_right = matches!(outcome, Outcome::Right { .. });
                    if cancel.is_cancelled() || cell.name == spec.base && !is_right {
                        return Ok(None);
                    }
                }
                let time = began.elapsed().as_secs_f64() * self.scale;
                let time = Duration::try_from_secs_f64(time).unwrap_or(Duration::MAX);
                for cell in alike {
                    let known = times.entry(cell.name.clone()).or_insert(Duration::ZERO);
                    *known = known.saturating_add(time);
                }
            }
        }
        Ok(Some(Times(times)))
    }

    /// Returns one cell of each kind of a dataset, and the cells that it stands for. Of its own kind, it is the base.
    fn of_each_kind(&self, dataset: usize) -> Vec<(&Cell, Vec<&Cell>)> {
        let mut kinds: Vec<(&Cell, Vec<&Cell>)> = Vec::new();
        for cell in self.spec.cells_in(dataset) {
            match kinds.iter_mut().find(|(known, _)| is_alike(known, cell)) {
                Some((known, alike)) => {
                    alike.push(cell);
                    if cell.name == self.spec.base {
                        *known = cell;
                    }
                }
                None => kinds.push((cell, vec![cell])),
            }
        }
        kinds
    }
}

/// What each cell is expected to take in a session.
#[derive(Debug)]
pub struct Times(BTreeMap<String, Duration>);

impl Times {
    pub fn total(&self) -> Duration {
        self.0.values().fold(Duration::ZERO, |sum, time| sum.saturating_add(*time))
    }

    /// Forgets the slowest methods until the others take no longer than a limit, and returns their names. The base,
    /// the floors and the commands of the user stay.
    pub fn leave_out_slowest(&mut self, spec: &SessionSpec, limit: Duration) -> Vec<String> {
        let is_command =
            |name: &str| spec.cells.iter().any(|it| it.name == name && it.command.is_some());
        let is_needed = |name: &str| name == spec.base || !spec.is_method(name) || is_command(name);
        let mut methods: Vec<String> = self.0.keys().cloned().collect();
        methods.retain(|name| !is_needed(name));
        methods.sort_by_key(|name| Reverse(self.0[name]));
        let mut too_slow = Vec::new();
        for name in methods {
            if self.total() <= limit {
                break;
            }
            self.0.remove(&name);
            too_slow.push(name);
        }
        too_slow
    }
}

/// Returns whether the times of two cells are expected to be similar. Third-party programs are all different.
fn is_alike(one: &Cell, other: &Cell) -> bool {
    let is_known = |cell: &Cell| ["engine", "contender", "floor"].contains(&cell.kind.as_str());
    is_known(one) && (&one.kind, &one.language) == (&other.kind, &other.language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::with;
    use crate::spec::transform::{Kind, Rules};
    use transect_program::profile::SyncRule;

    #[test]
    fn estimate_scaled_by_rounds_and_bytes() {
        let mut spec = with(&[("base", 1), ("base (again)", 1), ("slow", 1)], 10).spec;
        spec.rounds = 10;
        let walks = Estimate::new(&spec);
        assert_eq!((&walks.spec.datasets, walks.scale), (&spec.datasets, 10.0));

        spec.datasets.push(spec.datasets[0].clone());
        spec.datasets[0].expected.bytes = 64 << 20;
        spec.datasets[1].expected.bytes = 128 << 20;
        spec.transform = Some(Rules { kind: Kind::Copy, sync: SyncRule::None });
        let files = Estimate::new(&spec);
        assert_eq!((&files.spec.datasets[..], files.scale), (&spec.datasets[..1], 30.0));
    }

    #[test]
    fn one_cell_of_each_kind_and_language_measured_and_all_counted() {
        let cells = ["floor", "engine", "base", "python-1", "python-2", "java", "find", "du"];
        let mut spec = with(&cells.map(|cell| (cell, 1)), 2).spec;
        let kinds =
            ["floor", "engine", "engine", "contender", "contender", "contender", "peer", "peer"];
        for ((cell, kind), name) in spec.cells.iter_mut().zip(kinds).zip(cells) {
            cell.kind = kind.to_owned();
            cell.language = name.split('-').next().unwrap_or_default().to_owned();
        }
        spec.cells[2].language = "engine".to_owned();
        struct Names(Vec<String>);
        impl Measure for Names {
            fn measure(&mut self, job: &Job<'_>) -> Result<Outcome, String> {
                self.0.push(job.cell.name.clone());
                Ok(Outcome::Right {
                    runs: Vec::new(),
                    usage: Default::default(),
                    read_kib: None,
                    beside: None,
                    files: None,
                })
            }
        }
        let (estimate, mut names) = (Estimate::new(&spec), Names(Vec::new()));
        assert!(estimate.run(&mut names, &Cancel::new()).unwrap().is_some());
        assert_eq!(names.0, ["floor", "base", "python-1", "java", "find", "du"]);
        let numbers: Vec<usize> =
            estimate.of_each_kind(0).iter().map(|(_, alike)| alike.len()).collect();
        assert_eq!(numbers, [1, 2, 2, 1, 1, 1]);
    }

    #[test]
    fn slowest_methods_left_out_until_the_rest_fits() {
        let seconds = [("base", 50), ("base (again)", 50), ("floor", 40), ("fast", 1), ("slow", 9)];
        let mut spec = with(&seconds, 1).spec;
        spec.floor = Some("floor".to_owned());
        let times = || {
            Times(seconds.map(|(name, time)| (name.to_owned(), Duration::from_secs(time))).into())
        };
        let left_out = |limit| times().leave_out_slowest(&spec, Duration::from_secs(limit));
        assert_eq!(left_out(150), Vec::<String>::new());
        assert_eq!(left_out(149), ["slow"]);
        assert_eq!(left_out(1), ["slow", "fast"], "neither the base nor a floor");
        assert_eq!(times().total(), Duration::from_secs(150));
    }

    #[test]
    fn estimate_missing_if_base_fails() {
        struct Fails;
        impl Measure for Fails {
            fn measure(&mut self, job: &Job<'_>) -> Result<Outcome, String> {
                assert_eq!(job.cell.name, "base");
                Ok(Outcome::Wrong { found: "nothing".to_owned() })
            }
        }
        let estimate = Estimate::new(&with(&[("base", 1), ("base (again)", 1)], 2).spec);
        assert!(estimate.run(&mut Fails, &Cancel::new()).unwrap().is_none());
    }
}
