//! What this Windows is, and what a path lies on.

use std::ffi::{CStr, OsStr, OsString, c_char};
use std::io;
use std::mem::transmute;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::MAX_PATH;
use windows_sys::Win32::Storage::FileSystem::{
    GetDriveTypeW, GetVolumeInformationW, GetVolumePathNameW,
};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOW;
use windows_sys::Win32::System::SystemServices::{
    FILE_CASE_SENSITIVE_SEARCH, FILE_READ_ONLY_VOLUME, FILE_SUPPORTS_HARD_LINKS,
    FILE_SUPPORTS_REPARSE_POINTS,
};
use windows_sys::Win32::System::WindowsProgramming::DRIVE_REMOTE;
use windows_sys::w;

/// `PHCM_EXPOSE_PLACEHOLDERS` (`ntifs.h`).
const EXPOSE_PLACEHOLDERS: c_char = 2;

/// Returns name, version and build of the system, and what the program was built for.
pub fn version() -> String {
    let mut found = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // Not GetVersionEx, which tells programs without a manifest of an older Windows.
    // SAFETY: `found` is writable and says how large it is. The call always succeeds.
    unsafe { RtlGetVersion(&raw mut found) };
    let OSVERSIONINFOW { dwMajorVersion, dwMinorVersion, dwBuildNumber, .. } = found;
    let processor = std::env::consts::ARCH;
    format!("Windows {dwMajorVersion}.{dwMinorVersion}.{dwBuildNumber} {processor}")
}

/// Returns the version of Wine, if this is no Windows but Wine.
pub fn wine_version() -> Option<String> {
    type WineGetVersion = unsafe extern "C" fn() -> *const c_char;
    let function = ntdll(c"wine_get_version")?;
    // SAFETY: only Wine has a function of that name, and this is how it is declared there
    // (dlls/ntdll/version.c).
    let function = unsafe { transmute::<Function, WineGetVersion>(function) };
    // SAFETY: it returns a string that lives as long as the process.
    let version = unsafe { CStr::from_ptr(function()) };
    Some(version.to_string_lossy().into_owned())
}

/// Lets this process see cloud files as what they are. By default Windows disguises placeholders
/// as what they stand for, and whoever opens one to see what is in it fetches the content.
///
/// For programs, not for libraries: it changes the whole process. Does nothing before Windows 10
/// 1803.
pub fn expose_placeholders() {
    type SetMode = unsafe extern "system" fn(c_char) -> c_char;
    if let Some(function) = ntdll(c"RtlSetProcessPlaceholderCompatibilityMode") {
        // SAFETY: the function is declared so in `ntifs.h`.
        let function = unsafe { transmute::<Function, SetMode>(function) };
        // SAFETY: takes a number, and answers one that it does not know with an error. It leaves
        // the old mode then, which is all that is to be done about it.
        unsafe { function(EXPOSE_PLACEHOLDERS) };
    }
}

/// Returns whether this process sees cloud files as what they are: see [`expose_placeholders`].
pub fn sees_placeholders() -> bool {
    type QueryMode = unsafe extern "system" fn() -> c_char;
    ntdll(c"RtlQueryProcessPlaceholderCompatibilityMode").is_some_and(|function| {
        // SAFETY: the function is declared so in `ntifs.h`.
        let function = unsafe { transmute::<Function, QueryMode>(function) };
        // SAFETY: takes nothing, and only looks.
        unsafe { function() == EXPOSE_PLACEHOLDERS }
    })
}

/// Returns whether paths of this process may be longer than 260 characters without further ado:
/// the system and the program's manifest have to agree. The readers do not depend on it.
pub fn has_long_paths() -> bool {
    type AreEnabled = unsafe extern "system" fn() -> u8;
    ntdll(c"RtlAreLongPathsEnabled").is_some_and(|function| {
        // SAFETY: takes nothing and returns a BOOLEAN; since Windows 10 1607.
        let function = unsafe { transmute::<Function, AreEnabled>(function) };
        // SAFETY: it only looks.
        unsafe { function() != 0 }
    })
}

/// What a volume is, and what it can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeInfo {
    /// Where it is mounted: a drive, a share, or a directory.
    pub mount_point: PathBuf,
    /// The name of the file system, such as `NTFS`.
    pub file_system: String,
    /// The name that somebody gave the volume; may be empty.
    pub label: String,
    /// The number that the volume was given when it was formatted.
    pub serial: u32,
    /// Files may have several names.
    pub hard_links: bool,
    /// Links, junctions and placeholders are possible.
    pub reparse_points: bool,
    /// Names that differ only in case may lie side by side.
    pub case_sensitive: bool,
    /// Nothing can be written.
    pub read_only: bool,
    /// It lies on another machine.
    pub remote: bool,
}

