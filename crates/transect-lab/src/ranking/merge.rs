//! Merges sessions of several machines: row A86 of the seed contract.
//!
//! Each machine keeps its own ratios to its own base and floor, with its own verdicts. Nothing is computed from
//! two machines: their times differ for reasons that have nothing to do with a method.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::harness::log::SessionData;
use crate::ranking::{Metric, Ranking, Row, rank};
use crate::spec::SessionSpec;
use transect_stats::{Judgement, Ratios};

/// The schema of the JSON object.
pub const SCHEMA: &str = "transect.lab.merged/1";

/// A session to merge.
#[derive(Clone, Debug)]
pub struct Source<'s> {
    /// Its file.
    pub file: String,
    /// Its content.
    pub data: &'s SessionData,
}

/// Sessions in one table.
#[derive(Debug, Serialize)]
pub struct Merged {
    /// `transect.lab.merged/1`.
    pub schema: &'static str,
    /// The sessions, in the order of the files.
    pub sessions: Vec<MergedSession>,
    /// One group for each dataset and cache state that any session has.
    pub groups: Vec<MergedGroup>,
    /// What limits the table.
    pub notes: Vec<String>,
}

/// The machine and the rules of a session.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct MergedSession {
    /// Its file.
    pub file: String,
    /// The processor.
    pub processor: Option<String>,
    /// Number of cores.
    pub cores: usize,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// The system and its version.
    pub system: String,
    /// Whether it runs under a hypervisor.
    pub hypervisor: bool,
    /// The version of transect.
    pub version: String,
    /// When it began, in seconds since 1970 UTC.
    pub began: u64,
    /// Its preset.
    pub preset: String,
    /// Its rounds.
    pub rounds: usize,
    /// The cell that its others are compared with.
    pub base: String,
}

/// One dataset in one cache state.
#[derive(Debug, Serialize)]
pub struct MergedGroup {
    /// The name of the dataset.
    pub name: String,
    /// The state of the caches in words.
    pub conditions: String,
    /// For each session, its ranking; `None` if it has none.
    pub rankings: Vec<Option<MergedRanking>>,
    /// The cells of any session, in the order of their median ratio.
    pub rows: Vec<MergedRow>,
}

/// The ranking of a session.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct MergedRanking {
    /// The work, in words.
    pub work: String,
    /// The file system, if it is known.
    pub file_system: Option<String>,
    /// The metric that is compared.
    pub by: Metric,
    /// Why nothing is compared, if so.
    pub uncompared: Option<String>,
    /// Whether every sample proved its cache state.
    pub proved: bool,
    /// Whether the base differs from itself: then no verdict counts.
    pub noisy: bool,
}

/// A cell in all sessions.
#[derive(Debug, Serialize)]
pub struct MergedRow {
    /// Its name.
    pub cell: String,
    /// The language.
    pub language: String,
    /// For each session, its result; `None` if the session has none.
    pub results: Vec<Option<MergedResult>>,
}

/// The result of a cell in one session.
#[derive(Clone, Debug, Serialize)]
pub struct MergedResult {
    /// Whether it is the base.
    pub is_base: bool,
    /// The ratio to the base of the same session.
    pub to_base: Option<Ratios>,
    /// The verdict on that ratio.
    pub judgement: Option<Judgement>,
    /// The ratio to the floor of the same session.
    pub to_floor: Option<Ratios>,
    /// Why it is not ranked, if it is not.
    pub unranked: Option<String>,
}

impl MergedResult {
    fn unranked(reason: &str) -> Self {
        let unranked = Some(reason.to_owned());
        Self { is_base: false, to_base: None, judgement: None, to_floor: None, unranked }
    }

    fn of(row: &Row, base: &str) -> Self {
        Self {
            is_base: row.cell.name == base,
            to_base: row.to_base,
            judgement: row.judgement,
            to_floor: row.to_floor,
            unranked: row.implausible.clone(),
        }
    }
}

