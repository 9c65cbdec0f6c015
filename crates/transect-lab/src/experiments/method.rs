//! Methods: the part that all experiments share.

use crate::rivals::contender::{Contender, ContenderMethod};
use crate::rivals::external::External;
use crate::spec::{Cell, CheckedBy};

/// One way of doing the work of an experiment.
#[derive(Clone, Debug)]
pub struct Method<R> {
    /// Its name, which is unique.
    pub name: String,
    /// The rows of the seed contract that it implements.
    pub contract: Vec<String>,
    pub language: String,
    /// Describes it in one line.
    pub about: String,
    /// Whether it works on several threads.
    pub parallel: bool,
    /// Whether quick sessions include it.
    pub quick: bool,
    /// Why it cannot run here, and what would help; `None` if it can.
    pub unavailable_reason: Option<String>,
    /// The part that only its experiment has, including how to run it.
    pub runner: R,
}

/// The part of a method that only its experiment has.
pub trait Runner {
    /// Returns the name of its kind in JSON.
    fn kind(&self) -> &'static str;

    /// Returns its contender, which has to be built, if it belongs to one.
    fn contender(&self) -> Option<&Contender>;

    /// Returns its command, if it is a command of the user or of a preset.
    fn external(&self) -> Option<&External> {
        None
    }

    /// Returns the program of its peer, if it belongs to one.
    fn peer_program(&self) -> Option<&str> {
        None
    }

    /// Returns how its work is verified, if that depends on the method.
    fn checked_by(&self) -> Option<CheckedBy> {
        None
    }

    /// Returns whether a cell runs the method of this name.
    fn is_run_by(&self, name: &str, cell: &Cell) -> bool {
        cell.method == name
    }
}

impl<R> Method<R> {
    /// Returns a single-threaded method of this program.
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

pub(super) fn with_second_base(mut cells: Vec<Cell>, base: &str) -> Vec<Cell> {
    if let Some(at) = cells.iter().position(|cell| cell.name == base) {
        cells.insert(at + 1, cells[at].second_base());
    }
    cells
}

impl<R: Runner> Method<R> {
    pub fn is_run_by(&self, cell: &Cell) -> bool {
        self.runner.is_run_by(&self.name, cell)
    }

    /// Returns the programs that it needs: to build and run its contender, its peer, or its command.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        let needs = self.runner.contender().into_iter().flat_map(|contender| &contender.needs);
        let command = self.runner.external().map(External::program);
        needs.map(String::as_str).chain(self.runner.peer_program()).chain(command)
    }

    /// Returns the cell that runs it, with the fields that all experiments share.
    pub fn cell(&self) -> Cell {
        let external = self.runner.external();
        Cell {
            name: self.name.clone(),
            method: self.name.clone(),
            contract: self.contract.clone(),
            language: self.language.clone(),
            kind: self.runner.kind().to_owned(),
            parallel: self.parallel,
            // No floor binds a command: it may avoid the work that a floor measures.
            floors: external.map(|_| Vec::new()),
            command: external.map(|external| external.words.clone()),
            tasks: None,
            checked: self.runner.checked_by(),
            code: self.runner.contender().map(Contender::code_length),
        }
    }
}
