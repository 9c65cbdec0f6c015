//! A comparison of two sessions, as text on a terminal.

use std::io::{Result, Write};

use transect_text::quote;
use transect_text::style::{DIM, WARN};

use super::format::verdict_style;
use super::value::Form;
use super::writer::Writer;
use crate::ranking::compare::{Changed, Comparison, Group};
use transect_stats::Verdict;
use transect_text::table::Table;
use transect_text::units::time;

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

/// Writes a comparison as text on a terminal; a table wider than `width` characters becomes text.
pub fn write(out: &mut impl Write, comparison: &Comparison, width: Option<usize>) -> Result<()> {
    let mut out = Writer { out, form: Form::Terminal, width };
    for Changed { what, before, after, .. } in &comparison.changed {
        out.sentence(WARN, &format!("changed: {what}: {before} is {after} now"))?;
    }
    comparison.groups.iter().try_for_each(|group| out.group(group))?;
    out.alone(&comparison.alone)?;
    out.gap()?;
    out.sentence(
        DIM,
        "The sessions ran at different times, so changes of the machine affect these ratios. The ratios to the \
         floor of each session show what the method alone changed.",
    )
}

impl Writer<'_> {
    fn alone(&mut self, names: &[String]) -> Result<()> {
        self.items(DIM, names.iter().map(|name| format!("in one session only: {name}")))
    }

    fn group(&mut self, group: &Group) -> Result<()> {
        let by = group.by.about();
        self.heading(2, &group.name, &format!(", {}{by}", group.conditions))?;
        if let Some(reason) = &group.uncompared {
            return self.sentence(WARN, &format!("not compared: {reason}"));
        }
        let numbers = ["before", "after", "after ÷ before (95 %)", "× floor"];
        let mut table = Table::new(&["method"], &numbers, &["verdict"]);
        for row in &group.rows {
            let floor = match (&row.to_floor_before, &row.to_floor_after) {
                (Some(before), Some(after)) => {
                    format!("{:.2} → {:.2}", before.median, after.median)
                }
                _ => String::new(),
            };
            let verdict = row.judgement.map(|judgement| judgement.verdict);
            let cells = [
                self.form.name(&row.cell),
                time(row.before.median),
                time(row.after.median),
                row.ratios.to_string(),
                floor,
                verdict.map_or("", Verdict::label).to_owned(),
            ];
            table.add(verdict.map_or(DIM, verdict_style), cells);
        }
        self.table(&table)?;
        self.alone(&group.alone)?;
        let incomparable = group.incomparable.iter();
        self.items(DIM, incomparable.map(|it| format!("not compared: {}: {}", it.cell, it.reason)))
    }
}
