//! What tuning tried and what won, as text on a terminal.

use std::io::Write;
use std::path::Path;

use transect::WalkSettings;
use transect_text::style::{BOLD, DIM, GOOD};
use transect_text::{quote, settings};

use super::table::Table;
use crate::stats::Verdict;
use crate::tune::profile::Evidence;

/// Writes everything that was tried, one line each.
///
/// # Errors
/// `out` cannot be written to.
pub fn write_evidence(out: &mut impl Write, evidence: &[Evidence]) -> std::io::Result<()> {
    let words = ["setting", "value", "caches"];
    let mut table = Table::new(&words, &["× default (95 %)", "n"], &["verdict"]);
    for Evidence { setting, value, state, ratios, verdict } in evidence {
        let (interval, n) = ratios
            .as_ref()
            .map_or_else(Default::default, |ratios| (ratios.to_string(), ratios.n.to_string()));
        let style = if *verdict == Verdict::Faster { GOOD } else { DIM };
        let setting = setting.replace('_', " ");
        let (value, state, verdict) =
            (value.clone(), state.label().to_owned(), verdict.to_string());
        table.add(style, [setting, value, state, interval, n, verdict]);
    }
    table.write(out)
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
