//! What can be made again, or was thrown away: entries found by rules in a text file.

mod pattern;

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::Path;

use transect::FileType;
use transect::table::{Row, Table};
use transect_program::{CliError, user_dirs};
use transect_sys::input::{open_regular, read_regular_text};
use transect_sys::private_dir::{self, OtherUsers};

use pattern::Pattern;

const RULES: &str = include_str!("rules.txt");

/// The kind of entries that are of no kind, by a rule of the user.
const NONE: &str = "none";

/// A directory is a cache only if this file in it begins with the signature (<https://bford.info/cachedir/>).
const CACHE_TAG: &str = "CACHEDIR.TAG";
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// The rules, in their order.
#[derive(Debug)]
pub(crate) struct Kinds(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    kind: String,
    /// The last names of the path, the last one first.
    place: Vec<Pattern>,
    is_directory: bool,
    evidence: Option<Evidence>,
}

/// What must exist, too.
#[derive(Debug)]
enum Evidence {
    Beside(Pattern),
    With(OsString),
}

impl Kinds {
    /// Loads the rules of the user and ours.
    ///
    /// # Errors
    /// The user's file cannot be read, other users can write to its directory, or a line is no rule.
    pub(crate) fn load() -> Result<Self, CliError> {
        let mut rules = Vec::new();
        if let Ok(file) = user_dirs::CONFIG.path("kinds") {
            let failed = |why: String| CliError::Failed(format!("'{}': {why}", file.display()));
            let text = read(&file).map_err(|error| failed(transect::reason(&error)))?;
            rules = parse(&text.unwrap_or_default()).map_err(failed)?;
        }
        rules.extend(parse(RULES).expect("BUG: a rule of ours is wrong"));
        Ok(Self(rules))
    }

    /// Returns the names of all kinds, each once.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for rule in &self.0 {
            if rule.kind != NONE && !names.contains(&rule.kind.as_str()) {
                names.push(&rule.kind);
            }
        }
        names
    }

    /// Calls `visit` with every entry of a table in tree order, and its kind. Below one that has a kind, nothing is
    /// visited.
    pub(crate) fn each<'k>(&'k self, table: &Table, mut visit: impl FnMut(Row, Option<&'k str>)) {
        let mut order = table.in_tree_order();
        let mut enters = true;
        while order.advance(enters) {
            let row = order.row();
            // A root was named by the user: it stays.
            let kind = if order.depth() > 0 { self.of(table, row) } else { None };
            enters = kind.is_none();
            visit(row, kind);
        }
    }

    fn of(&self, table: &Table, row: Row) -> Option<&str> {
        let is_directory = table.file_type(row) == FileType::Directory;
        if !is_directory && table.file_type(row) != FileType::File {
            return None;
        }
        let name = table.name(row);
        let fits = |rule: &&Rule| {
            rule.is_directory == is_directory
                && rule.place[0].matches(name)
                && ends_with(table, row, &rule.place)
                && rule.evidence.as_ref().is_none_or(|evidence| evidence.exists(table, row))
        };
        let rule = self.0.iter().find(fits)?;
        (rule.kind != NONE).then_some(&*rule.kind)
    }
}

impl Evidence {
    fn exists(&self, table: &Table, row: Row) -> bool {
        match self {
            Self::Beside(name) => table.parent(row).is_some_and(|parent| match name.literal() {
                Some(name) => table.child(parent, name).is_some(),
                None => table.children(parent).any(|row| name.matches(table.name(row))),
            }),
            Self::With(name) => {
                let Some(there) = table.child(row, name) else { return false };
                name != CACHE_TAG || is_cache_tag(&table.path(there))
            }
        }
    }
}

