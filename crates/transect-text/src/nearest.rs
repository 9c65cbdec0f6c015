//! Suggestions for unknown names.

/// Returns the most similar name, if a typing error explains the difference: at most one error in
/// three letters, and one in short names.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &'a str| (distance(typed.as_bytes(), name.as_bytes()), name);
    let (distance, name) = names.map(distance).min_by_key(|(distance, _)| *distance)?;
    (distance <= (name.len() / 3).max(1)).then_some(name)
}

/// Returns the edit distance of two texts: the number of insertions, deletions, changes, and
/// exchanges of neighbours (optimal string alignment).
fn distance(one: &[u8], other: &[u8]) -> usize {
    // The rows of the table for one byte less, and for two bytes less, of `one`.
    let mut above: Vec<usize> = (0..=other.len()).collect();
    let mut above_that = above.clone();
    for (i, &a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in other.iter().enumerate() {
            let mut least = (above[j] + usize::from(a != b)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a == other[j - 1] && b == one[i - 1] {
                least = least.min(above_that[j - 1] + 1);
            }
            row.push(least);
        }
        above_that = std::mem::replace(&mut above, row);
    }
    above[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_equals_textbook_values() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
            ("saturday", "sunday", 3),
            ("eol", "elo", 1),
            ("gzip", "gunzip", 2),
            ("ca", "abc", 3),
        ] {
            assert_eq!(distance(one.as_bytes(), other.as_bytes()), expected, "{one} {other}");
            assert_eq!(distance(other.as_bytes(), one.as_bytes()), expected, "{other} {one}");
        }
    }

    #[test]
    fn nearest_typing_errors_only() {
        let names = ["blake3", "eol", "gzip", "final-newline"];
        for (typed, expected) in [
            ("blake", Some("blake3")),
            ("balke3", Some("blake3")),
            ("elo", Some("eol")),
            ("final-newlines", Some("final-newline")),
            ("finalnewline", Some("final-newline")),
            ("bzip2", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names.into_iter()), expected, "{typed}");
        }
    }
}
