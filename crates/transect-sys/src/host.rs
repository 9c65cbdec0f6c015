//! Properties of the operating system and limits of this process, with one interface for all
//! systems.

use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::usage::{ProcessUsage, usage_of_children, usage_of_self};
use crate::volume::Reliability;

/// The most directory handles to keep open if the system sets no limit.
const MAX_HANDLES: usize = 1 << 20;

/// Whether directories list entries that were deleted while a process still has them open. Such an
/// entry cannot be opened.
pub const LISTS_DELETED: bool = cfg!(windows);

/// Returns how many directory handles this process may have open.
pub fn handle_limit() -> usize {
    #[cfg(target_os = "linux")]
    let limit = crate::linux::open_file_limit();
    #[cfg(not(target_os = "linux"))]
    let limit = None::<u64>;
    limit.map_or(MAX_HANDLES, |limit| usize::try_from(limit).unwrap_or(MAX_HANDLES))
}

/// Raises the limit on open files as far as possible without privileges.
///
/// For programs, not for libraries: it changes the whole process, and children inherit it.
pub fn raise_handle_limit() {
    #[cfg(target_os = "linux")]
    crate::linux::raise_open_file_limit();
}

/// Returns a random number for names of files. It is not for secrets.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Removes from `PATH` what is not absolute. Such entries, and empty ones, which mean the current directory, let the
/// owner of a directory choose the programs that other users run in it.
///
/// For programs, not for libraries: it changes the whole process, and children inherit it. On Unix it has an effect
/// only in the first thread, and belongs at the start of `main`: no other thread may read the environment meanwhile.
pub fn drop_relative_search_paths() {
    let Some(path) = std::env::var_os("PATH") else { return };
    let Some(absolute) = absolute_entries(&path) else { return };
    #[cfg(target_os = "linux")]
    // SAFETY: both only return a number.
    if unsafe { libc::gettid() != libc::getpid() } {
        return;
    }
    // SAFETY: this is the first thread, and the caller has not started another one; without such a thread, and on
    // Windows always, the environment may be changed.
    unsafe {
        // An empty search path means the current directory, too; the default of the system is used without one.
        match absolute.is_empty() {
            true => std::env::remove_var("PATH"),
            false => std::env::set_var("PATH", absolute),
        }
    }
}

/// Returns the absolute entries of a search path; `None` if it has no others.
fn absolute_entries(path: &std::ffi::OsStr) -> Option<OsString> {
    let is_absolute = |entry: &PathBuf| entry.is_absolute();
    if std::env::split_paths(path).all(|entry| is_absolute(&entry)) {
        return None;
    }
    // Entries that were split at separators contain none, except quoted ones of Windows.
    Some(std::env::join_paths(std::env::split_paths(path).filter(is_absolute)).unwrap_or_default())
}

/// Makes the system report placeholders of cloud files as such, where it would disguise them.
///
/// For programs, not for libraries: it changes the whole process.
pub fn expose_placeholders() {
    #[cfg(windows)]
    crate::windows::system::expose_placeholders();
}

/// Returns the paths at which file systems are mounted; `None` if the system does not report them.
pub fn mount_points() -> Option<Vec<PathBuf>> {
    #[cfg(target_os = "linux")]
    return crate::linux::mounts()
        .ok()
        .map(|mounts| mounts.into_iter().map(|mount| mount.point).collect());
    #[cfg(not(target_os = "linux"))]
    None
}

/// The paths at which file systems are mounted, for a program that asks again and again.
#[derive(Debug, Default)]
pub struct MountPoints {
    #[cfg(target_os = "linux")]
    known: Option<crate::linux::MountPoints>,
}

impl MountPoints {
    /// Returns the paths as they are now; `None` if the system does not report them.
    pub fn get(&mut self) -> Option<Arc<[PathBuf]>> {
        #[cfg(target_os = "linux")]
        {
            if self.known.is_none() {
                self.known = crate::linux::MountPoints::open().ok();
            }
            self.known.as_mut()?.get().ok()
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}

/// Returns an identifier of the file system that a path is on. It stays the same across restarts
/// and consists of letters, digits and hyphens. `None` if nothing distinguishes the file system
/// from others.
pub fn file_system_identity(path: &Path) -> Option<String> {
    #[cfg(target_os = "linux")]
    return crate::linux::file_system_identity(path);
    #[cfg(windows)]
    return crate::windows::system::volume(path).ok().map(|volume| {
        let kind = volume.file_system.chars().filter(char::is_ascii_alphanumeric);
        format!("{}-{:08x}", kind.collect::<String>().to_lowercase(), volume.serial)
    });
    #[cfg(not(any(target_os = "linux", windows)))]
    {
        let _ = path;
        None
    }
}

/// Returns whether the file system that a path is on proves that a file is unchanged: with its content, its ctime changes, which
/// no program can set. Never on other systems than Linux. Everywhere, writes through a memory map may change the time
/// late, and a clock that is set back may repeat one.
pub fn proves_changes(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return crate::linux::proves_changes(path);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        false
    }
}

/// Returns the user id that this process acts as; `None` on systems without user ids.
pub fn effective_user_id() -> Option<u32> {
    #[cfg(target_os = "linux")]
    return Some(rustix::process::geteuid().as_raw());
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns which conclusions from a listing of `directory` remain valid afterwards: none if it
/// cannot be opened.
///
/// On Windows a name has several spellings, and the system that owns a directory reports all
/// changes, even if that is another machine.
pub fn reliability(directory: &Path) -> Reliability {
    #[cfg(target_os = "linux")]
    return crate::linux::reliability_of(directory).unwrap_or_default();
    #[cfg(not(target_os = "linux"))]
    {
        let _ = directory;
        Reliability { exact_names: false, local: cfg!(windows) }
    }
}

/// Returns the last name of a path as the directory stores it. On file systems that ignore case,
/// the path may spell it differently. `None` for a path without a name, such as `/`.
pub fn stored_name(path: &Path) -> Option<OsString> {
    #[cfg(windows)]
    return crate::windows::stored_name(path);
    #[cfg(not(windows))]
    path.file_name().map(OsString::from)
}

/// Returns the time in nanoseconds since 1970 UTC, as times of entries are. 0 if the clock shows an earlier one.
pub fn now() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Returns the name of this machine; `None` if the system does not report it.
pub fn host_name() -> Option<String> {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var_os("COMPUTERNAME")?.to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// Returns the version of Wine; `None` on a real system.
pub fn wine_version() -> Option<String> {
    #[cfg(windows)]
    return crate::windows::system::wine_version();
    #[cfg(not(windows))]
    None
}

/// Returns the name and version of the system, and of Wine if it runs there.
pub fn system_version() -> String {
    #[cfg(target_os = "linux")]
    return crate::linux::kernel_version();
    #[cfg(windows)]
    {
        use crate::windows::system;
        let version = system::version();
        match wine_version() {
            Some(wine) => format!("{version} (Wine {wine})"),
            None => version,
        }
    }
    #[cfg(not(any(target_os = "linux", windows)))]
    std::env::consts::OS.to_owned()
}
