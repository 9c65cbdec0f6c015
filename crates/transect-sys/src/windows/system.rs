//! The version of Windows, process settings, and volumes.

use std::ffi::{CStr, OsStr, OsString, c_char};
use std::io;
use std::mem::transmute;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Foundation::MAX_PATH;
use windows_sys::Win32::Storage::FileSystem::{
    GetDiskFreeSpaceExW, GetDriveTypeW, GetVolumeInformationW, GetVolumeNameForVolumeMountPointW,
    GetVolumePathNameW,
};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOW;
use windows_sys::Win32::System::SystemServices::{
    FILE_CASE_SENSITIVE_SEARCH, FILE_READ_ONLY_VOLUME, FILE_SUPPORTS_HARD_LINKS,
    FILE_SUPPORTS_REPARSE_POINTS,
};
use windows_sys::Win32::System::WindowsProgramming::DRIVE_REMOTE;
use windows_sys::w;

use super::status::done;

/// `PHCM_EXPOSE_PLACEHOLDERS` (`ntifs.h`).
const EXPOSE_PLACEHOLDERS: c_char = 2;

/// Returns the name, version and build of the system, and the architecture of the program.
pub fn version() -> String {
    let mut found = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..OSVERSIONINFOW::default()
    };
    // Not GetVersionEx, which reports an older Windows to programs without a manifest.
    // SAFETY: `found` is writable and states its size. The call always succeeds.
    unsafe { RtlGetVersion(&raw mut found) };
    let OSVERSIONINFOW { dwMajorVersion, dwMinorVersion, dwBuildNumber, .. } = found;
    let processor = std::env::consts::ARCH;
    format!("Windows {dwMajorVersion}.{dwMinorVersion}.{dwBuildNumber} {processor}")
}

/// Returns the version of Wine; `None` on Windows.
pub fn wine_version() -> Option<String> {
    type WineGetVersion = unsafe extern "C" fn() -> *const c_char;
    let function = ntdll(c"wine_get_version")?;
    // SAFETY: only Wine has a function of that name, and declares it so (dlls/ntdll/version.c).
    let function = unsafe { transmute::<Function, WineGetVersion>(function) };
    // SAFETY: it returns a string that lives as long as the process.
    let version = unsafe { CStr::from_ptr(function()) };
    Some(version.to_string_lossy().into_owned())
}

/// Makes the system report placeholders of cloud files as such. By default Windows disguises them
/// as the files they stand for, and opening one fetches its content.
///
/// For programs, not for libraries: it changes the whole process. Does nothing before Windows 10
/// 1803.
pub fn expose_placeholders() {
    type SetMode = unsafe extern "system" fn(c_char) -> c_char;
    if let Some(function) = ntdll(c"RtlSetProcessPlaceholderCompatibilityMode") {
        // SAFETY: the function is declared so in `ntifs.h`.
        let function = unsafe { transmute::<Function, SetMode>(function) };
        // SAFETY: takes a number and returns an error for an unknown one. Then the old mode stays,
        // and the program cannot change it.
        unsafe { function(EXPOSE_PLACEHOLDERS) };
    }
}

/// Returns whether this process sees placeholders as such: see [`expose_placeholders`].
pub fn sees_placeholders() -> bool {
    type QueryMode = unsafe extern "system" fn() -> c_char;
    ntdll(c"RtlQueryProcessPlaceholderCompatibilityMode").is_some_and(|function| {
        // SAFETY: the function is declared so in `ntifs.h`.
        let function = unsafe { transmute::<Function, QueryMode>(function) };
        // SAFETY: takes no arguments and changes nothing.
        unsafe { function() == EXPOSE_PLACEHOLDERS }
    })
}

/// Returns whether this process may use paths of more than 260 characters without a prefix: both
/// the system and the program's manifest must allow it. The readers do not depend on it.
pub fn has_long_paths() -> bool {
    type AreEnabled = unsafe extern "system" fn() -> u8;
    ntdll(c"RtlAreLongPathsEnabled").is_some_and(|function| {
        // SAFETY: takes nothing and returns a BOOLEAN; since Windows 10 1607.
        let function = unsafe { transmute::<Function, AreEnabled>(function) };
        // SAFETY: it changes nothing.
        unsafe { function() != 0 }
    })
}

/// The properties of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeInfo {
    /// Mount point: a drive, a share, or a directory.
    pub mount_point: PathBuf,
    /// The name of the file system, such as `NTFS`.
    pub file_system: String,
    /// The label of the volume; may be empty.
    pub label: String,
    /// The serial number, assigned when the volume was formatted.
    pub serial: u32,
    /// Supports hard links.
    pub hard_links: bool,
    /// Supports links, junctions and placeholders.
    pub reparse_points: bool,
    /// Names that differ only in case may coexist.
    pub case_sensitive: bool,
    /// Is read-only.
    pub read_only: bool,
    /// Is on another machine.
    pub remote: bool,
}

