//! Questions, and the file that passes them to a process.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::input::read_regular_text;

use crate::spec::attributes::Source;

/// Terminates a path in the file; paths cannot contain it.
const END: u8 = 0;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// The paths to query, or the names to search for.
    pub paths: Vec<PathBuf>,
    /// The directories to search for names, in order; empty if `paths` are paths.
    pub dirs: Vec<PathBuf>,
}

impl Questions {
    /// Writes them to a file: NUL-terminated paths, an empty path, NUL-terminated directories.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let mut bytes = Vec::new();
        let mut add = |paths: &[PathBuf]| {
            for path in paths {
                bytes.extend_from_slice(path.as_os_str().as_encoded_bytes());
                bytes.push(END);
            }
        };
        add(&self.paths);
        if !self.dirs.is_empty() {
            add(&[PathBuf::new()]);
            add(&self.dirs);
        }
        std::fs::write(file, bytes)
    }

    pub fn read(file: &Path) -> io::Result<Self> {
        let bytes = std::fs::read(file)?;
        let mut questions = Self::default();
        let mut list = &mut questions.paths;
        for path in bytes.split(|&byte| byte == END) {
            match path {
                // The end of the file.
                [] if std::ptr::eq(path.as_ptr(), bytes.as_ptr_range().end) => {}
                [] => list = &mut questions.dirs,
                path => list.push(path_of(path)?),
            }
        }
        Ok(questions)
    }
}

impl Source {
    /// Returns the paths that it lists, relative to the current directory.
    pub(super) fn paths(&self) -> Result<Vec<PathBuf>, String> {
        let Self::Paths(file) = self;
        let failed = |why: String| format!("cannot use '{}': {why}", file.display());
        let reason = |error: io::Error| failed(transect::reason(&error));
        let here = std::env::current_dir().map_err(reason)?;
        let text = read_regular_text(file).map_err(reason)?;
        let paths: Vec<PathBuf> = text.lines().map(|line| here.join(line)).collect();
        if paths.is_empty() { Err(failed("it names no file".to_owned())) } else { Ok(paths) }
    }
}

fn path_of(bytes: &[u8]) -> io::Result<PathBuf> {
    #[cfg(unix)]
    let path: io::Result<OsString> = Ok(std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec()));
    #[cfg(not(unix))]
    let path: io::Result<OsString> = String::from_utf8(bytes.to_vec())
        .map(OsString::from)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
    path.map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    fn questions_round_trip_through_file() {
        let temp = TempDir::new();
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        for questions in [
            Questions::default(),
            Questions { paths: paths(&["/a b/c\nd", "/e"]), dirs: vec![] },
            Questions { paths: paths(&["x.h", "sub/y.h"]), dirs: paths(&["/one", "/two"]) },
        ] {
            let file = temp.join("questions");
            questions.write(&file).unwrap();
            assert_eq!(Questions::read(&file).unwrap(), questions);
        }
    }

    #[cfg(unix)]
    #[test]
    fn questions_with_non_utf8_names_round_trip() {
        use std::os::unix::ffi::OsStrExt;
        let temp = TempDir::new();
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(b"/\xff\x01"));
        let questions = Questions { paths: vec![path], dirs: vec![] };
        questions.write(&temp.join("questions")).unwrap();
        assert_eq!(Questions::read(&temp.join("questions")).unwrap(), questions);
    }
}
