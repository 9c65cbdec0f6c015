//! Compares two sessions: what became faster, what slower, and what else changed.

use serde::Serialize;

use crate::harness::cache_state::State;
use crate::harness::log::SessionData;
use crate::ranking::{Metric, Ranking, Row, Unranked, rank, rank_by};
use crate::spec::SessionSpec;
use transect_stats::verdict::DEFAULT_THRESHOLD;
use transect_stats::{Judgement, Ratios, Summary, judge_all};

pub const SCHEMA: &str = "transect.lab.comparison/1";

#[derive(Debug, Serialize)]
pub struct Comparison {
    pub schema: &'static str,
    /// Conditions that differ. The comparison is valid only if they do not matter.
    pub changed: Vec<Changed>,
    /// Datasets and cache states that both sessions have. Sessions that differ in `--sync` share none.
    pub groups: Vec<Group>,
    /// Datasets and cache states that only one session has.
    pub alone: Vec<String>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    pub what: String,
    pub before: String,
    pub after: String,
    /// Whether it makes the numbers of the two sessions incomparable.
    pub forbids: bool,
}

/// One dataset in one cache state.
#[derive(Debug, Default, Serialize)]
pub struct Group {
    pub name: String,
    pub state: State,
    pub conditions: String,
    /// The metric: CPU time if either session is too disturbed for wall time.
    pub by: Metric,
    /// Why nothing is compared, if so: the reason of one of the rankings.
    pub uncompared: Option<String>,
    /// Cells ranked in both sessions, the largest speed-up first.
    pub rows: Vec<ComparedRow>,
    pub alone: Vec<String>,
    /// Cells that did more work in one session than in the other.
    pub incomparable: Vec<Unranked>,
}

#[derive(Debug, Serialize)]
pub struct ComparedRow {
    pub cell: String,
    /// Its times in the first session, in nanoseconds, by the metric of the group.
    pub before: Summary,
    /// Its times in the second session, in nanoseconds, by the metric of the group.
    pub after: Summary,
    pub ratios: Ratios,
    pub judgement: Option<Judgement>,
    /// Ratio to the floor of the first session. It shows whether the machine or the method changed.
    pub to_floor_before: Option<Ratios>,
    pub to_floor_after: Option<Ratios>,
}

/// Compares two sessions, matching datasets and cells by name.
pub fn compare(before: &SessionData, after: &SessionData) -> Comparison {
    let (rankings, mut others) = (rank(before), rank(after));
    let (mut groups, mut alone) = (Vec::new(), Vec::new());
    // Without syncing, the kernel writes the output later: less work is measured.
    let [sync, other_sync] =
        [before, after].map(|session| session.spec.transform.map(|rules| rules.sync));
    for ranking in rankings {
        let same = |other: &Ranking| {
            sync == other_sync
                && (&other.name, other.cache_state, other.state)
                    == (&ranking.name, ranking.cache_state, ranking.state)
        };
        match others.iter().position(same) {
            Some(at) => {
                let [one, other] = same_metric((before, ranking), (after, others.remove(at)));
                groups.push(group(&one, &other, &before.spec));
            }
            None => alone.push(format!("before: {}", label(&ranking, &before.spec))),
        }
    }
    alone.extend(others.iter().map(|it| format!("after: {}", label(it, &after.spec))));
    let changed = changed_conditions(&before.spec, &after.spec);
    Comparison { schema: SCHEMA, changed, groups, alone }
}

fn label(ranking: &Ranking, spec: &SessionSpec) -> String {
    format!("{}, {}", ranking.name, spec.state_of(ranking.cache_state))
}

/// Returns two rankings by the same metric: by CPU time if either is.
fn same_metric(before: (&SessionData, Ranking), after: (&SessionData, Ranking)) -> [Ranking; 2] {
    let differ = before.1.by != after.1.by;
    [before, after].map(|(data, ranking)| match ranking.by {
        Metric::Time | Metric::Process if differ => {
            rank_by(data, ranking.dataset, ranking.cache_state, Metric::Processor)
        }
        _ => ranking,
    })
}

