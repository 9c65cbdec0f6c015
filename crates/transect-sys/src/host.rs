//! What a walk must know of the system before it begins, answered on every system: so that
//! nobody else has to ask which one it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::volume::Reliability;

/// The most directory handles to have open at once, if the system sets no limit itself.
const MOST_HANDLES: usize = 1 << 20;

/// Whether directories list entries that have been deleted, but that some program still has open.
/// Nothing can open such an entry.
pub const LISTS_DELETED: bool = cfg!(windows);

/// Returns how many directory handles this process may have open.
pub fn handle_limit() -> usize {
    #[cfg(target_os = "linux")]
    let limit = crate::linux::open_file_limit();
    #[cfg(not(target_os = "linux"))]
    let limit = None::<u64>;
    limit.map_or(MOST_HANDLES, |limit| usize::try_from(limit).unwrap_or(MOST_HANDLES))
}

/// Lets this process open as many files as it may without privilege.
///
/// For programs, not for libraries: it changes the whole process, and children inherit it.
pub fn raise_handle_limit() {
    #[cfg(target_os = "linux")]
    crate::linux::raise_open_file_limit();
}

/// Lets this process see cloud files as what they are, where the system would disguise them.
///
/// For programs, not for libraries: it changes the whole process.
pub fn expose_placeholders() {
    #[cfg(windows)]
    crate::windows::system::expose_placeholders();
}

/// Returns where file systems are mounted; `None` if the system does not tell.
pub fn mount_points() -> Option<Vec<PathBuf>> {
    #[cfg(target_os = "linux")]
    return crate::linux::mounts()
        .ok()
        .map(|mounts| mounts.into_iter().map(|mount| mount.point).collect());
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns a word for the file system that a path lies on: the same from one start of the system to
/// the next, made of letters, digits and hyphens. `None` if nothing tells it from others.
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

/// Returns the number of the user that this process acts as; `None` where users have none.
pub fn effective_user_id() -> Option<u32> {
    #[cfg(target_os = "linux")]
    return Some(crate::linux::effective_user_id());
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns how far one may rely on what was learnt of a directory. Of what cannot be opened nothing
/// is relied on.
///
/// On Windows names have several spellings, and the owner of a directory, also on another machine,
/// tells of all changes.
pub fn reliability(directory: &Path) -> Reliability {
    #[cfg(target_os = "linux")]
    return crate::linux::reliability_of(directory).unwrap_or_default();
    #[cfg(not(target_os = "linux"))]
    {
        let _ = directory;
        Reliability { exact_names: false, local: cfg!(windows) }
    }
}

/// Returns the last name of a path as the directory stores it: where names that differ only in
/// case are the same, a path may spell it otherwise. `None` for what has no name, such as `/`.
pub fn stored_name(path: &Path) -> Option<OsString> {
    #[cfg(windows)]
    return crate::windows::stored_name(path);
    #[cfg(not(windows))]
    path.file_name().map(OsString::from)
}

/// What processes have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Processor time, in the programs themselves and in the kernel.
    pub cpu_time: Duration,
    /// How often one of their threads waited for something.
    pub voluntary_switches: u64,
    /// How often one of their threads was made to wait for others.
    pub involuntary_switches: u64,
}

/// Returns what this process has used so far, on all its threads; `None` where the system is not asked.
pub fn usage_of_self() -> Option<ProcessUsage> {
    #[cfg(target_os = "linux")]
    return Some(crate::linux::usage_of_self());
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns what all children have used that were waited for so far, with all that they waited for;
/// `None` where the system is not asked.
pub fn usage_of_children() -> Option<ProcessUsage> {
    #[cfg(target_os = "linux")]
    return Some(crate::linux::usage_of_children());
    #[cfg(not(target_os = "linux"))]
    None
}

/// Returns name and version of the system, and of Wine where there is one.
pub fn system_version() -> String {
    #[cfg(target_os = "linux")]
    return crate::linux::kernel_version();
    #[cfg(windows)]
    {
        use crate::windows::system;
        let version = system::version();
        match system::wine_version() {
            Some(wine) => format!("{version} (Wine {wine})"),
            None => version,
        }
    }
    #[cfg(not(any(target_os = "linux", windows)))]
    std::env::consts::OS.to_owned()
}
