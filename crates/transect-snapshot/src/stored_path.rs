//! A path as text, with its bytes where it is not UTF-8.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use transect_sys::name_from_bytes;

/// A path as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StoredPath {
    /// The path; what is not UTF-8 is replaced.
    pub(crate) path: String,
    /// The bytes of the path in hexadecimal, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path_raw: Option<String>,
}

impl StoredPath {
    /// Stores a path.
    pub fn new(path: &Path) -> Self {
        let bytes = path.as_os_str().as_encoded_bytes();
        Self {
            path: path.to_string_lossy().into_owned(),
            path_raw: path.to_str().is_none().then(|| hex(bytes)),
        }
    }

    /// Returns the path.
    pub fn to_path(&self) -> PathBuf {
        match self.path_raw.as_deref().and_then(bytes_of_hex) {
            Some(bytes) => PathBuf::from(name_from_bytes(bytes)),
            None => PathBuf::from(&self.path),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.path.is_empty() && self.path_raw.is_none()
    }

    /// Returns whether the path leads from a directory to itself or to something below it, by names.
    pub(crate) fn is_below(&self) -> bool {
        self.to_path().components().all(|component| matches!(component, Component::Normal(_)))
    }
}

/// Returns bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes of hexadecimal digits; `None` for other text.
fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let byte = |&[high, low]: &[u8; 2]| Some((digit(high)? * 16 + digit(low)?) as u8);
    pairs.iter().map(byte).collect()
}
