//! Arguments of `lab corpus`.

use std::path::PathBuf;

use clap::Subcommand;

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
        /// Create it in DIR, which must not exist
        dir: PathBuf,
    },
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
  Create a tree and list it:
    transect lab corpus create tiny b && transect list b
  Create a tree like a home directory:
    transect lab corpus create users users";
