//! Removes entries of a tree that was walked: deletes them, or moves them to the trash.
//!
//! A [`Removal`] holds entries chosen in a [`Table`]. [`Removal::summary`] reports the space that
//! removing them would free before anything is touched. A removal then removes only entries that
//! the walk found:
//!
//! * **Every entry is compared with the table before it is removed**: its type; size and
//!   modification time, except for directories; device and inode if the table has these columns
//!   ([`FieldMask::FILE_ID`]). An entry that differs is kept, as [`KeepReason::Changed`].
//! * **Entries that the walk did not see are kept**, with the directories above them, as
//!   [`KeepReason::NotSeen`]: new entries, entries that a filter excluded, and everything in
//!   directories that were not read. The trash is the exception: a directory takes them along,
//!   because nothing is lost there.
//! * **No link is followed.** A chosen link is removed itself. Directories are opened one step at a
//!   time, each relative to the one before; a link in place of a directory is a change.
//! * **No mount is crossed or removed**, whenever it was mounted, as [`KeepReason::MountBoundary`];
//!   on Linux not even a mount of the same file system (a bind mount). Entries on a mounted file
//!   system can be chosen if the table has device and inode, which prove that it is the file system
//!   that was walked.
//! * **Depth is not limited**, neither by the stack nor by open files: a few directories are open
//!   at a time.
//!
//! # What the report proves
//!
//! An entry that a [`Report`] counts as removed existed, was as the walk found it when it was
//! queried, and was then removed by this process. Between query and removal, another process may
//! put something else under the same name **in the same directory**; that is then removed instead,
//! because no system removes by handle. Nothing outside that directory can be affected, whatever is
//! moved or linked meanwhile, and a directory is removed only if it is empty. Anyone who can write
//! to a directory can replace entries in it anyway. An entry in the trash is queried once more, and
//! moved back if it is the wrong one.
//!
//! A file that changed but kept its size, modification time and inode cannot be distinguished from
//! an unchanged one. [`Counts::freed`] counts the bytes of files whose last name was removed: they
//! stay occupied as long as a program has the file open, or a snapshot of the file system contains
//! it.
//!
//! If a kernel or a sandbox supports neither `openat2` (Linux 5.6) nor mount ids (5.8), a mount of
//! the same file system is recognised by the mount table alone, as of when the entries were chosen.
//! On systems other than Linux, directories are identified by path: everything is compared as
//! above, but a process that moves directories at the right moment can redirect a removal. There is
//! no trash on these systems yet.
//!
//! ```
//! use transect_remove::Removal;
//! use transect::table::TableBuilder;
//! use transect::{Cancel, FieldMask, ScanOptions};
//!
//! # let directory = std::env::temp_dir().join(format!("transect-remove-{}", std::process::id()));
//! # std::fs::create_dir_all(directory.join("old"))?;
//! # std::fs::write(directory.join("old/notes"), "12345")?;
//! let builder = TableBuilder::new(Removal::COLUMNS | FieldMask::FILE_ID);
//! let outcome = ScanOptions::new([&directory]).plan()?.run(|| builder.sink())?;
//! let table = outcome.sink.into_table()?;
//! let root = table.roots().next().expect("one was given");
//! let old = table.child(root, "old".as_ref());
//!
//! let removal = Removal::new(&table, old)?;
//! println!("{} bytes will be free", removal.summary().freed);
//! let report = removal.delete(&Cancel::new(), &mut |_, _| {});
//! report.kept.iter().for_each(|kept| println!("{kept}"));
//! assert_eq!(report.counts.removed, 2);
//! # std::fs::remove_dir(directory)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clones;
mod compare;
mod delete;
mod error;
mod file;
mod parent;
mod refusal;
mod report;
mod run;
mod summary;
mod trash;
mod trashed;

use std::time::{Duration, Instant};

use transect_sys::FieldMask;
use transect_sys::dir_handle::DirHandle;

use transect::Cancel;
use transect::table::{RemovedNames, Row, Table};

pub use clones::ClonedSpace;
pub use error::RemovalError;
pub use file::CheckedFile;
pub use refusal::Refusal;
pub use report::{Counts, KeepReason, KeptEntry, Report};
pub use summary::Summary;
pub use trash::Trash;
pub use trashed::TrashedEntry;

use run::Run;

/// The interval between updates of what a view shows.
const SHOW_INTERVAL: Duration = Duration::from_millis(50);

transect_sys::words! {
    /// How entries are removed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RemovalKind {
        /// They are deleted for good.
        Delete = "delete",
        /// They are moved to the trash.
        Trash = "trash",
    }
}

impl From<RemovalKind> for RemovedNames {
    fn from(kind: RemovalKind) -> Self {
        match kind {
            RemovalKind::Delete => Self::Deleted,
            RemovalKind::Trash => Self::Moved,
        }
    }
}

/// Entries of a table to remove, with everything below them.
#[derive(Debug)]
pub struct Removal<'t> {
    table: &'t Table,
    /// None of them is below another one.
    chosen: Vec<Row>,
    /// Mount points among them and below them.
    mounts: Vec<Row>,
}

impl<'t> Removal<'t> {
    /// The columns that a table must have.
    pub const COLUMNS: FieldMask = FieldMask::MTIME;

