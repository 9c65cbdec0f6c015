//! Applies patches in place, so that a process killed at any moment leaves a file that can be
//! restored or completed.
//!
//! ```text
//! old bytes read and checked ─► journal, synced ─► new bytes ─► file synced ─► journal removed
//! file unchanged                └────────── undo, resume ──────────┘
//! ```

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use transect::Cancel;
use transect_sys::file::attributes_of;

use super::changes::Changes;
use super::journal::{self, UndoEdit, UndoJournal};
use super::overlay::{ChangeOverlay, expect};
use crate::error::{Error, Operation, Rejection};
use crate::pass::{PassOptions, PassRunner};
use crate::publish::resolve_link;
use crate::source::{PositionedReader, Source, check_cancelled, fill, same_state};
use crate::step::InvalidData;

/// How to patch a file in place.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct InPlaceOptions {
    /// Keep the journal, so that the patch can be undone later.
    pub keep_journal: bool,
    /// A request to stop, checked until the first byte is changed. From then on, the patch is
    /// completed.
    pub cancel: Cancel,
}

/// Each method sets the field of the same name.
impl InPlaceOptions {
    /// Sets whether the journal is kept.
    pub fn keep_journal(mut self, keep_journal: bool) -> Self {
        self.keep_journal = keep_journal;
        self
    }

    /// Sets the request to stop.
    pub fn cancel(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }
}

/// The result of patching a file in place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PatchReport {
    /// The path of the file, links resolved.
    pub path: PathBuf,
    /// Number of bytes changed. If 0, nothing was written.
    pub changed: u64,
    /// The journal, if one is left.
    pub journal: Option<PathBuf>,
}

/// What has been done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The journal and its name are synced.
    Journal,
    /// This many edits are written.
    Edits(usize),
    /// The file is synced.
    File,
}

/// Changes a file in place.
pub(super) fn apply(
    changes: &Changes,
    path: &Path,
    options: &InPlaceOptions,
    observe: &mut dyn FnMut(Progress),
) -> Result<PatchReport, Error> {
    let target = PatchedFile::open(path)?;
    let PatchedFile { path, source, file } = &target;
    if !changes.keep_size(source.size()) {
        let reason = "the patch changes its length, and so can only make a new file";
        let grows = changes.grows.then(|| InvalidData::new(reason));
        return Err(target.invalid(grows.unwrap_or_else(|| changes.too_short())));
    }
    let journal = journal::journal_path(path);
    reject_existing_journal(&journal, source)?;
    let result = journal::begin(&journal, source)?;
    if changes.known.is_some() {
        let cancel = options.cancel.clone();
        let mut passes = PassRunner::new(PassOptions { cancel, ..PassOptions::default() });
        passes.run(source, Some(&mut ChangeOverlay::new(changes, source.size())), None)?;
    }
    let undo = UndoJournal::new(source, target.edits(changes, &options.cancel)?);
    let changed = undo.edits.iter().map(UndoEdit::count_differing).sum();
    if undo.edits.is_empty() {
        return Ok(PatchReport { path: path.clone(), changed, journal: None });
    }
    undo.write(result)?;
    observe(Progress::Journal);

    let written = undo.edits.iter().enumerate().try_for_each(|(at, edit)| {
        write_at(file, edit.offset, &edit.new)?;
        observe(Progress::Edits(at + 1));
        Ok(())
    });
    if let Err(error) = written.and_then(|()| file.sync_all()) {
        let back = undo.edits.iter().try_for_each(|edit| write_at(file, edit.offset, &edit.old));
        // If that fails, too, the journal is needed to undo the changes.
        if back.and_then(|()| file.sync_all()).is_ok() {
            let _ = journal::remove(&journal);
        }
        return Err(Error::system(Operation::Write, path)(error));
    }
    observe(Progress::File);
    let journal = remove_unless_kept(journal, options.keep_journal)?;
    Ok(PatchReport { path: path.clone(), changed, journal })
}

/// Checks that there is no journal. The error says whether an existing one belongs to this file, or
/// why it cannot be used.
fn reject_existing_journal(journal: &Path, source: &Source) -> Result<(), Error> {
    match journal.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        _ => {
            UndoJournal::read(journal)?.verify(source, journal)?;
            Err(Error::rejected(Operation::Replace, journal, Rejection::UndoJournal))
        }
    }
}

/// Restores the bytes from before an in-place patch whose journal was kept, or was left behind by a
/// killed process. Then removes the journal.
///
/// # Errors
/// There is no journal; another user may have written it; it is damaged or belongs to another file;
/// or the file contains bytes that are neither old nor new. The file is then unchanged. After a
/// system error, `undo` can be repeated.
pub fn undo(path: &Path) -> Result<PatchReport, Error> {
    recover(path, |edit| &edit.old, false).map_err(Error::during(Operation::Patch))
}

