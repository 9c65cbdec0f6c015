//! Arguments of `duplicates`.

use std::path::PathBuf;

use clap::Args;
use transect_duplicates::{Action, KeepRule};

use super::{ProgressArgs, WalkArgs, one_of};
use transect_program::CliError;

pub(crate) const DUPLICATES_NOTES: &str = "\
Files are duplicates if their content is the same, whatever their names, owners and times. Groups \
are sorted by what removing all files but one would free. A file with several names (hard links) \
is one file; its further names are marked with =. Blocks that clones (reflinks) share already are \
not freed again. Empty files are left out, unless --empty-files is given.

--remove, --link and --clone change only the files of the groups that are shown, and keep one file \
of each group: --prefer decides first, then --keep. Right before a file is removed or replaced, it is \
compared with what was scanned, and byte by byte with the file that is kept; a file that differs \
stays. A link or clone gets a temporary name and is then renamed. Hard links share owner, \
permissions, times and extended attributes, those of the file that is kept; so files with another \
owner or other permissions stay, unless --merge-attributes is given. Clones keep their own.

Examples:
  Show duplicates in the current directory:
    transect duplicates
  Show the ten groups that waste most, among files of at least 1 MiB:
    transect duplicates --top 10 --size +1M ~
  Show which files would be removed, if the oldest of each group is kept:
    transect duplicates --remove --keep oldest --dry-run photos
  Remove copies of what is in the archive:
    transect duplicates --remove --prefer archive --yes archive inbox
  Replace copies by hard links, without asking:
    transect duplicates --link --keep first --yes src
  Read only what changed since the last run:
    transect duplicates --digests photos.digests photos
  List the groups for a script:
    transect duplicates --json src

Exit codes: 0 complete; 1 finished, but something could not be read, or a file was left alone that should have been removed or replaced, or the FILE of \
--digests was not written; \
2 wrong usage, or a path could not be read at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct DuplicatesArgs {
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    /// Show only the N groups that would free most
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) top: Option<u32>,
    /// Also show empty files, as one group
    #[arg(long, hide_short_help = true)]
    pub(crate) empty_files: bool,
    /// Remove all files of a group but one
    #[arg(long, group = "action")]
    pub(crate) remove: bool,
    /// Replace all files of a group but one by hard links to it
    #[arg(long, group = "action")]
    pub(crate) link: bool,
    /// Replace all files of a group but one by clones of it (reflinks)
    ///
    /// Needs a file system that supports them, such as Btrfs or XFS.
    #[arg(long, group = "action")]
    pub(crate) clone: bool,
    /// Keep this file of each group: first (by path), newest, oldest, shortest-path
    #[arg(long, value_name = "RULE", hide_possible_values = true,
          value_parser = one_of(KeepRule::ALL, KeepRule::as_str))]
    pub(crate) keep: Option<KeepRule>,
    /// Keep a file in or below PATH, if there is one
    ///
    /// Several in order of priority. --keep decides among the files below a PATH.
    #[arg(long, value_name = "PATH")]
    pub(crate) prefer: Vec<PathBuf>,
    /// With --link, also link files with another owner or other permissions
    #[arg(long, requires = "link", hide_short_help = true)]
    pub(crate) merge_attributes: bool,
    /// Only show what --remove, --link or --clone would do
    #[arg(long, requires = "action")]
    pub(crate) dry_run: bool,
    /// Do not ask before --remove, --link or --clone
    #[arg(short = 'y', long, requires = "action")]
    pub(crate) yes: bool,
    /// Keep digests in FILE, and read only new and changed files the next time
    ///
    /// A file is unchanged if its file id, size, mtime and ctime are. FILE is created if it is missing; after a complete run,
    /// it has only the digests of the files that this run compared. Only on Linux, and for files on ext4, XFS, Btrfs,
    /// F2FS, ZFS and tmpfs; all others are read.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) digests: Option<PathBuf>,
    /// List all errors, not only the first ten
    #[arg(long, hide_short_help = true)]
    pub(crate) errors: bool,
    /// Print one JSON object with exact numbers
    #[arg(long, conflicts_with = "null")]
    pub(crate) json: bool,
    /// Print only paths, each ended with NUL, and one more NUL after each group
    ///
    /// One path for each file; the file to be kept comes first.
    #[arg(short = '0', long = "null", conflicts_with = "action")]
    pub(crate) null: bool,
}

impl DuplicatesArgs {
    /// Returns the action, if there is one; an error if no file to keep is given.
    pub(crate) fn action(&self) -> Result<Option<Action>, CliError> {
        let action = match self {
            Self { remove: true, .. } => Action::Remove,
            Self { link: true, merge_attributes, .. } => {
                Action::Link { merge_attributes: *merge_attributes }
            }
            Self { clone: true, .. } => Action::Clone,
            _ => return Ok(None),
        };
        if self.keep.is_none() && self.prefer.is_empty() {
            let message = "say which file of each group stays: --keep RULE or --prefer PATH";
            return Err(CliError::failed(message));
        }
        Ok(Some(action))
    }
}
