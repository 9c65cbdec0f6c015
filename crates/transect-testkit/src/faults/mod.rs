//! Injects faults into system calls with a tracer. The tested program needs no preparation and may
//! make its calls in any way, except through a ring (`io_uring`).
//!
//! ```text
//! run(command, None)         all calls that touch files, in order
//! run(command, Some(point))  the same, with a fault in the n-th call of one name
//! ```
//!
//! The program stops at the start and at the end of every call. To fail a call, the tracer replaces
//! it by one that does not exist, and its result by the error. To shorten a call, it reduces the
//! length, so that the kernel really does less. The thread that calls [`run`] traces the program
//! with all its threads, but not the programs that it starts.

mod calls;
mod tracer;

use std::ffi::OsStr;
use std::process::Command;

pub use calls::{Call, Fault, FaultPoint};
pub use nix::errno::Errno;
pub use tracer::{End, Outcome, run};

/// Returns a command that [`run`] can trace. Use it like any other, but [`run`] provides its
/// standard input.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("/bin/sh");
    // The shell waits until the tracer is attached.
    command.args(["-c", r#"read _; exec "$0" "$@""#]).arg(program);
    command
}

/// Returns why tracing is not possible here; `None` if it is.
pub fn unavailable_reason() -> Option<String> {
    let traced = run(command("/bin/true"), b"", &|_| true, None);
    match traced {
        Ok(Outcome { end: End::Code(0), .. }) => None,
        Ok(outcome) => Some(format!("a traced program ended with {:?}", outcome.end)),
        Err(error) => Some(format!("a process cannot be traced: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TempDir, loudly_skip};

    /// Runs `cat` on a file of ten bytes, with a fault in the first call of a name.
    fn cat(test: &str, name: &'static str, fault: Fault) -> Option<Outcome> {
        if let Some(reason) = unavailable_reason() {
            loudly_skip(test, reason);
            return None;
        }
        let temp = TempDir::new();
        let path = temp.join("file");
        std::fs::write(&path, "0123456789").unwrap();
        let mut command = command("/bin/cat");
        command.arg(&path).stdout(std::process::Stdio::piped());
        let point = FaultPoint { name, nth: 0, fault, persists: false };
        let counts = |subject: &str| subject == path.to_str().unwrap();
        Some(run(command, b"", &counts, Some(point)).unwrap())
    }

    #[test]
    fn fault_error_call_not_made() {
        let test = "fault_error_call_not_made";
        let Some(outcome) = cat(test, "openat", Fault::Error(Errno::EIO)) else {
            return;
        };
        assert_eq!(outcome.end, End::Code(1), "{outcome:?}");
        assert_eq!(outcome.hit.unwrap().name, "openat");
        assert!(String::from_utf8_lossy(&outcome.stderr).contains("Input/output error"));
        assert_eq!(outcome.stdout, b"");
    }

    #[test]
    fn fault_short_call_made() {
        let test = "fault_short_call_made";
        let Some(outcome) = cat(test, "read", Fault::Short) else {
            return;
        };
        assert_eq!(outcome.end, End::Code(0), "{outcome:?}");
        assert_eq!(outcome.hit.unwrap().nth, 0);
        assert_eq!(outcome.stdout, b"0123456789");
    }
}
