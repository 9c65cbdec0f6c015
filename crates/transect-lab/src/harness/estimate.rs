//! How long a session will take, found out before it begins.
//!
//! The base is measured once in every dataset and state, with all that belongs to a sample, and thrown
//! away. A large file is stood for by a smaller one, as what a sample takes grows with its bytes: that
//! shows what the device is able to, and costs little beside the session. Methods that are slower than
//! the base take longer, so it is a lower bound more than a mean, and said to be one.

use std::time::{Duration, Instant};

use transect::Cancel;

use crate::harness::error::Error;
use crate::harness::experiment::{Job, Measure};
use crate::harness::log::Outcome;
use crate::spec::{Dataset, SessionSpec};

/// A session of one cell and one round, which stands for another one.
#[derive(Debug)]
pub struct Estimate {
    /// What is measured.
    pub spec: SessionSpec,
    /// How many of its samples in a dataset a round of the other takes, all cells together.
    samples: f64,
    rounds: u32,
}

impl Estimate {
    /// Returns the estimate of a session, of which a smaller dataset may stand for all.
    pub fn new(spec: &SessionSpec, stand_in: Option<Dataset>) -> Self {
        let datasets = spec.datasets.len();
        let runs: usize = (0..datasets).map(|dataset| spec.cells_in(dataset).count()).sum();
        let mut samples = runs as f64 / datasets.max(1) as f64;
        let mut estimate = spec.clone();
        if let Some(dataset) = stand_in {
            let all: u64 = spec.datasets.iter().map(|dataset| dataset.expected.bytes).sum();
            samples *= all as f64 / dataset.expected.bytes.max(1) as f64;
            estimate.datasets = vec![dataset];
        }
        Self { spec: estimate, samples, rounds: u32::try_from(spec.rounds).unwrap_or(u32::MAX) }
    }

    /// Measures the base once in every dataset and state; returns how long the session will take at
    /// least, or nothing if the base could not be measured, or the session was interrupted.
    ///
    /// # Errors
    /// A state cannot be made.
    pub fn run(
        &self,
        measure: &mut impl Measure,
        cancel: &Cancel,
    ) -> Result<Option<Duration>, Error> {
        let spec = &self.spec;
        let Some(base) = spec.cells.iter().find(|cell| cell.name == spec.base) else {
            return Ok(None);
        };
        let began = Instant::now();
        for dataset in 0..spec.datasets.len() {
            for cache_state in 0..spec.cache_states.len() {
                let outcome = measure.measure(&Job::new(spec, base, dataset, cache_state))?;
                if cancel.is_cancelled() || !matches!(outcome, Outcome::Right { .. }) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(self.time(began.elapsed())))
    }

    /// Returns how long a session takes of which one round of one cell took so long.
    fn time(&self, once: Duration) -> Duration {
        let time = once.as_secs_f64() * self.samples * f64::from(self.rounds);
        Duration::try_from_secs_f64(time).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::with;

    #[test]
    fn a_large_file_is_stood_for_by_a_smaller_one() {
        let mut spec = with(&[("base", 1), ("base (again)", 1), ("slow", 1)], 10).spec;
        spec.rounds = 10;
        let walks = Estimate::new(&spec, None);
        assert_eq!(walks.spec.datasets, spec.datasets);
        // Three cells, ten rounds.
        assert_eq!(walks.time(Duration::from_secs(1)), Duration::from_secs(30));

        spec.datasets.push(spec.datasets[0].clone());
        spec.datasets[0].expected.bytes = 64 << 20;
        spec.datasets[1].expected.bytes = 128 << 20;
        let files = Estimate::new(&spec, Some(spec.datasets[0].clone()));
        assert_eq!(files.spec.datasets, spec.datasets[..1]);
        assert_eq!(files.time(Duration::from_secs(1)), Duration::from_secs(90));
    }

    #[test]
    fn where_the_base_fails_nothing_is_said() {
        struct Fails;
        impl Measure for Fails {
            fn measure(&mut self, job: &Job<'_>) -> Result<Outcome, Error> {
                assert_eq!(job.cell.name, "base");
                Ok(Outcome::Wrong { found: "nothing".to_owned() })
            }
        }
        let estimate = Estimate::new(&with(&[("base", 1), ("base (again)", 1)], 2).spec, None);
        assert_eq!(estimate.run(&mut Fails, &Cancel::new()).unwrap(), None);
    }
}
