//! Devices that fail while they are read: what is missing is reported, always.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;
use transect_sys::ReadAt;

use transect_testkit::{Mount, NtfsMount, TempDir, loudly_skip};

use super::*;

/// A device whose reads fail from one on.
struct Failing<'a> {
    bytes: &'a [u8],
    reads: AtomicUsize,
    first: usize,
    /// How many reads fail.
    count: usize,
    error: Errno,
}

impl ReadAt for Failing<'_> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_exact_at(&self, offset: u64, block: &mut [u8]) -> io::Result<()> {
        let number = self.reads.fetch_add(1, Ordering::Relaxed);
        if number.checked_sub(self.first).is_some_and(|it| it < self.count) {
            return Err(io::Error::from_raw_os_error(self.error.raw_os_error()));
        }
        self.bytes.read_exact_at(offset, block)
    }
}

/// Returns the number of entries with attributes, and of errors of entries and directories.
fn counts(index: &VolumeIndex) -> (usize, usize) {
    let (mut left, mut known, mut errors) = (Vec::from_iter(index.top), 0, 0);
    while let Some(directory) = left.pop() {
        errors += usize::from(index.error(directory).is_some());
        let mut at = index.begin(directory);
        while let Some((name, inode)) = index.next(&mut at) {
            match index.attributes(inode) {
                Ok(_) => known += 1,
                Err(_) => errors += 1,
            }
            left.extend(index.subdirectory(directory, name));
        }
    }
    (known, errors)
}

/// Reads a volume with each of its reads failing, alone and with all behind it.
fn check(bytes: &[u8]) {
    let read = |first, count, error| {
        let device = Failing { bytes, reads: AtomicUsize::new(0), first, count, error };
        let index = disk::read_volume(&device, None, Effort { threads: 1, all_times: true });
        (index, device.reads.into_inner())
    };
    let (index, reads) = read(usize::MAX, 0, Errno::IO);
    let (whole, errors) = counts(&index.unwrap());
    assert!(whole > 1200 && reads > 8, "{whole} entries, {reads} reads");
    assert_eq!(errors, 0);
    let (mut partial, mut failed) = (0, 0);
    for first in 0..reads {
        for (count, error) in [(1, Errno::IO), (usize::MAX, Errno::NODEV)] {
            match read(first, count, error).0 {
                // It has no top directory: opening it fails.
                Ok(index) if index.top.is_none() => failed += 1,
                Ok(index) => {
                    let (known, errors) = counts(&index);
                    let is_reported = known == whole || known < whole && errors > 0;
                    assert!(is_reported, "read {first}: {known} of {whole}, {errors} errors");
                    partial += usize::from(errors > 0);
                }
                Err(_) => failed += 1,
            }
        }
    }
    assert!(partial > 0 && failed > 0, "{partial} were read in part, {failed} not at all");
}

fn fill(root: &Path) {
    for number in 0..30 {
        let directory = root.join(format!("directory {}/{number}", number % 3));
        fs::create_dir_all(&directory).unwrap();
        (0..40).for_each(|file| fs::write(directory.join(format!("file {file}")), "x").unwrap());
    }
}

#[test]
fn ext4_device_failing_missing_entries_reported() {
    let temp = TempDir::new();
    let (tree, image) = (temp.join("tree"), temp.join("image"));
    fill(&tree);
    fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
    let mut make = Command::new("mkfs.ext4");
    make.args(["-q", "-F", "-b", "1024", "-N", "4096", "-g", "2048", "-d"]).args([&tree, &image]);
    match make.status() {
        Ok(status) => assert!(status.success()),
        Err(reason) => {
            return loudly_skip("ext4_device_failing_missing_entries_reported", reason);
        }
    }
    check(&fs::read(&image).unwrap());
}

/// The names are in the journal only.
#[test]
fn ext4_device_failing_with_changes_in_journal_reported() {
    let temp = TempDir::new();
    let (image, at) = (temp.join("image"), temp.join("mounted"));
    let make = ["mkfs.ext4", "-q", "-F", "-b", "1024", "-N", "4096", "-J", "size=4"];
    let mount = match Mount::image(&image, 16 << 20, &make, &at) {
        Ok(mount) => mount,
        Err(reason) => {
            let test = "ext4_device_failing_with_changes_in_journal_reported";
            return loudly_skip(test, reason);
        }
    };
    fill(&at);
    // Commits, and does not write the blocks to their places.
    fs::File::open(&at).unwrap().sync_all().unwrap();
    let bytes = fs::read(&image).unwrap();
    drop(mount);
    check(&bytes);
}

#[test]
fn ntfs_device_failing_missing_entries_reported() {
    let temp = TempDir::new();
    let (image, at) = (temp.join("image"), temp.join("mounted"));
    let mount =
        NtfsMount::make(&image, 8 << 20, &[]).and_then(|()| NtfsMount::new(&image, "", &at));
    match mount {
        Ok(_mount) => fill(&at),
        Err(reason) => {
            return loudly_skip("ntfs_device_failing_missing_entries_reported", reason);
        }
    }
    check(&fs::read(&image).unwrap());
}
