//! What tuning tried and what won, as text on a terminal.

use std::io::Write;
use std::path::Path;

use transect::WalkSettings;
use transect_text::style::{BOLD, DIM, GOOD};
use transect_text::{quote, settings};

use crate::stats::Verdict;
use crate::tune::profile::Evidence;

/// Writes everything that was tried, one line each.
///
/// # Errors
/// `out` cannot be written to.
pub fn write_evidence(out: &mut impl Write, evidence: &[Evidence]) -> std::io::Result<()> {
    let width = evidence.iter().map(|seen| seen.value.len()).max().unwrap_or(0).max(8);
    writeln!(
        out,
        "{BOLD}{:<15} {:<width$}  {:<11} {:>20} {:>3}  verdict{BOLD:#}",
        "setting", "value", "caches", "× default (95 %)", "n"
    )?;
    for Evidence { setting, value, state, ratios, verdict } in evidence {
        let (interval, n) = ratios
            .as_ref()
            .map_or_else(Default::default, |ratios| (ratios.to_string(), ratios.n.to_string()));
        let style = if *verdict == Verdict::Faster { GOOD } else { DIM };
        writeln!(
            out,
            "{:<15} {value:<width$}  {:<11} {interval:>20} {n:>3}  {style}{verdict}{style:#}",
            setting.replace('_', " "),
            state.label(),
        )?;
    }
    Ok(())
}

/// Writes the settings that won, and where they were stored.
///
/// # Errors
/// `out` cannot be written to.
pub fn write_result(
    out: &mut impl Write,
    settings: &WalkSettings,
    stored: Option<&Path>,
) -> std::io::Result<()> {
    if settings.is_default() {
        writeln!(out, "\nNo setting is significantly faster than the defaults, which stay.")?;
    } else {
        writeln!(out, "\n{BOLD}{}{BOLD:#}", settings::describe(settings))?;
    }
    match stored {
        Some(file) => writeln!(
            out,
            "stored in {}; `transect doctor` shows it, `--no-profile` does without",
            quote::for_terminal(file.as_os_str())
        ),
        None => writeln!(out, "not stored"),
    }
}
