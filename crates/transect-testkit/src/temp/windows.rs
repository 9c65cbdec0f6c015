//! Removal through verbatim, long paths.

use std::fs::DirEntry;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use crate::shell::unix_shell;

/// The length in bytes from which a path is shortened. Windows accepts 32,767 characters. Under
/// Wine the limit is 4,096 bytes, but of the Unix path, which is longer.
const LONG: usize = 2000;

/// Removes a directory and its content.
///
/// Not with `std::fs::remove_dir_all`: Wine 8 denies it read-only files, and it never ends where a
/// path is longer than Unix accepts.
pub(super) fn remove(path: &Path) -> Result<()> {
    remove_through_windows(path).or_else(|error| remove_through_unix(path, error))
}

fn remove_through_windows(path: &Path) -> Result<()> {
    let mut moved = 0;
    let mut stack = vec![path.to_owned()];
    while let Some(here) = stack.last() {
        match remove_files(here)? {
            Some(child) if child.as_os_str().len() > LONG => {
                // A directory that is too deep is moved to the top.
                let near = path.join(format!("transect-moved-{moved}"));
                moved += 1;
                std::fs::rename(&child, &near)?;
                stack.push(near);
            }
            Some(child) => stack.push(child),
            None => {
                std::fs::remove_dir(here)?;
                stack.pop();
            }
        }
    }
    Ok(())
}

/// Removes files, links and empty directories, and returns the first directory that is not empty.
#[expect(clippy::disallowed_methods, reason = "what is removed is no tree to be read")]
fn remove_files(here: &Path) -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(here)? {
        let entry = entry?;
        let path = entry.path();
        make_writable(&entry);
        // One of the two is right for a file, a directory, or a link to either.
        let removed = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
        if let Err(error) = removed {
            if !entry.file_type()?.is_dir() {
                return Err(error);
            }
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Clears the read-only attribute, which prevents the removal of files. (On directories it has
/// another meaning and does not prevent removal.)
#[expect(clippy::permissions_set_readonly_false, reason = "on Windows it is one attribute")]
fn make_writable(entry: &DirEntry) {
    if let Ok(metadata) = entry.metadata()
        && metadata.permissions().readonly()
    {
        let mut permissions = metadata.permissions();
        permissions.set_readonly(false);
        // If this fails, the removal fails, too.
        let _ = std::fs::set_permissions(entry.path(), permissions);
    }
}

/// Removes entries that only Unix programs can remove under Wine: names with `*`, pipes, and links
/// that are followed.
fn remove_through_unix(path: &Path, error: Error) -> Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(error);
    };
    let name = name.to_string_lossy();
    unix_shell(parent, &format!("chmod -R u+rwx '{name}'; rm -rf '{name}'"));
    if path.exists() { Err(error) } else { Ok(()) }
}
