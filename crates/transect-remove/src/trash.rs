//! The trash as freedesktop.org specifies it (Trash specification 1.0).
//!
//! ```text
//! TRASH/info/NAME.trashinfo   created first, and only if it does not exist: reserves the name
//! TRASH/files/NAME            the entry
//! ```
//!
//! The trash in the user's home takes entries of the same file system; entries of any other go to a
//! trash at the top of theirs. Nothing is copied: an entry that cannot be renamed is kept. The
//! sizes of directories in the trash (`directorysizes`) are left to programs that display it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::dir_handle::{DirHandle, MountPolicy};
use transect_sys::{Attributes, FileType, host, name_from_bytes};

use crate::compare::compare;
use crate::error::RemovalError;
use crate::parent;
use crate::refusal::Refusal;
use crate::report::KeepReason;
use crate::run::Run;
use crate::trashed::{INFO_SUFFIX, TrashedEntry, info_name};
use transect::table::{Row, Table};

/// The trash of a user.
#[derive(Clone, Debug)]
pub struct Trash {
    home: PathBuf,
    date: String,
    user: u32,
}

impl Trash {
    /// Returns the trash of the user of this process: `home` for entries of the same file system,
    /// created when needed, and one at the top of every other file system.
    ///
    /// `date` is recorded with every entry: local date and time, as in `2026-11-21T19:07:37`. The
    /// caller provides it because the library has no access to the time zone.
    ///
    /// # Errors
    /// [`RemovalError`]: this system has no trash, or the date has the wrong format.
    pub fn new(home: PathBuf, date: &str) -> Result<Self, RemovalError> {
        let user = host::effective_user_id().ok_or(RemovalError::NoTrash)?;
        if !is_date(date) {
            return Err(RemovalError::Date(date.to_owned()));
        }
        Ok(Self { home, date: date.to_owned(), user })
    }

    /// Returns the path of a user's trash from the values of the environment variables
    /// `XDG_DATA_HOME` and `HOME`. A path that is not absolute counts as missing.
    pub fn home(data_home: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
        let absolute = |path: &&OsStr| Path::new(path).is_absolute();
        let data = data_home.filter(absolute).map(PathBuf::from);
        let data = data.or_else(|| Some(Path::new(home.filter(absolute)?).join(".local/share")));
        Some(data?.join("Trash"))
    }

    /// Returns the existing directories that hold the trashed entries of the home and of the file system that
    /// contains `near`. They are named `files`.
    pub fn contents(&self, near: &Path) -> Vec<PathBuf> {
        let mut contents: Vec<PathBuf> =
            self.home.join("files").canonicalize().into_iter().collect();
        let top_of = |near: PathBuf| {
            let (_, steps) = mount_root_of(&DirHandle::open(&near)?)?;
            Ok::<_, io::Error>(near.ancestors().nth(steps).unwrap_or(&near).to_owned())
        };
        if let Ok(top) = near.canonicalize().and_then(top_of) {
            let own = [
                top.join(SHARED_TRASH).join(self.user.to_string()),
                top.join(own_trash(self.user)),
            ];
            contents.extend(own.iter().map(|trash| trash.join("files")).filter(|files| {
                // Another user may have put a link there, or a directory with entries of others.
                let owner = DirHandle::open(files).and_then(|files| files.attributes());
                let is_own = owner.is_ok_and(|owner| owner.uid() == Some(self.user));
                is_own && files.canonicalize().is_ok_and(|target| target == *files)
            }));
        }
        contents.sort_unstable();
        contents.dedup();
        contents
    }
}

fn is_date(text: &str) -> bool {
    let pattern = b"dddd-dd-ddTdd:dd:dd";
    let fits = |(byte, like): (u8, &u8)| match like {
        b'd' => byte.is_ascii_digit(),
        like => byte == *like,
    };
    text.len() == pattern.len() && text.bytes().zip(pattern).all(fits)
}

/// Moves an entry of `parent` to the trash, if it is what the walk found and contains no mount
/// point.
pub(super) fn trash(run: &mut Run<'_>, to: &Trash, parent: &DirHandle, row: Row) {
    let gone = run.report.gone.len();
    let table = run.table;
    let lies_in = |&mount: &Row| table.ancestors(mount).any(|above| above == row);
    let outcome = match run.mounts.iter().any(lies_in) {
        // It would be moved along, and lost with the trash.
        true => Err(KeepReason::MountBoundary.into()),
        // No space is freed until the trash is emptied.
        false => TrashMove::begin(table, parent, row).and_then(|it| it.finish(to)).map(|trashed| {
            run.report.trashed.push(trashed);
            0
        }),
    };
    run.record(row, gone, outcome);
}

/// An entry that equals the one that the walk saw, on its way to the trash.
struct TrashMove<'a> {
    parent: &'a DirHandle,
    name: &'a OsStr,
    now: Attributes,
    /// Its original path, without links.
    path: PathBuf,
}

