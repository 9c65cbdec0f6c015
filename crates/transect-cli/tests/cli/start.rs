//! The libraries that the program loads.

use crate::harness::{TestEnv, skip};

/// A logarithm in a report of the lab would make every start load the C library's mathematics,
/// which takes 0.07 ms; the walk of ten files takes 0.11.
#[test]
fn start_does_not_load_libm() {
    let env = TestEnv::new();
    // Makes glibc's loader list the libraries without running the program.
    let listed = env.sh(r#"LD_TRACE_LOADED_OBJECTS=1 "$TRANSECT" --version"#).exits(0);
    let loaded = listed.stdout_text();
    if !loaded.contains("libc.so") {
        let test = "start_does_not_load_libm";
        return skip(test, "the loader does not list what it loads").unwrap_or_default();
    }
    assert!(!loaded.contains("libm.so"), "{loaded}");
}
