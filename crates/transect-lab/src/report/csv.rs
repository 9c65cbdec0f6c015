//! Rankings as comma-separated values: one line for each cell, dataset and cache state.
//!
//! Fields are quoted by RFC 4180, but lines end with LF. Times are nanoseconds, memory is bytes. Unknown
//! values are empty, never 0.

use super::Report;
use crate::spec::{Cell, Dataset, SessionSpec};
use crate::stats::Ratios;
use crate::stats::ranking::{Ranking, Row, Unranked};

/// Column names.
const COLUMNS: &[&str] = &[
    "place",
    "entries",
    "pass",
    "state",
    "cell",
    "method",
    "language",
    "kind",
    "parallel",
    "contract",
    "rank",
    "n",
    "median_ns",
    "min_ns",
    "max_ns",
    "mean_ns",
    "mad_ns",
    "wall_ns",
    "user_ns",
    "system_ns",
    "peak_memory_bytes",
    "against_the_slowest",
    "verdict",
    "to_base",
    "to_base_low",
    "to_base_high",
    "p",
    "adjusted_p",
    "to_floor",
    "to_floor_low",
    "to_floor_high",
    "counted_entries",
    "calls",
    "opens",
    "listings",
    "attributes",
    "opening_ns",
    "listing_ns",
    "attributes_ns",
    "timed_threads",
    "faults",
    "switches",
    "unwritten_bytes",
    "fresh",
    "by",
    "disturbed",
    "start_up_ns",
    "without_start_ns",
    "apart",
    "device_read_bytes",
    "device_written_bytes",
    "ns_per_byte",
    "held_each_bytes",
    "unranked_reason",
];

/// Returns the header line, without its line end.
pub fn header() -> String {
    COLUMNS.join(",")
}

/// Returns all lines, the header first.
pub fn write(report: &Report<'_>) -> String {
    let lines = report.rankings.iter().flat_map(|ranking| lines(report.session, ranking));
    std::iter::once(header()).chain(lines).map(|line| line + "\n").collect()
}

/// Returns the lines of a ranking, without line ends: rows, rows apart, unranked cells.
pub fn lines(spec: &SessionSpec, ranking: &Ranking) -> Vec<String> {
    // Rows apart have ranks of their own.
    let rows = ranking.rows.iter().enumerate().chain(ranking.apart.iter().enumerate());
    let rows = rows.map(|(at, row)| ranked_line(spec, ranking, at + 1, row));
    let unranked = ranking.unranked.iter();
    rows.chain(unranked.map(|unranked| unranked_line(spec, ranking, unranked))).collect()
}

/// Returns the columns up to `contract`: the dataset, its cache state and the cell.
fn cell_columns(spec: &SessionSpec, ranking: &Ranking, cell: &Cell) -> Vec<String> {
    let dataset: &Dataset = &spec.datasets[ranking.dataset];
    vec![
        dataset.name.clone(),
        dataset.entries().to_string(),
        (ranking.cache_state + 1).to_string(),
        ranking.state.as_str().to_owned(),
        cell.name.clone(),
        cell.method.clone(),
        cell.language.clone(),
        cell.kind.clone(),
        cell.parallel.to_string(),
        cell.contract.join(" "),
    ]
}

