//! Where a volume is: in an image, on a device, or in a partition of one of them (`disk.img#2`).

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::name::name_from_bytes;
use crate::read_at::ReadAt;
use crate::registry::ReaderKind;

use super::error::invalid;
use super::index::VolumeIndex;
use super::partitions::Partition;
use super::source::Window;
use super::threads::Effort;
use super::{contents, ext4, partitions};

/// The most partitions that an error names.
const MAX_NAMED: usize = 16;

/// Returns the reader for the volume in a regular file, on a device, or in a partition of one of them;
/// `None` if there is none, or it cannot be read. A path to a partition is always one of a volume: why it
/// cannot be read is an error of its reader.
pub fn reader_of(path: &Path) -> Option<ReaderKind> {
    if split(path).is_some() {
        return Some(ReaderKind::Ext4);
    }
    let file = open_likely(path)?;
    ext4::is_likely(&file).then_some(ReaderKind::Ext4)
}

/// Returns the partitions in a regular file that can be read, as paths; none if it cannot be read itself.
pub fn partitions_in(path: &Path) -> Vec<PathBuf> {
    let Some(disk) = open_likely(path) else { return Vec::new() };
    let found = partitions::read(&disk).unwrap_or_default();
    let is_readable = |it: &&Partition| window(&disk, it).is_ok_and(|it| ext4::is_likely(&it));
    found.iter().filter(is_readable).map(|it| path_of(path, it.number)).collect()
}

fn open_likely(path: &Path) -> Option<File> {
    path.metadata().is_ok_and(|it| is_disk(&it)).then(|| File::open(path).ok()).flatten()
}

/// Returns whether a file may hold a volume. Nothing else is opened: a pipe would wait for its writer.
fn is_disk(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    let is_device = std::os::unix::fs::FileTypeExt::is_block_device(&metadata.file_type());
    #[cfg(not(unix))]
    let is_device = false;
    metadata.is_file() || is_device
}

/// Reads the tables of the volume at a path.
///
/// # Errors
/// There is no volume, or it cannot be read; the system's error.
pub(super) fn read(path: &Path, effort: Effort) -> io::Result<VolumeIndex> {
    let Some((disk, number)) = split(path) else {
        if path.is_dir() {
            let text =
                "it is a directory; this reader reads images and devices, and directories on Linux";
            return Err(unsupported(text.to_owned()));
        }
        return read_volume(&File::open(path)?, effort);
    };
    let disk = File::open(disk)?;
    let found = partitions::read(&disk)?;
    let Some(partition) = found.iter().find(|it| it.number == number) else {
        return Err(unsupported(match found.is_empty() {
            true => "it has no partitions".to_owned(),
            false => format!("there is no partition {number}, but {}", described(&disk, &found)),
        }));
    };
    read_volume(&window(&disk, partition)?, effort)
}

/// Reads the tables of a volume.
pub(super) fn read_volume<S: ReadAt + ?Sized>(
    volume: &S,
    effort: Effort,
) -> io::Result<VolumeIndex> {
    if !ext4::is_likely(volume) {
        if let Some(name) = contents::name_of(volume) {
            let text = format!("it holds {name}; only ext4, ext3 and ext2 are supported");
            return Err(unsupported(text));
        }
        let found = partitions::read(volume)?;
        if !found.is_empty() {
            let all = described(volume, &found);
            return Err(unsupported(format!("it has partitions: {all}; append one to the path")));
        }
    }
    ext4::read(volume, effort)
}

fn window<'a, S: ReadAt + ?Sized>(disk: &'a S, partition: &Partition) -> io::Result<Window<'a, S>> {
    let Partition { number, begin, length } = *partition;
    if begin.checked_add(length).is_none_or(|end| disk.size().is_ok_and(|size| end > size)) {
        return Err(invalid(format!("partition {number} lies outside it")));
    }
    Ok(Window::new(disk, begin, length))
}

/// Returns partitions as text: what to append to a path, and what each holds.
fn described<S: ReadAt + ?Sized>(disk: &S, found: &[Partition]) -> String {
    let one = |it: &Partition| {
        let holds = match window(disk, it) {
            Err(_) => "outside the disk",
            Ok(volume) if ext4::is_likely(&volume) => "ext4, ext3 or ext2",
            Ok(volume) => contents::name_of(&volume).unwrap_or("unknown"),
        };
        format!("#{} ({holds})", it.number)
    };
    let mut all: Vec<String> = found.iter().take(MAX_NAMED).map(one).collect();
    if found.len() > MAX_NAMED {
        all.push(format!("{} more", found.len() - MAX_NAMED));
    }
    all.join(", ")
}

/// Splits the path to a partition: the disk, and the number after `#`. A file that has such a name itself is
/// not a partition.
pub(super) fn split(path: &Path) -> Option<(PathBuf, u32)> {
    let name = path.file_name()?.as_encoded_bytes();
    let at = name.iter().rposition(|&byte| byte == b'#')?;
    let number = std::str::from_utf8(&name[at + 1..]).ok()?;
    let is_number = number.starts_with(|first: char| first.is_ascii_digit());
    let number = is_number.then(|| number.parse().ok()).flatten()?;
    if path.symlink_metadata().is_ok() {
        return None;
    }
    let disk = path.with_file_name(name_from_bytes(name[..at].to_vec()));
    disk.metadata().is_ok_and(|it| is_disk(&it)).then_some((disk, number))
}

fn path_of(disk: &Path, number: u32) -> PathBuf {
    let mut path = disk.as_os_str().to_owned();
    path.push(OsStr::new(&format!("#{number}")));
    path.into()
}

fn unsupported(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, text)
}
