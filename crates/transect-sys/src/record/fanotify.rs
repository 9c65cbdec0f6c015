//! The records of fanotify that name a directory and an entry in it.
//!
//! ```text
//!  0        6           8     24 = metadata length
//!  +------+--+----------+----+---------------------------------------+----
//!  |length|  |metadata  |mask|  kind, length, fsid, file handle, name|more
//!  |      |  |    length|    |    1        2     8     8 + n      NUL |
//!  +------+--+----------+----+---------------------------------------+----
//! ```
//! (`struct fanotify_event_metadata`, `fanotify_event_info_fid` and `file_handle`: `include/uapi/linux/fanotify.h`,
//! `fanotify(7)`. Native byte order; the first length includes what follows the metadata.)

/// The kinds of records that a queue with `FAN_REPORT_DFID_NAME` contains.
const DIRECTORY_AND_NAME: u8 = 2;
const DIRECTORY: u8 = 3;

/// What identifies a directory in its file system, and no later one: `struct file_handle`. Those of ext4, XFS, Btrfs, tmpfs
/// and F2FS take at most 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    length: u8,
    kind: u8,
    bytes: [u8; Self::MAX],
}

impl Handle {
    /// The longest handle.
    pub const MAX: usize = 22;

    /// The length and the kind (`FILEID_INO32_GEN`) of a handle that is a number.
    #[cfg(target_os = "linux")]
    const SHORT: (u8, u8) = (8, 1);

    /// The length of its bytes in messages.
    #[cfg(target_os = "linux")]
    pub(crate) const LENGTH: usize = Self::MAX + 2;

    /// Returns a handle of these bytes, unless it is too long or of an unknown kind.
    pub fn new(kind: i32, bytes: &[u8]) -> Option<Self> {
        let mut all = [0; Self::MAX];
        all.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self { length: bytes.len() as u8, kind: u8::try_from(kind).ok()?, bytes: all })
    }

    /// Returns the handle as a number, if it is an inode number and a generation of 32 bits each, as those of ext4.
    #[cfg(target_os = "linux")]
    pub(crate) fn number(&self) -> Option<usize> {
        let number = self.bytes.first_chunk().copied().map(u64::from_ne_bytes);
        let number = number.filter(|_| (self.length, self.kind) == Self::SHORT);
        number.and_then(|number| usize::try_from(number).ok())
    }

    /// Returns the handle that has this number.
    #[cfg(target_os = "linux")]
    pub(crate) fn from_number(number: usize) -> Self {
        let (mut bytes, (length, kind)) = ([0; Self::MAX], Self::SHORT);
        bytes[..8].copy_from_slice(&(number as u64).to_ne_bytes());
        Self { length, kind, bytes }
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn to_bytes(self) -> [u8; Self::LENGTH] {
        let mut all = [0; Self::LENGTH];
        [all[0], all[1]] = [self.length, self.kind];
        all[2..].copy_from_slice(&self.bytes);
        all
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn from_bytes([length, kind, bytes @ ..]: [u8; Self::LENGTH]) -> Self {
        Self { length, kind, bytes }
    }
}

/// An entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The directory.
    pub directory: Handle,
    /// The name of the entry; without one, the directory itself.
    pub name: Option<&'a [u8]>,
}

/// Something happened to an entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// What happened (`FAN_…`).
    pub mask: u64,
    /// Where it happened. `None` if the record names no directory, or one whose handle is too long to be known.
    pub place: Option<Place<'a>>,
    /// The whole record.
    pub record: &'a [u8],
}

impl Event<'_> {
    /// Returns whether the directory is removed.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_of_removed_directory(&self) -> bool {
        let is_itself = self.place.is_some_and(|place| place.name.is_none());
        is_itself && self.mask & libc::FAN_DELETE_SELF != 0
    }
}

/// Iterates over the events in a buffer.
///
/// A record that exceeds the buffer or is cut off ends the iteration with an `Err` that describes the problem.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    rest: &'a [u8],
}

impl<'a> Events<'a> {
    /// The length of the metadata. The kernel may make it longer.
    const HEADER: usize = 24;

    /// Returns the events in a buffer that one call filled.
    pub fn new(buffer: &'a [u8]) -> Self {
        Self { rest: buffer }
    }