/// Merges sessions.
///
/// # Errors
/// A session is given twice, or the sessions measured different work, such as walks and transforms.
pub fn merge(sources: &[Source<'_>]) -> Result<Merged, String> {
    refuse_other_work(sources)?;
    let ranked: Vec<Vec<Ranking>> = sources.iter().map(|source| rank(source.data)).collect();
    let mut keys: Vec<(String, String)> = Vec::new();
    for (source, rankings) in sources.iter().zip(&ranked) {
        for ranking in rankings {
            let key = key(&source.data.spec, ranking);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    let of_key = |(name, conditions): (String, String)| {
        let find = |(source, rankings): (&Source<'_>, &'_ Vec<Ranking>)| {
            let spec = &source.data.spec;
            let is_it = |it: &&Ranking| key(spec, it) == (name.clone(), conditions.clone());
            rankings.iter().position(|ranking| is_it(&ranking))
        };
        let found: Vec<Option<usize>> = sources.iter().zip(&ranked).map(find).collect();
        let rankings: Vec<Option<(&SessionSpec, &Ranking)>> = (0..sources.len())
            .map(|at| Some((&sources[at].data.spec, &ranked[at][found[at]?])))
            .collect();
        let rows = rows(&rankings);
        let rankings = rankings.iter().map(|ranking| ranking.map(summary)).collect();
        MergedGroup { name, conditions, rankings, rows }
    };
    let groups: Vec<MergedGroup> = keys.into_iter().map(of_key).collect();
    let sessions: Vec<MergedSession> = sources.iter().map(session).collect();
    let notes = notes(&sessions, &groups);
    Ok(Merged { schema: SCHEMA, sessions, groups, notes })
}

fn refuse_other_work(sources: &[Source<'_>]) -> Result<(), String> {
    for (at, source) in sources.iter().enumerate() {
        // The spec has the time and the seed.
        let is_same = |before: &&Source<'_>| before.data.spec == source.data.spec;
        if let Some(same) = sources[..at].iter().find(is_same) {
            return Err(format!("'{}' and '{}' are the same session", same.file, source.file));
        }
        let (first, spec) = (&sources[0].data.spec, &source.data.spec);
        let rules = |spec: &SessionSpec| spec.experiment.rules().map(|rules| rules.about());
        let work = |spec: &SessionSpec| {
            let rules = rules(spec).map_or(String::new(), |rules| format!(" ({rules})"));
            let process = if spec.whole_processes { " as whole processes" } else { "" };
            format!("{}{rules}{process}", spec.words().plural)
        };
        if work(first) != work(spec) {
            let (file, first_file) = (&source.file, &sources[0].file);
            let (other, own) = (work(spec), work(first));
            return Err(format!("'{file}' measured {other}, but '{first_file}' {own}"));
        }
    }
    Ok(())
}

/// Returns the name of the dataset, and the state of the caches in words. A repeated state is known by its
/// place.
fn key(spec: &SessionSpec, ranking: &Ranking) -> (String, String) {
    let state = spec.words().state(ranking.state, false, spec.dropped.is_none());
    let earlier = &spec.cache_states[..ranking.cache_state];
    let again = earlier.iter().filter(|earlier| **earlier == ranking.state).count();
    let again = if again > 0 { format!(", run {}", again + 1) } else { String::new() };
    (ranking.name.clone(), format!("{state}{again}"))
}

fn session(source: &Source<'_>) -> MergedSession {
    let SessionSpec { environment, preset, base, .. } = &source.data.spec;
    MergedSession {
        file: source.file.clone(),
        processor: environment.processor.clone(),
        cores: environment.cores,
        memory: environment.memory,
        system: environment.system.clone(),
        hypervisor: environment.hypervisor,
        version: environment.version.clone(),
        began: environment.began,
        preset: preset.clone(),
        rounds: source.data.rounds(),
        base: base.clone(),
    }
}

fn summary((spec, ranking): (&SessionSpec, &Ranking)) -> MergedRanking {
    let dataset = &spec.datasets[ranking.dataset];
    MergedRanking {
        work: spec.work_in(dataset),
        file_system: dataset.file_system.name.clone(),
        by: ranking.by,
        uncompared: ranking.uncompared.clone(),
        proved: ranking.proved,
        noisy: ranking.noisy,
    }
}

/// Returns the rows of a group, the smallest median ratio first. The base has the ratio 1; cells without a ratio
/// come last.
fn rows(rankings: &[Option<(&SessionSpec, &Ranking)>]) -> Vec<MergedRow> {
    let mut rows: BTreeMap<&str, MergedRow> = BTreeMap::new();
    for (at, (spec, ranking)) in
        rankings.iter().enumerate().filter_map(|(at, it)| Some((at, (*it)?)))
    {
        let ranked = ranking.rows.iter().chain(&ranking.apart).chain(&ranking.implausible);
        let ranked = ranked.map(|row| (&*row.cell.name, MergedResult::of(row, &spec.base)));
        let unranked = ranking.unranked.iter();
        let unranked = unranked.map(|it| (&*it.cell, MergedResult::unranked(&it.reason)));
        for (name, result) in ranked.chain(unranked).filter(|(name, _)| *name != spec.second_base) {
            let language = spec.cells.iter().find(|cell| cell.name == name);
            let row = rows.entry(name).or_insert_with(|| MergedRow {
                cell: name.to_owned(),
                language: language.map_or(String::new(), |cell| cell.language.clone()),
                results: vec![None; rankings.len()],
            });
            row.results[at] = Some(result);
        }
    }
    let mut rows: Vec<MergedRow> = rows.into_values().collect();
    rows.sort_by(|a, b| a.order().total_cmp(&b.order()));
    rows
}

impl MergedRow {
    /// Returns the median of its ratios to the bases, which only orders rows.
    fn order(&self) -> f64 {
        let ratio = |result: &MergedResult| match result.is_base {
            true => Some(1.0),
            false => Some(result.to_base?.median),
        };
        let mut ratios: Vec<f64> = self.results.iter().flatten().filter_map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(f64::INFINITY)
    }
}

fn notes(sessions: &[MergedSession], groups: &[MergedGroup]) -> Vec<String> {
    let mut notes = Vec::new();
    let bases: Vec<&str> = sessions.iter().map(|session| session.base.as_str()).collect();
    if bases.iter().any(|base| *base != bases[0]) {
        notes.push(format!(
            "The bases differ ({}), so ratios to the base do not mean the same; those to the floor do.",
            bases.join(", ")
        ));
    }
    for MergedGroup { name, conditions, rankings, .. } in groups {
        let mut works: Vec<&str> = rankings.iter().flatten().map(|it| it.work.as_str()).collect();
        works.dedup();
        if works.len() > 1 {
            notes.push(format!("'{name}' is not the same everywhere: {}.", works.join("; ")));
        }
        for (at, ranking) in rankings.iter().enumerate() {
            let Some(ranking) = ranking else { continue };
            let of = format!("Session {}, {name}, {conditions}", at + 1);
            if let Some(reason) = &ranking.uncompared {
                notes.push(format!("{of}: nothing is compared: {reason}."));
            } else if ranking.noisy {
                notes.push(format!("{of}: the base differs from itself, so no verdict counts."));
            }
            if ranking.by == Metric::Processor {
                notes.push(format!("{of}: the machine was busy, so CPU time is compared."));
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::with;
    use transect_stats::Verdict;

    /// A machine a hundred times slower, on which the other method wins.
    fn two() -> [SessionData; 2] {
        let fast = [
            ("base", 1_000_000),
            ("base (again)", 1_000_000),
            ("other", 2_000_000),
            ("floor", 900_000),
        ];
        let slow = [
            ("base", 100_000_000),
            ("base (again)", 100_000_000),
            ("other", 50_000_000),
            ("new", 100_000_000),
        ];
        [with(&fast, 12), with(&slow, 12)]
    }

    fn merged(sessions: &[SessionData]) -> Result<Merged, String> {
        let source = |(at, data)| Source { file: format!("{at}.jsonl"), data };
        merge(&sessions.iter().enumerate().map(source).collect::<Vec<_>>())
    }

    #[test]
    fn each_machine_has_its_own_ratios_and_verdicts() {
        let merged = merged(&two()).unwrap();
        assert_eq!((merged.sessions.len(), merged.groups.len()), (2, 1));
        let rows = &merged.groups[0].rows;
        let row = |name: &str| rows.iter().find(|row| row.cell == name).unwrap();
        let verdict = |at: usize| {
            let result = row("other").results[at].as_ref().unwrap();
            (result.to_base.unwrap().median, result.judgement.unwrap().verdict)
        };
        let [(first, slower), (second, faster)] = [verdict(0), verdict(1)];
        assert!((first - 2.0).abs() < 0.01 && (second - 0.5).abs() < 0.01, "{first} {second}");
        assert_eq!((slower, faster), (Verdict::Slower, Verdict::Faster));
        assert!(row("new").results[0].is_none() && row("new").results[1].is_some());
        assert!(row("base").results.iter().flatten().all(|result| result.is_base));
        assert!(row("other").results[0].as_ref().unwrap().to_floor.is_some());
        assert!(rows.iter().all(|row| row.cell != "base (again)"));
    }

    #[test]
    fn merge_refuses_other_work_and_repeated_files() {
        let [first, mut second] = two();
        second.spec.experiment = crate::spec::Spec::Attributes;
        let reason = merged(&[first.clone(), second]).unwrap_err();
        assert!(reason.starts_with("'1.jsonl' measured "), "{reason}");
        let copies = ["a", "b"].map(|file| Source { file: file.to_owned(), data: &first });
        assert_eq!(merge(&copies).unwrap_err(), "'a' and 'b' are the same session");
    }

    #[test]
    fn notes_name_other_bases_and_other_trees() {
        let [first, mut second] = two();
        second.spec.base = "other".to_owned();
        second.spec.datasets[0].expected.files = 99;
        let notes = merged(&[first, second]).unwrap().notes.join("\n");
        assert!(notes.contains("The bases differ (base, other)"), "{notes}");
        assert!(notes.contains("'tree' is not the same everywhere: "), "{notes}");
    }
}
