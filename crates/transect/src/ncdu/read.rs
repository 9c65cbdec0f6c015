//! Reads an export into a table.

use std::io::{self, BufRead};

use transect_sys::{Attributes, FieldMask, FileType, name_from_bytes};

use super::Error;
use super::json::JsonReader;
use crate::sink::SkipReason;
use crate::table::{Table, TableImporter};

/// The first byte of a binary export of ncdu 2.6 and later (dev.yorhel.nl/ncdu/binfmt).
const BINARY_START: u8 = 0xbf;

/// Reads an export into a table with these columns, besides names, types and both sizes.
///
/// The input is not trusted. Memory grows only with the number of entries and the lengths of their
/// names; nesting may be arbitrarily deep. Names that lead elsewhere (`.`, `..`, paths) and entries
/// with a duplicate key are rejected.
///
/// Some attributes are not in every export: without the mode, the type of an entry that is neither
/// a file nor a directory is unknown; without `nlink`, so is the number of names of a file.
///
/// # Errors
/// I/O errors, and the offset of the first byte that is not valid: the first one of a binary export.
pub fn read(input: impl BufRead, columns: FieldMask) -> Result<Table, Error> {
    let mut json = JsonReader::new(input);
    if json.peek()? == Some(BINARY_START) {
        return json.error("a binary export (ncdu -O); only those in JSON (ncdu -o) are known");
    }
    json.expect(b'[')?;
    let version = json.number()?;
    if version != 1 {
        return json.error(format!("an export of version {version}; only 1 is known"));
    }
    json.expect(b',')?;
    json.number()?;
    json.expect(b',')?;
    json.skip_value()?;
    json.expect(b',')?;

    // The two columns that identify hard links are not needed in the table.
    let mut importer = Importer { table: TableImporter::new(columns), devices: Vec::new() };
    json.expect(b'[')?;
    importer.enter(&mut json)?;
    while importer.table.depth() > 0 {
        if json.accept(b']')? {
            importer.leave(&json)?;
            continue;
        }
        json.expect(b',')?;
        match json.accept(b'[')? {
            true => importer.enter(&mut json)?,
            false => importer.entry(&mut json)?,
        }
    }
    while json.accept(b',')? {
        // Later versions may append values.
        json.skip_value()?;
    }
    json.expect(b']')?;
    if json.peek()?.is_some() {
        return json.error("there is more behind the end");
    }
    importer.table.finish().map_err(Error::Table)
}

/// An entry as written in an export.
#[derive(Default)]
struct Item {
    name: Vec<u8>,
    asize: u64,
    dsize: u64,
    dev: Option<u64>,
    ino: Option<u64>,
    hlnkc: bool,
    nlink: Option<u64>,
    notreg: bool,
    read_error: bool,
    excluded: Option<Vec<u8>>,
    uid: Option<u64>,
    gid: Option<u64>,
    mode: Option<u64>,
    mtime: Option<i64>,
}

impl Item {
    fn read<R: BufRead>(json: &mut JsonReader<R>) -> Result<Self, Error> {
        let mut item = Self::default();
        json.expect(b'{')?;
        let offset = json.offset();
        let mut keys = Keys::default();
        loop {
            json.peek()?;
            let key_offset = json.offset();
            let key = json.string()?;
            if !keys.add(&key) {
                let what = format!("a second \"{}\" of the same entry", key.escape_ascii());
                return Err(Error::Format { offset: key_offset, what });
            }
            json.expect(b':')?;
            match key.as_slice() {
                b"name" => item.name = json.string()?,
                b"asize" => item.asize = json.number()?,
                b"dsize" => item.dsize = json.number()?,
                b"dev" => item.dev = Some(json.number()?),
                b"ino" => item.ino = Some(json.number()?),
                b"hlnkc" => item.hlnkc = json.boolean()?,
                b"nlink" => item.nlink = Some(json.number()?),
                b"notreg" => item.notreg = json.boolean()?,
                b"read_error" => item.read_error = json.boolean()?,
                b"excluded" => item.excluded = Some(json.string()?),
                b"uid" => item.uid = Some(json.number()?),
                b"gid" => item.gid = Some(json.number()?),
                b"mode" => item.mode = Some(json.number()?),
                b"mtime" => item.mtime = Some(json.time()?),
                _ => json.skip_value()?,
            }
            if !json.accept(b',')? {
                break;
            }
        }
        json.expect(b'}')?;
        if item.name.is_empty() || item.name.contains(&0) {
            let what = "an entry without a name, or with one that no system allows".to_owned();
            return Err(Error::Format { offset, what });
        }
        Ok(item)
    }

