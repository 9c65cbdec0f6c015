//! Opens pages in the browser.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use transect_sys::private_dir::PrivateTempDir;

use crate::output;

/// Opens a page with the default program for it, without waiting. If that fails, an error is printed,
/// and the user can open the page by hand.
pub(crate) fn open(page: &Path) {
    let mut command = transect_sys::open_command(page);
    let program = command.get_program().to_string_lossy().into_owned();
    let silent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match silent.spawn() {
        Ok(mut child) => {
            // Without waiting for the thread: the program may run as long as the browser.
            std::thread::spawn(move || match child.wait() {
                Ok(status) if !status.success() => fail(&format!("{program} failed ({status})")),
                _ => {}
            });
        }
        Err(error) => {
            fail(&format!("cannot start {program}: {}", transect::reason(&error)));
        }
    }
}

fn fail(reason: &str) {
    output::error(&format!("no browser was opened: {reason}; open the page yourself"));
}

/// A file that leads a browser to an address.
///
/// The address of a served map contains a secret, and every user of the machine can read the
/// arguments of all processes. Only the owner can read this file. It is removed on drop.
pub(crate) struct Redirect {
    _directory: PrivateTempDir,
    path: PathBuf,
}

impl Redirect {
    pub(crate) fn to(address: &str) -> io::Result<Self> {
        let directory = PrivateTempDir::new("map")?;
        let path = directory.path().join("open.html");
        std::fs::write(
            &path,
            format!(
                "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n\
                 <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n\
                 <title>transect map</title>\n<a href=\"{address}\">transect map</a>\n"
            ),
        )?;
        Ok(Self { _directory: directory, path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
