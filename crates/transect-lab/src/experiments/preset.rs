//! The presets of sessions: the part that all experiments share. Each experiment has them in its `presets.toml`,
//! the default first.

use serde::Deserialize;

use crate::harness::cache_state::State;
use crate::published::tables;
use crate::spec::pairs::{Pair, PresetPair, expand};
use crate::spec::{Cell, Dataset, SessionSpec};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset<W> {
    pub name: String,
    pub about: String,
    /// The protocol of a seed article that it follows, by its row of the seed contract.
    pub contract: Option<String>,
    #[serde(default)]
    pub protocol_rounds: usize,
    /// The base of comparisons: the first of these cells that is available. Empty for the default of the experiment.
    #[serde(default)]
    pub base: Vec<String>,
    /// The states of the caches before the runs of a cell in a round.
    pub states: Vec<State>,
    pub rounds: usize,
    /// Time limit of a session, in seconds, for further rounds until every ratio is precise enough.
    pub max_time: Option<u64>,
    /// Whether this is a limit for all rounds: the slowest methods are left out until it holds.
    #[serde(default)]
    pub leaves_out_slowest: bool,
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

impl<W> Preset<W> {
    /// Returns the protocol that it follows, and the number of its rounds.
    pub fn protocol(&self) -> Option<(&str, usize)> {
        Some((self.contract.as_deref()?, self.protocol_rounds))
    }

    /// Returns the names of the cells that stand for the methods of its article, and of those in its pairs; empty if it
    /// has no article.
    pub fn compared(&self) -> Vec<String> {
        let Some(protocol) = &self.contract else { return Vec::new() };
        let of_article = tables::of_protocol(protocol).flat_map(|row| &row.ours);
        let of_pairs = self.pairs.iter().flat_map(|(_, cell, against)| [cell, against]);
        of_article.chain(of_pairs).map(|name| expand(name)).collect()
    }

    /// Returns the spec of a session by its rules, without floors. Its base is that of the preset, if it has one that
    /// is among the cells.
    pub fn spec(&self, datasets: Vec<Dataset>, cells: Vec<Cell>, base: &str) -> SessionSpec {
        let mut spec = SessionSpec {
            rounds: self.rounds,
            max_time: self.max_time,
            runs: self.runs,
            pairs: Pair::of_preset(&self.pairs, &cells),
            ..SessionSpec::new(&self.name, datasets, cells, base)
        };
        self.base.iter().find(|name| spec.set_base(&expand(name)).is_ok());
        spec
    }
}
