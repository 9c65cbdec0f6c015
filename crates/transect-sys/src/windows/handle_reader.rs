//! Readers by handle: they open directories relative to their parent and read them as records.

use std::ffi::OsStr;
use std::io;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::path::Path;

use super::fill::fill;
use super::list::{DirectoryCall, Stop};
use super::open::{Purpose, open_entry, open_path};
use super::path;
use super::query_attributes::{attributes_at, attributes_of, device_of, known_device};
use super::status::{fault_of_entry, is_broken_link};
use crate::attributes::{Attributes, FieldMask, FileType};
use crate::batch::Batch;
use crate::fault::{Fault, Result};
use crate::reader::{ListStatus, Reader, Want};
use crate::record::dirinfo::{Layout, Record, Records, utf16_units};
use crate::volume::Volume;

/// Holds the longest possible name (`UNICODE_STRING` counts 65,535 bytes) and its header.
const MAX_BUFFER: usize = 128 << 10;

/// A directory that is open for listing.
#[derive(Debug)]
pub struct ListingHandle {
    handle: OwnedHandle,
    volume: Volume,
}

impl AsHandle for ListingHandle {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.handle.as_handle()
    }
}

/// Lists with `NtQueryDirectoryFile` or `GetFileInformationByHandleEx`.
///
/// A directory takes one call to open it, one or a few for its records with all attributes, and one
/// that returns the end. A file takes no call.
#[derive(Debug)]
pub struct HandleReader {
    call: DirectoryCall,
    buffer: Vec<u64>,
    /// Layouts that a volume does not support.
    refused: Vec<(Option<u64>, Layout)>,
    progress: Progress,
}

/// Progress of the current listing.
#[derive(Debug, Default)]
struct Progress {
    /// Number of records delivered, without `.` and `..`.
    delivered: usize,
    /// The name in the last of them, unconverted.
    last: Vec<u8>,
    /// Number of listing calls.
    calls: usize,
    /// The layout that the file system accepted; `None` before its first answer.
    layout: Option<Layout>,
}

impl HandleReader {
    /// Returns a reader that lists with `call`, `buffer_size` bytes at a time.
    pub fn new(call: DirectoryCall, buffer_size: usize) -> Self {
        let buffer = vec![0; buffer_size / size_of::<u64>()];
        Self { call, buffer, refused: Vec::new(), progress: Progress::default() }
    }

    /// Makes a directory the current one.
    fn begin(&mut self, handle: OwnedHandle, volume: Volume) -> ListingHandle {
        self.progress = Progress::default();
        ListingHandle { handle, volume }
    }

    /// Returns the volume of an opened directory: the parent's, unless a link was followed.
    fn volume_of(handle: &OwnedHandle, above: Volume, follow: bool) -> Volume {
        match follow {
            true => Volume { device: Some(device_of(handle.as_handle())), ..Volume::default() },
            false => above,
        }
    }

    /// Fills the buffer with the next records. Returns their layout and the number of bytes that
    /// may hold records.
    fn next_records(
        &mut self,
        directory: &ListingHandle,
        want: FieldMask,
    ) -> Result<(Layout, usize), Stop> {
        let device = directory.volume.device;
        let restart = self.progress.calls == 0;
        let layouts = self.call.layouts(want);
        for &layout in layouts {
            let known = self.progress.layout.is_none_or(|chosen| chosen == layout);
            if !known || self.refused.contains(&(device, layout)) {
                continue;
            }
            match self.call.list(directory.as_handle(), layout, restart, &mut self.buffer) {
                // Every file system supports the last layout: if it is refused, that is an error.
                Err(Stop::Refused) if restart && Some(&layout) != layouts.last() => {
                    self.refused.push((device, layout));
                }
                answer => {
                    self.progress.layout = Some(layout);
                    self.progress.calls += 1;
                    return answer.map(|length| (layout, length));
                }
            }
        }
        Err(Stop::Refused)
    }

    /// Restarts the listing with a larger buffer; the caller then skips the entries already
    /// delivered. Otherwise a truncated record would be lost: the system continues behind it.
    fn grow(&mut self) -> Result<()> {
        let size = size_of_val(self.buffer.as_slice());
        if size >= MAX_BUFFER {
            return Err(Batch::malformed("a directory record is longer than any name"));
        }
        self.buffer.resize((size * 2).min(MAX_BUFFER) / size_of::<u64>(), 0);
        self.progress.calls = 0;
        Ok(())
    }

