//! Where a volume is: in an image, on a device, or in a partition of one of them (`disk.img#2`).

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use transect_sys::input::is_disk;
use transect_sys::{ReadAt, ReaderKind, name_from_bytes};

use super::error::{invalid, unsupported};
use super::index::VolumeIndex;
#[cfg(windows)]
use super::mounted_ntfs;
use super::ntfs::change_journal::{JournalChange, JournalCounts};
use super::partitions::Partition;
use super::source::{self, Window};
use super::threads::Effort;
use super::{contents, ext4, ntfs, partitions};

/// The most partitions that an error names.
const MAX_NAMED: usize = 16;

/// Returns the reader for the volume in a regular file, on a device, or in a partition of one of them;
/// `None` if there is none, or it cannot be read. A path to a partition, and on Windows one to a device, is always one of
/// a volume: why it cannot be read is an error of its reader.
pub fn reader_of(path: &Path) -> Option<ReaderKind> {
    #[cfg(windows)]
    if mounted_ntfs::is_device(path) {
        return Some(ReaderKind::Ntfs);
    }
    if let Some((disk, number)) = split(path) {
        let reader = open_likely(&disk).and_then(|disk| {
            let found = partitions::read(&disk).ok()?;
            likely_reader(&window(&disk, found.iter().find(|it| it.number == number)?).ok()?)
        });
        return Some(reader.unwrap_or(ReaderKind::Ext4));
    }
    likely_reader(&open_likely(path)?)
}

/// Returns the reader for what a volume seems to hold.
fn likely_reader(volume: &dyn ReadAt) -> Option<ReaderKind> {
    if ext4::is_likely(volume) {
        Some(ReaderKind::Ext4)
    } else {
        ntfs::is_likely(volume).then_some(ReaderKind::Ntfs)
    }
}

fn held_for(reader: ReaderKind) -> &'static str {
    match reader {
        ReaderKind::Ntfs => "NTFS",
        _ => "ext4, ext3 or ext2",
    }
}

/// Returns the partitions in a regular file that can be read, as paths; none if it cannot be read itself.
pub fn partitions_in(path: &Path) -> Vec<PathBuf> {
    let Some(disk) = open_likely(path) else { return Vec::new() };
    let found = partitions::read(&disk).unwrap_or_default();
    let is_readable =
        |it: &&Partition| window(&disk, it).is_ok_and(|it| likely_reader(&it).is_some());
    found.iter().filter(is_readable).map(|it| path_of(path, it.number)).collect()
}

fn open_likely(path: &Path) -> Option<File> {
    transect_sys::input::open_disk(path).ok()
}

/// Reads the change journal of the NTFS volume in an image, on a device or in a partition of one, or the copy of a journal (of
/// the stream `$UsnJrnl:$J`), from its oldest record on. Paths are those that directories have now; of those that are gone, the last ones. A copy has
/// only the latter. Ends early if `show` returns [`ControlFlow::Break`].
///
/// # Errors
/// There is no such volume or no journal on it, or it cannot be read; the system's error.
pub fn read_journal(
    path: &Path,
    mut show: impl FnMut(JournalChange) -> ControlFlow<()>,
) -> io::Result<JournalCounts> {
    with_volume(path, ReaderKind::Ntfs, |volume| read_journal_in(volume, &mut show))
}

/// Reads the change journal of a volume, or the copy of one.
pub(super) fn read_journal_in(
    source: &dyn ReadAt,
    mut show: impl FnMut(JournalChange) -> ControlFlow<()>,
) -> io::Result<JournalCounts> {
    if likely_reader(source).is_none()
        && let Some(counts) = ntfs::change_journal::read_stream(source, &mut show)?
    {
        return Ok(counts);
    }
    check_holds(source, Some(ReaderKind::Ntfs))?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(16);
    let effort = Effort { threads, all_times: false };
    ntfs::change_journal::read(source, effort, &mut show)
}

/// Reads the tables of the volume at a path, which this reader is for.
pub(super) fn read(path: &Path, reader: ReaderKind, effort: Effort) -> io::Result<VolumeIndex> {
    #[cfg(windows)]
    if reader == ReaderKind::Ntfs && path.is_dir() {
        return mounted_ntfs::read(path, effort);
    }
    with_volume(path, reader, |volume| read_volume(volume, Some(reader), effort))
}

