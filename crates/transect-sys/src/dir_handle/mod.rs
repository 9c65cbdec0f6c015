//! Handles of open directories, for changing a tree safely.
//!
//! A [`DirHandle`] stays the same directory whatever happens to its path. Its methods take the name
//! of one entry and never follow links. A mount point is entered only on request. The caller
//! decides what may be removed.
//!
//! On Linux every call is relative to a descriptor. Elsewhere a handle is a path, which may mean
//! another directory by the time it is used.

use std::ffi::OsStr;
use std::io;

#[cfg(target_os = "linux")]
pub use crate::linux::DirHandle;
#[cfg(not(target_os = "linux"))]
pub use by_path::DirHandle;

#[cfg(not(target_os = "linux"))]
mod by_path;

/// What to do at a mount point: a subdirectory on another file system or another mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MountPolicy {
    /// Do not enter it: an error of the kind [`io::ErrorKind::CrossesDevices`].
    Refuse,
    /// Enter it like any other directory.
    Cross,
}

/// Returns `name` if it is a single path component. Names may come from a file that another user
/// wrote, so they may be paths that lead elsewhere.
pub(crate) fn single_component(name: &OsStr) -> io::Result<&OsStr> {
    let leads_away = |byte: &u8| std::path::is_separator(char::from(*byte)) || *byte == 0;
    match name.as_encoded_bytes() {
        b"" | b"." | b".." => Err(io::ErrorKind::InvalidInput.into()),
        bytes if bytes.iter().any(leads_away) => Err(io::ErrorKind::InvalidInput.into()),
        _ => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;
    use crate::attributes::FileType;

    fn names(dir: &DirHandle) -> Vec<String> {
        let mut names = Vec::new();
        dir.for_each_name(&mut |name| names.push(name.to_str().unwrap().to_owned())).unwrap();
        names.sort();
        names
    }

    #[test]
    fn dir_handle_query_open_remove() {
        let temp = TempDir::new();
        std::fs::create_dir_all(temp.join("a/b")).unwrap();
        std::fs::write(temp.join("a/file"), "12345").unwrap();
        let top = DirHandle::open(temp.path()).unwrap();
        let dir = top.open_dir("a".as_ref(), MountPolicy::Refuse).unwrap();
        assert_eq!(names(&dir), ["b", "file"]);
        let file = dir.entry_attributes("file".as_ref()).unwrap();
        assert_eq!((file.file_type(), file.size()), (FileType::File, Some(5)));
        assert!(dir.open_dir("file".as_ref(), MountPolicy::Refuse).is_err());
        assert!(top.remove_dir("a".as_ref()).is_err(), "not empty");
        dir.unlink("file".as_ref()).unwrap();
        dir.remove_dir("b".as_ref()).unwrap();
        let above = dir.open_parent().unwrap();
        assert_eq!(above.attributes().unwrap().file_id(), top.attributes().unwrap().file_id());
        above.remove_dir("a".as_ref()).unwrap();
        assert_eq!(names(&top), [""; 0]);
    }

    #[test]
    fn dir_handle_read_link_rename() {
        let temp = TempDir::new();
        std::fs::write(temp.join("file"), "12345").unwrap();
        std::fs::write(temp.join("old"), "other").unwrap();
        std::fs::create_dir(temp.join("below")).unwrap();
        let top = DirHandle::open(temp.path()).unwrap();
        let below = top.open_dir("below".as_ref(), MountPolicy::Refuse).unwrap();
        let text = |dir: &DirHandle, name: &str| {
            io::read_to_string(dir.open_file(name.as_ref(), false).unwrap()).unwrap()
        };
        assert_eq!(text(&top, "file"), "12345");
        top.hard_link("file".as_ref(), &below, "name".as_ref()).unwrap();
        assert!(top.hard_link("file".as_ref(), &below, "name".as_ref()).is_err(), "it exists");
        assert_eq!(text(&below, "name"), "12345");
        top.rename("file".as_ref(), "old".as_ref()).unwrap();
        assert_eq!(names(&top), ["below", "old"]);
        assert_eq!(text(&top, "old"), "12345");
    }

    /// With the usual form of the path, which Windows does not take literally.
    #[test]
    fn dir_handle_names_that_end_in_a_dot_or_space_are_themselves() {
        let temp = TempDir::new();
        let usual = temp.path().to_str().unwrap().trim_start_matches(r"\\?\").to_owned();
        let dir = DirHandle::open(std::path::Path::new(&usual)).unwrap();
        for name in ["dot.", "space "] {
            dir.create_dir(name.as_ref()).unwrap();
            let below = dir.open_dir(name.as_ref(), MountPolicy::Refuse).unwrap();
            below.create_file("file".as_ref(), b"1").unwrap();
            assert_eq!(names(&dir), [name]);
            assert!(dir.entry_attributes(name.trim_end_matches(['.', ' ']).as_ref()).is_err());
            below.unlink("file".as_ref()).unwrap();
            dir.remove_dir(name.as_ref()).unwrap();
        }
    }

    #[test]
    fn dir_handle_other_spelling_only_of_windows() {
        let temp = TempDir::new();
        std::fs::write(temp.join("File"), "12345").unwrap();
        let dir = DirHandle::open(temp.path()).unwrap();
        assert_eq!(dir.other_spelling("File".as_ref()), None);
        assert_eq!(dir.other_spelling("missing".as_ref()), None);
        let expected = cfg!(windows).then(|| "File".into());
        assert_eq!(dir.other_spelling("FILE".as_ref()), expected);
    }

    #[cfg(unix)]
    #[test]
    fn dir_handle_open_file_link_only_on_request() {
        let temp = TempDir::new();
        std::fs::write(temp.join("file"), "12345").unwrap();
        std::os::unix::fs::symlink("file", temp.join("link")).unwrap();
        let dir = DirHandle::open(temp.path()).unwrap();
        assert!(dir.open_file("link".as_ref(), true).is_ok());
        let refused = dir.open_file("link".as_ref(), false).unwrap_err();
        assert_eq!(crate::FaultKind::of(&refused), crate::FaultKind::Loop);
    }

    #[test]
    fn dir_handle_name_with_separator_refused() {
        let temp = TempDir::new();
        std::fs::create_dir(temp.join("inside")).unwrap();
        std::fs::write(temp.join("outside"), "precious").unwrap();
        let dir = DirHandle::open(&temp.join("inside")).unwrap();
        for name in ["", ".", "..", "../outside", "/", "a/b", "nul\0"] {
            let kinds = [
                dir.entry_attributes(name.as_ref()).map(drop),
                dir.open_dir(name.as_ref(), MountPolicy::Cross).map(drop),
                dir.unlink(name.as_ref()),
                dir.remove_dir(name.as_ref()),
                dir.create_dir(name.as_ref()),
                dir.create_file(name.as_ref(), b""),
                dir.rename_no_replace("x".as_ref(), &dir, name.as_ref()),
                dir.rename_no_replace(name.as_ref(), &dir, "x".as_ref()),
                dir.open_file(name.as_ref(), false).map(drop),
                dir.hard_link("x".as_ref(), &dir, name.as_ref()),
                dir.hard_link(name.as_ref(), &dir, "x".as_ref()),
                dir.rename("x".as_ref(), name.as_ref()),
                dir.rename(name.as_ref(), "x".as_ref()),
            ]
            .map(|answer| answer.unwrap_err().kind());
            assert_eq!(kinds, [io::ErrorKind::InvalidInput; 13], "{name:?}");
        }
        assert!(temp.join("outside").exists());
    }
}
