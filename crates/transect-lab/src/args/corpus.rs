//! Arguments of `lab corpus`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use transect_lab::corpora::Pattern;
use transect_text::size;

use super::values::pattern_parser;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum CorpusCommand {
    /// List the trees that can be created
    #[command(after_long_help = CORPUS_LIST_NOTES)]
    List {
        /// Print one JSON object per tree
        #[arg(long)]
        json: bool,
    },
    /// Create a tree in a new directory, the same on every machine
    #[command(after_long_help = CORPUS_CREATE_NOTES)]
    Create {
        /// Create this tree; `transect lab corpus list` shows the names
        name: String,
        /// Create it in DIR, which must be missing or empty
        dir: PathBuf,
    },
    /// Create a file with fixed content, the same on every machine
    #[command(after_long_help = CORPUS_FILE_NOTES)]
    CreateFile(CorpusFileArgs),
    /// Count a tree, and compare it with its definition
    #[command(after_long_help = CORPUS_VERIFY_NOTES)]
    Verify {
        /// Compare with this tree
        name: String,
        /// Count this directory
        dir: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CorpusFileArgs {
    /// Create this file
    #[arg(value_name = "FILE")]
    pub(crate) path: PathBuf,
    /// Write SIZE bytes: 256M, 1GiB
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    pub(crate) size: usize,
    /// Fill the file with this pattern
    #[arg(long, value_name = "PATTERN", default_value = "printable96",
          value_parser = pattern_parser())]
    pub(crate) pattern: Pattern,
    /// Seed of random patterns
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

const CORPUS_LIST_NOTES: &str = "\
Examples:
  List the trees:
    transect lab corpus list
  Print one JSON object per tree:
    transect lab corpus list --json
  Count the trees:
    transect lab corpus list --json | wc -l
  Find the flat trees:
    transect lab corpus list | grep flat
  Save the list:
    transect lab corpus list > corpora.txt";

const CORPUS_CREATE_NOTES: &str = "\
Examples:
  Create a small tree:
    transect lab corpus create tiny tiny
  Create 1,000 files in one directory:
    transect lab corpus create flat-1000 flat
  Create a tree and count it:
    transect lab corpus create single one && transect scan one
  Create a tree and check it:
    transect lab corpus create tiny b && transect lab corpus verify tiny b
  Create a tree like a home directory:
    transect lab corpus create users users";

const CORPUS_FILE_NOTES: &str = "\
Examples:
  Create a file of 64 MiB of printable text:
    transect lab corpus create-file input.bin --size 64M
  Create another one of the same kind:
    transect lab corpus create-file other.bin --size 1M --seed 2
  Replace it:
    transect lab corpus create-file other.bin --size 2M --force
  Create a file of an exact length:
    transect lab corpus create-file exact.bin --size 1000000
  Create a file and print its digest:
    transect lab corpus create-file c --size 1M && transect transform blake3 c";

const CORPUS_VERIFY_NOTES: &str = "\
Examples:
  Check a tree:
    transect lab corpus verify tiny tiny
  Check a flat tree:
    transect lab corpus verify flat-1000 flat
  Create a tree and check it:
    transect lab corpus create single a && transect lab corpus verify single a
  Print only the exit code:
    transect lab corpus verify tiny tiny > /dev/null && echo same
  Check a tree elsewhere:
    transect lab corpus verify tiny ./tiny";