/// Opens the volume at a path, which this reader is for.
fn with_volume<T>(
    path: &Path,
    reader: ReaderKind,
    mut read: impl FnMut(&dyn ReadAt) -> io::Result<T>,
) -> io::Result<T> {
    #[cfg(windows)]
    if mounted_ntfs::is_device(path) {
        return read(&mounted_ntfs::open(path)?);
    }
    let Some((disk, number)) = split(path) else {
        if path.is_dir() {
            let text = match reader {
                ReaderKind::Ntfs if cfg!(windows) => {
                    r"it is a directory; use the device of its volume, such as \\.\C:"
                }
                ReaderKind::Ntfs => "it is a directory; this reader reads images and devices",
                _ => {
                    "it is a directory; this reader reads images and devices, and directories on Linux"
                }
            };
            return Err(unsupported(text));
        }
        let volume = source::open(path)?;
        #[cfg(target_os = "linux")]
        if likely_reader(&volume) == Some(ReaderKind::Ntfs) {
            refuse_mounted(&volume)?;
        }
        return read(&volume);
    };
    let disk = source::open(&disk)?;
    let found = partitions::read(&disk)?;
    let Some(partition) = found.iter().find(|it| it.number == number) else {
        return Err(unsupported(match found.is_empty() {
            true => "it has no partitions".to_owned(),
            false => format!("there is no partition {number}, but {}", described(&disk, &found)),
        }));
    };
    read(&window(&disk, partition)?)
}

/// Reads the tables of a volume, with this reader or, without one, with that for what it holds.
pub(super) fn read_volume(
    volume: &dyn ReadAt,
    reader: Option<ReaderKind>,
    effort: Effort,
) -> io::Result<VolumeIndex> {
    let found = check_holds(volume, reader)?;
    match found.or(reader) {
        Some(ReaderKind::Ntfs) => ntfs::read(volume, effort),
        _ => ext4::read(volume, effort),
    }
}

/// Returns the reader for what a volume holds, if that is known.
fn check_holds(volume: &dyn ReadAt, reader: Option<ReaderKind>) -> io::Result<Option<ReaderKind>> {
    let found = likely_reader(volume);
    if let (Some(found), Some(reader)) = (found, reader)
        && found != reader
    {
        return Err(unsupported(format!("it holds {}, not {}", held_for(found), held_for(reader))));
    }
    if found.is_none() {
        if let Some(name) = contents::name_of(volume) {
            return Err(unsupported(format!(
                "it holds {name}; only ext4, ext3, ext2 and NTFS are supported"
            )));
        }
        let found = partitions::read(volume)?;
        if !found.is_empty() {
            let all = described(volume, &found);
            return Err(unsupported(format!("it has partitions: {all}; append one to the path")));
        }
    }
    Ok(found)
}

/// Refuses an image or device that is mounted: drivers of NTFS keep tables in memory that are not written yet.
#[cfg(target_os = "linux")]
fn refuse_mounted(volume: &File) -> io::Result<()> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let own = volume.metadata()?;
    let is_it = |source: std::fs::Metadata| match own.file_type().is_block_device() {
        true => source.file_type().is_block_device() && source.rdev() == own.rdev(),
        false => (source.dev(), source.ino()) == (own.dev(), own.ino()),
    };
    let is_written = |mount: &transect_sys::linux::Mount| {
        let source = Path::new(&mount.source);
        mount.options.split(',').any(|option| option == "rw")
            && source.is_absolute()
            && source.metadata().is_ok_and(is_it)
    };
    // Without a mount table, nothing is known.
    match transect_sys::linux::mounts().unwrap_or_default().into_iter().find(is_written) {
        None => Ok(()),
        Some(mount) => Err(unsupported(format!(
            "it is mounted on '{}'; unmount it, or walk that directory",
            mount.point.display()
        ))),
    }
}

fn window<'a>(disk: &'a dyn ReadAt, partition: &Partition) -> io::Result<Window<'a>> {
    let Partition { number, begin, length } = *partition;
    if begin.checked_add(length).is_none_or(|end| disk.size().is_ok_and(|size| end > size)) {
        return Err(invalid(format!("partition {number} lies outside it")));
    }
    Ok(Window { source: disk, begin, length })
}

/// Returns partitions as text: what to append to a path, and what each holds.
fn described(disk: &dyn ReadAt, found: &[Partition]) -> String {
    let one = |it: &Partition| {
        let holds = match window(disk, it) {
            Err(_) => "outside the disk",
            Ok(volume) => match likely_reader(&volume) {
                Some(reader) => held_for(reader),
                None => contents::name_of(&volume).unwrap_or("unknown"),
            },
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
    disk.metadata().is_ok_and(|it| it.is_file() || is_disk(&it)).then_some((disk, number))
}

fn path_of(disk: &Path, number: u32) -> PathBuf {
    let mut path = disk.as_os_str().to_owned();
    path.push(OsStr::new(&format!("#{number}")));
    path.into()
}
