//! `transect lab report`: what a session has come to.

use std::io::Write;

use serde::Serialize;
use transect_lab::accesses::Accesses;
use transect_lab::ranking::{Ranking, Row, rank};
use transect_lab::record::{Header, Record, Recorded};
use transect_lab::state::State;
use transect_lab::statistics::Ratios;

use crate::args::LabReportArgs;
use crate::exit::{End, Fatal};
use crate::output::units::{bytes, duration};
use crate::output::{self, BOLD, DIM, ERROR, WARN, quote};

pub(crate) fn run(args: &LabReportArgs) -> Result<End, Fatal> {
    let recorded = Record::read(&args.session).map_err(|error| Fatal::Lab(error.to_string()))?;
    show(&recorded, args.json)?;
    Ok(End::Complete)
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct Report<'s> {
    schema: &'static str,
    session: &'s Header,
    samples: usize,
    rankings: Vec<Ranking>,
}

/// Shows a session.
pub(super) fn show(recorded: &Recorded, json: bool) -> Result<(), Fatal> {
    let rankings = rank(recorded);
    let mut text = output::buffer();
    if json {
        let report = Report {
            schema: "transect.lab.report/1",
            session: &recorded.header,
            samples: recorded.samples.len(),
            rankings,
        };
        output::write_json(&mut text, &report)?;
    } else {
        write_header(&mut text, &recorded.header)?;
        for ranking in &rankings {
            write(&mut text, &recorded.header, ranking)?;
        }
    }
    Ok(output::print(text)?)
}

fn write_header(out: &mut impl Write, header: &Header) -> std::io::Result<()> {
    let Header { preset, environment, rounds, runs, seed, .. } = header;
    let guest = if environment.hypervisor { ", a guest" } else { "" };
    writeln!(
        out,
        "{DIM}{}, {} cores{guest}, {}{DIM:#}",
        environment.processor.as_deref().unwrap_or("unknown processor"),
        environment.cores,
        environment.system,
    )?;
    writeln!(out, "{DIM}preset {preset}, {rounds} rounds of {runs}, seed {seed}{DIM:#}")
}

fn write(out: &mut impl Write, header: &Header, ranking: &Ranking) -> std::io::Result<()> {
    let place = &header.places[ranking.place];
    let root = quote::for_terminal(place.root.as_os_str());
    let proof = match ranking.proved {
        _ if ranking.state == State::AsIs => "",
        true => ", proved",
        false => ", not proved",
    };
    let number =
        if header.passes.len() > 1 { format!("{}. ", ranking.pass + 1) } else { String::new() };
    writeln!(out, "\n{BOLD}{root}{BOLD:#}: {}", place.expected)?;
    writeln!(
        out,
        "{DIM}{number}caches {}{proof}; {}{DIM:#}",
        ranking.state.word(),
        place.file_system.name.as_deref().unwrap_or("unknown file system"),
    )?;
    write_rows(out, header, &ranking.rows)?;
    for unranked in &ranking.unranked {
        let reason = quote::for_terminal(unranked.reason.as_ref());
        writeln!(out, "{WARN}not ranked{WARN:#}  {}: {reason}", unranked.cell)?;
    }
    write_noise(out, header, ranking)
}

fn write_rows(out: &mut impl Write, header: &Header, rows: &[Row]) -> std::io::Result<()> {
    let width = rows.iter().map(|row| row.cell.name.len()).max().unwrap_or(6);
    writeln!(
        out,
        "\n{BOLD}{:<width$}  {:<10} {:>9} {:>9} {:>9} {:>3} {:>8} {:>8} {:>6} {:>22}  {:>20}  verdict{BOLD:#}",
        "method",
        "language",
        "median",
        "min",
        "max",
        "n",
        "cpu",
        "memory",
        "calls",
        "× base (95 %)",
        "× floor (95 %)"
    )?;
    for row in rows {
        let time = |nanoseconds: f64| duration(std::time::Duration::from_nanos(nanoseconds as u64));
        let verdict = match &row.judgement {
            Some(judgement) => judgement.verdict.word(),
            None if row.cell.name == header.base => "the base",
            None => "the base again",
        };
        let below = if row.below_the_floor { " (below the floor?)" } else { "" };
        writeln!(
            out,
            "{:<width$}  {:<10} {:>9} {:>9} {:>9} {:>3} {:>8} {:>8} {:>6} {:>22}  {:>20}  {verdict}{ERROR}{below}{ERROR:#}",
            row.cell.name,
            row.cell.language,
            time(row.time.median),
            time(row.time.min),
            time(row.time.max),
            row.time.n,
            time(row.cpu_ns()),
            bytes(row.peak_memory as u64),
            calls(row),
            interval(row.to_base.as_ref()),
            interval(row.to_floor.as_ref()),
        )?;
    }
    Ok(())
}

/// Returns the system calls for each entry, if they were counted.
fn calls(row: &Row) -> String {
    let each = |accesses: Accesses| format!("{:.2}", accesses.each(accesses.calls));
    row.accesses.map_or(String::new(), each)
}

/// Returns a ratio with its interval: `1.52 (1.49 to 1.60)`.
pub(super) fn interval(ratios: Option<&Ratios>) -> String {
    ratios.map_or(String::new(), |Ratios { median, low, high, .. }| {
        format!("{median:.2} ({low:.2} to {high:.2})")
    })
}

fn write_noise(out: &mut impl Write, header: &Header, ranking: &Ranking) -> std::io::Result<()> {
    match &ranking.noise {
        None => {
            writeln!(out, "\n{WARN}The base did not run twice: nothing is known of noise.{WARN:#}")
        }
        Some(pair) if ranking.noisy => writeln!(
            out,
            "\n{ERROR}{} differs from itself: {}. No verdict above is to be believed.{ERROR:#}",
            header.base,
            interval(Some(pair))
        ),
        Some(pair) => {
            writeln!(out, "\n{DIM}{} against itself: {}{DIM:#}", header.base, interval(Some(pair)))
        }
    }
}
