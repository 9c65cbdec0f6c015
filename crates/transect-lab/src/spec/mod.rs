//! The spec of a session: the first line of its file.
//!
//! [`SessionSpec`], [`Dataset`] and [`Cell`] hold the fields of every session and of each experiment, which are
//! only data and words: [`walk`], [`transform`], [`attributes`]. So the harness can read and write sessions without
//! any experiment.
//!
//! The file does not store the kind of experiment. A session of transforms has the key `transform`, and the datasets
//! of attribute queries have the key `asked`.

pub mod attributes;
mod cell;
mod dataset;
pub mod pairs;
pub mod transform;
pub mod walk;
pub mod words;

pub(crate) use cell::SECOND_BASE;
pub use cell::{Cell, CheckedBy, CodeLength, ENGINE, FLOOR, PEER};
pub use dataset::Dataset;
pub use pairs::Pair;

use serde::{Deserialize, Serialize};

use crate::harness::cache_state::State;
use crate::harness::environment::Environment;
use crate::harness::possible_states::{PossibleStates, ReplacedStates};
use crate::spec::transform::Rules;
use crate::spec::words::Words;

pub const SCHEMA: &str = "transect.lab/1";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionSpec {
    pub schema: String,
    pub preset: String,
    pub environment: Environment,
    #[serde(rename = "places")]
    pub datasets: Vec<Dataset>,
    /// The states of the caches; each cell runs once in each of them in a round.
    #[serde(rename = "passes")]
    pub cache_states: Vec<State>,
    /// The states that were asked for, if one of them could not be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<ReplacedStates>,
    /// How caches were dropped for the cold state, on a system that does not prove that they are cold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<String>,
    /// The number of rounds; with `max_time`, the minimum.
    pub rounds: usize,
    /// The time limit for further rounds, in seconds. Rounds are added until every ratio is precise enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time: Option<u64>,
    pub runs: usize,
    /// Whether times are those of whole processes, from start to exit, instead of each cell's own clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_processes: bool,
    /// The seed of the orders of rounds.
    pub seed: u64,
    /// The time limit of one process, in seconds.
    pub limit: u64,
    pub cells: Vec<Cell>,
    /// The name of the cell that all others are compared with.
    pub base: String,
    /// The name of the base's second cell: any difference between the two is noise.
    #[serde(rename = "again")]
    pub second_base: String,
    /// Further cells that are compared, two by two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
    /// The cell that only makes the calls, on one thread, if there is one.
    pub floor: Option<String>,
    /// The same on several threads: methods on several threads are measured against it.
    pub parallel_floor: Option<String>,
    /// The same on as many threads as the engine uses to wait for devices: with cold caches, methods on several
    /// threads are measured against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_floor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transform: Option<Rules>,
}

/// An experiment: the work of the cells of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spec {
    Walk,
    Transform,
    Attributes,
}

