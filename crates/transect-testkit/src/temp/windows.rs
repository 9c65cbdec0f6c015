//! Removing through paths, which are verbatim and long.

use std::fs::DirEntry;
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use crate::shell::unix_shell;

/// Bytes of a path from which on the way to it is shortened. Windows takes 32,767 characters; under
/// Wine it is 4,096 bytes, of another path that is longer than ours.
const LONG: usize = 2000;

/// Removes a directory and all that is in it.
///
/// Not `std::fs::remove_dir_all`: under Wine 8 it is denied read-only files, and never ends where a
/// path is longer than Unix takes.
pub(super) fn remove(path: &Path) -> Result<()> {
    remove_through_windows(path).or_else(|error| remove_through_unix(path, error))
}

fn remove_through_windows(path: &Path) -> Result<()> {
    let mut moved = 0;
    let mut stack = vec![path.to_owned()];
    while let Some(here) = stack.last() {
        match remove_files(here)? {
            Some(child) if child.as_os_str().len() > LONG => {
                // What is too deep to be reached is reached from the top.
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

/// Removes files, links and empty directories, and returns the first directory met that is not.
#[expect(clippy::disallowed_methods, reason = "what is removed is no tree to be read")]
fn remove_files(here: &Path) -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(here)? {
        let entry = entry?;
        let path = entry.path();
        make_writable(&entry);
        // One of them is right, whether it is a file, a directory, or a link to either.
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

/// What is read-only is not removed. (Read-only directories are: the attribute means something
/// else there.)
#[expect(clippy::permissions_set_readonly_false, reason = "on Windows it is one attribute")]
fn make_writable(entry: &DirEntry) {
    if let Ok(metadata) = entry.metadata()
        && metadata.permissions().readonly()
    {
        let mut permissions = metadata.permissions();
        permissions.set_readonly(false);
        // Whether it helped is seen when the file is removed.
        let _ = std::fs::set_permissions(entry.path(), permissions);
    }
}

/// Under Wine a tree may hold what only Unix programs take: names with `*`, pipes, and links
/// whose target is asked in their place.
fn remove_through_unix(path: &Path, error: Error) -> Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(error);
    };
    let name = name.to_string_lossy();
    unix_shell(parent, &format!("chmod -R u+rwx '{name}'; rm -rf '{name}'"));
    if path.exists() { Err(error) } else { Ok(()) }
}
