//! Arguments of `transform`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use transect_text::size;
use transect_transform::pass::IoMethod;
use transect_transform::publish::Durability;

use super::{FilterArgs, ProgressArgs, TUNING, one_of};

pub(crate) const TRANSFORM_NOTES: &str = "\
One pass applies all STEPs, in order; `transect transform --steps` lists them, and `copy` stands for \
none. The first word that is not a step is the first PATH; all words after it, or after --, are PATHs. \
Directories are walked without following links. Steps for text skip binary files. Without PATH, \
standard input goes to standard output.

Each result is written to a temporary file and renamed when complete: the target always has its old or \
its new content. Files that would not change are not touched. A file with several names (hard links) \
among the PATHs is transformed once, and keeps them. The next run with --in-place removes the \
temporary files of killed runs.

Examples:
  Convert line ends to LF in all text files of a tree:
    transect transform eol=lf --in-place src
  List the files that would change, without changing them:
    transect transform eol=lf trim --check src
  Print the BLAKE3 digests of all files, as b3sum does:
    transect transform blake3 src
  Copy a tree, compressed:
    transect transform zstd src --output compressed/
  Convert all files here, even those named like a step or an option:
    transect transform eol=lf -i -- *

Exit codes: 0 all done; 1 finished, but some files failed, or --check found some that would change; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct TransformArgs {
    /// Apply these steps, such as eol=lf, to these files and directories
    #[arg(value_name = "STEP|PATH", required_unless_present = "steps")]
    pub(crate) words: Vec<OsString>,
    /// Transform these files and directories, even if a name looks like a step or an option
    #[arg(last = true, value_name = "PATH")]
    pub(crate) paths: Option<Vec<PathBuf>>,
    /// Replace each file whose content changes
    #[arg(short = 'i', long, conflicts_with_all = ["output", "check"])]
    pub(crate) in_place: bool,
    /// Write results to PATH, a file or a directory
    ///
    /// A directory if PATH is one, ends with a slash, or there can be several inputs. - is standard
    /// output.
    #[arg(short, long, value_name = "PATH", conflicts_with = "check")]
    pub(crate) output: Option<PathBuf>,
    /// Print files that would change, without changing them
    ///
    /// Exits with 1 if there are any.
    #[arg(long)]
    pub(crate) check: bool,
    /// Replace existing files
    #[arg(short = 'f', long)]
    pub(crate) force: bool,
    /// Replace files with hard links elsewhere; those links keep the old content
    #[arg(long, hide_short_help = true)]
    pub(crate) break_links: bool,
    /// Keep the times of the inputs
    #[arg(short = 'p', long)]
    pub(crate) keep_times: bool,
    /// Transform binary files, too
    #[arg(long)]
    pub(crate) binary: bool,
    /// Wait for the device before renaming: not at all, for each file, or once for many
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = sync_parser(),
          hide_short_help = true)]
    pub(crate) sync: Durability,
    /// Record progress in FILE; a second run with it continues where the first stopped
    #[arg(long, value_name = "FILE", conflicts_with = "check", hide_short_help = true)]
    pub(crate) journal: Option<PathBuf>,
    /// Read each result back from the device and compare it, before renaming
    #[arg(long, hide_short_help = true)]
    pub(crate) read_back: bool,
    /// Read and write with this method [default: chosen for each file]
    #[arg(long, value_name = "METHOD", help_heading = TUNING, hide_short_help = true,
          value_parser = one_of(IoMethod::ALL, IoMethod::as_str))]
    pub(crate) method: Option<IoMethod>,
    /// Read SIZE at once [default: 128K or 256K]
    #[arg(long, value_name = "SIZE", value_parser = size::parse,
          help_heading = TUNING, hide_short_help = true)]
    pub(crate) block: Option<usize>,
    /// Bypass the page cache where the system allows it, so that it keeps the files of others
    #[arg(long, help_heading = TUNING, hide_short_help = true)]
    pub(crate) spare_cache: bool,
    /// Advise the system that files are read sequentially, so that it reads further ahead
    #[arg(long, help_heading = TUNING, hide_short_help = true)]
    pub(crate) sequential: bool,
    /// Ignore the settings stored for this file system, which `transect doctor` shows; --method and --block imply it
    #[arg(long, help_heading = TUNING, hide_short_help = true)]
    pub(crate) no_profile: bool,
    /// Transform up to N files at once [default: one per CPU]
    #[arg(short = 'j', long, value_name = "N", help_heading = TUNING, hide_short_help = true,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Print the outcome of each file
    #[arg(short, long, conflicts_with_all = ["quiet", "json"])]
    pub(crate) verbose: bool,
    /// Print only errors and digests
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print one JSON object per file, and one for the total
    #[arg(long)]
    pub(crate) json: bool,
    /// List the steps
    #[arg(long)]
    pub(crate) steps: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}

/// Returns a parser of what to wait for before a result is renamed to its target.
fn sync_parser() -> impl TypedValueParser<Value = Durability> {
    one_of(&[Durability::None, Durability::File, Durability::Batch], |sync| match sync {
        Durability::None => "none",
        Durability::File => "file",
        Durability::Batch => "batch",
    })
}
