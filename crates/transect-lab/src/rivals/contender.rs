//! Contenders: other implementations of the work, in other languages (`contenders/README.md`).

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use transect_sys::input::{read_regular, read_regular_text};

use crate::harness::launch::{self, can_start};
use crate::rivals::builtin::{directory_in, sources};
use crate::rivals::external::External;
use crate::spec::CodeLength;

const MANIFEST: &str = "contender.toml";

const BUILD_SCRIPT: &str = "build.sh";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// Its name, which is that of its directory.
    pub name: String,
    pub language: String,
    pub about: String,
    #[serde(default)]
    pub task: Task,
    /// Programs needed to build and run it.
    #[serde(default)]
    pub needs: Vec<String>,
    pub install: String,
    /// The only systems that have what it uses; without it, all.
    #[serde(default)]
    only: Option<SystemFamily>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// How it is built and run on Windows, by toolchain: the first that is installed. Without one, as on other
    /// systems.
    #[serde(default)]
    windows: Vec<Toolchain>,
    #[serde(default)]
    install_windows: Option<String>,
    /// Build commands; `{out}` is the output directory.
    #[serde(default)]
    build: Vec<Vec<String>>,
    /// Source files outside of its directory, relative to it.
    #[serde(default)]
    sources: Vec<PathBuf>,
    /// Run command; `{out}`, `{method}` and the placeholders of its [`Task`] are replaced.
    run: Vec<String>,
    /// Command that walks once and prints the digest of the tree as well, outside of all timed runs;
    /// placeholders as in `run`, without `{runs}`. Without it, only sums are compared.
    #[serde(default)]
    check: Option<Vec<String>>,
    #[serde(rename = "method")]
    pub methods: Vec<ContenderMethod>,
    /// Whether it misbehaves on purpose, for the tests of the lab.
    #[serde(default)]
    pub test_double: bool,
    #[serde(skip)]
    folder: PathBuf,
    /// What could be installed instead of what it needs: the programs of other toolchains.
    #[serde(skip)]
    alternatives: Vec<String>,
    /// Why it cannot run on this system, whatever is installed.
    #[serde(skip)]
    elsewhere: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SystemFamily {
    Unix,
    Windows,
}