/// Returns what a path lies on. Links on the way are not followed: give a canonical path.
///
/// # Errors
/// Whatever the system says; a path that holds a NUL is invalid.
pub fn volume(path: &Path) -> io::Result<VolumeInfo> {
    let mount_point = mount_point(path)?;
    let root = wide(mount_point.as_os_str())?;
    // 261 characters hold every label and every name of a file system.
    let (mut label, mut file_system) = ([0; MAX_PATH as usize + 1], [0; MAX_PATH as usize + 1]);
    let (mut serial, mut flags) = (0, 0);
    // SAFETY: `root` ends with NUL; the buffers are writable and as long as is said; nobody asks
    // for the longest name, for which null is allowed.
    let told = unsafe {
        GetVolumeInformationW(
            root.as_ptr(),
            label.as_mut_ptr(),
            label.len() as u32,
            &raw mut serial,
            std::ptr::null_mut(),
            &raw mut flags,
            file_system.as_mut_ptr(),
            file_system.len() as u32,
        )
    };
    if told == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `root` ends with NUL.
    let drive = unsafe { GetDriveTypeW(root.as_ptr()) };
    Ok(VolumeInfo {
        mount_point,
        file_system: narrow(&file_system).to_string_lossy().into_owned(),
        label: narrow(&label).to_string_lossy().into_owned(),
        serial,
        hard_links: flags & FILE_SUPPORTS_HARD_LINKS != 0,
        reparse_points: flags & FILE_SUPPORTS_REPARSE_POINTS != 0,
        case_sensitive: flags & FILE_CASE_SENSITIVE_SEARCH != 0,
        read_only: flags & FILE_READ_ONLY_VOLUME != 0,
        remote: drive == DRIVE_REMOTE,
    })
}

/// Returns the mount point of the volume that a path lies on, with a separator at its end.
fn mount_point(path: &Path) -> io::Result<PathBuf> {
    let path = wide(std::path::absolute(path)?.as_os_str())?;
    // A mount point is no longer than what lies below it, but for the separator.
    let mut point = vec![0; path.len().max(MAX_PATH as usize) + 1];
    // SAFETY: `path` ends with NUL; `point` is writable and as long as is said.
    let found =
        unsafe { GetVolumePathNameW(path.as_ptr(), point.as_mut_ptr(), point.len() as u32) };
    if found == 0 {
        return Err(io::Error::last_os_error());
    }
    let mut point = narrow(&point);
    // Whoever asks about a volume has to end its name so; Wine does not always.
    if !point.as_encoded_bytes().ends_with(br"\") {
        point.push(r"\");
    }
    Ok(plain(&point))
}

/// Returns a mount point without the prefix of canonical paths, as people write it:
/// `\\?\C:\` is `C:\`, and `\\?\UNC\server\share\` is `\\server\share\`.
fn plain(point: &OsStr) -> PathBuf {
    let text = point.to_str();
    let share = text.and_then(|text| text.strip_prefix(r"\\?\UNC\"));
    let drive = text.and_then(|text| text.strip_prefix(r"\\?\"));
    match (share, drive) {
        (Some(share), _) => PathBuf::from(format!(r"\\{share}")),
        // What else has the prefix, such as `\\?\Volume{…}\`, is nothing without it.
        (None, Some(drive)) if drive.as_bytes().get(1) == Some(&b':') => PathBuf::from(drive),
        _ => PathBuf::from(point),
    }
}

/// A function of which nothing is known but where it begins.
type Function = unsafe extern "system" fn() -> isize;

/// Finds a function that not every version of the system has.
fn ntdll(name: &CStr) -> Option<Function> {
    // SAFETY: the name is a wide string with a NUL; the handle that comes back is not counted.
    let module = unsafe { GetModuleHandleW(w!("ntdll.dll")) };
    // SAFETY: every process has loaded `ntdll.dll`, and keeps it; the name ends with NUL.
    unsafe { GetProcAddress(module, name.as_ptr().cast()) }
}

/// Returns a text as the system takes it: UTF-16 with a NUL.
fn wide(text: &OsStr) -> io::Result<Vec<u16>> {
    let mut wide: Vec<u16> = text.encode_wide().collect();
    if wide.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path holds a NUL"));
    }
    wide.push(0);
    Ok(wide)
}

/// Returns the text before the first NUL.
fn narrow(wide: &[u16]) -> OsString {
    let end = wide.iter().position(|&unit| unit == 0).unwrap_or(wide.len());
    OsString::from_wide(&wide[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_starts_with_windows() {
        let version = version();
        let number = version.strip_prefix("Windows ").and_then(|rest| rest.split('.').next());
        let number: u32 = number.unwrap_or_default().parse().unwrap_or_default();
        assert!(number >= 6, "{version}");
    }

    #[test]
    fn volume_of_temporary_directory() {
        let temp = std::env::temp_dir();
        let volume = volume(&temp).unwrap();
        assert!(temp.starts_with(&volume.mount_point), "{volume:?}");
        assert!(!volume.file_system.is_empty() && !volume.read_only, "{volume:?}");
        // By its canonical path it is the same.
        assert_eq!(super::volume(&temp.canonicalize().unwrap()).unwrap(), volume);
    }

    #[test]
    fn volume_of_invalid_path_error() {
        assert!(volume(Path::new("a\0b")).is_err());
        assert!(volume(Path::new(r"\\?\Volume{00000000-0000-0000-0000-000000000000}\x")).is_err());
    }

    #[test]
    fn volume_mount_point_not_verbatim() {
        for (point, shown) in [
            (r"\\?\C:\", r"C:\"),
            (r"C:\", r"C:\"),
            (r"\\?\C:\mounted\", r"C:\mounted\"),
            (r"\\?\UNC\server\share\", r"\\server\share\"),
            (r"\\server\share\", r"\\server\share\"),
            (r"\\?\Volume{1}\", r"\\?\Volume{1}\"),
        ] {
            assert_eq!(plain(OsStr::new(point)), Path::new(shown));
        }
    }

    #[test]
    fn expose_placeholders_visible_where_supported() {
        let can = ntdll(c"RtlSetProcessPlaceholderCompatibilityMode").is_some();
        expose_placeholders();
        assert_eq!(sees_placeholders(), can);
    }
}
