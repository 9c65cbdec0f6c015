//! A ranking in one look: a sentence in plain words, and at most ten well-known tools.

use serde::Serialize;

use super::conclusion::under_wine;
use crate::ranking::{Metric, Ranking, Row};
use crate::spec::{ENGINE, SessionSpec, Spec};
use transect_stats::Verdict;
use transect_stats::verdict::MIN_ROUNDS;
use transect_text::units::time;

pub(super) const MAX_BARS: usize = 10;

/// The most programs among the bars of a walk: the others show languages.
const MAX_PROGRAMS: usize = 5;

const MAX_COMPARISONS: usize = 4;

/// Well-known programs, the best known first.
const PROGRAMS: [&str; 12] =
    ["find", "fd", "fdfind", "du", "ncdu", "gdu", "dust", "dua", "pdu", "diskus", "bfs", "rg"];

/// Languages, those most used for such work first.
const LANGUAGES: [&str; 8] = ["Python", "C", "Java", "Go", "JavaScript", "C#", "C++", "Groovy"];

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Overview {
    /// The base against the floor and the best-known others, or why nothing can be said.
    pub sentence: String,
    /// The base and the best-known others, the fastest first. Empty if nothing can be compared.
    pub bars: Vec<Bar>,
    /// What the floor and the base are.
    pub explained: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    pub cell: String,
    /// Its usual name: a program, or a language.
    pub label: String,
    pub median_ns: f64,
    /// The part of it in which its process starts; `None` for a method with a clock of its own.
    pub start_up_ns: Option<f64>,
    /// Its ratio to the base; `None` for the base.
    pub to_base: Option<f64>,
    pub is_base: bool,
}

impl Overview {
    pub(super) fn of(spec: &SessionSpec, ranking: &Ranking) -> Self {
        let refused = |sentence| Self { sentence, ..Self::default() };
        Self::of_compared(spec, ranking).unwrap_or_else(refused)
    }

    /// Returns the overview, or why nothing can be said.
    fn of_compared(spec: &SessionSpec, ranking: &Ranking) -> Result<Self, String> {
        check_comparable(spec, ranking)?;
        let missing = || format!("{} has no time, so nothing is compared with it.", spec.base);
        let base = ranking.row(&spec.base).ok_or_else(missing)?;
        let others = known(spec, ranking);
        let sentence = under_wine(spec) + &sentence(spec, ranking.by, base, &others);
        let mut rows: Vec<&Row> = std::iter::once(base).chain(others).collect();
        rows.sort_by(|one, other| one.time.median.total_cmp(&other.time.median));
        let bar = |row: &&Row| Bar {
            cell: row.cell.name.clone(),
            label: label(spec, row),
            median_ns: row.time.median,
            start_up_ns: row.start_up,
            to_base: row.to_base.map(|ratios| ratios.median),
            is_base: row.cell.name == spec.base,
        };
        let floor = spec.floor_of(&base.cell, ranking.state).and_then(|floor| ranking.row(floor));
        let bars = rows.iter().map(bar).collect();
        Ok(Self { sentence, bars, explained: explained(spec, base, floor) })
    }
}

/// Returns an error if the ranking compares nothing.
fn check_comparable(spec: &SessionSpec, ranking: &Ranking) -> Result<(), String> {
    if let Some(reason) = &ranking.uncompared {
        return Err(format!("Nothing is compared: {reason}."));
    }
    let Some(noise) = ranking.noise.filter(|_| ranking.noisy) else { return Ok(()) };
    let name = spec.repeated();
    Err(format!(
        "Too noisy to compare: {name} differs from itself, {noise}. Repeat the session on a quieter machine."
    ))
}

fn is_of_article(spec: &SessionSpec) -> bool {
    spec.preset.starts_with("article-")
}

/// Returns the usual name of a method.
fn label(spec: &SessionSpec, row: &Row) -> String {
    let cell = &row.cell;
    let (is_base, is_walk) = (cell.name == spec.base, spec.experiment() == Spec::Walk);
    match cell.kind.as_str() {
        // An article compares variants of a program, and methods of a language.
        _ if is_of_article(spec) => cell.name.clone(),
        ENGINE if is_base && is_walk => "transect".to_owned(),
        "contender" if is_walk && !is_base => cell.language.clone(),
        _ if cell.name == "fdfind" => "fd".to_owned(),
        _ => cell.name.clone(),
    }
}

