//! The samples of one cell in six numbers.

use serde::Serialize;

use super::samples::{SampleError, check, median_deviation, median_of_sorted, sorted};

/// What makes a median absolute deviation comparable to a standard deviation where the noise is
/// normal. (It seldom is; the factor is what everybody else's "scaled MAD" means.)
const SCALE: f64 = 1.4826;

/// How many scaled deviations from the median make a sample an outlier. With normal noise one
/// sample in two million is that far out, so what is flagged is something that happened.
const OUTLIER: f64 = 5.0;

/// The samples of one cell. Shown together, never the mean alone: one sample 60 times too long
/// moves the mean of ten to seven times the median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many samples.
    pub n: usize,
    /// The smallest sample, in the unit of the samples (the lab's are nanoseconds).
    pub min: f64,
    /// The one in the middle; of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The largest sample.
    pub max: f64,
    /// The mean: for the books, since the articles print it. Nothing is concluded from it.
    pub mean: f64,
    /// Median absolute deviation from the median, unscaled.
    pub mad: f64,
}

impl Summary {
    /// Sums up samples; `None` where there are none, or where one is no time.
    /// [`Summary::try_of`] says which.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        Self::try_of(samples).ok()
    }

    /// Sums up samples.
    ///
    /// # Errors
    ///
    /// If there are none, or one is no number, infinite or below zero. Zero is a time.
    pub fn try_of(samples: &[f64]) -> Result<Self, SampleError> {
        check(samples)?;
        let sorted = sorted(samples);
        let middle = median_of_sorted(&sorted).ok_or(SampleError::Empty)?;
        let mad = median_deviation(&sorted, middle).ok_or(SampleError::Empty)?;
        let n = sorted.len();
        // Divided first: a sum of large numbers may be infinite, their mean is not. Rounding
        // must not take it out of the samples' range either.
        let mean: f64 = sorted.iter().map(|sample| sample / n as f64).sum();
        let (min, max) = (sorted[0], sorted[n - 1]);
        Ok(Self { n, min, median: middle, max, mean: mean.clamp(min, max), mad })
    }

    /// Which samples lie more than five scaled deviations (1.4826 × [`mad`](Self::mad)) from the
    /// median: their indexes in `samples`, in order.
    ///
    /// They are flagged, to be kept, shown and explained. Nothing here drops a sample: a run that
    /// took 80 s happened. Where more than half of the samples are the same, every other one is
    /// flagged, however near it is; then the clock is coarse rather than the sample wild.
    #[must_use]
    pub fn outliers(&self, samples: &[f64]) -> Vec<usize> {
        let limit = OUTLIER * SCALE * self.mad;
        let far = |sample: f64| (sample - self.median).abs() > limit;
        (0..samples.len()).filter(|&at| far(samples[at])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_numbers_are_those_of_the_textbook() {
        let summary = Summary::of(&[9.0, 1.0, 2.0, 4.0]).unwrap();
        assert_eq!(summary, Summary { n: 4, min: 1.0, median: 3.0, max: 9.0, mean: 4.0, mad: 1.5 });
    }

    #[test]
    fn one_sample_is_its_own_summary() {
        let summary = Summary::of(&[7.0]).unwrap();
        assert_eq!(summary, Summary { n: 1, min: 7.0, median: 7.0, max: 7.0, mean: 7.0, mad: 0.0 });
        assert!(summary.outliers(&[7.0]).is_empty());
    }

    #[test]
    fn nothing_is_said_of_no_samples_or_of_no_times() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::try_of(&[1.0, f64::NAN]), Err(SampleError::NotFinite { at: 1 }));
        assert_eq!(Summary::try_of(&[-1.0]), Err(SampleError::Negative { at: 0, value: -1.0 }));
        assert_eq!(Summary::of(&[0.0, 0.0]).unwrap().max, 0.0, "no CPU time at all");
    }

    #[test]
    fn a_huge_outlier_is_flagged_and_leaves_the_median_alone() {
        let mut samples = vec![100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 101.0, 99.0, 100.0];
        let calm = Summary::of(&samples).unwrap();
        assert!(calm.outliers(&samples).is_empty());
        samples.insert(3, 6_000.0);
        let wild = Summary::of(&samples).unwrap();
        assert_eq!(wild.median, calm.median);
        assert!((wild.mad - calm.mad).abs() <= 0.5);
        assert_eq!(wild.outliers(&samples), [3]);
        assert_eq!(wild.n, 10, "kept, only flagged");
        assert!(wild.mean > 6.0 * wild.median, "what the mean would have said");
    }

    #[test]
    fn identical_samples_have_no_spread_and_no_outliers() {
        let samples = [0.1; 30];
        let summary = Summary::of(&samples).unwrap();
        assert_eq!((summary.mad, summary.mean), (0.0, 0.1));
        assert!(summary.outliers(&samples).is_empty());
        assert_eq!(summary.outliers(&[0.1, 0.2, 0.1]), [1]);
    }

    #[test]
    fn large_numbers_do_not_overflow() {
        let summary = Summary::of(&[f64::MAX, f64::MAX]).unwrap();
        assert_eq!((summary.median, summary.mean), (f64::MAX, f64::MAX));
    }
}
