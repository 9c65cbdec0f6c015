//! The explanation of a session, for each dataset and cache state.

use serde::Serialize;

use super::choice::MethodChoice;
use super::parts::{self, Bottleneck, TimePart};
use super::runs::RunTimes;
use crate::experiments::transform::Kind;
use crate::harness::cache_state::State;
use crate::harness::log::SessionData;
use crate::ranking::{Ranking, Row, rank};
use transect_stats::Summary;

/// The explanation of one dataset in one cache state.
#[derive(Debug, Serialize)]
pub struct Explanation {
    #[serde(rename = "place")]
    pub dataset: usize,
    pub name: String,
    #[serde(rename = "pass")]
    pub cache_state: usize,
    pub state: State,
    pub conditions: String,
    /// The fastest method; `None` if no method has a time.
    pub fastest: Option<FastestMethod>,
    pub choice: MethodChoice,
}

#[derive(Debug, Serialize)]
pub struct FastestMethod {
    pub cell: String,
    pub time: Summary,
    /// The parts of its time, the largest first. With several threads, parts overlap and may add up to more
    /// than all of it.
    pub parts: Vec<TimePart>,
    /// The largest part, if its interval is above those of all others.
    pub limit: Option<Bottleneck>,
    /// Why no part is the bottleneck, if none is.
    pub undecided: Option<String>,
    pub faults: Option<f64>,
    pub calls: Option<u64>,
    /// Output bytes not yet on the device when it ends.
    pub unwritten: Option<f64>,
    pub device_read: Option<f64>,
    /// Bytes it gave devices to write.
    pub device_written: Option<f64>,
}

/// Explains a session of transforms, for each dataset and cache state. Returns `None` for other sessions.
pub fn explain(data: &SessionData) -> Option<Vec<Explanation>> {
    let kind = data.spec.transform?.kind;
    let rankings = rank(data);
    Some(rankings.iter().map(|ranking| explain_one(data, ranking, kind)).collect())
}

fn explain_one(data: &SessionData, ranking: &Ranking, kind: Kind) -> Explanation {
    let spec = &data.spec;
    let runs = RunTimes::of(data, ranking.dataset, ranking.cache_state);
    let methods = ranking.rows.iter().filter(|row| spec.is_method(&row.cell.name));
    let timed = methods.filter_map(|row| Some((runs.median(&row.cell.name)?, row)));
    let fastest = timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, row)| row);
    Explanation {
        dataset: ranking.dataset,
        name: ranking.name.clone(),
        cache_state: ranking.cache_state,
        state: ranking.state,
        conditions: spec.state_of(ranking.cache_state).to_owned(),
        fastest: fastest.and_then(|row| FastestMethod::of(row, &runs)),
        choice: MethodChoice::of(&runs, ranking.state, kind),
    }
}

impl FastestMethod {
    fn of(row: &Row, runs: &RunTimes<'_>) -> Option<Self> {
        let parts = parts::of(row, runs);
        let limit = parts::limit(&parts, runs);
        Some(Self {
            cell: row.cell.name.clone(),
            time: Summary::of(&runs.times(&row.cell.name))?,
            parts,
            limit: limit.as_ref().ok().copied(),
            undecided: limit.err(),
            faults: row.faults,
            calls: row.accesses.map(|accesses| accesses.calls),
            unwritten: row.unwritten,
            device_read: row.device_read,
            device_written: row.device_written,
        })
    }
}
