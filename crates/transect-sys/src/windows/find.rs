//! Readers by path: `FindFirstFile` in all its forms.
//!
//! Most programs use these calls, so they are the baseline for the other readers. Every directory
//! is found by its whole path. A record has sizes and times, but neither allocated size nor file
//! id: those need an open handle per file.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};
use std::ptr::null;

use windows_sys::Win32::Foundation::{
    ERROR_FILE_NOT_FOUND, ERROR_NO_MORE_FILES, FILETIME, HANDLE, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_REPARSE_POINT, FIND_FIRST_EX_LARGE_FETCH, FindClose, FindExInfoBasic,
    FindExInfoStandard, FindExSearchNameMatch, FindFirstFileExW, FindFirstFileW, FindNextFileW,
    GetFileAttributesExW, GetFileExInfoStandard, WIN32_FILE_ATTRIBUTE_DATA, WIN32_FIND_DATAW,
};

use super::fill::fill;
use super::handle_reader::stat_root;
use super::open::{Purpose, open_path};
use super::path;
use super::query_attributes::{attributes_at, attributes_of, device_of, known_device, set_times};
use super::status::{done, fault_of_entry};
use crate::attributes::{Attributes, FieldMask, FileType};
use crate::batch::Batch;
use crate::fault::{Fault, Result};
use crate::reader::{ListStatus, Reader, Want};
use crate::volume::Volume;

/// The calls for listing and for attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindCall {
    /// `FindFirstFile`.
    Plain,
    /// `FindFirstFileEx`.
    Ex {
        /// Level Basic, without the 8.3 name; otherwise level Standard.
        basic: bool,
        /// `FIND_FIRST_EX_LARGE_FETCH`: a larger buffer for each request to the device.
        large: bool,
    },
    /// `FindFirstFile` for the names only, and `GetFileAttributesEx` for every file.
    AttributesEx,
}

/// A directory, identified by its verbatim path.
#[derive(Debug)]
pub struct FindHandle {
    path: Vec<u16>,
    volume: Volume,
}

/// Lists with a variant of `FindFirstFile`, always by path.
#[derive(Debug)]
pub struct FindReader {
    call: FindCall,
    /// The search in the current directory, until its end.
    search: Option<Search>,
}

impl FindReader {
    /// Returns a reader that lists with `call`.
    pub fn new(call: FindCall) -> Self {
        Self { call, search: None }
    }

    fn start(&mut self, path: Vec<u16>, volume: Volume) -> io::Result<FindHandle> {
        self.search = None;
        self.search = Some(Search::begin(self.call, &path)?);
        Ok(FindHandle { path, volume })
    }

    /// Queries an entry by its path.
    fn query(
        &self,
        handle: &FindHandle,
        name: &OsStr,
        want: FieldMask,
        follow: bool,
    ) -> io::Result<Attributes> {
        let mut path = handle.path.clone();
        path::push_component(&mut path, name)?;
        if self.call != FindCall::AttributesEx || follow {
            return attributes_at(&path, want, handle.volume.device, follow);
        }
        let mut attributes = attributes_ex(&mut path)?;
        let rest = want - attributes.known();
        if !rest.is_empty() {
            attributes = attributes_at(&path, want, handle.volume.device, false)?;
        }
        Ok(attributes)
    }
}

/// An open search, and a record that was already returned.
#[derive(Debug)]
struct Search {
    handle: HANDLE,
    pending: Option<Box<Found>>,
}

// SAFETY: a search handle is a number that any thread may use; only one uses it at a time.
unsafe impl Send for Search {}

impl Drop for Search {
    fn drop(&mut self) {
        if self.handle != INVALID_HANDLE_VALUE {
            // SAFETY: the search is open, and nothing uses it after this call.
            unsafe { FindClose(self.handle) };
        }
    }
}

impl Search {
    /// Starts listing the directory at a verbatim path.
    fn begin(call: FindCall, directory: &[u16]) -> io::Result<Self> {
        let mut pattern = directory.to_vec();
        path::append(&mut pattern, OsStr::new("*"));
        match Self::first(call, &mut pattern) {
            Ok(search) => Ok(search),
            // The root of a volume has no `.`, so nothing matches if it is empty.
            Err(error) if error.raw_os_error() == Some(ERROR_FILE_NOT_FOUND as i32) => {
                Ok(Self { handle: INVALID_HANDLE_VALUE, pending: None })
            }
            Err(error) => Err(error),
        }
    }