/// Returns the volume of a path. Does not follow links: pass a canonical path.
///
/// # Errors
/// Any error that the system reports, or the path contains a NUL.
pub fn volume(path: &Path) -> io::Result<VolumeInfo> {
    let mount_point = mount_point(path)?;
    let root = wide(mount_point.as_os_str())?;
    // 261 characters hold any label and any name of a file system.
    let (mut label, mut file_system) = ([0; MAX_PATH as usize + 1], [0; MAX_PATH as usize + 1]);
    let (mut serial, mut flags) = (0, 0);
    // SAFETY: `root` ends with NUL; the buffers are writable and as long as stated; the maximum
    // length of names is not needed, so its pointer is null.
    done(unsafe {
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
    })?;
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

/// Returns the mount point of the volume of a path, with a separator at its end.
fn mount_point(path: &Path) -> io::Result<PathBuf> {
    let path = wide(std::path::absolute(path)?.as_os_str())?;
    // A mount point is not longer than a path below it, except for the separator.
    let mut point = vec![0; path.len().max(MAX_PATH as usize) + 1];
    // SAFETY: `path` ends with NUL; `point` is writable and as long as stated.
    done(unsafe { GetVolumePathNameW(path.as_ptr(), point.as_mut_ptr(), point.len() as u32) })?;
    let mut point = narrow(&point);
    // Calls about a volume require the separator; Wine omits it sometimes.
    if !point.as_encoded_bytes().ends_with(br"\") {
        point.push(r"\");
    }
    Ok(plain(&point))
}

/// Splits a canonical path: into the mount point of its volume, and the path below it.
pub fn place_on_volume(path: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let mount_point = mount_point(path)?;
    let below = plain(path.as_os_str()).strip_prefix(&mount_point).map(Path::to_owned);
    let below = below.map_err(|_| io::ErrorKind::InvalidFilename)?;
    Ok((mount_point, below))
}

/// Returns the name of the volume with this mount point, which ends with a separator: `\\?\Volume{…}`.
pub fn volume_name(mount_point: &Path) -> io::Result<PathBuf> {
    let mount_point = wide(mount_point.as_os_str())?;
    // The longest name has 49 characters and a NUL.
    let mut name = [0; 64];
    // SAFETY: `mount_point` ends with NUL; `name` is writable and as long as stated.
    done(unsafe {
        GetVolumeNameForVolumeMountPointW(mount_point.as_ptr(), name.as_mut_ptr(), 64)
    })?;
    let name = narrow(&name);
    let text = name.to_str().ok_or(io::ErrorKind::InvalidData)?;
    Ok(PathBuf::from(text.trim_end_matches('\\')))
}

/// Returns a mount point without the prefix of canonical paths: `\\?\C:\` becomes `C:\`, and
/// `\\?\UNC\server\share\` becomes `\\server\share\`.
fn plain(point: &OsStr) -> PathBuf {
    let text = point.to_str();
    let share = text.and_then(|text| text.strip_prefix(r"\\?\UNC\"));
    let drive = text.and_then(|text| text.strip_prefix(r"\\?\"));
    match (share, drive) {
        (Some(share), _) => PathBuf::from(format!(r"\\{share}")),
        // Any other path with the prefix, such as `\\?\Volume{…}\`, is invalid without it.
        (None, Some(drive)) if drive.as_bytes().get(1) == Some(&b':') => PathBuf::from(drive),
        _ => PathBuf::from(point),
    }
}

/// A function of unknown signature.
pub(super) type Function = unsafe extern "system" fn() -> isize;

/// Returns a function that some versions of the system lack.
pub(super) fn ntdll(name: &CStr) -> Option<Function> {
    // SAFETY: the name is a wide string with a NUL; the returned handle is not counted.
    let module = unsafe { GetModuleHandleW(w!("ntdll.dll")) };
    // SAFETY: every process has loaded `ntdll.dll`, and keeps it; the name ends with NUL.
    unsafe { GetProcAddress(module, name.as_ptr().cast()) }
}

/// Returns the size of the volume that a directory is on, the bytes that are free, and those available to
/// this user.
pub(crate) fn disk_space(directory: &Path) -> io::Result<[u64; 3]> {
    // A drive such as `C:` needs a backslash; every other directory accepts one.
    let path = wide(directory.join("").as_os_str())?;
    let (mut available, mut size, mut free) = (0, 0, 0);
    // SAFETY: `path` ends with NUL, and the numbers are writable.
    done(unsafe {
        GetDiskFreeSpaceExW(path.as_ptr(), &raw mut available, &raw mut size, &raw mut free)
    })?;
    Ok([size, free, available])
}

/// Converts a string to UTF-16 with a NUL.
pub(super) fn wide(text: &OsStr) -> io::Result<Vec<u16>> {
    let mut wide: Vec<u16> = text.encode_wide().collect();
    if wide.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path holds a NUL"));
    }
    wide.push(0);
    Ok(wide)
}

/// Returns the string before the first NUL.
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
    fn place_on_volume_below_mount_point() {
        let temp = std::env::temp_dir().canonicalize().unwrap();
        let (mount_point, below) = place_on_volume(&temp).unwrap();
        assert_eq!(mount_point.join(below), plain(temp.as_os_str()));
        let name = volume_name(&mount_point).unwrap().into_os_string().into_string().unwrap();
        assert!(name.starts_with(r"\\?\Volume{") && name.ends_with('}'), "{name}");
        assert!(volume_name(Path::new(r"\\server\share\")).is_err());
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
