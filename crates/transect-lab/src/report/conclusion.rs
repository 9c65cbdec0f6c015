//! A ranking in words: a summary sentence, and the reasons to doubt it.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::harness::cache_state::State;
use crate::harness::interference::Disturbance;
use crate::harness::log::SessionData;
use crate::ranking::pair_answers::PairAnswer;
use crate::ranking::{Metric, Ranking, Row};
use crate::spec::{Cell, CheckedBy, SessionSpec};
use transect_stats::verdict::{MIN_ROUNDS, Verdict, can_decide};
use transect_text::units::counted;

/// A note is added if the lab itself uses more than this share of the time of a run.
const MAX_HARNESS_SHARE: f64 = 0.01;

/// Longest list of names in a headline.
const MAX_NAMES: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// The fastest methods, and how many differ from the base.
    pub sentence: String,
    pub noise: String,
    pub answers: Vec<String>,
    /// Reasons not to trust the ranking, or a part of it.
    pub alarms: Vec<String>,
    pub notes: Vec<String>,
}

impl Conclusion {
    pub(super) fn of(data: &SessionData, ranking: &Ranking) -> Self {
        let spec = &data.spec;
        Self {
            sentence: under_wine(spec) + &sentence(spec, ranking),
            noise: noise(spec, ranking),
            answers: answers(spec, ranking),
            alarms: alarms(spec, ranking),
            notes: notes(data, ranking),
        }
    }
}

/// Returns the mark of a verdict under Wine; empty on a real system.
pub(super) fn under_wine(spec: &SessionSpec) -> String {
    spec.environment.wine.as_ref().map_or(String::new(), |_| "Under Wine: ".to_owned())
}

fn sentence(spec: &SessionSpec, ranking: &Ranking) -> String {
    if let Some(reason) = &ranking.uncompared {
        return format!("Nothing is compared: {reason}.");
    }
    let methods = ranking.methods(spec);
    if methods.is_empty() {
        return "No method has a time that could be ranked.".to_owned();
    }
    let mut text = headline(ranking, &methods);
    if ranking.noisy {
        return text;
    }
    let number = |verdict: Verdict| {
        let judged = methods.iter().filter_map(|row| row.judgement);
        judged.filter(|judgement| judgement.verdict == verdict).count()
    };
    let mut said: Vec<String> = [
        (Verdict::Faster, "is faster", "are faster"),
        (Verdict::Slower, "is slower", "are slower"),
        (Verdict::LessCpu, "needs less CPU", "need less CPU"),
        (Verdict::MoreCpu, "needs more CPU", "need more CPU"),
        (Verdict::NoDifference, "makes no difference", "make no difference"),
        (Verdict::Undecided, "is undecided", "are undecided"),
    ]
    .into_iter()
    .filter_map(|(verdict, one, many)| match number(verdict) {
        0 => None,
        1 => Some(format!("1 {one}")),
        n => Some(format!("{n} {many}")),
    })
    .collect();
    let alone = methods.iter().filter(|row| row.differs_alone().is_some()).count();
    if let Some(undecided) = said.last_mut().filter(|_| alone > 0) {
        *undecided += &format!(" ({alone} would differ, if asked alone)");
    }
    if !said.is_empty() {
        text += &format!(" Compared with {}, {}.", spec.base, said.join(", "));
    }
    text
}

/// Names the fastest method, or those that it is not shown to be faster than.
fn headline(ranking: &Ranking, methods: &[&Row]) -> String {
    let fastest = |name: &str| methods.iter().find(|row| row.cell.name == name);
    let number = methods.len();
    let [word, among] = match ranking.by {
        Metric::Processor => ["Least CPU", "to need the least CPU"],
        Metric::Time | Metric::Process => ["Fastest", "to be the fastest"],
    };
    let equal = if ranking.best_are_equal { "no difference" } else { "undecided" };
    match ranking.best.as_slice() {
        [] if ranking.noisy => {
            "No method is named: the base differs from itself, so the others are not judged."
                .to_owned()
        }
        [] => "Every method is below the floor, so none is named.".to_owned(),
        [only] => {
            let to_floor = fastest(only).map_or(String::new(), |row| to_floor(row));
            match number {
                1 => format!("The only method is {only}{to_floor}."),
                _ => format!("{word} of {number} methods: {only}{to_floor}."),
            }
        }
        all if all.len() == number => {
            format!("None of {number} methods is shown {among}: {equal} between them.")
        }
        group => {
            let names = list_names(group);
            format!("{word} of {number} methods: {names} ({equal} between them).")
        }
    }
}

