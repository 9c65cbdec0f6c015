//! Parts of a device that several files share: `FS_IOC_FIEMAP`
//! (`Documentation/filesystems/fiemap.rst`).

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::io::Errno;

use super::stat::retry;

/// `_IOWR('f', 11, struct fiemap)` in `include/uapi/linux/fs.h`; the header alone has 32 bytes.
const FS_IOC_FIEMAP: rustix::ioctl::Opcode =
    rustix::ioctl::opcode::read_write::<[u64; 4]>(b'f', 11);

/// Flags of an extent (`FIEMAP_EXTENT_*`).
const LAST: u32 = 0x1;
const SHARED: u32 = 0x2000;
/// The place is unknown, the data is not on the device yet, or it lies in the metadata.
const NO_PLACE: u32 = 0x2 | 0x4 | 0x200;

/// The length is that of the content, which is longer than its place (`FIEMAP_EXTENT_ENCODED`).
const ENCODED: u32 = 0x8;

/// Extents per call.
const EXTENTS: usize = 128;

const BTRFS: u32 = 0x9123_683e;

/// The file systems that share extents between files, by their number in `statfs(2)`.
const SHARING: [u32; 4] = [BTRFS, 0x5846_5342, 0x7461_636f, 0xca45_1a4e];

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct FiemapExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap`, with room for the extents that follow it.
#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [FiemapExtent; EXTENTS],
}

const _: () = assert!(size_of::<FiemapExtent>() == 56 && size_of::<Fiemap>() == 32 + 56 * EXTENTS);

#[allow(clippy::unnecessary_cast)] // its width differs between architectures
fn kind_of(file_system: &rustix::fs::StatFs) -> u32 {
    file_system.f_type as u32
}

/// Returns a number of the file system that a path is on; `None` if files cannot share extents there.
pub(crate) fn sharing_volume(path: &Path) -> io::Result<Option<u64>> {
    let kind = kind_of(&retry(|| rustix::fs::statfs(path))?);
    if !SHARING.contains(&kind) {
        return Ok(None);
    }
    let number = retry(|| rustix::fs::statvfs(path))?.f_fsid;
    // The upper half has the number of the subvolume in it (`btrfs_statfs` in `fs/btrfs/super.c`).
    Ok(Some(if kind == BTRFS { number & 0xffff_ffff } else { number }))
}

/// Returns a place behind all others, with room for the content of a compressed extent: that is at most 32 times as long as a
/// block (128 KiB on Btrfs), and would overlap with the next extent.
fn place_of_compressed(physical: u64) -> u64 {
    1 << 63 | physical.saturating_mul(32)
}

/// Returns the shared parts; `None` if the file system has none or does not report them.
pub(crate) fn shared_extents(file: &File) -> io::Result<Option<Vec<Range<u64>>>> {
    if !SHARING.contains(&kind_of(&retry(|| rustix::fs::fstatfs(file))?)) {
        return Ok(None);
    }
    let mut shared = Vec::new();
    let mut map = Fiemap {
        start: 0,
        length: 0,
        flags: 0,
        mapped_extents: 0,
        extent_count: EXTENTS as u32,
        reserved: 0,
        extents: [FiemapExtent::default(); EXTENTS],
    };
    loop {
        map.length = u64::MAX - map.start;
        // SAFETY: the kernel writes at most `extent_count` extents behind the header, and the
        // structure has room for as many.
        match unsafe { super::ioctl(file.as_fd(), FS_IOC_FIEMAP, (&raw mut map).cast()) } {
            Ok(()) => {}
            Err(Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL | Errno::NOSYS) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
        let mapped = &map.extents[..(map.mapped_extents as usize).min(EXTENTS)];
        for extent in mapped {
            if extent.flags & SHARED != 0 && extent.flags & NO_PLACE == 0 {
                let start = if extent.flags & ENCODED == 0 {
                    extent.physical
                } else {
                    place_of_compressed(extent.physical)
                };
                shared.push(start..start.saturating_add(extent.length));
            }
        }
        match mapped.last() {
            Some(last) if last.flags & LAST == 0 && last.length > 0 => {
                map.start = last.logical.saturating_add(last.length);
            }
            _ => return Ok(Some(shared)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use transect_testkit::{Mount, TempDir, loudly_skip};

    #[test]
    fn shared_extents_of_clones_only() {
        const SIZE: u64 = 1 << 20;
        let temp = TempDir::new();
        let (image, at) = (temp.join("image"), temp.join("mounted"));
        let make = ["mkfs.btrfs", "-q"];
        let mount = match Mount::image(&image, 256 << 20, &make, &at) {
            Ok(mount) => mount,
            Err(error) => return loudly_skip("shared_extents_of_clones_only", &error),
        };
        let noise: Vec<u8> = (0..SIZE).map(|n| ((n * n) >> 9) as u8).collect();
        let path = |name: &str| mount.path().join(name);
        std::fs::write(path("alone"), &noise).unwrap();
        std::fs::write(path("first"), &noise).unwrap();
        let clone = |from: &str, to: &str| {
            Command::new("cp").arg("--reflink=always").args([path(from), path(to)]).status()
        };
        assert!(clone("first", "second").unwrap().success());
        std::fs::File::open(path("alone")).unwrap().sync_all().unwrap();
        let of = |name: &str| shared_extents(&File::open(path(name)).unwrap()).unwrap().unwrap();
        assert_eq!(of("alone"), []);
        let first = of("first");
        assert_eq!(first.iter().map(|part| part.end - part.start).sum::<u64>(), SIZE);
        assert_eq!(of("second"), first);
    }

    #[test]
    fn shared_extents_compressed_apart() {
        const SIZE: u64 = 1 << 20;
        let temp = TempDir::new();
        let make = ["mkfs.btrfs", "-q"];
        let mount = match Mount::image(&temp.join("image"), 256 << 20, &make, &temp.join("mounted"))
        {
            Ok(mount) => mount,
            Err(error) => return loudly_skip("shared_extents_compressed_apart", &error),
        };
        let path = |name: &str| mount.path().join(name);
        let run = |program: &str, arguments: &[&std::ffi::OsStr]| {
            assert!(Command::new(program).args(arguments).status().unwrap().success());
        };
        run("mount", &["-o".as_ref(), "remount,compress=zstd".as_ref(), mount.path().as_ref()]);
        std::fs::write(path("first"), vec![b'a'; SIZE as usize]).unwrap();
        std::fs::File::open(path("first")).unwrap().sync_all().unwrap();
        run("cp", &["--reflink=always".as_ref(), path("first").as_ref(), path("second").as_ref()]);
        let of = |name: &str| shared_extents(&File::open(path(name)).unwrap()).unwrap().unwrap();
        let mut parts = of("first");
        assert_eq!(of("second"), parts);
        assert_eq!(parts.iter().map(|part| part.end - part.start).sum::<u64>(), SIZE);
        parts.sort_by_key(|part| part.start);
        assert!(parts.len() > 1 && parts.is_sorted_by(|one, next| one.end <= next.start));
    }

    #[test]
    fn sharing_volume_same_for_subvolumes() {
        let temp = TempDir::new();
        let make = ["mkfs.btrfs", "-q"];
        let mount = match Mount::image(&temp.join("image"), 256 << 20, &make, &temp.join("mounted"))
        {
            Ok(mount) => mount,
            Err(error) => return loudly_skip("sharing_volume_same_for_subvolumes", &error),
        };
        let inner = mount.path().join("inner");
        let create = Command::new("btrfs").args(["-q", "subvolume", "create"]).arg(&inner).status();
        assert!(create.unwrap().success());
        let volume = sharing_volume(mount.path()).unwrap();
        assert!(volume.is_some());
        assert_eq!(sharing_volume(&inner).unwrap(), volume);
        assert_eq!(sharing_volume(Path::new("/proc")).unwrap(), None);
    }

    #[test]
    fn shared_extents_unknown_where_unsupported() {
        let file = File::open("/proc/self/status").unwrap();
        assert!(shared_extents(&file).unwrap().is_none());
    }
}
