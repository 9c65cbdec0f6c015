//! Named pipes: streams of bytes between processes of one user on one machine.

use std::io;
use std::ops::Range;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_OPERATION_ABORTED, ERROR_PIPE_BUSY,
    ERROR_PIPE_CONNECTED, ERROR_PIPE_NOT_CONNECTED, ERROR_SEM_TIMEOUT, GENERIC_READ, GENERIC_WRITE,
    HANDLE,
};
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, OPEN_EXISTING,
    PIPE_ACCESS_DUPLEX, ReadFile, SECURITY_IDENTIFICATION, SECURITY_SQOS_PRESENT, WriteFile,
};
use windows_sys::Win32::System::Pipes::{
    ConnectNamedPipe, CreateNamedPipeW, GetNamedPipeClientProcessId, GetNamedPipeHandleStateW,
    GetNamedPipeServerProcessId, PIPE_READMODE_BYTE, PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE,
    PIPE_UNLIMITED_INSTANCES, PIPE_WAIT, WaitNamedPipeW,
};
use windows_sys::core::BOOL;

use super::overlapped::{Event, Operation, wait_any};
use super::status::{done, owned};
use super::system::wide;
use super::user::{SecurityDescriptor, UserId};

/// Bytes that one operation reads or writes at most, and that a pipe holds in each direction while
/// the other end does not read.
const BLOCK: usize = 64 << 10;

/// The longest wait for a free instance of a pipe before looking whether the pipe still exists, in
/// milliseconds.
const BUSY_WAIT: u32 = 1000;

/// Listens at a named pipe. An instance of the pipe always waits for the next client, so that a
/// client that finds none knows that nothing listens.
#[derive(Debug)]
pub struct PipeListener {
    name: Vec<u16>,
    security: SecurityDescriptor,
    waiting: Mutex<Instance>,
}

impl PipeListener {
    /// Creates a pipe with a name of the form `\\.\pipe\NAME`. It belongs to the user of this
    /// process, no other user can open it, and neither can other machines.
    ///
    /// # Errors
    /// Any error that the system reports. If a process listens there already, the system denies
    /// access; Wine does not, and the kind of the error is [`io::ErrorKind::AddrInUse`].
    pub fn bind(name: &Path) -> io::Result<Self> {
        Self::with_security(name, SecurityDescriptor::private_to(&UserId::current()?)?)
    }

    fn with_security(name: &Path, security: SecurityDescriptor) -> io::Result<Self> {
        let name = wide(name.as_os_str())?;
        let first = Instance::new(&name, &security, FILE_FLAG_FIRST_PIPE_INSTANCE)?;
        if first.count()? > 1 {
            // Wine ignores the flag.
            return Err(io::ErrorKind::AddrInUse.into());
        }
        Ok(Self { name, security, waiting: Mutex::new(first) })
    }

    fn lock(&self) -> MutexGuard<'_, Instance> {
        self.waiting.lock().expect("BUG: a thread panicked while it accepted a client")
    }

    /// Waits for a client, or until `wake` is signalled, which is then reset, at most for `longest`. Returns whether there is
    /// a client.
    pub fn wait(&self, wake: &Event, longest: Option<Duration>) -> io::Result<bool> {
        let signalled = wait_any([self.lock().connecting.event(), wake], longest)?;
        wake.take();
        Ok(signalled == Some(0))
    }

    /// Returns the pipe to the client that has connected, if there is one. After an error the client
    /// still waits, unless the error is its own.
    pub fn accept(&self) -> io::Result<Option<Pipe>> {
        let mut waiting = self.lock();
        if wait_any([waiting.connecting.event()], Some(Duration::ZERO))?.is_none() {
            return Ok(None);
        }
        if let Err(error) = waiting.connecting.finish() {
            // For example, because the thread that began to listen has ended.
            waiting.listen()?;
            return if is(&error, ERROR_OPERATION_ABORTED) { Ok(None) } else { Err(error) };
        }
        // If this fails, the next call finds the same client.
        let next = Instance::new(&self.name, &self.security, 0)?;
        let connected = std::mem::replace(&mut *waiting, next);
        Pipe::new(connected.handle).map(Some)
    }
}

