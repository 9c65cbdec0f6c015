//! What `tui` understands.

use clap::Args;

use super::WalkArgs;

pub(crate) const TUI_NOTES: &str = "\
Directories are shown while they are read, files when everything has been read. ? shows the keys.

Sizes are disk usage, and a file with several names is charged to one of them, as in `transect usage`.

Exit codes: 0 complete; 1 finished, but something could not be read; \
2 wrong usage, no terminal, or a path could not be read at all; 130 interrupted before all was read.";

#[derive(Debug, Args)]
pub(crate) struct TuiArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    /// Begin with lengths of files, not with disk usage
    #[arg(long)]
    pub(crate) apparent: bool,
    /// Delete nothing, and move nothing to the trash
    #[arg(long)]
    pub(crate) read_only: bool,
    /// List all errors when it ends, not only the first few
    #[arg(long)]
    pub(crate) errors: bool,
}
