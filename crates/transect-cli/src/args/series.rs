//! Arguments of `keep`, `changes` and `history`.

use std::path::PathBuf;

use clap::Args;
use transect_live::Cursor;

use super::{ComparisonArgs, ProgressArgs, RescanArgs, one_of};

pub(crate) const KEEP_NOTES: &str = "\
Snapshots are kept in transect/series in the data directory of the user: $XDG_DATA_HOME, or ~/.local/share. Each PATH has a \
directory of its own; `transect changes` and `transect history` read it.

Older snapshots are removed when a new one is complete: all of the last 24 hours are kept, the last one of each day for \
31 days, and the last one of each month forever. Days and months are those of UTC. Files that transect did not store are \
never removed.

Examples:
  Keep a snapshot of the current directory:
    transect keep
  Keep snapshots of two directories:
    transect keep src docs
  Keep the home directory, on its file system only:
    transect keep -x ~
  Keep another one, and read only what may have changed:
    transect keep -x ~ && transect keep -x --rescan names ~
  Keep one now, and another every day:
    transect keep --every day -x ~
  Show what would be stored and removed:
    transect keep --dry-run src
  Keep a snapshot, and see later what changed:
    transect keep src && transect changes src

Exit codes: 0 complete; 1 stored, but something could not be read; \
2 wrong usage, or a snapshot could not be stored; 130 interrupted: nothing was stored.";

#[derive(Debug, Args)]
pub(crate) struct KeepArgs {
    /// Keep snapshots of these directories [default: the current directory]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) progress: ProgressArgs,
    #[command(flatten)]
    pub(crate) rescan: RescanArgs,
    /// Stay on the file system of each PATH
    #[arg(short = 'x', long)]
    pub(crate) one_file_system: bool,
    /// Remove no older snapshots
    #[arg(long)]
    pub(crate) no_thin: bool,
    /// Store and remove nothing; show the new file, and those that would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// List all errors, not only the first ten
    #[arg(long)]
    pub(crate) errors: bool,
    /// Print nothing but errors that the last snapshot did not have, for a timer
    ///
    /// Errors of the last snapshot, such as a directory that never could be read, do not make the exit code 1 either.
    #[arg(short, long, conflicts_with_all = ["json", "dry_run", "progress"])]
    pub(crate) quiet: bool,
    /// Keep another one every hour, day or week, with these options; "never" ends that
    ///
    /// Writes a timer of systemd into the directory of the user's units, and starts it. It runs `keep --quiet` while the user
    /// is logged in (`loginctl enable-linger`: always), and makes up for what it missed; `journalctl --user` shows messages.
    /// With --dry-run, prints the files instead.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["json", "quiet"],
          value_parser = one_of(KeepEvery::ALL, KeepEvery::as_str))]
    pub(crate) every: Option<KeepEvery>,
    /// Print one JSON object for each PATH, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

transect_sys::words! {
    /// How often a timer keeps a snapshot.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum KeepEvery {
        Hour = "hour",
        Day = "day",
        Week = "week",
        /// Not any more.
        Never = "never",
    }
}

impl KeepEvery {
    /// Returns the time of the timer, as systemd.time(7) writes it.
    pub(crate) fn calendar(self) -> &'static str {
        match self {
            Self::Hour => "hourly",
            Self::Day => "daily",
            Self::Week => "weekly",
            Self::Never => "",
        }
    }
}

pub(crate) const CHANGES_NOTES: &str = "\
Compares PATH with a snapshot that `transect keep` stored on this machine. Lines, numbers and options are those of \
`transect diff`, with the snapshot as A and PATH as B. If the snapshot was kept with -x, PATH is read with -x, too.

With a running `transect live` that follows PATH, --cursor prints a place in its changes, and --since CURSOR the lines that `transect watch` \
would have printed since; the next cursor is printed on stderr, and with --json in the last object. A cursor of another service, or from \
before the changes that it keeps, is an error (1).

--for writes paths relative to PATH. The list brings a copy up to date that was made after the snapshot:
  rsync -aI0 --files-from=LIST --delete-missing-args --force PATH/ COPY/
  rclone sync -I --files-from-raw LIST PATH COPY
  cd PATH && restic backup --force --files-from-raw LIST
Without -I or --force, these programs skip files of the same size and time. The lists of rsync and restic have a NUL after each path. \
restic gets a partial backup: only what is new or changed, and for a directory that changed one entry in it; what is gone is missing. \
rclone gets files and links, one a line; a path with control characters is an error. With a CURSOR, there are lists for rsync and restic; \
if another directory has the name of one that is gone, one for rsync is an error, as the names in that are not known.

