//! Splits a path into a directory and a name in it.

use std::borrow::Cow;
#[cfg(unix)]
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use super::lookup_error::LookupError;

/// Returns the parts before and after the last separator.
#[inline]
pub(super) fn split(path: &Path) -> Option<(&[u8], &[u8])> {
    let bytes = path.as_os_str().as_encoded_bytes();
    let at = if cfg!(windows) {
        memchr::memrchr2(b'/', b'\\', bytes)
    } else {
        memchr::memrchr(b'/', bytes)
    }?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

/// As [`split`], if the name can be that of an entry. `..` may lead out of the roots.
#[inline]
pub(super) fn split_plain(path: &Path) -> Option<(&[u8], &[u8])> {
    split(path).filter(|(_, name)| is_entry_name(name) && memchr::memchr(0, name).is_none())
}

/// Returns the last name of a path for the system.
#[cfg(unix)]
pub(super) fn os_name<'p>(_: &'p Path, name: &'p [u8]) -> Option<&'p OsStr> {
    Some(std::os::unix::ffi::OsStrExt::from_bytes(name))
}

#[cfg(not(unix))]
pub(super) fn os_name<'p>(path: &'p Path, _: &'p [u8]) -> Option<&'p std::ffi::OsStr> {
    path.file_name()
}

/// Returns the key of a directory: its path without a separator at the end.
pub(super) fn key(directory: &Path) -> &[u8] {
    let bytes = directory.as_os_str().as_encoded_bytes();
    match bytes {
        [key @ .., last] if std::path::is_separator((*last).into()) => key,
        key => key,
    }
}

/// Returns whether this can be the name of an entry. `.`, `..` and the empty name after a separator
/// stand for a directory.
pub(super) fn is_entry_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..")
}

/// A path inside the roots, split.
pub(super) struct SplitPath<'a> {
    /// The path for the system.
    pub(super) path: Cow<'a, Path>,
    /// The directory: absolute, without `.` and repeated separators. `..` stays, because its
    /// meaning depends on the links before it.
    pub(super) directory: Cow<'a, Path>,
    pub(super) name: &'a [u8],
    pub(super) inside_roots: bool,
}

/// Which paths may be looked up.
#[derive(Clone, Debug, Default)]
pub(super) struct PathScope {
    /// The directory that relative paths refer to.
    pub(super) base: Option<PathBuf>,
    /// Where lookups are allowed. Empty: everywhere.
    pub(super) roots: Vec<PathBuf>,
}

impl PathScope {
    /// Splits a path, which must be inside the roots, into a directory and a name. The directory of a root may be outside.
    pub(super) fn split<'a>(&self, path: &'a Path) -> Result<SplitPath<'a>, LookupError> {
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.is_empty() {
            return Err(LookupError::MISSING);
        }
        if memchr::memchr(0, bytes).is_some() {
            return Err(LookupError::NUL);
        }
        let name = split(path).map_or(bytes, |(_, name)| name);
        // Most paths are in this form already and need no copy.
        let [path, whole, directory] = match parent_if_normalized(path) {
            Some(directory) => [path.into(), path.into(), directory.into()],
            None => self.normalize(path, name)?,
        };
        if !self.contains(&whole) {
            return Err(LookupError::OutsideRoots);
        }
        let inside_roots = self.contains(&directory);
        Ok(SplitPath { path, directory, name, inside_roots })
    }

    /// Returns the path for the system, the normalized path, and the directory of its last name.
    fn normalize<'a>(
        &self,
        path: &'a Path,
        name: &[u8],
    ) -> Result<[Cow<'a, Path>; 3], LookupError> {
        let path = self.absolute(path)?;
        let whole: PathBuf = path.components().collect();
        let directory = match name {
            // The whole path is a directory, and queried as one.
            b"" | b"." => whole.clone(),
            // `None` for a drive or a share with nothing after it.
            _ => whole.parent().map_or_else(|| whole.clone(), Path::to_path_buf),
        };
        Ok([path, whole.into(), directory.into()])
    }

    /// Returns the path for the system.
    pub(super) fn absolute<'a>(&self, path: &'a Path) -> Result<Cow<'a, Path>, LookupError> {
        if path.is_absolute() {
            return Ok(Cow::Borrowed(path));
        }
        Ok(Cow::Owned(self.base.as_ref().ok_or(LookupError::NoBase)?.join(path)))
    }

    /// Returns whether a path is inside a root: it begins with the root, and `..`, as written, does
    /// not leave it.
    fn contains(&self, path: &Path) -> bool {
        self.roots.is_empty()
            || self.roots.iter().any(|root| path.strip_prefix(root).is_ok_and(stays_below))
    }
}

/// Returns the directory of a path that is absolute and has no component that could be left out.
#[cfg(unix)]
fn parent_if_normalized(path: &Path) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt;

    let bytes = path.as_os_str().as_bytes();
    // Scanning all of it without a branch takes a few instructions.
    let untidy = bytes.windows(3).fold(false, |untidy, three| {
        let separator = three[0] == b'/';
        let for_nothing = (three[1] == b'/') | (three[1] == b'.') & (three[2] == b'/');
        untidy | separator & for_nothing
    });
    let ends = bytes.ends_with(b"/") || bytes.ends_with(b"/.");
    let tidy = bytes.starts_with(b"/") && !ends && !untidy;
    let (directory, _) = split(path).filter(|_| tidy)?;
    Some(Path::new(if directory.is_empty() { "/".as_ref() } else { OsStr::from_bytes(directory) }))
}

/// Not implemented for paths with several separators and prefixes.
#[cfg(not(unix))]
fn parent_if_normalized(_: &Path) -> Option<&Path> {
    None
}

