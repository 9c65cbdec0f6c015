//! The command line of `verify`.

use std::path::PathBuf;

use clap::Args;

use super::ProgressArgs;

pub(crate) const VERIFY_NOTES: &str = "\
A manifest has lines as `transect transform blake3 DIR`, b3sum and sha256sum print them. Names are \
meant from the current directory.

Exit codes: 0 all files have their digests; 1 some have not, are missing, or cannot be read, or a \
line makes no sense; 2 wrong usage, or a manifest cannot be read; 130 interrupted.";

// Lists of digests, and how much is told.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Lists of digests; - is standard input
    #[arg(value_name = "MANIFEST", required = true)]
    pub(crate) manifests: Vec<PathBuf>,
    /// Say nothing of files that are missing
    #[arg(long)]
    pub(crate) ignore_missing: bool,
    /// How many files at once; by default as many as there are cores
    #[arg(short = 'j', long, value_name = "N",
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Say nothing of files that have their digests
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print one JSON object for every file, and one for all of them
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}
