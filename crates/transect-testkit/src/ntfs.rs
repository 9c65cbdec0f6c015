//! NTFS volumes for tests: made by `mkntfs`, filled and shown by `ntfs-3g`.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::mount::run;
use crate::{wait_for_ok, wait_until};

/// An image with NTFS, mounted through FUSE. When it is dropped, it is unmounted and everything is written.
#[derive(Debug)]
pub struct NtfsMount {
    point: PathBuf,
    driver: Child,
}

impl NtfsMount {
    /// Creates a file system in the sparse file `image` of this size with these arguments of `mkntfs`.
    ///
    /// # Errors
    /// It could not be created.
    ///
    /// # Panics
    /// If the image cannot be created.
    pub fn make(image: &Path, size: u64, options: &[&str]) -> Result<(), String> {
        let file = std::fs::File::create(image).expect("an image");
        file.set_len(size).expect("an image may have holes");
        run(Command::new("mkntfs").args(["-F", "-Q", "-q"]).args(options).arg(image))
    }

    /// Mounts an image on a directory with these options of `ntfs-3g`. Creates the directory.
    ///
    /// # Errors
    /// It could not be mounted.
    ///
    /// # Panics
    /// If the directory cannot be created.
    pub fn new(image: &Path, options: &str, at: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(at).expect("a directory to mount on");
        let at = at.canonicalize().expect("a directory");
        // In the foreground, so that its end shows that everything was written.
        let options = format!("no_detach,{options}");
        let driver = Command::new("ntfs-3g")
            .args(["-o", options.trim_end_matches(',')])
            .args([image, &at])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("ntfs-3g: {error}"))?;
        let mut this = Self { point: at, driver };
        let mut ended = None;
        wait_until("the volume is mounted", || {
            ended = this.driver.try_wait().expect("a child can be waited for");
            ended.is_some() || this.is_mounted()
        });
        match ended {
            Some(status) => Err(format!("ntfs-3g: {status}")),
            None => Ok(this),
        }
    }

    fn is_mounted(&self) -> bool {
        let table = std::fs::read("/proc/self/mountinfo").expect("the mount table");
        let point = self.point.as_os_str().as_bytes();
        table.split(|&byte| byte == b' ').any(|field| field == point)
    }
}

impl Drop for NtfsMount {
    fn drop(&mut self) {
        if self.is_mounted() {
            let unmount = || run(Command::new("umount").arg(&self.point));
            if !std::thread::panicking() {
                // A program that another test has just forked may still have a file open.
                wait_for_ok("unmounted", unmount);
            } else if unmount().is_err() {
                let _ = self.driver.kill();
            }
        }
        let _ = self.driver.wait();
    }
}

/// Sets an extended attribute of a file, not of what a link leads to: `ntfs-3g` has some for what Linux does
/// not know.
///
/// # Panics
/// If it cannot be set.
pub fn set_xattr(path: &Path, name: &str, value: &[u8]) {
    let path = CString::new(path.as_os_str().as_bytes()).expect("a path without NUL");
    let name = CString::new(name).expect("a name without NUL");
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::lsetxattr(&path, &name, value, flags).unwrap_or_else(|error| {
        panic!("{name:?} of {path:?}: {error}");
    });
}
