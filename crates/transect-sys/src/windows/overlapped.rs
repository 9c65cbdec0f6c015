//! Operations that the system finishes later (overlapped I/O), with memory of their own, and events
//! to wait for them.

use std::io;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::ptr::{NonNull, null};
use std::sync::Arc;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_IO_INCOMPLETE, ERROR_IO_PENDING, HANDLE, WAIT_FAILED, WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Threading::{
    CreateEventW, INFINITE, ResetEvent, SetEvent, WaitForMultipleObjects,
};
use windows_sys::core::BOOL;

use super::status::{done, owned};

/// An event, which stays signalled until an operation or [`Event::take`] resets it.
#[derive(Debug)]
pub struct Event(OwnedHandle);

impl Event {
    /// Returns an event that is not signalled.
    ///
    /// # Errors
    /// Any error that the system reports.
    pub fn new() -> io::Result<Self> {
        // SAFETY: the pointers are null: no security attributes and no name; the handle is new.
        unsafe { owned(CreateEventW(null(), 1, 0, null())) }.map(Self)
    }

    /// Signals it.
    pub fn signal(&self) {
        // SAFETY: the handle is open. The call fails only for a handle that is not an event.
        unsafe { SetEvent(self.0.as_raw_handle()) };
    }

    /// Resets it, and returns whether it was signalled. One thread may do that.
    pub(super) fn take(&self) -> bool {
        let was_signalled = wait_any([self], Some(Duration::ZERO)).is_ok_and(|it| it.is_some());
        if was_signalled {
            // SAFETY: as in `signal`.
            unsafe { ResetEvent(self.0.as_raw_handle()) };
        }
        was_signalled
    }
}

/// Waits until one of the events is signalled, at most for `longest`. Returns its index, the lowest
/// if several are signalled; `None` after that time.
pub(super) fn wait_any<const N: usize>(
    events: [&Event; N],
    longest: Option<Duration>,
) -> io::Result<Option<usize>> {
    // Rounded up, so that a caller that waits for the rest of a time does not spin at its end.
    let milliseconds = longest.map_or(INFINITE, |longest| {
        u32::try_from(longest.as_nanos().div_ceil(1_000_000))
            .map_or(INFINITE - 1, |it| it.min(INFINITE - 1))
    });
    let handles: [HANDLE; N] = events.map(|event| event.0.as_raw_handle());
    // SAFETY: the array holds N open handles, which the borrowed events keep open.
    match unsafe { WaitForMultipleObjects(N as u32, handles.as_ptr(), 0, milliseconds) } {
        WAIT_TIMEOUT => Ok(None),
        WAIT_FAILED => Err(io::Error::last_os_error()),
        signalled => Ok(Some((signalled - WAIT_OBJECT_0) as usize)),
    }
}

/// An operation on a handle that was opened for overlapped I/O, one at a time. Cancelled on drop.
#[derive(Debug)]
pub(super) struct Operation {
    handle: Arc<OwnedHandle>,
    /// Signalled when the operation has finished.
    event: Event,
    memory: NonNull<Memory>,
    /// The system may write into `memory`.
    is_pending: bool,
}

/// Memory that the system reads and writes.
struct Memory {
    overlapped: OVERLAPPED,
    block: Vec<u8>,
}

// SAFETY: only the operation owns `memory`, and no part of it is bound to a thread: a pending
// operation belongs to its handle, and is cancelled only with the process or by `cancel`.
unsafe impl Send for Operation {}

impl Operation {
    pub(super) fn new(handle: Arc<OwnedHandle>) -> io::Result<Self> {
        let event = Event::new()?;
        let memory = Box::new(Memory { overlapped: OVERLAPPED::default(), block: Vec::new() });
        Ok(Self { handle, event, memory: NonNull::from(Box::leak(memory)), is_pending: false })
    }

    /// Returns the event that is signalled when the operation has finished.
    pub(super) fn event(&self) -> &Event {
        &self.event
    }

