//! Why a call failed: a status, the system's number, and a message.

use std::any::Any;
use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use transect::{Error, FaultKind, ScanError};
use transect_cache::LookupError;
use transect_snapshot::ReadError;

/// Defines the statuses with their words.
macro_rules! statuses {
    ($($name:ident = $number:literal $word:literal;)*) => {
        /// The statuses by the names that they have in the header, without `TRANSECT_`.
        #[expect(missing_docs, reason = "the header documents them")]
        pub mod status {
            $(pub const $name: i32 = $number;)*

            /// All of them, with their words.
            pub const ALL: &[(i32, &std::ffi::CStr)] = &[$(($name, $word)),*];
        }
    };
}

statuses! {
    OK = 0 c"ok";
    INVALID_ARGUMENT = 1 c"invalid_argument";
    UNSUPPORTED = 2 c"unsupported";
    TOO_MANY_ENTRIES = 3 c"too_many_entries";
    NO_THREAD = 4 c"no_thread";
    OUTSIDE_ROOTS = 5 c"outside_roots";
    BUG = 7 c"bug";
    END = 8 c"end";
    CANCELLED = 9 c"cancelled";
    DENIED = 32 c"denied";
    NOT_FOUND = 33 c"not_found";
    NOT_A_DIRECTORY = 34 c"not_a_directory";
    NAME_TOO_LONG = 35 c"name_too_long";
    INVALID_NAME = 36 c"invalid_name";
    SHARING_VIOLATION = 37 c"sharing_violation";
    LOOP = 38 c"loop";
    TOO_MANY_OPEN = 39 c"too_many_open";
    IO = 40 c"io";
    INVALID_DATA = 41 c"invalid_data";
    INCONSISTENT = 42 c"inconsistent";
    TIMED_OUT = 43 c"timed_out";
    OTHER = 44 c"other";
}

/// Returns the word for a status.
#[unsafe(no_mangle)]
pub extern "C" fn transect_status_name(status: i32) -> *const c_char {
    let known = status::ALL.iter().find(|(number, _)| *number == status);
    known.map_or(c"unknown", |(_, word)| word).as_ptr()
}

/// `transect_error`: why a call failed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CallError {
    /// One of [`status`].
    pub status: i32,
    /// The system's number, or 0.
    pub os_error: i32,
    /// Ends with a NUL.
    pub message: [c_char; MESSAGE_CAPACITY],
}

/// The size of a message with its NUL.
pub const MESSAGE_CAPACITY: usize = 1016;

impl CallError {
    pub(crate) fn new(failure: &Failure<'_>) -> Self {
        Self {
            status: failure.status(),
            os_error: failure.os_error().unwrap_or(0),
            message: message(&failure.to_string()),
        }
    }

    /// Returns the message.
    ///
    /// # Panics
    /// If it does not end with a NUL.
    pub fn text(&self) -> Cow<'_, str> {
        let bytes = self.message.map(|byte| byte as u8);
        let text = CStr::from_bytes_until_nul(&bytes).expect("BUG: a message ends with a NUL");
        text.to_string_lossy().into_owned().into()
    }
}

/// Returns a text as a message, cut at a character if it is too long.
fn message(text: &str) -> [c_char; MESSAGE_CAPACITY] {
    const CUT: &str = "...";
    let mut message = [0; MESSAGE_CAPACITY];
    let (text, end) = match text.len() < MESSAGE_CAPACITY {
        true => (text, ""),
        false => (&text[..text.floor_char_boundary(MESSAGE_CAPACITY - 1 - CUT.len())], CUT),
    };
    for (to, byte) in message.iter_mut().zip(text.bytes().chain(end.bytes())) {
        // A NUL inside would hide the rest.
        *to = if byte == 0 { b'?' } else { byte } as c_char;
    }
    message
}

