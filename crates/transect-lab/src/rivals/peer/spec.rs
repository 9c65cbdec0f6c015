//! The peers: their programs, their command lines, and how their counts are defined.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;

use super::parse::OutputFormat;
use super::reported::{CountRule, ReportedCounts};
use crate::harness::inventory::Inventory;
use crate::harness::launch::{self, Failure, Usage, can_start, file_of_program};
use crate::list::list;

/// A program that walks trees, and the command line that makes it do the same work as the methods.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    pub name: String,
    /// Names of its program; the first installed one is used.
    pub programs: Vec<String>,
    /// A text in its `--version` output that other programs of the same name lack.
    pub(super) version_marker: String,
    pub language: String,
    pub parallel: bool,
    /// The command that installs it on Debian.
    pub install: String,
    pub about: String,
    /// Arguments; [`ROOT`] is a placeholder for the root.
    pub(super) arguments: Vec<String>,
    pub output_format: OutputFormat,
    /// What it counts: one rule for each known behaviour of its versions.
    pub(super) counts: Vec<CountRule>,
}

/// Placeholder for the root in the arguments of a peer.
pub const ROOT: &str = "{root}";

/// A home directory that does not exist, so that programs find no settings there.
const NONEXISTENT: &str = "/nonexistent";

pub static PEERS: LazyLock<Vec<Peer>> = LazyLock::new(|| list(include_str!("peers.toml")));

impl Peer {
    /// Returns why it cannot run on this machine and what to install; `None` if it can run.
    ///
    /// This runs `--version`, as short names are ambiguous: `fd` is also a file manager, and `gdu` is
    /// GNU `du` on other systems.
    pub fn unavailable_reason(&self) -> Option<String> {
        if cfg!(not(target_os = "linux")) {
            return Some("what it counts is known on Linux only".to_owned());
        }
        let Some(program) = self.program() else {
            return Some(format!("needs {}: {}", self.programs.join(" or "), self.install));
        };
        // No output, or a failed start, counts as another program.
        let said = self.version_line().unwrap_or_default();
        (!said.contains(&self.version_marker))
            .then(|| format!("'{program}' is another program ({said}): {}", self.install))
    }

    /// Returns whether its output is short enough to parse in timed runs. Other peers are checked in a run
    /// of their own, and write to the null device in timed runs.
    pub fn is_parsed_in_every_run(&self) -> bool {
        self.output_format == OutputFormat::Sum
    }

    /// Returns the command that walks a root: a directory, not a link to one. `None` if the program is not
    /// installed.
    ///
    /// The environment contains only the search path, because peers read options, units, colours and
    /// ignore rules from variables and from the home directory.
    pub fn command(&self, root: &Path) -> Option<Command> {
        // By its path, so that it starts as other programs do: with a name, the standard library would use
        // `fork` instead of `posix_spawn`, as the command sets `PATH`.
        Some(self.command_of(&file_of_program(self.program()?)?, root))
    }

    /// Returns the same command with another file as its program.
    pub(crate) fn command_of(&self, program: &Path, root: &Path) -> Command {
        let mut command = clean(program);
        for argument in &self.arguments {
            if argument == ROOT {
                // A root that begins with a dash would be parsed as an option.
                command.arg(Path::new(".").join(root));
            } else {
                command.arg(argument);
            }
        }
        command
    }

    /// Runs its `command` for at most `limit`, and compares the counts that it reports with the inventory of the tree.
    ///
    /// # Errors
    /// It timed out, failed, or printed another format. The inner error is about counts that differ.
    pub fn run(
        &'static self,
        command: Command,
        inventory: &Inventory,
        limit: Duration,
    ) -> Result<(Usage, Result<(), String>), Failure> {
        let (claimed, usage) =
            launch::listen(command, limit, |output| self.output_format.parse(output))?;
        let claimed = claimed.map_err(|line| Failure::ProtocolError { line })?;
        Ok((usage, self.check_counts(claimed, inventory)))
    }

    /// Compares the counts it reports with the inventory of the tree.
    ///
    /// # Errors
    /// The counts that differ.
    pub fn check_counts(
        &self,
        claimed: ReportedCounts,
        inventory: &Inventory,
    ) -> Result<(), String> {
        let count_rules: Vec<ReportedCounts> =
            self.counts.iter().map(|rule| rule.of(inventory)).collect();
        claimed.matches_one_of(&count_rules)
    }

    pub(crate) fn program(&self) -> Option<&str> {
        self.programs.iter().map(String::as_str).find(|program| can_start(program))
    }

    /// Returns the first line of its `--version` output that is not empty.
    fn version_line(&self) -> Option<String> {
        let said = clean(self.program()?.as_ref()).arg("--version").output().ok()?.stdout;
        let said = String::from_utf8_lossy(&said);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().take(8).collect();
        Some(words.join(" "))
    }
}

/// Returns a program without arguments, with the environment of all runs.
fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.envs([("LC_ALL", "C"), ("HOME", NONEXISTENT)]).stdin(Stdio::null());
    command
}
