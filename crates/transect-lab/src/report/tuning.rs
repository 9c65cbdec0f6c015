//! What tuning tried and what won, as text on a terminal.

use std::io::Write;
use std::path::Path;

use transect::WalkSettings;
use transect_text::style::{BOLD, DIM, GOOD};
use transect_text::{quote, settings};

use super::table::Table;
use crate::ranking::Metric;
use crate::tune::profile::Evidence;
use transect_stats::Verdict;

/// Writes everything that was tried, one line each.
///
/// # Errors
/// `out` cannot be written to.
pub fn write_evidence(out: &mut impl Write, evidence: &[Evidence]) -> std::io::Result<()> {
    let words = ["setting", "value", "caches"];
    let mut table = Table::new(&words, &["× default (95 %)", "n"], &["verdict"]);
    for Evidence { setting, value, state, ratios, by, verdict } in evidence {
        let (interval, n) = ratios
            .as_ref()
            .map_or_else(Default::default, |ratios| (ratios.to_string(), ratios.n.to_string()));
        let style = if *verdict == Verdict::Faster { GOOD } else { DIM };
        let setting = setting.replace('_', " ");
        let verdict = match (by, verdict) {
            // These say it themselves.
            (_, Verdict::LessCpu | Verdict::MoreCpu) | (Metric::Time | Metric::Process, _) => {
                verdict.to_string()
            }
            (Metric::Processor, _) => format!("{verdict} (CPU time compared)"),
        };
        let (value, state) = (value.clone(), state.label().to_owned());
        table.add(style, [setting, value, state, interval, n, verdict]);
    }
    table.write(out)
}

/// Writes the settings that won, and where they were stored. `busy` is
/// [`TuneResult::busy`](crate::tune::TuneResult::busy).
///
/// # Errors
/// `out` cannot be written to.
pub fn write_result(
    out: &mut impl Write,
    settings: &WalkSettings,
    stored: Option<&Path>,
    busy: bool,
) -> std::io::Result<()> {
    if busy {
        writeln!(
            out,
            "\nUndecided: this machine was too busy to compare wall times, and CPU times say nothing \
             about speed."
        )?;
    } else if settings.is_default() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::cache_state::State;
    use transect_stats::Ratios;

    #[test]
    fn evidence_of_cpu_time_labelled_as_such() {
        let ratios = Ratios::paired(&[(100.0, 139.0); 6], 1).ok();
        let evidence = |by, verdict| Evidence {
            setting: "buffer_size".to_owned(),
            value: "16K".to_owned(),
            state: State::Warm,
            ratios,
            by,
            verdict,
        };
        let mut text = Vec::new();
        let all = [
            evidence(Metric::Processor, Verdict::Undecided),
            evidence(Metric::Processor, Verdict::MoreCpu),
            evidence(Metric::Time, Verdict::Undecided),
        ];
        write_evidence(&mut text, &all).unwrap();
        write_result(&mut text, &WalkSettings::default(), None, true).unwrap();
        let text = String::from_utf8(text).unwrap();
        let ends = ["undecided (CPU time compared)", "more CPU", "undecided"];
        for (line, end) in text.lines().skip(1).zip(ends) {
            let plain = line.replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
            assert!(plain.contains("1.39") && plain.ends_with(&format!("  {end}")), "{plain:?}");
        }
        assert!(text.contains("too busy to compare wall times") && text.contains("not stored"));
    }
}
