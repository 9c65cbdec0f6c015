//! The watcher on Windows: `ReadDirectoryChangesW` for a whole tree, through a completion port.
//!
//! A tree has one open directory, its root: an open directory keeps those above it from being renamed. The root may be
//! renamed, which only its parent reports.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    INVALID_HANDLE_VALUE, STATUS_CANCELLED, STATUS_NOTIFY_ENUM_DIR,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_NOTIFY_CHANGE_ATTRIBUTES, FILE_NOTIFY_CHANGE_CREATION, FILE_NOTIFY_CHANGE_DIR_NAME,
    FILE_NOTIFY_CHANGE_FILE_NAME, FILE_NOTIFY_CHANGE_LAST_WRITE, FILE_NOTIFY_CHANGE_SECURITY,
    FILE_NOTIFY_CHANGE_SIZE, ReadDirectoryChangesW,
};
use windows_sys::Win32::System::IO::{
    CancelIoEx, CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_ENTRY,
    PostQueuedCompletionStatus,
};
use windows_sys::Win32::System::Threading::INFINITE;

use super::open::{Purpose, open_path};
use super::path::units;
use super::status::{done, owned};
use crate::private_dir::PrivateTempDir;
use crate::record::changes::ChangeRecords;
use crate::record::dirinfo;
use crate::watch::{Notification, WatchId};

/// Everything that changes an entry, but not its last access.
const CHANGES: u32 = FILE_NOTIFY_CHANGE_FILE_NAME
    | FILE_NOTIFY_CHANGE_DIR_NAME
    | FILE_NOTIFY_CHANGE_ATTRIBUTES
    | FILE_NOTIFY_CHANGE_SIZE
    | FILE_NOTIFY_CHANGE_LAST_WRITE
    | FILE_NOTIFY_CHANGE_CREATION
    | FILE_NOTIFY_CHANGE_SECURITY;

/// Size in bytes of the buffer for unread notifications of a directory, and of a tree. Servers refuse more than 64 KiB.
const BUFFER: usize = 16 << 10;
const TREE_BUFFER: usize = 64 << 10;

/// How many completions are taken from the port at once.
const BATCH: usize = 64;

/// The completion key that ends a wait. Directories are numbered from 1.
const STOP: usize = 0;

/// No notification takes this long, even on a busy machine.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Watches a tree for changes.
#[derive(Debug)]
pub struct Watcher {
    port: OwnedHandle,
    stopped: AtomicBool,
    state: Mutex<State>,
    /// Signalled when a cookie was reported or notifications were lost.
    settled: Condvar,
    cookies: Cookies,
}

#[derive(Debug, Default)]
struct State {
    next: usize,
    directories: HashMap<usize, Directory>,
    /// Reads taken from the port and not reported yet.
    completed: Vec<Completed>,
    /// The watch of the cookie directory; `cookie` is the number of the last cookie reported.
    cookies: Option<WatchId>,
    cookie: u64,
    /// The watch of the root of a tree.
    root: Option<WatchId>,
    /// How often notifications were lost.
    lost: u64,
}

/// The completion of an asynchronous read of notifications.
#[derive(Debug)]
struct Completed {
    key: usize,
    bytes: usize,
    status: i32,
}

impl Watcher {
    /// Returns a watcher that can watch nothing: Windows watches whole trees only. Creates an empty directory below that for
    /// temporary files: see [`Watcher::settle`].
    ///
    /// # Errors
    /// Any error that the system reports.
    pub fn new() -> io::Result<Self> {
        // SAFETY: without a handle the call creates a port; all pointers are null.
        let port =
            unsafe { owned(CreateIoCompletionPort(INVALID_HANDLE_VALUE, null_mut(), 0, 0)) }?;
        let (stopped, state) = (AtomicBool::new(false), Mutex::default());
        let (settled, cookies) = (Condvar::new(), Cookies::new()?);
        let watcher = Self { port, stopped, state, settled, cookies };
        let cookies = watcher.begin(watcher.cookies.dir.path(), Scope::Cookies)?;
        watcher.lock().cookies = Some(cookies);
        Ok(watcher)
    }

