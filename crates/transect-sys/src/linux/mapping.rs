//! Parts of files in memory, and what happens when a file no longer has a page of them.
//!
//! Whoever touches such a page gets `SIGBUS`, which ends the process: another program that cuts a
//! file at the wrong moment could end this one. So the first mapping installs a handler for the whole
//! process. If the page lies in a mapping of this module, zeros take its place, the mapping is marked,
//! and whoever copies from it is told ([`Mapping::read`]). All other faults go to the handler that was
//! there before, or end the process as they would have.
//!
//! What a program that links this must know: a handler for `SIGBUS` that it installs later has to
//! hand on what is not its own, and a thread that blocks `SIGBUS` must not copy from mappings.
//!
//! Nobody gets a reference into a mapping. Other processes may write to the file at any time, and
//! bytes that change while they are looked at are what neither `&[u8]` nor the steps of a pass, which
//! may look twice at what they judged once, can stand. They are copied, once.

use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, compiler_fence};

/// How many mappings there may be at once: what a signal handler looks through must not grow.
const MOST: usize = 256;

/// All mappings that there are.
static WATCHED: [Watched; MOST] = [const { Watched::new() }; MOST];

/// A part of a file in memory. It is gone from memory when this is dropped.
#[derive(Debug)]
pub struct Mapping {
    pages: NonNull<u8>,
    /// How many bytes of pages there are, the last one counted as far as the file goes.
    mapped: usize,
    /// Where in the first page the part begins.
    lead: usize,
    writable: bool,
    watched: &'static Watched,
}

// SAFETY: the pages belong to this value alone, whichever thread has it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps a part of a file, to be read. Nothing if files of this kind cannot be mapped.
    ///
    /// # Errors
    /// Whatever else the system says; or there are too many mappings.
    ///
    /// # Panics
    /// If the part is empty.
    pub fn map_read(file: &File, part: Range<u64>) -> io::Result<Option<Self>> {
        Self::new(file, part, libc::PROT_READ)
    }

    /// Maps a part of a file that has been given its length and its room, to be written. Nothing if
    /// files of this kind cannot be mapped.
    ///
    /// # Errors
    /// Whatever else the system says; or there are too many mappings.
    ///
    /// # Panics
    /// If the part is empty.
    pub fn map_write(file: &File, part: Range<u64>) -> io::Result<Option<Self>> {
        Self::new(file, part, libc::PROT_READ | libc::PROT_WRITE)
    }

    fn new(file: &File, part: Range<u64>, protection: c_int) -> io::Result<Option<Self>> {
        assert!(!part.is_empty(), "nothing cannot be mapped");
        watch_faults()?;
        let lead = part.start % page() as u64;
        let too_large = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let mapped = usize::try_from(part.end - part.start + lead).map_err(too_large)?;
        let offset = libc::off_t::try_from(part.start - lead).map_err(too_large)?;
        let (fd, shared) = (file.as_raw_fd(), libc::MAP_SHARED);
        // SAFETY: the kernel chooses pages that nobody has; the descriptor is open during the call.
        let pages =
            unsafe { libc::mmap(std::ptr::null_mut(), mapped, protection, shared, fd, offset) };
        if pages == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(libc::ENODEV | libc::EINVAL | libc::EACCES) => Ok(None),
                _ => Err(error),
            };
        }
        let pages = NonNull::new(pages.cast()).expect("BUG: no mapping begins at zero");
        let Some(watched) = Watched::take(pages.as_ptr() as usize, mapped) else {
            unmap(pages, mapped);
            return Err(io::Error::other(format!("more than {MOST} mappings at once")));
        };
        let writable = protection & libc::PROT_WRITE != 0;
        Ok(Some(Self { pages, mapped, lead: lead as usize, writable, watched }))
    }

    /// Returns how many bytes of the file it has.
    #[expect(clippy::len_without_is_empty, reason = "an empty one cannot be made")]
    pub fn len(&self) -> usize {
        self.mapped - self.lead
    }

    /// Copies the bytes from `at` on into `to`.
    ///
    /// # Errors
    /// The file no longer has them, or its device could not read them.
    ///
    /// # Panics
    /// If that is more than was mapped.
    pub fn read(&self, at: usize, to: &mut [u8]) -> io::Result<()> {
        let from = self.place(at, to.len());
        // SAFETY: the place is mapped readable for as long as `self` is there, and `to` is memory of
        // somebody else. That another process writes to these pages now is no race of this
        // program's: each byte is one that the file had or got, and none is looked at in between.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) };
        self.verify_whole()
    }

    /// Copies `bytes` to where they belong from `at` on.
    ///
    /// # Errors
    /// The file has no place for them any more, or its device could not read it.
    ///
    /// # Panics
    /// If that is more than was mapped, or it was mapped to be read.
    pub fn write(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        assert!(self.writable, "mapped to be read only");
        let to = self.place(at, bytes.len());
        // SAFETY: the place is mapped writable for as long as `self` is there, nobody has a
        // reference to it, and `bytes` are memory of somebody else.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        self.verify_whole()
    }

    /// Returns where the bytes from `at` on lie.
    fn place(&self, at: usize, length: usize) -> *mut u8 {
        let end = at.checked_add(length);
        assert!(end.is_some_and(|end| end <= self.len()), "past the end of a mapping");
        // SAFETY: that lies within what was mapped.
        unsafe { self.pages.as_ptr().add(self.lead + at) }
    }

    /// Tells of a fault on the way, after which there may be zeros instead of bytes.
    fn verify_whole(&self) -> io::Result<()> {
        // The handler ran on this thread: only the compiler could look at the mark too early.
        compiler_fence(Ordering::SeqCst);
        if self.watched.failed.load(Ordering::Relaxed) {
            let why = "a mapped page is gone: the file was cut, or its device failed";
            return Err(io::Error::other(why));
        }
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // First: pages that somebody else gets at the same place must not be taken for these.
        self.watched.give_back();
        unmap(self.pages, self.mapped);
    }
}

