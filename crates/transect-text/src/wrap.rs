//! Wraps sentences.

/// Returns lines of at most `width` characters; lines after the first are indented.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrap_between_words_loses_none() {
        assert_eq!(wrap("one two three", 100), ["one two three"]);
        assert_eq!(wrap("one two three", 7), ["one two", "  three"]);
        assert_eq!(wrap("one two three four", 12), ["one two", "  three four"]);
        assert_eq!(wrap("longer than wide", 3), ["longer", "  than", "  wide"]);
    }
}
