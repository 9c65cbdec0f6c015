//! Reports tests that cannot run, and fails them where all tests must run.

use std::io::Write;

/// Reports that a test cannot run here, and returns nothing.
///
/// # Panics
/// As [`loudly_skip`].
pub fn skip<T>(test: &str, reason: impl std::fmt::Display) -> Option<T> {
    loudly_skip(test, reason);
    None
}

/// Reports that a test cannot run here.
///
/// # Panics
/// If the environment variable `TRANSECT_NO_SKIP` is set. It is set where everything is installed,
/// so that no test is skipped.
pub fn loudly_skip(test: &str, reason: impl std::fmt::Display) {
    if std::env::var_os("TRANSECT_NO_SKIP").is_some() {
        panic!("{test} was not to be skipped: {reason}");
    }
    #[expect(clippy::disallowed_methods, reason = "what is printed here is for testers")]
    let mut stderr = std::io::stderr();
    // Not `eprintln!`, which the test harness captures.
    let _ = writeln!(stderr, "SKIPPED: {test}: {reason}");
}