fn unmap(pages: NonNull<u8>, mapped: usize) {
    // SAFETY: they were mapped with this length, and no reference to them was ever handed out.
    let answer = unsafe { libc::munmap(pages.as_ptr().cast(), mapped) };
    debug_assert_eq!(answer, 0, "what was mapped can be unmapped");
}

/// Pages that the handler knows.
///
/// It runs on the thread that touched a page, which has set its entry itself: so what it has to find
/// it finds, and entries that others are changing at the moment are not those it looks for.
#[derive(Debug)]
struct Watched {
    taken: AtomicBool,
    /// 0 if there are none.
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

    /// Enters pages into the table, unless it is full.
    fn take(start: usize, length: usize) -> Option<&'static Self> {
        let free = WATCHED.iter().find(|watched| !watched.taken.swap(true, Ordering::Acquire))?;
        free.failed.store(false, Ordering::Relaxed);
        free.length.store(length, Ordering::Relaxed);
        // Last: who sees it sees the length as well.
        free.start.store(start, Ordering::Release);
        Some(free)
    }

    fn give_back(&self) {
        self.start.store(0, Ordering::Relaxed);
        self.taken.store(false, Ordering::Release);
    }

    /// Returns where its pages end, if `address` is in one of them.
    fn end_behind(&self, address: usize) -> Option<usize> {
        let start = self.start.load(Ordering::Acquire);
        let end = start + self.length.load(Ordering::Relaxed).next_multiple_of(page());
        // One that was given away in between had another thread's pages.
        let same = self.start.load(Ordering::Acquire) == start;
        (same && start != 0 && (start..end).contains(&address)).then_some(end)
    }
}

fn page() -> usize {
    // SAFETY: it reads a constant of the process, and may be called from a signal handler.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// What was done about `SIGBUS` before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handler, once.
fn watch_faults() -> io::Result<()> {
    static WATCHING: OnceLock<Result<(), i32>> = OnceLock::new();
    WATCHING.get_or_init(install).map_err(io::Error::from_raw_os_error)
}

fn install() -> Result<(), i32> {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
    // SAFETY: a structure of numbers, for which all zeros are a value: the default action.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: nothing is installed yet; `before` is there to be written.
    if unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) } != 0 {
        return Err(errno());
    }
    // Before the handler can run, which needs it.
    let _ = BEFORE.set(before);
    // SAFETY: as above.
    let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = on_fault;
    ours.sa_sigaction = handler as usize;
    // On the stack for signals, as the one for overflows of the standard library needs it, which
    // comes after this one.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the handler has the signature that SA_SIGINFO asks for, lives as long as the process,
    // and calls only what may be called in a handler.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut()) } != 0 {
        return Err(errno());
    }
    Ok(())
}

