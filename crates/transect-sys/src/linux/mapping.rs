//! Views of files, safe if a file shrinks while it is mapped.
//!
//! Access to a page that the file no longer has raises `SIGBUS`, which ends the process: another
//! program that truncates a file at the wrong moment could end this one. So the first mapping
//! installs a handler for the whole process. If the page belongs to a mapping of this module, the
//! handler replaces it by zeros and marks the mapping as failed, and the copy returns an error
//! ([`View::copy`]). The handler passes any other fault to the handler before it, or ends the
//! process as the default action would.
//!
//! Requirements for a program that links this: a handler for `SIGBUS` that it installs later must
//! pass on foreign signals, and a thread that blocks `SIGBUS` must not copy from mappings.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

/// The maximum number of mappings: the table that a signal handler searches must not grow.
const MAX_MAPPINGS: usize = 256;

/// All mappings of the process.
static WATCHED: [Watched; MAX_MAPPINGS] = [const { Watched::new() }; MAX_MAPPINGS];

/// Pages of a file in memory. Unmapped on drop.
#[derive(Debug)]
pub(crate) struct View {
    pages: NonNull<u8>,
    /// Length in bytes, up to the end of the part that was asked for.
    length: usize,
    watched: &'static Watched,
}

// SAFETY: the pages belong to this value alone, on any thread.
unsafe impl Send for View {}

impl View {
    /// Returns the unit of offsets.
    pub(crate) fn granularity() -> u64 {
        page_size() as u64
    }

    /// Maps a part of a file. `None` if files of this kind cannot be mapped.
    pub(crate) fn new(
        file: &File,
        offset: u64,
        length: usize,
        writable: bool,
    ) -> io::Result<Option<Self>> {
        install_once()?;
        let offset = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        let (fd, shared) = (file.as_raw_fd(), libc::MAP_SHARED);
        // SAFETY: the kernel chooses an unused address range; the descriptor is open during the
        // call.
        let pages =
            unsafe { libc::mmap(std::ptr::null_mut(), length, protection, shared, fd, offset) };
        if pages == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(libc::ENODEV | libc::EINVAL | libc::EACCES) => Ok(None),
                _ => Err(error),
            };
        }
        let pages = NonNull::new(pages.cast()).expect("BUG: no mapping begins at zero");
        let Some(watched) = Watched::take(pages.as_ptr() as usize, length) else {
            unmap(pages, length);
            return Err(io::Error::other(format!("more than {MAX_MAPPINGS} mappings at once")));
        };
        Ok(Some(Self { pages, length, watched }))
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.pages.as_ptr()
    }

    /// Copies bytes between this view and other memory.
    ///
    /// # Errors
    /// A page is gone: the copied bytes may be zeros instead of data.
    ///
    /// # Safety
    /// One of the ranges is within the view, the other one outside all views. `from` is readable, and
    /// `to` writable.
    pub(crate) unsafe fn copy(
        &self,
        from: *const u8,
        to: *mut u8,
        length: usize,
    ) -> io::Result<()> {
        // SAFETY: required above. A concurrent write by another process is not a race within this
        // program: each byte is an old or a new one of the file, and none is examined in between.
        unsafe { std::ptr::copy_nonoverlapping(from, to, length) };
        // The handler ran on this thread, so only the compiler could move the load before the copy.
        compiler_fence(Ordering::SeqCst);
        if self.watched.failed.load(Ordering::Relaxed) {
            let why = "a mapped page is gone: the file was cut, or its device failed";
            return Err(io::Error::other(why));
        }
        Ok(())
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // First, so that a later mapping of another thread at this address is not mistaken for this
        // one.
        self.watched.release();
        unmap(self.pages, self.length);
    }
}

fn unmap(pages: NonNull<u8>, mapped: usize) {
    // SAFETY: the pages were mapped with this length, and no reference to them was ever handed out.
    let answer = unsafe { libc::munmap(pages.as_ptr().cast(), mapped) };
    debug_assert_eq!(answer, 0, "a mapping cannot be unmapped");
}

/// An entry of the handler's table: a range of pages.
///
/// The handler runs on the thread that accessed a page and that made the entry itself. So it always
/// finds its entry, and entries that other threads change at the same time are not the one it looks
/// for.
#[derive(Debug)]
struct Watched {
    taken: AtomicBool,
    /// 0 if the entry is free.
    start: AtomicUsize,
    length: AtomicUsize,
    failed: AtomicBool,
}

impl Watched {
    const fn new() -> Self {
        Self {
            taken: AtomicBool::new(false),
            start: AtomicUsize::new(0),
            length: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        }
    }

