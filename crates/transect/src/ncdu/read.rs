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
    name: Option<Vec<u8>>,
    asize: Option<u64>,
    dsize: Option<u64>,
    dev: Option<u64>,
    ino: Option<u64>,
    hlnkc: Option<bool>,
    nlink: Option<u64>,
    notreg: Option<bool>,
    read_error: Option<bool>,
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
        loop {
            json.peek()?;
            let key_offset = json.offset();
            let key = json.string()?;
            json.expect(b':')?;
            let is_second = match key.as_slice() {
                b"name" => item.name.replace(json.string()?).is_some(),
                b"asize" => item.asize.replace(json.number()?).is_some(),
                b"dsize" => item.dsize.replace(json.number()?).is_some(),
                b"dev" => item.dev.replace(json.number()?).is_some(),
                b"ino" => item.ino.replace(json.number()?).is_some(),
                b"hlnkc" => item.hlnkc.replace(json.boolean()?).is_some(),
                b"nlink" => item.nlink.replace(json.number()?).is_some(),
                b"notreg" => item.notreg.replace(json.boolean()?).is_some(),
                b"read_error" => item.read_error.replace(json.boolean()?).is_some(),
                b"excluded" => item.excluded.replace(json.string()?).is_some(),
                b"uid" => item.uid.replace(json.number()?).is_some(),
                b"gid" => item.gid.replace(json.number()?).is_some(),
                b"mode" => item.mode.replace(json.number()?).is_some(),
                b"mtime" => item.mtime.replace(json.time()?).is_some(),
                // Ignored, and not remembered: any number of them takes no memory.
                _ => json.skip_value().map(|()| false)?,
            };
            if is_second {
                let what = format!("a second \"{}\" of the same entry", key.escape_ascii());
                return Err(Error::Format { offset: key_offset, what });
            }
            if !json.accept(b',')? {
                break;
            }
        }
        json.expect(b'}')?;
        if item.name().is_empty() || item.name().contains(&0) {
            let what = "an entry without a name, or with one that no system allows".to_owned();
            return Err(Error::Format { offset, what });
        }
        Ok(item)
    }

    fn name(&self) -> &[u8] {
        self.name.as_deref().unwrap_or_default()
    }

    /// Returns the attributes of the entry. Numbers out of range are unknown.
    fn attributes(&self, directory: bool, device: u64) -> Attributes {
        let mode = self.mode.and_then(|mode| u16::try_from(mode).ok());
        let mut attributes = Attributes::of_type(match mode {
            _ if directory => FileType::Directory,
            _ if self.notreg != Some(true) => FileType::File,
            Some(mode) => FileType::from_mode(mode.into()),
            None => FileType::Unknown,
        });
        attributes.set_size(self.asize.unwrap_or(0));
        attributes.set_allocated(self.dsize.unwrap_or(0));
        attributes.set_device(device);
        attributes.set_known(Attributes::set_inode, self.ino);
        let narrow = |number: Option<u64>| number.and_then(|number| u32::try_from(number).ok());
        // ncdu sign-extends ids from 2^31 on and writes them as unsigned 64-bit numbers.
        let owner_id = |id: Option<u64>| {
            narrow(id).or_else(|| Some(i32::try_from(id? as i64).ok()?.cast_unsigned()))
        };
        match narrow(self.nlink) {
            Some(names) => attributes.set_nlink(names),
            None if self.hlnkc != Some(true) => attributes.set_nlink(1),
            None => {}
        }
        attributes.set_known(Attributes::set_mode, mode);
        attributes.set_known(Attributes::set_uid, owner_id(self.uid));
        attributes.set_known(Attributes::set_gid, owner_id(self.gid));
        attributes.set_known(Attributes::set_mtime, self.mtime);
        attributes
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
        self.table.enter(&name_from_bytes(item.name().to_vec()), &item.attributes(true, device));
        self.devices.push(device);
        if item.read_error == Some(true) {
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
                let name = name_from_bytes(item.name().to_vec());
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
        self.table.enter(&name_from_bytes(item.name().to_vec()), &item.attributes(true, device));
        self.table.skip_directory(boundary);
        self.table.leave().expect("BUG: nothing is in a directory that was not read");
        Ok(())
    }

    fn item<R: BufRead>(&mut self, json: &mut JsonReader<R>) -> Result<Item, Error> {
        let offset = json.offset();
        let item = Item::read(json)?;
        // A root is named by a path; below it, a path would lead out of the directory.
        let wrong = match item.name() {
            _ if self.table.depth() == 0 => return Ok(item),
            b"." | b".." => "a name that is not valid: '.' or '..'",
            name if name.contains(&b'/') => "a name that contains a '/'",
            _ => return Ok(item),
        };
        Err(Error::Format { offset, what: wrong.to_owned() })
    }
}
