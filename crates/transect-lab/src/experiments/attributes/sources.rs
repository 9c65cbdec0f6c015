//! Files of real builds: compile databases, and the `.d` files that compilers write.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::spec::attributes::Source;

impl Source {
    /// Returns the paths in it, in order, with duplicates.
    ///
    /// # Errors
    /// The source cannot be read, or contains no paths; the reason in one line.
    pub fn paths(&self) -> Result<Vec<PathBuf>, String> {
        let (from, paths) = match self {
            Self::CompileDatabase(file) => {
                let text =
                    transect_sys::input::read_regular_text(file).map_err(|e| failed(file, &e))?;
                (file, compile_database(&text).map_err(|why| in_file(file, &why))?)
            }
            Self::DepInfo(folder) => (folder, of_folder(folder)?),
        };
        if paths.is_empty() { Err(in_file(from, "it names no file")) } else { Ok(paths) }
    }
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    in_file(path, &transect::reason(error))
}

fn in_file(path: &Path, why: &str) -> String {
    format!("cannot use '{}': {why}", path.display())
}

/// One command of a compile database.
#[derive(Deserialize)]
struct Command {
    directory: PathBuf,
    file: PathBuf,
    output: Option<PathBuf>,
}

/// Returns the files of a compile database: the source and the output of each command.
///
/// # Errors
/// The text is not a compile database.
fn compile_database(text: &str) -> Result<Vec<PathBuf>, String> {
    let commands: Vec<Command> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let files = commands.into_iter().flat_map(|Command { directory, file, output }| {
        let files = std::iter::once(file).chain(output);
        files.map(move |file| directory.join(file)).collect::<Vec<_>>()
    });
    Ok(files.collect())
}

/// Returns the paths in all `.d` files in and below a directory. Relative paths are relative to the current
/// directory, in which the compilers were started.
fn of_folder(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let here = std::env::current_dir().map_err(|error| transect::reason(&error))?;
    let mut files = BTreeSet::new();
    find(folder, &mut files).map_err(|error| failed(folder, &error))?;
    let mut paths = Vec::new();
    for file in files {
        // Today's compilers do not write `.d` files that are not UTF-8.
        let text =
            transect_sys::input::read_regular_text(&file).map_err(|error| failed(&file, &error))?;
        paths.extend(dep_info(&text).into_iter().map(|path| here.join(path)));
    }
    Ok(paths)
}

#[expect(clippy::disallowed_methods, reason = "a directory of a build, not a tree to be measured")]
fn find(folder: &Path, files: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "d") {
            files.insert(path);
        }
    }
    Ok(())
}

/// Returns the dependencies of the first rule of a `.d` file; other rules have the same or none.
fn dep_info(text: &str) -> Vec<PathBuf> {
    let mut rules = text.split_inclusive('\n');
    let mut rule = String::new();
    for line in &mut rules {
        match line.trim_end().strip_suffix('\\') {
            Some(line) => rule += line,
            None => {
                rule += line.trim_end();
                if rule.contains(": ") {
                    break;
                }
                rule.clear();
            }
        }
    }
    let Some((_, files)) = rule.split_once(": ") else { return Vec::new() };
    let (mut paths, mut path) = (Vec::new(), String::new());
    let mut chars = files.chars().peekable();
    while let Some(character) = chars.next() {
        match character {
            '\\' if chars.peek() == Some(&' ') => path.extend(chars.next()),
            ' ' if path.is_empty() => {}
            ' ' => paths.push(PathBuf::from(std::mem::take(&mut path))),
            other => path.push(other),
        }
    }
    if !path.is_empty() {
        paths.push(PathBuf::from(path));
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    fn compile_database_has_sources_and_outputs() {
        let text = r#"[{"directory": "/build", "file": "../src/a.c", "command": "cc a.c"},
            {"directory": "/build", "file": "/src/b.c", "arguments": ["cc"], "output": "b.o"}]"#;
        let expected = ["/build/../src/a.c", "/src/b.c", "/build/b.o"].map(PathBuf::from);
        assert_eq!(compile_database(text).unwrap(), expected);
        assert!(compile_database("{}").is_err());
        let temp = TempDir::new();
        std::fs::write(temp.join("compile_commands.json"), "[]").unwrap();
        let source = Source::CompileDatabase(temp.join("compile_commands.json"));
        assert!(source.paths().unwrap_err().ends_with("it names no file"));
    }

    #[test]
    fn dep_info_has_dependencies_of_first_rule() {
        for (text, expected) in [
            ("/t/a.d: src/lib.rs src/b.rs\n\nsrc/lib.rs:\n", vec!["src/lib.rs", "src/b.rs"]),
            (
                "a.o: a.c \\\n  /usr/include/b\\ c.h \\\n d.h\n",
                vec!["a.c", "/usr/include/b c.h", "d.h"],
            ),
            ("", vec![]),
            ("a:\n", vec![]),
        ] {
            let expected: Vec<PathBuf> = expected.into_iter().map(PathBuf::from).collect();
            assert_eq!(dep_info(text), expected, "{text}");
        }
    }

    #[test]
    fn dep_info_files_found_in_and_below_folder() {
        let temp = TempDir::new();
        std::fs::create_dir(temp.join("deps")).unwrap();
        std::fs::write(temp.join("deps/a.d"), "a: /src/a.rs\n").unwrap();
        std::fs::write(temp.join("b.d"), "b: /src/b.rs\n").unwrap();
        std::fs::write(temp.join("c.o"), "c: /src/c.rs\n").unwrap();
        let source = Source::DepInfo(temp.path().to_owned());
        // On Windows, these paths are on the current drive.
        let expected = ["/src/b.rs", "/src/a.rs"].map(|path| std::path::absolute(path).unwrap());
        assert_eq!(source.paths().unwrap(), expected);
        assert!(Source::DepInfo(temp.join("none")).paths().is_err());
    }
}
