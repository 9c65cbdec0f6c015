//! Runs Unix programs under Wine, to create files that Windows programs cannot.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::watchdog::wait_for;

/// The path where Wine, and only Wine, shows the root of the Unix file system.
const SHELL: &str = r"\\?\unix\bin\sh";

/// The last line of a script's output.
const ENDED: &str = "\nended\n";

/// Returns whether Unix programs can be started, because the tests run under Wine.
pub fn has_unix_shell() -> bool {
    Path::new(SHELL).exists()
}

/// Runs a script in the directory `at`, and returns its output; `None` without a Unix shell.
/// Scripts use relative paths: a Windows program cannot find out the Unix path of `at`.
///
/// # Panics
/// If the script does not end.
pub fn unix_shell(at: &Path, script: &str) -> Option<String> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if !has_unix_shell() {
        return None;
    }
    // Wine reports neither the end of a Unix program nor its output to a pipe. So the script writes
    // to a file, and marks its end there.
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("transect-shell-{}-{next}", std::process::id());
    let output = std::env::temp_dir().join(name);
    let file = File::create(&output).expect("a file can be made");
    let started = Command::new(SHELL)
        .args(["-c", &format!("({script}) 2>&1; printf '\\nended\\n'")])
        .current_dir(at)
        .stdin(Stdio::null())
        .stdout(file)
        .spawn();
    assert!(started.is_ok(), "Wine starts Unix programs: {started:?}");
    let said = wait_for(&format!("the end of the script: {script}"), || {
        let written = std::fs::read(&output).expect("the file is there");
        String::from_utf8_lossy(&written).strip_suffix(ENDED).map(str::to_owned)
    });
    let _ = std::fs::remove_file(&output);
    Some(said)
}
