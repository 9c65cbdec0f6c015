//! Unix programs under Wine: they make what Windows programs cannot.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::watchdog::wait_for;

/// Where Wine, and nobody else, shows the files of the system below it.
const SHELL: &str = r"\\?\unix\bin\sh";

/// What a script says at its end.
const ENDED: &str = "\nended\n";

/// Returns whether Unix programs can be started: the tests run under Wine.
pub fn has_unix_shell() -> bool {
    Path::new(SHELL).exists()
}

/// Runs a script in the directory `at`, and returns what it wrote; `None` where there is no Unix
/// shell. Scripts have relative paths: nobody tells a Windows program what Unix calls `at`.
///
/// # Panics
/// If the script does not end.
pub fn unix_shell(at: &Path, script: &str) -> Option<String> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if !has_unix_shell() {
        return None;
    }
    // Wine tells neither when a Unix program ends nor what it writes into a pipe: into a file it
    // writes, and the script itself says that it has ended.
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