impl<'a> TrashMove<'a> {
    fn begin(table: &'a Table, parent: &'a DirHandle, row: Row) -> Result<Self, Refusal> {
        let name = parent::entry_name(table, row).expect("BUG: what has no name was refused");
        let now = match table.file_type(row) {
            // Opening it detects a mount, whenever it was mounted.
            FileType::Directory => parent.open_dir(name, MountPolicy::Refuse)?.attributes()?,
            _ => parent.entry_attributes(name)?,
        };
        compare(table, row, &now)?;
        let mut dir = table.path(row);
        dir.pop();
        if dir.as_os_str().is_empty() {
            dir.push(".");
        }
        let dir = dir.canonicalize().map_err(Refusal::of_known_dir)?;
        // The recorded path must lead to where the entry is now.
        let found = DirHandle::open(&dir).and_then(|found| found.attributes());
        if found.map_err(Refusal::of_known_dir)?.file_id() != parent.attributes()?.file_id() {
            return Err(KeepReason::Changed.into());
        }
        Ok(Self { parent, name, now, path: dir.join(name) })
    }

    fn finish(self, trash: &Trash) -> Result<TrashedEntry, Refusal> {
        if let Some(home) = self.open_home_trash(&trash.home).map_err(no_trash)? {
            match self.move_to(&home, &self.path, &trash.date) {
                // The same device may be mounted at two places.
                Err(Refusal::Kept(KeepReason::MountBoundary, _)) => {}
                answer => return answer.map(|name| self.trashed(trash.home.clone(), name)),
            }
        }
        let (top, steps) = mount_root_of(self.parent).map_err(no_trash)?;
        let (trash_dir, below_top) = trash_at_top(&top, trash.user).map_err(no_trash)?;
        let names: Vec<&OsStr> = self.path.iter().collect();
        let (top, path) = names.split_at(names.len().saturating_sub(1 + steps));
        match self.move_to(&trash_dir, &path.iter().collect::<PathBuf>(), &trash.date) {
            Err(Refusal::Kept(KeepReason::MountBoundary, Some(error))) => Err(no_trash(error)),
            answer => {
                let trash = top.iter().collect::<PathBuf>().join(below_top);
                answer.map(|name| self.trashed(trash, name))
            }
        }
    }

    fn trashed(self, trash: PathBuf, name: OsString) -> TrashedEntry {
        TrashedEntry { original: self.path, trash, name, attributes: self.now }
    }

    /// Opens the trash in the home, if it is on the same device.
    fn open_home_trash(&self, home: &Path) -> io::Result<Option<DirHandle>> {
        let (Some(parent), Some(name)) = (home.parent(), home.file_name()) else {
            return Ok(None);
        };
        // It is not created where it could not be used.
        let there = parent.ancestors().find_map(|path| DirHandle::open(&path.join("")).ok());
        let device = |dir: DirHandle| dir.attributes().ok()?.device();
        if there.and_then(device) != self.now.device() {
            return Ok(None);
        }
        std::fs::create_dir_all(parent)?;
        let trash_dir = open_or_create_dir(&DirHandle::open(&parent.join(""))?, name)?;
        let same = trash_dir.attributes()?.device() == self.now.device();
        Ok(same.then_some(trash_dir))
    }

    /// Moves the entry to a trash directory, under the first free name, and returns that.
    fn move_to(&self, trash_dir: &DirHandle, path: &Path, date: &str) -> Result<OsString, Refusal> {
        let files = open_or_create_dir(trash_dir, "files".as_ref()).map_err(no_trash)?;
        let info = open_or_create_dir(trash_dir, "info".as_ref()).map_err(no_trash)?;
        let info_content = info_content(path, date);
        let mut number = 0;
        loop {
            number += 1;
            let name = free_name(self.name, number);
            let info_name = info_name(&name);
            match info.create_file(&info_name, &info_content) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(no_trash(error)),
            }
            let failure = match self.parent.rename_no_replace(self.name, &files, &name) {
                Ok(()) => match self.put_back(&files, &name) {
                    Ok(false) => return Ok(name),
                    Ok(true) => None,
                    // Another entry is in the trash now, and its info file has the original path.
                    Err(error) => return Err(Refusal::Kept(KeepReason::Changed, Some(error))),
                },
                Err(error) => Some(error),
            };
            // An info file without an entry would look like a lost entry.
            info.unlink(&info_name).map_err(no_trash)?;
            match failure {
                None => return Err(KeepReason::Changed.into()),
                Some(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Some(error) => return Err(Refusal::of_known_dir(error)),
            }
        }
    }

    /// Moves an entry back if it is the wrong one. Returns whether it did.
    fn put_back(&self, files: &DirHandle, name: &OsStr) -> io::Result<bool> {
        match files.entry_attributes(name) {
            Ok(moved) if moved.file_id() != self.now.file_id() => {
                files.rename_no_replace(name, self.parent, self.name).map(|()| true)
            }
            // The entry was moved, even if the trash was emptied meanwhile.
            _ => Ok(false),
        }
    }
}

fn no_trash(error: io::Error) -> Refusal {
    Refusal::Kept(KeepReason::NoTrash, Some(error))
}

/// The longest name that file systems accept.
const MAX_NAME_BYTES: usize = 255;

