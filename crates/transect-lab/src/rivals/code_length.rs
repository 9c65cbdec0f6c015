//! The length of a method's code, without comments: row A85 of the seed contract.
//!
//! Counts the functions that a contender's manifest names for the method, or all of its sources.

use std::path::Path;

use crate::spec::CodeLength;

impl CodeLength {
    /// Adds the functions in a file, if it is source code that can be read; without functions, all of it.
    pub(super) fn add(&mut self, path: &Path, functions: &[String]) {
        let line_comment = match path.extension().and_then(|extension| extension.to_str()) {
            Some("c" | "cpp" | "cs" | "go" | "groovy" | "h" | "java" | "js") => "//",
            Some("py" | "sh") => "#",
            _ => return,
        };
        // A contender without readable sources cannot be built, which is reported elsewhere.
        let Ok(text) = transect_sys::input::read_regular_text(path) else { return };
        self.lines += match functions {
            [] => lines_of_code(&text, line_comment),
            named => {
                named.iter().map(|name| lines_of_code(&function(&text, name), line_comment)).sum()
            }
        };
    }
}

/// Returns the lines of a function: from the first that defines its name to the next that is not further in, which is
/// included if it closes a block. Empty if there is none.
fn function(text: &str, name: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().skip_while(|line| !defines(line, name));
    let Some(first) = lines.next() else { return String::new() };
    let mut function = vec![first];
    for line in lines {
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('{') || indent(line) > indent(first) {
            function.push(line);
            continue;
        }
        function.extend(text.starts_with('}').then_some(line));
        break;
    }
    function.join("\n")
}

/// Returns whether a line defines a function: `name(` or `name = {`, and more lines follow.
fn defines(line: &str, name: &str) -> bool {
    let is_in_name =
        |character: char| character.is_alphanumeric() || ['_', '.', ':'].contains(&character);
    let ends_there = line.trim_end().ends_with([';', ',']);
    !ends_there
        && line.match_indices(name).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            !before.ends_with(is_in_name)
                && !before.trim_start().starts_with(['/', '*', '#', '"'])
                && (after.starts_with('(') || after.starts_with(" = {"))
        })
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
    fn functions_counted_by_name() {
        let c = "void list(int);\n\nstatic void list(int x)\n{\n\t// no\n\tgo(x);\n}\n\nint main()\n{\n\tlist(1);\n}\n";
        assert_eq!(lines_of_code(&function(c, "list"), "//"), 4);
        assert_eq!(lines_of_code(&function(c, "main"), "//"), 4);
        assert_eq!(function(c, "go"), "", "a call is no definition");
        let python = "def walk(a):\n    for b in a:\n        walk(b)\n\n\ndef other():\n    pass\n";
        assert_eq!(lines_of_code(&function(python, "walk"), "#"), 3);
        let groovy = "def each = { File root ->\n    look(root)\n}\nx()\n";
        assert_eq!(lines_of_code(&function(groovy, "each"), "//"), 3);
    }

    #[test]
    fn functions_of_every_contender_exist() {
        let temp = transect_testkit::TempDir::new();
        let folder =
            crate::rivals::builtin::unpack(temp.path()).expect("a folder that can be written");
        let (contenders, _) = crate::rivals::contender::Contender::load_all(&folder, true);
        for contender in contenders {
            for method in contender.methods.iter().filter(|method| !method.functions.is_empty()) {
                let alone = |name: &String| {
                    let mut only = contender.clone();
                    only.methods.retain(|known| known.name == method.name);
                    only.methods[0].functions = vec![name.clone()];
                    only.code_length(&method.name).lines
                };
                for name in &method.functions {
                    assert!(alone(name) > 2, "{}: {name}", method.name);
                }
            }
        }
    }

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
