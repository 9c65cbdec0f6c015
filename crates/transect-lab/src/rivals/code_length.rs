//! The length of a contender's code, without comments: row A85 of the seed contract.
//!
//! Counts the sources of a contender, with all its methods and the code of its check. Manifests do not count.

use std::path::Path;

use crate::spec::CodeLength;

impl CodeLength {
    /// Adds a file, if it is source code that can be read.
    pub(super) fn add(&mut self, path: &Path) {
        let line_comment = match path.extension().and_then(|extension| extension.to_str()) {
            Some("c" | "cpp" | "cs" | "go" | "groovy" | "h" | "java" | "js") => "//",
            Some("py" | "sh") => "#",
            _ => return,
        };
        // A contender without readable sources cannot be built, which is reported elsewhere.
        if let Ok(text) = transect_sys::input::read_regular_text(path) {
            self.lines += lines_of_code(&text, line_comment);
        }
    }
}

/// Counts the lines that are neither blank nor only a comment. A comment `/* … */` counts as one if it begins its
/// line.
fn lines_of_code(text: &str, line_comment: &str) -> u64 {
    let mut is_in_comment = false;
    let is_code = |line: &&str| {
        let line = line.trim();
        if is_in_comment || line.starts_with("/*") {
            is_in_comment = !line.contains("*/");
            return !is_in_comment && !line.ends_with("*/");
        }
        !line.is_empty() && !line.starts_with(line_comment)
    };
    text.lines().filter(is_code).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blank_lines_do_not_count() {
        let c =
            "// one\n\nint a = 1; // two\n/* three\n   four */ char *s = \"/* no */ // no\\\"\";\n";
        assert_eq!(lines_of_code(c, "//"), 2);
        assert_eq!(lines_of_code("x /* a */ y\n", "//"), 1);
        assert_eq!(lines_of_code("/* a */\n/*\n b\n*/\nx\n", "//"), 1);
        assert_eq!(lines_of_code("# one\n'''two\nlines'''\nprint('# no') # three\n", "#"), 3);
        assert_eq!(lines_of_code("/* never closed\nx", "//"), 0);
    }
}