    /// Returns a watcher for a tree. It reports [`Notification::Path`] for every entry below the root. Its directories need no
    /// watches of their own: [`Watcher::watch`] does nothing but return an id. When the root can no longer be read,
    /// [`Notification::Lost`] is the last one, and no directory can be watched any more.
    ///
    /// # Errors
    /// Any error that the system reports, also if the root is a link.
    pub fn of_file_system(root: &Path) -> io::Result<Self> {
        let watcher = Self::new()?;
        // No program can change the path of the root between the two.
        let watch = watcher.begin(root, Scope::Tree)?;
        watcher.lock().root = Some(watch);
        if let Some(parent) = std::path::absolute(root)?.parent() {
            // If it may not be listed, the next other notification reveals that the root was renamed.
            let _ = watcher.begin(parent, Scope::Parent);
        }
        Ok(watcher)
    }

    /// There is no helper on Windows.
    ///
    /// # Errors
    /// Always.
    pub fn through_helper(_: &Path, _: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("BUG: a thread panicked while it watched")
    }

    /// Returns an id for a directory of the tree.
    ///
    /// # Errors
    /// The watcher has no tree, or its root cannot be read any more.
    pub fn watch(&self, _: &Path) -> io::Result<WatchId> {
        self.watch_in_tree()
    }

    /// Like [`Watcher::watch`], which needs no path.
    pub(crate) fn watch_in_tree(&self) -> io::Result<WatchId> {
        let mut state = self.lock();
        state.root.ok_or(io::ErrorKind::Unsupported)?;
        Ok(state.next_id())
    }

    /// Begins to read the notifications of a directory.
    fn begin(&self, directory: &Path, scope: Scope) -> io::Result<WatchId> {
        let follows = scope != Scope::Tree;
        let handle = open_path(&units(directory)?, Purpose::Watch, follows)?;
        let mut state = self.lock();
        let id = state.next_id();
        // SAFETY: both handles are open, and no pointers are passed.
        let port = unsafe {
            CreateIoCompletionPort(handle.as_raw_handle(), self.port.as_raw_handle(), id.0, 0)
        };
        if port.is_null() {
            return Err(io::Error::last_os_error());
        }
        let mut directory = Directory::new(handle, scope);
        directory.begin()?;
        state.directories.insert(id.0, directory);
        Ok(id)
    }

    /// Does nothing: the tree is watched as a whole.
    pub fn unwatch(&self, _: WatchId) {}

    /// Waits until there is something to read. Returns false after [`Watcher::stop`].
    pub fn wait(&self) -> bool {
        let completed = take_completed(&self.port);
        self.lock().completed.extend(completed);
        !self.stopped.load(Ordering::Acquire)
    }

    /// Reports everything that [`Watcher::wait`] found.
    pub fn read(&self, report: &mut dyn FnMut(Notification<'_>)) {
        let mut state = self.lock();
        for completed in std::mem::take(&mut state.completed) {
            state.complete(&completed, &self.cookies, report);
        }
        drop(state);
        self.settled.notify_all();
    }

    /// Waits until every earlier change can be read. Returns whether it can. To do so, creates two files in a directory of its
    /// own, one after the other, and waits for their notifications.
    ///
    /// Each watched directory has a queue, from which a read takes everything. The port gets the result of a read at once
    /// if something changes while the read waits, so in the order of the changes. A change between two reads gets into the
    /// port when the second one begins. That is before the notification of the first file is taken from the port, and so
    /// before the second file.
    pub fn settle(&self) -> bool {
        (0..2).all(|_| self.wait_for_cookie())
    }

    fn wait_for_cookie(&self) -> bool {
        let lost = self.lock().lost;
        let Ok(cookie) = self.cookies.drop_one() else { return false };
        let not_yet = |state: &mut State| {
            state.cookie < cookie && state.lost == lost && state.cookies.is_some()
        };
        let waited = self.settled.wait_timeout_while(self.lock(), MAX_WAIT, not_yet);
        let (state, _) = waited.expect("BUG: a thread panicked while it watched");
        state.cookie >= cookie
    }

    /// Ends [`Watcher::wait`], now and in future calls.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        // SAFETY: the port is open; the message contains no pointers.
        unsafe { PostQueuedCompletionStatus(self.port.as_raw_handle(), 0, STOP, null()) };
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let state = self.state.get_mut().expect("BUG: a thread panicked while it watched");
        for completed in std::mem::take(&mut state.completed) {
            state.ended(completed.key);
        }
        state.directories.values().filter(|it| it.is_reading).for_each(Directory::end);
        // The system may write into a buffer until its read has completed.
        while state.directories.values().any(|directory| directory.is_reading) {
            for completed in take_completed(&self.port) {
                state.ended(completed.key);
            }
        }
    }
}

