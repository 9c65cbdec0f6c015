//! Programs that tests write: scripts.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a program, a script for the shell that its first line names.
///
/// Another process writes it. A file that this process has open for writing is also open in each child that
/// another test has just forked, and cannot be executed until that child executes its own program (`ETXTBSY`).
///
/// # Panics
/// If it cannot be written.
pub fn write_script(path: &Path, text: &str) {
    let mut writer = Command::new("/bin/sh")
        .args(["-c", r#"cat >"$0" && chmod 755 "$0""#])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let input = writer.stdin.take().expect("its input is a pipe");
    { input }.write_all(text.as_bytes()).expect("the shell reads");
    assert!(writer.wait().expect("it runs").success(), "cannot write '{}'", path.display());
}
