//! The result of a self-test, as text on a terminal.

use std::io::{Result, Write};

use transect_text::style::{BOLD, DIM, ERROR, GOOD};

use crate::self_test::{DELAY, MAX_FALSE, MIN_FOUND, Rate, SelfTest, VerdictRates};
use transect_text::table::Table;

/// Writes the result.
///
/// # Errors
/// `out` cannot be written to.
pub fn write_self_test(out: &mut impl Write, result: &SelfTest) -> Result<()> {
    if let Some(measured) = &result.measured {
        let (method, files) = (&measured.method, measured.files);
        let (sessions, rounds) = (measured.rounds.len(), measured.rounds.iter().sum::<usize>());
        writeln!(
            out,
            "{BOLD}Verdicts{BOLD:#}: {method} under five names, and {} % longer, in {sessions} sessions \
             with {rounds} rounds on {files} files",
            DELAY * 100.0
        )?;
        writeln!(
            out,
            "{DIM}noise of a sample {:.1} %; {} of {} samples disturbed{DIM:#}\n",
            measured.noise_percent,
            measured.disturbed,
            measured.times_ns.values().map(Vec::len).sum::<usize>(),
        )?;
        write_verdicts(out, result)?;
        writeln!(out)?;
    }
    if !result.faults.is_empty() {
        writeln!(out, "{BOLD}Planted faults{BOLD:#}\n")?;
        write_faults(out, result)?;
        writeln!(out)?;
    }
    let (style, word) = if result.passed { (GOOD, "passed") } else { (ERROR, "failed") };
    writeln!(out, "{style}{word}{style:#} in {:.0} s", result.seconds)
}

fn write_verdicts(out: &mut impl Write, result: &SelfTest) -> Result<()> {
    let numbers =
        ["rounds", "false verdicts (95 %)", "one winner", "refused", "found (95 %)", "denied"];
    let mut table = Table::new(&["samples"], &numbers, &["targets"]);
    for rates in &result.verdicts {
        let (style, word) = match (rates.passed, rates.has_power_target) {
            (true, true) => (GOOD, "met"),
            (true, false) => (DIM, "met; found has none"),
            (false, _) => (ERROR, "missed"),
        };
        table.add(
            style,
            [
                rates.source.clone(),
                rounds(rates),
                with_interval(&rates.false_verdicts),
                count(&rates.single_winner),
                count(&rates.refused),
                with_interval(&rates.found),
                count(&rates.denied),
                word.to_owned(),
            ],
        );
    }
    table.write(out)?;
    writeln!(
        out,
        "{DIM}targets: false verdicts in at most {} % of sessions of equal methods; {} % longer found in \
         at least {} % with rounds until ratios are precise, as presets have them, except in made-up \
         noise above 2 %{DIM:#}",
        MAX_FALSE * 100.0,
        DELAY * 100.0,
        MIN_FOUND * 100.0
    )
}

fn write_faults(out: &mut impl Write, result: &SelfTest) -> Result<()> {
    let mut table = Table::new(&["method", "fault", "caches"], &[], &["caught"]);
    for fault in &result.faults {
        let reason = fault.reason.as_deref().unwrap_or("ranked like the others");
        let (style, word) = if fault.caught { (GOOD, "yes") } else { (ERROR, "NO") };
        let state = fault.state.label().to_owned();
        let said = format!("{word}: {}", shortened(reason));
        table.add(style, [fault.method.clone(), fault.about.clone(), state, said]);
    }
    for control in &result.controls {
        let (style, said) = match (&control.reason, control.ranked) {
            (_, true) => (GOOD, "no, as it should".to_owned()),
            (reason, false) => {
                (ERROR, format!("YES: {}", shortened(reason.as_deref().unwrap_or_default())))
            }
        };
        let state = control.state.label().to_owned();
        table.add(style, [control.method.clone(), "none".to_owned(), state, said]);
    }
    table.write(out)
}

/// Formats the rounds of a session: `20`, or `12 or more, 38` with their mean.
fn rounds(rates: &VerdictRates) -> String {
    rates
        .mean_rounds
        .map_or(rates.rounds.to_string(), |mean| format!("{} or more, {mean:.0}", rates.rounds))
}

fn count(rate: &Rate) -> String {
    format!("{} of {}", rate.hits, rate.sessions)
}

fn with_interval(rate: &Rate) -> String {
    let [share, low, high] = [rate.share, rate.low, rate.high].map(|it| it * 100.0);
    format!("{}, {share:.1} % ({low:.1} to {high:.1})", count(rate))
}

/// Returns the beginning of a reason, for a table.
fn shortened(reason: &str) -> String {
    /// The longest reason.
    const MOST: usize = 90;
    if reason.chars().count() <= MOST {
        return reason.to_owned();
    }
    reason.chars().take(MOST - 1).chain(['…']).collect()
}
