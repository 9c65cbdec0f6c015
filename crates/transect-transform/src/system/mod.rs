//! Operations on a single file that differ between systems, and one that depends on the processor.
//! This is the only module that checks the platform.
//!
//! Each system provides:
//!
//! * `open_to_read`: opens a file without blocking if it has become a pipe; optionally advises the
//!   system that it will be read sequentially.
//! * `read_at`: reads at an offset. The offset of the handle is not used, so threads can share it.
//! * `write_all_at`: writes at an offset.
//! * `read_past_cache`, `write_past_cache`: read at an offset, and append, leaving nothing in the
//!   page cache that was not there. They report if the system cannot do that, and then do nothing.
//! * `open_direct`, `direct_alignment`: direct I/O, and the alignment it requires of
//!   offsets, lengths and memory; `None` where a file system does not support it.
//! * `DirectSwitch`: switches a file between direct and cached writes; reports whether it can, and
//!   returns the handle to write with.
//! * `Ring`, `Buffer`, `Transfer`, `has_io_uring`: several reads and writes in flight.
//! * `is_pseudo_file`: whether the kernel generates the content, so that the size means nothing.
//! * `reserve`: allocates a non-empty part of a file, so that a full device is reported early;
//!   returns whether the system supports that.
//! * `Mapping`: a part of a file mapped into memory, where a truncated file is an
//!   error and not a fault.
//! * `create_new`: creates a file that must not exist, with a mode.
//! * `create_unnamed`, `link_unnamed`: a file without a name, and naming it when it is complete;
//!   `None` where unsupported.
//! * `rename_new`: renames a file, and never replaces anything.
//! * `sync_directory`: syncs the names in a directory to the device.
//! * `FileSystem`: syncs a whole file system, where supported.
//! * `clone_file`, `copy_range`: copies by the kernel; return whether it could.
//! * `allow_holes`: from now on, skipped parts of the file become holes. On file systems without
//!   holes, zeros are written.
//! * `next_data`: the next part of a file that is not a hole.
//! * `name_from_bytes`: converts bytes to a file name.
//! * `truncate`: shortens a file that was opened for appending.
//! * `process_space`, `is_running`, `is_local`, `is_own_file`: facts about the process that created
//!   a temporary file, for [`crate::publish`]; `None` where the system does not report them.
//! * `copy_metadata`: copies everything but the content from one file to another, and reports what
//!   it could not copy.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(not(any(target_os = "linux", windows)))]
mod unsupported;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::*;
#[cfg(not(any(target_os = "linux", windows)))]
pub(crate) use unsupported::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// Whether the system has direct I/O, and `Mapping`.
pub(crate) const HAS_DIRECT: bool = cfg!(any(target_os = "linux", windows));
pub(crate) const HAS_MAPPINGS: bool = HAS_DIRECT;

/// Renames a file without replacing anything: a hard link never replaces an existing name.
fn link_and_unlink(from: &std::path::Path, to: &std::path::Path) -> std::io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// Shortens a file that was opened for appending.
#[cfg(not(windows))]
pub(crate) fn truncate(
    file: &std::fs::File,
    _: &std::path::Path,
    length: u64,
) -> std::io::Result<()> {
    file.set_len(length)
}

/// Shortens a file that was opened for appending. Windows does not allow that on the handle, so the
/// file is opened again.
#[cfg(windows)]
pub(crate) fn truncate(
    _: &std::fs::File,
    path: &std::path::Path,
    length: u64,
) -> std::io::Result<()> {
    std::fs::File::options().write(true).open(path)?.set_len(length)
}

/// Converts bytes to a file name; any bytes are valid.
#[cfg(unix)]
pub(crate) fn name_from_bytes(bytes: Vec<u8>) -> Option<std::ffi::OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

/// Converts bytes to a file name, if they are UTF-8.
#[cfg(not(unix))]
pub(crate) fn name_from_bytes(bytes: Vec<u8>) -> Option<std::ffi::OsString> {
    String::from_utf8(bytes).ok().map(Into::into)
}

/// Returns whether the processor has SHA-256 instructions, which the digest then uses.
pub(crate) fn has_sha256() -> bool {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return std::arch::is_x86_feature_detected!("sha");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("sha2");
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    false
}