impl SessionSpec {
    /// Returns a spec for this machine: one round in a warm state, without floors.
    pub fn new(preset: &str, datasets: Vec<Dataset>, cells: Vec<Cell>, base: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            preset: preset.to_owned(),
            environment: Environment::of_this_command(),
            datasets,
            cache_states: vec![State::Warm],
            rounds: 1,
            runs: 1,
            seed: 1,
            limit: 60,
            cells,
            base: base.to_owned(),
            second_base: format!("{base}{SECOND_BASE}"),
            ..Self::default()
        }
    }

    pub fn with_states(self, possible: PossibleStates) -> Self {
        let PossibleStates { states, replaced, dropped } = possible;
        Self { cache_states: states, replaced, dropped, ..self }
    }

    /// Returns why cold caches were asked for and not made, for a state measured as it was instead.
    pub fn replaced_reason(&self, cache_state: usize) -> Option<&str> {
        let ReplacedStates { asked, reason } = self.replaced.as_ref()?;
        let is_other = asked.get(cache_state) != self.cache_states.get(cache_state);
        is_other.then_some(reason.as_str())
    }

    pub fn experiment(&self) -> Spec {
        match self.datasets.first() {
            _ if self.transform.is_some() => Spec::Transform,
            Some(Dataset { asked: Some(_), .. }) => Spec::Attributes,
            _ => Spec::Walk,
        }
    }

    /// Checks that a session that was read has datasets of one experiment only.
    pub(crate) fn check_datasets(&self) -> Result<(), String> {
        let experiment = self.experiment();
        let fits = |dataset: &Dataset| {
            dataset.asked.is_some() == (experiment == Spec::Attributes)
                && dataset.digests.is_some() == (experiment == Spec::Transform)
        };
        match self.datasets.iter().find(|dataset| !fits(dataset)) {
            Some(Dataset { name, .. }) => {
                let plural = self.words().plural;
                Err(format!("'{name}' cannot be a dataset of {plural}"))
            }
            None => Ok(()),
        }
    }

    pub fn words(&self) -> &'static Words {
        match self.experiment() {
            Spec::Walk => &walk::WORDS,
            Spec::Transform => &transform::WORDS,
            Spec::Attributes => &attributes::WORDS,
        }
    }

    pub fn runs_in(&self, cell: &Cell, dataset: usize) -> bool {
        let task = self.datasets[dataset].asked.as_ref().map(|asked| asked.task);
        cell.tasks.as_ref().is_none_or(|tasks| task.is_some_and(|task| tasks.contains(&task)))
    }

    pub fn cells_in(&self, dataset: usize) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(move |cell| self.runs_in(cell, dataset))
    }

    /// Returns whether a cell is a method: not a floor, and not the base's second cell.
    pub fn is_method(&self, cell: &str) -> bool {
        let floors = [&self.floor, &self.parallel_floor, &self.cold_floor];
        let is_floor = |known: &Cell| known.name == cell && known.is_floor();
        cell != self.second_base
            && floors.iter().all(|floor| floor.as_deref() != Some(cell))
            && !self.cells.iter().any(is_floor)
    }

    /// Removes cells, and the pairs that need them.
    pub fn leave_out(&mut self, cells: &[String]) {
        self.cells.retain(|cell| !cells.contains(&cell.name));
        self.pairs.retain(|pair| !cells.contains(&pair.cell) && !cells.contains(&pair.against));
    }

    /// Returns the floor that a cell is measured against in a cache state.
    pub fn floor_of(&self, cell: &Cell, state: State) -> Option<&str> {
        let cold = self.cold_floor.as_deref().filter(|_| state == State::Cold);
        let parallel = cold.or(self.parallel_floor.as_deref()).filter(|_| cell.parallel);
        parallel.or(self.floor.as_deref())
    }

    /// Returns whether a cell runs code of this program, whose clock is the lab's own: a method of the
    /// engine, or a floor of transforms or, on Windows, of walks.
    pub fn is_own(&self, cell: &Cell) -> bool {
        let is_floor = cell.is_floor() && self.experiment() != Spec::Attributes;
        cell.kind == ENGINE || is_floor
    }

    /// Returns whether the cache state applies to programs, too. Sessions of transforms drop only the input
    /// from memory.
    pub(crate) fn has_cold_programs(&self) -> bool {
        self.transform.is_none()
    }

    pub fn work_in(&self, dataset: &Dataset) -> String {
        let Dataset { expected, asked, .. } = dataset;
        match (asked, self.transform) {
            (Some(asked), _) => asked.work(*expected),
            (None, Some(rules)) => format!("{} bytes; {}", expected.bytes, rules.about()),
            (None, None) => expected.to_string(),
        }
    }

    /// Describes a state of the caches. A guest cannot drop the caches of its host.
    pub fn state_of(&self, cache_state: usize) -> &'static str {
        let (state, is_guest) = (self.cache_states[cache_state], self.environment.hypervisor);
        self.words().state(state, is_guest, self.dropped.is_none())
    }

    pub(crate) fn has_cell(&self, name: &str) -> bool {
        self.cells.iter().any(|cell| cell.name == name)
    }
}