/// A way to build and to run a contender on Windows. `{windir}` in a word is the directory of Windows. What is
/// missing is as on other systems.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Toolchain {
    needs: Vec<String>,
    #[serde(default)]
    build: Vec<Vec<String>>,
    #[serde(default)]
    run: Option<Vec<String>>,
    #[serde(default)]
    check: Option<Vec<String>>,
}

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

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContenderMethod {
    /// Its name, unique in the lab.
    pub name: String,
    /// The rows of the seed contract that it implements.
    #[serde(default)]
    pub contract: Vec<String>,
    pub about: String,
    /// The functions that do its work, whose lines are the length of its code; empty for all of its contender.
    #[serde(default)]
    pub functions: Vec<String>,
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
    #[serde(default = "default_true")]
    pub block: bool,
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
    /// Loads the contenders of a directory, sorted by name, and the errors of those that cannot be read. Test
    /// doubles are excluded unless `test_doubles` is set.
    ///
    /// The caller must trust the directory: commands in a contender's description are executed.
    pub fn load_all(folder: &Path, test_doubles: bool) -> (Vec<Self>, Vec<String>) {
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
        contenders.retain(|contender| test_doubles || !contender.test_double);
        contenders.sort_by(|a, b| a.name.cmp(&b.name));
        leave_out_twins(&mut contenders);
        (contenders, wrong)
    }

    /// Returns the descriptions of the built-in contenders, of which none is unpacked: they cannot be run.
    pub fn descriptions() -> Vec<Self> {
        let manifests = sources().iter().filter(|(path, _)| path.ends_with(MANIFEST));
        let parsed =
            manifests.map(|(_, text)| toml::from_str(text).expect("BUG: a wrong manifest"));
        parsed.filter(|contender: &Self| !contender.test_double).collect()
    }

    fn read(file: &Path, folder: PathBuf) -> Result<Self, String> {
        let text = read_regular_text(file).map_err(|error| transect::reason(&error))?;
        let mut contender: Self =
            toml::from_str(&text).map_err(|error| error.message().to_owned())?;
        if contender.run.is_empty() {
            return Err("nothing runs it".to_owned());
        }
        if contender.check.as_ref().is_some_and(Vec::is_empty) {
            return Err("its check is empty".to_owned());
        }
        contender.folder = folder.canonicalize().map_err(|error| transect::reason(&error))?;
        if cfg!(windows) {
            // Compilers do not accept verbatim paths.
            contender.folder =
                std::path::absolute(folder).map_err(|error| transect::reason(&error))?;
            contender.use_toolchain(can_start);
        }
        contender.elsewhere = match contender.only {
            Some(SystemFamily::Unix) if !cfg!(unix) => Some("uses calls of Unix".to_owned()),
            Some(SystemFamily::Windows) if !cfg!(windows) => Some("only on Windows".to_owned()),
            _ => None,
        };
        Ok(contender)
    }

    /// Takes what it needs, its build and its commands from the first toolchain for Windows whose programs can
    /// be started; if there is none, from the first.
    fn use_toolchain(&mut self, can_start: impl Fn(&str) -> bool) {
        self.install = self.install_windows.take().unwrap_or_else(|| self.install.clone());
        let folder = std::env::var("WINDIR").unwrap_or_else(|_| r"C:\Windows".to_owned());
        let words = |words: Vec<String>| -> Vec<String> {
            words.into_iter().map(|word| word.replace("{windir}", &folder)).collect()
        };
        let mut toolchains = std::mem::take(&mut self.windows);
        for toolchain in &mut toolchains {
            toolchain.needs = words(std::mem::take(&mut toolchain.needs));
        }
        let is_here =
            |toolchain: &Toolchain| toolchain.needs.iter().all(|program| can_start(program));
        let Some(chosen) =
            toolchains.iter().position(is_here).or((!toolchains.is_empty()).then_some(0))
        else {
            return;
        };
        let others = toolchains.iter().enumerate().filter(|&(at, _)| at != chosen);
        self.alternatives = others.map(|(_, other)| other.needs.join(" and ")).collect();
        let Toolchain { needs, build, run, check } = toolchains.swap_remove(chosen);
        self.needs = needs;
        self.build = build.into_iter().map(words).collect();
        self.run = run.map_or_else(|| self.run.clone(), words);
        // An empty one means that the digest is not the same on Windows.
        self.check = check.map(words).or_else(|| self.check.clone()).filter(|it| !it.is_empty());
    }

    pub fn is_of_this_system(&self) -> bool {
        self.elsewhere.is_none()
    }

    /// Returns why it cannot run on this machine and what to install; `None` if it can run.
    pub fn unavailable_reason(&self) -> Option<String> {
        if self.elsewhere.is_some() {
            return self.elsewhere.clone();
        }
        let missing: Vec<&str> =
            self.needs.iter().map(String::as_str).filter(|program| !can_start(program)).collect();
        let needs = missing.join(", ");
        let or: String = self.alternatives.iter().map(|other| format!(", or {other}")).collect();
        (!missing.is_empty()).then(|| format!("needs {needs}{or}: {}", self.install))
    }

    /// Builds it below `cache`, a private directory, unless the same sources were built there before, and returns the
    /// output directory.
    ///
    /// # Errors
    /// `cache` is not private, a build command fails, or a system call fails.
    pub fn build(&self, cache: &Path) -> Result<PathBuf, String> {
        let name = format!("{}-{:016x}", self.name, self.fingerprint());
        let built = directory_in(cache, &name, |new| {
            self.build.iter().try_for_each(|step| {
                if step.is_empty() {
                    return Err(io::Error::other("an empty step"));
                }
                launch::succeeds(self.expanded(step, &[("out", new)])).map_err(io::Error::other)
            })
        });
        built.map_err(|error| transect::reason(&error))
    }

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
        let values: Vec<(&str, &Path)> =
            values.iter().map(|&(name, value)| (name, without_verbatim_prefix(value))).collect();
        let mut command = External::command(words, &values);
        command.current_dir(&self.folder).envs(&self.environment);
        command
    }

    /// Returns the length of the code of a method. Scripts that build it do not count.
    pub fn code_length(&self, method: &str) -> CodeLength {
        let method = self.methods.iter().find(|known| known.name == method);
        let functions = method.map_or(&[][..], |method| &method.functions);
        let mut length = CodeLength::default();
        let own = entries(&self.folder).into_iter().chain(self.other_sources());
        own.filter(|path| !path.ends_with(BUILD_SCRIPT))
            .for_each(|path| length.add(&path, functions));
        length
    }

    fn other_sources(&self) -> impl Iterator<Item = PathBuf> {
        self.sources.iter().map(|path| self.folder.join(path))
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.other_sources().for_each(|path| read_regular(&path).ok().hash(&mut hasher));
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for path in entries(&folder) {
                path.hash(&mut hasher);
                match read_regular(&path) {
                    Ok(content) => content.hash(&mut hasher),
                    Err(_) => folders.push(path),
                }
            }
        }
        hasher.finish()
    }
}

/// Removes methods of contenders of other systems that a contender of this system has, too.
fn leave_out_twins(contenders: &mut Vec<Contender>) {
    let here = contenders.iter().filter(|contender| contender.is_of_this_system());
    let names = here.flat_map(|contender| contender.methods.iter().map(|method| &method.name));
    let names: HashSet<String> = names.cloned().collect();
    for contender in contenders.iter_mut().filter(|contender| !contender.is_of_this_system()) {
        contender.methods.retain(|method| !names.contains(&method.name));
    }
    contenders.retain(|contender| !contender.methods.is_empty());
}

