//! The command line: one definition for parsing, help, completions and the man page.

mod lab;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand};
use transect::{Filters, Order, Outcome, ReaderName, ScanOptions, StatOrder, Totals};
use transect_lab::size;

use crate::output;
pub(crate) use lab::*;

/// Walks directory trees as fast as the kernel allows, and counts what is there.
///
/// Without a command, `scan` is meant.
#[derive(Debug, Parser)]
#[command(name = "transect", version, args_conflicts_with_subcommands = true, after_help = EXIT)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) scan: ScanArgs,
}

const EXIT: &str = "\
Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

const LIST_NOTES: &str = "\
Paths are printed as find prints them, in the order in which they are found.

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

// The arguments of a command are defined when it is asked for (`defer`): those of all commands take
// a twentieth of a start. What is deferred comes last and has the last word, so the structs of
// arguments bear no doc comments: help would show them for the command's.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Counts entries and bytes, and shows the largest directories and files
    #[command(after_help = EXIT)]
    Scan(ScanArgs),
    /// Prints the path of every entry
    #[command(after_help = LIST_NOTES)]
    List(ListArgs),
    /// Shows what this kernel, file system and privilege allow, and which reader is used
    Doctor(DoctorArgs),
    /// Measures every way of walking a tree on this machine
    #[command(subcommand)]
    Lab(LabCommand),
    /// Prints a completion script for a shell
    Completions(CompletionsArgs),
    /// Prints the man page
    Man,
}

#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    /// Rank the largest by length, not by disk usage, and show lengths first
    #[arg(long)]
    pub(crate) apparent: bool,
    /// How many of the largest directories and files to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// List all errors, not only the first few; with --json as `error_list`
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print one JSON object, with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    /// End every path with NUL instead of a newline, for xargs -0
    #[arg(short = '0', long = "null")]
    pub(crate) null: bool,
    /// Leave out entries fewer than N steps below their root; 1 leaves the roots out
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) min_depth: u32,
    /// List all errors, not only the first few
    #[arg(long)]
    pub(crate) errors: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The place to look at
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) path: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

// What every command that walks understands.
#[derive(Debug, Args)]
pub(crate) struct WalkArgs {
    /// Where to begin; by default the current directory. Paths that lie in each other are counted
    /// once
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Stay on the file system of each PATH
    #[arg(short = 'x', long)]
    pub(crate) one_file_system: bool,
    /// Read pseudo file systems (/proc, /sys) below PATH, too
    #[arg(long)]
    pub(crate) pseudo: bool,
    /// Follow symbolic links; a directory is read once, whatever leads to it
    #[arg(short = 'L', long)]
    pub(crate) follow: bool,
    /// Read no directories N steps below PATH, or deeper
    #[arg(short = 'd', long, value_name = "N")]
    pub(crate) max_depth: Option<u32>,
    /// Only entries whose name (or path, if it holds a /) matches; !GLOB leaves them out; the last
    /// match decides
    #[arg(short = 'g', long, value_name = "GLOB")]
    pub(crate) glob: Vec<String>,
    /// Leave out entries whose name (or path, if it holds a /) matches
    #[arg(short = 'E', long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Leave out what .gitignore files leave out, and .git
    #[arg(long)]
    pub(crate) gitignore: bool,
    /// How directories are read; `transect doctor` says which can be used here
    #[arg(long, value_name = "READER", value_parser = reader_parser())]
    pub(crate) reader: Option<ReaderName>,
    /// Bytes that one listing call may fill, 4K to 4M; by default 64K
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) buffer_size: Option<usize>,
    /// In which order attributes are asked for; by default as listed. By inode number is for
    /// rotating disks with cold caches
    #[arg(long, value_name = "ORDER", value_parser = stat_order_parser())]
    pub(crate) stat_order: Option<StatOrder>,
    /// In which order, and on which threads, directories are read; by default work-stealing
    #[arg(long, value_name = "ORDER", value_parser = order_parser())]
    pub(crate) order: Option<Order>,
    /// The most threads; by default as many as can work at once, more while waiting for a device
    #[arg(short = 'j', long, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Do without the settings that `transect lab tune` stored for this file system; so does any of
    /// --reader, --buffer-size, --stat-order, --order, --threads
    #[arg(long)]
    pub(crate) no_profile: bool,
}

fn reader_parser() -> impl TypedValueParser<Value = ReaderName> {
    one_of(ReaderName::ALL, ReaderName::as_str)
}

fn order_parser() -> impl TypedValueParser<Value = Order> {
    one_of(Order::ALL, Order::as_str)
}

fn stat_order_parser() -> impl TypedValueParser<Value = StatOrder> {
    one_of(StatOrder::ALL, StatOrder::as_str)
}

/// Returns what parses the name of one of `all`.
fn one_of<T: Copy + Send + Sync>(
    all: &'static [T],
    name_of: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name_of(value))).map(move |name| {
        let named = all.iter().copied().find(|&value| name_of(value) == name);
        named.expect("BUG: the parser lets only names of these pass")
    })
}

impl WalkArgs {
    /// Returns the roots: the current directory if none was given.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        if self.paths.is_empty() { vec![PathBuf::from(".")] } else { self.paths.clone() }
    }

    /// Returns the options that the arguments mean.
    pub(crate) fn options(&self) -> ScanOptions {
        transect_sys::host::raise_handle_limit();
        let excluded = self.exclude.iter().map(|glob| format!("!{glob}"));
        ScanOptions {
            reader: self.reader,
            buffer_size: self.buffer_size,
            stat_order: self.stat_order,
            order: self.order.unwrap_or_default(),
            threads: self.threads.map(usize::from),
            one_file_system: self.one_file_system,
            pseudo_file_systems: self.pseudo,
            follow: self.follow,
            max_depth: self.max_depth,
            filters: Filters {
                globs: self.glob.iter().cloned().chain(excluded).collect(),
                gitignore: self.gitignore,
                min_depth: 0,
            },
            ..ScanOptions::new(self.roots())
        }
    }

    /// Returns whether nothing is said of how to read, and a profile is welcome.
    pub(crate) fn leaves_all_open(&self) -> bool {
        !self.no_profile
            && self.reader.is_none()
            && self.buffer_size.is_none()
            && self.stat_order.is_none()
            && self.order.is_none()
            && self.threads.is_none()
    }

    /// A word that was taken for a path because no command came first may have been meant as one:
    /// says so.
    pub(crate) fn hint_at_commands(&self) {
        let missing = self.paths.iter().find(|path| path.symlink_metadata().is_err());
        let Some(word) = missing.and_then(|path| path.to_str()) else { return };
        if Cli::command().find_subcommand(word).is_some() {
            output::hint(&format!("a command comes before its options: transect {word} …"));
        } else if self.paths.len() == 1 && !word.contains(std::path::is_separator) {
            let word = output::quote::for_terminal(word.as_ref());
            output::hint(&format!("'{word}' is no command either; transect --help lists them"));
        }
    }

    /// A link given as the only path counts as a link, as for du and find: says so.
    pub(crate) fn hint_at_links(&self, outcome: &Outcome<Totals>) {
        let totals = &outcome.sink;
        if let [path] = self.paths.as_slice()
            && totals.symlinks == 1
            && totals.entries() == 1
            && path.is_dir()
        {
            let path = output::quote::for_terminal(path.as_os_str());
            output::hint(&format!("'{path}' is a symbolic link; '{path}/' is what it leads to"));
        }
    }
}
