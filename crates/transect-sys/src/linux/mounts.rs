//! The mount table, from `/proc/thread-self/mountinfo` (`proc_pid_mountinfo(5)`).

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::stat::retry;

/// One mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The number of the mount.
    pub id: u64,
    /// The number of the mount that the mount point is on.
    pub parent: u64,
    /// The directory of the file system that is mounted; `/` is all of it.
    pub directory: PathBuf,
    /// Where it is mounted, with escapes decoded.
    pub point: PathBuf,
    /// Its type, as `mount(8)` names it.
    pub file_system: String,
    /// The mounted device, or a word in its place.
    pub source: String,
    /// Its options, separated by commas.
    pub options: String,
}

/// Returns all mounts, in the kernel's order.
///
/// # Errors
/// `/proc` is not mounted or not readable.
pub fn mounts() -> io::Result<Vec<Mount>> {
    // A thread may have a root directory of its own.
    Ok(parse_mountinfo(&std::fs::read("/proc/thread-self/mountinfo")?))
}

/// The mount points. They are read again only if the kernel reports that something was mounted or unmounted.
#[derive(Debug)]
pub(crate) struct MountPoints {
    table: File,
    points: Arc<[PathBuf]>,
}

impl MountPoints {
    pub(crate) fn open() -> io::Result<Self> {
        let table = File::open("/proc/thread-self/mountinfo")?;
        let mut known = Self { table, points: Arc::default() };
        known.read()?;
        Ok(known)
    }

    pub(crate) fn get(&mut self) -> io::Result<Arc<[PathBuf]>> {
        let mut table = [PollFd::new(&self.table, PollFlags::PRI)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if retry(|| poll(&mut table, Some(&now)))? > 0 {
            self.read()?;
        }
        Ok(Arc::clone(&self.points))
    }

    fn read(&mut self) -> io::Result<()> {
        let mut content = Vec::new();
        self.table.rewind()?;
        self.table.read_to_end(&mut content)?;
        self.points = parse_mountinfo(&content).into_iter().map(|mount| mount.point).collect();
        Ok(())
    }
}

/// Returns the mount that a canonical path is on; `None` if the mount table cannot be read.
pub fn mount_of(path: &Path) -> Option<Mount> {
    // A later mount at the same point hides the earlier ones.
    mounts()
        .ok()?
        .into_iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.as_os_str().len())
}

/// Parses the content of a `mountinfo` file. Skips malformed lines.
pub fn parse_mountinfo(content: &[u8]) -> Vec<Mount> {
    content.split(|&byte| byte == b'\n').filter_map(parse_line).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse().ok();
    let (id, parent) = (number()?, number()?);
    let directory = fields.nth(1)?;
    let point = fields.next()?;
    let options = fields.next()?;
    // Optional fields, then a hyphen.
    fields.find(|field| field == b"-")?;
    let file_system = fields.next()?;
    let source = fields.next()?;
    let text = |field: &[u8]| String::from_utf8_lossy(&unescape(field)).into_owned();
    let path = |field: &[u8]| PathBuf::from(OsString::from_vec(unescape(field)));
    Some(Mount {
        id,
        parent,
        directory: path(directory),
        point: path(point),
        file_system: text(file_system),
        source: text(source),
        options: text(options),
    })
}

/// Undoes the octal escapes for space, tab, newline and backslash.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        match rest {
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] => {
                plain.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = tail;
            }
            _ => {
                plain.push(*first);
                rest = tail;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mountinfo_optional_fields_and_escapes() {
        let content = b"36 35 98:0 /@ /mnt/a\\040b rw,noatime master:1 shared:2 - ext4 /dev/x rw\n\
            22 27 0:20 / /proc rw - proc proc rw\n\
            broken line\n";
        let mounts = parse_mountinfo(content);
        assert_eq!(mounts.len(), 2);
        assert_eq!((mounts[0].id, mounts[0].parent), (36, 35));
        assert_eq!(mounts[0].directory, PathBuf::from("/@"));
        assert_eq!(mounts[0].point, PathBuf::from("/mnt/a b"));
        assert_eq!(mounts[0].file_system, "ext4");
        assert_eq!(mounts[0].source, "/dev/x");
        assert_eq!(mounts[0].options, "rw,noatime");
        assert_eq!(mounts[1].file_system, "proc");
    }

    #[test]
    fn mount_points_changes_seen() {
        let temp = transect_testkit::TempDir::new();
        let mut known = MountPoints::open().unwrap();
        let mut is_mounted = || known.get().unwrap().contains(&temp.join("mounted"));
        assert!(!is_mounted());
        let mount = match transect_testkit::Mount::tmpfs("1M", &temp.join("mounted")) {
            Ok(mount) => mount,
            Err(why) => return transect_testkit::loudly_skip("mount_points_changes_seen", why),
        };
        assert!(is_mounted() && is_mounted());
        drop(mount);
        assert!(!is_mounted());
    }

    #[test]
    fn mountinfo_invalid_escape_unchanged() {
        assert_eq!(unescape(b"a\\9\\04"), b"a\\9\\04");
    }
}