/// Returns a path without the prefix `\\\\?\\` that Windows gives to canonical paths, which many programs do not
/// accept. Unchanged if it needs the prefix.
fn without_verbatim_prefix(path: &Path) -> &Path {
    /// With room for a name: longer paths need the prefix.
    const MOST: usize = 200;
    let plain = path.to_str().and_then(|path| path.strip_prefix(r"\\?\"));
    let is_on_drive = |plain: &&str| plain.as_bytes().get(1) == Some(&b':') && plain.len() < MOST;
    plain.filter(is_on_drive).map_or(path, Path::new)
}

/// Returns the paths in a directory, sorted.
#[expect(clippy::disallowed_methods, reason = "a directory of sources, not a tree to be measured")]
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbatim_prefix_removed_only_where_it_is_not_needed() {
        let long = format!(r"\\?\C:\{}", "x".repeat(250));
        for (path, expected) in [
            (r"\\?\C:\a b\c", r"C:\a b\c"),
            (r"\\?\UNC\server\share", r"\\?\UNC\server\share"),
            (long.as_str(), long.as_str()),
            ("/a/b", "/a/b"),
        ] {
            assert_eq!(without_verbatim_prefix(Path::new(path)), Path::new(expected));
        }
    }

    #[test]
    fn first_installed_toolchain_of_windows_used() {
        let text = r#"
            name = "a"
            language = "C"
            about = "x"
            needs = ["gcc"]
            install = "apt-get install gcc"
            install_windows = "winget install gcc"
            build = [["gcc", "walk.c"]]
            run = ["{out}/walk", "{method}"]
            method = []
            [[windows]]
            needs = ["gcc"]
            build = [["gcc", "walk.c", "-municode"]]
            [[windows]]
            needs = ["{windir}/cl"]
            build = [["{windir}/cl", "/O2", "walk.c"]]
            run = ["{out}/walk.exe"]
        "#;
        let resolved = |here: &str| {
            let mut contender: Contender = toml::from_str(text).unwrap();
            contender.use_toolchain(|program| program.ends_with(here));
            (contender.needs.concat(), contender.build.concat().concat(), contender.run.concat())
        };
        let run = "{out}/walk{method}".to_owned();
        let of_gcc = ("gcc".to_owned(), "gccwalk.c-municode".to_owned(), run);
        assert_eq!(resolved("gcc"), of_gcc);
        let (needs, build, run) = resolved("/cl");
        assert!(needs.ends_with("/cl") && !needs.contains("{windir}"), "{needs}");
        assert_eq!((build, run), (format!("{needs}/O2walk.c"), "{out}/walk.exe".to_owned()));
        // The reason names the first.
        assert_eq!(resolved("nothing"), of_gcc);
        let mut contender: Contender = toml::from_str(text).unwrap();
        contender.use_toolchain(|_| false);
        contender.needs = vec!["nowhere-at-all".to_owned()];
        contender.alternatives = vec!["cl".to_owned()];
        let reason = "needs nowhere-at-all, or cl: winget install gcc";
        assert_eq!(contender.unavailable_reason().as_deref(), Some(reason));
    }

    #[test]
    fn contender_of_other_systems_unavailable_with_reason() {
        let text = "name='a'\nlanguage='C'\nabout='x'\ninstall='y'\nrun=['z']\nmethod=[]\nonly=";
        let reason = |only: &str| {
            let temp = transect_testkit::TempDir::new();
            std::fs::write(temp.join(MANIFEST), format!("{text}'{only}'")).unwrap();
            let read = Contender::read(&temp.join(MANIFEST), temp.path().to_owned()).unwrap();
            read.unavailable_reason()
        };
        let reasons = [reason("unix").is_none(), reason("windows").is_none()];
        assert_eq!(reasons, [cfg!(unix), cfg!(windows)]);
    }

    #[test]
    fn environment_of_manifest_passed_to_process() {
        let text = "name='a'\nlanguage='C'\nabout='x'\ninstall='y'\nrun=['z']\nmethod=[]\n\
                    environment={LC_ALL='C.UTF-8'}";
        let contender: Contender = toml::from_str(text).unwrap();
        let command = contender.command(Path::new("."), "m", Path::new("."), 1);
        let set: Vec<_> = command.get_envs().collect();
        assert_eq!(set, [("LC_ALL".as_ref(), Some("C.UTF-8".as_ref()))]);
    }

    #[test]
    fn manifest_with_unknown_key_refused() {
        let text = "name='a'\nlanguage='C'\nabout='x'\ninstall='y'\nrun=['z']\nmethod=[]\nspeed=9";
        assert!(toml::from_str::<Contender>(text).is_err());
        assert!(toml::from_str::<Contender>(text.trim_end_matches("\nspeed=9")).is_ok());
    }
}
