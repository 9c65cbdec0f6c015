//! The boundary between C and Rust: panics, texts, arrays, results.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use crate::failure::{CallError, Failure, status};
use crate::path;

/// A pointer to memory that a function fills; NULL if the caller has no use for it.
pub type Out<'a, T> = Option<&'a mut MaybeUninit<T>>;

/// Runs the body of a function that returns a status. Catches panics, and reports the failure.
pub(crate) fn guard<'a>(
    error: Out<'_, CallError>,
    body: impl FnOnce() -> Result<(), Failure<'a>>,
) -> i32 {
    // Callers must free the object that was in use (transect.h), so a broken one is not used again.
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return status::OK,
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::of_panic(&*panic),
    };
    if let Some(error) = error {
        error.write(CallError::new(&failure));
    }
    failure.status()
}

/// Defines functions that return a status: their arguments, and their bodies. After the type of an object, they are
/// functions of it, and it is the first argument.
macro_rules! functions {
    ($object:ident: $type:ty; $($name:ident($($value:ident: $of:ty),*) $body:block)*) => {
        $crate::boundary::functions! {$(
            $name($object: Option<$type>$(, $value: $of)*) {
                let $object = $crate::boundary::required($object, stringify!($object))?;
                $body
            }
        )*}
    };
    ($($name:ident($($value:ident: $of:ty),*) $body:block)*) => {$(
        /// `include/transect.h` documents it.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(
            $($value: $of,)*
            error: $crate::boundary::Out<'_, $crate::failure::CallError>,
        ) -> i32 {
            $crate::boundary::guard(error, || {
                $body;
                Ok(())
            })
        }
    )*};
}
pub(crate) use functions;

/// Defines the functions that free an object, and that make a default one, if there is one.
macro_rules! objects {
    ($($type:ty: $free:ident $(, $new:ident)?;)*) => {$(
        $(/// `include/transect.h` documents it.
        #[unsafe(no_mangle)]
        pub extern "C" fn $new() -> Option<Box<$type>> {
            $crate::boundary::guard_or(None, || Some(Box::default()))
        })?

        /// `include/transect.h` documents it.
        #[unsafe(no_mangle)]
        pub extern "C" fn $free(object: Option<Box<$type>>) {
            $crate::boundary::guard_or((), || drop(object));
        }
    )*};
}
pub(crate) use objects;

/// Runs the body of a function that returns a value: `otherwise` if it panics.
pub(crate) fn guard_or<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// Returns what a pointer points to; fails for NULL.
pub(crate) fn required<'a, T>(value: Option<T>, name: &str) -> Result<T, Failure<'a>> {
    value.ok_or_else(|| Failure::null(name))
}

/// A text from C: a pointer to bytes that end with a NUL and do not change during a call, or NULL.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(*const c_char, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    /// Returns a text, for callers in Rust.
    pub fn new(text: &'a CStr) -> Self {
        Self(text.as_ptr(), PhantomData)
    }

    fn c_str(self, name: &str) -> Result<&'a CStr, Failure<'static>> {
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: not NULL. A value comes from `new`, or as an argument from C, where the header
        // requires a NUL at its end, and memory that stays until the call returns.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }

    /// Returns the text as a path; `name` is that of the argument.
    pub(crate) fn path(self, name: &str) -> Result<Cow<'a, Path>, Failure<'static>> {
        let path = path::from_bytes(self.c_str(name)?.to_bytes());
        path.ok_or_else(|| Failure::Invalid(format!("{name} is not WTF-8").into()))
    }

    /// Returns the text, which must be UTF-8.
    pub(crate) fn utf8(self, name: &str) -> Result<&'a str, Failure<'static>> {
        let text = self.c_str(name)?.to_str();
        text.map_err(|_| Failure::Invalid(format!("{name} is not UTF-8").into()))
    }
}

/// An array from C: a pointer to its first element, or NULL.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Array<'a, T>(*const T, PhantomData<&'a [T]>);

impl<'a, T> Array<'a, T> {
    /// Returns an array, for callers in Rust.
    pub fn new(elements: &'a [T]) -> Self {
        Self(elements.as_ptr(), PhantomData)
    }

