//! The trash, as freedesktop.org specifies it (Trash specification 1.0): where things are moved,
//! and what is noted of them.
//!
//! ```text
//! TRASH/info/NAME.trashinfo   made first, and only if it is not there: the name is taken
//! TRASH/files/NAME            what was moved
//! ```
//!
//! The trash in the user's home takes what lies on the same file system; everything else goes to
//! one at the top of its own. Nothing is copied: what cannot be renamed stays. The sizes of
//! directories in the trash (`directorysizes`) are left to who shows them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::dir_handle::{DirHandle, MountPolicy};
use transect_sys::{Attributes, FileType, host, name_from_bytes};

use crate::compare::compare;
use crate::way::{self, Obstacle};
use crate::work::Work;
use crate::{Reason, Refused};
use transect::table::{Row, Table};

/// Where things are moved that may be wanted back.
#[derive(Clone, Debug)]
pub struct Trash {
    home: PathBuf,
    date: String,
    user: u32,
}

impl Trash {
    /// Returns the trash of the user that this process acts as: `home` for what lies on the same
    /// file system, made when it is needed, and one at the top of every other.
    ///
    /// `date` is noted of all that is moved: local date and time, as in `2026-11-21T19:07:37`. What
    /// time it is where the user is, the library does not know.
    ///
    /// # Errors
    /// [`Refused`]: there is no trash on this system, or that is no date.
    pub fn new(home: PathBuf, date: &str) -> Result<Self, Refused> {
        let user = host::effective_user_id().ok_or(Refused::NoTrash)?;
        if !is_date(date) {
            return Err(Refused::Date(date.to_owned()));
        }
        Ok(Self { home, date: date.to_owned(), user })
    }

    /// Returns where the trash in a user's home is, given what the environment says as
    /// `XDG_DATA_HOME` and as `HOME`. What is no absolute path counts as not given.
    pub fn home(data_home: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
        let absolute = |path: &&OsStr| Path::new(path).is_absolute();
        let data = data_home.filter(absolute).map(PathBuf::from);
        let data = data.or_else(|| Some(Path::new(home.filter(absolute)?).join(".local/share")));
        Some(data?.join("Trash"))
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

/// Moves an entry of `holder` to the trash, if it is what the scan found and nothing is mounted in
/// it.
pub(super) fn trash(work: &mut Work<'_>, to: &Trash, holder: &DirHandle, row: Row) {
    let gone = work.report.gone.len();
    let done = is_whole(work.table, work.mounts, row).and_then(|()| {
        let moving = Moving::begin(work.table, holder, row)?;
        // Nothing is free before the trash is emptied.
        moving.finish(to).map(|()| 0)
    });
    work.settle(row, gone, done);
}

/// What is mounted in a directory would be moved along, and lost with the rest of the trash.
fn is_whole(table: &Table, mounts: &[Row], row: Row) -> Result<(), Obstacle> {
    let lies_in = |&mount: &Row| {
        std::iter::successors(Some(mount), |&mount| table.parent(mount)).any(|above| above == row)
    };
    if mounts.iter().any(lies_in) { Err(Reason::MountBoundary.into()) } else { Ok(()) }
}

/// An entry that is what the scan found, on its way to the trash.
struct Moving<'a> {
    holder: &'a DirHandle,
    name: &'a OsStr,
    now: Attributes,
    /// Where it was: a path without links.
    path: PathBuf,
}

impl<'a> Moving<'a> {
    fn begin(table: &'a Table, holder: &'a DirHandle, row: Row) -> Result<Self, Obstacle> {
        let name = way::name(table, row).expect("BUG: what has no name was refused");
        let now = match table.file_type(row) {
            // Entered: this tells a mount, whenever it came.
            FileType::Directory => holder.open_dir(name, MountPolicy::Refuse)?.attributes()?,
            _ => holder.entry_attributes(name)?,
        };
        compare(table, row, &now)?;
        let mut folder = table.path(row);
        folder.pop();
        if folder.as_os_str().is_empty() {
            folder.push(".");
        }
        let folder = folder.canonicalize().map_err(Obstacle::moved)?;
        // The note must lead back to where the entry is now.
        let found = DirHandle::open(&folder).and_then(|found| found.attributes());
        if found.map_err(Obstacle::moved)?.file_id() != holder.attributes()?.file_id() {
            return Err(Reason::Changed.into());
        }
        Ok(Self { holder, name, now, path: folder.join(name) })
    }

