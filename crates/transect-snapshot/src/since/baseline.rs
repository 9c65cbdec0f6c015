//! The rows of a snapshot in memory, by directory.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use transect::{Attributes, FieldMask, FileType};

use crate::metadata::{FileSystem, Inherited, Metadata};
use crate::read::{ReadAt, ReadError, RowReader, Snapshot};

use super::SinceLevel;
use super::stored_attributes::StoredAttributes;

/// A directory whose times are this close to the begin of the walk, in nanoseconds, may have changed after it was
/// listed without a change of its times: the coarsest clock of a file system (FAT) has ticks of two seconds.
const RACY: i64 = 2_000_000_000;

/// The maximum number of rows that memory is reserved for.
const MAX_RESERVED: usize = 1 << 18;

/// The attributes that show whether a directory changed.
pub(super) const PROOF: FieldMask =
    FieldMask::FILE_ID.union(FieldMask::MTIME).union(FieldMask::CTIME);

/// A root of a walk, and where the snapshot has it.
#[derive(Clone, Debug)]
pub struct BaselineRoot {
    /// The root as the walk names it.
    pub named: PathBuf,
    /// Its path in the snapshot.
    pub stored: PathBuf,
    /// The device and the identity of the file system that it is on now.
    pub file_system: FileSystem,
}

/// What changed on the file system of the only root since the snapshot was taken, as the file system reports it.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The generation that changes were looked for from: that of the snapshot ([`generation_of`]).
    pub since: u64,
    /// The current number of the device. What is on others is compared by its times.
    pub device: u64,
    /// The inode numbers of files and directories that changed, in ascending order.
    pub inodes: Vec<u64>,
}

impl Changes {
    fn contains(&self, inode: u64) -> bool {
        self.inodes.binary_search(&inode).is_ok()
    }
}

/// Returns the generation from which on changes have to be known for a snapshot of this root; `None` if it was not stored.
pub fn generation_of(metadata: &Metadata, root: &BaselineRoot) -> Option<u64> {
    let mut systems = metadata.file_systems.iter();
    systems.find(|it| it.identity == root.file_system.identity)?.generation
}

/// What shows that a directory did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Proof {
    /// The current number of its device.
    device: u64,
    inode: u64,
    mtime: i64,
    ctime: i64,
}

impl Proof {
    fn of(attributes: &Attributes) -> Option<Self> {
        Some(Self {
            device: attributes.device()?,
            inode: attributes.inode()?,
            mtime: attributes.mtime()?,
            ctime: attributes.ctime()?,
        })
    }
}

#[derive(Debug)]
struct Directory {
    row: u32,
    /// What it was when it was listed; `None` if it cannot be reused.
    proof: Option<Proof>,
    /// The numbers of those directly in it, by name.
    children: Vec<u32>,
    /// What is known of all entries in it that are not directories.
    known: FieldMask,
}

/// A snapshot that helps to read its tree again.
///
/// Needs 15 bytes for each row, 8 more for each attribute that the walk reads, and the bytes of all names.
#[derive(Debug)]
pub struct Baseline {
    level: SinceLevel,
    roots: Vec<(BaselineRoot, Option<u32>)>,
    types: Vec<FileType>,
    attributes: StoredAttributes,
    /// The number of rows of each entry, with those below it.
    entries: Vec<u32>,
    /// The end of each name in `names`.
    ends: Vec<usize>,
    names: Vec<u8>,
    directories: Vec<Directory>,
    /// The attributes that were read, and those of them that the system reported for any entry.
    loaded: FieldMask,
    reported: FieldMask,
    /// What changed, if the file system reports it, and the stored number of its device.
    changes: Option<(Changes, u64)>,
    taken: i64,
    oldest: i64,
    inherited_directories: AtomicU64,
    inherited_entries: AtomicU64,
}

