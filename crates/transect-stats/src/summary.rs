//! The samples of one cell, summarized in six numbers.

use serde::Serialize;

use super::samples::{are_valid, median_deviation, median_of_sorted, sorted};

/// Scales a median absolute deviation to a standard deviation, assuming normal noise: the usual
/// factor of a "scaled MAD".
const SCALE: f64 = 1.4826;

/// Samples more than this many scaled deviations from the median are outliers. With normal noise that
/// is one sample in two million.
const OUTLIER: f64 = 5.0;

/// Summary of the samples of one cell.
///
/// Reports never show the mean alone: among ten samples, one that is 60 times too long makes the mean
/// seven times the median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Number of samples.
    pub n: usize,
    /// The smallest sample, in the unit of the samples (the lab's are nanoseconds).
    pub min: f64,
    /// The median; of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The largest sample.
    pub max: f64,
    /// The mean, because the articles print it. No verdict uses it.
    pub mean: f64,
    /// Median absolute deviation from the median, unscaled.
    pub mad: f64,
}

impl Summary {
    /// Summarizes samples; `None` if there are none, or one is NaN, infinite or negative. Zero is valid.
    #[must_use]
    pub fn of(samples: &[f64]) -> Option<Self> {
        if !are_valid(samples) {
            return None;
        }
        let sorted = sorted(samples);
        let median = median_of_sorted(&sorted)?;
        let mad = median_deviation(&sorted, median)?;
        let n = sorted.len();
        // Divide first: a sum of large numbers may overflow. Clamp, as rounding may leave the range.
        let mean: f64 = sorted.iter().map(|sample| sample / n as f64).sum();
        let (min, max) = (sorted[0], sorted[n - 1]);
        Some(Self { n, min, median, max, mean: mean.clamp(min, max), mad })
    }

    /// Returns the indexes of the samples more than five scaled deviations (1.4826 ×
    /// [`mad`](Self::mad)) from the median, in order.
    ///
    /// Outliers are flagged, never dropped: a run that took 80 s happened. If more than half of the
    /// samples are equal, the MAD is 0 and every other sample is flagged; then the clock is coarse.
    #[must_use]
    pub fn outliers(&self, samples: &[f64]) -> Vec<usize> {
        let limit = OUTLIER * SCALE * self.mad;
        let far = |sample: f64| (sample - self.median).abs() > limit;
        (0..samples.len()).filter(|&at| far(samples[at])).collect()
    }
}

/// Returns the mean without the first sample: for protocols whose first run only fills the cache. `None` if
/// there are fewer than two samples, or one is invalid.
#[must_use]
pub fn mean_without_the_first(samples: &[f64]) -> Option<f64> {
    let (_, counted) = samples.split_first().filter(|_| are_valid(samples))?;
    Some(Summary::of(counted)?.mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p1_first_run_dropped() {
        assert_eq!(mean_without_the_first(&[900.0, 10.0, 20.0, 30.0]), Some(20.0));
        assert_eq!(mean_without_the_first(&[1.0, 10.0, 20.0]), Some(15.0));
        assert_eq!(mean_without_the_first(&[900.0]), None);
        assert_eq!(mean_without_the_first(&[]), None);
        let dropped = mean_without_the_first(&[f64::NAN, 1.0]);
        assert_eq!(dropped, None, "the dropped sample has to be valid, too");
    }

    #[test]
    fn summary_even_number_of_samples() {
        let summary = Summary::of(&[9.0, 1.0, 2.0, 4.0]).unwrap();
        assert_eq!(summary, Summary { n: 4, min: 1.0, median: 3.0, max: 9.0, mean: 4.0, mad: 1.5 });
    }

    #[test]
    fn summary_of_one_sample() {
        let summary = Summary::of(&[7.0]).unwrap();
        assert_eq!(summary, Summary { n: 1, min: 7.0, median: 7.0, max: 7.0, mean: 7.0, mad: 0.0 });
        assert!(summary.outliers(&[7.0]).is_empty());
    }

    #[test]
    fn summary_invalid_samples_refused() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[-1.0]), None);
        assert_eq!(Summary::of(&[0.0, 0.0]).unwrap().max, 0.0, "no CPU time at all");
    }

    #[test]
    fn outlier_flagged_and_median_unchanged() {
        let mut samples = vec![100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 101.0, 99.0, 100.0];
        let calm = Summary::of(&samples).unwrap();
        assert!(calm.outliers(&samples).is_empty());
        samples.insert(3, 6_000.0);
        let wild = Summary::of(&samples).unwrap();
        assert_eq!(wild.median, calm.median);
        assert!((wild.mad - calm.mad).abs() <= 0.5);
        assert_eq!(wild.outliers(&samples), [3]);
        assert_eq!(wild.n, 10, "kept, only flagged");
        assert!(wild.mean > 6.0 * wild.median, "the mean would mislead");
    }

    #[test]
    fn identical_samples_no_spread_no_outliers() {
        let samples = [0.1; 30];
        let summary = Summary::of(&samples).unwrap();
        assert_eq!((summary.mad, summary.mean), (0.0, 0.1));
        assert!(summary.outliers(&samples).is_empty());
        assert_eq!(summary.outliers(&[0.1, 0.2, 0.1]), [1]);
    }

    #[test]
    fn mean_of_large_numbers_does_not_overflow() {
        let summary = Summary::of(&[f64::MAX, f64::MAX]).unwrap();
        assert_eq!((summary.median, summary.mean), (f64::MAX, f64::MAX));
    }
}
