//! Expressions of Watchman's queries: which files a client wants.

use globset::{GlobBuilder, GlobMatcher};
use transect::FileType;
use transect_sys::name_from_bytes;

use super::value::Value;

/// What an expression looks at.
pub(super) struct Candidate<'a> {
    /// The path below the root of the query.
    pub(super) name: &'a [u8],
    pub(super) exists: bool,
    pub(super) file_type: FileType,
    /// 0 of what does not exist.
    pub(super) size: u64,
}

impl Candidate<'_> {
    fn base(&self) -> &[u8] {
        self.name.rsplit(|&byte| byte == b'/').next().unwrap_or(self.name)
    }
}

#[derive(Debug)]
pub(super) enum Expression {
    True,
    AllOf(Vec<Expression>),
    AnyOf(Vec<Expression>),
    Not(Box<Expression>),
    Exists,
    Empty,
    Type(FileType),
    Suffix(Vec<Vec<u8>>),
    Name { names: Vec<Vec<u8>>, is_whole: bool, ignore_case: bool },
    Match { pattern: Pattern, is_whole: bool },
    Below { directory: Vec<u8>, depth: Option<Comparison>, ignore_case: bool },
    Size(Comparison),
}

/// A comparison with a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// The orders of the two numbers that are accepted.
    accepted: [bool; 3],
    number: u64,
}

impl Comparison {
    /// Takes an operator and a number from the end of a term.
    fn of(term: &[Value]) -> Option<Self> {
        let [operator, number] = term else { return None };
        let accepted = match operator.str()? {
            "eq" => [false, true, false],
            "ne" => [true, false, true],
            "gt" => [false, false, true],
            "ge" => [false, true, true],
            "lt" => [true, false, false],
            "le" => [true, true, false],
            _ => return None,
        };
        Some(Self { accepted, number: number.int()?.try_into().ok()? })
    }

    fn accepts(self, number: u64) -> bool {
        self.accepted[(number.cmp(&self.number) as i8 + 1) as usize]
    }
}

/// A glob. A name that begins with a dot is matched only if the glob has such a name, too, or if the client wants them all.
#[derive(Debug)]
pub(super) struct Pattern {
    glob: GlobMatcher,
    with_hidden: bool,
}

impl Pattern {
    pub(super) fn new(pattern: &Value, ignore_case: bool, hidden: bool) -> Result<Self, String> {
        let text = pattern.str().ok_or("a pattern is not a string")?;
        let mut glob = GlobBuilder::new(text);
        let glob = glob.literal_separator(true).case_insensitive(ignore_case).build();
        let glob = glob.map_err(|error| error.to_string())?.compile_matcher();
        Ok(Self { glob, with_hidden: hidden || has_hidden(text.as_bytes()) })
    }

    pub(super) fn matches(&self, path: &[u8]) -> bool {
        (self.with_hidden || !has_hidden(path))
            && self.glob.is_match(name_from_bytes(path.to_vec()))
    }
}

fn has_hidden(path: &[u8]) -> bool {
    path.first() == Some(&b'.') || path.windows(2).any(|pair| pair == b"/.")
}

impl Expression {
    /// Parses an expression. With `ignore_case`, all its terms ignore it.
    ///
    /// # Errors
    /// The reason why it is malformed or not supported.
    pub(super) fn parse(value: &Value, ignore_case: bool) -> Result<Self, String> {
        let whole = std::slice::from_ref(value);
        let term = value.array().unwrap_or(whole);
        let name = term.first().and_then(Value::str).ok_or("an expression term has no name")?;
        let rest = &term[1..];
        let parse = |term: &Value| Self::parse(term, ignore_case);
        let all = |terms: &[Value]| terms.iter().map(parse).collect::<Result<Vec<_>, _>>();
        let wrong = || format!("invalid arguments of the expression term '{name}'");
        let scope = |value: Option<&Value>| match value.map(Value::str) {
            None | Some(Some("basename")) => Ok(false),
            Some(Some("wholename")) => Ok(true),
            Some(_) => Err(wrong()),
        };
        Ok(match name {
            "true" => Self::True,
            "false" => Self::AnyOf(Vec::new()),
            "allof" => Self::AllOf(all(rest)?),
            "anyof" => Self::AnyOf(all(rest)?),
            "not" => match rest {
                [only] => Self::Not(parse(only)?.into()),
                _ => return Err(wrong()),
            },
            "exists" => Self::Exists,
            "empty" => Self::Empty,
            "type" => {
                let letter = rest.first().and_then(Value::str);
                Self::Type(letter.and_then(type_of).ok_or_else(wrong)?)
            }
            "suffix" => Self::Suffix(suffixes(rest.first().ok_or_else(wrong)?)?),
            "name" | "iname" => Self::Name {
                names: strings(rest.first().ok_or_else(wrong)?).ok_or_else(wrong)?,
                is_whole: scope(rest.get(1))?,
                ignore_case: ignore_case || name == "iname",
            },
            "match" | "imatch" => {
                let hidden = rest.get(2).and_then(|options| options.get("includedotfiles"));
                let hidden = hidden.is_some_and(Value::is_true);
                let pattern = rest.first().ok_or_else(wrong)?;
                let pattern = Pattern::new(pattern, ignore_case || name == "imatch", hidden)?;
                Self::Match { pattern, is_whole: scope(rest.get(1))? }
            }
            "dirname" | "idirname" => {
                let depth = match rest.get(1).map(Value::array) {
                    None => None,
                    Some(Some([depth, comparison @ ..])) if depth.str() == Some("depth") => {
                        Some(Comparison::of(comparison).ok_or_else(wrong)?)
                    }
                    Some(_) => return Err(wrong()),
                };
                let directory = rest.first().and_then(Value::bytes).ok_or_else(wrong)?.to_vec();
                Self::Below { directory, depth, ignore_case: ignore_case || name == "idirname" }
            }
            "size" => Self::Size(Comparison::of(rest).ok_or_else(wrong)?),
            _ => return Err(format!("unknown expression term '{name}'")),
        })
    }