/// Returns the `number`th name to try for `name`. It leaves room for the suffix.
fn free_name(name: &OsStr, number: u32) -> OsString {
    let number = if number == 1 { String::new() } else { format!(".{number}") };
    let mut bytes = name.as_encoded_bytes().to_vec();
    bytes.truncate(MAX_NAME_BYTES - INFO_SUFFIX.len() - number.len());
    bytes.extend_from_slice(number.as_bytes());
    name_from_bytes(bytes)
}

fn info_content(path: &Path, date: &str) -> Vec<u8> {
    let mut info_content = b"[Trash Info]\nPath=".to_vec();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.!~*'()".contains(&byte) {
            info_content.push(byte);
        } else {
            info_content.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    info_content.extend_from_slice(format!("\nDeletionDate={date}\n").as_bytes());
    info_content
}

/// Returns the top directory of the file system that contains a directory, and how many steps it is
/// above.
fn mount_root_of(dir: &DirHandle) -> io::Result<(DirHandle, usize)> {
    let mut here = dir.try_clone()?;
    let mut steps = 0;
    loop {
        let above = match here.open_parent() {
            Ok(above) => above,
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                return Ok((here, steps));
            }
            Err(error) => return Err(error),
        };
        if above.attributes()?.file_id() == here.attributes()?.file_id() {
            return Ok((here, steps));
        }
        here = above;
        steps += 1;
    }
}

/// Opens the user's trash at the top of a file system: in the shared one that an administrator has
/// created, if that is safe, or else the user's own. Returns also its path below the top.
fn trash_at_top(top: &DirHandle, user: u32) -> io::Result<(DirHandle, PathBuf)> {
    const STICKY: u16 = 0o1000;
    if let Ok(shared) = top.open_dir(SHARED_TRASH.as_ref(), MountPolicy::Refuse) {
        // Without the sticky bit, any user could replace the user's directory.
        let sticky = shared.attributes()?.mode().is_some_and(|mode| mode & STICKY != 0);
        if sticky && let Ok(trash_dir) = open_own_dir(&shared, &user.to_string(), user) {
            return Ok((trash_dir, Path::new(SHARED_TRASH).join(user.to_string())));
        }
    }
    let name = own_trash(user);
    Ok((open_own_dir(top, &name, user)?, name.into()))
}

/// The trash of all users at the top of a file system.
const SHARED_TRASH: &str = ".Trash";

/// Returns the name of a user's own trash at the top of a file system.
fn own_trash(user: u32) -> String {
    format!(".Trash-{user}")
}

/// Opens a directory that must belong to the user, and creates it if necessary.
fn open_own_dir(dir: &DirHandle, name: &str, user: u32) -> io::Result<DirHandle> {
    let trash_dir = open_or_create_dir(dir, name.as_ref())?;
    match trash_dir.attributes()?.uid() {
        Some(owner) if owner == user => Ok(trash_dir),
        // Another user has created the directory, and could read the entries in it.
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

fn open_or_create_dir(dir: &DirHandle, name: &OsStr) -> io::Result<DirHandle> {
    match dir.create_dir(name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => dir.open_dir(name, MountPolicy::Refuse),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_format_as_specified() {
        assert!(is_date("2026-11-21T19:07:37"));
        for not in
            ["", "2026-11-21", "2026-11-21 19:07:37", "2026-11-21T19:07:37Z", "a026-11-21T19:07:37"]
        {
            assert!(!is_date(not), "{not}");
        }
    }

    #[test]
    fn trash_info_any_path_encoded() {
        let path = name_from_bytes(b"/a b/%\n\xff".to_vec());
        let text =
            String::from_utf8(info_content(Path::new(&path), "2026-11-21T19:07:37")).unwrap();
        if cfg!(unix) {
            let expected = "Path=/a%20b/%25%0A%FF\nDeletionDate=2026-11-21T19:07:37\n";
            assert_eq!(text, format!("[Trash Info]\n{expected}"));
        }
    }

    #[test]
    fn trash_home_from_environment() {
        let at = |data: Option<&str>, home: Option<&str>| {
            Trash::home(data.map(OsStr::new), home.map(OsStr::new))
        };
        if cfg!(unix) {
            assert_eq!(at(Some("/data"), Some("/home/me")), Some("/data/Trash".into()));
            let home = Some("/home/me/.local/share/Trash".into());
            assert_eq!(at(Some("relative"), Some("/home/me")), home);
            assert_eq!(at(None, Some("/home/me")), home);
        }
        assert_eq!(at(None, Some("relative")), None);
        assert_eq!(at(Some(""), None), None);
    }

    #[test]
    fn trash_names_within_limit() {
        assert_eq!(free_name("info.txt".as_ref(), 1), "info.txt");
        assert_eq!(free_name("info.txt".as_ref(), 12), "info.txt.12");
        let long = "n".repeat(255);
        for number in [1, 2, 4_000_000_000] {
            let name = free_name(long.as_ref(), number);
            assert_eq!(name.len() + INFO_SUFFIX.len(), MAX_NAME_BYTES);
        }
    }
}
