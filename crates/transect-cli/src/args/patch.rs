//! The command line of `patch`.

use std::path::PathBuf;

use clap::Args;

pub(crate) const PATCH_NOTES: &str = "\
EDIT is OFFSET:OLD:NEW: at OFFSET (decimal, or hexadecimal after 0x) the file must hold the bytes OLD, \
and gets NEW; both are hexadecimal and equally long. A patch FILE is one of IPS or BPS.

In place, the old bytes are written to a journal beside the file (.NAME.transect-undo) before the \
first one is changed. Who is killed leaves it: --undo goes back by it, --resume goes on. A journal that \
another user may have written is refused. A patch FILE has at most 256 MiB.

Exit codes: 0 done; 2 wrong usage, or it could not be done; 130 interrupted.";

// A file, and what is to be other in it.
#[derive(Debug, Args)]
pub(crate) struct PatchArgs {
    /// The file
    pub(crate) file: PathBuf,
    /// OFFSET:OLD:NEW; may be repeated
    #[arg(value_name = "EDIT")]
    pub(crate) edits: Vec<String>,
    /// A patch file: IPS or BPS
    #[arg(long, value_name = "FILE", conflicts_with = "edits")]
    pub(crate) with: Option<PathBuf>,
    /// Change the file where it lies: all its names and everybody who has it open see it
    #[arg(short = 'i', long, conflicts_with = "output")]
    pub(crate) in_place: bool,
    /// Write another file
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Replace what is at PATH
    #[arg(short = 'f', long, requires = "output")]
    pub(crate) force: bool,
    /// Leave the journal there, for --undo
    #[arg(short = 'k', long)]
    pub(crate) keep_journal: bool,
    /// Put back what was there before, by the journal
    #[arg(long, conflicts_with_all = ["edits", "with", "in_place", "output", "resume"])]
    pub(crate) undo: bool,
    /// Bring a patch to its end that was killed in the middle, by the journal
    #[arg(long, conflicts_with_all = ["edits", "with", "in_place", "output"])]
    pub(crate) resume: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
