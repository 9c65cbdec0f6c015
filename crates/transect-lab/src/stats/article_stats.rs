//! The statistics that the seed articles print, computed from our samples. No verdict uses them: they
//! lose the information that a verdict needs.

use serde::Serialize;

use super::samples::{SampleError, check, check_positive, sorted};
use super::summary::Summary;

/// Returns the mean without the first sample: protocol P1 (recursive against iterative), 11 runs in one
/// process, of which the first only fills the cache.
///
/// # Errors
///
/// There are fewer than two samples, or one is invalid ([`check`]).
pub fn mean_without_the_first(samples: &[f64]) -> Result<f64, SampleError> {
    check(samples)?;
    Ok(Summary::try_of(&samples[1..])?.mean)
}

/// The numbers that protocol P2 prints, in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MinMaxMedian {
    /// The smallest sample.
    pub min: f64,
    /// The largest sample.
    pub max: f64,
    /// The median.
    pub median: f64,
}

/// Returns the smallest sample, the largest and the median: protocol P2 (file transforms), 5 runs, each
/// in its own process after dropping the input from the cache.
///
/// # Errors
///
/// There are no samples, or one is invalid.
pub fn min_max_median(samples: &[f64]) -> Result<MinMaxMedian, SampleError> {
    let Summary { min, max, median, .. } = Summary::try_of(samples)?;
    Ok(MinMaxMedian { min, max, median })
}

/// Returns how many times faster each method is than the slowest of the same run, in the order of
/// `times`; 1 for the slowest itself. This is protocol P3 (attributes 50 times faster).
///
/// The slowest method may differ from run to run, so two runs need not share a base. In the article
/// they do not (see `published::reference`).
///
/// # Errors
///
/// There are no times, or one is invalid or zero.
pub fn against_the_slowest(times: &[f64]) -> Result<Vec<f64>, SampleError> {
    check(times)?;
    times.iter().enumerate().try_for_each(|(at, &time)| check_positive(at, time))?;
    let slowest = times.iter().copied().fold(0.0, f64::max);
    times
        .iter()
        .enumerate()
        .map(|(at, time)| {
            Some(slowest / time).filter(|r| r.is_finite()).ok_or(SampleError::NoRatio { at })
        })
        .collect()
}

/// Returns all samples, sorted: protocol P4 (the `FindFirstFileEx` matrix).
///
/// # Errors
///
/// There are no samples, or one is invalid.
pub fn all_sorted(samples: &[f64]) -> Result<Vec<f64>, SampleError> {
    check(samples)?;
    Ok(sorted(samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p1_first_run_dropped() {
        assert_eq!(mean_without_the_first(&[900.0, 10.0, 20.0, 30.0]), Ok(20.0));
        assert_eq!(mean_without_the_first(&[1.0, 10.0, 20.0]), Ok(15.0));
        assert_eq!(mean_without_the_first(&[900.0]), Err(SampleError::Empty));
        assert_eq!(mean_without_the_first(&[]), Err(SampleError::Empty));
        assert_eq!(
            mean_without_the_first(&[f64::NAN, 1.0]),
            Err(SampleError::NotFinite { at: 0 }),
            "the dropped sample has to be valid, too"
        );
    }

    #[test]
    fn p2_min_max_median() {
        let shown = min_max_median(&[3.0, 1.0, 5.0, 2.0, 4.0]).unwrap();
        assert_eq!(shown, MinMaxMedian { min: 1.0, max: 5.0, median: 3.0 });
        assert_eq!(min_max_median(&[-1.0]), Err(SampleError::Negative { at: 0, value: -1.0 }));
    }

    #[test]
    fn p3_slowest_is_one() {
        assert_eq!(against_the_slowest(&[2.0, 8.0, 4.0]), Ok(vec![4.0, 1.0, 2.0]));
        assert_eq!(against_the_slowest(&[2.0, 0.0]), Err(SampleError::Zero { at: 1 }));
        assert_eq!(against_the_slowest(&[1e-300, 1e300]), Err(SampleError::NoRatio { at: 0 }));
        assert_eq!(against_the_slowest(&[]), Err(SampleError::Empty));
    }

    #[test]
    fn p4_all_values_sorted() {
        assert_eq!(all_sorted(&[5.2, 1.5, 1.5]), Ok(vec![1.5, 1.5, 5.2]));
        assert_eq!(all_sorted(&[5.2, f64::INFINITY]), Err(SampleError::NotFinite { at: 1 }));
    }
}