/// An instance of a pipe: the server's end of one connection, now or later.
#[derive(Debug)]
struct Instance {
    handle: Arc<OwnedHandle>,
    /// Its event is signalled when a client has connected.
    connecting: Operation,
}

impl Instance {
    /// Creates an instance that waits for a client.
    fn new(name: &[u16], security: &SecurityDescriptor, flags: u32) -> io::Result<Self> {
        let attributes = security.attributes();
        // SAFETY: the name ends with NUL; the attributes point to a descriptor, which is borrowed; the
        // handle is new.
        let handle = unsafe {
            owned(CreateNamedPipeW(
                name.as_ptr(),
                PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED | flags,
                PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS,
                PIPE_UNLIMITED_INSTANCES,
                BLOCK as u32,
                BLOCK as u32,
                0,
                &raw const attributes,
            ))
        };
        let handle = Arc::new(handle?);
        let mut instance = Self { connecting: Operation::new(Arc::clone(&handle))?, handle };
        instance.listen()?;
        Ok(instance)
    }

    /// Begins to wait for a client.
    fn listen(&mut self) -> io::Result<()> {
        // SAFETY: the call gets an open handle and the place of the result, and uses no block.
        let begun = unsafe {
            self.connecting.begin(|handle, _, _, overlapped| ConnectNamedPipe(handle, overlapped))
        };
        match begun {
            // A client has connected already; in the second case, it is gone again.
            Err(error) if is(&error, ERROR_PIPE_CONNECTED) || is(&error, ERROR_NO_DATA) => {
                self.connecting.event().signal();
                Ok(())
            }
            begun => begun,
        }
    }

    /// Returns the number of instances of the pipe, in all processes.
    fn count(&self) -> io::Result<u32> {
        let mut count = 0;
        // SAFETY: the handle is open, `count` is ours to write, and nothing else is asked for.
        done(unsafe {
            GetNamedPipeHandleStateW(
                self.handle.as_raw_handle(),
                null_mut(),
                &raw mut count,
                null_mut(),
                null_mut(),
                null_mut(),
                0,
            )
        })?;
        Ok(count)
    }
}

/// One end of a connected pipe. Reads and writes either wait or return at once.
#[derive(Debug)]
pub struct Pipe {
    handle: Arc<OwnedHandle>,
    /// Signalled by [`Pipe::close`].
    closed: Event,
    reading: Mutex<Reading>,
    writing: Mutex<Operation>,
}

#[derive(Debug)]
struct Reading {
    operation: Operation,
    /// Where in its block unread bytes are.
    unread: Range<usize>,
}

impl Pipe {
    fn new(handle: Arc<OwnedHandle>) -> io::Result<Self> {
        let reading = Reading { operation: Operation::new(Arc::clone(&handle))?, unread: 0..0 };
        let writing = Operation::new(Arc::clone(&handle))?;
        Ok(Self {
            handle,
            closed: Event::new()?,
            reading: Mutex::new(reading),
            writing: Mutex::new(writing),
        })
    }

    /// Connects to a pipe. Waits while all its instances are in use.
    pub fn connect(name: &Path) -> io::Result<Self> {
        loop {
            match Self::try_connect(name)? {
                Some(pipe) => return Ok(pipe),
                None => wait_for_instance(name)?,
            }
        }
    }

    /// Connects to a pipe; `None` if all its instances are in use.
    pub fn try_connect(name: &Path) -> io::Result<Option<Self>> {
        let name = wide(name.as_os_str())?;
        // A process that listens may learn who connects, but not act in that user's name.
        let flags = FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION;
        let access = GENERIC_READ | GENERIC_WRITE;
        // SAFETY: the name ends with NUL; the optional pointers are null; the handle is new.
        let handle = unsafe {
            owned(CreateFileW(name.as_ptr(), access, 0, null(), OPEN_EXISTING, flags, null_mut()))
        };
        match handle {
            Ok(handle) => Self::new(Arc::new(handle)).map(Some),
            Err(error) if is(&error, ERROR_PIPE_BUSY) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the process id of the client.
    pub fn client_process(&self) -> io::Result<u32> {
        self.process(GetNamedPipeClientProcessId)
    }

    /// Returns the process id of the server.
    pub fn server_process(&self) -> io::Result<u32> {
        self.process(GetNamedPipeServerProcessId)
    }

    fn process(&self, get: unsafe extern "system" fn(HANDLE, *mut u32) -> BOOL) -> io::Result<u32> {
        let mut process = 0;
        // SAFETY: the handle is open, and `process` is ours to write.
        done(unsafe { get(self.handle.as_raw_handle(), &raw mut process) })?;
        Ok(process)
    }

    /// Returns the user to whom the pipe belongs.
    pub fn owner(&self) -> io::Result<UserId> {
        UserId::owner(&*self.handle)
    }

    /// Ends the reads and writes that wait, now and later. The other end notices when this one is
    /// dropped.
    pub fn close(&self) {
        self.closed.signal();
    }

    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.reading.lock().expect("BUG: a thread panicked while it read from a pipe")
    }

    fn writing(&self) -> MutexGuard<'_, Operation> {
        self.writing.lock().expect("BUG: a thread panicked while it wrote to a pipe")
    }