    pub(super) fn accepts(&self, file: &Candidate<'_>) -> bool {
        let part = |is_whole: &bool| if *is_whole { file.name } else { file.base() };
        match self {
            Self::True => true,
            Self::AllOf(terms) => terms.iter().all(|term| term.accepts(file)),
            Self::AnyOf(terms) => terms.iter().any(|term| term.accepts(file)),
            Self::Not(term) => !term.accepts(file),
            Self::Exists => file.exists,
            Self::Empty => {
                let has_size = matches!(file.file_type, FileType::File | FileType::Directory);
                file.exists && has_size && file.size == 0
            }
            Self::Type(file_type) => *file_type == file.file_type,
            Self::Suffix(suffixes) => has_suffix(file.base(), suffixes),
            Self::Name { names, is_whole, ignore_case } => {
                let part = part(is_whole);
                names.iter().any(|name| is_equal(name, part, *ignore_case))
            }
            Self::Match { pattern, is_whole } => pattern.matches(part(is_whole)),
            Self::Below { directory, depth, ignore_case } => {
                let Some(below) = below(file.name, directory, *ignore_case) else { return false };
                let steps = below.iter().filter(|&&byte| byte == b'/').count() as u64;
                depth.is_none_or(|depth| depth.accepts(steps))
            }
            Self::Size(comparison) => file.exists && comparison.accepts(file.size),
        }
    }
}

/// Returns whether a name ends with a dot and one of these suffixes, in either case.
pub(super) fn has_suffix(name: &[u8], suffixes: &[Vec<u8>]) -> bool {
    suffixes.iter().any(|suffix| {
        let begin = name.len().checked_sub(suffix.len());
        begin.is_some_and(|begin| {
            name[..begin].ends_with(b".") && name[begin..].eq_ignore_ascii_case(suffix)
        })
    })
}

/// Returns the suffixes of a query, one or several.
pub(super) fn suffixes(value: &Value) -> Result<Vec<Vec<u8>>, String> {
    strings(value).ok_or_else(|| "a suffix is not a string".to_owned())
}

fn is_equal(one: &[u8], other: &[u8], ignore_case: bool) -> bool {
    if ignore_case { one.eq_ignore_ascii_case(other) } else { one == other }
}

/// Returns what follows a directory in a path, without the separator.
fn below<'p>(path: &'p [u8], directory: &[u8], ignore_case: bool) -> Option<&'p [u8]> {
    if directory.is_empty() {
        return Some(path);
    }
    let (begin, rest) = path.split_at_checked(directory.len())?;
    rest.strip_prefix(b"/").filter(|_| is_equal(begin, directory, ignore_case))
}

/// Returns the strings of an array, or the only one.
fn strings(value: &Value) -> Option<Vec<Vec<u8>>> {
    let whole = std::slice::from_ref(value);
    value.array().unwrap_or(whole).iter().map(|it| it.bytes().map(<[u8]>::to_vec)).collect()
}

pub(super) fn letter(file_type: FileType) -> &'static str {
    LETTERS.iter().find(|(it, _)| *it == file_type).map_or("?", |(_, letter)| letter)
}

const LETTERS: [(FileType, &str); 7] = [
    (FileType::File, "f"),
    (FileType::Directory, "d"),
    (FileType::Symlink, "l"),
    (FileType::Block, "b"),
    (FileType::Char, "c"),
    (FileType::Fifo, "p"),
    (FileType::Socket, "s"),
];

