//! A comparison of two sessions, as text on a terminal.

use std::io::Write;

use transect_text::quote;
use transect_text::style::{BOLD, DIM, WARN};

use super::format::{time, verdict_style};
use super::terminal::Screen;
use crate::ranking::Unranked;
use crate::ranking::compare::{Changed, Comparison, Group};
use transect_stats::Verdict;
use transect_text::table::Table;

/// Returns why the sessions cannot be compared, if they cannot.
pub fn refusal(comparison: &Comparison) -> Option<String> {
    let differs = |Changed { what, before, after, .. }: &Changed| {
        let text = format!("{what} ({before}, then {after})");
        quote::for_terminal(text.as_ref())
    };
    let forbids = comparison.changed.iter().filter(|changed| changed.forbids);
    let differing: Vec<String> = forbids.map(differs).collect();
    (!differing.is_empty()).then(|| {
        let differing = differing.join("; ");
        format!(
            "the sessions differ in work or conditions; use --force to compare them anyway: {differing}"
        )
    })
}

/// Writes a comparison as text on a terminal; a table wider than `width` characters becomes text. Other lines are
/// not wrapped.
pub fn write(
    out: &mut impl Write,
    comparison: &Comparison,
    width: Option<usize>,
) -> std::io::Result<()> {
    for Changed { what, before, after, .. } in &comparison.changed {
        let [what, before, after] =
            [what, before, after].map(|it| quote::for_terminal(it.as_ref()));
        writeln!(out, "{WARN}changed{WARN:#}  {what}: {before} is {after} now")?;
    }
    for group in &comparison.groups {
        write_group(out, group, width)?;
    }
    write_alone(out, &comparison.alone)?;
    writeln!(out)?;
    let mut screen = Screen { out: &mut *out, width };
    screen.write_wrapped(
        DIM,
        "The sessions ran at different times, so changes of the machine affect these ratios. The ratios to the \
         floor of each session show what the method alone changed.",
    )
}

fn write_alone(out: &mut impl Write, names: &[String]) -> std::io::Result<()> {
    names.iter().try_for_each(|name| {
        let name = quote::for_terminal(name.as_ref());
        writeln!(out, "{DIM}in one session only  {name}{DIM:#}")
    })
}

fn write_group(out: &mut impl Write, group: &Group, width: Option<usize>) -> std::io::Result<()> {
    let name = quote::for_terminal(group.name.as_ref());
    let by = group.by.about();
    writeln!(out, "\n{BOLD}{name}{BOLD:#}, {}{by}", group.conditions)?;
    if let Some(reason) = &group.uncompared {
        return writeln!(out, "{WARN}not compared: {reason}{WARN:#}");
    }
    let numbers = ["before", "after", "after ÷ before (95 %)", "× floor"];
    let mut table = Table::new(&["method"], &numbers, &["verdict"]);
    for row in &group.rows {
        let floor = match (&row.to_floor_before, &row.to_floor_after) {
            (Some(before), Some(after)) => format!("{:.2} → {:.2}", before.median, after.median),
            _ => String::new(),
        };
        let verdict = row.judgement.map(|judgement| judgement.verdict);
        let cells = [
            quote::for_terminal(row.cell.as_ref()),
            time(row.before.median),
            time(row.after.median),
            row.ratios.to_string(),
            floor,
            verdict.map_or("", Verdict::label).to_owned(),
        ];
        table.add(verdict.map_or(DIM, verdict_style), cells);
    }
    Screen { out: &mut *out, width }.table(&table)?;
    write_alone(out, &group.alone)?;
    for Unranked { cell, reason } in &group.incomparable {
        let cell = quote::for_terminal(cell.as_ref());
        writeln!(out, "{DIM}not compared  {cell}: {reason}{DIM:#}")?;
    }
    Ok(())
}
