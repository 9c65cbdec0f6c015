//! Attribute queries through an open handle.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle};
use std::path::Path;

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_BASIC_INFORMATION, FILE_ID_INFORMATION, FILE_INFORMATION_CLASS, FILE_INTERNAL_INFORMATION,
    FILE_STANDARD_INFORMATION, FileAttributeTagInformation, FileBasicInformation,
    FileFsVolumeInformation, FileIdInformation, FileInternalInformation, FileStandardInformation,
    NtQueryInformationFile, NtQueryVolumeInformationFile,
};
use windows_sys::Wdk::System::SystemServices::{
    FILE_ATTRIBUTE_TAG_INFORMATION, FILE_FS_VOLUME_INFORMATION,
};
use windows_sys::Win32::Foundation::STATUS_BUFFER_OVERFLOW;
use windows_sys::Win32::Storage::FileSystem::FILE_ATTRIBUTE_REPARSE_POINT;
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::open::{Purpose, open_path};
use super::path::units;
use super::status::error_from_status;
use crate::attributes::{Attributes, FieldMask, FileType};
use crate::record::dirinfo::nanoseconds;
use crate::volume::Volume;

/// The fields that Windows supports. Others are never queried.
pub(super) const SUPPORTED_FIELDS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::TIMES)
    .union(FieldMask::NLINK)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::ATTRIBUTES)
    .union(FieldMask::REPARSE_TAG);

/// A structure that `NtQueryInformationFile` writes.
///
/// # Safety
/// The class writes this structure, and any bytes it may write are a valid value of it.
unsafe trait Information: Default {
    const CLASS: FILE_INFORMATION_CLASS;
}

macro_rules! information {
    ($($structure:ident = $class:ident,)*) => {
        $(
            // SAFETY: `ntifs.h` names the structure for the class. Its fields are numbers and bytes;
            // flags are written as 0 or 1.
            unsafe impl Information for $structure {
                const CLASS: FILE_INFORMATION_CLASS = $class;
            }
        )*
    };
}

information! {
    FILE_BASIC_INFORMATION = FileBasicInformation,
    FILE_STANDARD_INFORMATION = FileStandardInformation,
    FILE_INTERNAL_INFORMATION = FileInternalInformation,
    FILE_ATTRIBUTE_TAG_INFORMATION = FileAttributeTagInformation,
    FILE_ID_INFORMATION = FileIdInformation,
}

fn query_information<T: Information>(handle: BorrowedHandle<'_>) -> io::Result<T> {
    let mut answer = T::default();
    let mut status_block = IO_STATUS_BLOCK::default();
    // SAFETY: the class writes at most the structure that its trait names, into one that is ours;
    // the handle is borrowed, hence open, and was opened for synchronous work.
    let status = unsafe {
        NtQueryInformationFile(
            handle.as_raw_handle(),
            &mut status_block,
            (&raw mut answer).cast(),
            size_of::<T>() as u32,
            T::CLASS,
        )
    };
    if status < 0 { Err(error_from_status(status)) } else { Ok(answer) }
}

/// Returns the serial number of the volume of an open file. 0 if the volume has none, which makes
/// all such volumes one: treating it as unknown would mean a query for every file.
pub(super) fn device_of(handle: BorrowedHandle<'_>) -> u64 {
    // 64 bits on file systems that have them (Windows 8), otherwise the 32 bits that every one has.
    let whole = query_information::<FILE_ID_INFORMATION>(handle).map(|id| id.VolumeSerialNumber);
    whole.ok().or_else(|| serial_of(handle)).unwrap_or(0)
}

fn serial_of(handle: BorrowedHandle<'_>) -> Option<u64> {
    // Room for the label that follows: 32 characters.
    #[repr(C)]
    struct Labelled {
        volume: FILE_FS_VOLUME_INFORMATION,
        rest_of_label: [u16; 32],
    }
    let volume = FILE_FS_VOLUME_INFORMATION {
        VolumeCreationTime: 0,
        VolumeSerialNumber: 0,
        VolumeLabelLength: 0,
        SupportsObjects: false,
        VolumeLabel: [0],
    };
    let mut answer = Labelled { volume, rest_of_label: [0; 32] };
    let mut status_block = IO_STATUS_BLOCK::default();
    // SAFETY: as in `query_information`; the class writes the structure followed by the rest of the
    // label.
    let status = unsafe {
        NtQueryVolumeInformationFile(
            handle.as_raw_handle(),
            &mut status_block,
            (&raw mut answer).cast(),
            size_of::<Labelled>() as u32,
            FileFsVolumeInformation,
        )
    };
    // A longer label is truncated; the number is before it.
    (status >= 0 || status == STATUS_BUFFER_OVERFLOW)
        .then_some(answer.volume.VolumeSerialNumber.into())
}

