//! Key files: 64 hexadecimal digits, optionally followed by a newline.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect_sys::FileType;
use transect_sys::file::attributes_of;
use zeroize::Zeroizing;

use crate::error::{Error, Operation};
use crate::steps::escape::hex;
use crate::system;

const BYTES: usize = 32;

/// Bytes to read of a key file: more than it may have, to detect longer ones.
const MAX_FILE_LENGTH: usize = 2 * BYTES + 3;

/// A key, erased from memory when the last step that uses it is dropped. It cannot be printed.
#[derive(Clone)]
pub(super) struct Key {
    bytes: Arc<Zeroizing<[u8; BYTES]>>,
    /// A problem of its file that does not affect the key.
    warning: Option<Arc<str>>,
}

impl Key {
    /// Reads the key file that a parameter names.
    pub(super) fn from_parameter(parameter: Option<&str>) -> Result<Self, String> {
        let Some(name) = parameter.filter(|name| !name.is_empty()) else {
            return Err("no key file given".to_owned());
        };
        let path = path(name);
        let unreadable = |error| {
            format!("cannot read the key file '{}': {}", path.display(), transect::reason(&error))
        };
        let file = File::open(&path).map_err(unreadable)?;
        let text = read(&file).map_err(unreadable)?;
        let key = Self::parse(&text).ok_or_else(|| {
            format!("the key file '{}' does not consist of 64 hexadecimal digits", path.display())
        })?;
        Ok(Self { warning: access_warning(&path, &file), ..key })
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.strip_suffix(b"\n").unwrap_or(text);
        let digits = digits.strip_suffix(b"\r").unwrap_or(digits);
        let (pairs, []) = digits.as_chunks::<2>() else { return None };
        if pairs.len() != BYTES {
            return None;
        }
        // Fill the key in place: moving it would leave copies behind.
        let mut key = Arc::new(Zeroizing::new([0; BYTES]));
        let bytes = Arc::get_mut(&mut key).expect("BUG: it is not shared yet");
        for (byte, &[high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = hex(high)? << 4 | hex(low)?;
        }
        Some(Self { bytes: key, warning: None })
    }

    pub(super) fn bytes(&self) -> &[u8; BYTES] {
        &self.bytes
    }

    pub(super) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}

/// Returns the path in a parameter. Chains escape whitespace in words; every other backslash is
/// literal, as in Windows paths.
fn path(name: &str) -> PathBuf {
    let mut path = name.to_owned();
    for (escape, blank) in
        [("\\x20", " "), ("\\x09", "\t"), ("\\x0a", "\n"), ("\\x0c", "\x0c"), ("\\x0d", "\r")]
    {
        path = path.replace(escape, blank);
    }
    path.into()
}

/// Reads a key file, which may also be a pipe from a program that manages keys.
fn read(mut file: &File) -> io::Result<Zeroizing<Vec<u8>>> {
    // Allocate everything at first: growing would leave copies behind.
    let mut text = Zeroizing::new(vec![0; MAX_FILE_LENGTH]);
    let length = crate::source::fill(&mut file, &mut text)?;
    text.truncate(length);
    Ok(text)
}

/// Returns a warning if others than its owner can read or write a key file. The key is used all the
/// same: a group may share it.
fn access_warning(path: &Path, file: &File) -> Option<Arc<str>> {
    let attributes = attributes_of(file).ok()?;
    let mode = attributes.mode().filter(|mode| mode & 0o066 != 0)?;
    let is_file = attributes.file_type() == FileType::File;
    let (path, mode) = (path.display(), mode & 0o777);
    is_file.then(|| format!("the key file '{path}' is open to others (mode {mode:03o})").into())
}

/// Creates a key file with a new random key that only its owner can read (on Windows: all users who
/// can read the directory). Never replaces a file. On return the key is on the device, because
/// files encrypted with a lost key cannot be read.
///
/// # Errors
/// The file exists, or the system reports an error; then no file is left.
pub fn create_key_file(path: &Path) -> Result<(), Error> {
    let failed = Error::system(Operation::Create, path);
    let text = match random_digits() {
        Ok(text) => text,
        Err(error) => return Err(failed(error)),
    };
    let mut file = match system::create_new(path, 0o600) {
        Ok(file) => file,
        Err(error) => return Err(failed(error)),
    };
    let written = file
        .write_all(&text)
        .and_then(|()| file.sync_all())
        .and_then(|()| transect_sys::file::close(file))
        .and_then(|()| system::sync_directory(crate::publish::parent_dir(path)));
    written.map_err(|error| {
        // Report the first error.
        let _ = std::fs::remove_file(path);
        failed(error)
    })
}

fn random_digits() -> io::Result<Zeroizing<Vec<u8>>> {
    let mut key = Zeroizing::new([0; BYTES]);
    getrandom::fill(key.as_mut_slice())?;
    let mut text = Zeroizing::new(Vec::with_capacity(MAX_FILE_LENGTH));
    for byte in key.iter() {
        for digit in [byte >> 4, byte & 15] {
            text.push(b"0123456789abcdef"[usize::from(digit)]);
        }
    }
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    const DIGITS: &str = "00112233445566778899aAbBcCdDeEfF00112233445566778899aAbBcCdDeEfF";

    #[test]
    fn key_64_hex_digits_only() {
        for text in [DIGITS.to_owned(), format!("{DIGITS}\n"), format!("{DIGITS}\r\n")] {
            let key = Key::parse(text.as_bytes()).unwrap();
            assert_eq!(key.bytes()[..3], [0, 0x11, 0x22]);
            assert_eq!(key.bytes()[31], 0xff);
        }
        for text in [
            String::new(),
            "\n".to_owned(),
            DIGITS[1..].to_owned(),
            DIGITS[2..].to_owned(),
            format!("{DIGITS}0"),
            format!("{DIGITS}00"),
            format!("{DIGITS}\n\n"),
            format!("{DIGITS} "),
            format!(" {DIGITS}"),
            format!("{}g", &DIGITS[1..]),
            format!("\u{feff}{DIGITS}"),
        ] {
            assert!(Key::parse(text.as_bytes()).is_none(), "{text:?}");
        }
    }

    #[test]
    fn key_file_error_does_not_reveal_content() {
        let temp = TempDir::new();
        let file = temp.join("key");
        let name = file.to_str().unwrap();
        let reason = |parameter| Key::from_parameter(parameter).map(drop).unwrap_err();
        assert_eq!(reason(None), "no key file given");
        assert_eq!(reason(Some("")), "no key file given");
        let missing = reason(Some(name));
        assert!(missing.starts_with(&format!("cannot read the key file '{name}': ")), "{missing}");
        for text in ["secret", &DIGITS.repeat(2)] {
            std::fs::write(&file, text).unwrap();
            let expected =
                format!("the key file '{name}' does not consist of 64 hexadecimal digits");
            assert_eq!(reason(Some(name)), expected);
        }
    }

    #[cfg(unix)]
    #[test]
    fn key_file_accessible_to_others_warned_about() {
        use std::os::unix::fs::PermissionsExt;
        let temp = TempDir::new();
        let file = temp.join("key");
        let name = file.to_str().unwrap();
        std::fs::write(&file, DIGITS).unwrap();
        for (mode, is_open) in [
            (0o600, false),
            (0o400, false),
            (0o711, false),
            (0o640, true),
            (0o604, true),
            (0o602, true),
        ] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            let key = Key::from_parameter(Some(name)).unwrap();
            let expected = format!("the key file '{name}' is open to others (mode {mode:03o})");
            assert_eq!(key.warning(), is_open.then_some(expected.as_str()));
            assert_eq!(key.clone().warning(), key.warning());
        }
    }

    #[test]
    fn key_file_name_with_escaped_blanks() {
        assert_eq!(path("a b\\x20c\\x09d"), Path::new("a b c\td"));
        assert_eq!(path(r"C:\keys\new"), Path::new(r"C:\keys\new"));
    }

    #[test]
    fn create_key_file_owner_only_and_never_replaces() {
        let temp = TempDir::new();
        let file = temp.join("key");
        create_key_file(&file).unwrap();
        let first = std::fs::read(&file).unwrap();
        assert_eq!(first.len(), 65);
        let key = Key::from_parameter(file.to_str()).unwrap();
        assert_eq!(Key::parse(&first).unwrap().bytes(), key.bytes());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = File::open(&file).unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            assert_eq!(key.warning(), None);
        }
        let there = create_key_file(&file).unwrap_err().to_string();
        assert!(there.starts_with(&format!("cannot create '{}'", file.display())), "{there}");
        assert_eq!(std::fs::read(&file).unwrap(), first);
        create_key_file(&temp.join("other")).unwrap();
        assert_ne!(std::fs::read(temp.join("other")).unwrap(), first);
        assert!(create_key_file(&temp.join("nowhere/key")).is_err());
    }
}