/// Returns the best-known methods besides the base, the best known first. Of a language, it is the fastest
/// method. Methods of transforms, attributes and articles are not well known: there, the fastest follow.
fn known<'r>(spec: &SessionSpec, ranking: &'r Ranking) -> Vec<&'r Row> {
    let mut methods = ranking.methods(spec);
    methods.retain(|row| row.cell.name != spec.base);
    let named = |name: &&str| methods.iter().find(|row| row.cell.name == **name).copied();
    let of_language = |language: &&str| {
        let is_of_it =
            |row: &&&Row| row.cell.kind == "contender" && row.cell.language == **language;
        methods.iter().find(is_of_it).copied()
    };
    let programs = PROGRAMS.iter().filter_map(named).take(MAX_PROGRAMS);
    let mut chosen: Vec<&Row> = programs.chain(LANGUAGES.iter().filter_map(of_language)).collect();
    if spec.experiment() != Spec::Walk || spec.whole_processes || is_of_article(spec) {
        let is_chosen = |row: &Row| chosen.iter().any(|other| other.cell.name == row.cell.name);
        methods.retain(|row| !is_chosen(row));
        chosen.append(&mut methods);
    }
    chosen.truncate(MAX_BARS - 1);
    chosen
}

/// Returns `transect 14 ms: 9 % above the floor, 1.2 × faster than find, 9.1 × than Python.`
fn sentence(spec: &SessionSpec, by: Metric, base: &Row, others: &[&Row]) -> String {
    let [of_cpu, faster, slower, equal] = match by {
        Metric::Processor => [" of CPU time", "less CPU than", "more CPU than", "as much CPU as"],
        Metric::Time | Metric::Process => ["", "faster than", "slower than", "as fast as"],
    };
    let mut said: Vec<String> = above_the_floor(base).into_iter().collect();
    let of_floor = said.len();
    let compared = compared_first(others);
    let claims = |asked_alone: bool| {
        let verdict = |row: &Row| match asked_alone {
            true => row.differs_alone(),
            false => row.judgement.map(|judgement| judgement.verdict),
        };
        let mut claims = Vec::new();
        for (verdicts, word, is_inverse) in [
            ([Verdict::Slower, Verdict::MoreCpu], faster, false),
            ([Verdict::Faster, Verdict::LessCpu], slower, true),
        ] {
            let mut than = word;
            for row in &compared {
                let Some((verdict, ratios)) = verdict(row).zip(row.to_base) else { continue };
                if verdicts.contains(&verdict) {
                    let ratio = if is_inverse { 1.0 / ratios.median } else { ratios.median };
                    claims.push(format!("{} × {than} {}", times(ratio), label(spec, row)));
                    than = "than";
                }
            }
        }
        claims
    };
    said.extend(claims(false));
    let is_same = |row: &&&Row| {
        row.judgement.is_some_and(|judgement| judgement.verdict == Verdict::NoDifference)
    };
    let same = compared.iter().filter(is_same);
    said.extend(same.map(|row| format!("{equal} {}", label(spec, row))));
    let alone = claims(true);
    let undecided = if !alone.is_empty() {
        format!("; if asked alone, {}", alone.join(", "))
    } else if !compared.is_empty() && said.len() == of_floor {
        let few = base.time.n < MIN_ROUNDS;
        let why = if few { ": too few rounds" } else { "" };
        format!("; differences to the others are not decided{why}")
    } else {
        String::new()
    };
    let (name, median) = (label(spec, base), time(base.time.median));
    let colon = if said.is_empty() { "" } else { ": " };
    format!("{name} {median}{of_cpu}{colon}{}{undecided}.", said.join(", "))
}

/// Returns the methods that the sentence compares: of programs the best known, and the first language.
fn compared_first<'r>(others: &[&'r Row]) -> Vec<&'r Row> {
    let is_language = |row: &&&Row| row.cell.kind == "contender";
    let language = others.iter().find(is_language).copied();
    let programs = others.iter().filter(|row| !is_language(row)).copied();
    let number = MAX_COMPARISONS - usize::from(language.is_some());
    let mut chosen: Vec<&Row> = programs.take(number).collect();
    let languages = others.iter().filter(is_language).copied();
    chosen.extend(languages.take(MAX_COMPARISONS - chosen.len()));
    chosen
}

/// Returns the distance of a method from its floor; `None` if it has none, or is below it.
fn above_the_floor(base: &Row) -> Option<String> {
    let percent = (base.to_floor?.median - 1.0) * 100.0;
    match percent.round() {
        below if below < 0.0 => None,
        at if at < 1.0 => Some("at the floor".to_owned()),
        above if above < 100.0 => Some(format!("{above:.0} % above the floor")),
        _ => Some(format!("{} × the floor", times(percent / 100.0 + 1.0))),
    }
}

/// Formats a ratio with two digits: `1.2`, `12`, `120`.
fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

