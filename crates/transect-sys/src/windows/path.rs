//! Verbatim paths, in which length, dots, spaces and reserved names have no special meaning.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::{ERROR_FILENAME_EXCED_RANGE, ERROR_INVALID_NAME};

const SEPARATOR: u16 = b'\\' as u16;

/// The longest path in UTF-16 units, with room for `\*` and a NUL.
const MAX_PATH_UNITS: usize = 32_767 - 3;

/// Returns the verbatim form of a path: `\\?\C:\…` or `\\?\UNC\server\share\…`. A path that begins
/// with `\\?\` or `\\.\` is returned unchanged. Any other path is made absolute by the system's
/// rules, which remove dots and spaces at the end of a name.
///
/// # Errors
/// The path is empty or contains a NUL.
pub(crate) fn verbatim(path: &Path) -> io::Result<PathBuf> {
    if is_verbatim(&path.as_os_str().encode_wide().collect::<Vec<_>>()) {
        return Ok(path.to_owned());
    }
    let absolute: Vec<u16> = std::path::absolute(path)?.as_os_str().encode_wide().collect();
    Ok(PathBuf::from(OsString::from_wide(&verbatim_of(absolute))))
}

/// Returns the verbatim form of an absolute path.
fn verbatim_of(absolute: Vec<u16>) -> Vec<u16> {
    if is_verbatim(&absolute) {
        return absolute;
    }
    let (prefix, rest) = match absolute.as_slice() {
        [SEPARATOR, SEPARATOR, rest @ ..] => (r"\\?\UNC\", rest),
        rest => (r"\\?\", rest),
    };
    prefix.encode_utf16().chain(rest.iter().copied()).collect()
}

/// Returns whether the system uses a path unchanged: `\\?\`, `\??\`, and `\\.\` for devices.
fn is_verbatim(path: &[u16]) -> bool {
    [r"\\?\", r"\??\", r"\\.\"].iter().any(|prefix| {
        let prefix: Vec<u16> = prefix.encode_utf16().collect();
        path.starts_with(&prefix)
    })
}

/// Returns the UTF-16 units of a verbatim path, without a NUL at the end.
pub(super) fn units(path: &Path) -> io::Result<Vec<u16>> {
    let units: Vec<u16> = verbatim(path)?.as_os_str().encode_wide().collect();
    if units.contains(&0) {
        return Err(invalid_name());
    }
    Ok(units)
}

pub(super) fn append(path: &mut Vec<u16>, name: &OsStr) {
    if path.last() != Some(&SEPARATOR) {
        path.push(SEPARATOR);
    }
    path.extend(name.encode_wide());
}

/// Appends the UTF-16 units of a name that will be opened in a directory.
///
/// # Errors
/// The name would be taken for a path or a pattern. No Windows file system creates such a name, but
/// other systems may serve one. An error is better than opening a different file.
pub(super) fn append_component(units: &mut Vec<u16>, name: &OsStr) -> io::Result<()> {
    if name.as_encoded_bytes().iter().any(|byte| br#"\/*?"<>|"#.contains(byte)) {
        return Err(invalid_name());
    }
    units.extend(name.encode_wide());
    Ok(())
}

/// Appends a name that will be opened to the path of its directory.
///
/// # Errors
/// The errors of [`append_component`], or the path exceeds the system's limit. For such a path the
/// system would report that nothing exists there.
pub(super) fn push_component(path: &mut Vec<u16>, name: &OsStr) -> io::Result<()> {
    if path.last() != Some(&SEPARATOR) {
        path.push(SEPARATOR);
    }
    append_component(path, name)?;
    if path.len() > MAX_PATH_UNITS {
        return Err(io::Error::from_raw_os_error(ERROR_FILENAME_EXCED_RANGE as i32));
    }
    Ok(())
}

/// Returns whether a path refers to the target of a link at its end: `link\`.
pub fn ends_with_separator(path: &Path) -> bool {
    path.as_os_str()
        .encode_wide()
        .last()
        .is_some_and(|unit| unit == SEPARATOR || unit == u16::from(b'/'))
}

fn invalid_name() -> io::Error {
    io::Error::from_raw_os_error(ERROR_INVALID_NAME as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str) -> String {
        verbatim(Path::new(path)).unwrap().to_str().unwrap().to_owned()
    }

    #[test]
    fn verbatim_every_form_of_path() {
        for (path, expected) in [
            (r"C:\a\b", r"\\?\C:\a\b"),
            (r"C:/a/./b/../c", r"\\?\C:\a\c"),
            (r"C:\", r"\\?\C:\"),
            (r"C:\a\", r"\\?\C:\a\"),
            (r"C:\a. .", r"\\?\C:\a"),
            (r"\\server\share\a", r"\\?\UNC\server\share\a"),
            (r"\\?\C:\a. .", r"\\?\C:\a. ."),
            (r"\\?\UNC\server\share\a", r"\\?\UNC\server\share\a"),
            (r"\\.\COM1", r"\\.\COM1"),
        ] {
            assert_eq!(shown(path), expected, "{path}");
        }
        assert!(shown("a").starts_with(r"\\?\"), "a relative path");
        assert!(verbatim(Path::new("")).is_err());
        assert!(units(Path::new("C:\\a\0b")).is_err());
    }

    #[test]
    fn path_step_with_separator_or_wildcard_refused() {
        for name in [r"a\b", "a/b", "*", "a?", "a\"b", "<", ">", "|"] {
            assert!(append_component(&mut Vec::new(), name.as_ref()).is_err(), "{name}");
        }
        for name in ["a", "a.", "a ", "NUL", "é", "a:b"] {
            assert!(append_component(&mut Vec::new(), name.as_ref()).is_ok(), "{name}");
        }
    }

    #[test]
    fn path_trailing_separator_follows_link() {
        assert!(ends_with_separator(Path::new(r"C:\a\")) && ends_with_separator(Path::new("a/")));
        assert!(!ends_with_separator(Path::new("a")) && !ends_with_separator(Path::new("")));
    }
}