impl Baseline {
    /// Reads a snapshot for a walk from these roots, which begins at `now` (nanoseconds since 1970 UTC).
    /// `fields` are the attributes that the walk reads of entries that are not directories. If it reads
    /// others, directories are listed although they did not change. `changes` are those that the file system of the only
    /// root reports: then only they are listed or queried again, at every level.
    ///
    /// # Errors
    /// The snapshot cannot be read, or it is [unsuitable](ReadError::Unsuitable): it does not have these roots, on these file
    /// systems; it does not have all entries below them, or not the attributes that show what changed; or the clock was set
    /// back.
    pub fn new<S: ReadAt>(
        snapshot: &Snapshot<S>,
        roots: Vec<BaselineRoot>,
        level: SinceLevel,
        fields: FieldMask,
        now: i64,
        changes: Option<Changes>,
    ) -> Result<Self, ReadError> {
        let fields = match (&changes, level) {
            // Those of directories, too.
            (Some(_), _) => fields | PROOF,
            (None, SinceLevel::Names) => fields,
            // They are queried.
            (None, SinceLevel::Attributes) => FieldMask::empty(),
        };
        let taken = check(snapshot, &roots, now)?;
        let metadata = snapshot.metadata();
        let oldest = metadata.inherited.as_ref().map_or(taken, |inherited| inherited.oldest);
        // The number is a claim of the file; with more rows, the vectors grow.
        let rows = usize::try_from(snapshot.len()).unwrap_or(usize::MAX).min(MAX_RESERVED);
        let mut base = Self {
            level,
            roots: roots.into_iter().map(|root| (root, None)).collect(),
            types: Vec::with_capacity(rows),
            attributes: StoredAttributes::default(),
            entries: Vec::with_capacity(rows),
            ends: Vec::with_capacity(rows),
            names: Vec::with_capacity(rows * 16),
            directories: Vec::new(),
            loaded: (metadata.fields() | FieldMask::SIZE | FieldMask::ALLOCATED) & fields,
            reported: FieldMask::empty(),
            changes: None,
            taken,
            oldest,
            inherited_directories: AtomicU64::new(0),
            inherited_entries: AtomicU64::new(0),
        };
        base.changes = changes.and_then(|changes| {
            let stored = base.devices(snapshot);
            let (stored, _) = stored.iter().find(|(_, current)| *current == changes.device)?;
            Some((changes, *stored))
        });
        // What is inherited is as if it was queried now.
        base.oldest = if base.changes.is_some() { now } else { oldest };
        base.read(snapshot)?;
        // The rows are there: memory for them is not reserved for a claim.
        base.attributes = StoredAttributes::read(snapshot, base.loaded, base.types.len())?;
        base.find_known();
        Ok(base)
    }

    /// Returns, for the file system of each root, the stored number of its device and the current one.
    fn devices<S: ReadAt>(&self, snapshot: &Snapshot<S>) -> Vec<(u64, u64)> {
        let of = |root: &BaselineRoot| {
            let stored = snapshot.metadata().file_systems.iter();
            let mut stored = stored.filter(|it| it.identity == root.file_system.identity);
            Some((stored.next()?.device, root.file_system.device))
        };
        self.roots.iter().filter_map(|(root, _)| of(root)).collect()
    }

    fn read<S: ReadAt>(&mut self, snapshot: &Snapshot<S>) -> Result<(), ReadError> {
        let devices = self.devices(snapshot);
        let mut rows = snapshot.rows();
        // The numbers of the open directories.
        let mut open: Vec<u32> = Vec::new();
        while rows.advance(true)? {
            let row = u32::try_from(rows.row()).map_err(|_| {
                ReadError::Unsuitable("it has more than 4,294,967,295 entries".to_owned())
            })?;
            open.truncate(rows.depth() as usize);
            if rows.file_type() == FileType::Directory {
                let number = self.directories.len() as u32;
                self.directories.push(Directory {
                    row,
                    proof: self.proof(&rows, &devices),
                    children: Vec::new(),
                    known: FieldMask::all(),
                });
                if let Some(&above) = open.last() {
                    self.directories[above as usize].children.push(number);
                }
                if rows.depth() == 0 {
                    let is_it = |root: &BaselineRoot| {
                        root.stored.as_os_str().as_encoded_bytes() == rows.name()
                    };
                    let named = self.roots.iter_mut().filter(|(root, _)| is_it(root));
                    named.for_each(|(_, stored)| *stored = Some(number));
                }
                open.push(number);
            }
            self.types.push(rows.file_type());
            self.entries.push(u32::try_from(rows.entries()).unwrap_or(u32::MAX));
            self.names.extend_from_slice(rows.name());
            self.ends.push(self.names.len());
        }
        Ok(())
    }