    fn finish(&self, trash: &Trash) -> Result<(), Obstacle> {
        if let Some(home) = self.home(&trash.home).map_err(no_trash)? {
            match self.move_to(&home, &self.path, &trash.date) {
                // One device, mounted at two places.
                Err(Obstacle::Kept(Reason::MountBoundary, _)) => {}
                answer => return answer,
            }
        }
        let (top, steps) = top_of(self.holder).map_err(no_trash)?;
        let place = trash_at_top(&top, trash.user).map_err(no_trash)?;
        let names: Vec<&OsStr> = self.path.iter().collect();
        let path: PathBuf = names[names.len().saturating_sub(1 + steps)..].iter().collect();
        match self.move_to(&place, &path, &trash.date) {
            Err(Obstacle::Kept(Reason::MountBoundary, Some(error))) => Err(no_trash(error)),
            answer => answer,
        }
    }

    /// Opens the trash in the home, if it is on the same device.
    fn home(&self, home: &Path) -> io::Result<Option<DirHandle>> {
        let (Some(parent), Some(name)) = (home.parent(), home.file_name()) else {
            return Ok(None);
        };
        // Not made where it would be of no use.
        let there = parent.ancestors().find_map(|path| DirHandle::open(&path.join("")).ok());
        let device = |folder: DirHandle| folder.attributes().ok()?.device();
        if there.and_then(device) != self.now.device() {
            return Ok(None);
        }
        std::fs::create_dir_all(parent)?;
        let place = make(&DirHandle::open(&parent.join(""))?, name)?;
        let same = place.attributes()?.device() == self.now.device();
        Ok(same.then_some(place))
    }

    /// Moves the entry to a trash, under the first name that is free there.
    fn move_to(&self, place: &DirHandle, path: &Path, date: &str) -> Result<(), Obstacle> {
        let files = make(place, "files".as_ref()).map_err(no_trash)?;
        let notes = make(place, "info".as_ref()).map_err(no_trash)?;
        let note = note(path, date);
        let mut number = 0;
        loop {
            number += 1;
            let name = free_name(self.name, number);
            let mut note_name = name.clone();
            note_name.push(SUFFIX);
            match notes.create_file(&note_name, &note) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(no_trash(error)),
            }
            let refused = match self.holder.rename_no_replace(self.name, &files, &name) {
                Ok(()) => match self.put_back(&files, &name) {
                    Ok(false) => return Ok(()),
                    Ok(true) => None,
                    // Another entry is in the trash now, and its note tells where it was.
                    Err(error) => return Err(Obstacle::Kept(Reason::Changed, Some(error))),
                },
                Err(error) => Some(error),
            };
            // What a note tells of and is not there would be taken for lost.
            notes.unlink(&note_name).map_err(no_trash)?;
            match refused {
                None => return Err(Reason::Changed.into()),
                Some(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Some(error) => return Err(Obstacle::moved(error)),
            }
        }
    }

