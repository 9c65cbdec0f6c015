//! Basic functions on samples: validation, sorting, median.

use std::fmt;

/// Why samples cannot be evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleError {
    /// There are no samples.
    Empty,
    /// A sample is NaN or infinite.
    NotFinite {
        /// Index of the sample or round, from 0.
        at: usize,
    },
    /// A sample is negative: a faulty clock or subtraction.
    Negative {
        /// Index of the sample or round, from 0.
        at: usize,
        /// The negative value.
        value: f64,
    },
    /// A sample is zero, so it has no ratio: the clock is too coarse for this cell.
    Zero {
        /// Index of the sample or round, from 0.
        at: usize,
    },
    /// Both samples of a round are valid, but their ratio overflows or underflows.
    NoRatio {
        /// Index of the round, from 0.
        at: usize,
    },
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "no samples"),
            Self::NotFinite { at } => write!(f, "sample {at} is not a finite number"),
            Self::Negative { at, value } => write!(f, "sample {at} is {value}, below zero"),
            Self::Zero { at } => write!(f, "sample {at} is zero, and has no ratio to anything"),
            Self::NoRatio { at } => write!(f, "the ratio of round {at} is not a finite number"),
        }
    }
}

impl std::error::Error for SampleError {}

/// Checks that all samples are finite and not negative. Zero is valid: CPU time is counted in ticks,
/// and a short run may take none.
///
/// # Errors
///
/// There are no samples, or the first invalid one.
pub fn check(samples: &[f64]) -> Result<(), SampleError> {
    if samples.is_empty() {
        return Err(SampleError::Empty);
    }
    samples.iter().enumerate().try_for_each(|(at, &value)| check_one(at, value))
}

fn check_one(at: usize, value: f64) -> Result<(), SampleError> {
    if !value.is_finite() {
        Err(SampleError::NotFinite { at })
    } else if value < 0.0 {
        Err(SampleError::Negative { at, value })
    } else {
        Ok(())
    }
}

/// Like [`check`] for one sample, but also refuses zero: for samples that are divided.
pub(crate) fn check_positive(at: usize, value: f64) -> Result<(), SampleError> {
    check_one(at, value)?;
    if value == 0.0 { Err(SampleError::Zero { at }) } else { Ok(()) }
}

/// Returns the samples, sorted.
pub fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// Returns the median of sorted samples: of an even number, the mean of the two in the middle. `None` if there are none.
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(sorted[half - 1], upper))
}

/// Returns the median of `|sample − middle|`.
pub(crate) fn median_deviation(samples: &[f64], middle: f64) -> Option<f64> {
    let mut deviations: Vec<f64> = samples.iter().map(|sample| (sample - middle).abs()).collect();
    deviations.sort_by(f64::total_cmp);
    median_of_sorted(&deviations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_invalid_sample_reports_index() {
        assert_eq!(check(&[]), Err(SampleError::Empty));
        assert_eq!(check(&[1.0, f64::NAN]), Err(SampleError::NotFinite { at: 1 }));
        assert_eq!(check(&[f64::INFINITY]), Err(SampleError::NotFinite { at: 0 }));
        assert_eq!(check(&[2.0, 1.0, -0.5]), Err(SampleError::Negative { at: 2, value: -0.5 }));
        assert_eq!(check(&[0.0, 1.0]), Ok(()), "zero CPU time is valid");
        assert_eq!(check_positive(3, 0.0), Err(SampleError::Zero { at: 3 }));
    }

    #[test]
    fn sample_error_message_names_the_sample() {
        let said = SampleError::Negative { at: 2, value: -0.5 }.to_string();
        assert_eq!(said, "sample 2 is -0.5, below zero");
        assert_eq!(SampleError::Empty.to_string(), "no samples");
    }

    #[test]
    fn median_even_number_mean_of_middle_two() {
        assert_eq!(median_of_sorted(&[]), None);
        assert_eq!(median_of_sorted(&[4.0]), Some(4.0));
        assert_eq!(median_of_sorted(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
        assert_eq!(median_of_sorted(&[1.0, 2.0, 9.0]), Some(2.0));
    }
}