/// Why a call failed. The message is made only for callers that want it.
#[derive(Debug)]
pub(crate) enum Failure<'a> {
    /// The caller passed something that cannot be: the reason.
    Invalid(Cow<'static, str>),
    /// A walk could not start.
    Walk(Error),
    /// An error in a tree.
    Scan(&'a ScanError),
    /// A lookup of a path failed.
    Lookup(LookupError, Cow<'a, Path>),
    /// A path does not exist.
    Missing(Cow<'a, Path>),
    /// No directory of a search contains the name.
    NotInSearch(Cow<'a, Path>),
    /// A snapshot cannot be read.
    ReadSnapshot(ReadError, PathBuf),
    /// A snapshot cannot be stored.
    WriteSnapshot(transect_transform::Error),
    /// A walk has no more entries.
    End,
    /// The caller cancelled the walk.
    Cancelled,
    /// A panic, with its message.
    Bug(String),
}

impl Failure<'_> {
    /// Returns the failure for a missing argument.
    pub(crate) fn null(name: &str) -> Self {
        Self::Invalid(format!("{name} is NULL").into())
    }

    pub(crate) fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::Bug(text.unwrap_or("no message").to_owned())
    }

    pub(crate) fn status(&self) -> i32 {
        match self {
            Self::Invalid(_) => status::INVALID_ARGUMENT,
            Self::Walk(Error::Root(error) | Error::Entry(error)) => of_kind(error.kind()),
            Self::Walk(Error::ReaderUnavailable(..) | Error::NoNotifications(_)) => {
                status::UNSUPPORTED
            }
            Self::Walk(Error::TooManyEntries) => status::TOO_MANY_ENTRIES,
            Self::Walk(Error::ThreadStart(_)) => status::NO_THREAD,
            Self::Walk(_) => status::INVALID_ARGUMENT,
            Self::Scan(error) => of_kind(error.kind()),
            Self::Lookup(error, _) => of_lookup(*error),
            Self::Missing(_) | Self::NotInSearch(_) => status::NOT_FOUND,
            Self::ReadSnapshot(ReadError::Table(_), _) => status::TOO_MANY_ENTRIES,
            Self::ReadSnapshot(error, _) => of_io(io_error_of(error), status::INVALID_DATA),
            Self::WriteSnapshot(error) => of_io(error.io_error(), status::OTHER),
            Self::End => status::END,
            Self::Cancelled => status::CANCELLED,
            Self::Bug(_) => status::BUG,
        }
    }

    pub(crate) fn os_error(&self) -> Option<i32> {
        match self {
            Self::Walk(error) => error.io_error()?.raw_os_error(),
            Self::Scan(error) => error.io_error().raw_os_error(),
            Self::Lookup(error, _) => os_error_of(*error),
            Self::ReadSnapshot(error, _) => io_error_of(error)?.raw_os_error(),
            Self::WriteSnapshot(error) => error.io_error()?.raw_os_error(),
            _ => None,
        }
    }
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(why) => f.write_str(why),
            Self::Walk(error) => error.fmt(f),
            Self::Scan(error) => error.fmt(f),
            Self::Lookup(error, path) => {
                write!(f, "cannot access '{}': {error}", path.display())
            }
            Self::Missing(path) => write!(f, "'{}' does not exist", path.display()),
            Self::NotInSearch(name) => {
                write!(f, "cannot find '{}': no directory contains it", name.display())
            }
            Self::ReadSnapshot(error, path) => {
                write!(f, "cannot read '{}': {error}", path.display())
            }
            Self::WriteSnapshot(error) => error.fmt(f),
            Self::End => f.write_str("there are no more entries"),
            Self::Cancelled => f.write_str("the walk was cancelled"),
            Self::Bug(text) => write!(f, "BUG in transect: {}", text.trim_start_matches("BUG: ")),
        }
    }
}

impl From<Error> for Failure<'_> {
    fn from(error: Error) -> Self {
        Self::Walk(error)
    }
}

/// Returns the system's number of an error.
pub(crate) fn os_error_of(error: LookupError) -> Option<i32> {
    match error {
        LookupError::System { os_error, .. } => os_error,
        _ => None,
    }
}

/// Returns the status of an error of a lookup.
pub(crate) fn of_lookup(error: LookupError) -> i32 {
    match error {
        LookupError::System { kind, .. } => of_kind(kind),
        LookupError::OutsideRoots => status::OUTSIDE_ROOTS,
        _ => status::INVALID_ARGUMENT,
    }
}

fn io_error_of(error: &ReadError) -> Option<&io::Error> {
    match error {
        ReadError::Io(error) => Some(error),
        _ => None,
    }
}

/// Returns the status of an error of the system, or `otherwise` if there is none.
fn of_io(error: Option<&io::Error>, otherwise: i32) -> i32 {
    error.map_or(otherwise, |error| of_kind(FaultKind::of(error)))
}

/// Returns the status with the word of a kind.
fn of_kind(kind: FaultKind) -> i32 {
    let word = kind.as_str().as_bytes();
    let same = status::ALL.iter().find(|(_, name)| name.to_bytes() == word);
    same.map_or(status::OTHER, |&(status, _)| status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_too_long_cut_at_character() {
        let text = |failure: &Failure<'_>| CallError::new(failure).text().into_owned();
        assert_eq!(text(&Failure::Invalid("a\0b".into())), "a?b");
        for length in [MESSAGE_CAPACITY - 1, MESSAGE_CAPACITY, 5000] {
            // An odd number of bytes before characters of two bytes.
            let long = format!("x{}", "é".repeat(length / 2));
            let found = text(&Failure::Invalid(long.clone().into()));
            let fits = long.len() < MESSAGE_CAPACITY;
            assert_eq!(found == long, fits, "{length}");
            assert!(fits || found.ends_with("é...") && long.starts_with(&found[..found.len() - 3]));
            assert!(fits || found.len() >= MESSAGE_CAPACITY - 5, "{}", found.len());
        }
    }

    #[test]
    fn kinds_have_statuses_of_their_own_with_the_same_words() {
        let system = status::ALL.iter().filter(|(status, _)| *status >= status::DENIED);
        let words: Vec<_> =
            system.map(|(status, word)| (*status, word.to_str().unwrap())).collect();
        let expected: Vec<_> =
            FaultKind::ALL.iter().map(|kind| (of_kind(*kind), kind.as_str())).collect();
        assert_eq!(words, expected);
    }
}
