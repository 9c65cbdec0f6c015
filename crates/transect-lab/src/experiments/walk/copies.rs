//! Fresh copies of programs, for measuring how long they take to start.
//!
//! The layout of a program in the page cache differs between copies of the same bytes. It changes the
//! number of page faults by up to ten, and the time by a few percent. Where starts are measured, each cell
//! therefore runs its own copy and gets a new one after a number of runs, so that no program has a lucky
//! copy for a whole session.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::private_dir::PrivateTempDir;

#[derive(Debug, Default)]
pub(super) struct Copies {
    folder: Option<PrivateTempDir>,
    /// The current copies, by the name of the cell.
    copies: HashMap<String, Copied>,
    made: usize,
}

#[derive(Debug)]
struct Copied {
    program: PathBuf,
    runs: usize,
}

impl Copies {
    /// Prepares the next run of a cell. Makes a new copy for the first run, and whenever the last copy has
    /// had `most` runs; returns whether it did.
    pub(super) fn prepare(&mut self, cell: &str, program: &Path, most: usize) -> io::Result<bool> {
        if let Some(copied) = self.copies.get_mut(cell)
            && copied.runs < most
        {
            copied.runs += 1;
            return Ok(false);
        }
        let folder = match &self.folder {
            Some(folder) => folder.path(),
            None => self.folder.insert(PrivateTempDir::new("programs")?).path(),
        };
        // Keep the file name: some programs depend on it.
        self.made += 1;
        let folder = folder.join(self.made.to_string());
        std::fs::create_dir(&folder)?;
        let copy = folder.join(program.file_name().unwrap_or_default());
        std::fs::copy(program, &copy)?;
        // Sync now: writing the copy to the device later would disturb the runs.
        let _ = std::fs::File::open(&copy).and_then(|copy| copy.sync_all());
        let copied = Copied { program: copy, runs: 1 };
        if let Some(old) = self.copies.insert(cell.to_owned(), copied) {
            std::fs::remove_dir_all(old.program.parent().unwrap_or(&old.program))?;
        }
        Ok(true)
    }

    pub(super) fn of(&self, cell: &str) -> Option<&Path> {
        self.copies.get(cell).map(|copied| copied.program.as_path())
    }
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;

    #[test]
    fn copy_replaced_after_its_runs() {
        let temp = TempDir::new();
        let program = temp.join("program");
        std::fs::write(&program, "content").unwrap();
        let mut copies = Copies::default();
        assert_eq!(copies.of("cell"), None);
        let mut prepare = |cell: &str| {
            let is_new = copies.prepare(cell, &program, 2).unwrap();
            let copy = copies.of(cell).unwrap().to_owned();
            assert_eq!(std::fs::read(&copy).unwrap(), b"content");
            assert_eq!(copy.file_name(), program.file_name());
            (is_new, copy)
        };
        let (is_new, first) = prepare("cell");
        assert!(is_new);
        let (is_new, other) = prepare("cell (again)");
        assert!(is_new && other != first);
        assert_eq!(prepare("cell"), (false, first.clone()));
        let (is_new, second) = prepare("cell");
        assert!(is_new && second != first);
        assert!(!first.exists() && other.exists());
        let folder = second.parent().unwrap().parent().unwrap().to_owned();
        drop(copies);
        assert!(!folder.exists());
        assert!(Copies::default().prepare("cell", &temp.join("missing"), 2).is_err());
    }
}
