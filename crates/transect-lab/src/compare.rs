//! Two sessions beside each other: what became faster, what slower, and what else changed.

use serde::Serialize;

use crate::ranking::{Ranking, Row, rank};
use crate::record::{Header, Recorded};
use crate::state::State;
use crate::statistics::verdict::DEFAULT_THRESHOLD;
use crate::statistics::{Judgement, Ratios, Summary, judge_all};

/// What two sessions come to beside each other.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// What was not the same: whatever else is concluded rests on its not mattering.
    pub changed: Vec<Changed>,
    /// The trees and states that both sessions have.
    pub groups: Vec<Group>,
    /// The trees and states that one of them has.
    pub alone: Vec<String>,
}

/// Something that was not the same in both sessions.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// What it is.
    pub what: String,
    /// In the first session.
    pub before: String,
    /// In the second.
    pub after: String,
}

/// One tree in one state of the caches.
#[derive(Debug, Serialize)]
pub struct Group {
    /// The tree.
    pub name: String,
    /// The state of the caches.
    pub state: State,
    /// The cells that are ranked in both, the largest speed-up first.
    pub rows: Vec<Compared>,
    /// The cells that are ranked in one of them.
    pub alone: Vec<String>,
}

/// One cell in both sessions.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// Its name.
    pub cell: String,
    /// Its times in the first session, in nanoseconds.
    pub before: Summary,
    /// Its times in the second session, in nanoseconds.
    pub after: Summary,
    /// After against before.
    pub ratios: Ratios,
    /// What is said of it.
    pub judgement: Option<Judgement>,
    /// Against the floor of its own session, before: whether the machine or the method changed.
    pub to_floor_before: Option<Ratios>,
    /// Against the floor of its own session, after.
    pub to_floor_after: Option<Ratios>,
}

/// Compares two sessions: trees by their names, cells by theirs.
pub fn compare(before: &Recorded, after: &Recorded) -> Comparison {
    let (rankings, mut others) = (rank(before), rank(after));
    let (mut groups, mut alone) = (Vec::new(), Vec::new());
    for ranking in &rankings {
        let same = |other: &Ranking| {
            (&other.name, other.pass, other.state) == (&ranking.name, ranking.pass, ranking.state)
        };
        match others.iter().position(same) {
            Some(at) => groups.push(group(ranking, &others.remove(at), before.header.seed)),
            None => alone.push(format!("before: {}, {}", ranking.name, ranking.state.word())),
        }
    }
    alone.extend(others.iter().map(|it| format!("after: {}, {}", it.name, it.state.word())));
    Comparison { changed: changed(&before.header, &after.header), groups, alone }
}

fn group(before: &Ranking, after: &Ranking, seed: u64) -> Group {
    let (mut rows, mut alone) = (Vec::new(), Vec::new());
    let find = |ranking: &'_ Ranking, name: &str| {
        ranking.rows.iter().position(|row| row.cell.name == name)
    };
    for row in &before.rows {
        let other = find(after, &row.cell.name).map(|at| &after.rows[at]);
        match other.and_then(|other| Compared::of(row, other, seed)) {
            Some(compared) => rows.push(compared),
            None => alone.push(format!("before: {}", row.cell.name)),
        }
    }
    let new = after.rows.iter().filter(|row| find(before, &row.cell.name).is_none());
    alone.extend(new.map(|row| format!("after: {}", row.cell.name)));
    rows.sort_by(|a, b| a.ratios.median.total_cmp(&b.ratios.median));
    let ratios: Vec<Ratios> = rows.iter().map(|row| row.ratios).collect();
    for (row, judgement) in rows.iter_mut().zip(judge_all(&ratios, DEFAULT_THRESHOLD)) {
        row.judgement = Some(judgement);
    }
    Group { name: before.name.clone(), state: before.state, rows, alone }
}

impl Compared {
    fn of(before: &Row, after: &Row, seed: u64) -> Option<Self> {
        Some(Self {
            cell: before.cell.name.clone(),
            before: before.time,
            after: after.time,
            ratios: Ratios::unpaired(&before.samples, &after.samples, seed).ok()?,
            judgement: None,
            to_floor_before: before.to_floor,
            to_floor_after: after.to_floor,
        })
    }
}

/// Returns what was not the same: machine, system, version, rules, and what is in the trees.
fn changed(before: &Header, after: &Header) -> Vec<Changed> {
    let machine = |header: &Header| {
        let environment = &header.environment;
        let processor = environment.processor.as_deref().unwrap_or("unknown");
        format!("{processor}, {} cores", environment.cores)
    };
    let rules = |header: &Header| {
        let Header { preset, rounds, runs, .. } = header;
        format!("{preset}, {rounds} rounds of {runs}")
    };
    let facts: [(&str, String, String); 4] = [
        ("machine", machine(before), machine(after)),
        ("system", before.environment.system.clone(), after.environment.system.clone()),
        ("version", before.environment.version.clone(), after.environment.version.clone()),
        ("rules", rules(before), rules(after)),
    ];
    let mut changed = Vec::new();
    let mut add = |what: String, before: String, after: String| {
        if before != after {
            changed.push(Changed { what, before, after });
        }
    };
    for (what, before, after) in facts {
        add(what.to_owned(), before, after);
    }
    for place in &before.places {
        let Some(other) = after.places.iter().find(|other| other.name == place.name) else {
            continue;
        };
        add(place.name.clone(), place.expected.to_string(), other.expected.to_string());
        let lies = |name: &Option<String>| name.clone().unwrap_or_else(|| "unknown".to_owned());
        let what = format!("file system of {}", place.name);
        add(what, lies(&place.file_system.name), lies(&other.file_system.name));
    }
    changed
}
