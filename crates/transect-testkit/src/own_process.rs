//! Tests that inspect or change their whole process run in a process of their own.

use std::process::{Command, Output};

/// The environment variable with the role of a process started by [`rerun`].
const ROLE: &str = "TRANSECT_TEST_ROLE";

/// Runs the test `test` (its path within the binary) again in a process of its own, where this
/// function calls `body`.
///
/// # Panics
/// If the other process fails, or contains no such test.
pub fn in_own_process(test: &str, body: impl FnOnce()) {
    if rerun(test, "alone", &[], body) {
        return;
    }
    unreachable!("the process started for {test} has an unknown role");
}

/// Starts a process that runs the test `test` in a role, and returns true. In that process, calls
/// `body` and returns true, too. Returns false in a process started for another role.
///
/// # Panics
/// If the other process fails, or contains no such test.
pub fn rerun(test: &str, role: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> bool {
    match std::env::var(ROLE) {
        Ok(mine) if mine == role => {
            body();
            return true;
        }
        Ok(_) => return false,
        Err(_) => {}
    }
    let program = std::env::current_exe().expect("a test binary knows where it is");
    let Output { status, stdout, stderr } = Command::new(program)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .envs(variables.iter().copied())
        .output()
        .expect("a test binary can be started again");
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    // A misspelt name would run no test and succeed.
    assert!(
        status.success() && stdout.contains("1 passed"),
        "{test} failed in the role '{role}': {status}\n{stdout}\n{stderr}"
    );
    true
}
