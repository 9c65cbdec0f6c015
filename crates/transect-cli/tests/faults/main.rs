//! Faults in system calls: whatever fails, every file stays old or becomes new, and the exit code
//! shows which.
//!
//! By default, each scenario is tested with a sample of its faults; `make torture` tests all of
//! them.
//!
//! This is a separate test program, because it traces copies of itself, and because `make torture`
//! runs it alone.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::disallowed_methods, reason = "the program is compared with plain std::fs")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it prints is compared")]
#![expect(clippy::unwrap_used, reason = "a scenario that cannot be prepared fails")]

mod answers;
mod duplicates;
mod libraries;
mod removal;
mod snapshot;
mod torture;
mod transforms;

use transect_cache::Level;

/// Runs a part of a library in a process started for that. It tests nothing by itself.
#[test]
#[expect(clippy::exit, reason = "its exit code reports whether anything was kept")]
fn library() {
    let code = match std::env::var(torture::ROLE).as_deref() {
        Ok("cache-checked") => libraries::ask_cache(Level::Checked),
        Ok("cache-frozen") => libraries::ask_cache(Level::Frozen),
        Ok("delete") => removal::remove(false),
        Ok("profile") => libraries::store_profile(),
        Ok("trash") => removal::remove(true),
        _ => return,
    };
    std::process::exit(code);
}
