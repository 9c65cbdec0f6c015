//! File systems mounted for a test. Mounting needs privileges; tests without them are skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted file system, unmounted when dropped.
#[derive(Debug)]
pub struct Mount(PathBuf);

impl Mount {
    /// Mounts on a directory with these arguments of `mount`. Creates the directory.
    ///
    /// # Errors
    /// The error of `mount`.
    ///
    /// # Panics
    /// If the directory cannot be created.
    pub fn new(arguments: &[&str], at: &Path) -> Result<Self, String> {
        std::fs::create_dir_all(at).expect("a directory to mount on");
        run(Command::new("mount").args(arguments).arg(at))?;
        Ok(Self(at.to_owned()))
    }

    /// Mounts a tmpfs of this size, as `mount` writes sizes.
    ///
    /// # Errors
    /// The error of `mount`.
    pub fn tmpfs(size: &str, at: &Path) -> Result<Self, String> {
        Self::new(&["-t", "tmpfs", "-o", &format!("size={size}"), "transect"], at)
    }

    /// Creates a file system in the sparse file `image` of this size, with a command to which the
    /// image is appended, and mounts it.
    ///
    /// # Errors
    /// The file system could not be created or mounted.
    ///
    /// # Panics
    /// If the image cannot be created.
    pub fn image(image: &Path, size: u64, make: &[&str], at: &Path) -> Result<Self, String> {
        let file = std::fs::File::create(image).expect("an image");
        file.set_len(size).expect("an image may have holes");
        run(Command::new(make[0]).args(&make[1..]).arg(image))?;
        Self::new(&["-o", "loop", image.to_str().expect("a path of tests is text")], at)
    }

    /// Creates a file system of 64 MB in the file `image` with these arguments of `mkfs.ext4`, and
    /// mounts it.
    ///
    /// # Errors
    /// The file system could not be created or mounted.
    ///
    /// # Panics
    /// If the image cannot be created.
    pub fn ext4(image: &Path, options: &[&str], at: &Path) -> Result<Self, String> {
        let make = [&["mkfs.ext4", "-q", "-F", "-N", "20000"], options].concat();
        Self::image(image, 64 << 20, &make, at)
    }

    /// Creates a file system of 4 MB in the file `image` that ignores case, and mounts it: NTFS
    /// through FUSE, which every kernel supports.
    ///
    /// # Errors
    /// The file system could not be created or mounted.
    ///
    /// # Panics
    /// If the image or the directory cannot be created.
    pub fn ntfs(image: &Path, at: &Path) -> Result<Self, String> {
        let file = std::fs::File::create(image).expect("an image");
        file.set_len(4 << 20).expect("an image may have holes");
        run(Command::new("mkntfs").args(["-F", "-Q", "-q"]).arg(image))?;
        std::fs::create_dir_all(at).expect("a directory to mount on");
        run(Command::new("lowntfs-3g").args(["-o", "ignore_case"]).arg(image).arg(at))?;
        Ok(Self(at.to_owned()))
    }

    /// Returns the mount point.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmounted = run(Command::new("umount").arg("--lazy").arg(&self.0));
        if !std::thread::panicking() {
            unmounted.expect("what was mounted can be unmounted");
        }
    }
}

pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}", said.trim()))
}
