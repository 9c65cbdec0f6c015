//! The command line of transforms.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use transect_text::size;
use transect_transform::pass::{Holes, IoMethod};
use transect_transform::publish::Durability;

use super::{FilterArgs, ProgressArgs, one_of};

pub(crate) const TRANSFORM_NOTES: &str = "\
STEPs are done one after the other in one pass; `transect transform --steps` lists them. The first \
word that is not a step is the first PATH; every word after it, and every word after --, is a PATH \
too. `transect transform eol=lf -i -- *` is safe whatever the files are called. `copy` stands for no \
step at all. Directories are walked, links in them left alone, files that are no text skipped if a step is made \
for text. Without PATH, standard input goes to standard output.

A result is written beside its target and renamed when it is complete: whatever happens, the target \
is what it was, or what it is to be. A file that would not change is not touched. One with several \
names (hard links) among the PATHs is done once, and stays one file: the others become names of the \
result. A killed run may leave a temporary file; the next run with --in-place removes it.

Exit codes: 0 all done; 1 finished, but some files failed, or --check found some that would change; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

// What is done, to what, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct TransformArgs {
    /// What to do, such as eol=lf, then the files and directories to do it to
    #[arg(value_name = "STEP|PATH", required_unless_present_any = ["steps", "new_key"])]
    pub(crate) words: Vec<OsString>,
    /// Files and directories, even where a name looks like a step or an option
    #[arg(last = true, value_name = "PATH")]
    pub(crate) paths: Option<Vec<PathBuf>>,
    /// Replace every file by its result, if that is another
    #[arg(short = 'i', long, conflicts_with_all = ["output", "check"])]
    pub(crate) in_place: bool,
    /// Where the result goes: a file; a folder, if it is one, or ends with a slash, or there may be
    /// several inputs; - is standard output
    #[arg(short, long, value_name = "PATH", conflicts_with = "check")]
    pub(crate) output: Option<PathBuf>,
    /// Change nothing: name the files that would change, and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    /// Replace what is at the target
    #[arg(short = 'f', long)]
    pub(crate) force: bool,
    /// Replace files that have names (hard links) elsewhere, too: those keep the old content
    #[arg(long)]
    pub(crate) break_links: bool,
    /// Give results the times of their inputs
    #[arg(short = 'p', long)]
    pub(crate) keep_times: bool,
    /// Do it to files that are no text, too
    #[arg(long)]
    pub(crate) binary: bool,
    /// What the device must have before a result is in its place: nothing, each file, or many files
    /// together
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = SyncMode::None)]
    pub(crate) sync: SyncMode,
    /// Write down in FILE what is done; a second run with it goes on where the first was stopped
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub(crate) journal: Option<PathBuf>,
    /// Read every result back from the device before it is put in its place, and compare
    #[arg(long)]
    pub(crate) read_back: bool,
    /// Whether runs of zeros are holes, which occupy nothing: as in the input, wherever there can be
    /// some, or nowhere
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = HoleMode::Keep)]
    pub(crate) holes: HoleMode,
    /// How files are read and written; by default chosen for each
    #[arg(long, value_name = "METHOD", value_parser = method_parser())]
    pub(crate) method: Option<IoMethod>,
    /// How much is read at once; by default 128K or 256K
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) block: Option<usize>,
    /// Leave the system's cache to others: read and write past it, where there is a way
    #[arg(long)]
    pub(crate) spare_cache: bool,
    /// Tell the system that files are read from their beginning to their end: it may read further
    /// ahead
    #[arg(long)]
    pub(crate) sequential: bool,
    /// Do without what `transect lab explain --save` stored for this file system; so do --method and
    /// --block
    #[arg(long)]
    pub(crate) no_profile: bool,
    /// How many files at once; by default as many as there are cores
    #[arg(short = 'j', long, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Tell what became of every file
    #[arg(short, long, conflicts_with_all = ["quiet", "json"])]
    pub(crate) verbose: bool,
    /// Print nothing but errors, and digests
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print one JSON object for every file, and one for all of them
    #[arg(long)]
    pub(crate) json: bool,
    /// List the steps
    #[arg(long)]
    pub(crate) steps: bool,
    /// Make a new key for encrypt=FILE and decrypt=FILE
    #[arg(long, value_name = "FILE", exclusive = true)]
    pub(crate) new_key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}

/// What must be on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyncMode {
    None,
    File,
    Batch,
}

impl From<SyncMode> for Durability {
    fn from(sync: SyncMode) -> Self {
        match sync {
            SyncMode::None => Self::None,
            SyncMode::File => Self::File,
            SyncMode::Batch => Self::Batch,
        }
    }
}

/// What becomes of runs of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HoleMode {
    Keep,
    Make,
    Fill,
}

impl From<HoleMode> for Holes {
    fn from(holes: HoleMode) -> Self {
        match holes {
            HoleMode::Keep => Self::Keep,
            HoleMode::Make => Self::Make,
            HoleMode::Fill => Self::Fill,
        }
    }
}

fn method_parser() -> impl TypedValueParser<Value = IoMethod> {
    one_of(IoMethod::ALL, IoMethod::as_str)
}