    /// Chooses entries. Entries below another chosen one are removed with it. Touches nothing;
    /// queries the system's mount points.
    ///
    /// # Errors
    /// [`RemovalError`]: nothing is chosen then.
    pub fn new(
        table: &'t Table,
        rows: impl IntoIterator<Item = Row>,
    ) -> Result<Self, RemovalError> {
        if !table.columns().contains(Self::COLUMNS) {
            return Err(RemovalError::Columns);
        }
        let chosen = table.outermost(rows);
        if let Some(&row) = chosen.iter().find(|&&row| parent::entry_name(table, row).is_none()) {
            return Err(RemovalError::Nameless(table.path(row)));
        }
        let mounts = summary::mounted_rows(table, &chosen);
        Ok(Self { table, chosen, mounts })
    }

    /// Returns the chosen rows, without those below another one.
    pub fn rows(&self) -> &[Row] {
        &self.chosen
    }

    /// Returns what would be removed, as the walk found it.
    pub fn summary(&self) -> Summary {
        Summary::of(self.table, &self.chosen, &self.mounts)
    }

    /// Deletes the chosen entries. Calls `progress` after every entry with the counts so far and
    /// the entry's row.
    ///
    /// An entry that cannot be removed is kept, and the removal goes on. After a cancellation, the
    /// rest is kept.
    pub fn delete(&self, cancel: &Cancel, progress: &mut dyn FnMut(&Counts, Row)) -> Report {
        self.for_each(&self.mounts, cancel, progress, delete::delete)
    }

    /// Calls `act` with each chosen entry that is a regular file, and unchanged since the walk. `act`
    /// may compare it further, and removes or replaces it; it returns the bytes freed, or why the
    /// file is kept. Other entries are kept, as [`KeepReason::Changed`].
    ///
    /// After a cancellation, the rest is kept.
    pub fn for_each_file(
        &self,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&Counts, Row),
        act: &mut dyn FnMut(&CheckedFile<'_>) -> Result<u64, Refusal>,
    ) -> Report {
        self.for_each(&self.mounts, cancel, progress, |run, parent, row| {
            let gone = run.report.gone.len();
            let outcome = match run.mounts.binary_search(&row) {
                Ok(_) => Err(KeepReason::MountBoundary.into()),
                Err(_) => CheckedFile::find(run.table, parent, row).and_then(|file| act(&file)),
            };
            run.record(row, gone, outcome);
        })
    }

    /// Moves the chosen entries to the trash, directories with everything in them, seen or not.
    /// A directory that contains a mount point is kept. No space is freed until the trash is
    /// emptied.
    pub fn trash(
        &self,
        trash: &Trash,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&Counts, Row),
    ) -> Report {
        // Queried again, because a directory is moved without being entered.
        let mounts = summary::mounted_rows(self.table, &self.chosen);
        self.for_each(&mounts, cancel, progress, |run, parent, row| {
            trash::trash(run, trash, parent, row);
        })
    }

    /// Deletes the chosen entries of trash directories, as [`Removal::delete`], and what the trash recorded about each.
    /// The roots of the table are directories that [`Trash::contents`] returned.
    pub fn empty_trash(&self, cancel: &Cancel, progress: &mut dyn FnMut(&Counts, Row)) -> Report {
        let report = self.run(None, cancel, progress);
        trashed::delete_infos(self.table, &report.gone);
        report
    }

    /// Moves the chosen entries to a trash; without one, deletes them. Calls `show` for views, at most every 50
    /// milliseconds, with the counts so far and an entry's row.
    pub fn run(
        &self,
        trash: Option<&Trash>,
        cancel: &Cancel,
        show: &mut dyn FnMut(&Counts, Row),
    ) -> Report {
        let mut shown = Instant::now();
        let mut progress = |counts: &Counts, row: Row| {
            if shown.elapsed() >= SHOW_INTERVAL {
                shown = Instant::now();
                show(counts, row);
            }
        };
        match trash {
            Some(trash) => self.trash(trash, cancel, &mut progress),
            None => self.delete(cancel, &mut progress),
        }
    }

    /// Calls a function for each chosen entry, with the directory that contains it.
    fn for_each(
        &self,
        mounts: &[Row],
        cancel: &Cancel,
        progress: &mut dyn FnMut(&Counts, Row),
        mut act: impl FnMut(&mut Run<'_>, &DirHandle, Row),
    ) -> Report {
        let Self { table, chosen, .. } = self;
        let mut run = Run { table, mounts, cancel, progress, report: Report::default() };
        // Entries of one directory are consecutive, so its path is opened once.
        let mut last_parent: Option<(Row, DirHandle)> = None;
        for &row in chosen {
            if run.is_cancelled() {
                break;
            }
            let parent = table.parent(row);
            let open = last_parent.take().filter(|&(of, _)| Some(of) == parent);
            match open.map_or_else(|| parent::open_parent(table, row), |(_, dir)| Ok(dir)) {
                Ok(dir) => {
                    act(&mut run, &dir, row);
                    last_parent = parent.map(|parent| (parent, dir));
                }
                Err(error) => {
                    let gone = run.report.gone.len();
                    run.record(row, gone, Err(error));
                }
            }
        }
        run.report
    }
}