Examples:
  Keep a snapshot, and show what changed since:
    transect keep src && transect changes src
  Show what changed within three days:
    transect changes --since 3d src
  Show new, moved and removed files without querying every file:
    transect keep src && transect changes --rescan names src
  Show only the numbers, and the directories that grew or shrank:
    transect keep src && transect changes -s src
  Show the five largest changes since a date:
    transect changes --since 2026-01-31 --top 5 src
  Fail in a script if anything changed:
    transect keep src && transect changes --exit-code src
  Write a list of what changed, for rsync:
    transect keep src && transect changes --for rsync src >list
  Show the changes that Windows recorded on a volume:
    transect changes --journal disk.img

Exit codes: 0 compared; 1 something could not be read or used, or with --exit-code something changed; \
2 wrong usage, no snapshot, or PATH could not be read at all; 130 interrupted.";

#[derive(Debug, Args)]
pub(crate) struct ChangesArgs {
    /// Show what changed in this directory [default: the current directory]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Compare with the last snapshot taken before TIME, not with the last one
    ///
    /// TIME is a date (2026-01-31, 2026-01-31T10:00), an age (3d; 1m is a minute, 1M a month), or the beginning of a
    /// day (yesterday, "last week"). If all snapshots are newer, the command fails and reports the age of the oldest.
    ///
    /// Or a CURSOR, as printed by --cursor and by the command before, with a running `transect live`; see below.
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    pub(crate) since: Option<ChangesSince>,
    /// Print the place of now in the changes of PATH, which `transect live` follows, for a later --since
    #[arg(long, conflicts_with_all = ["since", "journal", "list_for", "rescan", "summary", "top", "all", "ignore", "verify",
          "one_file_system", "exit_code", "json"])]
    pub(crate) cursor: bool,
    /// With a CURSOR: print only paths that are there, added, modified or renamed, and end each with NUL, for xargs -0
    #[arg(
        short = '0',
        long = "null",
        requires = "since",
        conflicts_with = "json",
        hide_short_help = true
    )]
    pub(crate) null: bool,
    /// Show the change journal of an NTFS volume instead: PATH is its image, device or partition
    ///
    /// Prints one line per record, oldest first: time, path and what happened. Needs no snapshot. PATH can also be a copy
    /// of the journal (of the stream $UsnJrnl:$J); of its directories, only those that changed have paths.
    #[arg(long, conflicts_with_all = ["since", "rescan", "summary", "top", "all", "ignore", "verify",
          "one_file_system", "exit_code"])]
    pub(crate) journal: bool,
    /// Print what is new, changed or gone as a list of files for a program: rsync, restic or rclone
    ///
    /// See below for the list of each program. A message says whether the list is exact.
    #[arg(long = "for", value_name = "PROGRAM", conflicts_with_all = ["journal", "json", "summary", "top", "all", "ignore",
          "verify", "exit_code"], hide_possible_values = true, value_parser = one_of(ListFor::ALL, ListFor::as_str))]
    pub(crate) list_for: Option<ListFor>,
    /// Fail if the list could lack a change: only a subvolume of Btrfs, kept and read by root, reports all of them
    #[arg(long, requires = "list_for")]
    pub(crate) exact: bool,
    #[command(flatten)]
    pub(crate) rescan: RescanArgs,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArgs,
}

/// Since when.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChangesSince {
    /// In nanoseconds since 1970 UTC.
    Time(i64),
    Cursor(Cursor),
}

fn parse_since(text: &str) -> Result<ChangesSince, String> {
    match text.parse() {
        Ok(cursor) => Ok(ChangesSince::Cursor(cursor)),
        Err(_) => super::filter::parse_time(text).map(ChangesSince::Time),
    }
}

transect_sys::words! {
    /// A program that reads a list of what it copies.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum ListFor {
        Rsync = "rsync",
        Restic = "restic",
        Rclone = "rclone",
    }
}

pub(crate) const HISTORY_NOTES: &str = "\
Shows the snapshots of PATH that `transect keep` stored, oldest first: disk usage and number of entries, and by how much \
they changed. Without PATH, shows all series. A page written with --html also shows which directories grew, in the whole \
series and between each two snapshots; it is one self-contained file without scripts that works offline. Snapshots of other machines lie beside those of this one, in transect/series in the data directory of the user; \
--host shows them.

Examples:
  Keep a snapshot, and show how the directory grew:
    transect keep src && transect history src
  Show the snapshots of the current directory:
    transect history .
  List all series, also those of other machines:
    transect history
  Write a page with curves, and with the directories that grew most:
    transect history --html history.html src
  Print exact numbers as JSON, for a script:
    transect history --json src
  Show the snapshots of the same directory on another machine:
    transect history --host laptop src

Exit codes: 0 complete; 1 files in the directory were skipped, or a snapshot is partial; 2 wrong usage, or the directory could \
not be read.";

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Show the snapshots of this directory; without it, list all series
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// Show those of another machine, by its name
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Write a page with curves and what grew to FILE, replacing it; - is standard output
    #[arg(long, value_name = "FILE", requires = "path", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
    /// Print one JSON object with exact numbers
    #[arg(long)]
    pub(crate) json: bool,
}
