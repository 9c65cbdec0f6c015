//! How many arguments the system accepts.

use std::ffi::{OsStr, OsString};

/// Bytes of the limit that stay free, as POSIX recommends for `xargs`, and for what the kernel adds.
#[cfg(unix)]
const HEADROOM: usize = 4096;

/// Counts the bytes of a command line against the limit of the system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// Returns what the environment leaves for arguments.
    ///
    /// Linux allows a quarter of the stack for arguments, environment and the pointers to them, at least
    /// 128 KiB and at most 6 MiB (`execve(2)`).
    #[cfg(unix)]
    pub(super) fn of_system() -> Self {
        use rustix::process::{Resource, getrlimit};

        const LEAST: u64 = 128 << 10;
        const MOST: u64 = 6 << 20;
        let stack = getrlimit(Resource::Stack).current.unwrap_or(u64::MAX);
        let limit = if cfg!(target_os = "linux") { (stack / 4).clamp(LEAST, MOST) } else { LEAST };
        let environment: usize =
            std::env::vars_os().map(|(key, value)| cost(&key) + cost(&value)).sum();
        Self { left: (limit as usize).saturating_sub(environment + HEADROOM) }
    }

    /// Returns the limit of `CreateProcess`: 32,767 UTF-16 units.
    #[cfg(not(unix))]
    pub(super) fn of_system() -> Self {
        Self { left: 32_000 }
    }

    /// Takes the cost of an argument; returns false if there is not enough left.
    pub(super) fn take(&mut self, argument: &OsStr) -> bool {
        let left = self.left.checked_sub(cost(argument));
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Returns what these arguments leave.
    pub(super) fn without<'a>(self, arguments: impl IntoIterator<Item = &'a OsString>) -> Self {
        let cost: usize = arguments.into_iter().map(|argument| cost(argument)).sum();
        Self { left: self.left.saturating_sub(cost) }
    }
}

/// The bytes of a string, with the NUL after it and the pointer to it.
#[cfg(unix)]
fn cost(argument: &OsStr) -> usize {
    argument.len() + 1 + size_of::<usize>()
}

/// The units of an argument if each must be escaped, with quotes and a space.
#[cfg(not(unix))]
fn cost(argument: &OsStr) -> usize {
    argument.len() * 2 + 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_taken_until_nothing_is_left() {
        let mut budget = Budget { left: cost(OsStr::new("abc")) + 1 };
        assert!(!budget.take(OsStr::new("abcdef")), "a longer one does not fit");
        assert!(budget.take(OsStr::new("abc")));
        assert!(!budget.take(OsStr::new("")));
        let whole = Budget { left: 100 };
        let without = whole.without(&[OsString::from("a"), OsString::from("bc")]);
        assert_eq!(whole.left - without.left, cost(OsStr::new("a")) + cost(OsStr::new("bc")));
        assert!(Budget::of_system().take(OsStr::new(&"x".repeat(10_000))));
    }
}
