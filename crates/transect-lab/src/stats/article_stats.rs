//! The reductions of the articles, so that our samples can be shown the way theirs are. Nothing is
//! concluded from these numbers: each loses what it would take to judge them.

use serde::Serialize;

use super::samples::{SampleError, check, check_positive, sorted};
use super::summary::Summary;

/// P1 (recursive against iterative): 11 runs in one process; the first only fills the cache and
/// is dropped, the rest are averaged. In the unit of the samples.
///
/// # Errors
///
/// If fewer than two samples are left to speak of, or one is no time.
pub fn mean_without_the_first(samples: &[f64]) -> Result<f64, SampleError> {
    check(samples)?;
    Ok(Summary::try_of(&samples[1..])?.mean)
}

/// What P2 prints, in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MinMaxMedian {
    /// The smallest sample.
    pub min: f64,
    /// The largest sample.
    pub max: f64,
    /// The one in the middle.
    pub median: f64,
}

/// P2 (file transforms): 5 runs, each a process of its own after clearing the input from the
/// cache; smallest, largest and median.
///
/// # Errors
///
/// If there are no samples, or one is no time.
pub fn min_max_median(samples: &[f64]) -> Result<MinMaxMedian, SampleError> {
    let Summary { min, max, median, .. } = Summary::try_of(samples)?;
    Ok(MinMaxMedian { min, max, median })
}

/// P3 (attributes 50 times faster): how many times faster every method was than the slowest of
/// the same run; 1 for the slowest itself. `times` has one time per method, and the result
/// follows its order.
///
/// The slowest is found anew in every run, so that columns of two runs need not share a base:
/// in the article itself they do not (see [`crate::published::reference`]).
///
/// # Errors
///
/// If there are no times, or one is none or zero.
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

/// P4 (the `FindFirstFileEx` matrix): every value, smallest first.
///
/// # Errors
///
/// If there are no samples, or one is no time.
pub fn all_sorted(samples: &[f64]) -> Result<Vec<f64>, SampleError> {
    check(samples)?;
    Ok(sorted(samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p1_drops_the_first_run_however_fast_it_was() {
        assert_eq!(mean_without_the_first(&[900.0, 10.0, 20.0, 30.0]), Ok(20.0));
        assert_eq!(mean_without_the_first(&[1.0, 10.0, 20.0]), Ok(15.0));
        assert_eq!(mean_without_the_first(&[900.0]), Err(SampleError::Empty));
        assert_eq!(mean_without_the_first(&[]), Err(SampleError::Empty));
        assert_eq!(
            mean_without_the_first(&[f64::NAN, 1.0]),
            Err(SampleError::NotFinite { at: 0 }),
            "what is dropped has to be a time too"
        );
    }

    #[test]
    fn p2_shows_three_numbers() {
        let shown = min_max_median(&[3.0, 1.0, 5.0, 2.0, 4.0]).unwrap();
        assert_eq!(shown, MinMaxMedian { min: 1.0, max: 5.0, median: 3.0 });
        assert_eq!(min_max_median(&[-1.0]), Err(SampleError::Negative { at: 0, value: -1.0 }));
    }

    #[test]
    fn p3_has_the_slowest_at_one() {
        assert_eq!(against_the_slowest(&[2.0, 8.0, 4.0]), Ok(vec![4.0, 1.0, 2.0]));
        assert_eq!(against_the_slowest(&[2.0, 0.0]), Err(SampleError::Zero { at: 1 }));
        assert_eq!(against_the_slowest(&[1e-300, 1e300]), Err(SampleError::NoRatio { at: 0 }));
        assert_eq!(against_the_slowest(&[]), Err(SampleError::Empty));
    }

    #[test]
    fn p4_keeps_every_value() {
        assert_eq!(all_sorted(&[5.2, 1.5, 1.5]), Ok(vec![1.5, 1.5, 5.2]));
        assert_eq!(all_sorted(&[5.2, f64::INFINITY]), Err(SampleError::NotFinite { at: 1 }));
    }
}
