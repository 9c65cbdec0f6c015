//! What is said of a session: of each dataset in each cache state.

use serde::Serialize;

use super::choice::MethodChoice;
use super::parts::{self, Bottleneck, TimePart};
use super::runs::RunTimes;
use crate::experiments::transform::{Files, Kind};
use crate::harness::cache_state::State;
use crate::harness::log::SessionData;
use crate::spec::Payload;
use crate::stats::Summary;
use crate::stats::ranking::{Ranking, Row, rank};

/// What is said of a dataset in a state.
#[derive(Debug, Serialize)]
pub struct Explanation {
    /// Index into the datasets of the spec.
    #[serde(rename = "place")]
    pub dataset: usize,
    /// Its name.
    pub name: String,
    /// Index into the cache states of the spec.
    #[serde(rename = "pass")]
    pub cache_state: usize,
    /// The state before every run.
    pub state: State,
    /// The same in words.
    pub conditions: String,
    /// The fastest method; nothing if none has a time.
    pub fastest: Option<Fastest>,
    /// What the planner is to do; nothing where it has no choice, as with many small files.
    pub choice: Option<MethodChoice>,
}

/// The fastest method, where its time goes, and what that is known by.
#[derive(Debug, Serialize)]
pub struct Fastest {
    /// Its name.
    pub cell: String,
    /// Its times, in nanoseconds.
    pub time: Summary,
    /// What its time is made of, the largest part first. Of a method on several threads these go on at
    /// the same time, and may be more than all of it.
    pub parts: Vec<TimePart>,
    /// The largest part, if it is decidedly larger than every other one.
    pub limit: Option<Bottleneck>,
    /// Why there is no limit, if there is none.
    pub undecided: Option<String>,
    /// Pages touched first, or fetched from a device.
    pub faults: Option<f64>,
    /// System calls, if they were counted.
    pub calls: Option<u64>,
    /// What of its output was not on the device at its end, in bytes.
    pub unwritten: Option<f64>,
    /// What devices read for it, in bytes.
    pub device_read: Option<f64>,
    /// What it gave devices to write, in bytes.
    pub device_written: Option<f64>,
    /// The processor time of the run before over that of the measured one.
    pub fresh: Option<f64>,
}

/// Explains a session of passes over files: for each dataset, each cache state. Nothing of a session of walks.
pub fn explain(data: &SessionData) -> Option<Vec<Explanation>> {
    let kind = data.spec.experiment.rules()?.kind;
    let rankings = rank(data);
    Some(rankings.iter().map(|ranking| one(data, ranking, kind)).collect())
}

fn one(data: &SessionData, ranking: &Ranking, kind: Kind) -> Explanation {
    let spec = &data.spec;
    let runs = RunTimes::of(data, ranking.dataset, ranking.cache_state);
    let payload = &spec.datasets[ranking.dataset].payload;
    let is_one_file = matches!(payload, Payload::Transform(Files { phase: None, .. }));
    let methods = ranking.rows.iter().filter(|row| spec.is_method(&row.cell.name));
    let timed = methods.filter_map(|row| Some((runs.median(&row.cell.name)?, row)));
    let fastest = timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row);
    Explanation {
        dataset: ranking.dataset,
        name: ranking.name.clone(),
        cache_state: ranking.cache_state,
        state: ranking.state,
        conditions: spec.state_of(ranking.cache_state).to_owned(),
        fastest: fastest.and_then(|row| Fastest::of(row, &runs)),
        choice: is_one_file.then(|| MethodChoice::of(&runs, ranking.state, kind)),
    }
}

impl Fastest {
    fn of(row: &Row, runs: &RunTimes<'_>) -> Option<Self> {
        let parts = parts::of(row, runs);
        let (limit, undecided) = match parts::limit(&parts, runs) {
            Ok(limit) => (Some(limit), None),
            Err(why) => (None, Some(why)),
        };
        Some(Self {
            cell: row.cell.name.clone(),
            time: Summary::of(&runs.times(&row.cell.name))?,
            parts,
            limit,
            undecided,
            faults: row.faults,
            calls: row.accesses.map(|accesses| accesses.calls),
            unwritten: row.unwritten,
            device_read: row.device_read,
            device_written: row.device_written,
            fresh: row.fresh,
        })
    }
}