fn find_row<'r>(ranking: &'r Ranking, cell: &str) -> Option<(&'r Row, bool)> {
    all_rows(ranking).find(|(row, _)| row.cell.name == cell)
}

fn all_rows(ranking: &Ranking) -> impl Iterator<Item = (&Row, bool)> {
    let rows = ranking.rows.iter().map(|row| (row, false));
    rows.chain(ranking.apart.iter().map(|row| (row, true)))
}

fn group(before: &Ranking, after: &Ranking, spec: &SessionSpec) -> Group {
    let mut group = Group {
        name: before.name.clone(),
        state: before.state,
        conditions: spec.state_of(before.cache_state).to_owned(),
        by: before.by,
        uncompared: before.uncompared.as_ref().or(after.uncompared.as_ref()).cloned(),
        ..Group::default()
    };
    if group.uncompared.is_some() {
        return group;
    }
    for (row, is_apart) in all_rows(before) {
        let cell = &row.cell.name;
        let other = find_row(after, cell);
        if let Some((_, apart_after)) = other
            && apart_after != is_apart
        {
            let which = if is_apart { "first" } else { "second" };
            let reason = format!("flushes its output only in the {which} session");
            group.incomparable.push(Unranked { cell: cell.clone(), reason });
            continue;
        }
        match other.and_then(|(other, _)| ComparedRow::of(row, other, spec.seed)) {
            Some(compared) => group.rows.push(compared),
            None => group.add_missing(cell, after, ["before", "second"]),
        }
    }
    for (row, _) in all_rows(after).filter(|(row, _)| find_row(before, &row.cell.name).is_none()) {
        group.add_missing(&row.cell.name, before, ["after", "first"]);
    }
    group.rows.sort_by(|a, b| a.ratios.median.total_cmp(&b.ratios.median));
    let ratios: Vec<Ratios> = group.rows.iter().map(|row| row.ratios).collect();
    for (row, judgement) in group.rows.iter_mut().zip(judge_all(&ratios, DEFAULT_THRESHOLD)) {
        row.judgement = Some(group.by.judgement(judgement));
    }
    group
}

impl Group {
    /// Adds a cell that has a row in one session only: why the other one has none, if it ran there.
    fn add_missing(&mut self, cell: &str, other: &Ranking, [ranked, missing]: [&str; 2]) {
        match other.unranked.iter().find(|unranked| unranked.cell == cell) {
            Some(Unranked { reason, .. }) => {
                let reason = format!("not ranked in the {missing} session: {reason}");
                self.incomparable.push(Unranked { cell: cell.to_owned(), reason });
            }
            None => self.alone.push(format!("{ranked}: {cell}")),
        }
    }
}

impl ComparedRow {
    fn of(before: &Row, after: &Row, seed: u64) -> Option<Self> {
        Some(Self {
            cell: before.cell.name.clone(),
            before: before.time,
            after: after.time,
            ratios: Ratios::unpaired(&before.samples, &after.samples, seed)?,
            judgement: None,
            to_floor_before: before.to_floor,
            to_floor_after: after.to_floor,
        })
    }
}

/// Returns the conditions that differ: work, machine, system, version, rules, and each dataset that both
/// sessions have.
///
/// Walks may be compared across systems, to measure the effect of such a change. Transforms may not:
/// too much below them changes their times.
fn changed_conditions(before: &SessionSpec, after: &SessionSpec) -> Vec<Changed> {
    let of_files = before.words().has_rates || after.words().has_rates;
    let others = conditions(after);
    let differs = |(what, before, matters): (String, String, bool)| {
        let (_, after, _) = others.iter().find(|(other, ..)| *other == what)?;
        let (after, forbids) = (after.clone(), matters && of_files);
        (before != after).then_some(Changed { what, before, after, forbids })
    };
    conditions(before).into_iter().filter_map(differs).collect()
}

