//! What every method has, whatever its experiment.

use crate::rivals::contender::Contender;
use crate::spec::Cell;

/// A method of any experiment, as far as choosing, listing and measuring need to know it.
pub trait MethodInfo {
    /// Returns its name, which is unique.
    fn name(&self) -> &str;

    /// Returns the rows of the seed contract that it implements.
    fn contract(&self) -> &[String] {
        &[]
    }

    /// Returns the language it is written in.
    fn language(&self) -> &str;

    /// Describes it in one line.
    fn about(&self) -> &str;

    /// Returns the word for how it is run, as in JSON.
    fn kind(&self) -> &'static str;

    /// Returns whether it works on several threads.
    fn is_parallel(&self) -> bool;

    /// Returns why it cannot run here, if it cannot.
    fn unavailable_reason(&self) -> Option<&str>;

    /// Returns the contender it belongs to, which has to be built.
    fn contender(&self) -> Option<&Contender>;

    /// Returns whether a cell runs it.
    fn is_run_by(&self, cell: &Cell) -> bool {
        cell.method == self.name()
    }

    /// Returns the cell that runs it, without what only its experiment knows.
    fn cell(&self) -> Cell {
        Cell {
            name: self.name().to_owned(),
            method: self.name().to_owned(),
            contract: self.contract().to_vec(),
            language: self.language().to_owned(),
            kind: self.kind().to_owned(),
            parallel: self.is_parallel(),
            floors: None,
            command: None,
            tasks: None,
        }
    }
}
