//! Arguments of `patch`.

use std::path::PathBuf;

use clap::Args;

pub(crate) const PATCH_NOTES: &str = "\
EDIT is OFFSET:OLD:NEW. The file must contain the bytes OLD at OFFSET (decimal, or hexadecimal with \
0x); NEW replaces them. Both are hexadecimal and equally long. A patch file is IPS or BPS, at most \
256 MiB.

--in-place first writes the old bytes to a journal beside the file (.NAME.transect-undo). A killed run \
leaves the journal behind: --undo restores the old bytes, --resume completes the patch. A journal that \
another user may have written is rejected.

Examples:
  Replace two bytes at offset 16, and write a new file:
    transect patch program.bin 0x10:9090:ebfe --output patched.bin
  Patch in place, and keep the journal for undo:
    transect patch program.bin 0x10:9090:ebfe --in-place --keep-journal
  Undo that patch:
    transect patch program.bin --undo
  Apply an IPS patch:
    transect patch program.bin --with update.ips --output updated.bin
  Complete a patch whose run was killed:
    transect patch program.bin --resume

Exit codes: 0 done; 2 wrong usage, or the patch could not be applied; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct PatchArgs {
    /// Patch this file
    pub(crate) file: PathBuf,
    /// Replace bytes: OFFSET:OLD:NEW, in hexadecimal; may be repeated
    #[arg(value_name = "EDIT")]
    pub(crate) edits: Vec<String>,
    /// Apply an IPS or BPS patch
    #[arg(long, value_name = "FILE", conflicts_with = "edits")]
    pub(crate) with: Option<PathBuf>,
    /// Change the file itself; all its names and all programs that have it open see the change
    #[arg(short = 'i', long, conflicts_with = "output")]
    pub(crate) in_place: bool,
    /// Write the result to PATH
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file at --output
    #[arg(short = 'f', long, requires = "output")]
    pub(crate) force: bool,
    /// Keep the journal of --in-place, for --undo
    #[arg(short = 'k', long)]
    pub(crate) keep_journal: bool,
    /// Restore the old bytes from the journal
    #[arg(long, conflicts_with_all = ["edits", "with", "in_place", "output", "resume"])]
    pub(crate) undo: bool,
    /// Complete an interrupted patch from the journal
    #[arg(long, conflicts_with_all = ["edits", "with", "in_place", "output"])]
    pub(crate) resume: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
