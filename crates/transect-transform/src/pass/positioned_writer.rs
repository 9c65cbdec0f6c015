//! Writing at a position in a file, by other means than appending to its handle.

use crate::error::Error;
use crate::publish::Replacement;

/// A means of writing bytes into a file.
pub(super) trait PositionedWriter: Send {
    /// Writes bytes at the end of the result. The caller then moves the end behind them.
    fn write_at_end(&mut self, out: &Replacement, bytes: &[u8]) -> Result<(), Error>;

    /// Writes the buffered bytes.
    fn finish(&mut self, out: &Replacement) -> Result<(), Error> {
        let _ = out;
        Ok(())
    }
}