    /// Returns what shows that the current directory did not change; `devices` are pairs of stored and
    /// current numbers.
    fn proof(&self, rows: &RowReader<'_>, devices: &[(u64, u64)]) -> Option<Proof> {
        let stored = Proof::of(&rows.attributes_of(PROOF))?;
        let (_, current) = devices.iter().find(|(device, _)| *device == stored.device)?;
        let is_current = self.changes.as_ref().is_some_and(|(changes, device)| {
            *device == stored.device && !changes.contains(stored.inode)
        });
        // A change may be that of the time of access, by the walk that made the snapshot.
        let is_settled =
            is_current || stored.mtime.max(stored.ctime) < self.taken.saturating_sub(RACY);
        (is_settled && rows.unread().is_none()).then_some(Proof { device: *current, ..stored })
    }

    /// Finds what is known of the entries of each directory.
    fn find_known(&mut self) {
        for number in 0..self.directories.len() {
            let rows = self.rows(number as u32);
            let (mut row, mut known) = (rows.start, FieldMask::all());
            while row < rows.end {
                if self.types[row as usize] != FileType::Directory {
                    known &= self.attributes.known(row);
                    self.reported |= self.attributes.known(row);
                }
                row = self.behind(row);
            }
            self.directories[number].known = known;
        }
    }

    /// Returns what was inherited until now.
    pub fn inherited(&self) -> Inherited {
        Inherited {
            level: self.level.as_str().to_owned(),
            taken: self.taken,
            oldest: match self.level {
                SinceLevel::Attributes if self.changes.is_none() => self.taken,
                _ => self.oldest,
            },
            since_generation: self.changes.as_ref().map(|(changes, _)| changes.since),
            directories: self.inherited_directories.load(Ordering::Relaxed),
            entries: self.inherited_entries.load(Ordering::Relaxed),
        }
    }

    /// Returns whether attributes of entries in directories that did not change are taken from the snapshot.
    pub(super) fn inherits_attributes(&self) -> bool {
        self.level == SinceLevel::Names || self.changes.is_some()
    }

    /// Returns the attributes that were queried for the snapshot, and that the system did not report for any entry.
    pub(super) fn never_reported(&self) -> FieldMask {
        if self.reported.is_empty() { FieldMask::empty() } else { self.loaded - self.reported }
    }

    /// Returns whether changes are reported by the file system.
    pub(super) fn knows_changes(&self) -> bool {
        self.changes.is_some()
    }

    /// Returns the attributes of a directory that is certain to be as it is in the snapshot if the directory that it is in
    /// is, with the same entries: the wanted ones that are stored.
    pub(super) fn current_directory(&self, number: u32, wanted: FieldMask) -> Option<Attributes> {
        let Directory { row, proof, .. } = self.directories[number as usize];
        let current = self.current(row, wanted & self.loaded, FieldMask::empty())?;
        proof.is_some().then_some(current)
    }

    /// Returns the attributes of an entry that is certain to be as it is in the snapshot if its directory is, with the
    /// current number of its device, if all wanted fields are stored.
    pub(super) fn current(
        &self,
        row: u32,
        wanted: FieldMask,
        opportunistic: FieldMask,
    ) -> Option<Attributes> {
        let (changes, device) = self.changes.as_ref()?;
        let mut attributes = self.attributes(row, wanted | opportunistic | FieldMask::FILE_ID);
        let is_current = attributes.device() == Some(*device)
            && attributes.inode().is_some_and(|inode| !changes.contains(inode));
        if !is_current {
            return None;
        }
        attributes.set_device(changes.device);
        let is_complete = attributes.known().contains(wanted & self.reported);
        (is_complete && self.loaded.contains(wanted)).then_some(attributes)
    }

    /// Counts entries of a directory as inherited, and the directory with the first of them.
    pub(super) fn count(&self, is_first: bool, entries: u64) {
        self.inherited_directories.fetch_add(is_first.into(), Ordering::Relaxed);
        self.inherited_entries.fetch_add(entries, Ordering::Relaxed);
    }

