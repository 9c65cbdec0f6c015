//! Concurrent reads and writes with `io_uring`.
//!
//! The kernel uses memory after the call that submitted it. So each operation takes ownership of a
//! [`Buffer`], which the result returns. A ring waits for its operations when it is dropped, also
//! during a panic. If waiting fails, their buffers are leaked.

use std::alloc::Layout;
use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut, Range};
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use io_uring::{IoUring, Probe, opcode, squeue, types};

/// The page size, which is also the alignment that devices require.
const ALIGNMENT: usize = 4096;

/// Returns whether this kernel (Linux 5.6) and this sandbox allow `io_uring`.
pub fn has_io_uring() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let mut probe = Probe::new();
        let asked = IoUring::new(1).and_then(|ring| ring.submitter().register_probe(&mut probe));
        asked.is_ok()
            && probe.is_supported(opcode::Read::CODE)
            && probe.is_supported(opcode::Write::CODE)
    })
}

/// The memory of all buffers of a ring.
#[derive(Debug)]
struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it is plain memory; the buffers control access to its parts.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    fn new(length: usize) -> io::Result<Self> {
        let layout = Layout::from_size_align(length, ALIGNMENT)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        assert!(length > 0, "a ring without buffers");
        // SAFETY: the layout is not empty.
        let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
        let start = start.ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, layout })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout. Everything that uses a part of it shares its
        // ownership, so nothing uses it any more.
        unsafe { std::alloc::dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// A part of a ring's memory that the kernel does not use at the moment.
#[derive(Debug)]
pub struct Buffer {
    memory: Arc<Memory>,
    index: usize,
    length: usize,
}

impl Buffer {
    /// Returns the index of the buffer within its ring.
    pub fn index(&self) -> usize {
        self.index
    }

    fn start(&self) -> *mut u8 {
        // SAFETY: the memory is as long as all buffers together.
        unsafe { self.memory.start.as_ptr().add(self.index * self.length) }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: each part of the memory has one buffer, and it was zeroed. While the kernel uses
        // it, the buffer is in the ring, which does not access it.
        unsafe { std::slice::from_raw_parts(self.start(), self.length) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`, and `self` is borrowed exclusively for as long.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.length) }
    }
}

/// The direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// From the file into the buffer.
    Read,
    /// From the buffer into the file.
    Write,
}

/// A queue of concurrent reads and writes.
pub struct Ring {
    uring: IoUring,
    memory: Arc<Memory>,
    /// Buffers in use by the kernel, by index.
    in_kernel: Vec<Option<Buffer>>,
    /// The buffers are registered with the kernel, which saves looking up their pages each time.
    is_registered: bool,
    /// Submitting or waiting failed, so the kernel may still hold an operation that cannot be
    /// cancelled.
    is_broken: bool,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("in_kernel", &self.in_kernel).finish_non_exhaustive()
    }
}

impl Ring {
    /// Returns a ring and its page-aligned buffers.
    ///
    /// # Errors
    /// Any error that the system reports.
    ///
    /// # Panics
    /// If `count` or `length` is 0, or `length` is not a multiple of the page size.
    pub fn new(count: usize, length: usize) -> io::Result<(Self, Vec<Buffer>)> {
        assert!(length.is_multiple_of(ALIGNMENT), "the length is not a multiple of the page size");
        let too_much = || io::Error::from(io::ErrorKind::OutOfMemory);
        u32::try_from(length).map_err(|_| too_much())?;
        let entries = u16::try_from(count).map_err(|_| too_much())?;
        let uring = IoUring::new(entries.into())?;
        let memory = Memory::new(count.checked_mul(length).ok_or_else(too_much)?)?;
        let memory = Arc::new(memory);
        let buffer = |index| Buffer { memory: Arc::clone(&memory), index, length };
        let buffers: Vec<Buffer> = (0..count).map(buffer).collect();
        let parts: Vec<libc::iovec> = buffers
            .iter()
            .map(|buffer| libc::iovec { iov_base: buffer.start().cast(), iov_len: length })
            .collect();
        // SAFETY: the memory stays in place until the ring is closed, which shares its ownership.
        let registered = unsafe { uring.submitter().register_buffers(&parts) };
        // Locked memory is limited; without registration the ring is only slower.
        let is_registered = registered.is_ok();
        let in_kernel = (0..count).map(|_| None).collect();
        let ring = Self { uring, memory, in_kernel, is_registered, is_broken: false };
        Ok((ring, buffers))
    }

    /// Returns the number of operations in flight.
    pub fn in_flight(&self) -> usize {
        self.in_kernel.iter().filter(|buffer| buffer.is_some()).count()
    }

    /// Submits a transfer between a part of a buffer and a file, from `offset` on.
    ///
    /// # Errors
    /// The system accepts no more operations, now or for good.
    ///
    /// # Panics
    /// If the buffer belongs to another ring or has no such part.
    pub fn submit(
        &mut self,
        transfer: Transfer,
        file: &File,
        buffer: Buffer,
        part: Range<usize>,
        offset: u64,
    ) -> io::Result<()> {
        assert!(Arc::ptr_eq(&buffer.memory, &self.memory), "a buffer of another ring");
        self.verify_whole()?;
        let entry = self.entry(transfer, types::Fd(file.as_raw_fd()), &buffer, part, offset);
        let index = buffer.index;
        self.in_kernel[index] = Some(buffer);
        // SAFETY: the entry's memory is that of the buffer, which stays in `in_kernel` until the kernel
        // has answered. Its file is open until the entry is submitted below; from then on the
        // kernel holds it.
        let pushed = unsafe { self.uring.submission().push(&entry) };
        pushed.expect("BUG: there are as many entries as buffers, and all were submitted");
        loop {
            match self.uring.submit() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) if self.uring.submission().is_empty() => return Ok(()),
                Ok(_) => {}
                Err(error) => {
                    self.is_broken = true;
                    return Err(error);
                }
            }
        }
    }

    /// Returns the entry of a transfer in the kernel's queue.
    fn entry(
        &self,
        transfer: Transfer,
        fd: types::Fd,
        buffer: &Buffer,
        part: Range<usize>,
        offset: u64,
    ) -> squeue::Entry {
        use opcode::{Read, ReadFixed, Write, WriteFixed};
        assert!(part.start <= part.end && part.end <= buffer.length, "not a part of the buffer");
        // SAFETY: the part lies within the buffer.
        let start = unsafe { buffer.start().add(part.start) };
        let (length, index) = (part.len() as u32, buffer.index as u16);
        let entry = match (transfer, self.is_registered) {
            (Transfer::Read, true) => {
                ReadFixed::new(fd, start, length, index).offset(offset).build()
            }
            (Transfer::Read, false) => Read::new(fd, start, length).offset(offset).build(),
            (Transfer::Write, true) => {
                WriteFixed::new(fd, start, length, index).offset(offset).build()
            }
            (Transfer::Write, false) => Write::new(fd, start, length).offset(offset).build(),
        };
        entry.user_data(buffer.index as u64)
    }

    /// Waits until one operation completes. Returns its buffer and the number of bytes read or
    /// written, which may be fewer than requested.
    ///
    /// # Errors
    /// Waiting failed. The error of the operation itself is the second part of the result.
    ///
    /// # Panics
    /// If no operation is in flight.
    pub fn wait(&mut self) -> io::Result<(Buffer, io::Result<usize>)> {
        assert!(self.in_flight() > 0, "no operation is in flight");
        self.verify_whole()?;
        loop {
            if let Some(done) = self.uring.completion().next() {
                let buffer = self.in_kernel[done.user_data() as usize].take();
                let buffer = buffer.expect("BUG: each operation has one answer");
                let result = usize::try_from(done.result())
                    .map_err(|_| io::Error::from_raw_os_error(-done.result()));
                return Ok((buffer, result));
            }
            match self.uring.submit_and_wait(1) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    self.is_broken = true;
                    return Err(error);
                }
                _ => {}
            }
        }
    }

    fn verify_whole(&self) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("the ring failed before"));
        }
        Ok(())
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        while self.in_flight() > 0 {
            if self.wait().is_err() {
                // The kernel may still access this memory, so it must never be reused.
                std::mem::forget(std::mem::take(&mut self.in_kernel));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::{TempDir, loudly_skip};

    /// Returns a ring, or `None` if the system has none.
    fn ring(test: &str, count: usize, length: usize) -> Option<(Ring, Vec<Buffer>)> {
        if !has_io_uring() {
            loudly_skip(test, "no io_uring");
            return None;
        }
        Some(Ring::new(count, length).unwrap())
    }

    #[test]
    fn ring_many_in_flight_all_complete() {
        let Some((mut ring, mut buffers)) = ring("ring_many_in_flight_all_complete", 8, 8192)
        else {
            return;
        };
        let temp = TempDir::new();
        let file = File::create_new(temp.join("file")).unwrap();
        for mut buffer in buffers.drain(..) {
            let index = buffer.index();
            assert_eq!(buffer.as_ptr().addr() % ALIGNMENT, 0);
            buffer.fill(index as u8);
            ring.submit(Transfer::Write, &file, buffer, 0..8192, 8192 * index as u64).unwrap();
        }
        assert_eq!(ring.in_flight(), 8);
        while ring.in_flight() > 0 {
            let (buffer, written) = ring.wait().unwrap();
            assert_eq!(written.unwrap(), 8192);
            buffers.push(buffer);
        }
        let bytes = std::fs::read(temp.join("file")).unwrap();
        assert!(bytes.iter().enumerate().all(|(at, &byte)| byte == (at / 8192) as u8));
        let file = File::open(temp.join("file")).unwrap();
        let mut buffer = buffers.pop().unwrap();
        buffer.fill(99);
        ring.submit(Transfer::Read, &file, buffer, 1..3, 8191).unwrap();
        drop(file);
        let (buffer, read) = ring.wait().unwrap();
        assert_eq!((read.unwrap(), &buffer[..4]), (2, &[99, 0, 1, 99][..]));
    }

    #[test]
    fn ring_error_returned_with_buffer() {
        let Some((mut ring, mut buffers)) = ring("ring_error_returned_with_buffer", 1, 4096) else {
            return;
        };
        let temp = TempDir::new();
        std::fs::write(temp.join("file"), "text").unwrap();
        let file = File::open(temp.join("file")).unwrap();
        ring.submit(Transfer::Write, &file, buffers.pop().unwrap(), 0..1, 0).unwrap();
        let (buffer, refused) = ring.wait().unwrap();
        assert_eq!(refused.unwrap_err().raw_os_error(), Some(libc::EBADF));
        ring.submit(Transfer::Read, &file, buffer, 0..4096, 2).unwrap();
        let (buffer, read) = ring.wait().unwrap();
        assert_eq!(&buffer[..read.unwrap()], b"xt");
    }

    #[test]
    fn ring_dropped_waits_for_operations() {
        let Some((mut ring, mut buffers)) = ring("ring_dropped_waits_for_operations", 2, 4096)
        else {
            return;
        };
        // A pipe that is written to later: until then the kernel has the buffer.
        let (from, mut to) = io::pipe().unwrap();
        let from = File::from(std::os::fd::OwnedFd::from(from));
        ring.submit(Transfer::Read, &from, buffers.pop().unwrap(), 0..1, u64::MAX).unwrap();
        let dropped = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let dropped = &dropped;
            let (send, receive) = std::sync::mpsc::channel();
            scope.spawn(move || {
                send.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
                drop(ring);
                dropped.store(true, std::sync::atomic::Ordering::SeqCst);
            });
            let stat = std::path::Path::new("/proc").join(receive.recv().unwrap()).join("stat");
            transect_testkit::wait_until("the thread sleeps", || {
                let stat = std::fs::read_to_string(&stat).unwrap_or_default();
                let dropped = dropped.load(std::sync::atomic::Ordering::SeqCst);
                dropped || stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with(['S', 'D']))
            });
            assert!(!dropped.load(std::sync::atomic::Ordering::SeqCst));
            io::Write::write_all(&mut to, b"x").unwrap();
        });
        assert!(dropped.load(std::sync::atomic::Ordering::SeqCst));
        // Buffers may outlive their ring.
        assert_eq!(buffers[0][0], 0);
    }

    #[test]
    #[should_panic(expected = "a buffer of another ring")]
    fn ring_buffer_of_other_ring_panics() {
        let (Some((mut one, _)), Some((_, mut others))) = (
            ring("ring_buffer_of_other_ring_panics", 1, 4096),
            ring("ring_buffer_of_other_ring_panics", 1, 4096),
        ) else {
            panic!("a buffer of another ring, if there were rings");
        };
        let file = File::open("/dev/zero").unwrap();
        let _ = one.submit(Transfer::Read, &file, others.pop().unwrap(), 0..1, 0);
    }
}