/// Completes an in-place patch that was interrupted.
///
/// # Errors
/// The errors of [`undo`].
pub fn resume(path: &Path, options: &InPlaceOptions) -> Result<PatchReport, Error> {
    recover(path, |edit| &edit.new, options.keep_journal).map_err(Error::during(Operation::Patch))
}

fn recover(path: &Path, wanted: fn(&UndoEdit) -> &[u8], keep: bool) -> Result<PatchReport, Error> {
    let target = PatchedFile::open(path)?;
    let PatchedFile { path, source, file } = &target;
    let journal = journal::journal_path(path);
    let undo = UndoJournal::read(&journal)?;
    undo.verify(source, &journal)?;
    let mut there = Vec::new();
    for edit in &undo.edits {
        there.push(target.read(edit.offset, edit.old.len())?);
        let now = there.last().expect("BUG: it was put there");
        // Compare byte by byte: an interrupted write may have written a part.
        if let Some(at) = edit.first_foreign_byte(now) {
            let reason = format!("{:02x} is neither from before nor from after the patch", now[at]);
            return Err(target.invalid(InvalidData::at(edit.offset + at as u64, reason)));
        }
    }
    let mut changed = 0;
    for (edit, now) in undo.edits.iter().zip(&there) {
        changed += count_differing(now, wanted(edit));
        write_at(file, edit.offset, wanted(edit)).map_err(Error::system(Operation::Write, path))?;
    }
    file.sync_all().map_err(Error::system(Operation::Sync, path))?;
    let journal = remove_unless_kept(journal, keep)?;
    Ok(PatchReport { path: path.clone(), changed, journal })
}

/// A file to change in place.
struct PatchedFile {
    /// Links resolved: the journal lies beside the file itself.
    path: PathBuf,
    source: Source,
    file: File,
}

impl PatchedFile {
    fn open(path: &Path) -> Result<Self, Error> {
        let failed = || Error::system(Operation::Write, path);
        let path = resolve_link(path).map_err(Error::system(Operation::Read, path))?;
        // Only a regular file may be opened for writing.
        let source = Source::open(&path)?;
        let file = File::options().read(true).write(true).open(&path).map_err(failed())?;
        let there = attributes_of(&file).map_err(failed())?;
        if !same_state(source.attributes(), &there) {
            return Err(Error::changed(&path));
        }
        Ok(Self { path, source, file })
    }

    /// Returns the edits to write, after checking the old bytes.
    fn edits(&self, changes: &Changes, cancel: &Cancel) -> Result<Vec<UndoEdit>, Error> {
        let mut edits = Vec::new();
        for change in &changes.list {
            check_cancelled(cancel, &self.source)?;
            let there = self.read(change.offset, change.new.len())?;
            if let Some(old) = &change.old {
                expect(old, &there, change.offset).map_err(|error| self.invalid(error))?;
            }
            if there != change.new {
                let new = change.new.clone();
                edits.push(UndoEdit { offset: change.offset, old: there, new });
            }
        }
        Ok(edits)
    }

    fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; length];
        let read = fill(&mut PositionedReader { file: &self.file, offset }, &mut bytes)
            .map_err(Error::system(Operation::Read, &self.path))?;
        if read < length {
            return Err(Error::changed(&self.path));
        }
        Ok(bytes)
    }

    fn invalid(&self, error: InvalidData) -> Error {
        Error::invalid(&self.path)(error)
    }
}

impl UndoEdit {
    fn count_differing(&self) -> u64 {
        count_differing(&self.old, &self.new)
    }

    /// Returns the index of the first byte that is neither old nor new.
    fn first_foreign_byte(&self, there: &[u8]) -> Option<usize> {
        let both = self.old.iter().zip(&self.new);
        there.iter().zip(both).position(|(there, (old, new))| there != old && there != new)
    }
}

fn count_differing(one: &[u8], other: &[u8]) -> u64 {
    one.iter().zip(other).filter(|(one, other)| one != other).count() as u64
}