    /// Waits for bytes, and reads them. Returns their number; 0 if the other end is closed, or this
    /// one is by [`Pipe::close`].
    pub fn read(&self, block: &mut [u8]) -> io::Result<usize> {
        let mut reading = self.reading();
        loop {
            if let Some(bytes) = reading.take(block)? {
                return Ok(bytes);
            }
            if wait_any([&self.closed, reading.operation.event()], None)? == Some(0) {
                return Ok(0);
            }
        }
    }

    /// Reads what has arrived.
    ///
    /// # Errors
    /// Any error that the system reports; [`io::ErrorKind::WouldBlock`] if nothing has arrived.
    pub fn try_read(&self, block: &mut [u8]) -> io::Result<usize> {
        self.reading().take(block)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
    }

    /// Writes bytes and waits until the pipe has taken them. Returns how many it has taken.
    ///
    /// # Errors
    /// Any error that the system reports; [`io::ErrorKind::BrokenPipe`] if the other end is closed,
    /// or this one is by [`Pipe::close`].
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut writing = self.writing();
        if writing.is_pending() {
            self.finish_write(&mut writing)?;
        }
        begin_write(&mut writing, bytes)?;
        self.finish_write(&mut writing)
    }

    /// Waits for the end of a write, and returns the number of bytes.
    fn finish_write(&self, writing: &mut Operation) -> io::Result<usize> {
        loop {
            if wait_any([&self.closed, writing.event()], None)? == Some(0) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if let Some(written) = writing.finish().map_err(write_error)? {
                return Ok(written);
            }
        }
    }

    /// Begins to write bytes. Returns how many of them will be written.
    ///
    /// # Errors
    /// Any error that the system reports, also about earlier bytes; [`io::ErrorKind::WouldBlock`]
    /// while earlier bytes are being written.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut writing = self.writing();
        match writing.finish().map_err(write_error)? {
            Some(_) => begin_write(&mut writing, bytes),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Waits until a [`Pipe::try_read`] that returned [`io::ErrorKind::WouldBlock`] can return
    /// something else, or `or_write` a [`Pipe::try_write`].
    ///
    /// # Errors
    /// That took `longest`.
    pub fn wait(&self, or_write: bool, longest: Option<Duration>) -> io::Result<()> {
        let (reading, writing) = (self.reading(), self.writing());
        let read = reading.operation.event();
        let has_bytes = !reading.unread.is_empty() || !reading.operation.is_pending();
        let signalled = match or_write {
            _ if has_bytes => return Ok(()),
            true if writing.is_pending() => wait_any([read, writing.event()], longest)?,
            true => return Ok(()),
            false => wait_any([read], longest)?,
        };
        signalled.map(drop).ok_or_else(|| io::ErrorKind::TimedOut.into())
    }

    /// Waits until something can be read, the end included, or until `wake` is signalled, which is then reset. Returns which
    /// of them.
    pub fn wait_or_woken(&self, wake: &Event) -> io::Result<(bool, bool)> {
        let mut reading = self.reading();
        let arrived = reading.arrive()?.is_some()
            || match wait_any([&self.closed, wake, reading.operation.event()], None)? {
                Some(0) => true,
                Some(2) => reading.arrive()?.is_some(),
                _ => false,
            };
        Ok((arrived, wake.take()))
    }

    /// Waits until `wake` is signalled, and resets it. Returns false if an end of the pipe is closed before. After bytes that
    /// were not read, that of the other end is not noticed.
    pub fn is_woken(&self, wake: &Event) -> io::Result<bool> {
        let mut reading = self.reading();
        loop {
            let signalled = match reading.arrive()? {
                Some(0) => return Ok(false),
                Some(_) => wait_any([&self.closed, wake], None)?,
                None => wait_any([&self.closed, wake, reading.operation.event()], None)?,
            };
            if signalled == Some(0) {
                return Ok(false);
            }
            if wake.take() {
                return Ok(true);
            }
        }
    }
}

