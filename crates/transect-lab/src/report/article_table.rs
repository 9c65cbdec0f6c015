//! A ranking as a seed article would print it, for sessions that follow its rules.

use serde::Serialize;

use super::format::percent;
use super::value::{Form, Value};
use crate::experiments::{transform, walk};
use crate::ranking::{Ranking, Row};
use crate::spec::{SessionSpec, Spec};
use transect_stats::samples::sorted;
use transect_text::style::Style;
use transect_text::table::Table;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Nanoseconds,
    Times,
    /// A share, from 0 to 1.
    Share,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ArticleColumn {
    pub name: String,
    pub unit: Unit,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArticleRow {
    pub cell: String,
    /// One number for each column; fewer if the cell has fewer samples.
    pub values: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArticleTable {
    #[serde(rename = "place")]
    pub dataset: usize,
    #[serde(rename = "pass")]
    pub cache_state: usize,
    /// The protocol, by its row in the seed contract: `P1` to `P5`.
    pub protocol: &'static str,
    pub about: &'static str,
    pub columns: Vec<ArticleColumn>,
    pub rows: Vec<ArticleRow>,
}

type Reduce = fn(&Row) -> Vec<f64>;

impl ArticleTable {
    /// Builds tables by the protocol of the session's preset; empty if it has none, or one that prints
    /// single samples. An article prints wall times, so a ranking without comparable wall times has none.
    pub(super) fn of(spec: &SessionSpec, rankings: &[Ranking]) -> Vec<Self> {
        let Some(protocol) = protocol_of(spec) else {
            return Vec::new();
        };
        let reduced =
            rankings.iter().filter(|ranking| !ranking.rows.is_empty() && ranking.has_wall_times());
        reduced.filter_map(|ranking| Self::one(protocol, spec, ranking)).collect()
    }

    fn one(protocol: &'static str, spec: &SessionSpec, ranking: &Ranking) -> Option<Self> {
        let time = |name: String| ArticleColumn { name, unit: Unit::Nanoseconds };
        let times = |name: &str| ArticleColumn { name: name.to_owned(), unit: Unit::Times };
        let (about, columns, reduce): (_, Vec<ArticleColumn>, Reduce) = match protocol {
            "P1" => {
                let last = spec.runs.saturating_sub(1);
                let name = format!("mean of the last {last}");
                // A sample already is that mean; several rounds are averaged again.
                ("several walks in a process, the first is dropped", vec![time(name)], |row| {
                    vec![row.time.mean]
                })
            }
            "P2" => (
                "every run a process of its own: smallest, largest, median",
                ["min", "max", "median"].map(|name| time(name.to_owned())).into(),
                |row| vec![row.time.min, row.time.max, row.time.median],
            ),
            "P3" => (
                "how many times faster than the slowest of the same run",
                vec![time("time".to_owned()), times("× the slowest")],
                |row| vec![row.time.median, row.speedup_over_slowest],
            ),
            "P4" => {
                let most = ranking.rows.iter().map(|row| row.time.n).max()?;
                let columns = (1..=most).map(|at| time(at.to_string())).collect();
                ("every value, the smallest first", columns, |row| sorted(&row.samples))
            }
            "P5" => {
                let times = ["time", "opening", "listing", "attributes"];
                let waited = ArticleColumn { name: "waited".to_owned(), unit: Unit::Share };
                let columns = times.map(|name| time(name.to_owned())).into_iter().chain([waited]);
                (
                    "the time of one run, the time inside its calls, summed over its threads, and the \
                     share of the time in which the cores that it could use did not work for it",
                    columns.collect(),
                    |row| {
                        let calls =
                            row.calls.map(|c| [c.opening_ns, c.listing_ns, c.attributes_ns]);
                        let calls = calls.into_iter().flatten().map(|ns| ns as f64);
                        let sample = row.timed_sample;
                        let time = sample.map_or(row.time.median, |sample| sample.time);
                        let waited = sample.and_then(|sample| sample.waited);
                        std::iter::once(time).chain(calls).chain(waited).collect()
                    },
                )
            }
            _ => return None,
        };
        let reduced = |row: &Row| ArticleRow { cell: row.cell.name.clone(), values: reduce(row) };
        let rows = ranking.rows.iter().map(reduced).collect();
        let Ranking { dataset, cache_state, .. } = *ranking;
        Some(Self { dataset, cache_state, protocol, about, columns, rows })
    }

    pub(super) fn in_form(&self, form: Form) -> Table {
        let title = |column: &ArticleColumn| match (form, column.unit) {
            (Form::Terminal, _) | (_, Unit::Times | Unit::Share) => form.name(&column.name),
            (_, Unit::Nanoseconds) => format!("{}, ms", form.name(&column.name)),
        };
        let value = |(value, column): (&f64, &ArticleColumn)| match column.unit {
            Unit::Nanoseconds => Value::Time(*value).text(form),
            Unit::Times => format!("{value:.1}"),
            Unit::Share => percent(*value),
        };
        let titles: Vec<String> = self.columns.iter().map(title).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let mut table = Table::new(&["method"], &titles, &[]);
        for row in &self.rows {
            let values = row.values.iter().zip(&self.columns).map(value);
            table.add(Style::new(), std::iter::once(form.name(&row.cell)).chain(values));
        }
        table
    }
}

/// Returns the protocol of a session that prints a table like an article's. P6 prints single samples.
pub(super) fn protocol_of(spec: &SessionSpec) -> Option<&'static str> {
    match spec.experiment() {
        Spec::Walk => {
            walk::preset::Preset::find(&spec.preset).and_then(|it| it.contract.as_deref())
        }
        // The article on file transforms defines this protocol.
        Spec::Transform => (spec.preset == transform::CLASSIC).then_some("P2"),
        Spec::Attributes => None,
    }
    .filter(|&protocol| protocol != "P6")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{change, disturb, report_cpu, with};
    use crate::harness::log::SessionData;
    use crate::harness::protocol::CallTimes;
    use crate::ranking::rank;

    fn reduced(preset: &str) -> Vec<ArticleTable> {
        let mut data: SessionData = with(&[("base", 1000), ("slow", 4000)], 3);
        data.spec.preset = preset.to_owned();
        ArticleTable::of(&data.spec, &rank(&data))
    }

    fn names(reduction: &ArticleTable) -> Vec<&str> {
        reduction.columns.iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn article_presets_print_the_articles_columns() {
        let of = |preset: &str| reduced(preset).remove(0);
        let s3 = of("article-s3");
        assert_eq!((s3.protocol, names(&s3)), ("P2", vec!["min", "max", "median"]));
        assert_eq!(s3.rows[0].values, [1000.0, 1002.0, 1001.0]);
        let s0 = of("article-s0");
        assert_eq!(s0.columns[1].unit, Unit::Times);
        assert!(s0.rows[0].values[1] > 3.9 && s0.rows[1].values[1] == 1.0);
        let s4 = of("article-s4");
        assert_eq!((names(&s4), s4.rows[1].values[0]), (vec!["1", "2", "3"], 4000.0));
        assert_eq!(of("article-s1").rows[0].values, [1001.0]);
        let s2 = of("article-s2");
        assert_eq!(names(&s2), ["time", "opening", "listing", "attributes", "waited"]);
        assert_eq!(s2.columns[4].unit, Unit::Share);
        // Calls that were not timed are missing, not zero.
        assert_eq!(s2.rows[0].values, [1001.0]);
    }

    /// They used to be of two runs: the wall time of a sample beside the calls of another process.
    #[test]
    fn call_times_and_wall_time_are_of_one_run() {
        let mut data: SessionData = with(&[("base", 1000), ("seven", 4000)], 3);
        data.spec.preset = "article-s2".to_owned();
        data.spec.environment.cores = 2;
        for (cell, threads) in [("base", 1), ("seven", 7)] {
            change(&mut data, cell, |runs, _| {
                let time = runs[0].elapsed_ns;
                runs[0].cpu_ns = Some(time / 4);
                let (opening_ns, listing_ns, attributes_ns) = (time + 1, time + 2, time + 3);
                let calls =
                    CallTimes { opening_ns, listing_ns, attributes_ns, ..CallTimes::default() };
                runs[0].calls = Some(CallTimes { threads, ..calls });
            });
        }
        let table = ArticleTable::of(&data.spec, &rank(&data)).remove(0);
        let [base, seven] = [&table.rows[0].values, &table.rows[1].values];
        assert_eq!(base[..4], [1001.0, 1002.0, 1003.0, 1004.0]);
        assert!((base[4] - 0.75).abs() < 0.01, "one thread can use one core: {base:?}");
        assert_eq!(seven[..4], [4001.0, 4002.0, 4003.0, 4004.0]);
        assert!((seven[4] - 0.875).abs() < 0.01, "seven threads can use two cores: {seven:?}");
    }

    #[test]
    fn cpu_times_print_no_article_table() {
        let mut data = with(&[("base", 1000), ("slow", 4000)], 3);
        data.spec.preset = "article-s1".to_owned();
        ["base", "slow"].iter().for_each(|cell| report_cpu(&mut data, cell, 100));
        assert_eq!(ArticleTable::of(&data.spec, &rank(&data)).len(), 1);
        disturb(&mut data, 6);
        let rankings = rank(&data);
        assert_eq!(rankings[0].by, crate::ranking::Metric::Processor);
        assert_eq!(ArticleTable::of(&data.spec, &rankings), []);
    }

    #[test]
    fn classic_transform_preset_prints_min_max_median() {
        let mut data = with(&[("base", 1000), ("slow", 4000)], 5);
        let (kind, sync) = (transform::Kind::Copy, transform::SyncRule::None);
        data.spec.transform = Some(transform::Rules { kind, sync });
        for (preset, reductions) in [("classic", 1), ("quick", 0), ("article-s3", 0)] {
            data.spec.preset = preset.to_owned();
            let reduced = ArticleTable::of(&data.spec, &rank(&data));
            assert_eq!(reduced.len(), reductions, "{preset}");
            let named = reduced.iter().all(|of| names(of) == ["min", "max", "median"]);
            assert!(named, "{reduced:?}");
        }
    }

    #[test]
    fn other_presets_print_no_article_table() {
        for preset in ["quick", "full", "article-s3-naive", "no such preset"] {
            assert_eq!(reduced(preset), [], "{preset}");
        }
    }
}
