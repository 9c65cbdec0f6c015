//! What systems do differently with a single file, and processors with its bytes. This is the only place that asks which one it is.
//!
//! Required of each:
//!
//! * `open_to_read`: does not wait if the file has become a pipe; tells the system, if asked, that it
//!   will be read from its beginning to its end.
//! * `read_at`: reads at an offset. Nobody uses the file's own, so that threads may share it.
//! * `write_all_at`: writes at an offset.
//! * `read_past_cache`, `write_past_cache`: reading at an offset, and appending, so that nothing stays in
//!   the system's cache that was not there; nothing is done where that cannot be, and this is said.
//! * `open_direct`, `direct_alignment`, `HAS_DIRECT`: files past the system's cache, and of how many
//!   bytes their places, lengths and memory have to be multiples; nothing where a file system has no
//!   such thing.
//! * `DirectSwitch`: a file that is written past the cache, and through it, in turn; whether it can be, and
//!   the handle to write with until the next turn.
//! * `Ring`, `Buffer`, `has_io_uring`: many reads and writes on their way at once.
//! * `is_pseudo_file`: whether the kernel makes up the content, so that sizes say nothing.
//! * `free_space`: bytes that whoever asks may still write where a folder is, if the system tells.
//! * `reserve`: room for a part, which is not empty, or an error now rather than later; whether there
//!   is such a thing here.
//! * `Mapping`, `HAS_MAPPINGS`: a part of a file in memory, where a file that is cut is an error and no fault.
//! * `create_new`: a file that was not there, with the permissions asked for.
//! * `create_unnamed`, `link_unnamed`: a file without a name, that gets one when it is complete; `None`
//!   where there are none.
//! * `rename_new`: never replaces anything.
//! * `sync_directory`: returns when the device has the names of a folder.
//! * `FileSystem`: syncs all that was written to a file system at once, where that can be.
//! * `clone_file`, `copy_range`: copies that the kernel makes; whether it could.
//! * `allow_holes`: what is not written of a file from now on is a hole, where it has to be asked for
//!   that; a file system that has none writes zeros.
//! * `next_data`: where the next bytes are that are no hole.
//! * `punch_hole`: makes a hole; `Unsupported` where that cannot be.
//! * `name_from_bytes`: the name that bytes in a file stand for.
//! * `truncate`: shortens a file that was opened to be appended to.
//! * `open_no_follow`: opens a file to be read, never through a link.
//! * `distrust_reason`: why another user may have written a file that only we should have.
//! * `process_space`, `is_running`, `is_local`, `is_own_file`: what [`crate::publish`] must know of the process
//!   that made a temporary file; nothing where the system does not tell.
//! * `copy_metadata`: gives a file what another one has beside its content, and tells what it could not.

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

/// Gives a file a name that nothing has, where renaming could replace: the system lets no link
/// replace anything.
fn link_and_unlink(from: &std::path::Path, to: &std::path::Path) -> std::io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

/// Shortens a file that was opened to be appended to.
#[cfg(not(windows))]
pub(crate) fn truncate(
    file: &std::fs::File,
    _: &std::path::Path,
    length: u64,
) -> std::io::Result<()> {
    file.set_len(length)
}

/// Shortens a file that was opened to be appended to, which does not allow that here.
#[cfg(windows)]
pub(crate) fn truncate(
    _: &std::fs::File,
    path: &std::path::Path,
    length: u64,
) -> std::io::Result<()> {
    std::fs::File::options().write(true).open(path)?.set_len(length)
}

/// Opens a file to be read. A link at the end of the path is not followed, and a pipe is not waited
/// for.
#[cfg(unix)]
pub(crate) fn open_no_follow(path: &std::path::Path) -> std::io::Result<std::fs::File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    std::fs::File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// Opens a file to be read. Of a link, the link itself is opened.
#[cfg(windows)]
pub(crate) fn open_no_follow(path: &std::path::Path) -> std::io::Result<std::fs::File> {
    use std::os::windows::fs::OpenOptionsExt;
    /// `FILE_FLAG_OPEN_REPARSE_POINT`, as `winbase.h` has it.
    const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    std::fs::File::options().read(true).custom_flags(OPEN_REPARSE_POINT).open(path)
}

/// Returns why what a file holds may be from another user than the one who runs this process.
#[cfg(unix)]
pub(crate) fn distrust_reason(there: &transect_sys::Attributes) -> Option<&'static str> {
    if there.uid() != Some(rustix::process::geteuid().as_raw()) {
        return Some("it belongs to another user");
    }
    if there.mode().is_none_or(|mode| mode & 0o077 != 0) {
        return Some("others than its owner may use it");
    }
    if there.nlink() != Some(1) {
        return Some("it has other names (hard links)");
    }
    None
}

/// Windows gives a new file the permissions of its folder, so these say nothing of who wrote it.
#[cfg(windows)]
pub(crate) fn distrust_reason(_: &transect_sys::Attributes) -> Option<&'static str> {
    None
}

/// Returns the name that bytes stand for: there any bytes may be one.
#[cfg(unix)]
pub(crate) fn name_from_bytes(bytes: Vec<u8>) -> Option<std::ffi::OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

/// Returns the name that bytes stand for, if they are text.
#[cfg(not(unix))]
pub(crate) fn name_from_bytes(bytes: Vec<u8>) -> Option<std::ffi::OsString> {
    String::from_utf8(bytes).ok().map(Into::into)
}

/// Returns whether the processor has instructions for SHA-256, which the digest then uses.
pub(crate) fn has_sha256() -> bool {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return std::arch::is_x86_feature_detected!("sha");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("sha2");
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    false
}
