//! The command line: one definition for parsing, help, completions and the man page.

mod attributes;
mod cache;
mod diff;
mod duplicates;
mod filter;
mod find;
mod lines;
mod list;
mod live;
mod map;
mod progress;
mod query;
mod reclaim;
mod series;
mod service;
mod since;
mod snapshot;
mod tasks;
mod transform;
mod tui;
mod usage;
mod verify;
mod walk;
mod watch;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

pub(crate) use attributes::*;
pub(crate) use cache::*;
pub(crate) use diff::*;
pub(crate) use duplicates::*;
pub(crate) use find::*;
pub(crate) use lines::*;
pub(crate) use list::*;
pub(crate) use live::*;
pub(crate) use map::*;
pub(crate) use progress::*;
pub(crate) use query::*;
pub(crate) use reclaim::*;
pub(crate) use series::*;
pub(crate) use service::*;
pub(crate) use since::*;
pub(crate) use snapshot::*;
pub(crate) use tasks::*;
pub(crate) use transform::*;
pub(crate) use tui::*;
pub(crate) use usage::*;
pub(crate) use verify::*;
pub(crate) use walk::*;
pub(crate) use watch::*;

use crate::parts::PartCommand;
use transect_program::generate::{CompletionsArgs, ManArgs};

/// Read directory trees as fast as the kernel allows: count, list, show and transform what is there
///
/// Without a command, transect runs `scan`; `transect scan -h` lists its options.
#[derive(Debug, Parser)]
#[command(name = "transect", version, args_conflicts_with_subcommands = true,
          after_long_help = MAIN_NOTES,
          // `-h` shows the commands; the options of `scan` would double its length.
          mut_args(|arg| arg.hide_short_help(true)))]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) scan: ScanArgs,
}

/// A command line that begins with a command: [`Cli`] without the options of `scan`. To define and check them takes a
/// fifth of the instructions of a start, and they cannot be given there.
#[derive(Debug, Parser)]
#[command(name = "transect", version)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What the arguments ask for.
#[derive(Debug)]
pub(crate) enum Request {
    Command(Command),
    /// `transect PATH`, which is `transect scan PATH`.
    Scan(ScanArgs),
}

impl Request {
    /// Parses the arguments of the process.
    pub(crate) fn parse() -> Result<Self, clap::Error> {
        let first = std::env::args_os().nth(1).and_then(|first| first.into_string().ok());
        if first.is_some_and(|first| Command::has_subcommand(&first)) {
            return CommandLine::try_parse().map(|line| Self::Command(line.command));
        }
        let cli = Cli::try_parse()?;
        Ok(cli.command.map_or_else(|| Self::Scan(cli.scan), Self::Command))
    }
}

/// The groups of commands in the help: a heading, and the first command below it.
const GROUPS: [(&str, &str); 6] = [
    ("Look", "scan"),
    ("Find", "find"),
    ("Remember", "snapshot"),
    ("Files", "transform"),
    ("Share", "live"),
    ("System", "doctor"),
];

/// Returns the definition of the program whose help shows the commands in groups: clap has one list.
pub(crate) fn with_groups(command: clap::Command) -> clap::Command {
    let (heading, literal) =
        (*command.get_styles().get_header(), *command.get_styles().get_literal());
    let mut groups = String::new();
    for command in command.get_subcommands() {
        let name = command.get_name();
        if let Some((group, _)) = GROUPS.iter().find(|(_, first)| *first == name) {
            let _ = writeln!(groups, "\n{heading}{group}:{heading:#}");
        }
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(groups, "  {literal}{name:<11}{literal:#}  {about}");
    }
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\n{{all-args}}{{after-help}}"
    );
    // Hidden commands are in no list and not in the usage.
    command
        .mut_subcommands(|command| command.hide(true))
        .override_usage("transect [OPTIONS] [PATH]...\n       transect <COMMAND>")
        .help_template(template)
}

const MAIN_NOTES: &str = "\
`transect man COMMAND` shows the manual page of a command, examples included.

Examples:
  Count the current directory, and show what is largest in it:
    transect
  Count the home directory, on its file system only:
    transect -x ~
  Show where the bytes are, as a tree:
    transect usage src
  Find the files that changed within two days:
    transect list --type f --newer 2d
  Convert line ends to LF in all text files of a tree:
    transect transform eol=lf --in-place src

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

const SCAN_NOTES: &str = "\
Examples:
  Count the current directory:
    transect scan
  Count two directories, and show the twenty largest entries of each kind:
    transect scan --top 20 src docs
  Count a tree without what .gitignore excludes:
    transect scan --gitignore src
  Rank files by their length, and look only at those of at least 1 MiB:
    transect scan --apparent --size +1M src
  Print the totals as JSON, for a script:
    transect scan --json src
  Keep a snapshot, and later list only directories that changed:
    transect keep src && transect scan --since last src

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

const DOCTOR_NOTES: &str = "\
Examples:
  Show which readers work in the current directory:
    transect doctor
  List the temporary files that killed runs left below a directory:
    transect doctor docs
  Print everything as JSON, for a bug report:
    transect doctor --json

Exit codes: 0 complete; 1 something below PATH could not be read; \
2 wrong usage, or PATH could not be read at all.";

const COMPLETIONS_NOTES: &str = "\
Examples:
  Install completions for bash:
    transect completions bash > transect.bash
  Install completions for zsh:
    transect completions zsh > _transect
  Install completions for fish:
    transect completions fish > transect.fish";

