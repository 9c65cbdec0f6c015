//! What commands understand that may take long.

use clap::Args;

// Whether it is said how far something is.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ProgressArgs {
    /// Say on stderr how far it is, also where that is no terminal: there a line every few seconds,
    /// and one at the end
    #[arg(long, overrides_with = "no_progress")]
    pub(crate) progress: bool,
    /// Do not say how far it is, not even on a terminal
    #[arg(long, overrides_with = "progress")]
    pub(crate) no_progress: bool,
}
