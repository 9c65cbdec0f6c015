//! Contenders: rival ways of doing the work, in their own languages (`contenders/README.md`).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use transect_sys::private_dir::{self, OtherUsers};

use crate::harness::launch;

/// The file that describes a contender.
const MANIFEST: &str = "contender.toml";

/// A contender as it describes itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// Its name: that of its folder.
    pub name: String,
    /// The language it is written in.
    pub language: String,
    /// What it is, in one line.
    pub about: String,
    /// What it does.
    #[serde(default)]
    pub task: Task,
    /// Programs that it takes to build and run it.
    #[serde(default)]
    pub needs: Vec<String>,
    /// How to get them.
    pub install: String,
    /// The steps that build it; `{out}` is the folder to build into.
    #[serde(default)]
    build: Vec<Vec<String>>,
    /// What runs it; `{out}`, `{method}` and what its task has beyond that are replaced.
    run: Vec<String>,
    /// Its methods.
    #[serde(rename = "method")]
    pub methods: Vec<ContenderMethod>,
    /// It does something wrong, on purpose: only for the tests of the lab.
    #[serde(default)]
    pub test_double: bool,
    /// Where its sources are.
    #[serde(skip)]
    folder: PathBuf,
}

/// What a contender does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// It walks a tree: `{root}`, so many times: `{runs}`.
    #[default]
    Enumerate,
    /// It makes an output of an input, once: `{input}`, `{output}`, `{block}`, `{kind}`, `{sync}`,
    /// `{hint}`.
    Transform,
    /// It asks what a file says: `{questions}`.
    Attributes,
}

/// A method of a contender.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContenderMethod {
    /// Its name, of which there is one in the lab.
    pub name: String,
    /// The rows of the contract that it is.
    #[serde(default)]
    pub contract: Vec<String>,
    /// What it does, in one line.
    pub about: String,
    /// It works on several threads. A walk is measured against the floor that does.
    #[serde(default)]
    pub parallel: bool,
    /// It takes part in a quick session, too; not where it is much slower than its language's others,
    /// or another form of one of them.
    #[serde(default = "default_true")]
    pub quick: bool,
    /// What it can do with the bytes of a file, or be asked.
    #[serde(default = "default_kinds")]
    pub kinds: Vec<String>,
    /// It can be told how much of a file to read and write at once.
    #[serde(default = "default_true")]
    pub block: bool,
    /// It can tell the system that a file is read from its beginning to its end.
    #[serde(default)]
    pub hint: bool,
    /// The floors of file transforms that it cannot be below all at once.
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
    /// Reads the contenders of a folder, by name; those that cannot be read with the reason.
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
        contender.folder = folder.canonicalize().map_err(|error| transect::reason(&error))?;
        Ok(contender)
    }

    /// Returns why it cannot run here, if it cannot, and what would help.
    pub fn unavailable_reason(&self) -> Option<String> {
        let missing: Vec<&str> =
            self.needs.iter().map(String::as_str).filter(|program| !is_on_path(program)).collect();
        let needs = missing.join(", ");
        (!missing.is_empty()).then(|| format!("needs {needs}: {}", self.install))
    }

    /// Builds it below `cache`, unless these very sources were built there before, and returns the
    /// folder that holds the result. As it is run from there, `cache` has to be a private folder; it
    /// is created if it is missing.
    ///
    /// # Errors
    /// `cache` is not private, what a step said, or the system.
    pub fn build(&self, cache: &Path) -> Result<PathBuf, String> {
        let system = |error: std::io::Error| transect::reason(&error);
        private_dir::create_all(cache, OtherUsers::ReadOnly)
            .map_err(|refused| system(refused.into()))?;
        let out = cache.join(format!("{}-{:016x}", self.name, self.fingerprint()));
        if out.is_dir() {
            return Ok(out);
        }
        // Under its final name only when it is complete.
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
            Err(_) if out.is_dir() => Ok(out), // somebody else was faster
            Err(error) => Err(system(error)),
            Ok(()) => Ok(out),
        }
    }

    /// Returns what makes a process of one of its methods that walk.
    pub fn command(&self, out: &Path, method: &str, root: &Path, runs: usize) -> Command {
        let runs = runs.to_string();
        self.command_with(out, method, &[("root", root), ("runs", runs.as_ref())])
    }

    /// Returns what makes a process of one of its methods, with the values of its task.
    pub(crate) fn command_with(
        &self,
        out: &Path,
        method: &str,
        values: &[(&str, &Path)],
    ) -> Command {
        let common: [(&str, &Path); 2] = [("out", out), ("method", method.as_ref())];
        let values: Vec<(&str, &Path)> = common.iter().chain(values).copied().collect();
        let mut words = self.run.iter().map(|word| expand(word, &values));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(&self.folder);
        command
    }

    /// Returns a number that changes when a source or the description does.
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

/// Returns the paths of what is in a folder, sorted.
#[expect(clippy::disallowed_methods, reason = "a folder of sources, not a tree to be measured")]
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Replaces `{name}` in a word by a path, which may be no text.
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

/// Returns whether a program can be started by its name.
pub(crate) fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        folder.join(program).is_file() || folder.join(format!("{program}.exe")).is_file()
    })
}

/// Returns whether a program can be started, by its name or by its path.
pub fn can_start(program: &str) -> bool {
    is_on_path(program)
        || (program.contains(std::path::is_separator) && Path::new(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_replaced_by_paths_and_nothing_else() {
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
    fn a_description_with_an_unknown_key_is_refused() {
        let text = "name='a'\nlanguage='C'\nabout='x'\ninstall='y'\nrun=['z']\nmethod=[]\nspeed=9";
        assert!(toml::from_str::<Contender>(text).is_err());
        assert!(toml::from_str::<Contender>(text.trim_end_matches("\nspeed=9")).is_ok());
    }
}