/// Returns the device of a directory without a query, if nothing else is wanted. It is known since
/// the directory was opened: a volume ends only where a link is followed.
pub(super) fn known_device(volume: Volume, want: FieldMask) -> Option<Attributes> {
    let device = volume.device.filter(|_| want == FieldMask::DEVICE)?;
    let mut attributes = Attributes::of_type(FileType::Directory);
    attributes.set_device(device);
    Some(attributes)
}

/// Returns the wanted attributes of an open file. `device` is its volume, if that is known.
pub(crate) fn attributes_of(
    handle: BorrowedHandle<'_>,
    want: FieldMask,
    device: Option<u64>,
) -> io::Result<Attributes> {
    let basic: FILE_BASIC_INFORMATION = query_information(handle)?;
    let mut tag = 0;
    if basic.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        tag = query_information::<FILE_ATTRIBUTE_TAG_INFORMATION>(handle)?.ReparseTag;
    }
    let file_type = FileType::from_attributes(basic.FileAttributes, tag);
    let mut attributes = Attributes::of_type(file_type);
    attributes.set_attribute_bits(basic.FileAttributes);
    attributes.set_reparse_tag(tag);
    let times = [basic.CreationTime, basic.LastAccessTime, basic.LastWriteTime, basic.ChangeTime];
    set_times(&mut attributes, times);
    if want.intersects(FieldMask::SIZE | FieldMask::ALLOCATED | FieldMask::NLINK) {
        let standard: FILE_STANDARD_INFORMATION = query_information(handle)?;
        attributes.set_size(u64::try_from(standard.EndOfFile).unwrap_or(0));
        attributes.set_allocated(u64::try_from(standard.AllocationSize).unwrap_or(0));
        // Wine lists a symbolic link of the host system as another name of its target, whose link
        // count may be 1. So the count is set only if it is wanted: without it, callers that identify
        // files by id do not conclude that there are no other names.
        if want.contains(FieldMask::NLINK) {
            attributes.set_nlink(standard.NumberOfLinks);
        }
    }
    if want.contains(FieldMask::INODE) {
        let internal: FILE_INTERNAL_INFORMATION = query_information(handle)?;
        // 0 and -1 mean that the file has no number of 64 bits ([MS-FSCC] 2.1.9).
        match internal.IndexNumber {
            0 | -1 => {}
            number => attributes.set_inode(number as u64),
        }
    }
    if want.contains(FieldMask::DEVICE) {
        attributes.set_device(device.unwrap_or_else(|| device_of(handle)));
    }
    Ok(attributes)
}

/// Sets the times of creation, access, content and attributes, given in 100 ns since 1601.
pub(super) fn set_times(attributes: &mut Attributes, times: [i64; 4]) {
    let [created, accessed, written, changed] = times.map(nanoseconds);
    attributes.set_known(Attributes::set_btime, created);
    attributes.set_known(Attributes::set_atime, accessed);
    attributes.set_known(Attributes::set_mtime, written);
    attributes.set_known(Attributes::set_ctime, changed);
}

/// Returns the wanted attributes and the type of the file at a path.
pub(super) fn attributes_at(
    path: &[u16],
    want: FieldMask,
    device: Option<u64>,
    follow: bool,
) -> io::Result<Attributes> {
    let handle = open_path(path, Purpose::ReadAttributes, follow)?;
    // The target of a link may be on another volume.
    attributes_of(handle.as_handle(), want, device.filter(|_| !follow))
}

/// Adds wanted fields that are not known yet, as far as Windows supports them, for the portable
/// reader.
pub(crate) fn fill_missing(
    path: &Path,
    want: FieldMask,
    follow: bool,
    attributes: &mut Attributes,
) -> io::Result<()> {
    if attributes.known().contains(want & SUPPORTED_FIELDS) {
        return Ok(());
    }
    let file_type = attributes.file_type();
    *attributes = attributes_at(&units(path)?, want, None, follow)?;
    attributes.set_file_type(file_type);
    Ok(())
}
