//! What a session has come to: who is faster, by how much, and how sure that is.
//!
//! Ranked are the cells that found what is there in every round they ran. Differences are ratios
//! within a round, against the base and against the floor; the base ran twice, and where it differs
//! from itself nothing else is concluded.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::accesses::Accesses;
use crate::session::{Cell, Outcome, Recorded, Sample};
use crate::statistics::protocol::mean_without_the_first;
use crate::statistics::verdict::DEFAULT_THRESHOLD;
use crate::statistics::{Judgement, Ratios, Summary, aa_check, judge_all};

/// What a session has come to.
#[derive(Debug, Serialize)]
pub struct Ranking {
    /// The cells, the fastest first.
    pub rows: Vec<Row>,
    /// The cells that are not ranked.
    pub unranked: Vec<Unranked>,
    /// The base against itself.
    pub noise: Option<Ratios>,
    /// Whether every sample proved its state; never where the system does not tell.
    pub proved: bool,
    /// Whether the base is found to differ from itself: then no verdict is to be believed.
    pub noisy: bool,
}

/// One cell.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What it is.
    pub cell: Cell,
    /// Its times, in nanoseconds by its own clock.
    pub time: Summary,
    /// Processor time of the whole process, in nanoseconds: the median.
    pub cpu_ns: f64,
    /// The most memory that its process held, in bytes: the median.
    pub peak_memory: f64,
    /// How much faster than the slowest, by medians.
    pub against_the_slowest: f64,
    /// Against the floor on as many threads as it uses: one, or several.
    pub to_floor: Option<Ratios>,
    /// It took less time than the floor, which cannot be: an error of the lab.
    pub below_the_floor: bool,
    /// The system calls of its walk, if they were counted.
    pub accesses: Option<Accesses>,
    /// Against the base.
    pub to_base: Option<Ratios>,
    /// What is said of it beside the base.
    pub judgement: Option<Judgement>,
}

/// A cell that has no time, and why.
#[derive(Debug, Serialize)]
pub struct Unranked {
    /// Its name.
    pub cell: String,
    /// Why.
    pub reason: String,
}

/// One round's value of a cell.
#[derive(Clone, Copy)]
struct Value {
    time: f64,
    cpu: f64,
    memory: f64,
}

/// Ranks the cells of a session.
pub fn rank(recorded: &Recorded) -> Ranking {
    let Recorded { header, samples, counted } = recorded;
    let (mut rounds, mut unranked) = (BTreeMap::new(), Vec::new());
    for cell in &header.cells {
        match values(cell, samples) {
            Ok(values) => {
                rounds.insert(cell.name.as_str(), values);
            }
            Err(reason) => unranked.push(Unranked { cell: cell.name.clone(), reason }),
        }
    }
    let seed = header.seed;
    let against = |base: &str, other: &str| -> Option<Ratios> {
        let (base, other) = (rounds.get(base)?, rounds.get(other)?);
        let pairs: Vec<(f64, f64)> =
            base.iter().filter_map(|(r, b)| Some((b.time, other.get(r)?.time))).collect();
        Ratios::of(&pairs, seed).ok()
    };
    let noise = against(&header.base, &header.again);
    let noisy = noise.as_ref().is_some_and(|pair| !aa_check(pair, DEFAULT_THRESHOLD));
    let mut rows: Vec<Row> = Vec::new();
    for cell in &header.cells {
        let Some(values) = rounds.get(cell.name.as_str()) else { continue };
        let column = |of: fn(&Value) -> f64| values.values().map(of).collect::<Vec<_>>();
        let median = |of| Summary::of(&column(of)).map_or(0.0, |summary| summary.median);
        let Some(time) = Summary::of(&column(|value| value.time)) else { continue };
        let floor = if cell.parallel { &header.parallel_floor } else { &header.floor };
        let to_floor = floor.as_deref().and_then(|floor| against(floor, &cell.name));
        let is_base = cell.name == header.base || cell.name == header.again;
        rows.push(Row {
            time,
            cpu_ns: median(|value| value.cpu),
            peak_memory: median(|value| value.memory),
            against_the_slowest: 1.0,
            below_the_floor: to_floor.as_ref().is_some_and(|ratios| ratios.high < 1.0),
            to_floor,
            to_base: if is_base { None } else { against(&header.base, &cell.name) },
            judgement: None,
            accesses: counted.iter().find(|c| c.cell == cell.name).map(|c| c.accesses),
            cell: cell.clone(),
        });
    }
    rows.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    let slowest = rows.last().map_or(1.0, |row| row.time.median);
    let judged: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].to_base.is_some()).collect();
    let ratios: Vec<Ratios> = judged.iter().filter_map(|&row| rows[row].to_base).collect();
    for (row, judgement) in judged.into_iter().zip(judge_all(&ratios, DEFAULT_THRESHOLD)) {
        rows[row].judgement = Some(judgement);
    }
    for row in &mut rows {
        row.against_the_slowest = slowest / row.time.median;
    }
    let proved = samples.iter().all(|sample| match &sample.outcome {
        Outcome::Right { read_kib, .. } => header.state.is_proved_by(*read_kib) == Some(true),
        _ => true,
    });
    Ranking { rows, unranked, noise, proved, noisy }
}

/// Returns the values of a cell by round, or why it has none.
fn values(cell: &Cell, samples: &[Sample]) -> Result<BTreeMap<usize, Value>, String> {
    let mut values = BTreeMap::new();
    let mut void = None;
    for sample in samples.iter().filter(|sample| sample.cell == cell.name) {
        match &sample.outcome {
            Outcome::Wrong { found } => return Err(format!("found something else: {found}")),
            Outcome::Failed(failure) => return Err(failure.to_string()),
            Outcome::Void { read_kib } => void = Some(*read_kib),
            Outcome::Right { runs, usage, .. } => {
                let times: Vec<f64> = runs.iter().map(|run| run.elapsed_ns as f64).collect();
                let time = match times.as_slice() {
                    [only] => *only,
                    // The first walk of several warms what it walks on: it does not count.
                    times => mean_without_the_first(times).map_err(|why| why.to_string())?,
                };
                let cpu = (usage.user_ns + usage.system_ns) as f64;
                let value = Value { time, cpu, memory: usage.peak_memory as f64 };
                values.insert(sample.round, value);
            }
        }
    }
    match void {
        _ if !values.is_empty() => Ok(values),
        Some(kib) => Err(format!("could not prove its state: {kib} KiB were read from devices")),
        None => Err("did not run yet".to_owned()),
    }
}
