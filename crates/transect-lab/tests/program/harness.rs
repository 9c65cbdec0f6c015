//! The environment in which the lab runs.

use std::ffi::OsStr;
use std::ops::Deref;
use std::path::PathBuf;

use transect_testkit::program;
pub(crate) use transect_testkit::program::{Output, skip};

const LAB: &str = env!("CARGO_BIN_EXE_transect-lab");

/// Returns the path of the program `transect`, which the lab measures.
pub(crate) fn transect() -> PathBuf {
    program::beside(LAB, "transect", "transect-cli")
}

/// An environment for the lab, which is `$LAB` in scripts; `$TRANSECT` is the other program.
pub(crate) struct TestEnv(program::TestEnv);

impl TestEnv {
    pub(crate) fn new() -> Self {
        let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");
        let variables = vec![("LAB", LAB.into()), ("TRANSECT", transect())];
        Self(program::TestEnv::new(LAB, cache, variables))
    }

    /// Runs the lab to its end.
    pub(crate) fn lab<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        self.run(args)
    }

    /// Runs `transect` to its end.
    pub(crate) fn transect<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Output {
        program::Running::start(self.command(transect()).args(args)).finish()
    }
}

impl Deref for TestEnv {
    type Target = program::TestEnv;

    fn deref(&self) -> &program::TestEnv {
        &self.0
    }
}