fn is_cache_tag(path: &Path) -> bool {
    let mut start = [0; CACHE_SIGNATURE.len()];
    let read = open_regular(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == CACHE_SIGNATURE
}

/// Returns whether the path of an entry ends with these names, given in reverse.
fn ends_with(table: &Table, row: Row, place: &[Pattern]) -> bool {
    let mut row = row;
    for (index, pattern) in place.iter().enumerate() {
        let Some(parent) = table.parent(row) else {
            // The names of a root are those of its whole path.
            let path = std::path::absolute(table.name(row)).unwrap_or_default();
            let mut names = path.components().rev().map(|part| part.as_os_str());
            return place[index..]
                .iter()
                .all(|it| names.next().is_some_and(|name| it.matches(name)));
        };
        if !pattern.matches(table.name(row)) {
            return false;
        }
        row = parent;
    }
    true
}

/// Reads the rules of the user; `None` without a file.
fn read(file: &Path) -> io::Result<Option<String>> {
    let directory = file.parent().unwrap_or(file);
    if !private_dir::exists(directory, OtherUsers::ReadOnly)? {
        return Ok(None);
    }
    match read_regular_text(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

fn parse(text: &str) -> Result<Vec<Rule>, String> {
    let lines = text.lines().enumerate();
    let rules = lines.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    rules
        .map(|(index, line)| {
            let words: Vec<&str> = line.split_whitespace().collect();
            rule(&words).ok_or_else(|| {
                let mut error = format!("line {}: ", index + 1);
                let _ =
                    write!(error, "expected KIND PLACE [beside NAME | with NAME], not '{line}'");
                error
            })
        })
        .collect()
}

fn rule(words: &[&str]) -> Option<Rule> {
    let (&[kind, place], evidence) = words.split_first_chunk()?;
    let evidence = match *evidence {
        [] => None,
        ["beside", name] => Some(Evidence::Beside(Pattern::new(name))),
        ["with", name] => Some(Evidence::With(OsStr::new(name).to_owned())),
        _ => return None,
    };
    let names = place.strip_suffix('/').unwrap_or(place);
    if names.split('/').any(str::is_empty) {
        return None;
    }
    Some(Rule {
        kind: kind.to_owned(),
        place: names.rsplit('/').map(Pattern::new).collect(),
        is_directory: place.ends_with('/'),
        evidence,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    /// Returns the entries of a tree that have a kind. Names that end in / are directories.
    fn found(rules: &str, entries: &[&str]) -> Vec<String> {
        let temp = TempDir::new();
        for entry in entries {
            let path = temp.join(entry);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match entry.ends_with('/') {
                true => std::fs::create_dir_all(&path).unwrap(),
                false => std::fs::write(&path, CACHE_SIGNATURE).unwrap(),
            }
        }
        let table = Table::read(temp.path()).unwrap();
        let mut found = Vec::new();
        Kinds(parse(rules).unwrap()).each(&table, |row, kind| {
            if let Some(kind) = kind {
                let path = table.path(row);
                let path = path.strip_prefix(temp.path()).unwrap().display().to_string();
                found.push(format!("{kind} {}", path.replace('\\', "/")));
            }
        });
        found
    }

    #[test]
    fn our_rules_find_what_can_be_made_again() {
        let entries = [
            "rust/Cargo.toml",
            "rust/target/debug/program",
            "target/kept",
            "web/package.json",
            "web/node_modules/a/node_modules/b/file",
            "web/node_modules/a/package.json",
            "node_modules/kept",
            "net/it.csproj",
            "net/obj/file",
            ".cache/pip/file",
            ".cache/other/file",
            ".cache/loose",
            "tagged/CACHEDIR.TAG",
            "var/log/syslog.1.gz",
            "var/log/syslog",
            "app/x.log.1",
            "app/x.log",
            ".local/share/Trash/files/gone",
        ];
        let expected = [
            "packages .cache/pip",
            "cache .cache/other",
            "trash .local/share/Trash",
            "logs app/x.log.1",
            "build net/obj",
            "build rust/target",
            "cache tagged",
            "logs var/log/syslog.1.gz",
            "packages web/node_modules",
        ];
        let mut found = found(RULES, &entries);
        found.sort();
        let mut expected = expected.map(str::to_owned);
        expected.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_first_rule_decides() {
        let rules = "none a/\nmine */ beside x\n# comment\n\n";
        assert_eq!(found(rules, &["x", "a/b", "c/d"]), ["mine c"]);
        // Below an entry of no kind, others may have one.
        assert_eq!(found("none a/\nmine b/", &["a/b/c"]), ["mine a/b"]);
        assert_eq!(found("mine a", &["a/b"]), Vec::<String>::new());
    }

    #[test]
    fn a_tag_needs_the_signature() {
        let temp = TempDir::new();
        std::fs::create_dir(temp.join("d")).unwrap();
        std::fs::write(temp.join("d/CACHEDIR.TAG"), "Signature: other").unwrap();
        let table = Table::read(temp.path()).unwrap();
        let kinds = Kinds(parse("cache */ with CACHEDIR.TAG").unwrap());
        kinds.each(&table, |_, kind| assert_eq!(kind, None));
    }

    #[test]
    fn wrong_rules_are_named() {
        for wrong in ["build", "build a/ near b", "build a/ beside", "build a//b", "build /"] {
            let error = parse(&format!("# first\n{wrong}")).unwrap_err();
            assert!(error.starts_with("line 2: expected KIND PLACE") && error.contains(wrong));
        }
    }
}
