//! Contenders: other implementations of the work, in other languages (`contenders/README.md`).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use transect_sys::private_dir::{self, OtherUsers};

use crate::harness::launch::{self, is_on_path};

/// File name of a contender's manifest.
const MANIFEST: &str = "contender.toml";

/// A contender, read from its manifest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// Its name, which is that of its folder.
    pub name: String,
    /// Its programming language.
    pub language: String,
    /// One-line description.
    pub about: String,
    /// Its task.
    #[serde(default)]
    pub task: Task,
    /// Programs needed to build and run it.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The command that installs them.
    pub install: String,
    /// Build commands; `{out}` is the output folder.
    #[serde(default)]
    build: Vec<Vec<String>>,
    /// Run command; `{out}`, `{method}` and the placeholders of its [`Task`] are replaced.
    run: Vec<String>,
    /// Command that walks once and prints the digest of the tree as well, outside of all timed runs;
    /// placeholders as in `run`, without `{runs}`. Without it, only sums are compared.
    #[serde(default)]
    check: Option<Vec<String>>,
    /// Its methods.
    #[serde(rename = "method")]
    pub methods: Vec<ContenderMethod>,
    /// Whether it misbehaves on purpose, for the tests of the lab.
    #[serde(default)]
    pub test_double: bool,
    /// Folder of its sources.
    #[serde(skip)]
    folder: PathBuf,
}

/// The task of a contender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Walks the tree `{root}`, `{runs}` times.
    #[default]
    Enumerate,
    /// Transforms a file once: `{input}`, `{output}`, `{block}`, `{kind}`, `{sync}`, `{hint}`.
    Transform,
    /// Queries the attributes listed in the file `{questions}`.
    Attributes,
}

/// A method of a contender.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContenderMethod {
    /// Its name, unique in the lab.
    pub name: String,
    /// The rows of the seed contract that it implements.
    #[serde(default)]
    pub contract: Vec<String>,
    /// One-line description.
    pub about: String,
    /// Whether it uses several threads. A walk is then compared with the parallel floor.
    #[serde(default)]
    pub parallel: bool,
    /// Whether quick sessions include it. False for methods much slower than others of the same language,
    /// and for variants of others.
    #[serde(default = "default_true")]
    pub quick: bool,
    /// The kinds of transform, or attribute tasks, that it supports.
    #[serde(default = "default_kinds")]
    pub kinds: Vec<String>,
    /// Whether it accepts a block size.
    #[serde(default = "default_true")]
    pub block: bool,
    /// Whether it supports the sequential-access hint.
    #[serde(default)]
    pub hint: bool,
    /// The transform floors of which it has to be slower than at least one.
    #[serde(default)]
    pub floors: Vec<String>,
}

fn default_true() -> bool {
    true
}

fn default_kinds() -> Vec<String> {
    vec!["copy".to_owned()]
}

impl Contender {
    /// Loads the contenders of a folder, sorted by name, and the errors of those that cannot be read.
    pub fn load_all(folder: &Path) -> (Vec<Self>, Vec<String>) {
        let (mut contenders, mut wrong) = (Vec::new(), Vec::new());
        for entry in entries(folder) {
            let file = entry.join(MANIFEST);
            if !file.is_file() {
                continue;
            }
            match Self::read(&file, entry) {
                Ok(contender) => contenders.push(contender),
                Err(reason) => wrong.push(format!("cannot read '{}': {reason}", file.display())),
            }
        }
        contenders.sort_by(|a, b| a.name.cmp(&b.name));
        (contenders, wrong)
    }