/// Puts zeros in the place of a page that is gone; or lets others decide.
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands a handler with SA_SIGINFO what it knows, and for SIGBUS an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    // Others are sent by processes, and have no address.
    let is_fault = code > 0;
    if !(is_fault && replace(address)) {
        hand_on(signal, is_fault, info, context);
    }
}

/// Puts zeros in the place of a page of ours and all behind it, which are gone as well. Returns
/// whether it was one.
fn replace(address: usize) -> bool {
    let find = |watched: &'static Watched| Some((watched, watched.end_behind(address)?));
    let Some((watched, end)) = WATCHED.iter().find_map(find) else {
        return false;
    };
    let start = address / page() * page();
    // SAFETY: the calling thread's own, which it may be about to look at.
    let errno = unsafe { *libc::__errno_location() };
    // SAFETY: these pages are part of a mapping that the interrupted thread is copying from or to: it
    // is there until that returns. Nobody has a reference into it.
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

/// Does what would have been done without us.
fn hand_on(signal: c_int, is_fault: bool, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(before) = BEFORE.get() else { return };
    match before.sa_sigaction {
        // A fault is never ignored: it would come again for ever.
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: all zeros are the default action, which ends the process: when the touching is
            // tried again, or at once when this handler returns.
            unsafe {
                let default: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, &raw const default, std::ptr::null_mut());
                if !is_fault {
                    libc::raise(signal);
                }
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: it was installed as a handler that takes these three.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: it was installed as a handler that takes the number.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use transect_testkit::TempDir;

    /// A file of this many pages, each full of its number.
    fn pages(folder: &Path, count: usize) -> File {
        let bytes: Vec<u8> = (0..count * page()).map(|at| (at / page()) as u8).collect();
        let path = folder.join("file");
        std::fs::write(&path, bytes).unwrap();
        File::options().read(true).write(true).open(path).unwrap()
    }

    #[test]
    fn any_part_of_a_file_can_be_mapped() {
        let temp = TempDir::new();
        let file = pages(temp.path(), 3);
        let page = page() as u64;
        let expected = std::fs::read(temp.join("file")).unwrap();
        for part in [0..1, 0..3 * page, page - 1..page + 1, page..2 * page, 2 * page + 7..3 * page]
        {
            let mapping = Mapping::map_read(&file, part.clone()).unwrap().unwrap();
            assert_eq!(mapping.len() as u64, part.end - part.start);
            let mut bytes = vec![9; mapping.len()];
            mapping.read(0, &mut bytes).unwrap();
            assert_eq!(bytes, expected[part.start as usize..part.end as usize]);
            let last = bytes.len() - 1;
            mapping.read(last, &mut bytes[..1]).unwrap();
            assert_eq!(bytes[0], expected[part.end as usize - 1]);
        }
    }

    #[test]
    fn what_is_written_is_in_the_file() {
        let temp = TempDir::new();
        let file = pages(temp.path(), 2);
        let mut mapping = Mapping::map_write(&file, 5..page() as u64 + 7).unwrap().unwrap();
        mapping.write(page(), b"ab").unwrap();
        drop(mapping);
        let bytes = std::fs::read(temp.join("file")).unwrap();
        assert_eq!(bytes[page() + 4..][..4], [1, b'a', b'b', 1]);
    }

    #[test]
    fn a_file_that_is_cut_is_an_error_and_its_other_mappings_go_on() {
        let temp = TempDir::new();
        let file = pages(temp.path(), 4);
        let end = 4 * page() as u64;
        let mut cut = Mapping::map_write(&file, 0..end).unwrap().unwrap();
        let first = Mapping::map_read(&file, 0..1).unwrap().unwrap();
        file.set_len(page() as u64).unwrap();
        let mut bytes = vec![9; 3 * page()];
        cut.read(0, &mut bytes[..page()]).unwrap();
        let error = cut.read(page(), &mut bytes).unwrap_err();
        assert!(error.to_string().contains("the file was cut"), "{error}");
        // Once is for ever: what it holds is no longer the file's.
        assert!(cut.read(0, &mut bytes[..1]).is_err());
        assert!(cut.write(3 * page(), b"x").is_err());
        first.read(0, &mut bytes[..1]).unwrap();
        assert_eq!(bytes[0], 0);
        drop(cut);
        let again = Mapping::map_read(&file, 0..page() as u64).unwrap().unwrap();
        again.read(0, &mut bytes[..page()]).unwrap();
        // Nothing of what went wrong came to be in the file.
        assert_eq!(file.metadata().unwrap().len(), page() as u64);
    }

    #[test]
    fn threads_meet_their_own_faults_only() {
        let temp = TempDir::new();
        let file = pages(temp.path(), 1);
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let file = &file;
                scope.spawn(move || {
                    for round in 0..500 {
                        // Every other mapping goes beyond the end.
                        let gone = (thread + round) % 2;
                        let part = 0..page() as u64 * (1 + gone);
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
    fn there_are_not_endlessly_many_and_room_comes_back() {
        const TEST: &str =
            "linux::mapping::tests::there_are_not_endlessly_many_and_room_comes_back";
        transect_testkit::alone(TEST, || {
            let temp = TempDir::new();
            let file = pages(temp.path(), 1);
            for _ in 0..2 {
                let map = |_| Mapping::map_read(&file, 0..1).map(Option::unwrap);
                let all: Vec<_> = (0..MOST).map(map).map(Result::unwrap).collect();
                assert!(map(0).unwrap_err().to_string().starts_with("more than 256"));
                drop(all);
            }
        });
    }

    #[test]
    fn files_that_cannot_be_mapped_are_told_from_errors() {
        let file = File::open("/proc/self/status").unwrap();
        assert!(Mapping::map_read(&file, 0..1).is_ok_and(|mapping| mapping.is_none()));
    }

    /// Starts this test once more, to do something in a process that ends by it, and could not remove
    /// a folder of its own.
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

    /// Returns the folder that a process started so is to use.
    fn folder() -> PathBuf {
        std::env::var_os("TRANSECT_TEST_AT").expect("whoever started this said where").into()
    }

    #[test]
    fn faults_of_others_end_the_process_as_before() {
        let Ok(role) = std::env::var("TRANSECT_TEST_FAULT") else {
            for role in ["fault", "default", "kill"] {
                let ended = other_process("faults_of_others_end_the_process_as_before", role);
                assert_eq!(ended.status.signal(), Some(libc::SIGBUS), "{role}: {ended:?}");
            }
            return;
        };
        if role != "fault" {
            // Else that of the standard library is there, which waits for a second fault.
            // SAFETY: nobody else's process.
            unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
        }
        let file = pages(&folder(), 1);
        let _ours = Mapping::map_read(&file, 0..1).unwrap().unwrap();
        if role == "kill" {
            // SAFETY: it is sent to this process, which is there to end by it.
            unsafe { libc::raise(libc::SIGBUS) };
        } else {
            let (length, fd) = (2 * page(), file.as_raw_fd());
            // SAFETY: a new mapping, of which the second page is gone: the read ends the process.
            unsafe {
                let foreign = libc::mmap(
                    std::ptr::null_mut(),
                    length,
                    libc::PROT_READ,
                    libc::MAP_SHARED,
                    fd,
                    0,
                );
                std::ptr::read_volatile(foreign.cast::<u8>().add(page()));
            }
        }
        unreachable!("the signal did not end the process");
    }

    #[test]
    fn a_handler_that_was_there_before_still_gets_what_is_its_own() {
        extern "C" fn theirs(_: c_int) {
            // SAFETY: it may be called in a handler, and ends the process with a code to be seen.
            unsafe { libc::_exit(77) };
        }
        if std::env::var_os("TRANSECT_TEST_FAULT").is_none() {
            let test = "a_handler_that_was_there_before_still_gets_what_is_its_own";
            assert_eq!(other_process(test, "chained").status.code(), Some(77));
            return;
        }
        // SAFETY: the handler has the signature that is asked for.
        unsafe { libc::signal(libc::SIGBUS, theirs as *const () as libc::sighandler_t) };
        let file = pages(&folder(), 1);
        let ours = Mapping::map_read(&file, 0..2 * page() as u64).unwrap().unwrap();
        assert!(ours.read(page(), &mut [0]).is_err());
        // SAFETY: it is sent to this process, whose first handler ends it.
        unsafe { libc::raise(libc::SIGBUS) };
        unreachable!("the handler was not called");
    }
}