    /// Returns the attributes of the entry. Numbers out of range are unknown.
    fn attributes(&self, directory: bool, device: u64) -> Attributes {
        let mode = self.mode.and_then(|mode| u16::try_from(mode).ok());
        let mut attributes = Attributes::of_type(match mode {
            _ if directory => FileType::Directory,
            _ if !self.notreg => FileType::File,
            Some(mode) => FileType::from_mode(mode.into()),
            None => FileType::Unknown,
        });
        attributes.set_size(self.asize);
        attributes.set_allocated(self.dsize);
        attributes.set_device(device);
        if let Some(ino) = self.ino {
            attributes.set_inode(ino);
        }
        let narrow = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
        // ncdu sign-extends ids from 2^31 on and writes them as unsigned 64-bit numbers.
        let owner_id = |id: Option<u64>| {
            narrow(id).or_else(|| Some(i32::try_from(id? as i64).ok()?.cast_unsigned()))
        };
        match narrow(self.nlink) {
            Some(names) => attributes.set_nlink(names),
            None if !self.hlnkc => attributes.set_nlink(1),
            None => {}
        }
        if let Some(mode) = mode {
            attributes.set_mode(mode);
        }
        if let Some(uid) = owner_id(self.uid) {
            attributes.set_uid(uid);
        }
        if let Some(gid) = owner_id(self.gid) {
            attributes.set_gid(gid);
        }
        if let Some(mtime) = self.mtime {
            attributes.set_mtime(mtime);
        }
        attributes
    }
}

/// The keys that an object has had. Only known keys are remembered; others are ignored, and take no
/// memory.
#[derive(Default)]
struct Keys(u16);

impl Keys {
    const KNOWN: [&[u8]; 14] = [
        b"name",
        b"asize",
        b"dsize",
        b"dev",
        b"ino",
        b"hlnkc",
        b"nlink",
        b"notreg",
        b"read_error",
        b"excluded",
        b"uid",
        b"gid",
        b"mode",
        b"mtime",
    ];

    /// Returns false if the key is known and a duplicate.
    fn add(&mut self, key: &[u8]) -> bool {
        let Some(index) = Self::KNOWN.iter().position(|known| *known == key) else { return true };
        let new = self.0 & (1 << index) == 0;
        self.0 |= 1 << index;
        new
    }
}

/// A tree being read into a table.
struct Importer {
    table: TableImporter,
    /// The devices of the directories entered: an export gives a device only where it changes.
    devices: Vec<u64>,
}

impl Importer {
    fn enter<R: BufRead>(&mut self, json: &mut JsonReader<R>) -> Result<(), Error> {
        let item = self.item(json)?;
        let device = item.dev.or(self.devices.last().copied()).unwrap_or(0);
        self.table.enter(&name_from_bytes(item.name.clone()), &item.attributes(true, device));
        self.devices.push(device);
        if item.read_error {
            self.table
                .fail_directory(io::Error::other("it could not be read when this was exported"));
        }
        Ok(())
    }

    fn leave<R: BufRead>(&mut self, json: &JsonReader<R>) -> Result<(), Error> {
        self.devices.pop();
        self.table.leave().or_else(|name| {
            json.error(format!("two entries of this directory are called '{}'", name.display()))
        })
    }

    fn entry<R: BufRead>(&mut self, json: &mut JsonReader<R>) -> Result<(), Error> {
        let item = self.item(json)?;
        let device = item.dev.or(self.devices.last().copied()).unwrap_or(0);
        let boundary = match item.excluded.as_deref() {
            None => {
                let name = name_from_bytes(item.name.clone());
                self.table.add_entry(&name, &item.attributes(false, device));
                return Ok(());
            }
            Some(b"otherfs" | b"othfs") => SkipReason::MountBoundary,
            Some(b"kernfs") => SkipReason::PseudoFileSystem,
            Some(_) => {
                self.table.count_skipped(SkipReason::Excluded);
                return Ok(());
            }
        };
        self.table.enter(&name_from_bytes(item.name.clone()), &item.attributes(true, device));
        self.table.skip_directory(boundary);
        self.table.leave().expect("BUG: nothing is in a directory that was not read");
        Ok(())
    }

    fn item<R: BufRead>(&mut self, json: &mut JsonReader<R>) -> Result<Item, Error> {
        let offset = json.offset();
        let item = Item::read(json)?;
        // A root is named by a path; below it, a path would lead out of the directory.
        let wrong = match item.name.as_slice() {
            _ if self.table.depth() == 0 => return Ok(item),
            b"." | b".." => "a name that is not valid: '.' or '..'",
            name if name.contains(&b'/') => "a name that contains a '/'",
            _ => return Ok(item),
        };
        Err(Error::Format { offset, what: wrong.to_owned() })
    }
}
