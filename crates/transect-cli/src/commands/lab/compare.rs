//! `transect lab compare`: two sessions beside each other.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use transect_lab::harness::log::{SessionData, SessionLog};
use transect_lab::stats::Verdict;
use transect_lab::stats::compare::{Changed, Compared, Comparison, Group, Incomparable, compare};

use crate::args::LabCompareArgs;
use crate::exit::{End, Fatal};
use crate::output::units::duration;
use crate::output::{self, BOLD, DIM, ERROR, GOOD, WARN, quote};

/// The object that `--json` prints.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    #[serde(flatten)]
    comparison: Comparison,
}

pub(crate) fn run(args: &LabCompareArgs) -> Result<End, Fatal> {
    let comparison = compare(&read(&args.before)?, &read(&args.after)?);
    if !args.force
        && let Some(why) = refusal(&comparison)
    {
        return Err(Fatal::Lab(why));
    }
    if comparison.groups.is_empty() {
        let why = "the sessions have nothing in common: no tree or input has the same name, state \
                   and --sync in both";
        return Err(Fatal::Lab(why.to_owned()));
    }
    let slower = comparison.groups.iter().flat_map(|group| &group.rows).any(is_slower);
    let mut text = output::buffer();
    if args.json {
        let report = Report { schema: "transect.lab.comparison/1", comparison };
        output::write_json(&mut text, &report)?;
    } else {
        write(&mut text, &comparison)?;
    }
    output::print(text)?;
    Ok(if args.check && slower { End::Partial } else { End::Complete })
}

fn read(file: &Path) -> Result<SessionData, Fatal> {
    SessionLog::read(file).map_err(|error| Fatal::Lab(error.to_string()))
}

/// Returns why the sessions are not to be compared, if they are not.
fn refusal(comparison: &Comparison) -> Option<String> {
    let differs = |Changed { what, before, after, .. }: &Changed| {
        let text = format!("{what} ({before}, then {after})");
        quote::for_terminal(text.as_ref())
    };
    let forbids = comparison.changed.iter().filter(|changed| changed.forbids);
    let differing: Vec<String> = forbids.map(differs).collect();
    (!differing.is_empty()).then(|| {
        let differing = differing.join("; ");
        format!(
            "the sessions are not of the same work in the same dataset (--force compares them all the \
             same): {differing}"
        )
    })
}

fn is_slower(row: &Compared) -> bool {
    row.judgement.is_some_and(|judgement| judgement.verdict == Verdict::Slower)
}

fn write(out: &mut impl Write, comparison: &Comparison) -> std::io::Result<()> {
    for Changed { what, before, after, .. } in &comparison.changed {
        let [what, before, after] =
            [what, before, after].map(|it| quote::for_terminal(it.as_ref()));
        writeln!(out, "{WARN}changed{WARN:#}  {what}: {before} is {after} now")?;
    }
    for group in &comparison.groups {
        write_group(out, group)?;
    }
    for name in &comparison.alone {
        let name = quote::for_terminal(name.as_ref());
        writeln!(out, "{DIM}in one session only  {name}{DIM:#}")?;
    }
    writeln!(
        out,
        "\n{DIM}Measured at two times: what changed meanwhile is in these ratios. What a method \
         takes\nbeside the floor of its own session tells its change from the machine's.{DIM:#}"
    )
}

fn write_group(out: &mut impl Write, group: &Group) -> std::io::Result<()> {
    let name = quote::for_terminal(group.name.as_ref());
    let by = group.by.about();
    writeln!(out, "\n{BOLD}{name}{BOLD:#}, {}{by}", group.conditions)?;
    let width = group.rows.iter().map(|row| row.cell.len()).max().unwrap_or(0).max(6);
    writeln!(
        out,
        "{BOLD}{:<width$}  {:>9} {:>9} {:>22}  {:>15}  verdict{BOLD:#}",
        "method", "before", "after", "after ÷ before (95 %)", "× floor"
    )?;
    for row in &group.rows {
        let time = |nanoseconds: f64| duration(Duration::from_nanos(nanoseconds as u64));
        let floor = match (&row.to_floor_before, &row.to_floor_after) {
            (Some(before), Some(after)) => format!("{:.2} → {:.2}", before.median, after.median),
            _ => String::new(),
        };
        let verdict = row.judgement.map(|judgement| judgement.verdict);
        let style = match verdict {
            Some(Verdict::Faster) => GOOD,
            Some(Verdict::Slower) => ERROR,
            _ => DIM,
        };
        writeln!(
            out,
            "{:<width$}  {:>9} {:>9} {:>22}  {floor:>15}  {style}{}{style:#}",
            row.cell,
            time(row.before.median),
            time(row.after.median),
            row.ratios.to_string(),
            verdict.map_or("", Verdict::word),
        )?;
    }
    for name in &group.alone {
        writeln!(out, "{DIM}in one session only  {name}{DIM:#}")?;
    }
    for Incomparable { cell, reason } in &group.incomparable {
        let cell = quote::for_terminal(cell.as_ref());
        writeln!(out, "{DIM}not compared  {cell}: {reason}{DIM:#}")?;
    }
    Ok(())
}