    /// Starts a search for `pattern`, to which it appends a NUL.
    fn first(call: FindCall, pattern: &mut Vec<u16>) -> io::Result<Self> {
        pattern.push(0);
        let mut data = WIN32_FIND_DATAW::default();
        // SAFETY: the pattern ends in a NUL, the record is ours to write, no filter is given.
        let handle = unsafe {
            match call {
                FindCall::Plain | FindCall::AttributesEx => {
                    FindFirstFileW(pattern.as_ptr(), &mut data)
                }
                FindCall::Ex { basic, large } => FindFirstFileExW(
                    pattern.as_ptr(),
                    if basic { FindExInfoBasic } else { FindExInfoStandard },
                    (&raw mut data).cast(),
                    FindExSearchNameMatch,
                    null(),
                    if large { FIND_FIRST_EX_LARGE_FETCH } else { 0 },
                ),
            }
        };
        if handle == INVALID_HANDLE_VALUE {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { handle, pending: Some(Box::new(Found(data))) })
    }

    /// Returns the next record; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Box<Found>>> {
        if let Some(found) = self.pending.take() {
            return Ok(Some(found));
        }
        if self.handle == INVALID_HANDLE_VALUE {
            return Ok(None);
        }
        let mut found = Box::new(Found(WIN32_FIND_DATAW::default()));
        // SAFETY: the search is open, and the record is ours to write.
        if unsafe { FindNextFileW(self.handle, &mut found.0) } != 0 {
            return Ok(Some(found));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() == Some(ERROR_NO_MORE_FILES as i32) {
            true => Ok(None),
            false => Err(error),
        }
    }
}

/// What a search returns for one name.
struct Found(WIN32_FIND_DATAW);

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Found").field(&OsString::from_wide(self.name())).finish()
    }
}

impl Found {
    fn name(&self) -> &[u16] {
        until_nul(&self.0.cFileName)
    }

    fn short_name(&self) -> &[u16] {
        until_nul(&self.0.cAlternateFileName)
    }

    fn file_type(&self) -> FileType {
        FileType::from_attributes(self.0.dwFileAttributes, self.0.dwReserved0)
    }

    fn attributes(&self) -> Attributes {
        let data = &self.0;
        let is_reparse_point = data.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT != 0;
        let tag = if is_reparse_point { data.dwReserved0 } else { 0 };
        let size = joined(data.nFileSizeHigh, data.nFileSizeLow);
        let times = [data.ftCreationTime, data.ftLastAccessTime, data.ftLastWriteTime];
        let mut attributes = found_attributes(data.dwFileAttributes, tag, size, times);
        attributes.set_reparse_tag(tag);
        attributes
    }
}

fn until_nul(units: &[u16]) -> &[u16] {
    let end = units.iter().position(|&unit| unit == 0).unwrap_or(units.len());
    &units[..end]
}

