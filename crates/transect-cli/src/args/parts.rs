//! Arguments of `split` and `join`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use transect_text::size;

use super::SyncMode;

pub(crate) const SPLIT_NOTES: &str = "\
Writes the parts FILE.000001 and so on, at most 999,999; then FILE.blake3 with the digest of the whole \
and, last, FILE.parts with the digests of the parts. `b3sum --check` reads both.

Examples:
  Split an image into parts of 1 GiB:
    transect split backup.img --size 1G
  Write the parts elsewhere, as usb/backup.000001 and so on:
    transect split backup.img --size 700M --output usb/backup
  Replace the parts of an earlier run:
    transect split backup.img --size 1G --force
  Write the parts through to the device before finishing:
    transect split backup.img --size 512M --output parts --sync batch
  Print the result as JSON:
    transect split backup.img --size 2G --output json --json

Exit codes: 0 done; 2 wrong usage, or the file could not be split; 130 interrupted.";

pub(crate) const JOIN_NOTES: &str = "\
Reads FILE.parts and FILE.blake3, as `transect split` writes them, and the parts beside them. The \
output appears only if every digest matches.

Examples:
  Join the parts of an image:
    transect join backup.img.parts --output restored.img
  Replace an existing file:
    transect join backup.img.parts --output restored.img --force
  Join parts from another directory:
    transect join usb/backup.parts --output from-usb.img
  Write the file through to the device before finishing:
    transect join backup.img.parts --output synced.img --sync file
  Print the result as JSON:
    transect join backup.img.parts --output json.img --json

Exit codes: 0 done; 2 wrong usage, or the parts could not be joined; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    /// Split this file
    pub(crate) file: PathBuf,
    /// Make parts of SIZE, such as 1G
    #[arg(short, long, value_name = "SIZE", value_parser = part_size)]
    pub(crate) size: NonZeroU64,
    /// Start the names of the parts with NAME [default: FILE]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) output: Option<PathBuf>,
    /// Replace existing files
    #[arg(short = 'f', long)]
    pub(crate) force: bool,
    /// Wait for the device before renaming: not at all, for each file, or once for all
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = SyncMode::None)]
    pub(crate) sync: SyncMode,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    /// Join the parts that this FILE.parts lists
    pub(crate) manifest: PathBuf,
    /// Write the joined file to FILE
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace existing files
    #[arg(short = 'f', long)]
    pub(crate) force: bool,
    /// Wait for the device before renaming: not at all, for each file, or once for all
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = SyncMode::None)]
    pub(crate) sync: SyncMode,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn part_size(text: &str) -> Result<NonZeroU64, String> {
    let bytes = size::parse(text)?;
    NonZeroU64::new(bytes as u64).ok_or_else(|| "must be at least 1".to_owned())
}