/// Returns whether a relative path never goes above its start.
fn stays_below(below: &Path) -> bool {
    let mut depth = 0_usize;
    below.components().all(|component| {
        match component {
            Component::ParentDir if depth == 0 => return false,
            Component::ParentDir => depth -= 1,
            _ => depth += 1,
        }
        true
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(path: &str) -> (String, String) {
        let scope = PathScope { base: Some("/base".into()), roots: Vec::new() };
        let Ok(SplitPath { directory, name, .. }) = scope.split(Path::new(path)) else {
            panic!("{path} is refused");
        };
        (directory.display().to_string(), String::from_utf8_lossy(name).into_owned())
    }

    #[test]
    fn split_path_directory_and_name() {
        for (path, directory, name) in [
            ("/a/b", "/a", "b"),
            ("//a/./b//c", "/a/b", "c"),
            ("/a", "/", "a"),
            ("/", "/", ""),
            ("/a/", "/a", ""),
            ("/a/.", "/a", "."),
            ("/a/..", "/a", ".."),
            ("/a/../b", "/a/..", "b"),
            ("x", "/base", "x"),
            ("./x/y", "/base/x", "y"),
            (".", "/base", "."),
            ("..", "/base", ".."),
            ("x/", "/base/x", ""),
        ] {
            assert_eq!(parts(path), (directory.to_owned(), name.to_owned()), "{path}");
        }
    }

    #[test]
    fn split_path_normalized_unchanged() {
        let scope = PathScope::default();
        for (path, tidy) in [
            ("/a", true),
            ("/a/b", true),
            ("/a/../b", true),
            ("/a/..", true),
            ("/.a/b.", true),
            ("/a/...", true),
            ("/", false),
            ("/a/", false),
            ("/a//b", false),
            ("//a/b", false),
            ("/./a", false),
            ("/a/.", false),
            ("a/b", false),
        ] {
            assert_eq!(parent_if_normalized(Path::new(path)).is_some(), tidy, "{path}");
            if let (true, Ok(kept)) = (tidy, scope.split(Path::new(path))) {
                let name = split(Path::new(path)).map_or(&b""[..], |(_, name)| name);
                let Ok([path, _, directory]) = scope.normalize(Path::new(path), name) else {
                    panic!("{path} is refused");
                };
                assert_eq!((kept.path, kept.directory), (path, directory));
            }
        }
    }

    #[test]
    fn split_path_invalid_refused() {
        let scope = PathScope::default();
        let error = |path| scope.split(Path::new(path)).err();
        assert_eq!(error(""), Some(LookupError::MISSING));
        assert_eq!(error("/a\0b"), Some(LookupError::NUL));
        assert_eq!(error("a"), Some(LookupError::NoBase));
        assert_eq!(error("/a"), None);
    }

    #[test]
    fn scope_paths_outside_roots_refused() {
        let scope =
            PathScope { base: Some("/r/b".into()), roots: vec!["/r".into(), "/s/t".into()] };
        for (path, inside_roots) in [
            ("/r", true),
            ("/r/", true),
            ("/r/x/../y", true),
            ("/r/..", false),
            ("/r/x/../../r/y", false),
            ("/rx", false),
            ("/s", false),
            ("/s/t/u", true),
            ("x", true),
            ("..", true),
            ("../..", false),
        ] {
            assert_eq!(scope.split(Path::new(path)).is_ok(), inside_roots, "{path}");
        }
        // The root itself may be looked up, but not its siblings.
        let Ok(root) = scope.split(Path::new("/r")) else { panic!("a root is refused") };
        assert_eq!((&*root.directory, root.inside_roots), (Path::new("/"), false));
    }

    #[test]
    fn key_without_trailing_separator() {
        assert_eq!(key(Path::new("/")), b"");
        assert_eq!(key(Path::new("/a")), b"/a");
        assert_eq!(split(Path::new("/a")), Some((&b""[..], &b"a"[..])));
        assert_eq!(split(Path::new("a")), None);
    }

    /// Any mixture of names, dots and separators.
    fn any_path() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec!["a", "bc", ".", "..", "", ".d", "...", "e."]);
        (any::<bool>(), prop::collection::vec(part, 1..7)).prop_map(|(absolute, parts)| {
            let lead = if absolute { "/" } else { "" };
            format!("{lead}{}", parts.join("/"))
        })
    }

    proptest! {
        #[test]
        fn split_path_result_is_canonical(path in any_path()) {
            let scope = PathScope { base: Some("/base".into()), roots: Vec::new() };
            let path = Path::new(&path);
            let Ok(split) = scope.split(path) else {
                prop_assert!(path.as_os_str().is_empty());
                return Ok(());
            };
            // The shortcut gives the same result.
            let Ok([asked, whole, directory]) = scope.normalize(path, split.name) else {
                panic!("{path:?} is refused when it is tidied up");
            };
            prop_assert_eq!((&split.path, &split.directory), (&asked, &directory));
            prop_assert!(!whole.as_os_str().as_encoded_bytes().windows(2).any(|two| two == b"//"));
            // Splitting the result again changes nothing.
            if is_entry_name(split.name) {
                let again = directory.join(std::str::from_utf8(split.name).unwrap());
                let Ok(again_spelt) = scope.split(&again) else { panic!("{again:?} is refused") };
                prop_assert_eq!(&again_spelt.directory, &split.directory);
                prop_assert_eq!(again_spelt.name, split.name);
                prop_assert!(parent_if_normalized(&again).is_some(), "{:?}", again);
            }
        }
    }
}