    pub(super) fn root(&self, named: &Path) -> Option<u32> {
        self.roots.iter().find(|(root, _)| root.named == named).and_then(|(_, number)| *number)
    }

    /// Returns a directory directly in another one.
    pub(super) fn child(&self, of: u32, name: &OsStr) -> Option<u32> {
        let children = &self.directories[of as usize].children;
        let name_of = |&number: &u32| self.bytes(self.directories[number as usize].row);
        let place =
            children.binary_search_by(|number| name_of(number).cmp(name.as_encoded_bytes()));
        place.ok().map(|place| children[place])
    }

    /// Returns whether a directory may be reused if it did not change.
    pub(super) fn is_reusable(&self, number: u32) -> bool {
        self.directories[number as usize].proof.is_some()
    }

    /// Returns whether a directory, with these attributes, is the same as in the snapshot, and has the same
    /// entries.
    pub(super) fn is_same(&self, number: u32, now: &Attributes) -> bool {
        let stored = self.directories[number as usize].proof;
        now.file_type() == FileType::Directory && stored.is_some() && Proof::of(now) == stored
    }

    /// Returns whether these fields of all entries in a directory that are not directories are known, or
    /// unknown on this system.
    pub(super) fn knows(&self, number: u32, fields: FieldMask) -> bool {
        let known = self.directories[number as usize].known;
        self.loaded.contains(fields) && known.contains(fields & self.reported)
    }

    /// Returns the first row in a directory, and the row behind its last one.
    pub(super) fn rows(&self, number: u32) -> Range<u32> {
        let row = self.directories[number as usize].row;
        row + 1..row.saturating_add(self.entries[row as usize])
    }

    /// Returns the row behind an entry and everything below it.
    pub(super) fn behind(&self, row: u32) -> u32 {
        row.saturating_add(self.entries[row as usize])
    }

    pub(super) fn name(&self, row: u32) -> Cow<'_, OsStr> {
        let name = self.bytes(row);
        #[cfg(unix)]
        return Cow::Borrowed(std::os::unix::ffi::OsStrExt::from_bytes(name));
        #[cfg(not(unix))]
        Cow::Owned(transect_sys::name_from_bytes(name.to_vec()))
    }

    fn bytes(&self, row: u32) -> &[u8] {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.names[begin..self.ends[row as usize]]
    }

    pub(super) fn file_type(&self, row: u32) -> FileType {
        self.types[row as usize]
    }

    /// Returns the attributes of an entry that is not a directory, as far as they are `wanted`.
    pub(super) fn attributes(&self, row: u32, wanted: FieldMask) -> Attributes {
        self.attributes.get(row, self.file_type(row), wanted)
    }
}

/// Checks that a snapshot can prove what did not change, and returns when it was taken.
fn check<S: ReadAt>(
    snapshot: &Snapshot<S>,
    roots: &[BaselineRoot],
    now: i64,
) -> Result<i64, ReadError> {
    let metadata = snapshot.metadata();
    let unsuitable = |reason: String| Err(ReadError::Unsuitable(reason));
    let missing = PROOF - snapshot.metadata().fields();
    if !missing.is_empty() {
        return unsuitable(
            "it lacks ctime, which shows what changed; store it with --all-times".to_owned(),
        );
    }
    match metadata.scope {
        None => return unsuitable("it does not record which entries were looked for".to_owned()),
        Some(scope) if scope.filtered || scope.follow => {
            return unsuitable("it was stored with filters, or links were followed".to_owned());
        }
        Some(_) => {}
    }
    let Some(taken) = metadata.started else {
        return unsuitable("it does not record when it was taken".to_owned());
    };
    if taken > now || metadata.ended.is_some_and(|ended| ended < taken) {
        return unsuitable("the clock was set back since it was taken".to_owned());
    }
    for root in roots {
        let stored = root.stored.to_string_lossy();
        if !metadata.roots.iter().any(|it| *it == stored) {
            let of = metadata.roots.join("', '");
            return unsuitable(format!("it is a snapshot of '{of}', not of '{stored}'"));
        }
        if !metadata.file_systems.iter().any(|it| it.identity == root.file_system.identity) {
            return unsuitable(format!("'{stored}' was on another file system"));
        }
    }
    Ok(taken)
}
