//! Commands with placeholders: `{}`, `{/}`, `{//}`, `{.}`, `{/.}`, as in fd.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use transect_sys::name_from_bytes;

/// A command, with the places where a path goes.
#[derive(Debug)]
pub(super) struct Template {
    program: Argument,
    arguments: Vec<Argument>,
}

#[derive(Debug)]
struct Argument(Vec<Piece>);

#[derive(Debug, PartialEq)]
enum Piece {
    Text(OsString),
    Path(Part),
}

/// The part of a path that replaces a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Name,
    Parent,
    WithoutExtension,
    NameWithoutExtension,
}

/// The placeholders. None of them is the beginning of another.
const PLACEHOLDERS: [(&str, Part); 5] = [
    ("{}", Part::Whole),
    ("{/}", Part::Name),
    ("{//}", Part::Parent),
    ("{.}", Part::WithoutExtension),
    ("{/.}", Part::NameWithoutExtension),
];

impl Template {
    /// Parses the words of a command, the program first. Without a placeholder, the path is appended.
    pub(super) fn parse(words: &[OsString]) -> Self {
        let mut words = words.iter().map(|word| Argument::parse(word));
        let program = words.next().expect("BUG: the parser requires a program");
        let mut template = Self { program, arguments: words.collect() };
        if !template.program.has_placeholder() && template.split_at_placeholder().is_none() {
            template.arguments.push(Argument(vec![Piece::Path(Part::Whole)]));
        }
        template
    }

    /// The same for a command that takes many paths: one argument has a placeholder, and is repeated for
    /// each path.
    pub(super) fn parse_batch(words: &[OsString]) -> Result<Self, String> {
        let template = Self::parse(words);
        if template.program.has_placeholder() {
            return Err("the program of --exec-batch cannot have a placeholder".to_owned());
        }
        if template.arguments.iter().filter(|word| word.has_placeholder()).count() > 1 {
            return Err("only one argument of --exec-batch can have a placeholder".to_owned());
        }
        Ok(template)
    }

    /// Returns the program; `None` if it depends on the path.
    pub(super) fn fixed_program(&self) -> Option<OsString> {
        (!self.program.has_placeholder()).then(|| self.program.expand(Path::new("")))
    }

    /// Returns the program and its arguments for a path.
    pub(super) fn expand(&self, path: &Path) -> (OsString, Vec<OsString>) {
        let mut program = self.program.expand(path);
        if self.program.begins_with_path() && Path::new(&program).components().count() == 1 {
            // Otherwise a program of this name would be searched in the directories of PATH.
            program = below_here(&program);
        }
        (program, self.arguments.iter().map(|word| word.expand(path)).collect())
    }

    /// Returns the argument of a batch for a path.
    pub(super) fn expand_repeated(&self, path: &Path) -> OsString {
        let repeated = self.arguments.iter().find(|word| word.has_placeholder());
        repeated.expect("BUG: a batch has a placeholder").expand(path)
    }

    /// Returns the program of a batch and the arguments before and after the repeated one.
    pub(super) fn around_repeated(&self) -> (OsString, Vec<OsString>, Vec<OsString>) {
        let at = self.split_at_placeholder().unwrap_or(self.arguments.len());
        let fixed = |words: &[Argument]| -> Vec<OsString> {
            words.iter().map(|word| word.expand(Path::new(""))).collect()
        };
        let after = self.arguments.get(at + 1..).unwrap_or_default();
        (self.program.expand(Path::new("")), fixed(&self.arguments[..at]), fixed(after))
    }

    fn split_at_placeholder(&self) -> Option<usize> {
        self.arguments.iter().position(Argument::has_placeholder)
    }
}

impl Argument {
    fn parse(word: &OsStr) -> Self {
        let mut pieces = Vec::new();
        let (mut text, mut rest) = (Vec::new(), word.as_encoded_bytes());
        while let Some((&first, after)) = rest.split_first() {
            let found = PLACEHOLDERS.iter().find(|(word, _)| rest.starts_with(word.as_bytes()));
            if let Some((word, part)) = found {
                if !text.is_empty() {
                    pieces.push(Piece::Text(name_from_bytes(std::mem::take(&mut text))));
                }
                pieces.push(Piece::Path(*part));
                rest = &rest[word.len()..];
            } else {
                text.push(first);
                rest = after;
            }
        }
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(name_from_bytes(text)));
        }
        Self(pieces)
    }

    fn has_placeholder(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Path(_)))
    }

    fn begins_with_path(&self) -> bool {
        matches!(self.0.first(), Some(Piece::Path(_)))
    }

    /// Returns the word for a path. A word that would begin with `-` only because the path does begins
    /// with `./-`, so that no name is taken for an option.
    fn expand(&self, path: &Path) -> OsString {
        let mut word = OsString::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => word.push(text),
                Piece::Path(part) => word.push(part.of(path)),
            }
        }
        if self.begins_with_path() && word.as_encoded_bytes().starts_with(b"-") {
            word = below_here(&word);
        }
        word
    }
}

