//! Arguments of the commands that show progress.

use clap::Args;

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ProgressArgs {
    /// Show progress even when stderr is not a terminal: there a line every 5 seconds
    #[arg(long, overrides_with = "no_progress", hide_short_help = true)]
    pub(crate) progress: bool,
    /// Do not show progress
    #[arg(long, overrides_with = "progress", hide_short_help = true)]
    pub(crate) no_progress: bool,
}