    /// Returns the `count` elements; `name` is that of the argument.
    pub(crate) fn elements(self, count: usize, name: &str) -> Result<&'a [T], Failure<'static>> {
        if count == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: not NULL. Either it comes from `new`, or from C, where the header requires `count`
        // elements that stay until the call returns.
        Ok(unsafe { std::slice::from_raw_parts(self.0, count) })
    }
}

/// An array that a function fills: a pointer to its first element, or NULL.
#[repr(transparent)]
#[derive(Debug)]
pub struct OutArray<'a, T>(*mut MaybeUninit<T>, PhantomData<&'a mut [MaybeUninit<T>]>);

impl<'a, T> OutArray<'a, T> {
    /// Returns an array, for callers in Rust.
    pub fn new(elements: &'a mut [MaybeUninit<T>]) -> Self {
        Self(elements.as_mut_ptr(), PhantomData)
    }

    /// Returns the `count` elements; `name` is that of the argument.
    pub(crate) fn elements(
        self,
        count: usize,
        name: &str,
    ) -> Result<&'a mut [MaybeUninit<T>], Failure<'static>> {
        if count == 0 {
            return Ok(&mut []);
        }
        if self.0.is_null() {
            return Err(Failure::null(name));
        }
        // SAFETY: not NULL. Either it comes from `new`, or from C, where the header requires room for
        // `count` elements, which no other thread uses until the call returns.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.0, count) })
    }
}

impl OutArray<'_, u8> {
    /// Writes a text with a NUL into this buffer of `capacity` bytes, or an empty text if it does not
    /// fit. Returns the length of the text.
    pub(crate) fn write_text(self, capacity: usize, text: &[u8]) -> usize {
        // NULL is a buffer without room.
        let Ok(buffer) = self.elements(capacity, "buffer") else { return text.len() };
        let fits = text.len() < buffer.len();
        let bytes = if fits { text } else { &[] };
        for (to, &byte) in buffer.iter_mut().zip(bytes.iter().chain(&[0])) {
            to.write(byte);
        }
        text.len()
    }
}

/// Writes the path that `find` returns into a buffer, and returns its length; 0 if there is none.
pub(crate) fn write_path(
    buffer: OutArray<'_, u8>,
    capacity: usize,
    find: impl FnOnce() -> Option<PathBuf>,
) -> usize {
    guard_or(0, || {
        let found = find().unwrap_or_default();
        buffer.write_text(capacity, path::to_bytes(found.as_os_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guard_reports_failures_and_panics() {
        let mut error = MaybeUninit::uninit();
        assert_eq!(guard(Some(&mut error), || Ok(())), status::OK);
        let failed = guard(Some(&mut error), || Err(Failure::null("path")));
        assert_eq!(failed, status::INVALID_ARGUMENT);
        // SAFETY: the failed call wrote it.
        assert_eq!(unsafe { error.assume_init() }.text(), "path is NULL");
        let failed = guard(Some(&mut error), || panic!("BUG: {}", "something"));
        assert_eq!(failed, status::BUG);
        // SAFETY: the failed call wrote it.
        assert_eq!(unsafe { error.assume_init() }.text(), "BUG in transect: something");
        assert_eq!(guard(None, || panic!("without a place for the message")), status::BUG);
        assert_eq!(guard_or(7, || panic!("a value")), 7);
    }

    #[test]
    fn texts_that_do_not_fit_are_empty() {
        for (capacity, written) in [(0, "abcdef"), (1, "\0bcdef"), (3, "\0bcdef"), (4, "xyz\0ef")] {
            let mut buffer = *b"abcdef";
            let mut room = buffer.map(MaybeUninit::new);
            assert_eq!(OutArray::new(&mut room).write_text(capacity, b"xyz"), 3);
            for (to, byte) in buffer.iter_mut().zip(room) {
                // SAFETY: initialized above.
                *to = unsafe { byte.assume_init() };
            }
            assert_eq!(buffer, written.as_bytes(), "{capacity}");
        }
        let null = OutArray(std::ptr::null_mut(), PhantomData);
        assert_eq!(null.write_text(4, b"xyz"), 3);
    }
}
