//! Residency of file pages: `cachestat(2)`, or `mincore(2)` where it is refused.

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr::{NonNull, null_mut};

use rustix::fs::{Advice, OFlags};
use rustix::io::Errno;

use super::errno::last_errno;
use super::mapping::page_size;
use super::stat::retry;
use crate::residency::Residency;

/// The number of `cachestat(2)`, Linux 6.5. The same on all architectures except MIPS, where no
/// call has this number and the kernel refuses it.
const CACHESTAT: libc::c_long = 451;

/// How much is mapped at once: the result for pages of 4 KiB takes 64 KiB.
const WINDOW: u64 = 256 << 20;

/// A distance beyond the end of a file at which it certainly has no page, not even part of a large
/// one.
const FAR_BEYOND_END: u64 = 1 << 30;

/// Pages of a range, as `cachestat(2)` counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pages {
    resident: u64,
    dirty: Option<u64>,
    writeback: Option<u64>,
}

/// `struct cachestat_range` of the kernel.
#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of the kernel.
#[repr(C)]
#[derive(Default)]
struct Cachestat {
    cache: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// Returns how much of `range` is in memory. The range must begin at a page, and end at one or at
/// the end of the file.
pub(crate) fn residency(file: &File, range: Range<u64>) -> io::Result<Residency> {
    match measure(range.clone(), |part| cachestat(file, part)) {
        // The kernel does not have the call; a sandbox refuses it, or the file belongs to another
        // user, which `mincore` handles below; or this kind of file does not support it.
        Err(Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP) => by_mincore(file, range),
        answer => Ok(answer?),
    }
}

fn by_mincore(file: &File, range: Range<u64>) -> io::Result<Residency> {
    if !range.is_empty() && !reports_residency(file, range.end)? {
        let reason = "only a file's owner, and users who may write to it, can query how much of it \
                      is in memory";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    Ok(measure(range, |part| mincore_all(file, part))?)
}

/// Converts page counts of `count` to bytes. The last page is counted separately: the file may end
/// in it.
fn measure(
    range: Range<u64>,
    count: impl Fn(Range<u64>) -> Result<Pages, Errno>,
) -> Result<Residency, Errno> {
    let page = page_size() as u64;
    let cut = range.end % page;
    let whole = range.start..range.end - cut;
    let last = whole.end..range.end;
    let mut sum = Residency {
        bytes: range.end - range.start,
        resident: 0,
        dirty: Some(0),
        writeback: Some(0),
    };
    for (part, bytes) in [(whole, page), (last, cut)] {
        // An empty part would mean everything up to the end.
        if !part.is_empty() {
            let pages = count(part)?;
            let in_bytes = |count: Option<u64>, so_far: Option<u64>| Some(so_far? + count? * bytes);
            sum.resident += pages.resident * bytes;
            sum.dirty = in_bytes(pages.dirty, sum.dirty);
            sum.writeback = in_bytes(pages.writeback, sum.writeback);
        }
    }
    Ok(sum)
}

/// Returns the kernel's page counts for a part that is not empty.
fn cachestat(file: &File, part: Range<u64>) -> Result<Pages, Errno> {
    let range = CachestatRange { offset: part.start, length: part.end - part.start };
    let mut counted = Cachestat::default();
    // SAFETY:
    // - the kernel reads `range` and writes `counted` during the call only; both have its layout;
    // - the descriptor is borrowed, hence open during the call; the last argument must be 0.
    let answer = unsafe {
        libc::syscall(CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut counted, 0_u32)
    };
    if answer != 0 {
        return Err(last_errno());
    }
    Ok(Pages {
        resident: counted.cache,
        dirty: Some(counted.dirty),
        writeback: Some(counted.writeback),
    })
}

/// Counts the pages of a part that is not empty, one window after the other.
fn mincore_all(file: &File, part: Range<u64>) -> Result<Pages, Errno> {
    let mut vector = Vec::new();
    let mut resident = 0;
    let mut start = part.start;
    while start < part.end {
        let end = part.end.min(start + WINDOW);
        Window::new(file, start..end)?.look(&mut vector)?;
        resident += vector.iter().map(|byte| u64::from(byte & 1)).sum::<u64>();
        start = end;
    }
    Ok(Pages { resident, dirty: None, writeback: None })
}

/// Returns whether `mincore` returns real data: since 5.2 it reports every page of another user's
/// file as resident, without an error. So this queries a page that cannot be resident.
fn reports_residency(file: &File, size: u64) -> Result<bool, Errno> {
    let page = page_size() as u64;
    let mut vector = Vec::new();
    let start = (size + FAR_BEYOND_END).next_multiple_of(page);
    Window::new(file, start..start + page)?.look(&mut vector)?;
    Ok(vector.iter().all(|byte| byte & 1 == 0))
}

/// A part of a file in the address space, mapped without access.
struct Window {
    address: NonNull<c_void>,
    length: usize,
}

impl Window {
    fn new(file: &File, part: Range<u64>) -> Result<Self, Errno> {
        let length = usize::try_from(part.end - part.start).map_err(|_| Errno::NOMEM)?;
        let offset = libc::off64_t::try_from(part.start).map_err(|_| Errno::OVERFLOW)?;
        let (descriptor, protection) = (file.as_raw_fd(), libc::PROT_NONE);
        // SAFETY:
        // - no address is given, so no other mapping is replaced;
        // - the pages can be neither read nor written, so no reference into them can exist.
        let address = unsafe {
            libc::mmap64(null_mut(), length, protection, libc::MAP_SHARED, descriptor, offset)
        };
        if address == libc::MAP_FAILED {
            return Err(last_errno());
        }
        let address = NonNull::new(address).expect("BUG: nothing is mapped at address 0 unasked");
        Ok(Self { address, length })
    }

    /// Replaces the content of `vector` by one byte for each page, whose lowest bit is set if the
    /// page is in memory.
    fn look(&self, vector: &mut Vec<u8>) -> Result<(), Errno> {
        let pages = self.length.div_ceil(page_size());
        vector.clear();
        vector.resize(pages, 0);
        retry(|| {
            // SAFETY: the whole window is mapped, and `vector` has one byte for each of its pages.
            match unsafe { libc::mincore(self.address.as_ptr(), self.length, vector.as_mut_ptr()) }
            {
                0 => Ok(()),
                _ => Err(last_errno()),
            }
        })
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        // SAFETY: we mapped it, and no reference into it exists. The call cannot fail.
        unsafe { libc::munmap(self.address.as_ptr(), self.length) };
    }
}

/// tmpfs, ramfs and hugetlbfs (`include/uapi/linux/magic.h`).
const IN_MEMORY: [u64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];

#[allow(clippy::unnecessary_cast)] // the field's width differs between architectures
pub(crate) fn is_memory_only(file: &File) -> bool {
    super::stat::retry(|| rustix::fs::fstatfs(file))
        .is_ok_and(|about| IN_MEMORY.contains(&(about.f_type as u64)))
}

pub(crate) fn drop_pages(file: &File, size: u64) -> io::Result<()> {
    // fdatasync flushes the device even if nothing has to be written.
    let is_clean = residency(file, 0..size)
        .is_ok_and(|residency| residency.dirty == Some(0) && residency.writeback == Some(0));
    if !is_clean {
        retry(|| rustix::fs::fdatasync(file))?;
    }
    // No length: up to the current end of the file.
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::residency;
    use std::io::Write;
    use std::os::unix::fs::FileExt;
    use transect_testkit::{Mount, TempDir, in_own_process, loudly_skip, wait_for, wait_until};

    /// Not a multiple of the page size.
    const SIZE: u64 = (3 << 20) + 100;

    /// Returns the residency of a whole file as soon as both calls agree on it: the system may drop or write pages
    /// between them.
    fn asked(file: &File) -> Residency {
        wait_for("both calls to agree", || {
            let whole = 0..file.metadata().unwrap().len();
            let residency = residency::residency(file).unwrap();
            let mincore = by_mincore(file, whole.clone()).unwrap();
            let counted = match measure(whole, |part| cachestat(file, part)) {
                Ok(counted) => counted.resident,
                Err(Errno::NOSYS) => {
                    loudly_skip("cachestat", "this kernel is older than 6.5");
                    mincore.resident
                }
                Err(errno) => panic!("{errno}"),
            };
            let agree = mincore.bytes == residency.bytes
                && [residency.resident, counted] == [mincore.resident; 2];
            agree.then_some(residency)
        })
    }

    /// Reads a part of a file until this number of its bytes is in memory.
    fn read_until_resident(file: &File, part: Range<u64>, bytes: u64) {
        wait_until("what was read to be in memory", || {
            let mut buffer = vec![0; (part.end - part.start) as usize];
            file.read_exact_at(&mut buffer, part.start).unwrap();
            asked(file).resident == bytes
        });
    }

    /// Creates a file of `SIZE` bytes, all of them in memory.
    fn make(path: &Path) -> File {
        let mut file = File::create_new(path).unwrap();
        file.write_all(&vec![b'x'; SIZE as usize]).unwrap();
        drop(file);
        open(path).unwrap()
    }

    /// Returns a file whose pages can be dropped; `None` if temporary files are only in memory.
    fn droppable(temp: &TempDir) -> Option<File> {
        let file = make(&temp.join("file"));
        residency::drop_pages(&file).unwrap();
        if residency::is_memory_only(&file) {
            loudly_skip("dropping pages", "temporary files are on tmpfs");
            return None;
        }
        Some(file)
    }

    #[test]
    fn residency_cachestat_and_mincore_agree_on_partial_page() {
        let temp = TempDir::new();
        let Some(file) = droppable(&temp) else { return };
        assert_eq!(
            asked(&file),
            Residency {
                bytes: SIZE,
                resident: 0,
                dirty: asked(&file).dirty.map(|_| 0),
                writeback: asked(&file).writeback.map(|_| 0),
            }
        );
        // Disables read-ahead.
        rustix::fs::fadvise(&file, 0, None, Advice::Random).unwrap();
        let last_page = SIZE % page_size() as u64;
        read_until_resident(&file, SIZE - 1..SIZE, last_page);
        read_until_resident(&file, 0..1, last_page + page_size() as u64);
        read_until_resident(&file, 0..SIZE, SIZE);
        residency::drop_pages(&file).unwrap();
        assert_eq!(asked(&file).resident, 0);
    }

    #[test]
    fn drop_pages_dirty_pages_written_first() {
        let temp = TempDir::new();
        let Some(_) = droppable(&temp) else { return };
        // The system may write at any time, so this queries at once, and several times.
        let seen_dirty = (0..20).any(|number| {
            let path = temp.join(format!("{number}"));
            let residency = asked(&make(&path));
            assert_eq!(residency.resident, SIZE);
            residency.dirty.is_none_or(|dirty| dirty > 0)
        });
        assert!(seen_dirty);
        let file = make(&temp.join("dirty"));
        residency::drop_pages(&file).unwrap();
        assert_eq!(asked(&file).resident, 0);
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut &file, &mut content).unwrap();
        assert_eq!(content, vec![b'x'; SIZE as usize]);
    }

    #[test]
    fn drop_pages_mapped_pages_stay() {
        let temp = TempDir::new();
        let Some(file) = droppable(&temp) else { return };
        let length = SIZE as usize;
        // SAFETY: no mapping is replaced, and no reference into it is taken.
        let address = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
            libc::mmap(null_mut(), length, libc::PROT_READ, flags, file.as_raw_fd(), 0)
        };
        assert_ne!(address, libc::MAP_FAILED);
        residency::drop_pages(&file).unwrap();
        assert_eq!(asked(&file).resident, SIZE);
        // SAFETY: it was mapped above, and no reference into it exists.
        assert_eq!(unsafe { libc::munmap(address, length) }, 0);
        residency::drop_pages(&file).unwrap();
        assert_eq!(asked(&file).resident, 0);
    }

