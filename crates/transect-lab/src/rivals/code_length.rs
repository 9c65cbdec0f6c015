//! The length of a contender's code, without comments: row A85 of the seed contract.
//!
//! Counts the sources of a contender, with all its methods and the code of its check. Manifests do not count.

use std::path::Path;

use crate::spec::CodeLength;

/// The comments and strings of a language.
struct Syntax {
    line_comment: &'static str,
    block_comment: Option<(&'static str, &'static str)>,
    /// The delimiters of strings, the longest first. All but the last may span lines.
    strings: &'static [&'static str],
}

const C: Syntax = Syntax {
    line_comment: "//",
    block_comment: Some(("/*", "*/")),
    strings: &["\"\"\"", "`", "\"", "'"],
};

const SCRIPT: Syntax =
    Syntax { line_comment: "#", block_comment: None, strings: &["\"\"\"", "'''", "\"", "'"] };

/// Returns the syntax of a file, if it is source code.
fn syntax_of(path: &Path) -> Option<&'static Syntax> {
    match path.extension()?.to_str()? {
        "c" | "cpp" | "cs" | "go" | "groovy" | "h" | "java" | "js" => Some(&C),
        "py" | "sh" => Some(&SCRIPT),
        _ => None,
    }
}

impl CodeLength {
    /// Adds a file, if it is source code that can be read.
    pub(super) fn add(&mut self, path: &Path) {
        let Some(syntax) = syntax_of(path) else { return };
        // A contender without readable sources cannot be built, which is reported elsewhere.
        let Ok(text) = transect_sys::input::read_regular_text(path) else { return };
        let Self { lines, tokens } = Self::of(&text, syntax);
        self.lines += lines;
        self.tokens += tokens;
    }

    /// Counts a text.
    fn of(text: &str, syntax: &Syntax) -> Self {
        let mut length = Self::default();
        let mut rest = text;
        let mut line_has_code = false;
        while let Some(first) = rest.chars().next() {
            let skipped = if first == '\n' {
                line_has_code = false;
                1
            } else if first.is_whitespace() {
                first.len_utf8()
            } else if let Some(comment) = comment_at(rest, syntax) {
                comment
            } else {
                length.tokens += 1;
                length.lines += u64::from(!line_has_code);
                let token = token_at(rest, first, syntax);
                // Further lines of a string.
                let breaks = rest[..token].matches('\n').count() as u64;
                length.lines += breaks;
                line_has_code = true;
                token
            };
            rest = &rest[skipped..];
        }
        length
    }
}

/// Returns the length of the comment at the start of a text, if there is one, without the end of its line.
fn comment_at(text: &str, syntax: &Syntax) -> Option<usize> {
    if text.starts_with(syntax.line_comment) {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let (open, close) = syntax.block_comment?;
    let inside = text.strip_prefix(open)?;
    Some(inside.find(close).map_or(text.len(), |at| open.len() + at + close.len()))
}

/// Returns the length of the token at the start of a text.
fn token_at(text: &str, first: char, syntax: &Syntax) -> usize {
    if let Some(quote) = syntax.strings.iter().find(|quote| text.starts_with(**quote)) {
        return string_at(text, quote);
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    match is_word(first) {
        true => text.find(|c: char| !is_word(c)).unwrap_or(text.len()),
        false => first.len_utf8(),
    }
}

/// Returns the length of a string with its delimiters.
fn string_at(text: &str, quote: &str) -> usize {
    let mut at = quote.len();
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(quote) {
            return at + quote.len();
        }
        let mut chars = rest.chars();
        let first = chars.next().map_or(1, char::len_utf8);
        let is_escape = rest.starts_with('\\');
        at += first + if is_escape { chars.next().map_or(0, char::len_utf8) } else { 0 };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(text: &str, file: &str) -> (u64, u64) {
        let syntax = syntax_of(Path::new(file)).unwrap();
        let CodeLength { lines, tokens } = CodeLength::of(text, syntax);
        (lines, tokens)
    }

    #[test]
    fn comments_and_blank_lines_do_not_count() {
        let c =
            "// one\n\nint a = 1; // two\n/* three\n   four */ char *s = \"/* no */ // no\\\"\";\n";
        assert_eq!(length(c, "a.c"), (2, 5 + 6));
        assert_eq!(length("x /* a */ y\n", "a.java"), (1, 2));
        let python = "# one\n'''two\nlines'''\nprint('# no') # three\n";
        assert_eq!(length(python, "a.py"), (3, 1 + 4));
        assert_eq!(length("let s = `a\n// no`;", "a.js"), (2, 5));
        assert_eq!(length("'\\'' /", "a.c"), (1, 2));
        assert_eq!(length("/* never closed", "a.c"), (0, 0));
        assert!(syntax_of(Path::new("contender.toml")).is_none());
    }
}
