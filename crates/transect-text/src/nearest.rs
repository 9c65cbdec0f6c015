//! Suggestions for unknown names.

/// Returns the most similar name, if a typing error explains the difference: at most one error in
/// three letters, and one in short names. An error is an insertion, a deletion, a change, or an exchange of
/// neighbours.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |name: &'a str| (strsim::osa_distance(typed, name), name);
    let (distance, name) = names.map(distance).min_by_key(|(distance, _)| *distance)?;
    (distance <= (name.len() / 3).max(1)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

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