/// Returns the conditions that should be the same in both sessions: name, value, and whether a difference makes
/// transforms incomparable.
fn conditions(spec: &SessionSpec) -> Vec<(String, String, bool)> {
    let SessionSpec { environment, preset, rounds, runs, transform, .. } = spec;
    let processor = environment.processor.as_deref().unwrap_or("unknown");
    let (kind, sync) = match transform {
        None => (spec.words().kind, "none"),
        Some(rules) => (rules.kind.as_str(), rules.sync.as_str()),
    };
    let mut conditions = vec![
        ("machine".to_owned(), format!("{processor}, {} cores", environment.cores), true),
        ("system".to_owned(), environment.system.clone(), true),
        ("version".to_owned(), environment.version.clone(), false),
        ("rules".to_owned(), format!("{preset}, {rounds} rounds of {runs}"), false),
        ("kind".to_owned(), kind.to_owned(), true),
        ("sync".to_owned(), sync.to_owned(), true),
    ];
    if spec.words().has_rates {
        let names: Vec<&str> = spec.datasets.iter().map(|it| it.name.as_str()).collect();
        conditions.push(("inputs".to_owned(), names.join(", "), true));
    }
    for dataset in &spec.datasets {
        conditions.push((dataset.name.clone(), dataset.expected.to_string(), true));
        let known = serde_json::to_value(&dataset.file_system).expect("BUG: it can be written");
        for (what, is) in known.as_object().into_iter().flatten().filter(|(_, is)| !is.is_null()) {
            let what = format!("file system of {}, {}", dataset.name, what.replace('_', " "));
            let is = is.as_str().map_or_else(|| is.to_string(), str::to_owned);
            conditions.push((what, is, true));
        }
    }
    conditions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::transform::{Kind, Rules, SyncRule};
    use crate::fixtures::{disturb, report_cpu, with};
    use crate::harness::log::{FileEvidence, Outcome};
    use transect_stats::Verdict;

    fn of_files() -> SessionData {
        let mut data = with(&[("base", 1000), ("base (again)", 1000), ("other", 2000)], 6);
        data.spec.transform = Some(Rules { kind: Kind::Copy, sync: SyncRule::None });
        data.spec.datasets[0].file_system.name = Some("ext4".to_owned());
        data
    }

    fn forbidding(before: &SessionData, after: &SessionData) -> Vec<String> {
        let changed = compare(before, after).changed.into_iter();
        changed.filter(|changed| changed.forbids).map(|changed| changed.what).collect()
    }

    #[test]
    fn compare_equal_sessions_no_change() {
        let data = of_files();
        let same = compare(&data, &data);
        assert_eq!((same.changed, same.alone), (vec![], vec![]));
        assert_eq!(same.groups[0].conditions, "input warm");
        assert_eq!(same.groups[0].rows.len(), 3);
    }

    #[test]
    fn compare_transforms_forbids_other_machine_work_or_device() {
        let before = of_files();
        let with = |change: &dyn Fn(&mut SessionSpec)| {
            let mut after = before.clone();
            change(&mut after.spec);
            forbidding(&before, &after)
        };
        let rules =
            |kind, sync| move |spec: &mut SessionSpec| spec.transform = Some(Rules { kind, sync });
        assert_eq!(with(&rules(Kind::Case, SyncRule::None)), ["kind"]);
        assert_eq!(with(&rules(Kind::Copy, SyncRule::Inside)), ["sync"]);
        assert_eq!(with(&|spec| spec.environment.cores += 1), ["machine"]);
        assert_eq!(with(&|spec| spec.environment.system = "Linux 2.4".to_owned()), ["system"]);
        assert_eq!(with(&|spec| spec.datasets[0].name = "2M".to_owned()), ["inputs"]);
        assert_eq!(with(&|spec| spec.datasets[0].expected.bytes += 1), ["tree"]);
        let xfs =
            |spec: &mut SessionSpec| spec.datasets[0].file_system.name = Some("xfs".to_owned());
        assert_eq!(with(&xfs), ["file system of tree, name"]);
        assert_eq!(with(&|spec| spec.rounds += 1), [""; 0]);
        assert_eq!(with(&|spec| spec.environment.version = "9".to_owned()), [""; 0]);
    }

    #[test]
    fn compare_uses_one_metric_for_both_sessions() {
        let mut calm = of_files();
        let cells = ["base", "base (again)", "other"];
        cells.iter().for_each(|cell| report_cpu(&mut calm, cell, 300));
        let mut restless = calm.clone();
        cells.iter().for_each(|cell| report_cpu(&mut restless, cell, 1200));
        disturb(&mut restless, 18);
        for (before, after, ratio) in [(&calm, &restless, 4.0), (&restless, &calm, 0.25)] {
            let group = &compare(before, after).groups[0];
            assert_eq!(group.by, Metric::Processor);
            // Every calm sample has 300 ns of CPU time, whatever its wall time.
            assert!(group.rows.iter().all(|row| row.ratios.median == ratio), "{group:?}");
            let verdict = group.rows[0].judgement.unwrap().verdict;
            assert!(!matches!(verdict, Verdict::Faster | Verdict::Slower), "{verdict}");
        }
        assert_eq!(compare(&calm, &calm).groups[0].by, Metric::Time);
        assert_eq!(compare(&restless, &restless).groups[0].by, Metric::Processor);
    }

    #[test]
    fn compare_busy_session_without_cpu_of_runs_compares_nothing() {
        let calm = of_files();
        let mut busy = calm.clone();
        disturb(&mut busy, 18);
        for (before, after) in [(&calm, &busy), (&busy, &calm)] {
            let group = &compare(before, after).groups[0];
            assert!(group.uncompared.is_some() && group.rows.is_empty(), "{group:?}");
        }
    }

    #[test]
    fn compare_cell_apart_in_one_session_incomparable() {
        let leaving = |other: u64| {
            let mut data = of_files();
            for sample in &mut data.samples {
                let Outcome::Right { files, .. } = &mut sample.outcome else { continue };
                let unwritten = Some(if sample.cell == "other" { other } else { 1 << 20 });
                let (bytes, written, primed) = (1 << 20, Some(1 << 20), None);
                *files = Some(Box::new(FileEvidence {
                    bytes,
                    resident: None,
                    written,
                    unwritten,
                    primed,
                }));
            }
            data
        };
        let (late, apart) = (leaving(1 << 20), leaving(0));
        for (before, after, which) in [(&late, &apart, "second"), (&apart, &late, "first")] {
            let group = &compare(before, after).groups[0];
            assert_eq!((group.rows.len(), group.alone.len()), (2, 0));
            let reason = format!("flushes its output only in the {which} session");
            let cell = "other".to_owned();
            assert_eq!(group.incomparable, [Unranked { cell, reason }]);
        }
        let both = &compare(&apart, &apart).groups[0];
        assert_eq!((both.rows.len(), both.incomparable.len()), (3, 0), "like with like");
    }

    #[test]
    fn compare_walks_across_systems_allowed() {
        let before = with(&[("base", 1000), ("base (again)", 1000)], 6);
        let mut after = before.clone();
        after.spec.environment.system = "Linux 2.4".to_owned();
        let comparison = compare(&before, &after);
        assert_eq!(comparison.changed.len(), 1);
        assert!(!comparison.changed[0].forbids && comparison.groups.len() == 1);
        assert_eq!(forbidding(&before, &of_files()), ["kind"]);
    }

    #[test]
    fn compare_sync_and_no_sync_share_nothing() {
        let before = of_files();
        let mut after = before.clone();
        after.spec.transform = Some(Rules { kind: Kind::Copy, sync: SyncRule::Inside });
        let comparison = compare(&before, &after);
        assert!(comparison.groups.is_empty());
        assert_eq!(comparison.alone, ["before: tree, input warm", "after: tree, input warm"]);
    }
}
