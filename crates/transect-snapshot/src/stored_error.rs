//! Errors of a walk with their paths, as a snapshot stores them: bounded, whatever the file claims.

use std::fmt;
use std::io;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use transect::{FaultKind, Operation, ScanError, reason};
use transect_sys::Inconsistent;

use crate::read::words::fault_kind;
use crate::stored_path::StoredPath;

/// The maximum number of errors that are stored, and that are read.
const MAX_ERRORS: usize = 1000;
/// The maximum length of all their texts together, in bytes.
const MAX_BYTES: usize = 1 << 20;
/// The maximum length of a message, in characters.
const MAX_MESSAGE: usize = 200;

/// An error inside a tree, as a snapshot stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct StoredError {
    /// The operation that failed: the name of an [`Operation`].
    pub operation: String,
    /// The path; what is not UTF-8 is replaced.
    pub path: String,
    /// The bytes of the path in hexadecimal, if it is not UTF-8.
    pub path_raw: Option<String>,
    /// The kind of the error: the name of a [`FaultKind`].
    pub kind: String,
    /// The system's number of the error, on the system that wrote the snapshot.
    pub os_error: Option<i32>,
    /// The system's message, cut after 200 characters.
    pub message: String,
    /// The number of steps below the root.
    pub depth: u32,
}

impl StoredError {
    /// Returns the error; `None` if the operation is not known.
    pub fn to_scan_error(&self) -> Option<ScanError> {
        let mut operations = Operation::ALL.iter().copied();
        let operation = operations.find(|operation| operation.as_str() == self.operation)?;
        let path = self.stored_path().to_path();
        Some(ScanError::new(operation, path, self.depth, self.io_error()))
    }

    pub(crate) fn stored_path(&self) -> StoredPath {
        StoredPath { path: self.path.clone(), path_raw: self.path_raw.clone() }
    }

    /// Returns the system's error. The number is used only if it means the same on this system.
    fn io_error(&self) -> io::Error {
        let kind = fault_kind(&self.kind);
        if let Some(error) = self.os_error.map(io::Error::from_raw_os_error)
            && FaultKind::of(&error) == kind
            && (kind != FaultKind::Other || reason(&error) == self.message)
        {
            return error;
        }
        let general = match kind {
            FaultKind::Inconsistent => return Inconsistent.into(),
            FaultKind::Denied => io::ErrorKind::PermissionDenied,
            FaultKind::NotFound => io::ErrorKind::NotFound,
            FaultKind::NotADirectory => io::ErrorKind::NotADirectory,
            FaultKind::NameTooLong => io::ErrorKind::InvalidFilename,
            FaultKind::InvalidData => io::ErrorKind::InvalidData,
            FaultKind::TimedOut => io::ErrorKind::TimedOut,
            _ => io::ErrorKind::Other,
        };
        match self.message.as_str() {
            "" => io::Error::new(general, kind.as_str().replace('_', " ")),
            message => io::Error::new(general, message),
        }
    }

    /// Returns the length of all texts in bytes.
    fn length(&self) -> usize {
        let Self { operation, path, path_raw, kind, message, .. } = self;
        let raw = path_raw.as_ref().map_or(0, String::len);
        operation.len() + path.len() + raw + kind.len() + message.len()
    }
}

impl From<&ScanError> for StoredError {
    fn from(error: &ScanError) -> Self {
        let StoredPath { path, path_raw } = StoredPath::new(error.path());
        Self {
            operation: error.operation().as_str().to_owned(),
            path,
            path_raw,
            kind: error.kind().as_str().to_owned(),
            os_error: error.io_error().raw_os_error(),
            message: reason(error.io_error()).chars().take(MAX_MESSAGE).collect(),
            depth: error.depth(),
        }
    }
}

/// Errors within the limits.
#[derive(Default)]
struct Bounded {
    errors: Vec<StoredError>,
    bytes: usize,
}

impl Bounded {
    fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    /// Adds an error if there is room for it.
    fn add(&mut self, error: StoredError) {
        let bytes = self.bytes.saturating_add(error.length());
        if bytes <= MAX_BYTES && !self.is_full() {
            self.bytes = bytes;
            self.errors.push(error);
        }
    }
}

/// Returns what is stored of errors: the first of them by path, within the limits.
pub(crate) fn first_by_path(errors: &[ScanError]) -> Vec<StoredError> {
    let mut sorted: Vec<&ScanError> = errors.iter().collect();
    sorted.sort_by_key(|error| (error.path(), error.operation()));
    let mut bounded = Bounded::default();
    for error in sorted {
        if bounded.is_full() {
            break;
        }
        bounded.add(error.into());
    }
    bounded.errors
}