    /// Adds pages to the table; `None` if it is full.
    fn take(start: usize, length: usize) -> Option<&'static Self> {
        let free = WATCHED.iter().find(|watched| !watched.taken.swap(true, Ordering::Acquire))?;
        free.failed.store(false, Ordering::Relaxed);
        free.length.store(length, Ordering::Relaxed);
        // Last, so a reader that sees the start also sees the length.
        free.start.store(start, Ordering::Release);
        Some(free)
    }

    fn release(&self) {
        self.start.store(0, Ordering::Relaxed);
        self.taken.store(false, Ordering::Release);
    }

    /// Returns the end of the pages if `address` is in one of them.
    fn end_of_pages(&self, address: usize) -> Option<usize> {
        let start = self.start.load(Ordering::Acquire);
        let end = start + self.length.load(Ordering::Relaxed).next_multiple_of(page_size());
        // If the start changed, the entry was reused for the pages of another thread.
        let same = self.start.load(Ordering::Acquire) == start;
        (same && start != 0 && (start..end).contains(&address)).then_some(end)
    }
}

pub(super) fn page_size() -> usize {
    // SAFETY: it reads a constant of the process, and may be called from a signal handler.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// The previous action for `SIGBUS`.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

fn install_once() -> io::Result<()> {
    static WATCHING: OnceLock<Result<(), i32>> = OnceLock::new();
    WATCHING.get_or_init(install).map_err(io::Error::from_raw_os_error)
}

fn install() -> Result<(), i32> {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
    // SAFETY: a structure of numbers; all zeros are valid and mean the default action.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the call installs nothing; `before` is ours to write.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) } != 0 {
        return Err(errno());
    }
    // Set before the handler can run, as the handler needs it.
    let _ = BEFORE.set(before);
    // SAFETY: as above.
    let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle_signal;
    ours.sa_sigaction = handler as usize;
    // On the alternate signal stack: the standard library's handler for stack overflows, which this
    // handler may call, needs it.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the handler has the signature for SA_SIGINFO, lives as long as the process, and calls
    // only async-signal-safe functions.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut()) } != 0 {
        return Err(errno());
    }
    Ok(())
}

/// Replaces a missing page by zeros, or passes the signal on.
extern "C" fn handle_signal(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: with SA_SIGINFO the kernel passes a valid `siginfo_t`, for SIGBUS with an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    // Signals sent by a process have no address.
    let is_fault = code > 0;
    if !(is_fault && replace(address)) {
        pass_on(signal, is_fault, info, context);
    }
}

/// Replaces a page of a mapping, and the pages after it, which are missing, too, by zeros. Returns
/// whether the page belonged to a mapping.
fn replace(address: usize) -> bool {
    let find = |watched: &'static Watched| Some((watched, watched.end_of_pages(address)?));
    let Some((watched, end)) = WATCHED.iter().find_map(find) else {
        return false;
    };
    let start = address / page_size() * page_size();
    // SAFETY: `errno` of this thread. It is saved because the interrupted code may be about to read
    // it.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: these pages belong to a mapping that the interrupted thread is copying from or to, so
    // it exists until that copy returns. No reference into it exists.
    let zeros = unsafe {
        libc::mmap(
            start as *mut c_void,
            end - start,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
            -1,
            0,
        )
    };
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    watched.failed.store(true, Ordering::Relaxed);
    zeros != libc::MAP_FAILED
}

