//! Arguments of `verify`.

use std::path::PathBuf;

use clap::Args;

use super::{ProgressArgs, TUNING};

pub(crate) const VERIFY_NOTES: &str = "\
A manifest is a list of digests as `transect transform blake3 DIR`, b3sum, sha256sum and openssl \
print it. Digests of 32 or 8 digits need a kind: XXH128 (NAME) = DIGEST. Names are relative to the \
current directory.

Examples:
  Record the digests of a tree, then check it:
    transect transform blake3 src > src.b3 && transect verify src.b3
  Print only what differs:
    transect verify --quiet src.b3
  Check a list of another program:
    sha256sum notes.txt | transect verify -
  Accept that files were deleted:
    transect verify --ignore-missing src.b3
  Print one JSON object per file:
    transect verify --json src.b3

Exit codes: 0 all files match; 1 a file differs, is missing or cannot be read, or a line is \
malformed; 2 wrong usage, or a manifest cannot be read; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Check the files of these lists of digests; - is standard input
    #[arg(value_name = "MANIFEST", required = true)]
    pub(crate) manifests: Vec<PathBuf>,
    /// Ignore missing files
    #[arg(long)]
    pub(crate) ignore_missing: bool,
    /// Read up to N files at once [default: one per CPU]
    #[arg(short = 'j', long, value_name = "N", help_heading = TUNING, hide_short_help = true,
          value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Do not print files that match
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Print one JSON object per file, and one for the total
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
}