    /// Moves back what was moved, if it turns out to be another entry. Returns whether it did.
    fn put_back(&self, files: &DirHandle, name: &OsStr) -> io::Result<bool> {
        match files.entry_attributes(name) {
            Ok(moved) if moved.file_id() != self.now.file_id() => {
                files.rename_no_replace(name, self.holder, self.name).map(|()| true)
            }
            // Moved it was, whoever has emptied the trash since.
            _ => Ok(false),
        }
    }
}

fn no_trash(error: io::Error) -> Obstacle {
    Obstacle::Kept(Reason::NoTrash, Some(error))
}

/// What the names of notes end with.
const SUFFIX: &str = ".trashinfo";

/// The longest name that file systems take.
const LONGEST: usize = 255;

/// Returns the `number`th name for what is called `name`. It leaves room for the suffix.
fn free_name(name: &OsStr, number: u32) -> OsString {
    let number = if number == 1 { String::new() } else { format!(".{number}") };
    let mut bytes = name.as_encoded_bytes().to_vec();
    bytes.truncate(LONGEST - SUFFIX.len() - number.len());
    bytes.extend_from_slice(number.as_bytes());
    name_from_bytes(bytes)
}

/// Returns the content of a note.
fn note(path: &Path, date: &str) -> Vec<u8> {
    let mut note = b"[Trash Info]\nPath=".to_vec();
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.!~*'()".contains(&byte) {
            note.push(byte);
        } else {
            note.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    }
    note.extend_from_slice(format!("\nDeletionDate={date}\n").as_bytes());
    note
}

/// Returns the directory at which the file system is mounted that a folder lies on, and how many
/// steps it is above.
fn top_of(folder: &DirHandle) -> io::Result<(DirHandle, usize)> {
    let mut here = folder.try_clone()?;
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

/// Opens the user's trash at the top of a file system: in one that the administrator has made for
/// all users, if it is safe there, or else one of the user's own.
fn trash_at_top(top: &DirHandle, user: u32) -> io::Result<DirHandle> {
    const STICKY: u16 = 0o1000;
    if let Ok(shared) = top.open_dir(".Trash".as_ref(), MountPolicy::Refuse) {
        // Without it anybody could put another directory in the place of the user's.
        let sticky = shared.attributes()?.mode().is_some_and(|mode| mode & STICKY != 0);
        if sticky && let Ok(place) = own(&shared, &user.to_string(), user) {
            return Ok(place);
        }
    }
    own(top, &format!(".Trash-{user}"), user)
}

/// Opens a directory that belongs to the user, and makes it if there is none.
fn own(folder: &DirHandle, name: &str, user: u32) -> io::Result<DirHandle> {
    let place = make(folder, name.as_ref())?;
    match place.attributes()?.uid() {
        Some(owner) if owner == user => Ok(place),
        // Somebody else has made it, and could read all that is put there.
        _ => Err(io::ErrorKind::PermissionDenied.into()),
    }
}

fn make(folder: &DirHandle, name: &OsStr) -> io::Result<DirHandle> {
    match folder.create_dir(name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => folder.open_dir(name, MountPolicy::Refuse),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_what_the_specification_says() {
        assert!(is_date("2026-11-21T19:07:37"));
        for not in
            ["", "2026-11-21", "2026-11-21 19:07:37", "2026-11-21T19:07:37Z", "a026-11-21T19:07:37"]
        {
            assert!(!is_date(not), "{not}");
        }
    }

    #[test]
    fn a_note_holds_any_path() {
        let path = name_from_bytes(b"/a b/%\n\xff".to_vec());
        let text = String::from_utf8(note(Path::new(&path), "2026-11-21T19:07:37")).unwrap();
        if cfg!(unix) {
            let expected = "Path=/a%20b/%25%0A%FF\nDeletionDate=2026-11-21T19:07:37\n";
            assert_eq!(text, format!("[Trash Info]\n{expected}"));
        }
    }

    #[test]
    fn the_home_is_where_the_environment_says() {
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
    fn names_in_the_trash_are_short_enough() {
        assert_eq!(free_name("notes.txt".as_ref(), 1), "notes.txt");
        assert_eq!(free_name("notes.txt".as_ref(), 12), "notes.txt.12");
        let long = "n".repeat(255);
        for number in [1, 2, 4_000_000_000] {
            let name = free_name(long.as_ref(), number);
            assert_eq!(name.len() + SUFFIX.len(), LONGEST);
        }
    }
}
