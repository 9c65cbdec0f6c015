//! The environment in which the program runs.

use std::ffi::OsStr;
use std::ops::Deref;

pub(crate) use transect_testkit::assert_output;
use transect_testkit::program;
pub(crate) use transect_testkit::program::{Output, Running, skip};

const TRANSECT: &str = env!("CARGO_BIN_EXE_transect");

/// An environment for `transect`, which is `$TRANSECT` in scripts.
pub(crate) struct TestEnv(program::TestEnv);

impl TestEnv {
    pub(crate) fn new() -> Self {
        let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");
        Self(program::TestEnv::new(TRANSECT, cache, vec![("TRANSECT", TRANSECT.into())]))
    }

    /// Runs the program to its end.
    pub(crate) fn transect<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.run(args)
    }

    /// Runs the program as an unprivileged user.
    pub(crate) fn transect_unprivileged<A: AsRef<OsStr>>(
        &self,
        test: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Option<Output> {
        self.run_unprivileged(test, args)
    }
}

impl Deref for TestEnv {
    type Target = program::TestEnv;

    fn deref(&self) -> &program::TestEnv {
        &self.0
    }
}