fn write_at(mut file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

/// Removes the journal after use, unless it is to be kept.
fn remove_unless_kept(journal: PathBuf, keep: bool) -> Result<Option<PathBuf>, Error> {
    if keep {
        return Ok(Some(journal));
    }
    journal::remove(&journal).map_err(Error::system(Operation::Replace, &journal))?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;
    use crate::patch::Patch;

    const OLD: &[u8] = b"one two three four";
    const NEW: &[u8] = b"ONE two THREE fouR";

    fn patch() -> Patch {
        let words = ["0:6f6e65:4f4e45", "8:7468726565:5448524545", "17:72:52"];
        Patch::parse_words(&words).unwrap()
    }

    /// A file that was patched, with its journal.
    fn patched() -> (TempDir, PathBuf, PathBuf) {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, OLD).unwrap();
        let keep = InPlaceOptions { keep_journal: true, ..InPlaceOptions::default() };
        let applied = patch().apply_in_place(&file, &keep).unwrap();
        assert_eq!((applied.changed, std::fs::read(&file).unwrap()), (9, NEW.to_vec()));
        (temp, file, applied.journal.unwrap())
    }

    #[test]
    fn in_place_journal_exists_during_changes_only() {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, OLD).unwrap();
        let journal = temp.join(".file.transect-undo");
        let mut seen = Vec::new();
        let mut observe = |done| {
            assert!(journal.exists());
            assert_eq!(UndoJournal::read(&journal).unwrap().edits.len(), 3);
            seen.push((done, std::fs::read(&file).unwrap()));
        };
        patch().apply_in_place_observed(&file, &InPlaceOptions::default(), &mut observe).unwrap();
        assert!(!journal.exists());
        let states = [OLD, b"ONE two three four", b"ONE two THREE four", NEW, NEW];
        let done = [
            Progress::Journal,
            Progress::Edits(1),
            Progress::Edits(2),
            Progress::Edits(3),
            Progress::File,
        ];
        let expected: Vec<_> =
            done.into_iter().zip(states).map(|(done, state)| (done, state.to_vec())).collect();
        assert_eq!(seen, expected);
    }

    #[cfg(unix)]
    #[test]
    fn in_place_killed_anywhere_can_undo_or_resume() {
        use std::os::unix::process::ExitStatusExt;
        use std::process::Command;

        const TEST: &str = "patch::in_place::tests::in_place_killed_anywhere_can_undo_or_resume";
        const FILE: &str = "TRANSECT_TEST_FILE";
        const AFTER: &str = "TRANSECT_TEST_AFTER";
        if let (Some(file), Ok(after)) = (std::env::var_os(FILE), std::env::var(AFTER)) {
            let mut left: usize = after.parse().unwrap();
            let mut observe = |_| {
                if left == 0 {
                    let own = rustix::process::getpid();
                    rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
                }
                left -= 1;
            };
            let options = InPlaceOptions::default();
            patch().apply_in_place_observed(file.as_ref(), &options, &mut observe).unwrap();
            return;
        }
        for after in 0.. {
            let temp = TempDir::new();
            let mut states = Vec::new();
            for (name, back) in [("back", true), ("on", false)] {
                let file = temp.join(name);
                std::fs::write(&file, OLD).unwrap();
                let status = Command::new(std::env::current_exe().unwrap())
                    .args([TEST, "--exact", "--test-threads=1"])
                    .env(FILE, &file)
                    .env(AFTER, after.to_string())
                    .output()
                    .unwrap()
                    .status;
                if status.success() {
                    assert_eq!(after, 5, "after the journal, three edits, and the file");
                    assert_eq!(std::fs::read(&file).unwrap(), NEW);
                    return;
                }
                assert_eq!(status.signal(), Some(9), "{status}");
                states.push(std::fs::read(&file).unwrap());
                // A second patch would overwrite the journal of the first.
                let journal = journal::journal_path(&file);
                let again = patch().apply_in_place(&file, &InPlaceOptions::default()).unwrap_err();
                let expected =
                    format!("cannot replace '{}': it is the undo journal", journal.display());
                assert!(again.to_string().starts_with(&expected), "{again}");
                let applied = match back {
                    true => undo(&file),
                    false => resume(&file, &InPlaceOptions::default()),
                };
                assert_eq!(applied.unwrap().journal, None);
                assert_eq!(std::fs::read(&file).unwrap(), if back { OLD } else { NEW });
                assert!(!journal.exists());
            }
            assert_eq!(states[0], states[1]);
        }
    }

    #[test]
    fn undo_partly_written_edit() {
        let parts = (0..=9).map(|length| {
            // The first bytes that differ are new, the others old.
            let mut left = length;
            let mix = OLD.iter().zip(NEW).map(|(old, new)| {
                let new = if left > 0 { new } else { old };
                left -= usize::from(new != old).min(left);
                *new
            });
            mix.collect::<Vec<_>>()
        });
        for part in parts {
            for back in [true, false] {
                let (_temp, file, _journal) = patched();
                write_at(&File::options().write(true).open(&file).unwrap(), 0, &part).unwrap();
                let applied = match back {
                    true => undo(&file),
                    false => resume(&file, &InPlaceOptions::default()),
                };
                let wanted = if back { OLD } else { NEW };
                assert_eq!(std::fs::read(&file).unwrap(), wanted);
                assert_eq!(applied.unwrap().changed, count_differing(&part, wanted));
            }
        }
    }

    #[test]
    fn undo_truncated_journal_rejected() {
        let (_temp, file, journal) = patched();
        let whole = std::fs::read(&journal).unwrap();
        for end in 0..whole.len() {
            std::fs::write(&journal, &whole[..end]).unwrap();
            for refused in [undo(&file), resume(&file, &InPlaceOptions::default())] {
                let expected = format!(
                    "cannot read '{}': it is not an undo journal, or it is damaged",
                    journal.display()
                );
                assert_eq!(refused.unwrap_err().to_string(), expected);
            }
            assert_eq!(std::fs::read(&file).unwrap(), NEW);
        }
        std::fs::write(&journal, &whole).unwrap();
        undo(&file).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), OLD);
    }

    #[test]
    fn undo_foreign_bytes_rejected() {
        let (_temp, file, journal) = patched();
        let handle = File::options().write(true).open(&file).unwrap();
        write_at(&handle, 9, b"?").unwrap();
        for refused in [undo(&file), resume(&file, &InPlaceOptions::default())] {
            let refused = refused.unwrap_err().to_string();
            let expected = "3f is neither from before nor from after the patch at byte 9";
            assert!(refused.ends_with(expected), "{refused}");
            assert_eq!(std::fs::read(&file).unwrap(), b"ONE two T?REE fouR");
        }
        // Bytes outside the edits may have changed.
        write_at(&handle, 9, b"H").unwrap();
        write_at(&handle, 4, b"TWO").unwrap();
        undo(&file).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"one TWO three four");
        assert!(!journal.exists());
    }

    /// Regression: a journal written by anyone with access to the directory was trusted, and
    /// `--undo` wrote its content.
    #[cfg(unix)]
    #[test]
    fn undo_untrusted_journal_rejected() {
        use std::os::unix::fs::{PermissionsExt, chown, symlink};

        let (temp, file, journal) = patched();
        let refuses = |why: &str| {
            let expected = format!("it is not trusted, as {why}; find out who wrote it");
            for refused in [
                undo(&file),
                resume(&file, &InPlaceOptions::default()),
                patch().apply_in_place(&file, &InPlaceOptions::default()),
            ] {
                let refused = refused.unwrap_err().to_string();
                assert!(refused.ends_with(&expected), "{refused}");
            }
            assert_eq!(std::fs::read(&file).unwrap(), NEW);
        };
        for mode in [0o620, 0o602, 0o640, 0o604] {
            std::fs::set_permissions(&journal, PermissionsExt::from_mode(mode)).unwrap();
            refuses("others than its owner may use it");
        }
        std::fs::set_permissions(&journal, PermissionsExt::from_mode(0o600)).unwrap();
        std::fs::hard_link(&journal, temp.join("name")).unwrap();
        refuses("it has other names (hard links)");
        std::fs::rename(&journal, temp.join("name")).unwrap();
        std::fs::remove_file(&journal).unwrap();
        symlink("name", &journal).unwrap();
        refuses("it is a link");
        std::fs::rename(temp.join("name"), &journal).unwrap();
        match chown(&journal, Some(12345), None) {
            Ok(()) => {
                refuses("it belongs to another user");
                chown(&journal, Some(rustix::process::geteuid().as_raw()), None).unwrap();
            }
            Err(error) => transect_testkit::loudly_skip("undo_untrusted_journal_rejected", error),
        }
        undo(&file).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), OLD);
    }

    #[test]
    fn undo_journal_of_other_file_rejected() {
        let (temp, file, journal) = patched();
        // The same bytes, but another file; and the same file, but longer.
        let kept = temp.join("kept");
        std::fs::rename(&file, &kept).unwrap();
        std::fs::write(&file, NEW).unwrap();
        let refuses = || {
            let expected =
                format!("cannot read '{}': it belongs to another file", journal.display());
            for refused in [undo(&file), resume(&file, &InPlaceOptions::default())] {
                assert_eq!(refused.unwrap_err().to_string(), expected);
            }
        };
        #[cfg(unix)]
        refuses();
        std::fs::rename(&kept, &file).unwrap();
        let mut longer = File::options().append(true).open(&file).unwrap();
        longer.write_all(b"!").unwrap();
        refuses();
        longer.set_len(NEW.len() as u64).unwrap();
        undo(&file).unwrap();
        let none = undo(&file).unwrap_err().to_string();
        assert!(none.starts_with(&format!("cannot read '{}': ", journal.display())), "{none}");
    }
}
