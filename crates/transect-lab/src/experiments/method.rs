//! Methods: the part that all experiments share.

use crate::rivals::contender::{Contender, ContenderMethod};
use crate::rivals::external::External;
use crate::rivals::peer::Peer;
use crate::spec::{Cell, CheckedBy, CodeLength, PEER};

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

/// Where a method comes from.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'m> {
    /// This program; with the name of its kind in JSON.
    Own(&'static str),
    Contender(&'m Contender),
    Peer(&'m Peer),
    /// A command of the user or of a preset.
    Command(&'m External),
}

/// The part of a method that only its experiment has.
pub trait Runner {
    fn origin(&self) -> Origin<'_>;

    /// Returns how its work is verified, if that depends on the method.
    fn checked_by(&self) -> Option<CheckedBy> {
        None
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
            contract: method.contract.clone(),
            language: contender.language.clone(),
            parallel: method.parallel,
            quick: method.quick,
            unavailable_reason: contender.unavailable_reason(),
            ..Self::own(&*method.name, &*method.about, runner)
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
    /// Returns whether a cell runs it, with any settings.
    pub fn is_run_by(&self, cell: &Cell) -> bool {
        cell.method == self.name || cell.method.split(',').next() == Some(&self.name)
    }

    /// Returns the name of its kind in JSON.
    pub fn kind(&self) -> &'static str {
        match self.runner.origin() {
            Origin::Own(kind) => kind,
            Origin::Contender(_) => "contender",
            Origin::Peer(_) => PEER,
            Origin::Command(_) => "external",
        }
    }

    /// Returns its contender, which has to be built, if it belongs to one.
    pub fn contender(&self) -> Option<&Contender> {
        match self.runner.origin() {
            Origin::Contender(contender) => Some(contender),
            _ => None,
        }
    }

    /// Returns the length of its code, if it belongs to a contender.
    pub fn code_length(&self) -> Option<CodeLength> {
        self.contender().map(|contender| contender.code_length(&self.name))
    }

    /// Returns the programs that it needs: to build and run its contender, its peer, or its command.
    pub fn programs(&self) -> Vec<&str> {
        match self.runner.origin() {
            Origin::Own(_) => Vec::new(),
            Origin::Contender(contender) => contender.needs.iter().map(String::as_str).collect(),
            Origin::Peer(peer) => peer.program().into_iter().collect(),
            Origin::Command(external) => vec![external.program()],
        }
    }

    /// Returns the cell that runs it, with the fields that all experiments share.
    pub fn cell(&self) -> Cell {
        let command = match self.runner.origin() {
            Origin::Command(external) => Some(external.words.clone()),
            _ => None,
        };
        Cell {
            name: self.name.clone(),
            method: self.name.clone(),
            contract: self.contract.clone(),
            language: self.language.clone(),
            kind: self.kind().to_owned(),
            parallel: self.parallel,
            // No floor binds a command: it may avoid the work that a floor measures.
            floors: command.as_ref().map(|_| Vec::new()),
            command,
            tasks: None,
            checked: self.runner.checked_by(),
            code: self.code_length(),
        }
    }
}
