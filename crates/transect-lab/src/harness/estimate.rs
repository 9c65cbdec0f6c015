//! Estimates the duration of a session before it begins.
//!
//! The base is measured once on every dataset in every state, as a complete sample, and the result is
//! discarded. A smaller file stands in for a large one, because the time of a sample is proportional to
//! its bytes: the small file shows the speed of the device at little cost. Methods slower than the base
//! take longer, so the estimate is a lower bound rather than a mean, and is reported as one.

use std::time::{Duration, Instant};

use transect::Cancel;

use crate::harness::error::Error;
use crate::harness::experiment::{Job, Measure};
use crate::harness::log::Outcome;
use crate::spec::{Dataset, SessionSpec};

/// A session of one cell and one round, from which the duration of the real session is estimated.
#[derive(Debug)]
pub struct Estimate {
    /// The spec of the estimate.
    pub spec: SessionSpec,
    /// Duration of a round of the real session, in samples of one dataset of the estimate.
    samples: f64,
    rounds: u32,
}

impl Estimate {
    /// Returns the estimate of a session. A smaller dataset can stand in for all datasets.
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

    /// Measures the base once on every dataset in every state, and returns the minimum duration of the
    /// session; `None` if the base cannot be measured or the user interrupts.
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

    /// Returns the duration of the session if the estimate took `once`.
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
    fn estimate_scaled_by_cells_rounds_and_bytes() {
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
    fn estimate_missing_if_base_fails() {
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
