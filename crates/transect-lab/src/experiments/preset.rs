//! The presets of sessions: the part that all experiments share. Each experiment has them in its `presets.toml`.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::harness::cache_state::State;
use crate::spec::pairs::{Pair, PresetPair};
use crate::spec::{Cell, Dataset, SessionSpec};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset<W> {
    pub name: String,
    pub about: String,
    /// The row of the seed contract that it implements.
    pub contract: Option<String>,
    /// The states of the caches before the runs of a cell in a round.
    pub states: Vec<State>,
    pub rounds: usize,
    /// Time limit of a session, in seconds, for further rounds until every ratio is precise enough.
    pub max_time: Option<u64>,
    /// Runs in one process.
    #[serde(default = "one")]
    pub runs: usize,
    /// Whether calls are counted and timed afterwards, in separate runs.
    pub calls: bool,
    /// The questions that it answers, beside the comparisons with the base.
    #[serde(default)]
    pub pairs: Vec<PresetPair>,
    /// The part that only its experiment has.
    pub work: W,
}

fn one() -> usize {
    1
}

impl<W: DeserializeOwned> Preset<W> {
    /// Parses the presets of an experiment; the first is the default.
    pub(super) fn parse(text: &str) -> Vec<Self> {
        #[derive(Deserialize)]
        struct File<P> {
            preset: Vec<P>,
        }
        let file: File<Self> = toml::from_str(text).expect("BUG: the presets are correct");
        file.preset
    }

    /// Returns the spec of a session by its rules, without floors.
    pub fn spec(&self, datasets: Vec<Dataset>, cells: Vec<Cell>, base: &str) -> SessionSpec {
        SessionSpec {
            rounds: self.rounds,
            max_time: self.max_time,
            runs: self.runs,
            pairs: Pair::of_preset(&self.pairs, &cells),
            ..SessionSpec::new(&self.name, datasets, cells, base)
        }
    }
}
