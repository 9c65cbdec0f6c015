//! The command line: one definition for parsing, help, completions and the man page.

mod attributes;
mod cache;
mod filter;
mod lab;
mod list;
mod map;
mod parts;
mod patch;
mod progress;
mod serve;
mod transform;
mod tui;
mod usage;
mod verify;
mod walk;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

pub(crate) use attributes::*;
pub(crate) use cache::*;
pub(crate) use lab::*;
pub(crate) use list::*;
pub(crate) use map::*;
pub(crate) use parts::*;
pub(crate) use patch::*;
pub(crate) use progress::*;
pub(crate) use serve::*;
pub(crate) use transform::*;
pub(crate) use tui::*;
pub(crate) use usage::*;
pub(crate) use verify::*;
pub(crate) use walk::*;

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

// The arguments of a command are defined when it is asked for (`defer`): those of all commands take
// a twentieth of a start. What is deferred comes last and has the last word, so the structs of
// arguments bear no doc comments: help would show them for the command's.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Counts entries and bytes, and shows the largest directories and files
    #[command(after_help = EXIT)]
    Scan(ScanArgs),
    /// Shows where the bytes are: the largest directories as a tree, or entries in groups
    #[command(after_help = USAGE_NOTES)]
    Usage(UsageArgs),
    /// Shows a tree on the screen of the terminal, to look around in and to tidy up
    #[command(after_help = TUI_NOTES)]
    Tui(TuiArgs),
    /// Draws a tree as a page to walk around in: every entry an area as large as it is
    #[command(after_help = MAP_NOTES)]
    Map(MapArgs),
    /// Prints the path of every entry, or what else is known of it
    #[command(after_help = LIST_NOTES)]
    List(ListArgs),
    /// Passes over files once: line ends, encodings, digests, compression
    #[command(after_help = TRANSFORM_NOTES)]
    Transform(TransformArgs),
    /// Compares files with the digests that a list has of them
    #[command(after_help = VERIFY_NOTES)]
    Verify(VerifyArgs),
    /// Cuts a file into parts
    #[command(after_help = PARTS_NOTES)]
    Split(SplitArgs),
    /// Makes one file of its parts, if all of it is as it was
    #[command(after_help = PARTS_NOTES)]
    Join(JoinArgs),
    /// Changes a few bytes of a file, in place with a way back
    #[command(after_help = PATCH_NOTES)]
    Patch(PatchArgs),
    /// Shows the attributes of many paths at once
    #[command(after_help = ATTRIBUTES_NOTES)]
    Attributes(AttributesArgs),
    /// Keeps one cache of attributes for several programs
    #[command(after_help = SERVE_NOTES)]
    Serve(ServeArgs),
    /// Shows what this kernel, file system and privilege allow, and which reader is used
    Doctor(DoctorArgs),
    /// Shows how much of files is in memory, and takes it out of there
    #[command(subcommand)]
    Cache(CacheCommand),
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
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
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
pub(crate) struct DoctorArgs {
    /// The place to look at; by default the current directory. If it is named, temporary files that
    /// killed runs have left below it are listed
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
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
