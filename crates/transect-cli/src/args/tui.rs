//! Arguments of `tui`.

use clap::Args;

use super::{AskLiveArgs, WalkArgs};

pub(crate) const TUI_NOTES: &str = "\
Directories and large files appear while the tree is read, other files at the end. ? shows the keys.

A PATH may be a snapshot (transect snapshot): its largest directories at once, then all of it \
as it was, with the time when it was stored; nothing can be opened, deleted or read again.

If `transect live` follows the directory, nothing is read from the disk, and the view shows what changes (docs/LIVE.md).

Sizes are disk usage. A file with several names is counted at one of them, as in `transect usage`.

Examples:
  Browse the current directory:
    transect tui
  Browse the home directory, on its file system only:
    transect tui -x ~
  Browse without being able to delete anything:
    transect tui --read-only .
  Start with file lengths instead of disk usage:
    transect tui --apparent .
  Show first what grew since yesterday (after `transect keep ~` on each day):
    transect tui --since yesterday ~
  Show only files of at least 100 MiB:
    transect tui --size +100M ~

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, not a terminal, or a path could not be read at all; 130 interrupted while reading.";

#[derive(Debug, Args)]
pub(crate) struct TuiArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    /// Start with apparent sizes (file lengths), not disk usage
    #[arg(long)]
    pub(crate) apparent: bool,
    /// Leave the mouse to the terminal, which then selects text without Shift
    #[arg(long)]
    pub(crate) no_mouse: bool,
    /// Disable deleting and moving to the trash
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Show how entries grew since TIME, compared with the last snapshot that `transect keep` stored before
    ///
    /// TIMEs are those of `transect changes`: yesterday, 3d, 2026-01-31.
    #[arg(long, value_name = "TIME", value_parser = super::filter::parse_time)]
    pub(crate) since: Option<i64>,
    #[command(flatten)]
    pub(crate) ask: AskLiveArgs,
    /// List all errors at the end, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
}
