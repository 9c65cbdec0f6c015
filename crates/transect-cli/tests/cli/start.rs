//! The libraries that the program loads.

use crate::harness::{TestEnv, skip};

/// Each further library costs every start: `libm` takes 0.07 ms, a walk of ten files 0.11 ms. The crate
/// `parquet` needs it for filters that snapshots do not use; nothing else may.
#[test]
fn start_loads_few_libraries() {
    let env = TestEnv::new();
    // Makes glibc's loader list the libraries instead of running the program.
    let listed = env.sh(r#"LD_TRACE_LOADED_OBJECTS=1 "$TRANSECT" --version"#).exits(0);
    let loaded = listed.stdout_text();
    if !loaded.contains("libc.so") {
        let test = "start_loads_few_libraries";
        return skip(test, "the loader does not list what it loads").unwrap_or_default();
    }
    for line in loaded.lines() {
        let name = line.split_whitespace().next().unwrap_or_default();
        let known = ["linux-vdso.", "libgcc_s.", "libm.", "libc.", "/lib/ld-", "/lib64/ld-"];
        assert!(known.iter().any(|known| name.starts_with(known)), "{name}: {loaded}");
    }
}
