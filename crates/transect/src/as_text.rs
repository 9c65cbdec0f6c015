//! Entries and errors for `serde`, with the keys of the program's JSON (`docs/JSON.md`).

use std::path::Path;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::error::ScanError;
use crate::iter::DirEntry;

/// Adds a path: as text, and its bytes in hexadecimal digits if it is not Unicode.
fn add_path<M: SerializeMap>(map: &mut M, path: &Path) -> Result<(), M::Error> {
    map.serialize_entry("path", &path.to_string_lossy())?;
    if path.to_str().is_none() {
        let bytes = path.as_os_str().as_encoded_bytes();
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        map.serialize_entry("path_raw", &digits)?;
    }
    Ok(())
}

/// An object of path, depth and attributes.
impl Serialize for DirEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        add_path(&mut map, &self.path())?;
        map.serialize_entry("depth", &self.depth())?;
        map.serialize_entry("attributes", self.attributes())?;
        map.end()
    }
}

/// An object of operation, path, kind and the system's number.
impl Serialize for ScanError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("operation", &self.operation())?;
        add_path(&mut map, self.path())?;
        map.serialize_entry("kind", &self.kind())?;
        map.serialize_entry("os_error", &self.io_error().raw_os_error())?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use crate::internal::Order;
    use crate::{Filters, Operation, SkipReason};

    use super::*;

    #[test]
    fn errors_and_words_as_json() {
        let denied = std::io::Error::from_raw_os_error(13);
        let error = ScanError::new(Operation::OpenDirectory, "a/b".into(), 1, denied);
        let value = serde_json::to_value(&error).unwrap();
        assert_eq!(value["operation"], "open_directory");
        assert_eq!((&value["path"], &value["os_error"]), (&"a/b".into(), &13.into()));
        for order in Order::ALL {
            assert_eq!(serde_json::to_value(order).unwrap(), order.as_str());
        }
        for reason in SkipReason::ALL {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.as_str());
        }
    }

    #[test]
    fn entries_of_a_walk_as_json() {
        let walk = crate::walk("src/filter.rs");
        let value = serde_json::to_value(walk.into_iter().next().unwrap().unwrap()).unwrap();
        assert_eq!(value["path"], "src/filter.rs");
        assert_eq!((&value["depth"], &value["attributes"]["type"]), (&0.into(), &"file".into()));
    }

    #[test]
    #[cfg(unix)]
    fn path_not_unicode_has_raw_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a\xff")).to_owned();
        let error = ScanError::new(Operation::Stat, path, 0, std::io::ErrorKind::Other.into());
        let value = serde_json::to_value(&error).unwrap();
        assert_eq!(value["path_raw"], "61ff");
    }

    #[test]
    fn filters_read_back_and_missing_fields_are_defaults() {
        let filters = Filters::new().globs(["*.rs"]).ignore_case(true);
        let text = serde_json::to_string(&filters).unwrap();
        assert_eq!(serde_json::from_str::<Filters>(&text).unwrap(), filters);
        let read: Filters =
            serde_json::from_str(r#"{"globs":["*.rs"],"ignore_case":true}"#).unwrap();
        assert_eq!(read, filters);
    }
}