    fn read(file: &Path, folder: PathBuf) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| transect::reason(&error))?;
        let mut contender: Self =
            toml::from_str(&text).map_err(|error| error.message().to_owned())?;
        if contender.run.is_empty() {
            return Err("nothing runs it".to_owned());
        }
        if contender.check.as_ref().is_some_and(Vec::is_empty) {
            return Err("its check is empty".to_owned());
        }
        contender.folder = folder.canonicalize().map_err(|error| transect::reason(&error))?;
        Ok(contender)
    }

    /// Returns why it cannot run on this machine and what to install; `None` if it can run.
    pub fn unavailable_reason(&self) -> Option<String> {
        let missing: Vec<&str> =
            self.needs.iter().map(String::as_str).filter(|program| !is_on_path(program)).collect();
        let needs = missing.join(", ");
        (!missing.is_empty()).then(|| format!("needs {needs}: {}", self.install))
    }

    /// Builds it below `cache`, unless the same sources were built there before, and returns the output
    /// folder. `cache` has to be a private folder, as the program runs from there; it is created if
    /// missing.
    ///
    /// # Errors
    /// `cache` is not private, a build command fails, or a system call fails.
    pub fn build(&self, cache: &Path) -> Result<PathBuf, String> {
        let system = |error: std::io::Error| transect::reason(&error);
        private_dir::create_all(cache, OtherUsers::ReadOnly)
            .map_err(|refused| system(refused.into()))?;
        let out = cache.join(format!("{}-{:016x}", self.name, self.fingerprint()));
        if out.is_dir() {
            return Ok(out);
        }
        // Renamed to its final name when it is complete.
        let new = cache.join(format!("{}-{}.new", self.name, std::process::id()));
        std::fs::create_dir_all(&new).map_err(system)?;
        let built = self.build.iter().try_for_each(|step| {
            let mut words = step.iter().map(|word| expand(word, &[("out", &new)]));
            let mut command = Command::new(words.next().ok_or("an empty step")?);
            command.args(words).current_dir(&self.folder);
            launch::succeeds(command)
        });
        if let Err(reason) = built {
            let _ = std::fs::remove_dir_all(&new);
            return Err(reason);
        }
        match std::fs::rename(&new, &out) {
            Err(_) if out.is_dir() => Ok(out), // another process was faster
            Err(error) => Err(system(error)),
            Ok(()) => Ok(out),
        }
    }

    /// Returns the command of one of its walking methods.
    pub fn command(&self, out: &Path, method: &str, root: &Path, runs: usize) -> Command {
        let runs = runs.to_string();
        self.command_with(out, method, &[("root", root), ("runs", runs.as_ref())])
    }

    /// Returns the command that walks once and prints the digest of the tree; `None` if it has none.
    pub fn check_command(&self, out: &Path, method: &str, root: &Path) -> Option<Command> {
        let values: [(&str, &Path); 3] =
            [("out", out), ("method", method.as_ref()), ("root", root)];
        self.check.as_ref().map(|words| self.expanded(words, &values))
    }

    /// Returns whether it can prove its work by a digest.
    pub fn has_check(&self) -> bool {
        self.check.is_some()
    }

    /// Returns the command of one of its methods, with the values of its task's placeholders.
    pub(crate) fn command_with(
        &self,
        out: &Path,
        method: &str,
        values: &[(&str, &Path)],
    ) -> Command {
        let common: [(&str, &Path); 2] = [("out", out), ("method", method.as_ref())];
        let values: Vec<(&str, &Path)> = common.iter().chain(values).copied().collect();
        self.expanded(&self.run, &values)
    }

    fn expanded(&self, words: &[String], values: &[(&str, &Path)]) -> Command {
        let mut words = words.iter().map(|word| expand(word, values));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(&self.folder);
        command
    }

    /// Returns a hash of its sources and manifest.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for path in entries(&folder) {
                path.hash(&mut hasher);
                match std::fs::read(&path) {
                    Ok(content) => content.hash(&mut hasher),
                    Err(_) => folders.push(path),
                }
            }
        }
        hasher.finish()
    }
}

/// Returns the paths in a folder, sorted.
#[expect(clippy::disallowed_methods, reason = "a folder of sources, not a tree to be measured")]
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Replaces each `{name}` in a word by its path, which need not be UTF-8.
pub(crate) fn expand(word: &str, values: &[(&str, &Path)]) -> std::ffi::OsString {
    let mut replaced = std::ffi::OsString::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        replaced.push(before);
        let value = after.split_once('}').and_then(|(name, after)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, after))
        });
        match value {
            Some((value, after)) => {
                replaced.push(value);
                rest = after;
            }
            None => {
                replaced.push("{");
                rest = after;
            }
        }
    }
    replaced.push(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expand_replaces_known_placeholders_only() {
        let values: [(&str, &Path); 2] = [("out", Path::new("/o")), ("root", Path::new("/{out}"))];
        for (word, expected) in [
            ("{out}/walk", "/o/walk"),
            ("-I{out}:{root}", "-I/o:/{out}"),
            ("{unknown} {", "{unknown} {"),
            ("plain", "plain"),
        ] {
            assert_eq!(expand(word, &values), expected, "{word}");
        }
    }

    #[test]
    fn manifest_with_unknown_key_refused() {
        let text = "name='a'\nlanguage='C'\nabout='x'\ninstall='y'\nrun=['z']\nmethod=[]\nspeed=9";
        assert!(toml::from_str::<Contender>(text).is_err());
        assert!(toml::from_str::<Contender>(text.trim_end_matches("\nspeed=9")).is_ok());
    }
}
