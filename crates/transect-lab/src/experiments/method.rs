//! Methods: the part that all experiments share.

use crate::harness::launch::can_start;
use crate::rivals::contender::{Contender, ContenderMethod};
use crate::rivals::external::External;
use crate::rivals::peer::Peer;
use crate::spec::{Cell, CodeLength, ENGINE, FLOOR, PEER};

#[derive(Clone, Debug)]
pub struct Method<P> {
    /// Its name, which is unique.
    pub name: String,
    /// The rows of the seed contract that it implements.
    pub contract: Vec<String>,
    pub language: String,
    pub about: String,
    pub parallel: bool,
    /// Whether quick sessions include it.
    pub quick: bool,
    /// Why it cannot run here, and what would help; `None` if it can.
    pub unavailable_reason: Option<String>,
    pub origin: Origin,
    /// The part that only its experiment has.
    pub part: P,
}

/// Where a method comes from, and what runs it.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The engine, in a process of this program.
    Engine,
    /// This program, without the engine.
    Floor,
    Contender(Box<Contender>),
    /// An unmodified third-party program.
    Peer(&'static Peer),
    /// A command of the user or of a preset.
    External(External),
}

impl<P: Default> Method<P> {
    /// Returns a command as a method. It counts as parallel, since it may use several threads.
    pub fn of_command(external: External) -> Self {
        let program = external.program();
        let reason = (!can_start(program)).then(|| format!("'{program}' cannot be started here"));
        let (name, about) = (external.name.clone(), external.words.join(" "));
        Self {
            language: external.language(),
            parallel: true,
            unavailable_reason: reason,
            ..Self::new(Origin::External(external), name, about, P::default())
        }
    }
}

pub(super) fn with_second_base(mut cells: Vec<Cell>, base: &str) -> Vec<Cell> {
    if let Some(at) = cells.iter().position(|cell| cell.name == base) {
        cells.insert(at + 1, cells[at].second_base());
    }
    cells
}

impl<P> Method<P> {
    /// Returns a single-threaded method in Rust.
    pub(super) fn new(
        origin: Origin,
        name: impl Into<String>,
        about: impl Into<String>,
        part: P,
    ) -> Self {
        Self {
            name: name.into(),
            contract: Vec::new(),
            language: "Rust".to_owned(),
            about: about.into(),
            parallel: false,
            quick: true,
            unavailable_reason: None,
            origin,
            part,
        }
    }

    pub(super) fn of_contender(contender: &Contender, method: &ContenderMethod, part: P) -> Self {
        let origin = Origin::Contender(Box::new(contender.clone()));
        Self {
            contract: method.contract.clone(),
            language: contender.language.clone(),
            parallel: method.parallel,
            quick: method.quick,
            unavailable_reason: contender.unavailable_reason(),
            ..Self::new(origin, &*method.name, &*method.about, part)
        }
    }

    /// Returns whether a cell runs it, with any settings.
    pub fn is_run_by(&self, cell: &Cell) -> bool {
        cell.method == self.name || cell.method.split(',').next() == Some(&self.name)
    }

    /// Returns the name of its kind in JSON.
    pub fn kind(&self) -> &'static str {
        match self.origin {
            Origin::Engine => ENGINE,
            Origin::Floor => FLOOR,
            Origin::Contender(_) => "contender",
            Origin::Peer(_) => PEER,
            Origin::External(_) => "external",
        }
    }

    /// Returns its contender, which has to be built, if it belongs to one.
    pub fn contender(&self) -> Option<&Contender> {
        match &self.origin {
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
        match &self.origin {
            Origin::Engine | Origin::Floor => Vec::new(),
            Origin::Contender(contender) => contender.needs.iter().map(String::as_str).collect(),
            Origin::Peer(peer) => peer.program().into_iter().collect(),
            Origin::External(external) => vec![external.program()],
        }
    }

    /// Returns the cell that runs it, with the fields that all experiments share.
    pub fn cell(&self) -> Cell {
        let command = match &self.origin {
            Origin::External(external) => Some(external.words.clone()),
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
            code: self.code_length(),
            ..Cell::default()
        }
    }
}