fn ranked_line(spec: &SessionSpec, ranking: &Ranking, rank: usize, row: &Row) -> String {
    let time = &row.time;
    let mut fields = cell_columns(spec, ranking, &row.cell);
    fields.extend([rank.to_string(), time.n.to_string()]);
    fields.extend(
        [time.median, time.min, time.max, time.mean, time.mad]
            .into_iter()
            .chain([row.wall_ns, row.user_ns, row.system_ns])
            .map(|number| format!("{number:.0}")),
    );
    fields.push(row.peak_memory.map_or(String::new(), |memory| format!("{memory:.0}")));
    fields.push(format!("{:.4}", row.speedup_over_slowest));
    let verdict = row.judgement.map_or("", |judgement| judgement.verdict.as_str());
    fields.push(verdict.to_owned());
    fields.extend(ratios(row.to_base.as_ref()));
    let p = |p: Option<f64>| p.map_or(String::new(), |p| p.to_string());
    fields.push(p(row.to_base.map(|ratios| ratios.p)));
    fields.push(p(row.judgement.map(|judgement| judgement.adjusted_p)));
    fields.extend(ratios(row.to_floor.as_ref()));
    let counted = row.accesses.map(|a| [a.entries, a.calls, a.opens, a.listings, a.attributes]);
    fields.extend(counted.map_or_else(Default::default, |counts| counts.map(|n| n.to_string())));
    let timed = row.calls.map(|c| [c.opening_ns, c.listing_ns, c.attributes_ns, c.threads]);
    fields.extend(timed.map_or_else(Default::default, |times| times.map(|n| n.to_string())));
    let whole = |number: Option<f64>| number.map_or(String::new(), |number| format!("{number:.0}"));
    fields.extend([row.faults, row.switches, row.unwritten].map(whole));
    let exact = |number: Option<f64>| number.map_or(String::new(), |n| format!("{n:.4}"));
    fields.push(exact(row.fresh));
    fields.push(ranking.by.as_str().to_owned());
    fields.push(row.disturbed.len().to_string());
    fields.extend([row.start_up, row.without_start].map(whole));
    let is_apart = ranking.apart.iter().any(|apart| apart.cell.name == row.cell.name);
    fields.push(is_apart.to_string());
    fields.extend([row.device_read, row.device_written].map(whole));
    fields.push(exact(row.ns_per_byte));
    fields.push(whole(row.cache_bytes_per_name));
    fields.push(String::new());
    join(&fields)
}

fn unranked_line(spec: &SessionSpec, ranking: &Ranking, unranked: &Unranked) -> String {
    let cell = spec.cells.iter().find(|cell| cell.name == unranked.cell);
    let cell = cell.expect("BUG: what is not ranked is a cell of the session");
    let mut fields = cell_columns(spec, ranking, cell);
    fields.resize(COLUMNS.len() - 1, String::new());
    fields.push(unranked.reason.clone());
    join(&fields)
}

fn ratios(ratios: Option<&Ratios>) -> [String; 3] {
    let number = |number: f64| format!("{number:.4}");
    ratios.map_or_else(Default::default, |r| [r.median, r.low, r.high].map(number))
}

fn join(fields: &[String]) -> String {
    fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",")
}

/// Returns a field, quoted if it contains a comma, a quote or a line end.
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{NAMES, data};

    /// Parses a text by RFC 4180.
    fn parse(text: &str) -> Vec<Vec<String>> {
        let (mut lines, mut fields, mut field) = (Vec::new(), Vec::new(), String::new());
        let mut chars = text.chars().peekable();
        let mut is_quoted = false;
        while let Some(c) = chars.next() {
            match c {
                '"' if is_quoted && chars.peek() == Some(&'"') => {
                    chars.next();
                    field.push('"');
                }
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
                '\n' if !is_quoted => {
                    fields.push(std::mem::take(&mut field));
                    lines.push(std::mem::take(&mut fields));
                }
                c => field.push(c),
            }
        }
        assert!(
            !is_quoted && field.is_empty() && fields.is_empty(),
            "the text ends with a line end"
        );
        lines
    }

    #[test]
    fn every_cell_is_one_line_whatever_its_name() {
        let data = data();
        let lines = parse(&write(&Report::of(&data)));
        let cells = data.spec.cells.len();
        assert_eq!(lines.len(), 1 + cells * data.spec.datasets.len());
        for line in &lines {
            assert_eq!(line.len(), COLUMNS.len(), "{line:?}");
        }
        for name in NAMES {
            assert!(lines.iter().any(|line| line[4] == *name), "{name:?}");
        }
    }

    #[test]
    fn unranked_cell_has_reason_and_no_numbers() {
        let data = data();
        let lines = parse(&write(&Report::of(&data)));
        let unranked = lines.iter().find(|line| line[4] == "wrong").unwrap();
        assert_eq!(unranked[unranked.len() - 1], "found something else: \"2\", not 3");
        assert!(unranked[10..unranked.len() - 1].iter().all(String::is_empty), "{unranked:?}");
        let ranked = lines.iter().find(|line| line[4] == "base").unwrap();
        assert_eq!(ranked[COLUMNS.iter().position(|name| *name == "median_ns").unwrap()], "1000");
        assert_eq!(ranked[ranked.len() - 1], "");
    }
}
