//! Faults in system calls: every file stays old or becomes new, whatever fails, and the exit code
//! tells which.
//!
//! Where not everything is tested (`make torture` does), each scenario meets a sample of its faults.
//!
//! A test program of its own: it is itself one of the programs that are traced, and `make torture`
//! runs it alone.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::disallowed_methods, reason = "the program is compared with plain std::fs")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "what it prints is compared")]
#![expect(clippy::unwrap_used, reason = "a scenario that cannot be prepared fails")]

mod answers;
mod libraries;
mod patches;
mod removal;
mod snapshot;
mod torture;
mod transforms;

use transect_cache::Level;

/// What processes are started for that run a part of a library: not a test of its own.
#[test]
#[expect(clippy::exit, reason = "its exit code tells whether anything was kept")]
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