fn to_floor(row: &Row) -> String {
    let threads = if row.cell.parallel { " on several threads" } else { "" };
    let ratios = row.to_floor.as_ref();
    ratios.map_or(String::new(), |ratios| format!(", {ratios} times the floor{threads}"))
}

fn names_of<'c>(cells: impl Iterator<Item = &'c Cell>) -> Option<String> {
    let names: Vec<&str> = cells.map(|cell| cell.name.as_str()).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Lists names: all of them if they are few.
fn list_names(names: &[String]) -> String {
    if let [only] = names {
        return only.clone();
    }
    let shown = if names.len() > MAX_NAMES { MAX_NAMES - 1 } else { names.len() - 1 };
    let last = match names.len() - shown {
        1 => names[shown].clone(),
        more => format!("{more} more"),
    };
    format!("{} and {last}", names[..shown].join(", "))
}

fn answers(spec: &SessionSpec, ranking: &Ranking) -> Vec<String> {
    let line = |pair: &PairAnswer| under_wine(spec) + &pair.line(ranking.by, ranking.noisy);
    ranking.pairs.iter().map(line).collect()
}

fn noise(spec: &SessionSpec, ranking: &Ranking) -> String {
    let base = spec.repeated();
    match &ranking.noise {
        None => "The base did not run twice, so noise is unknown.".to_owned(),
        Some(pair) => format!("{base} against itself: {pair}."),
    }
}

fn alarms(spec: &SessionSpec, ranking: &Ranking) -> Vec<String> {
    let mut alarms = Vec::new();
    if let Some(wine) = &spec.environment.wine {
        alarms.push(format!(
            "Measured under Wine {wine}: times and verdicts say nothing about Windows."
        ));
    }
    if ranking.noisy {
        let base = spec.repeated();
        alarms.push(format!("{base} differs from itself: no verdict counts."));
    }
    let Ranking { disturbed, samples, .. } = ranking;
    if ranking.by == Metric::Processor {
        let whose = match spec.whole_processes {
            true => "of whole processes, from start to exit",
            false => "of one run, without the start of its process",
        };
        alarms.push(format!(
            "This machine was too busy for wall times: {disturbed} of {samples} samples were disturbed. \
             CPU time is compared, {whose}. It shows how much work a method makes, not how soon it ends."
        ));
    }
    let dropped = spec.dropped.as_ref().filter(|_| ranking.state == State::Cold);
    if let Some(how) = dropped {
        let whose = spec.words().state_was;
        alarms.push(format!("Dropped by {how}; nothing proves that {whose} cold."));
    } else if !ranking.proved && ranking.state != State::AsIs {
        let (whose, state) = (spec.words().state_was, ranking.state.label());
        let names = match ranking.unproved.as_slice() {
            [] => String::new(),
            names => format!(": {}", list_names(names)),
        };
        alarms.push(format!("Not every sample proved that {whose} {state}{names}."));
    }
    let below = ranking.rows.iter().filter(|row| row.below_the_floor);
    if let Some(below) = names_of(below.map(|row| &row.cell)) {
        alarms.push(format!("Below the floor, which is impossible: {below}."));
    }
    alarms
}

/// Returns a note if there are too few rounds to decide anything among this number of cells: more cells
/// need more evidence.
fn too_many_cells(ranking: &Ranking, rounds: usize) -> Option<String> {
    let pairs = ranking.pairs.iter().filter(|pair| pair.judgement.is_some()).count();
    let cells = ranking.rows.iter().filter(|row| row.judgement.is_some()).count() + pairs;
    let enough = (MIN_ROUNDS..).find(|&rounds| can_decide(cells, rounds))?;
    (rounds >= MIN_ROUNDS && rounds < enough).then(|| {
        format!("{rounds} rounds cannot decide anything among {cells} cells; {enough} could.")
    })
}

/// Returns the kinds of disturbance among the samples of a ranking, once each.
fn disturbances(data: &SessionData, ranking: &Ranking) -> impl Iterator<Item = Disturbance> {
    let here = data.samples_in(ranking.dataset, ranking.cache_state);
    let all: BTreeSet<Disturbance> = here.flat_map(|it| it.outcome.disturbed()).copied().collect();
    all.into_iter()
}

fn notes(data: &SessionData, ranking: &Ranking) -> Vec<String> {
    let SessionData { spec, .. } = data;
    let mut notes = Vec::new();
    if ranking.noise.is_none() {
        notes.push(noise(spec, ranking));
    }
    let rounds = ranking.rows.iter().map(|row| row.time.n).max().unwrap_or(0);
    if rounds < spec.rounds {
        notes.push(format!("The session is not complete: {rounds} of {} rounds.", spec.rounds));
    }
    if rounds < MIN_ROUNDS {
        notes.push(format!("Fewer than {MIN_ROUNDS} rounds decide nothing."));
    }
    if let Some(note) = too_many_cells(ranking, rounds) {
        notes.push(note);
    }
    if ranking.disturbed > 0 && ranking.has_wall_times() {
        let causes: Vec<&str> = disturbances(data, ranking).map(Disturbance::about).collect();
        let (disturbed, samples) = (ranking.disturbed, ranking.samples);
        let causes = causes.join("; ");
        notes.push(format!("Disturbed samples: {disturbed} of {samples} ({causes})."));
    }
    if let Some(share) = ranking.harness.filter(|&share| share > MAX_HARNESS_SHARE) {
        let when = match spec.whole_processes {
            true => "to start them and to wait for their end",
            false => "mostly before their clocks started",
        };
        notes.push(format!(
            "The lab itself was working in {:.1} % of the time of the runs (median), {when}.",
            share * 100.0
        ));
    }
    if ranking.state == State::AsIs {
        let whose = spec.words().as_it;
        notes.push(format!("{whose} happened to be: neither made nor proved."));
    }
    if let Some(reason) = spec.replaced_reason(ranking.cache_state) {
        notes.push(format!("Cold caches were asked for and not made: {reason}."));
    }
    if ranking.uncompared.is_some() {
        notes.push("Times are listed as measured, in the order of the session.".to_owned());
    }
    let apart = |lack_digest: bool| {
        let rows = ranking.apart.iter().map(|row| &row.cell);
        names_of(rows.filter(|cell| (cell.checked == Some(CheckedBy::Sums)) == lack_digest))
    };
    if let Some(synced) = apart(false) {
        notes.push(format!(
            "Listed separately, as they left nothing unwritten and the base did: {synced}. With --sync inside, \
             all can be compared."
        ));
    }
    if let Some(unproved) = apart(true) {
        notes.push(format!(
            "Listed separately and not ranked, as they give no digest of what they found: {unproved}."
        ));
    }
    notes.extend(equal_work(ranking));
    if !ranking.unranked.is_empty() {
        let number = ranking.unranked.len() as u64;
        notes.push(format!("{} not ranked.", counted(number, "cell is", "cells are")));
    }
    notes
}

/// Returns how the work of the ranked cells was verified; `None` if the session does not record it.
fn equal_work(ranking: &Ranking) -> Option<String> {
    let rows = || ranking.all_rows().map(|row| &row.cell);
    if rows().all(|cell| cell.checked.is_none()) {
        return None;
    }
    if rows().all(|cell| cell.checked == Some(CheckedBy::Lines)) {
        return Some("Equal work: verified by the lines that they print.".to_owned());
    }
    let is_by_sums = |cell: &&Cell| cell.checked != Some(CheckedBy::Digest);
    let digest = "Equal work: verified by a digest of all paths, types and lengths";
    Some(match names_of(rows().filter(is_by_sums)) {
        None => format!("{digest}."),
        Some(_) if rows().all(|cell| is_by_sums(&cell)) => {
            "Equal work: verified by counts and sums of lengths only.".to_owned()
        }
        Some(by_sums) => format!("{digest}; by counts and sums of lengths only: {by_sums}."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{change, data, disturb, own, report_cpu, start_up, with};
    use crate::ranking::rank;

    fn conclusion(data: &SessionData) -> Conclusion {
        Conclusion::of(data, &rank(data)[0])
    }

    #[test]
    fn sentence_names_fastest_and_counts_others() {
        let times = [("base", 1000), ("base (again)", 1000), ("slow", 2000), ("floor", 900)];
        let data = with(&times, 12);
        let conclusion = conclusion(&data);
        assert_eq!(
            conclusion.sentence,
            "Fastest of 2 methods: base, 1.11 (1.11 to 1.11) times the floor. Compared with base, 1 is \
             slower."
        );
        assert_eq!(conclusion.noise, "base against itself: 1.00 (1.00 to 1.00).");
        assert_eq!((conclusion.alarms, conclusion.notes), (vec![], vec![]));
    }

    #[test]
    fn note_names_cells_verified_by_sums_only() {
        let times = [("base", 1000), ("base (again)", 1000), ("find", 2000)];
        let note = |checked: [Option<CheckedBy>; 3]| {
            let mut data = with(&times, 12);
            for (cell, checked) in data.spec.cells.iter_mut().zip(checked) {
                cell.checked = checked;
            }
            data.spec.cells[2].command = Some(vec!["find".to_owned()]);
            conclusion(&data).notes
        };
        let (digest, sums) = (Some(CheckedBy::Digest), Some(CheckedBy::Sums));
        assert_eq!(note([None; 3]), Vec::<String>::new());
        let all = "Equal work: verified by a digest of all paths, types and lengths";
        assert_eq!(note([digest; 3]), [format!("{all}.")]);
        let but = format!("{all}; by counts and sums of lengths only: find.");
        assert_eq!(note([digest, digest, sums]), [but]);
        assert_eq!(note([sums; 3]), ["Equal work: verified by counts and sums of lengths only."]);
        let lines = Some(CheckedBy::Lines);
        assert_eq!(note([lines; 3]), ["Equal work: verified by the lines that they print."]);
    }

    #[test]
    fn noisy_base_suppresses_other_verdicts() {
        let data = with(&[("base", 1000), ("base (again)", 1500), ("slow", 2000)], 12);
        let conclusion = conclusion(&data);
        assert!(conclusion.sentence.ends_with("so the others are not judged."), "{conclusion:?}");
        assert_eq!(conclusion.alarms, ["base differs from itself: no verdict counts."]);
    }

    #[test]
    fn sentence_names_group_without_difference() {
        let mut times = vec![("base", 1000), ("base (again)", 1000), ("slow", 2000), ("a", 1000)];
        let sentence = |times: &[(&str, u64)]| conclusion(&with(times, 12)).sentence;
        assert_eq!(
            sentence(&times),
            "Fastest of 3 methods: base and a (no difference between them). Compared with base, \
             1 is slower, 1 makes no difference."
        );
        times.extend([("b", 1000), ("c", 1000), ("d", 1000)]);
        assert!(sentence(&times).starts_with(
            "Fastest of 6 methods: base, a, b and 2 more (no difference between them)."
        ));
        let equal = [("base", 1000), ("base (again)", 1000), ("a", 1000)];
        let none = "None of 2 methods is shown to be the fastest: no difference between them. ";
        assert!(sentence(&equal).starts_with(none));
    }

    /// Six rounds that agree decide one comparison, but not five at once.
    #[test]
    fn undecided_among_many_says_what_would_be_decided_alone() {
        let slower = ["a", "b", "c", "d", "e"].map(|name| (name, 2000));
        let times = [("base", 1000), ("base (again)", 1000)].into_iter().chain(slower);
        let ranking = &rank(&with(&times.collect::<Vec<_>>(), 6))[0];
        let data = with(&[("base", 1000), ("base (again)", 1000)], 6);
        assert_eq!(
            sentence(&data.spec, ranking),
            "None of 6 methods is shown to be the fastest: undecided between them. Compared with base, 5 \
             are undecided (5 would differ, if asked alone)."
        );
        let a = ranking.rows.iter().find(|row| row.cell.name == "a").unwrap();
        assert_eq!(crate::report::format::verdict_label(&data.spec, a), "slower, if asked alone");
    }

    #[test]
    fn cell_below_floor_raises_alarm() {
        let mut data = with(&[("base", 1000), ("base (again)", 1000), ("floor", 1200)], 12);
        own(&mut data);
        let conclusion = conclusion(&data);
        assert_eq!(conclusion.sentence, "Every method is below the floor, so none is named.");
        let alarms = conclusion.alarms;
        assert_eq!(alarms.len(), 1);
        assert!(alarms[0].ends_with(": base, base (again)."), "{alarms:?}");
    }

    #[test]
    fn cold_state_without_proof_named_dropped_or_replaced() {
        let mut data = with(&[("base", 1000), ("base (again)", 1000)], 12);
        data.spec.cache_states = vec![State::Cold];
        data.spec.dropped = Some("purging the system's standby list".to_owned());
        assert_eq!(data.spec.state_of(0), "caches dropped, unproved");
        let dropped =
            "Dropped by purging the system's standby list; nothing proves that caches were cold.";
        assert_eq!(conclusion(&data).alarms, [dropped]);

        data.spec.dropped = None;
        data.spec.cache_states = vec![State::AsIs];
        let replaced = r#"{"asked":["cold"],"reason":"no privilege"}"#;
        data.spec.replaced = serde_json::from_str(replaced).unwrap();
        let conclusion = conclusion(&data);
        assert_eq!(data.spec.state_of(0), "caches as they are");
        assert!(conclusion.alarms.is_empty(), "{conclusion:?}");
        let note = "Cold caches were asked for and not made: no privilege.";
        assert!(conclusion.notes.contains(&note.to_owned()), "{conclusion:?}");
    }

    #[test]
    fn session_under_wine_raises_alarm_and_marks_verdicts() {
        let mut data = with(&[("base", 1000), ("base (again)", 1000), ("slow", 2000)], 12);
        data.spec.environment.wine = Some("8.0".to_owned());
        let conclusion = conclusion(&data);
        assert_eq!(
            conclusion.alarms,
            ["Measured under Wine 8.0: times and verdicts say nothing about Windows."]
        );
        assert!(conclusion.sentence.starts_with("Under Wine: "), "{conclusion:?}");
        let ranking = &rank(&data)[0];
        let labels: Vec<String> = ranking
            .rows
            .iter()
            .map(|row| crate::report::format::verdict_label(&data.spec, row))
            .collect();
        assert_eq!(labels, ["the base", "the base again", "slower (under Wine)"]);
    }

    #[test]
    fn implausible_cell_never_the_fastest() {
        let mut data = with(&[("base", 4_000_000), ("base (again)", 4_000_000), ("early", 17)], 12);
        change(&mut data, "early", |_, usage| usage.system_ns = 110_000_000);
        start_up(&mut data, "early", 1_000_000, 1_000_000);
        let conclusion = conclusion(&data);
        assert_eq!(conclusion.sentence, "The only method is base.");
        assert!(conclusion.notes.contains(&"1 cell is not ranked.".to_owned()), "{conclusion:?}");
    }

    #[test]
    fn many_disturbed_samples_compare_cpu_time() {
        let mut data = with(&[("base", 2000), ("base (again)", 2000), ("busy", 1000)], 12);
        for (cell, cpu) in [("base", 100), ("base (again)", 100), ("busy", 500)] {
            report_cpu(&mut data, cell, cpu);
        }
        disturb(&mut data, 9);
        let few = conclusion(&data);
        assert!(few.sentence.starts_with("Fastest of 2 methods: busy. "), "{few:?}");
        let note =
            "Disturbed samples: 9 of 36 (other processes used more than 5 % of the processors).";
        assert_eq!((few.alarms, few.notes), (vec![], vec![note.to_owned()]));
        disturb(&mut data, 10);
        let many = conclusion(&data);
        let sentence = "Least CPU of 2 methods: base. Compared with base, 1 needs more CPU.";
        assert_eq!(many.sentence, sentence);
        assert!(many.alarms[0].contains("10 of 36 samples were disturbed"), "{many:?}");
        let all = format!("{many:?}");
        assert!(!all.contains("faster") && !all.contains("fastest"), "{all}");
    }

    #[test]
    fn busy_session_without_cpu_of_runs_concludes_nothing() {
        let mut data = with(&[("base", 2000), ("base (again)", 2000), ("busy", 1000)], 12);
        data.spec.preset = "article-s1".to_owned();
        disturb(&mut data, 36);
        let conclusion = conclusion(&data);
        assert_eq!(
            conclusion.sentence,
            "Nothing is compared: other processes disturbed 36 of 36 samples, and the CPU time of a \
             single run is known for too few methods."
        );
        assert_eq!(
            conclusion.notes,
            ["Times are listed as measured, in the order of the session."]
        );
    }

    #[test]
    fn too_few_rounds_for_cells_noted() {
        let many: Vec<(String, u64)> = (0..20).map(|n| (format!("cell {n}"), 2000 + n)).collect();
        let mut times = vec![("base", 1000), ("base (again)", 1000)];
        times.extend(many.iter().map(|(name, time)| (name.as_str(), *time)));
        let note = "5 rounds cannot decide anything among 20 cells; 10 could.";
        let of_rounds = |rounds| conclusion(&with(&times, rounds)).notes;
        assert_eq!(of_rounds(5), [note]);
        assert_eq!(of_rounds(10), Vec::<String>::new());
    }

    #[test]
    fn incomplete_session_noted() {
        let mut few = with(&[("base", 1000)], 3);
        few.spec.rounds = 20;
        let conclusion = conclusion(&few);
        assert_eq!(
            conclusion.notes,
            [
                "The base did not run twice, so noise is unknown.",
                "The session is not complete: 3 of 20 rounds.",
                "Fewer than 5 rounds decide nothing.",
            ]
        );
        few.samples.clear();
        let nothing = Conclusion::of(&few, &rank(&few)[0]);
        assert_eq!(nothing.sentence, "No method has a time that could be ranked.");
        assert_eq!(Conclusion::of(&data(), &rank(&data())[0]).notes.len(), 2);
    }
}
