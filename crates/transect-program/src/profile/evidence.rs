//! What was tried, with the ratios that were measured: shown to the user, not used.

use std::io::Write;

use serde::{Deserialize, Serialize};
use transect_stats::Ratios;
use transect_text::style::{DIM, GOOD};
use transect_text::table::Table;

use super::CacheState;

/// Ratios of the time of a chosen method to that of the planner's default.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransformEvidence {
    /// The ratios over all rounds.
    pub ratios: Ratios,
    /// The ratios over the rounds that were not used for choosing.
    pub confirmed: Ratios,
}

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Name of the setting: `threads`, `buffer_size` …, or `all` for all winners together.
    pub setting: String,
    /// The value of the setting.
    pub value: String,
    /// The cache state before each run.
    pub state: CacheState,
    /// Ratios of its time to the default's; `None` if it failed, gave a different result, or nothing could
    /// be compared.
    pub ratios: Option<Ratios>,
    /// The metric that was compared, if not wall time: `processor`, or `process` for whole processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The verdict on these ratios: `faster`, `no_difference` and so on.
    pub verdict: String,
}

/// Writes everything that was tried, one line each.
pub fn write_evidence(out: &mut impl Write, evidence: &[Evidence]) -> std::io::Result<()> {
    let words = ["setting", "value", "caches"];
    let mut table = Table::new(&words, &["× default (95 %)", "n"], &["verdict"]);
    for Evidence { setting, value, state, ratios, by, verdict } in evidence {
        let (interval, n) = ratios
            .as_ref()
            .map_or_else(Default::default, |ratios| (ratios.to_string(), ratios.n.to_string()));
        let style = if verdict == "faster" { GOOD } else { DIM };
        let setting = setting.replace('_', " ");
        let mut verdict = verdict.replace("_cpu", " CPU").replace('_', " ");
        if by.as_deref() == Some("processor") && !verdict.ends_with(" CPU") {
            verdict += " (CPU time compared)";
        }
        let (value, state) = (value.clone(), state.label().to_owned());
        table.add(style, [setting, value, state, interval, n, verdict]);
    }
    table.write(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_of_cpu_time_labelled_as_such() {
        let ratios =
            Ratios { n: 6, median: 1.39, low: 1.38, high: 1.4, mad: 0.0, p: 0.03, seed: 1 };
        let evidence = |by: Option<&str>, verdict: &str| Evidence {
            setting: "buffer_size".to_owned(),
            value: "16K".to_owned(),
            state: CacheState::Warm,
            ratios: Some(ratios),
            by: by.map(str::to_owned),
            verdict: verdict.to_owned(),
        };
        let mut text = Vec::new();
        let all = [
            evidence(Some("processor"), "undecided"),
            evidence(Some("processor"), "more_cpu"),
            evidence(None, "no_difference"),
        ];
        write_evidence(&mut text, &all).unwrap();
        let text = String::from_utf8(text).unwrap();
        let ends = ["undecided (CPU time compared)", "more CPU", "no difference"];
        for (line, end) in text.lines().skip(1).zip(ends) {
            let plain = line.replace("\u{1b}[2m", "").replace("\u{1b}[0m", "");
            assert!(plain.contains("1.39") && plain.ends_with(&format!("  {end}")), "{plain:?}");
        }
    }
}