/// Reads a list of errors. What is beyond the limits is not stored in memory.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<StoredError>, D::Error> {
    struct List;

    impl<'de> Visitor<'de> for List {
        type Value = Vec<StoredError>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of errors")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut bounded = Bounded::default();
            while !bounded.is_full() {
                match list.next_element()? {
                    Some(error) => bounded.add(error),
                    None => return Ok(bounded.errors),
                }
            }
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(bounded.errors)
        }
    }

    from.deserialize_seq(List)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use transect_sys::name_from_bytes;

    use super::*;
    use crate::Metadata;

    fn error(path: PathBuf, source: io::Error) -> ScanError {
        ScanError::new(Operation::OpenDirectory, path, 3, source)
    }

    fn read(list: &str) -> Result<Vec<StoredError>, serde_json::Error> {
        let metadata = format!("{{\"error_list\":{list}}}");
        serde_json::from_str::<Metadata>(&metadata).map(|metadata| metadata.error_list)
    }

    #[test]
    fn stored_error_has_path_operation_kind_and_number() {
        let number = if cfg!(windows) { 5 } else { 13 };
        for name in [&b"/plain"[..], b"/not \xff UTF-8", b"/a\nb"] {
            let path = PathBuf::from(name_from_bytes(name.to_vec()));
            let before = error(path.clone(), io::Error::from_raw_os_error(number));
            let stored = StoredError::from(&before);
            let text = serde_json::to_string(&[&stored]).unwrap();
            assert_eq!(read(&text).unwrap(), std::slice::from_ref(&stored));
            let after = stored.to_scan_error().unwrap();
            assert_eq!(after.to_string(), before.to_string());
            assert_eq!((after.path(), after.depth()), (path.as_path(), 3));
            assert_eq!((after.kind(), after.operation()), (before.kind(), before.operation()));
            assert_eq!(after.io_error().raw_os_error(), Some(number));
        }
    }

    #[test]
    fn stored_error_of_another_system_has_its_kind_and_message() {
        let stored = StoredError {
            operation: "stat".to_owned(),
            path: "/x".to_owned(),
            kind: "denied".to_owned(),
            os_error: Some(2),
            message: "Zugriff verweigert".to_owned(),
            ..StoredError::default()
        };
        let error = stored.to_scan_error().unwrap();
        assert_eq!((error.kind(), error.io_error().raw_os_error()), (FaultKind::Denied, None));
        assert_eq!(error.to_string(), "cannot access '/x': Zugriff verweigert");
        let nameless = StoredError { message: String::new(), ..stored.clone() };
        assert!(nameless.to_scan_error().unwrap().to_string().ends_with(": denied"));
        let unknown = StoredError { operation: "invented".to_owned(), ..stored.clone() };
        assert!(unknown.to_scan_error().is_none());
        let twice = StoredError { kind: "inconsistent".to_owned(), ..stored };
        assert_eq!(twice.to_scan_error().unwrap().kind(), FaultKind::Inconsistent);
    }

    #[test]
    fn stored_errors_are_the_first_within_the_limits() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let errors: Vec<ScanError> =
            (0..1500).rev().map(|number| error(format!("/{number:04}").into(), denied())).collect();
        let stored = first_by_path(&errors);
        assert_eq!(
            (stored.len(), &stored[0].path[..], &stored[999].path[..]),
            (1000, "/0000", "/0999")
        );
        let long = |begin: char| PathBuf::from(begin.to_string() + &"x".repeat(700_000));
        let errors = ['a', 'b'].map(|begin| error(long(begin), denied()));
        assert_eq!(first_by_path(&errors).len(), 1);
    }

    #[test]
    fn stored_errors_of_a_hostile_file_are_bounded() {
        let many = format!("[{}{{}}]", "{},".repeat(200_000));
        assert_eq!(read(&many).unwrap().len(), MAX_ERRORS);
        let long = format!("{{\"path\":\"{}\"}}", "x".repeat(MAX_BYTES + 1));
        assert_eq!(read(&format!("[{long},{{}},{long}]")).unwrap().len(), 1);
        for other in ["null", "{}", "[1]", "\"text\"", "[{\"depth\":-1}]", "[{\"os_error\":\"x\"}]"]
        {
            assert!(read(other).is_err(), "{other}");
        }
        // Unknown keys may come with a later program.
        assert_eq!(read("[{\"new\":[1,{}]}]").unwrap(), [StoredError::default()]);
        for raw in ["0", "zz", "ä", "0g"] {
            let mut stored = StoredError { operation: "stat".to_owned(), ..StoredError::default() };
            stored.path = "shown".to_owned();
            stored.path_raw = Some(raw.to_owned());
            assert_eq!(stored.to_scan_error().unwrap().path(), PathBuf::from("shown"), "{raw}");
        }
    }
}
