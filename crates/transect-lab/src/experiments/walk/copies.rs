//! Fresh copies of programs, for measuring how long they take to start.
//!
//! How the page cache holds a program changes its page faults by up to ten, and its time by percents, from
//! one copy of the same bytes to the next. Where starts are measured, every cell therefore runs a copy of
//! its own, and gets a new one after a number of runs, so that no program is lucky in a whole session.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::private_dir::PrivateTempDir;

/// The copies of a session.
#[derive(Debug, Default)]
pub(super) struct Copies {
    folder: Option<PrivateTempDir>,
    /// By the name of the cell.
    copies: HashMap<String, Copied>,
    made: usize,
}

#[derive(Debug)]
struct Copied {
    program: PathBuf,
    runs: usize,
}

impl Copies {
    /// Prepares the next run of a cell. Returns whether it runs a new copy, as it does for the first time
    /// and whenever the last copy had `most` runs.
    ///
    /// # Errors
    /// The program cannot be copied.
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
        // Some programs depend on their name, so it stays.
        self.made += 1;
        let folder = folder.join(self.made.to_string());
        std::fs::create_dir(&folder)?;
        let copy = folder.join(program.file_name().unwrap_or_default());
        std::fs::copy(program, &copy)?;
        // Writing it to the device later would disturb the runs.
        let _ = std::fs::File::open(&copy).and_then(|copy| copy.sync_all());
        let copied = Copied { program: copy, runs: 1 };
        if let Some(old) = self.copies.insert(cell.to_owned(), copied) {
            std::fs::remove_dir_all(old.program.parent().unwrap_or(&old.program))?;
        }
        Ok(true)
    }

    /// Returns the copy that a cell runs.
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
