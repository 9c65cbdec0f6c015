//! An explanation of a session, as text on a terminal and as JSON.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use transect_text::style::{BOLD, DIM, GOOD, WARN};
use transect_text::units::{bytes, count, time};
use transect_text::{quote, size};

use crate::explain::{Chosen, Explanation, FastestMethod, MethodChoice, TimePart};
use crate::harness::cache_state::State;
use crate::harness::log::SessionData;
use crate::ranking::pair_answers::PairAnswer;
use crate::ranking::{Ranking, Row, rank};

/// The object that `--json` prints.
#[derive(Debug, Serialize)]
pub struct ExplanationReport<'e, E> {
    pub schema: &'static str,
    /// One for each dataset and cache state.
    pub explained: &'e [E],
    pub stored: Option<&'e Path>,
}

/// Why methods of walks differ, on one dataset in one cache state.
#[derive(Debug, Serialize)]
pub struct WalkExplanation {
    #[serde(rename = "place")]
    pub dataset: usize,
    pub name: String,
    #[serde(rename = "pass")]
    pub cache_state: usize,
    pub state: State,
    /// Each method against the base, and the pairs.
    pub differences: Vec<PairAnswer>,
    #[serde(skip)]
    lines: Vec<String>,
}

impl WalkExplanation {
    pub fn of(data: &SessionData) -> Vec<Self> {
        let base = &data.spec.base;
        let of_ranking = |ranking: Ranking| {
            let (by, noisy) = (ranking.by, ranking.noisy);
            let rows = ranking.rows.iter().filter(|row| row.to_base.is_some());
            let why = |row: &Row| ranking.why(&data.spec, &row.cell.name, base);
            let of_base = rows.map(|row| PairAnswer::of_row(row, base, why(row)));
            let others = ranking.pairs.iter().filter(|pair| pair.against != *base).cloned();
            let differences: Vec<PairAnswer> = of_base.chain(others).collect();
            let lines = differences.iter().map(|answer| answer.line(by, noisy)).collect();
            let Ranking { dataset, cache_state, name, state, .. } = ranking;
            Self { dataset, name, cache_state, state, differences, lines }
        };
        rank(data).into_iter().map(of_ranking).collect()
    }

    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let name = quote::for_terminal(self.name.as_ref());
        writeln!(out, "{BOLD}{name}{BOLD:#}, {}", self.state.label())?;
        let mut lines = self.lines.iter().map(|line| quote::for_terminal(line.as_ref()));
        lines.try_for_each(|line| writeln!(out, "  {line}"))
    }
}

pub const SCHEMA: &str = "transect.lab.explanation/1";

pub fn write(out: &mut dyn Write, explained: &Explanation) -> std::io::Result<()> {
    let name = quote::for_terminal(explained.name.as_ref());
    writeln!(out, "{BOLD}{name}{BOLD:#}, {}", explained.conditions)?;
    match &explained.fastest {
        Some(fastest) => write_fastest(out, fastest)?,
        None => writeln!(out, "  {WARN}no method has a time{WARN:#}")?,
    }
    write_choice(out, &explained.choice)?;
    writeln!(out)
}

fn write_fastest(out: &mut dyn Write, fastest: &FastestMethod) -> std::io::Result<()> {
    let cell = quote::for_terminal(fastest.cell.as_ref());
    let summary = &fastest.time;
    let [median, min, max] = [summary.median, summary.min, summary.max].map(time);
    writeln!(out, "  the fastest is {BOLD}{cell}{BOLD:#}: {median}, {min} to {max}")?;
    match (&fastest.limit, &fastest.undecided) {
        (Some(limit), _) => writeln!(out, "  its limit is {GOOD}{}{GOOD:#}", limit.about())?,
        (None, Some(why)) => writeln!(out, "  its limit is {WARN}undecided{WARN:#}: {why}")?,
        (None, None) => {}
    }
    // Leave out parts that round to 0 %.
    for TimePart { what, share } in fastest.parts.iter().filter(|part| part.share.high >= 0.005) {
        let percent = |share: f64| format!("{:.0}", 100.0 * share);
        let [median, low, high] = [share.median, share.low, share.high].map(percent);
        writeln!(out, "  {median:>5} % {DIM}({low} to {high}){DIM:#} {}", what.about())?;
    }
    writeln!(out, "  {DIM}{}{DIM:#}", counters(fastest).join(", "))
}

fn counters(fastest: &FastestMethod) -> Vec<String> {
    let length = |number: Option<f64>, what: &str| {
        number.map(|number| format!("{} {what}", bytes(number as u64)))
    };
    [
        fastest.faults.map(|faults| format!("{} faults", count(faults as u64))),
        Some(match fastest.calls {
            Some(calls) => format!("{} system calls", count(calls)),
            None => "system calls not counted".to_owned(),
        }),
        length(fastest.device_read, "read from devices"),
        length(fastest.device_written, "for devices to write"),
        length(fastest.unwritten, "unwritten at the end"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn write_choice(out: &mut dyn Write, choice: &MethodChoice) -> std::io::Result<()> {
    let MethodChoice { load, size, by_default, chosen } = choice;
    let files = size.map_or("small files", |size| size.about());
    let (load, by_default) = (load.as_str(), by_default.as_str());
    write!(out, "  the planner's default for {load} work on {files} is {by_default}; here: ")?;
    match chosen {
        Chosen::Preferred { method, block, evidence } => {
            let block = block.map_or(String::new(), |it| format!(", block {}", size::shortest(it)));
            let (ratios, confirmed) = (evidence.ratios, evidence.confirmed);
            writeln!(out, "{GOOD}{}{block}{GOOD:#}", method.as_str())?;
            writeln!(out, "    {ratios} of its time, and {confirmed} in rounds that did not choose")
        }
        Chosen::Default => writeln!(out, "{GOOD}the same{GOOD:#}, nothing is faster"),
        Chosen::Undecided { reason } => {
            let reason = quote::for_terminal(reason.as_ref());
            writeln!(out, "{WARN}undecided{WARN:#}: {reason}")
        }
    }
}

pub fn write_stored(
    out: &mut dyn Write,
    stored: Option<&Path>,
    not_stored: &str,
) -> std::io::Result<()> {
    match stored {
        Some(file) => writeln!(
            out,
            "stored in {}; `transect doctor` shows it, `--no-profile` does without",
            quote::for_terminal(file.as_os_str())
        ),
        None => writeln!(out, "{not_stored}"),
    }
}
