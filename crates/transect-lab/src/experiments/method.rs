//! What every method has, whatever its experiment.

use crate::rivals::contender::{Contender, ContenderMethod};
use crate::rivals::external::External;
use crate::spec::Cell;

/// One way of doing the work of an experiment.
#[derive(Clone, Debug)]
pub struct Method<R> {
    /// Its name, which is unique.
    pub name: String,
    /// The rows of the seed contract that it implements.
    pub contract: Vec<String>,
    /// The language it is written in.
    pub language: String,
    /// Describes it in one line.
    pub about: String,
    /// Whether it works on several threads.
    pub parallel: bool,
    /// Whether quick sessions include it.
    pub quick: bool,
    /// Why it cannot run here, and what would help; `None` if it can.
    pub unavailable_reason: Option<String>,
    /// How it runs.
    pub runner: R,
}

/// How a method of one experiment runs.
pub trait Runner {
    /// Returns the word for it, as in JSON.
    fn kind(&self) -> &'static str;

    /// Returns the contender it belongs to, which has to be built.
    fn contender(&self) -> Option<&Contender>;

    /// Returns the command that it is, if it is one of the user or of a preset.
    fn external(&self) -> Option<&External> {
        None
    }

    /// Returns whether a cell runs the method of this name.
    fn is_run_by(&self, name: &str, cell: &Cell) -> bool {
        cell.method == name
    }
}

impl<R> Method<R> {
    /// Returns a method of this program, on one thread.
    pub(super) fn own(name: impl Into<String>, about: impl Into<String>, runner: R) -> Self {
        Self {
            name: name.into(),
            contract: Vec::new(),
            language: "Rust".to_owned(),
            about: about.into(),
            parallel: false,
            quick: true,
            unavailable_reason: None,
            runner,
        }
    }

    /// Returns a method of a contender.
    pub(super) fn of_contender(contender: &Contender, method: &ContenderMethod, runner: R) -> Self {
        Self {
            name: method.name.clone(),
            contract: method.contract.clone(),
            language: contender.language.clone(),
            about: method.about.clone(),
            parallel: method.parallel,
            quick: method.quick,
            unavailable_reason: contender.unavailable_reason(),
            runner,
        }
    }
}

impl<R: Runner> Method<R> {
    /// Returns whether a cell runs it.
    pub fn is_run_by(&self, cell: &Cell) -> bool {
        self.runner.is_run_by(&self.name, cell)
    }

    /// Returns the cell that runs it, without what only its experiment defines.
    pub fn cell(&self) -> Cell {
        let external = self.runner.external();
        Cell {
            name: self.name.clone(),
            method: self.name.clone(),
            contract: self.contract.clone(),
            language: self.language.clone(),
            kind: self.runner.kind().to_owned(),
            parallel: self.parallel,
            // A command may do without what a floor does.
            floors: external.map(|_| Vec::new()),
            command: external.map(|external| external.words.clone()),
            tasks: None,
        }
    }
}