impl Reading {
    /// Takes bytes that have arrived, 0 at the end. Begins a read if there are none, and returns
    /// `None` if it is not finished.
    fn take(&mut self, block: &mut [u8]) -> io::Result<Option<usize>> {
        let arrived = self.arrive()?;
        if self.unread.is_empty() {
            return Ok(arrived);
        }
        let taken = block.len().min(self.unread.len());
        let from = &self.operation.block()[self.unread.clone()][..taken];
        block[..taken].copy_from_slice(from);
        self.unread.start += taken;
        Ok(Some(taken))
    }

    /// Returns the number of bytes that have arrived and are unread, 0 at the end. Begins a read if there are none, and returns
    /// `None` if it is not finished.
    fn arrive(&mut self) -> io::Result<Option<usize>> {
        // An empty write of the other end finishes a read without bytes.
        while self.unread.is_empty() {
            match self.fill() {
                Ok(Some(bytes)) => self.unread = 0..bytes,
                Ok(None) => return Ok(None),
                Err(error) if is_end(&error) => return Ok(Some(0)),
                // The thread that began the read has ended, and has read nothing.
                Err(error) if is(&error, ERROR_OPERATION_ABORTED) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(self.unread.len()))
    }

    /// Returns the number of bytes of a finished read, beginning one if necessary.
    fn fill(&mut self) -> io::Result<Option<usize>> {
        if !self.operation.is_pending() {
            self.operation.block().resize(BLOCK, 0);
            // SAFETY: the call writes at most `bytes` bytes to the block.
            unsafe {
                self.operation.begin(|handle, block, bytes, overlapped| {
                    ReadFile(handle, block, bytes, null_mut(), overlapped)
                })
            }?;
        }
        self.operation.finish()
    }
}

/// Begins to write as many bytes as one operation can, and returns their number.
fn begin_write(writing: &mut Operation, bytes: &[u8]) -> io::Result<usize> {
    let bytes = &bytes[..bytes.len().min(BLOCK)];
    let block = writing.block();
    block.clear();
    block.extend_from_slice(bytes);
    // SAFETY: the call reads `bytes` bytes of the block.
    let begun = unsafe {
        writing.begin(|handle, block, bytes, overlapped| {
            WriteFile(handle, block, bytes, null_mut(), overlapped)
        })
    };
    begun.map_err(write_error)?;
    Ok(bytes.len())
}

/// Waits for a free instance of a pipe, for a limited time: the pipe may be gone.
fn wait_for_instance(name: &Path) -> io::Result<()> {
    let name = wide(name.as_os_str())?;
    // SAFETY: the name ends with NUL.
    match done(unsafe { WaitNamedPipeW(name.as_ptr(), BUSY_WAIT) }) {
        Err(error) if is(&error, ERROR_SEM_TIMEOUT) => Ok(()),
        answer => answer,
    }
}

fn is(error: &io::Error, number: u32) -> bool {
    error.raw_os_error() == Some(number.cast_signed())
}

/// Returns whether the error means that the other end is closed.
fn is_end(error: &io::Error) -> bool {
    [ERROR_BROKEN_PIPE, ERROR_PIPE_NOT_CONNECTED, ERROR_NO_DATA].iter().any(|end| is(error, *end))
}

/// Returns the error of a write, of the kind of a closed pipe if it is one: the standard library has
/// no kind for some of them.
fn write_error(error: io::Error) -> io::Error {
    if is_end(&error) { io::ErrorKind::BrokenPipe.into() } else { error }
}

#[cfg(test)]
mod tests;