impl State {
    fn next_id(&mut self) -> WatchId {
        self.next += 1;
        WatchId(self.next)
    }

    /// Records that a read has completed.
    fn ended(&mut self, key: usize) {
        if let Some(directory) = self.directories.get_mut(&key) {
            directory.is_reading = false;
        }
    }

    fn complete(
        &mut self,
        completed: &Completed,
        cookies: &Cookies,
        report: &mut dyn FnMut(Notification<'_>),
    ) {
        let key = completed.key;
        self.ended(key);
        let Some(directory) = self.directories.get_mut(&key) else { return };
        let id = WatchId(key);
        let scope = directory.scope;
        let mut lost = false;
        match completed.status {
            // In both cases the system had more notifications than it could keep.
            STATUS_NOTIFY_ENUM_DIR => lost = true,
            0 if completed.bytes == 0 => lost = true,
            0 if scope == Scope::Parent => report(Notification::Directory(id)),
            0 => {
                for change in ChangeRecords::new(directory.read(completed.bytes)) {
                    let Ok(change) = change else {
                        lost = true;
                        break;
                    };
                    let units: Vec<u16> = dirinfo::utf16_units(change.name).collect();
                    let name = OsString::from_wide(&units);
                    if scope == Scope::Cookies {
                        let number = name.to_str().and_then(|name| name.parse().ok());
                        self.cookie = self.cookie.max(number.unwrap_or(0));
                    } else if let path = PathBuf::from(name)
                        && !cookies.are_in(&path)
                    {
                        report(Notification::Path { path: &path, of_name: change.of_name });
                    }
                }
            }
            // The thread that started the read has ended.
            STATUS_CANCELLED if scope == Scope::Tree => lost = true,
            STATUS_CANCELLED => report(Notification::Directory(id)),
            _ => return self.fail(id, report),
        }
        // What was lost of the parent may have been the name of the root.
        if lost && scope == Scope::Parent {
            report(Notification::Directory(id));
        } else if lost {
            self.lost += 1;
            report(Notification::Lost);
        }
        if directory.begin().is_err() {
            self.fail(id, report);
        }
    }

    /// Reports a directory that is gone or may no longer be read. It is not read again.
    fn fail(&mut self, directory: WatchId, report: &mut dyn FnMut(Notification<'_>)) {
        self.cookies.take_if(|cookies| *cookies == directory);
        report(match self.root.take_if(|root| *root == directory) {
            Some(_) => Notification::Lost,
            None => Notification::Directory(directory),
        });
    }
}

/// Waits for completed reads and returns them; an empty list for [`STOP`].
fn take_completed(port: &OwnedHandle) -> Vec<Completed> {
    let mut entries = [OVERLAPPED_ENTRY::default(); BATCH];
    let mut count = 0;
    // SAFETY: the port is open; the entries and their count are ours to write.
    let done = unsafe {
        GetQueuedCompletionStatusEx(
            port.as_raw_handle(),
            entries.as_mut_ptr(),
            BATCH as u32,
            &mut count,
            INFINITE,
            0,
        )
    };
    let count = if done == 0 { 0 } else { count as usize };
    let ended = entries[..count].iter().filter(|entry| !entry.lpOverlapped.is_null());
    ended
        .map(|entry| Completed {
            key: entry.lpCompletionKey,
            bytes: entry.dwNumberOfBytesTransferred as usize,
            // SAFETY: it lies in a `Pending`, which lives until its read has completed, that is,
            // until now.
            status: unsafe { (*entry.lpOverlapped).Internal as i32 },
        })
        .collect()
}

/// What a directory is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// The files that [`Watcher::settle`] creates.
    Cookies,
    /// Its entries and everything below them.
    Tree,
    /// Its directories: one of them is the root of a tree.
    Parent,
}

#[derive(Debug)]
struct Directory {
    scope: Scope,
    handle: OwnedHandle,
    pending: NonNull<Pending>,
    /// The system may write into `pending`.
    is_reading: bool,
}

/// Memory that the system writes into.
struct Pending {
    overlapped: OVERLAPPED,
    // Records are aligned to four bytes.
    buffer: Box<[u32]>,
}

// SAFETY: only the directory owns `pending`, and no part of it is bound to a thread.
unsafe impl Send for Directory {}

impl Directory {
    fn new(handle: OwnedHandle, scope: Scope) -> Self {
        let bytes = if scope == Scope::Tree { TREE_BUFFER } else { BUFFER };
        let buffer = vec![0; bytes / size_of::<u32>()].into_boxed_slice();
        let pending = Box::new(Pending { overlapped: OVERLAPPED::default(), buffer });
        let pending = NonNull::from(Box::leak(pending));
        Self { scope, handle, pending, is_reading: false }
    }

