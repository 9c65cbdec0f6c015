//! The libraries that the program loads.

use crate::harness::{TestEnv, skip};

/// Each further library costs every start: `libm` would take 0.07 ms, a walk of ten files 0.11 ms.
#[test]
fn start_does_not_load_libm() {
    let env = TestEnv::new();
    // Makes glibc's loader list the libraries instead of running the program.
    let listed = env.sh(r#"LD_TRACE_LOADED_OBJECTS=1 "$TRANSECT" --version"#).exits(0);
    let loaded = listed.stdout_text();
    if !loaded.contains("libc.so") {
        let test = "start_does_not_load_libm";
        return skip(test, "the loader does not list what it loads").unwrap_or_default();
    }
    for line in loaded.lines() {
        let name = line.split_whitespace().next().unwrap_or_default();
        let known = ["linux-vdso.", "libgcc_s.", "libc.", "/lib/ld-", "/lib64/ld-"];
        assert!(known.iter().any(|known| name.starts_with(known)), "{name}: {loaded}");
    }
}
