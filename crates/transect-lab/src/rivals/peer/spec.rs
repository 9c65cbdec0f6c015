//! One peer: its program, its command line, and what its figures mean.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use super::parse::OutputFormat;
use super::reported::ReportedCounts;
use crate::harness::inventory::Inventory;
use crate::rivals::contender::is_on_path;

/// A program that walks trees, and how it is made to do the work of all methods.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its name, of which there is one in the lab.
    pub name: &'static str,
    /// The names that its program goes by; the first one is taken that is installed.
    pub programs: &'static [&'static str],
    /// What its `--version` says and that of other programs of the same name does not.
    pub(super) version_marker: &'static str,
    /// The language it is written in.
    pub language: &'static str,
    /// It walks on several threads.
    pub parallel: bool,
    /// How to get it on Debian.
    pub install: &'static str,
    /// What it does with these arguments, in one line.
    pub about: &'static str,
    /// The arguments; [`ROOT`] stands for the root.
    pub(super) arguments: &'static [&'static str],
    /// How its output is understood.
    pub output_format: OutputFormat,
    /// What it may claim: one definition, and those of other versions of it.
    pub(super) count_rules: &'static [CountRule],
}

/// Stands for the root among the arguments of a peer.
pub const ROOT: &str = "{root}";

/// What the figures of a peer mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct CountRule {
    /// In words, after "counts".
    pub(super) description: &'static str,
    /// What they must be in a tree.
    pub(super) expected: fn(&Inventory) -> ReportedCounts,
}

/// What is no place for the files of anybody: whoever looks there for settings or rules finds none.
const NONEXISTENT: &str = "/nonexistent";

impl Peer {
    /// Returns why it cannot run here, if it cannot, and what would help.
    ///
    /// It is asked for its version, because short names are taken twice: `fd` is also a file
    /// manager, `gdu` is GNU `du` where that is a guest.
    pub fn unavailable_reason(&self) -> Option<String> {
        if cfg!(not(target_os = "linux")) {
            return Some("what it counts is known on Linux only".to_owned());
        }
        let Some(program) = self.program() else {
            return Some(format!("needs {}: {}", self.programs.join(" or "), self.install));
        };
        // Who says nothing, or cannot be started, is nobody known.
        let said = self.version_line().unwrap_or_default();
        (!said.contains(self.version_marker))
            .then(|| format!("'{program}' is another program ({said}): {}", self.install))
    }

    /// Returns its version, without its name.
    pub fn version(&self) -> Option<String> {
        version_in(&self.version_line().filter(|said| said.contains(self.version_marker))?)
    }

    /// Returns what its figures mean, with the one of the newest version first.
    pub fn count_descriptions(&self) -> impl Iterator<Item = &'static str> {
        self.count_rules.iter().map(|rule| rule.description)
    }

    /// Returns whether its output is so short that reading it costs nothing, so that every run that
    /// is timed can be read, too. The others are read in a run of their own, and write to the null
    /// device while they are timed.
    pub fn is_parsed_in_every_run(&self) -> bool {
        self.output_format == OutputFormat::Sum
    }

    /// Returns what makes a process that walks a root: a directory, not a link to one. `None` if it
    /// is not installed.
    ///
    /// The environment is empty but for the search path, so that nobody's settings count: peers
    /// read options, units, colours and rules of what to leave out from variables and from the home
    /// directory.
    pub fn command(&self, root: &Path) -> Option<Command> {
        let mut command = self.base_command()?;
        for &argument in self.arguments {
            if argument == ROOT {
                // One that begins with a dash would be an option.
                command.arg(Path::new(".").join(root));
            } else {
                command.arg(argument);
            }
        }
        Some(command)
    }

    /// Returns its command line for people, with [`ROOT`] for the root.
    pub fn command_line(&self) -> String {
        let mut line = self.program().unwrap_or(self.programs[0]).to_owned();
        for argument in self.arguments {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-=./{}+".contains(&byte);
            line += &if argument.bytes().all(plain) {
                format!(" {argument}")
            } else {
                format!(" '{argument}'")
            };
        }
        line
    }

    /// Reads what it printed, to the end.
    ///
    /// # Errors
    /// It is something else than it should print.
    pub fn parse(&self, output: impl Read) -> Result<ReportedCounts, String> {
        self.output_format.parse(output)
    }

    /// Compares what it claims with what is there.
    ///
    /// # Errors
    /// What differs.
    pub fn check_counts(
        &self,
        claimed: ReportedCounts,
        inventory: &Inventory,
    ) -> Result<(), String> {
        let count_rules: Vec<ReportedCounts> =
            self.count_rules.iter().map(|rule| (rule.expected)(inventory)).collect();
        claimed.matches_one_of(&count_rules)
    }

    /// Reads what it printed and compares it with what is there.
    ///
    /// # Errors
    /// What it printed instead, or what differs.
    pub fn check_output(&self, output: impl Read, inventory: &Inventory) -> Result<(), String> {
        self.check_counts(self.parse(output)?, inventory)
    }

    fn program(&self) -> Option<&'static str> {
        self.programs.iter().copied().find(|program| is_on_path(program))
    }

    /// Returns its program without arguments, in the environment in which it is measured.
    fn base_command(&self) -> Option<Command> {
        let mut command = Command::new(self.program()?);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs([("LC_ALL", "C"), ("HOME", NONEXISTENT)]).stdin(Stdio::null());
        Some(command)
    }

    /// Returns the first line of what it says of its version that says anything.
    fn version_line(&self) -> Option<String> {
        let said = self.base_command()?.arg("--version").output().ok()?.stdout;
        let said = String::from_utf8_lossy(&said);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().take(8).collect();
        Some(words.join(" "))
    }
}

/// Returns the word in a line that is a version: that begins with a digit and has a dot.
pub(super) fn version_in(line: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.');
    line.split_whitespace()
        .map(|word| word.trim_start_matches('v'))
        .find(is_version)
        .map(str::to_owned)
}
