//! Publishes parts: completely, or not at all, and each only once.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file, unless it exists already: then it returns false and leaves the file as it is. Whatever happens, no file is
/// half written, and a power failure afterwards does not undo it.
pub(super) fn publish(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<bool> {
    transect_sys::check_output_path(&folder.join(name))?;
    // Several may write the same part at once: threads, or processes with the same id on different machines.
    let random = transect_sys::host::random();
    let hidden = folder.join(format!(".{name}.{random:016x}.tmp"));
    let published = write_and_link(&hidden, &folder.join(name), write);
    let removed = fs::remove_file(&hidden);
    let is_new = published?;
    removed?;
    sync_folder(folder)?;
    Ok(is_new)
}

fn write_and_link(
    hidden: &Path,
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<bool> {
    let mut file = io::BufWriter::with_capacity(1 << 20, File::create_new(hidden)?);
    write(&mut file)?;
    file.into_inner()?.sync_all()?;
    // A rename would replace the part of a process that was faster, whose tasks may have begun.
    match fs::hard_link(hidden, path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// NTFS logs changes of directories itself.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;

    /// Both have the same process id, as processes on different machines can.
    #[test]
    fn publish_twice_at_once_keeps_the_first_whole() {
        let folder = TempDir::new();
        let is_outer_new = publish(folder.path(), "part", |out| {
            out.write_all(b"slower")?;
            assert!(publish(folder.path(), "part", |out| out.write_all(b"first"))?);
            Ok(())
        });
        assert!(!is_outer_new.unwrap());
        assert_eq!(fs::read(folder.join("part")).unwrap(), b"first");
        assert_eq!(super::super::commit::remove_unfinished(folder.path()).unwrap(), 0);
    }
}