    #[test]
    fn residency_every_size_empty_to_huge() {
        let temp = TempDir::new();
        let empty = make_hole(&temp.join("empty"), 0);
        assert_eq!(asked(&empty).bytes, 0);
        residency::drop_pages(&empty).unwrap();
        let page = page_size() as u64;
        for size in [1, page - 1, page, page + 1, WINDOW, WINDOW + 1, 1 << 32] {
            let file = make_hole(&temp.join(size.to_string()), size);
            let residency = asked(&file);
            assert_eq!((residency.bytes, residency.resident), (size, 0), "{size}");
        }
        // Only with `cachestat`: `mincore` would take long.
        let huge = 1 << 40;
        match measure(0..huge, |part| cachestat(&make_hole(&temp.join("huge"), huge), part)) {
            Ok(counted) => assert_eq!((counted.bytes, counted.resident), (huge, 0)),
            Err(errno) => assert_eq!(errno, Errno::NOSYS),
        }
    }

    /// Creates a file that is one hole.
    fn make_hole(path: &Path, size: u64) -> File {
        File::create_new(path).unwrap().set_len(size).unwrap();
        open(path).unwrap()
    }

    #[test]
    fn residency_not_regular_file_error() {
        let temp = TempDir::new();
        let pipe = temp.join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, 0o600.into());
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        for (path, kind) in [
            (temp.path(), io::ErrorKind::IsADirectory),
            (Path::new("/dev/null"), io::ErrorKind::InvalidInput),
            (pipe.as_path(), io::ErrorKind::InvalidInput),
        ] {
            assert_eq!(residency::open(path).unwrap_err().kind(), kind, "{}", path.display());
            let opened = open(path).unwrap();
            assert_eq!(residency::residency(&opened).unwrap_err().kind(), kind);
            assert_eq!(residency::drop_pages(&opened).unwrap_err().kind(), kind);
        }
    }

    #[test]
    fn residency_proc_file_empty() {
        let file = open(Path::new("/proc/self/status")).unwrap();
        assert_eq!(residency::residency(&file).unwrap().bytes, 0);
        residency::drop_pages(&file).unwrap();
    }

    #[test]
    fn residency_tmpfs_memory_only() {
        let temp = TempDir::new();
        let mount = match Mount::tmpfs("16m", &temp.join("tmpfs")) {
            Ok(mount) => mount,
            Err(reason) => {
                return loudly_skip("residency_tmpfs_memory_only", reason);
            }
        };
        let file = make(&mount.path().join("file"));
        assert_eq!(asked(&file).resident, SIZE);
        residency::drop_pages(&file).unwrap();
        assert_eq!(asked(&file).resident, SIZE);
        assert!(residency::is_memory_only(&file));
    }

    /// The kernel would report every page as resident, which is wrong.
    #[test]
    fn residency_other_users_file_permission_denied() {
        let test = "linux::residency::tests::residency_other_users_file_permission_denied";
        if !rustix::process::geteuid().is_root() {
            return loudly_skip(test, "changing the user needs root");
        }
        in_own_process(test, || {
            let temp = TempDir::new();
            let Some(file) = droppable(&temp) else { return };
            assert_eq!(asked(&file).resident, 0);
            become_user(65534);
            let answers = [residency::residency(&file), by_mincore(&file, 0..SIZE)];
            become_user(0);
            for answer in answers {
                match answer {
                    Ok(residency) => {
                        assert_eq!(residency.resident, 0, "older kernels report it to everyone")
                    }
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
                }
            }
        });
    }

    fn become_user(user: libc::uid_t) {
        // SAFETY: it takes a number.
        assert_eq!(unsafe { libc::seteuid(user) }, 0);
    }
}