    fn event(&mut self) -> Option<Event<'a>> {
        let length = u32_at(self.rest, 0)? as usize;
        let (record, rest) = self.rest.split_at_checked(length.max(Self::HEADER))?;
        let mask = u64::from_ne_bytes(*record.get(8..)?.first_chunk()?);
        let mut place = None;
        let mut more = record.get(usize::from(u16_at(record, 6)?).max(Self::HEADER)..)?;
        while !more.is_empty() {
            let (info, rest) = more.split_at_checked(usize::from(u16_at(more, 2)?).max(4))?;
            if matches!(info[0], DIRECTORY | DIRECTORY_AND_NAME) {
                place = place_in(info)?;
            }
            more = rest;
        }
        self.rest = rest;
        Some(Event { mask, place, record })
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let event = self.event();
        if event.is_none() {
            self.rest = &[];
        }
        Some(event.ok_or("a fanotify record is cut off"))
    }
}

/// Parses a handle and a name. The outer `None` means that they are cut off.
fn place_in(info: &[u8]) -> Option<Option<Place<'_>>> {
    let (length, kind) = (u32_at(info, 12)? as usize, u32_at(info, 16)?);
    let (bytes, name) = info.get(20..)?.split_at_checked(length)?;
    let name = match info[0] {
        DIRECTORY_AND_NAME => Some(name.split(|&byte| byte == 0).next()?),
        _ => None,
    };
    let name = name.filter(|&name| !matches!(name, b"" | b"."));
    Some(Handle::new(kind as i32, bytes).map(|directory| Place { directory, name }))
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    bytes.get(offset..)?.first_chunk().copied().map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    bytes.get(offset..)?.first_chunk().copied().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a record as the kernel writes it.
    fn record(mask: u64, info_kind: u8, kind: i32, handle: &[u8], name: &[u8]) -> Vec<u8> {
        let info_length = (20 + handle.len() + name.len() + 1).next_multiple_of(4);
        let mut bytes = ((24 + info_length) as u32).to_ne_bytes().to_vec();
        bytes.extend([3, 0]);
        bytes.extend(24_u16.to_ne_bytes());
        bytes.extend(mask.to_ne_bytes());
        bytes.extend([0xff; 8]);
        bytes.extend([info_kind, 0]);
        bytes.extend((info_length as u16).to_ne_bytes());
        bytes.extend([7; 8]);
        bytes.extend((handle.len() as u32).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(handle);
        bytes.extend(name);
        bytes.resize(24 + info_length, 0);
        bytes
    }

    #[test]
    fn fanotify_cut_off_record_refused() {
        let whole = record(2, DIRECTORY_AND_NAME, 1, b"12345678", b"name");
        for length in 1..whole.len() {
            let events: Vec<_> = Events::new(&whole[..length]).collect();
            assert_eq!(events, [Err("a fanotify record is cut off")], "{length}");
        }
        // The handle claims to be longer than the record.
        let mut long = whole.clone();
        long[36..40].copy_from_slice(&1000_u32.to_ne_bytes());
        assert!(Events::new(&long).next().is_some_and(|event| event.is_err()));
    }

    #[test]
    fn fanotify_event_of_the_directory_itself_has_no_name() {
        let handle = Handle::new(1, b"1234").unwrap();
        for (info_kind, name) in [(DIRECTORY_AND_NAME, &b"."[..]), (DIRECTORY, b"")] {
            let bytes = record(4, info_kind, 1, b"1234", name);
            let event = Events::new(&bytes).next().unwrap().unwrap();
            assert_eq!(event.place, Some(Place { directory: handle, name: None }));
        }
        let long = record(4, DIRECTORY_AND_NAME, 1, &[1; 60], b"name");
        assert_eq!(Events::new(&long).next().unwrap().unwrap().place, None);
    }

    proptest! {
        #[test]
        fn fanotify_records_decoded(
            all in prop::collection::vec((any::<u64>(), 0..256, "[a-z]{2,40}", "[ -~]{0,22}"), 0..9),
        ) {
            let bytes: Vec<u8> = all
                .iter()
                .flat_map(|(mask, kind, name, handle)| {
                    record(*mask, DIRECTORY_AND_NAME, *kind, handle.as_bytes(), name.as_bytes())
                })
                .collect();
            let events: Vec<_> = Events::new(&bytes).map(Result::unwrap).collect();
            prop_assert_eq!(events.len(), all.len());
            for (event, (mask, kind, name, handle)) in events.iter().zip(&all) {
                let directory = Handle::new(*kind, handle.as_bytes()).unwrap();
                prop_assert_eq!(event.mask, *mask);
                prop_assert_eq!(event.place, Some(Place { directory, name: Some(name.as_bytes()) }));
            }
            prop_assert_eq!(events.iter().flat_map(|event| event.record).count(), bytes.len());
        }

        #[test]
        fn fanotify_any_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let events: Vec<_> = Events::new(&bytes).collect();
            prop_assert!(events.iter().rev().skip(1).all(Result::is_ok));
        }
    }
}
