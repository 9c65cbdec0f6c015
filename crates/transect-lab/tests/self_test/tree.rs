//! The trees of the self-test.

use std::fs::File;
use std::io;
use std::path::Path;

/// Files in a directory.
const IN_A_DIRECTORY: usize = 50;

/// Creates a tree of this number of files.
pub(crate) fn create(root: &Path, files: usize) -> io::Result<()> {
    std::fs::create_dir(root)?;
    for at in 0..files {
        let directory = root.join(format!("d{:04}", at / IN_A_DIRECTORY));
        if at % IN_A_DIRECTORY == 0 {
            std::fs::create_dir(&directory)?;
        }
        // Most have a length but no content; some are empty.
        File::create_new(directory.join(format!("file-{at}")))?.set_len(at as u64 % 10 * 100)?;
    }
    Ok(())
}

/// Adds what methods skip, follow or count by mistake.
pub(crate) fn add_odd_entries(root: &Path) -> io::Result<()> {
    let hidden = root.join(".hidden");
    std::fs::create_dir(&hidden)?;
    File::create_new(hidden.join(".file"))?.set_len(7)?;
    File::create_new(root.join("empty"))?;
    use std::os::unix::fs::symlink;
    symlink("d0000", root.join("link-to-a-directory"))?;
    symlink("d0000/file-1", root.join("link-to-a-file"))?;
    symlink("nowhere", root.join("link-to-nothing"))?;
    Ok(())
}
