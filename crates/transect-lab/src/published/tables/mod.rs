//! The published tables of the seed articles, a file for each.
//!
//! A file has the subject of the article and its tables. A table has columns, each with its tree, state of
//! the caches and kind of time; and rows, each with a method and its times, one for each column (four, where
//! the value is `statistics`). `nan` stands for a time that the article does not print.

use std::sync::LazyLock;

use serde::Deserialize;

use super::reference::{PublishedValue, ReferenceRow, StatedCacheState, TimeKind};

const FILES: [(&str, &str); 5] = [
    ("S0", include_str!("s0.toml")),
    ("S1", include_str!("s1.toml")),
    ("S2", include_str!("s2.toml")),
    ("S3", include_str!("s3.toml")),
    ("S4", include_str!("s4.toml")),
];

/// Returns all published numbers, in the order of the articles and their tables.
pub fn rows() -> &'static [ReferenceRow] {
    static ROWS: LazyLock<Vec<ReferenceRow>> = LazyLock::new(|| {
        let read = |(source, text)| read(source, text).expect("BUG: the tables are correct");
        FILES.into_iter().flat_map(read).collect()
    });
    &ROWS
}

/// Returns the numbers that were measured by a protocol, named by its row of the seed contract.
pub(crate) fn of_protocol(protocol: &str) -> impl Iterator<Item = &'static ReferenceRow> {
    rows().iter().filter(move |row| row.contract.iter().any(|it| it == protocol))
}

/// Reads the file of an article, in the order of its tables, their rows and columns.
///
/// # Errors
/// The text is not a file of tables, or a row has more or fewer numbers than its table has columns. The message names the
/// article and the line or method.
fn read(source: &str, text: &str) -> Result<Vec<ReferenceRow>, String> {
    let file: File = toml::from_str(text)
        .map_err(|error| format!("cannot read the tables of {source}: {error}"))?;
    let mut rows = Vec::new();
    for table in &file.tables {
        for line in &table.rows {
            let read = table.read(source, &file.article, line).map_err(|reason| {
                format!("cannot read '{}' in the tables of {source}: {reason}", line.method)
            })?;
            rows.extend(read);
        }
    }
    Ok(rows)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    article: String,
    tables: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    unit: Unit,
    value: ValueKind,
    /// Runs behind each value; not used for `once`.
    #[serde(default)]
    runs: u32,
    #[serde(default)]
    note: String,
    columns: Vec<Column>,
    rows: Vec<Line>,
}

#[derive(Clone, Copy, Deserialize)]
enum Unit {
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "ms")]
    Milliseconds,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ValueKind {
    Once,
    Mean,
    Median,
    /// Min, median, mean and max.
    Statistics,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    tree: String,
    #[serde(default)]
    dataset: String,
    state: StatedCacheState,
    time: TimeKind,
    /// A note on this column, instead of that of the row.
    #[serde(default)]
    note: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    method: String,
    #[serde(default)]
    ours: Vec<String>,
    contract: Vec<String>,
    times: Vec<f64>,
    /// The speed-ups that the article prints beside the times, if it does.
    speedups: Option<Vec<f64>>,
    /// A note on this row, instead of that of the table.
    #[serde(default)]
    note: String,
}

impl Table {
    /// Returns the numbers of a row, without those that the article does not print.
    fn read(&self, source: &str, article: &str, line: &Line) -> Result<Vec<ReferenceRow>, String> {
        let per_column = if matches!(self.value, ValueKind::Statistics) { 4 } else { 1 };
        expect_count("times", per_column * self.columns.len(), line.times.len())?;
        if let Some(speedups) = &line.speedups {
            expect_count("speedups", self.columns.len(), speedups.len())?;
        }
        let columns = self.columns.iter().zip(line.times.chunks_exact(per_column)).enumerate();
        let printed = columns.filter(|(_, (_, times))| !times[0].is_nan());
        let row = |(at, (column, times)): (usize, (&Column, &[f64]))| {
            let notes = [&column.note, &line.note, &self.note];
            ReferenceRow {
                source: source.to_owned(),
                article: article.to_owned(),
                method: line.method.clone(),
                ours: line.ours.clone(),
                contract: line.contract.clone(),
                corpus: column.tree.clone(),
                dataset: column.dataset.clone(),
                state: column.state,
                quantity: column.time,
                published: self.value(times),
                speedup: line.speedups.as_ref().map(|speedups| speedups[at]),
                note: notes.into_iter().find(|note| !note.is_empty()).cloned().unwrap_or_default(),
            }
        };
        Ok(printed.map(row).collect())
    }

    fn value(&self, times: &[f64]) -> PublishedValue {
        let ns = |at: usize| match self.unit {
            Unit::Seconds => times[at] * 1e9,
            Unit::Milliseconds => times[at] * 1e6,
        };
        let n = self.runs;
        match self.value {
            ValueKind::Once => PublishedValue::Once { value_ns: ns(0) },
            ValueKind::Mean => PublishedValue::Mean { n, value_ns: ns(0) },
            ValueKind::Median => PublishedValue::Median { n, value_ns: ns(0) },
            ValueKind::Statistics => PublishedValue::Statistics {
                n,
                min_ns: ns(0),
                median_ns: ns(1),
                mean_ns: ns(2),
                max_ns: ns(3),
            },
        }
    }
}

fn expect_count(what: &str, expected: usize, found: usize) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("expected {expected} {what}, found {found}")),
    }
}

#[cfg(test)]
mod tests;
