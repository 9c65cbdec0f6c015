//! Basic functions on samples: validation, sorting, median.

/// Returns whether there are samples, all of them finite and not negative. Zero is valid: CPU time is
/// counted in ticks, and a short run may take none.
pub(crate) fn are_valid(samples: &[f64]) -> bool {
    !samples.is_empty() && samples.iter().all(|sample| sample.is_finite() && *sample >= 0.0)
}

/// Returns whether all samples can be divided: finite and above zero.
pub(crate) fn are_positive(samples: &[f64]) -> bool {
    samples.iter().all(|sample| sample.is_finite() && *sample > 0.0)
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
    fn samples_valid_only_if_finite_and_not_negative() {
        for invalid in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY], &[2.0, 1.0, -0.5]] {
            assert!(!are_valid(invalid), "{invalid:?}");
        }
        assert!(are_valid(&[0.0, 1.0]), "zero CPU time is valid");
        assert!(!are_positive(&[1.0, 0.0]) && are_positive(&[1.0, 0.5]));
    }

    #[test]
    fn median_even_number_mean_of_middle_two() {
        assert_eq!(median_of_sorted(&[]), None);
        assert_eq!(median_of_sorted(&[4.0]), Some(4.0));
        assert_eq!(median_of_sorted(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
        assert_eq!(median_of_sorted(&[1.0, 2.0, 9.0]), Some(2.0));
    }
}