const MAN_NOTES: &str = "\
Examples:
  Read the main page:
    transect man
  Read the page of a command of a group:
    transect man cache status
  Write the pages of all commands to a directory:
    transect man --output man1";

/// The heading of options that change speed, but not results.
const TUNING: &str = "Tuning";

// Arguments are defined when their command is used (`defer`): defining those of all commands takes
// a twentieth of a start. Deferred definitions are applied last and override earlier ones. The
// structs of arguments have no doc comments, because help would show them instead of the command's.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Count entries and bytes, and show the largest directories and files
    #[command(after_long_help = SCAN_NOTES)]
    Scan(ScanArgs),
    /// Show where the bytes are: the largest directories as a tree, or entries in groups
    #[command(after_long_help = USAGE_NOTES)]
    Usage(UsageArgs),
    /// Browse a tree in the terminal, and delete what is not needed
    #[command(after_long_help = TUI_NOTES)]
    Tui(TuiArgs),
    /// Draw a tree as an interactive map: area shows size, colour shows file type
    #[command(after_long_help = MAP_NOTES)]
    Map(MapArgs),
    /// List entries: their paths, or columns of attributes
    #[command(after_long_help = LIST_NOTES)]
    List(ListArgs),
    /// Show the attributes of many paths at once
    #[command(after_long_help = ATTRIBUTES_NOTES)]
    Attributes(AttributesArgs),
    /// Find entries by name at once, in the last kept snapshot
    #[command(after_long_help = FIND_NOTES)]
    Find(FindArgs),
    /// Find files of the same content; remove, link or clone the copies
    #[command(after_long_help = DUPLICATES_NOTES)]
    Duplicates(DuplicatesArgs),
    /// Free space: find what can be made again, and remove it
    #[command(after_long_help = RECLAIM_NOTES)]
    Reclaim(ReclaimArgs),
    /// Store a tree in a Parquet file, for other commands and for SQL
    #[command(after_long_help = SNAPSHOT_NOTES)]
    Snapshot(SnapshotArgs),
    /// Store a dated snapshot of a tree, and remove old ones that are no longer needed
    #[command(after_long_help = KEEP_NOTES)]
    Keep(KeepArgs),
    /// Show what changed in a tree since a kept snapshot
    #[command(after_long_help = CHANGES_NOTES)]
    Changes(ChangesArgs),
    /// Show how a tree grew, snapshot by snapshot
    #[command(after_long_help = HISTORY_NOTES)]
    History(HistoryArgs),
    /// Show what changed between two trees or snapshots: added, removed, changed, moved
    #[command(after_long_help = DIFF_NOTES)]
    Diff(DiffArgs),
    /// Print what changes in a tree, as it happens
    #[command(after_long_help = WATCH_NOTES)]
    Watch(WatchArgs),
    /// Run SQL on snapshots, with DuckDB
    #[command(after_long_help = QUERY_NOTES)]
    Query(QueryArgs),
    /// Transform files in one pass: line ends, encodings, digests, compression
    #[command(after_long_help = TRANSFORM_NOTES)]
    Transform(TransformArgs),
    /// Check files against a list of digests
    #[command(after_long_help = VERIFY_NOTES)]
    Verify(VerifyArgs),
    /// Follow trees, and answer other commands from memory
    #[command(after_long_help = LIVE_NOTES)]
    Live(LiveArgs),
    /// Freeze, thaw or invalidate the cache of a running `live`, or show its counters
    #[command(subcommand)]
    Service(ServiceCommand),
    /// Run one task of a scan that is shared among processes or machines
    #[command(after_long_help = TASK_NOTES)]
    Task(TaskArgs),
    /// Make one snapshot of the parts that tasks have published
    #[command(after_long_help = COMMIT_NOTES)]
    Commit(CommitArgs),
    /// Show what this kernel, file system and user can do, and which reader is used
    #[command(after_long_help = DOCTOR_NOTES)]
    Doctor(DoctorArgs),
    /// Show how much of each file is in the page cache, or drop it
    #[command(subcommand)]
    Cache(CacheCommand),
    #[command(flatten)]
    Part(PartCommand),
    /// Print a completion script for a shell
    #[command(after_long_help = COMPLETIONS_NOTES)]
    Completions(CompletionsArgs),
    /// Print the manual page of a command, or write those of all commands
    #[command(after_long_help = MAN_NOTES)]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) since: SinceArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Rank by apparent size (file length), not by disk usage
    #[arg(long)]
    pub(crate) apparent: bool,
    /// Show the N largest directories and files
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// List all errors, not only the first ten; with --json as `error_list`
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print one JSON object with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Examine the file system of PATH, and list temporary files that killed runs left below it
    /// [default: the current directory, without that list]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns a parser for the names of `all`.
fn one_of<T: Copy + Send + Sync>(
    all: &'static [T],
    name_of: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name_of(value))).map(move |name| {
        let named = all.iter().copied().find(|&value| name_of(value) == name);
        named.expect("BUG: the parser accepts only names of these")
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use transect_testkit::assert_examples_parse;

    use super::*;

    #[test]
    fn examples_of_every_command_parse() {
        let mut root = Cli::command().disable_help_subcommand(true);
        root.build();
        assert_examples_parse(&root, &|words| Cli::try_parse_from(words).map(drop));
    }
}