    /// Returns whether an operation was begun and its result not taken.
    pub(super) fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// Returns the memory of the operation.
    ///
    /// # Panics
    /// If the system may write into it.
    pub(super) fn block(&mut self) -> &mut Vec<u8> {
        assert!(!self.is_pending, "BUG: the system still uses the block");
        // SAFETY: no operation is pending, so `memory` is ours; it lives as long as `self`.
        unsafe { &mut (*self.memory.as_ptr()).block }
    }

    /// Begins an operation. `call` passes its arguments to the system: the handle, the block, its
    /// length, and the place of the result.
    ///
    /// # Errors
    /// The error of the call, unless it says that the operation will finish later.
    ///
    /// # Safety
    /// `call` accesses at most the block, and begins at most one operation with the place of the
    /// result. It returns what the system's call returned.
    pub(super) unsafe fn begin(
        &mut self,
        call: impl FnOnce(HANDLE, *mut u8, u32, *mut OVERLAPPED) -> BOOL,
    ) -> io::Result<()> {
        let length = self.block().len() as u32;
        let handle = self.handle.as_raw_handle();
        let memory = self.memory.as_ptr();
        // SAFETY: no operation is pending, as `block` has checked, so `memory` is ours. It neither
        // moves nor is freed before the operation has finished: `Drop` cancels it and waits.
        let begun = unsafe {
            (*memory).overlapped =
                OVERLAPPED { hEvent: self.event.0.as_raw_handle(), ..OVERLAPPED::default() };
            let block = (*memory).block.as_mut_ptr();
            call(handle, block, length, &raw mut (*memory).overlapped)
        };
        match done(begun) {
            Err(error) if error.raw_os_error() != Some(ERROR_IO_PENDING as i32) => Err(error),
            _ => {
                self.is_pending = true;
                Ok(())
            }
        }
    }

    /// Returns the number of bytes if the operation has finished, 0 if none was begun; `None` if it
    /// is still pending.
    pub(super) fn finish(&mut self) -> io::Result<Option<usize>> {
        if !self.is_pending {
            return Ok(Some(0));
        }
        self.result(false)
    }

    /// Ends a pending operation, whose result is lost.
    fn cancel(&mut self) {
        if self.is_pending {
            // SAFETY: the handle is open. If the operation has just finished, the call finds none.
            unsafe {
                CancelIoEx(
                    self.handle.as_raw_handle(),
                    &raw const (*self.memory.as_ptr()).overlapped,
                )
            };
            let _ = self.result(true);
        }
    }

    /// Takes the result of the pending operation.
    fn result(&mut self, wait: bool) -> io::Result<Option<usize>> {
        let mut bytes = 0;
        // SAFETY: the handle is open, and the operation was begun with this place for its result,
        // which lives as long as `self`.
        let answer = done(unsafe {
            GetOverlappedResult(
                self.handle.as_raw_handle(),
                &raw const (*self.memory.as_ptr()).overlapped,
                &raw mut bytes,
                wait.into(),
            )
        });
        match answer {
            Err(error) if error.raw_os_error() == Some(ERROR_IO_INCOMPLETE as i32) => Ok(None),
            answer => {
                self.is_pending = false;
                answer.map(|()| Some(bytes as usize))
            }
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.cancel();
        // Leaked if it could not be cancelled: the system would write into freed memory.
        if !self.is_pending {
            // SAFETY: it was made by `Box::leak`, and neither the system nor anything else uses it.
            drop(unsafe { Box::from_raw(self.memory.as_ptr()) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_any_lowest_signalled_event_or_none() {
        let [one, two] = [(); 2].map(|()| Event::new().unwrap());
        assert_eq!(wait_any([&one, &two], Some(Duration::ZERO)).unwrap(), None);
        two.signal();
        assert_eq!(wait_any([&one, &two], None).unwrap(), Some(1));
        one.signal();
        // It stays signalled.
        for _ in 0..2 {
            assert_eq!(wait_any([&one, &two], Some(Duration::MAX)).unwrap(), Some(0));
        }
        assert!(one.take() && !one.take());
        assert_eq!(wait_any([&one, &two], None).unwrap(), Some(1));
    }
}