    /// Appends the records in the buffer to the batch, except the first `skip`, which were already
    /// delivered.
    fn take_records(
        &mut self,
        layout: Layout,
        length: usize,
        device: Option<u64>,
        skip: &mut usize,
        batch: &mut Batch,
    ) -> Result<()> {
        let bytes = as_bytes(&self.buffer, length);
        for record in Records::new(bytes, layout) {
            let record = record.map_err(Batch::malformed)?;
            let name = &bytes[record.name.clone()];
            if *skip > 0 {
                *skip -= 1;
                if *skip == 0 && name != self.progress.last {
                    return Err(Batch::malformed("the directory changed while it was read anew"));
                }
                continue;
            }
            let short_name = (batch.short_names && layout.has_short_name())
                .then(|| utf16_units(&bytes[record.short_name.clone()]));
            batch.push_utf16(utf16_units(name), short_name, attributes(&record, device));
            self.progress.delivered += 1;
            self.progress.last.clear();
            self.progress.last.extend_from_slice(name);
        }
        Ok(())
    }
}

/// Returns the first `length` bytes of a buffer.
pub(super) fn as_bytes(buffer: &[u64], length: usize) -> &[u8] {
    let size = size_of_val(buffer);
    // SAFETY: the numbers are that many initialised bytes, and borrowed for as long as the result.
    let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), size) };
    &bytes[..length]
}

fn attributes(record: &Record, device: Option<u64>) -> Attributes {
    let file_type = FileType::from_attributes(record.attributes, record.reparse_tag);
    let mut attributes = Attributes::of_type(file_type);
    attributes.set_attribute_bits(record.attributes);
    attributes.set_reparse_tag(record.reparse_tag);
    attributes.set_size(record.size);
    attributes.set_allocated(record.allocated);
    super::query_attributes::set_times(
        &mut attributes,
        [record.created, record.accessed, record.written, record.changed],
    );
    // Wine lists links of the host system without a tag, and with the id of their target.
    let not_its_own = file_type == FileType::Symlink && record.reparse_tag == 0;
    attributes.set_known(Attributes::set_inode, record.file_id.filter(|_| !not_its_own));
    attributes.set_known(Attributes::set_device, device);
    attributes
}

impl Reader for HandleReader {
    type Handle = ListingHandle;

    fn stat_root(&mut self, path: &Path, want: FieldMask, follow: bool) -> Result<Attributes> {
        stat_root(path, want, follow)
    }

    fn open_root(&mut self, path: &Path, follow: bool) -> Result<ListingHandle> {
        let follow = follow || path::ends_with_separator(path);
        let open = |path: &[u16]| open_path(path, Purpose::List, follow);
        let handle = path::units(path).and_then(|path| open(&path)).map_err(Fault::Failed)?;
        let volume = Self::volume_of(&handle, Volume::default(), true);
        Ok(self.begin(handle, volume))
    }

    fn open(
        &mut self,
        anchor: &ListingHandle,
        steps: &[&OsStr],
        follow: bool,
    ) -> Result<ListingHandle> {
        let handle = with_parent(anchor.as_handle(), steps, |parent, name| {
            open_entry(parent, name, Purpose::List, follow)
        })
        .map_err(fault_of_entry)?;
        let volume = Self::volume_of(&handle, anchor.volume, follow);
        Ok(self.begin(handle, volume))
    }

    fn stat_open(&mut self, handle: &mut ListingHandle, want: FieldMask) -> Result<Attributes> {
        if let Some(known) = known_device(handle.volume, want) {
            return Ok(known);
        }
        attributes_of(handle.as_handle(), want, handle.volume.device).map_err(Fault::Failed)
    }

    fn stat(
        &mut self,
        anchor: &ListingHandle,
        steps: &[&OsStr],
        want: FieldMask,
        follow: bool,
    ) -> Result<Attributes> {
        if steps.iter().all(|&step| step == ".") {
            return attributes_of(anchor.as_handle(), want, anchor.volume.device)
                .map_err(Fault::Failed);
        }
        with_parent(anchor.as_handle(), steps, |parent, name| {
            query_entry(parent, anchor.volume.device, name, want, follow)
        })
        .map_err(fault_of_entry)
    }

