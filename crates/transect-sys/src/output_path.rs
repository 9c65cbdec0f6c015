//! Paths of outputs, in directories where everybody can create files.
//!
//! In `/tmp`, another user can create a link with the name of an output, and the output would replace the file that
//! the link leads to. The kernel refuses to follow such links if `fs.protected_symlinks` is set (`may_follow_link` in
//! Linux' `fs/namei.c`), which not all systems do, and only at the end of a path.

use std::io;
use std::path::Path;

/// Checks the path of an output before it is created or replaced: that no link on the way, and no file or pipe at the
/// end, belongs to another user and lies in a directory with the sticky bit that everybody can write to. The links of
/// the directory's owner are accepted, as by the kernel. On other systems than Unix, all paths are.
///
/// # Errors
/// There is such a link or file ([`io::ErrorKind::PermissionDenied`]), or the path has more than 40 links. What cannot
/// be examined is left to the creation of the output, which reports it.
pub fn check_output_path(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    return unix::check(path);
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(())
    }
}

#[cfg(unix)]
mod unix {
    use std::collections::VecDeque;
    use std::ffi::OsString;
    use std::fs::Metadata;
    use std::io;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    use std::path::{Component, Path, PathBuf};

    /// The most links that the kernel follows: `MAXSYMLINKS` in `linux/namei.h`.
    const MOST_LINKS: usize = 40;

    pub(super) fn check(path: &Path) -> io::Result<()> {
        let (mut here, mut links) = (PathBuf::new(), 0);
        let mut rest: VecDeque<OsString> = steps(path).collect();
        while let Some(step) = rest.pop_front() {
            let next = here.join(&step);
            // What does not exist, or cannot be examined, is reported when it is opened.
            let Ok(there) = lstat(&next) else { return Ok(()) };
            let is_link = there.file_type().is_symlink();
            let is_output = rest.is_empty() && (there.is_file() || there.file_type().is_fifo());
            if (is_link || is_output) && is_foreign(&there, &here) {
                return Err(refusal(&next, is_link));
            }
            if !is_link {
                here = next;
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(rustix::io::Errno::LOOP.into());
            }
            let Ok(target) = next.read_link() else { return Ok(()) };
            if target.is_absolute() {
                here.clear();
            }
            steps(&target).rev().for_each(|step| rest.push_front(step));
        }
        Ok(())
    }

    fn steps(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
        let parts = path.components().filter(|&part| part != Component::CurDir);
        parts.map(|part| part.as_os_str().to_owned())
    }

    /// Returns whether another user has put a file into a directory where everybody can.
    fn is_foreign(there: &Metadata, directory: &Path) -> bool {
        /// `S_ISVTX` and `S_IWOTH`.
        const STICKY_AND_WRITABLE: u32 = 0o1002;
        if there.uid() == rustix::process::geteuid().as_raw() {
            return false;
        }
        let is_here = directory.as_os_str().is_empty();
        let directory = if is_here { Path::new(".") } else { directory }.metadata();
        directory.is_ok_and(|directory| {
            directory.mode() & STICKY_AND_WRITABLE == STICKY_AND_WRITABLE
                && there.uid() != directory.uid()
        })
    }

    fn refusal(path: &Path, is_link: bool) -> io::Error {
        let what = if is_link { "link" } else { "file" };
        let reason = format!(
            "the {what} '{}' belongs to another user, in a directory where everybody can create files",
            path.display()
        );
        io::Error::new(io::ErrorKind::PermissionDenied, reason)
    }

    #[expect(clippy::disallowed_methods, reason = "single files, not entries of a walk")]
    fn lstat(path: &Path) -> io::Result<Metadata> {
        std::fs::symlink_metadata(path)
    }
}
