//! Putting bytes where they belong in a file, other than by writing behind the last ones.

use crate::error::Error;
use crate::publish::Replacement;

/// A way of getting bytes into a file.
pub(super) trait PositionedWriter: Send {
    /// Puts bytes at the end of the result, which the caller then moves behind them.
    fn write_at_end(&mut self, out: &Replacement, bytes: &[u8]) -> Result<(), Error>;

    /// Puts what was kept back.
    fn finish(&mut self, out: &Replacement) -> Result<(), Error> {
        let _ = out;
        Ok(())
    }
}