fn type_of(letter: &str) -> Option<FileType> {
    LETTERS.iter().find(|(_, it)| *it == letter).map(|&(file_type, _)| file_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u64 = 5;

    fn accepts(expression: &str, name: &str) -> bool {
        accepts_in(expression, name, false)
    }

    fn accepts_in(expression: &str, name: &str, ignore_case: bool) -> bool {
        let expression = Value::from_json(expression.as_bytes()).unwrap();
        let expression = Expression::parse(&expression, ignore_case).unwrap();
        let file_type = FileType::File;
        let name = name.as_bytes();
        expression.accepts(&Candidate { name, exists: true, file_type, size: SIZE })
    }

    #[test]
    fn expressions_accept_what_watchman_documents() {
        let accepted: &[(&str, &[&str], &[&str])] = &[
            (r#""true""#, &["a"], &[]),
            (r#"["false"]"#, &[], &["a"]),
            (r#"["allof", ["type", "f"], ["suffix", "js"]]"#, &["a/b.js", "B.JS"], &["js", "b.ts"]),
            (r#"["anyof", ["type", "d"], ["exists"]]"#, &["a"], &[]),
            (r#"["not", ["exists"]]"#, &[], &["a"]),
            ("\"empty\"", &[], &["a"]),
            (r#"["suffix", ["c", "tar.gz"]]"#, &["a.c", "a.tar.gz", ".c"], &["a.gz", "a.d/c"]),
            (r#"["name", "b"]"#, &["b", "a/b"], &["B", "b/a"]),
            (r#"["iname", ["B", "c"]]"#, &["b", "a/C"], &["d"]),
            (r#"["name", "a/b", "wholename"]"#, &["a/b"], &["b", "c/a/b"]),
            (r#"["match", "*.c"]"#, &["a/b.c"], &[".c", "a.h", "a/.b.c"]),
            (r#"["match", "*.c", "basename", {"includedotfiles": true}]"#, &["a/.b.c"], &[]),
            (r#"["match", "a/*/c?", "wholename"]"#, &["a/b/cc"], &["a/cc", "a/b/d/cc", "a/.b/cc"]),
            (r#"["match", "**/.b/*", "wholename"]"#, &["a/.b/c", ".b/c"], &["a/b/c"]),
            (r#"["match", "**", "wholename"]"#, &["a", "a/b"], &[".a", "a/.b/c"]),
            (r#"["imatch", "A*"]"#, &["abc"], &["b"]),
            (r#"["dirname", "a"]"#, &["a/b", "a/b/c"], &["a", "ab/c", "b/a/c"]),
            (r#"["dirname", ""]"#, &["a", "a/b"], &[]),
            (r#"["idirname", "A"]"#, &["a/b"], &["b/a"]),
            (r#"["dirname", "a", ["depth", "eq", 0]]"#, &["a/b"], &["a/b/c"]),
            (r#"["dirname", "a", ["depth", "ge", 1]]"#, &["a/b/c", "a/b/c/d"], &["a/b"]),
            (r#"["size", "ge", 5]"#, &["a"], &[]),
            (r#"["size", "ne", 5]"#, &[], &["a"]),
        ];
        for (expression, accepted, refused) in accepted {
            for name in *accepted {
                assert!(accepts(expression, name), "{expression} accepts {name}");
            }
            for name in *refused {
                assert!(!accepts(expression, name), "{expression} refuses {name}");
            }
        }
    }

    #[test]
    fn expression_of_a_query_that_ignores_case_ignores_it_in_all_terms() {
        for expression in [
            r#"["name", "B"]"#,
            r#"["not", ["not", ["name", "a/B", "wholename"]]]"#,
            r#"["anyof", ["match", "B*"]]"#,
            r#"["dirname", "A"]"#,
        ] {
            assert!(accepts_in(expression, "a/b", true), "{expression}");
            assert!(!accepts_in(expression, "a/b", false), "{expression}");
        }
    }

    #[test]
    fn expression_malformed_or_unknown_refused() {
        for (text, why) in [
            ("[]", "an expression term has no name"),
            ("[1]", "an expression term has no name"),
            (r#"["pcre", "a"]"#, "unknown expression term 'pcre'"),
            (r#"["allof", ["pcre", "a"]]"#, "unknown expression term 'pcre'"),
            (r#"["not"]"#, "invalid arguments of the expression term 'not'"),
            (r#"["type", "x"]"#, "invalid arguments of the expression term 'type'"),
            (r#"["name", 1]"#, "invalid arguments of the expression term 'name'"),
            (r#"["size", "eq", -1]"#, "invalid arguments of the expression term 'size'"),
            (
                r#"["dirname", "a", ["depth"]]"#,
                "invalid arguments of the expression term 'dirname'",
            ),
            (r#"["suffix", {}]"#, "a suffix is not a string"),
        ] {
            let value = Value::from_json(text.as_bytes()).unwrap();
            assert_eq!(Expression::parse(&value, false).unwrap_err(), why, "{text}");
        }
        let glob = Value::from_json(br#"["match", "[a"]"#).unwrap();
        assert!(Expression::parse(&glob, false).unwrap_err().contains("[a"));
    }
}