/// Returns a relative path with `./` before it.
fn below_here(path: &OsStr) -> OsString {
    let mut whole = OsString::from("./");
    whole.push(path);
    whole
}

impl Part {
    /// Returns this part of a path. `/`, `.` and `..` have no name: they stand for it themselves.
    fn of(self, path: &Path) -> OsString {
        let name = path.file_name().unwrap_or(path.as_os_str());
        let stem = path.file_stem();
        match self {
            Self::Whole => path.into(),
            Self::Name => name.into(),
            Self::Parent => match path.parent() {
                Some(parent) if parent.as_os_str().is_empty() => ".".into(),
                Some(parent) => parent.into(),
                None => path.into(),
            },
            Self::WithoutExtension => {
                stem.map_or_else(|| path.into(), |stem| path.with_file_name(stem).into())
            }
            Self::NameWithoutExtension => stem.unwrap_or(name).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(Into::into).collect()
    }

    fn expanded(command: &[&str], path: &str) -> Vec<String> {
        let (program, arguments) = Template::parse(&words(command)).expand(Path::new(path));
        let all = std::iter::once(program).chain(arguments);
        // Windows joins with its own separator, and accepts both.
        let separator = std::path::MAIN_SEPARATOR_STR;
        all.map(|word| word.into_string().unwrap().replace(separator, "/")).collect()
    }

    #[test]
    fn template_placeholders_are_those_of_fd() {
        for (path, expected) in [
            ("a/b.tar.gz", ["a/b.tar.gz", "b.tar.gz", "a", "a/b.tar", "b.tar"]),
            ("./a", ["./a", "a", ".", "./a", "a"]),
            ("a", ["a", "a", ".", "a", "a"]),
            ("tree/", ["tree/", "tree", ".", "tree", "tree"]),
            ("/x.c", ["/x.c", "x.c", "/", "/x", "x"]),
            (".bashrc", [".bashrc", ".bashrc", ".", ".bashrc", ".bashrc"]),
            ("/", ["/", "/", "/", "/", "/"]),
        ] {
            let command = ["p", "{}", "{/}", "{//}", "{.}", "{/.}"];
            assert_eq!(expanded(&command, path)[1..], expected, "{path}");
        }
        assert_eq!(
            expanded(&["p", "{}.bak", "a{/}b{}", "{", "{x}"], "d/f")[1..],
            ["d/f.bak", "afbd/f", "{", "{x}"]
        );
    }

    #[test]
    fn template_path_appended_without_placeholder() {
        assert_eq!(expanded(&["p"], "x"), ["p", "x"]);
        assert_eq!(expanded(&["p", "-v"], "x"), ["p", "-v", "x"]);
        assert_eq!(expanded(&["p", ""], "x"), ["p", "", "x"]);
        assert_eq!(expanded(&["{}", "-v"], "d/x"), ["d/x", "-v"]);
    }

    #[test]
    fn template_names_are_not_options_and_not_programs_of_path() {
        assert_eq!(expanded(&["p"], "-rf"), ["p", "./-rf"]);
        assert_eq!(
            expanded(&["p", "{/}", "{//}", "{/.}"], "-d/-x.c")[1..],
            ["./-x.c", "./-d", "./-x"]
        );
        assert_eq!(expanded(&["p", "--from={}", "-{}"], "-d")[1..], ["--from=-d", "--d"]);
        assert_eq!(expanded(&["{}"], "ls"), ["./ls"]);
        assert_eq!(expanded(&["{}"], "-d"), ["./-d"]);
    }

    #[test]
    fn template_of_batch_has_one_repeated_argument() {
        let template = Template::parse_batch(&words(&["cp", "-t", "to", "{}", "-v"])).unwrap();
        let (program, before, after) = template.around_repeated();
        assert_eq!((program, before, after), ("cp".into(), words(&["-t", "to"]), words(&["-v"])));
        assert_eq!(template.expand_repeated(Path::new("-x")), "./-x");
        assert!(Template::parse_batch(&words(&["{}"])).is_err());
        assert!(Template::parse_batch(&words(&["p", "{}", "{/}"])).is_err());
        let appended = Template::parse_batch(&words(&["rm", "-r"])).unwrap().around_repeated();
        assert_eq!(appended, ("rm".into(), words(&["-r"]), Vec::new()));
    }
}