/// Runs the handler before this one, or the default action.
fn pass_on(signal: c_int, is_fault: bool, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(before) = BEFORE.get() else { return };
    match before.sa_sigaction {
        // Ignoring a fault would repeat the access and the fault endlessly.
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: all zeros are the default action, which ends the process: when the access is
            // repeated, or when this handler returns.
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &raw const default, std::ptr::null_mut());
                if !is_fault {
                    libc::raise(signal);
                }
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: it was installed as a handler with these three arguments.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: it was installed as a handler with one argument.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, pieces};
    use std::os::unix::process::ExitStatusExt;
    use std::path::PathBuf;
    use std::process::Command;
    use transect_testkit::TempDir;

    #[test]
    fn mapping_truncated_file_error_other_mappings_usable() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 4);
        let end = 4 * page_size() as u64;
        let mut cut = Mapping::map_write(&file, 0..end).unwrap().unwrap();
        let first = Mapping::map_read(&file, 0..1).unwrap().unwrap();
        file.set_len(page_size() as u64).unwrap();
        let mut bytes = vec![9; 3 * page_size()];
        cut.read(0, &mut bytes[..page_size()]).unwrap();
        let error = cut.read(page_size(), &mut bytes).unwrap_err();
        assert!(error.to_string().contains("the file was cut"), "{error}");
        // A failed mapping stays failed: it no longer holds the bytes of the file.
        assert!(cut.read(0, &mut bytes[..1]).is_err());
        assert!(cut.write(3 * page_size(), b"x").is_err());
        first.read(0, &mut bytes[..1]).unwrap();
        assert_eq!(bytes[0], 0);
        drop(cut);
        let again = Mapping::map_read(&file, 0..page_size() as u64).unwrap().unwrap();
        again.read(0, &mut bytes[..page_size()]).unwrap();
        // The zeros were not written to the file.
        assert_eq!(file.metadata().unwrap().len(), page_size() as u64);
    }

    #[test]
    fn mapping_faults_stay_on_their_thread() {
        let temp = TempDir::new();
        let file = pieces(temp.path(), 1);
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let file = &file;
                scope.spawn(move || {
                    for round in 0..500 {
                        // Every other mapping extends beyond the end of the file.
                        let gone = (thread + round) % 2;
                        let part = 0..page_size() as u64 * (1 + gone);
                        let mapping = Mapping::map_read(file, part).unwrap().unwrap();
                        let mut byte = [9];
                        let read = mapping.read(mapping.len() - 1, &mut byte);
                        assert_eq!(read.is_err(), gone == 1);
                    }
                });
            }
        });
    }

    #[test]
    fn mapping_limit_reached_and_released() {
        const TEST: &str = "linux::mapping::tests::mapping_limit_reached_and_released";
        transect_testkit::in_own_process(TEST, || {
            let temp = TempDir::new();
            let file = pieces(temp.path(), 1);
            for _ in 0..2 {
                let map = |_| Mapping::map_read(&file, 0..1).map(Option::unwrap);
                let all: Vec<_> = (0..MAX_MAPPINGS).map(map).map(Result::unwrap).collect();
                assert!(map(0).unwrap_err().to_string().starts_with("more than 256"));
                drop(all);
            }
        });
    }

    #[test]
    fn mapping_unsupported_file_none() {
        let file = File::open("/proc/self/status").unwrap();
        assert!(Mapping::map_read(&file, 0..1).is_ok_and(|mapping| mapping.is_none()));
    }

    /// Runs this test again in another process, which the test ends, so this one owns the temporary
    /// directory.
    fn other_process(test: &str, role: &str) -> std::process::Output {
        let temp = TempDir::new();
        Command::new(std::env::current_exe().unwrap())
            .args([&format!("linux::mapping::tests::{test}"), "--exact", "--nocapture"])
            .arg("--test-threads=1")
            .env("TRANSECT_TEST_FAULT", role)
            .env("TRANSECT_TEST_AT", temp.path())
            .output()
            .unwrap()
    }

    /// Returns the directory for a process started by [`other_process`].
    fn test_dir() -> PathBuf {
        std::env::var_os("TRANSECT_TEST_AT").expect("set by other_process").into()
    }

    #[test]
    fn mapping_foreign_fault_ends_process() {
        let Ok(role) = std::env::var("TRANSECT_TEST_FAULT") else {
            for role in ["fault", "default", "kill"] {
                let ended = other_process("mapping_foreign_fault_ends_process", role);
                assert_eq!(ended.status.signal(), Some(libc::SIGBUS), "{role}: {ended:?}");
            }
            return;
        };
        if role != "fault" {
            // Replaces the standard library's handler, which waits for a second fault.
            // SAFETY: it changes this test's own process only.
            unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
        }
        let file = pieces(&test_dir(), 1);
        let _ours = Mapping::map_read(&file, 0..1).unwrap().unwrap();
        if role == "kill" {
            // SAFETY: the signal goes to this process, which it is meant to end.
            unsafe { libc::raise(libc::SIGBUS) };
        } else {
            let (length, fd) = (2 * page_size(), file.as_raw_fd());
            // SAFETY: a new mapping whose second page is missing: the read ends the process.
            unsafe {
                let foreign = libc::mmap(
                    std::ptr::null_mut(),
                    length,
                    libc::PROT_READ,
                    libc::MAP_SHARED,
                    fd,
                    0,
                );
                std::ptr::read_volatile(foreign.cast::<u8>().add(page_size()));
            }
        }
        unreachable!("the signal did not end the process");
    }

    #[test]
    fn mapping_earlier_sigbus_handler_still_called() {
        extern "C" fn theirs(_: c_int) {
            // SAFETY: async-signal-safe; it ends the process with a code that the test checks.
            unsafe { libc::_exit(77) };
        }
        if std::env::var_os("TRANSECT_TEST_FAULT").is_none() {
            let test = "mapping_earlier_sigbus_handler_still_called";
            assert_eq!(other_process(test, "chained").status.code(), Some(77));
            return;
        }
        // SAFETY: the handler has the required signature.
        unsafe { libc::signal(libc::SIGBUS, theirs as *const () as libc::sighandler_t) };
        let file = pieces(&test_dir(), 1);
        let ours = Mapping::map_read(&file, 0..2 * page_size() as u64).unwrap().unwrap();
        assert!(ours.read(page_size(), &mut [0]).is_err());
        // SAFETY: the signal goes to this process, whose first handler ends it.
        unsafe { libc::raise(libc::SIGBUS) };
        unreachable!("the handler was not called");
    }
}
