//! An allocator for programs: out of memory ends the process with an error message, not an abort.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;

/// A failed request of at least this many bytes is returned to its caller: it may be a length from
/// a file, for which the caller has a better error message.
const LARGE: usize = 1 << 30;

/// The exit code for fatal errors.
const FATAL: i32 = 2;

/// The system's allocator. If there is no memory left, it ends the program with exit code 2 and a
/// message on standard error. For `#[global_allocator]`.
#[derive(Debug)]
pub struct Allocator {
    /// The name of the program, for the message.
    pub program: &'static str,
}

// SAFETY: every request goes to the system's allocator unchanged, and its result is returned
// unchanged unless the process ends.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantees are those that the system's allocator requires.
        self.check(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        self.check(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        self.check(unsafe { System.realloc(pointer, layout, size) }, size)
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

impl Allocator {
    #[inline]
    fn check(&self, pointer: *mut u8, size: usize) -> *mut u8 {
        if pointer.is_null() && size < LARGE {
            self.end(size);
        }
        pointer
    }

    /// Ends the program without allocating memory.
    #[cold]
    fn end(&self, size: usize) -> ! {
        let mut text = [0; 256];
        let mut rest = text.as_mut_slice();
        // Truncates a long program name.
        let _ = writeln!(
            rest,
            "{}: cannot allocate {size} bytes: not enough memory, or a limit (ulimit -v) is reached",
            self.program
        );
        let unused = rest.len();
        print_and_exit(&text[..text.len() - unused])
    }
}

/// Makes the allocator return large blocks to the system as soon as they are freed. By default, glibc keeps those
/// of up to 32 MB after the first of them was freed, which suits programs that soon need them again. Elsewhere this does
/// nothing.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        const SMALLEST: libc::c_int = 128 << 10;
        // SAFETY: `mallopt` takes numbers, and can be called at any time.
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, SMALLEST) };
    }
}

/// Returns memory that the allocator holds and that is not used to the system: after work that needed much more than what
/// stays. It reads what is free, but not what is used. Elsewhere than with glibc this does nothing.
pub fn return_free_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: `malloc_trim` takes a number, and can be called at any time.
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(target_os = "linux")]
fn print_and_exit(text: &[u8]) -> ! {
    // SAFETY: `text` is readable for its length. `_exit` runs no code of this process, which might
    // need memory or a lock that another thread holds.
    unsafe {
        libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len());
        libc::_exit(FATAL)
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::exit, reason = "a program without memory cannot continue")]
#[expect(clippy::disallowed_methods, reason = "the text quotes no names that need sanitizing")]
fn print_and_exit(text: &[u8]) -> ! {
    let _ = std::io::stderr().write_all(text);
    std::process::exit(FATAL)
}