fn joined(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Returns the attributes that both kinds of records have. `tag` decides the type only.
fn found_attributes(bits: u32, tag: u32, size: u64, times: [FILETIME; 3]) -> Attributes {
    let mut attributes = Attributes::of_type(FileType::from_attributes(bits, tag));
    attributes.set_attribute_bits(bits);
    attributes.set_size(size);
    let [created, accessed, written] =
        times.map(|time| joined(time.dwHighDateTime, time.dwLowDateTime) as i64);
    // There is no time of attribute changes: 0 means absent.
    set_times(&mut attributes, [created, accessed, written, 0]);
    attributes
}

/// Calls `GetFileAttributesEx`. The path has a NUL during the call.
fn attributes_ex(path: &mut Vec<u16>) -> io::Result<Attributes> {
    let mut data = WIN32_FILE_ATTRIBUTE_DATA::default();
    path.push(0);
    // SAFETY: the path ends in a NUL, and the class writes the structure, which is ours.
    let answer = done(unsafe {
        GetFileAttributesExW(path.as_ptr(), GetFileExInfoStandard, (&raw mut data).cast())
    });
    path.pop();
    answer?;
    let size = joined(data.nFileSizeHigh, data.nFileSizeLow);
    let times = [data.ftCreationTime, data.ftLastAccessTime, data.ftLastWriteTime];
    Ok(found_attributes(data.dwFileAttributes, 0, size, times))
}

/// Returns the record of a path.
fn find(path: &Path) -> io::Result<Box<Found>> {
    let mut pattern = path::units(path)?;
    let mut search = Search::first(FindCall::Ex { basic: true, large: false }, &mut pattern)?;
    search.next()?.ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Returns the type of a path, as its directory lists it.
pub(crate) fn listed_type(path: &Path) -> io::Result<FileType> {
    Ok(find(path)?.file_type())
}

/// Returns the last name of a path, as its directory stores it.
pub(crate) fn stored_name(path: &Path) -> Option<OsString> {
    // If the name is a pattern, the search would return another entry.
    let name = path.file_name()?;
    let pattern = name.as_encoded_bytes().iter().any(|byte| b"*?<>\"".contains(byte));
    let found = if pattern { None } else { find(path).ok() };
    Some(found.map_or_else(|| name.to_owned(), |found| OsString::from_wide(found.name())))
}

impl Reader for FindReader {
    type Handle = FindHandle;

    fn stat_root(&mut self, path: &Path, want: FieldMask, follow: bool) -> Result<Attributes> {
        stat_root(path, want, follow)
    }

    fn open_root(&mut self, path: &Path, _follow: bool) -> Result<FindHandle> {
        let units = path::units(path).map_err(Fault::Failed)?;
        let volume = volume_at(&units).map_err(Fault::Failed)?;
        self.start(units, volume).map_err(Fault::Failed)
    }

    fn open(&mut self, anchor: &FindHandle, steps: &[&OsStr], follow: bool) -> Result<FindHandle> {
        let mut path = anchor.path.clone();
        for step in steps {
            path::push_component(&mut path, step).map_err(Fault::Failed)?;
        }
        let mut volume = anchor.volume;
        if follow {
            volume = volume_at(&path).map_err(fault_of_entry)?;
        } else if !is_still_directory(&mut path).map_err(fault_of_entry)? {
            // The path may now be a link, which listing it would follow.
            return Err(Fault::Vanished);
        }
        self.start(path, volume).map_err(fault_of_entry)
    }

    fn stat_open(&mut self, handle: &mut FindHandle, want: FieldMask) -> Result<Attributes> {
        if let Some(known) = known_device(handle.volume, want) {
            return Ok(known);
        }
        let open =
            open_path(&handle.path, Purpose::ReadAttributes, true).map_err(fault_of_entry)?;
        attributes_of(open.as_handle(), want, handle.volume.device).map_err(Fault::Failed)
    }

    fn stat(
        &mut self,
        anchor: &FindHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes> {
        let mut path = anchor.path.clone();
        for step in steps.iter().filter(|&&step| step != ".") {
            path::push_component(&mut path, step).map_err(Fault::Failed)?;
        }
        attributes_at(&path, want, anchor.volume.device, follow).map_err(fault_of_entry)
    }

    fn list(&mut self, handle: &FindHandle, batch: &mut Batch, want: &Want) -> Result<ListStatus> {
        batch.clear();
        let wanted = want.entries | want.directories;
        batch.short_names = wanted.contains(FieldMask::SHORT_NAME);
        let Some(search) = &mut self.search else {
            return Ok(ListStatus::End);
        };
        while batch.has_room() {
            let Some(found) = search.next().map_err(fault_of_entry)? else {
                self.search = None;
                return Ok(ListStatus::End);
            };
            if matches!(found.name(), [DOT] | [DOT, DOT]) {
                continue;
            }
            let mut attributes = match self.call {
                FindCall::AttributesEx => Attributes::of_type(found.file_type()),
                _ => found.attributes(),
            };
            attributes.set_known(Attributes::set_device, handle.volume.device);
            let short_name = batch.short_names.then(|| found.short_name().iter().copied());
            batch.push_utf16(found.name().iter().copied(), short_name, attributes);
        }
        Ok(ListStatus::More)
    }

    fn fill(&mut self, handle: &FindHandle, batch: &mut Batch, want: &Want) {
        fill(batch, want, |name, wanted, follow| self.query(handle, name, wanted, follow));
    }

    fn volume(handle: &FindHandle) -> Volume {
        handle.volume
    }
}

const DOT: u16 = b'.' as u16;

fn volume_at(path: &[u16]) -> io::Result<Volume> {
    let device = device_of(open_path(path, Purpose::ReadAttributes, true)?.as_handle());
    Ok(Volume { device: Some(device), ..Volume::default() })
}

/// Returns whether a path is a directory, not a link.
fn is_still_directory(path: &mut Vec<u16>) -> io::Result<bool> {
    Ok(match attributes_ex(path)?.file_type() {
        FileType::Directory => true,
        // Only the directory record has the kind of a reparse point.
        FileType::Symlink => {
            let path = PathBuf::from(OsString::from_wide(path));
            listed_type(&path).is_ok_and(|listed| listed == FileType::Directory)
        }
        _ => false,
    })
}
