//! Tests that cannot run here say so, and may not hide where they have to run.

use std::io::Write;

/// Tells that a test cannot run here.
///
/// # Panics
/// If the environment variable `TRANSECT_NO_SKIP` is set: where everything is at hand nothing may
/// be left out.
pub fn loudly_skip(test: &str, reason: impl std::fmt::Display) {
    if std::env::var_os("TRANSECT_NO_SKIP").is_some() {
        panic!("{test} was not to be skipped: {reason}");
    }
    #[expect(clippy::disallowed_methods, reason = "what is printed here is for testers")]
    let mut stderr = std::io::stderr();
    // Not by eprintln!, which the test harness keeps for failures.
    let _ = writeln!(stderr, "SKIPPED: {test}: {reason}");
}
