//! The command line of `split` and `join`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use transect_text::size;

use super::SyncMode;

pub(crate) const PARTS_NOTES: &str = "\
The parts of FILE are FILE.000001 and so on; FILE.parts has their digests, and FILE.blake3 that of the \
whole, in lines that b3sum --check takes. FILE.parts is written last. `join` reads both, and puts a file \
in its place only if all of it is as it was. There are at most 999,999 parts.

Exit codes: 0 done; 2 wrong usage, or it could not be done; 130 interrupted.";

// A file, and how it is cut.
#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// The file
    pub(crate) file: PathBuf,
    /// How large a part is, such as 1GiB
    #[arg(short, long, value_name = "SIZE", value_parser = part_size)]
    pub(crate) size: NonZeroU64,
    /// What the names of the parts begin with; by default FILE
    #[arg(short, long, value_name = "NAME")]
    pub(crate) output: Option<PathBuf>,
    /// Replace what is there
    #[arg(short = 'f', long)]
    pub(crate) force: bool,
    /// What the device must have before the parts are in their places
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = SyncMode::None)]
    pub(crate) sync: SyncMode,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

// A manifest, beside which the parts lie.
#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// The manifest that `split` has written
    pub(crate) manifest: PathBuf,
    /// Where the file goes
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace what is there
    #[arg(short = 'f', long)]
    pub(crate) force: bool,
    /// What the device must have before the file is in its place
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = SyncMode::None)]
    pub(crate) sync: SyncMode,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn part_size(text: &str) -> Result<NonZeroU64, String> {
    let bytes = size::parse(text)?;
    NonZeroU64::new(bytes as u64).ok_or_else(|| "a part has at least one byte".to_owned())
}