    /// Starts a read: it reports changes from now on, and those since the last read.
    fn begin(&mut self) -> io::Result<()> {
        let pending = self.pending.as_ptr();
        let changes =
            if self.scope == Scope::Parent { FILE_NOTIFY_CHANGE_DIR_NAME } else { CHANGES };
        // SAFETY:
        // - the handle is open, and was opened for asynchronous work;
        // - no read is in progress, so `pending` is ours; it lives until the read has completed, which
        //   `Drop` ensures;
        // - the buffer is as long as we say, and aligned.
        let begun = unsafe {
            (*pending).overlapped = OVERLAPPED::default();
            ReadDirectoryChangesW(
                self.handle.as_raw_handle(),
                (*pending).buffer.as_mut_ptr().cast(),
                size_of_val(&*(*pending).buffer) as u32,
                (self.scope == Scope::Tree).into(),
                changes,
                null_mut(),
                &raw mut (*pending).overlapped,
                None,
            )
        };
        done(begun)?;
        self.is_reading = true;
        Ok(())
    }

    /// Returns the result of the last read.
    fn read(&self, bytes: usize) -> &[u8] {
        assert!(!self.is_reading, "BUG: the system still writes");
        // SAFETY: no read is in progress; the buffer is initialised and longer than the result.
        unsafe {
            let buffer = &*(*self.pending.as_ptr()).buffer;
            std::slice::from_raw_parts(buffer.as_ptr().cast(), bytes.min(size_of_val(buffer)))
        }
    }

    /// Cancels the read in progress, if there is one.
    fn end(&self) {
        // SAFETY: the handle is open. If the read has already completed, its completion is in the
        // port.
        unsafe { CancelIoEx(self.handle.as_raw_handle(), null()) };
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Leaked while a read is in progress: the system would write into freed memory.
        if !self.is_reading {
            // SAFETY: it was made by `Box::leak`, and neither the system nor anything else uses it.
            drop(unsafe { Box::from_raw(self.pending.as_ptr()) });
        }
    }
}

/// A directory for cookies: files whose notifications show that earlier ones have arrived.
#[derive(Debug)]
struct Cookies {
    dir: PrivateTempDir,
    next: AtomicU64,
}

impl Cookies {
    fn new() -> io::Result<Self> {
        Ok(Self { dir: PrivateTempDir::new("watch")?, next: AtomicU64::new(1) })
    }

    /// Returns whether a path is that of the directory, or below it: a tree may have it.
    fn are_in(&self, path: &Path) -> bool {
        path.iter().any(|name| Some(name) == self.dir.path().file_name())
    }

    fn drop_one(&self) -> io::Result<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.path().join(number.to_string());
        fs::File::create_new(&path)?;
        fs::remove_file(path)?;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watcher_cookie_directory_removed_on_drop() {
        let watcher = Watcher::new().unwrap();
        let dir = watcher.cookies.dir.path().to_owned();
        assert!(dir.exists());
        drop(watcher);
        assert!(!dir.exists());
    }

    #[test]
    fn watcher_cookies_in_tree_not_reported() {
        let cookies = Cookies::new().unwrap();
        let above = cookies.dir.path().parent().unwrap();
        let path = cookies.dir.path().strip_prefix(above).unwrap();
        assert!(cookies.are_in(path) && cookies.are_in(&Path::new("Temp").join(path).join("1")));
        assert!(!cookies.are_in(Path::new("Temp")) && !cookies.are_in(Path::new("1")));
    }
}
