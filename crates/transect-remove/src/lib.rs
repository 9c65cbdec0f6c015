//! Removing entries of a scanned tree: deleted, or moved to the trash.
//!
//! A [`Removal`] knows what was chosen in a [`Table`], and says what it would come to
//! ([`Removal::summary`]) before anything is touched. What it removes then is what the scan found,
//! and nothing else:
//!
//! * **Every entry is compared before it is removed** with what the table says: its type; of all
//!   but directories size and time of the last change; device and inode where the table has these
//!   columns ([`FieldMask::FILE_ID`]). What differs stays, as [`KeepReason::Changed`].
//! * **What the scan did not see stays,** with the directories above it, as
//!   [`KeepReason::NotScanned`]: what came later, what a filter left out, and all that lies in
//!   directories which were not read. Only what is moved to the trash takes it along: nothing of
//!   it is lost there.
//! * **No link is followed.** A link that was chosen is removed itself. Directories are opened one
//!   step at a time, each relative to the one before, and a link in place of a directory is a
//!   change.
//! * **No mount is crossed,** nor removed, whenever it came, as [`KeepReason::MountBoundary`]; on Linux
//!   neither is one of the same file system (a bind mount). What lies on a mounted file system may
//!   be chosen if the table has device and inode, which tell that it is the one that was scanned.
//! * **Depth has no limit,** neither by the stack nor by open files: a few directories are open at
//!   a time.
//!
//! # What one may conclude, and what not
//!
//! What a [`Report`] calls removed was there, was what the scan had found when it was asked about,
//! and was then removed by this process. Between question and removal there is a moment in which
//! somebody may put something else under the same name **in the same directory**: that is then
//! removed instead, as no system removes by handle. Nothing outside of that directory can be
//! reached so, whatever is moved or linked meanwhile, and a directory is removed only if it is
//! empty. Who lets others write into a directory lets them do that without us. What was moved to
//! the trash is asked about once more there, and moved back if it is not what was meant.
//!
//! A file that changed and kept its size, its time and its inode is not told from one that did not
//! change. [`Counts::freed`] are the bytes of files that were removed under their last name: they
//! stay occupied as long as a program has the file open, or a snapshot of the file system holds it.
//!
//! Where a kernel or a sandbox knows neither `openat2` (Linux 5.6) nor the numbers of mounts (5.8),
//! a mount of the same file system is known by the mount table alone, as it was when the entries
//! were chosen. On systems other than Linux folders are paths: all is compared as above, but who
//! moves directories at the right moment can lead a removal elsewhere; and nothing is moved to a
//! trash there yet.
//!
//! ```
//! use transect_remove::Removal;
//! use transect::table::TableBuilder;
//! use transect::{Cancel, FieldMask, ScanOptions};
//!
//! # let folder = std::env::temp_dir().join(format!("transect-remove-{}", std::process::id()));
//! # std::fs::create_dir_all(folder.join("old"))?;
//! # std::fs::write(folder.join("old/notes"), "12345")?;
//! let builder = TableBuilder::new(Removal::COLUMNS | FieldMask::FILE_ID);
//! let outcome = ScanOptions::new([&folder]).plan()?.run(|| builder.sink())?;
//! let table = outcome.sink.into_table()?;
//! let root = table.roots().next().expect("one was given");
//! let old = table.child(root, "old".as_ref());
//!
//! let removal = Removal::new(&table, old)?;
//! println!("{} bytes will be free", removal.summary().freed);
//! let report = removal.delete(&Cancel::new(), &mut |_, _| {});
//! report.kept.iter().for_each(|kept| println!("{kept}"));
//! assert_eq!(report.counts.removed, 2);
//! # std::fs::remove_dir(folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compare;
mod delete;
mod error;
mod parent;
mod report;
mod run;
mod summary;
mod trash;

use transect_sys::FieldMask;
use transect_sys::dir_handle::DirHandle;

use transect::Cancel;
use transect::table::{Row, Table};

pub use error::RemovalError;
pub use report::{Counts, KeepReason, KeptEntry, Report};
pub use summary::Summary;
pub use trash::Trash;

use run::Run;

/// Entries of a table that are to be removed, with all that is below them.
#[derive(Debug)]
pub struct Removal<'t> {
    table: &'t Table,
    /// None of them lies below another one.
    chosen: Vec<Row>,
    /// Where something is mounted in them.
    mounts: Vec<Row>,
}

impl<'t> Removal<'t> {
    /// The columns that a table must have for anything to be removed.
    pub const COLUMNS: FieldMask = FieldMask::MTIME;

    /// Chooses entries. What lies below another one that is chosen goes with it. Nothing is
    /// touched; the system is asked where something is mounted.
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

    /// Returns the rows that are chosen: those that do not lie below another one.
    pub fn rows(&self) -> &[Row] {
        &self.chosen
    }

    /// Returns what is to be removed, as the scan found it.
    pub fn summary(&self) -> Summary {
        Summary::of(self.table, &self.chosen, &self.mounts)
    }

    /// Deletes what is chosen. `progress` is told after every entry how many became what, and which
    /// one it was.
    ///
    /// What cannot be removed stays, and the rest goes on. Who cancels keeps what was not removed
    /// until then.
    pub fn delete(&self, cancel: &Cancel, progress: &mut dyn FnMut(&Counts, Row)) -> Report {
        self.for_each(&self.mounts, cancel, progress, delete::delete)
    }

    /// Moves what is chosen to the trash, a directory with all that is in it, whatever the scan saw
    /// of that. A directory in which something is mounted stays. Nothing is free before the trash
    /// is emptied.
    pub fn trash(
        &self,
        trash: &Trash,
        cancel: &Cancel,
        progress: &mut dyn FnMut(&Counts, Row),
    ) -> Report {
        // Asked again: a directory is moved without being looked into.
        let mounts = summary::mounted_rows(self.table, &self.chosen);
        self.for_each(&mounts, cancel, progress, |run, parent, row| {
            trash::trash(run, trash, parent, row);
        })
    }

    /// Does something to each of the chosen entries, given the directory that holds it.
    fn for_each(
        &self,
        mounts: &[Row],
        cancel: &Cancel,
        progress: &mut dyn FnMut(&Counts, Row),
        mut act: impl FnMut(&mut Run<'_>, &DirHandle, Row),
    ) -> Report {
        let Self { table, chosen, .. } = self;
        let mut run = Run { table, mounts, cancel, progress, report: Report::default() };
        // Entries of one directory come one after the other: the way to it is gone once.
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