    fn list(
        &mut self,
        handle: &ListingHandle,
        batch: &mut Batch,
        want: &Want,
    ) -> Result<ListStatus> {
        batch.clear();
        let wanted = want.entries | want.directories;
        batch.short_names = wanted.contains(FieldMask::SHORT_NAME);
        let mut skip = 0;
        loop {
            match self.next_records(handle, wanted) {
                Ok((layout, length)) => {
                    let device = handle.volume.device;
                    self.take_records(layout, length, device, &mut skip, batch)?;
                    if skip == 0 {
                        return Ok(ListStatus::More);
                    }
                }
                Err(Stop::End) if skip == 0 => return Ok(ListStatus::End),
                Err(Stop::End) => {
                    return Err(Batch::malformed("the directory changed while it was read anew"));
                }
                Err(Stop::TooSmall) => {
                    self.grow()?;
                    skip = self.progress.delivered;
                }
                Err(Stop::Refused) => {
                    return Err(Fault::Failed(io::ErrorKind::Unsupported.into()));
                }
                Err(Stop::Failed(error)) => return Err(fault_of_entry(error)),
            }
        }
    }

    fn fill(&mut self, handle: &ListingHandle, batch: &mut Batch, want: &Want) {
        let device = handle.volume.device;
        fill(batch, want, |name, wanted, follow| {
            query_entry(handle.as_handle(), device, name, wanted, follow)
        });
    }

    fn volume(handle: &ListingHandle) -> Volume {
        handle.volume
    }
}

/// Returns the attributes of a root. Follows a link at its end if requested, unless it is broken.
pub(super) fn stat_root(path: &Path, want: FieldMask, follow: bool) -> Result<Attributes> {
    let units = path::units(path).map_err(Fault::Failed)?;
    if follow || path::ends_with_separator(path) {
        match attributes_at(&units, want, None, true) {
            Err(error) if is_broken_link(&error) => {}
            answer => return answer.map_err(Fault::Failed),
        }
    }
    attributes_at(&units, want, None, false).map_err(Fault::Failed)
}

/// Returns the attributes of a name in an open directory.
fn query_entry(
    parent: BorrowedHandle<'_>,
    device: Option<u64>,
    name: &OsStr,
    want: FieldMask,
    follow: bool,
) -> io::Result<Attributes> {
    let file = open_entry(parent, name, Purpose::ReadAttributes, follow)?;
    // The target of a link may be on another volume.
    attributes_of(file.as_handle(), want, device.filter(|_| !follow))
}

/// Calls `act` with the last of `steps` and the directory that the others lead to. Each step is
/// opened separately, so no link in the middle is followed, and the length of the path is not
/// limited.
fn with_parent<T>(
    anchor: BorrowedHandle<'_>,
    steps: &[&OsStr],
    act: impl FnOnce(BorrowedHandle<'_>, &OsStr) -> io::Result<T>,
) -> io::Result<T> {
    let Some((last, way)) = steps.split_last() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut reached: Option<OwnedHandle> = None;
    for step in way {
        let from = reached.as_ref().map_or(anchor, AsHandle::as_handle);
        reached = Some(open_entry(from, step, Purpose::List, false)?);
    }
    act(reached.as_ref().map_or(anchor, AsHandle::as_handle), last)
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;

    /// No file system at hand refuses a layout, so the test marks layouts as refused.
    #[test]
    fn handle_reader_refused_layout_fields_queried() {
        let temp = TempDir::new();
        std::fs::write(temp.join("a"), [1; 700]).expect("a file can be written");
        std::fs::hard_link(temp.join("a"), temp.join("b")).expect("a link can be made");
        let want = Want { entries: FieldMask::SIZE | FieldMask::FILE_ID, ..Want::default() };
        for call in [DirectoryCall::NtQuery, DirectoryCall::ByHandle] {
            let mut reader = HandleReader::new(call, 4096);
            let root = reader.open_root(temp.path(), false).expect("it can be opened");
            for &layout in call.layouts(want.entries).iter().filter(|layout| layout.has_file_id()) {
                reader.refused.push((root.volume.device, layout));
            }
            let mut batch = Batch::new();
            reader.list(&root, &mut batch, &want).expect("another layout is known");
            let ids =
                |batch: &Batch| batch.attributes().map(Attributes::file_id).collect::<Vec<_>>();
            assert_eq!(ids(&batch), [None, None], "{call:?}");
            reader.fill(&root, &mut batch, &want);
            let ids = ids(&batch);
            assert!(ids[0].is_some() && ids[0] == ids[1], "{call:?}: {ids:?}");
        }
    }
}