fn explained(spec: &SessionSpec, base: &Row, floor: Option<&Row>) -> Vec<String> {
    let name = &base.cell.name;
    let base = match label(spec, base) {
        label if label == *name => format!("Base: {name}. Ratios compare with it."),
        label => format!("Base: {label}, here {name}. Ratios compare with it."),
    };
    let floor = floor.map(|floor| {
        let (name, median) = (&floor.cell.name, time(floor.time.median));
        format!("Floor: {name}, {median}: the system calls alone, without a program around them.")
    });
    floor.into_iter().chain([base]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::with;
    use crate::harness::log::SessionData;
    use crate::ranking::rank;

    /// Returns a session of walks on programs and languages.
    fn walks(times: &[(&str, u64, &str, &str)]) -> SessionData {
        let cells: Vec<(&str, u64)> = times.iter().map(|&(name, time, ..)| (name, time)).collect();
        let mut data = with(&cells, 12);
        for (cell, (_, _, kind, language)) in data.spec.cells.iter_mut().zip(times) {
            (cell.kind, cell.language) = ((*kind).to_owned(), (*language).to_owned());
        }
        data
    }

    fn overview(data: &SessionData) -> Overview {
        Overview::of(&data.spec, &rank(data)[0])
    }

    const TIMES: [(&str, u64, &str, &str); 8] = [
        ("base", 109_000, "engine", "Rust"),
        ("base (again)", 109_000, "engine", "Rust"),
        ("floor", 100_000, "floor", "C"),
        ("fdfind", 220_000, "peer", "Rust"),
        ("find", 131_000, "peer", "C"),
        ("python-walk", 990_000, "contender", "Python"),
        ("python-slow", 9_900_000, "contender", "Python"),
        ("other/stack", 50_000_000, "engine", "Rust"),
    ];

    #[test]
    fn sentence_compares_with_floor_and_known_tools() {
        let overview = overview(&walks(&TIMES));
        let sentence = "transect 109 µs: 9 % above the floor, 1.2 × faster than find, 2.0 × than fd, 9.1 × \
                        than Python.";
        assert_eq!(overview.sentence, sentence);
        let labels: Vec<&str> = overview.bars.iter().map(|bar| bar.label.as_str()).collect();
        assert_eq!(labels, ["transect", "find", "fd", "Python"]);
        assert_eq!(overview.bars[3].cell, "python-walk", "the fastest of the language");
        assert_eq!(
            overview.explained,
            [
                "Floor: floor, 100 µs: the system calls alone, without a program around them.",
                "Base: transect, here base. Ratios compare with it."
            ]
        );
    }

    #[test]
    fn faster_and_equal_tools_named_as_such() {
        let mut times = TIMES;
        (times[3].1, times[4].1, times[5].1) = (90_000, 109_000, 109_000);
        times[2].1 = 80_000;
        let sentence = "transect 109 µs: 36 % above the floor, 1.2 × slower than fd, as fast as find, as fast \
                        as Python.";
        assert_eq!(overview(&walks(&times)).sentence, sentence);
    }

    #[test]
    fn undecided_differences_are_not_claimed() {
        let mut data = walks(&TIMES);
        // Four rounds decide nothing.
        data.samples.retain(|sample| sample.round < 4);
        let sentence = "transect 109 µs: 9 % above the floor; differences to the others are not decided: too few rounds.";
        assert_eq!(overview(&data).sentence, sentence);
        // Five decide one comparison, and not seven.
        let mut data = walks(&TIMES);
        data.samples.retain(|sample| sample.round < 5);
        let sentence = "transect 109 µs: 9 % above the floor; if asked alone, 1.2 × faster than find, 2.0 × than \
                        fd, 9.1 × than Python.";
        assert_eq!(overview(&data).sentence, sentence);
    }

    #[test]
    fn noisy_session_has_no_bars_and_says_why() {
        let mut times = TIMES;
        times[1].1 = 200_000;
        let overview = overview(&walks(&times));
        let begin = "Too noisy to compare: base differs from itself, 1.83 (1.83 to 1.83).";
        assert!(overview.sentence.starts_with(begin), "{}", overview.sentence);
        assert!(overview.bars.is_empty());
    }

    #[test]
    fn bars_at_most_ten() {
        let many: Vec<(String, u64)> = (0..20).map(|at| (format!("m{at}"), 120_000 + at)).collect();
        let mut times = TIMES.to_vec();
        times.extend(many.iter().map(|(name, time)| (name.as_str(), *time, "peer", "C")));
        let mut data = walks(&times);
        assert_eq!(overview(&data).bars.len(), 4, "unknown programs are not shown");
        data.spec.whole_processes = true;
        assert_eq!(overview(&data).bars.len(), MAX_BARS, "unless the user chose them");
    }
}
