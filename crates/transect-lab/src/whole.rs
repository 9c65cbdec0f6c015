//! Files that are there as a whole, or not at all.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file in place of what is there: beside it first, synced, then renamed.
///
/// # Errors
/// Whatever the system says; what was there is then untouched, and nothing is left beside it.
pub fn replace(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = beside(target);
    let written = File::create_new(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&beside, target));
    if written.is_err() {
        // It may not be there, and what went wrong first is what is told.
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// Returns a name in the same folder that nobody else uses.
fn beside(target: &Path) -> PathBuf {
    let mut beside = OsString::from(".");
    beside.push(target.file_name().unwrap_or_default());
    beside.push(format!(".{}", std::process::id()));
    target.with_file_name(beside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "one folder, to see what is left in it")]
    fn a_file_is_replaced_or_stays_and_nothing_is_left_beside_it() {
        let temp = TempDir::new();
        let names = || {
            let entries = std::fs::read_dir(temp.path()).unwrap().map(|entry| entry.unwrap());
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort();
            names
        };
        let file = temp.join("file");
        replace(&file, b"first").unwrap();
        replace(&file, b"second").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"second");
        assert!(replace(&temp.join("missing/file"), b"").is_err());
        std::fs::create_dir(temp.join("folder")).unwrap();
        std::fs::write(temp.join("folder/precious"), "").unwrap();
        assert!(replace(&temp.join("folder"), b"").is_err());
        assert_eq!(names(), ["file", "folder"]);
    }
}
