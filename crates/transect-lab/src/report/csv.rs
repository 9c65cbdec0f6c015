//! Rankings as comma-separated values: one line for each cell, dataset and cache state.
//!
//! Fields are quoted by RFC 4180, but lines end with LF. Times are nanoseconds, memory is bytes. Unknown
//! values are empty, never 0.

use super::{ArticleRow, Report};
use crate::harness::cache_state::State;
use crate::ranking::pair_answers::PairAnswer;
use crate::ranking::{Ranking, Row};
use crate::spec::{Cell, SessionSpec};
use transect_stats::Judgement;

struct Line<'r> {
    spec: &'r SessionSpec,
    ranking: &'r Ranking,
    cell: &'r Cell,
    /// Its rank, from 0, and its row; or why it is not ranked.
    row: Result<(usize, &'r Row), &'r str>,
    /// The pair that the line is about, instead of the cell's row.
    pair: Option<&'r PairAnswer>,
    /// The method of the article for which the cell stands.
    article: Option<&'r ArticleRow>,
}

impl<'r> Line<'r> {
    fn row(&self) -> Option<&'r Row> {
        self.row.ok().map(|(_, row)| row)
    }

    fn judgement(&self) -> Option<Judgement> {
        self.pair.map_or_else(|| self.row()?.judgement, |pair| pair.judgement)
    }

    /// Returns the state of the caches; caches that were dropped without proof are not called cold.
    fn state(&self) -> &'static str {
        match self.ranking.state {
            State::Cold if self.spec.dropped.is_some() => "dropped",
            state => state.as_str(),
        }
    }

    fn p(&self) -> Option<f64> {
        let ratios = self.pair.map_or_else(|| self.row()?.to_base, |pair| pair.ratios);
        ratios.map(|ratios| ratios.p)
    }

    fn is_apart(&self) -> Option<bool> {
        let row = self.row()?;
        Some(self.ranking.apart.iter().any(|apart| apart.cell.name == row.cell.name))
    }
}

/// Returns the field of a column; `None` if the value is unknown.
type Field = fn(&Line<'_>) -> Option<String>;

const COLUMNS: &[(&str, Field)] = &[
    ("place", |it| Some(it.spec.datasets[it.ranking.dataset].name.clone())),
    ("entries", |it| Some(it.spec.datasets[it.ranking.dataset].entries().to_string())),
    ("pass", |it| Some((it.ranking.cache_state + 1).to_string())),
    ("state", |it| Some(it.state().to_owned())),
    ("cell", |it| Some(it.cell.name.clone())),
    ("method", |it| Some(it.cell.method.clone())),
    ("language", |it| Some(it.cell.language.clone())),
    ("kind", |it| Some(it.cell.kind.clone())),
    ("parallel", |it| Some(it.cell.parallel.to_string())),
    ("contract", |it| Some(it.cell.contract.join(" "))),
    ("rank", |it| {
        let is_ranked = it.ranking.uncompared.is_none() && it.is_apart() == Some(false);
        let (at, _) = it.row.ok().filter(|_| is_ranked)?;
        Some((at + 1).to_string())
    }),
    ("n", |it| Some(it.row()?.time.n.to_string())),
    ("median_ns", |it| whole(it.row()?.time.median)),
    ("min_ns", |it| whole(it.row()?.time.min)),
    ("max_ns", |it| whole(it.row()?.time.max)),
    ("mean_ns", |it| whole(it.row()?.time.mean)),
    ("mad_ns", |it| whole(it.row()?.time.mad)),
    ("wall_ns", |it| whole(it.row()?.wall_ns)),
    ("user_ns", |it| whole(it.row()?.user_ns)),
    ("system_ns", |it| whole(it.row()?.system_ns)),
    ("peak_memory_bytes", |it| whole(it.row()?.peak_memory?)),
    ("against_the_slowest", |it| exact(it.row()?.speedup_over_slowest)),
    ("verdict", |it| Some(it.judgement()?.verdict.as_str().to_owned())),
    ("to_base", |it| exact(it.row()?.to_base?.median)),
    ("to_base_low", |it| exact(it.row()?.to_base?.low)),
    ("to_base_high", |it| exact(it.row()?.to_base?.high)),
    ("p", |it| Some(it.p()?.to_string())),
    ("adjusted_p", |it| Some(it.judgement()?.adjusted_p.to_string())),
    ("to_floor", |it| exact(it.row()?.to_floor?.median)),
    ("to_floor_low", |it| exact(it.row()?.to_floor?.low)),
    ("to_floor_high", |it| exact(it.row()?.to_floor?.high)),
    ("counted_entries", |it| Some(it.row()?.accesses?.entries.to_string())),
    ("calls", |it| Some(it.row()?.accesses?.calls.to_string())),
    ("opens", |it| Some(it.row()?.accesses?.opens.to_string())),
    ("listings", |it| Some(it.row()?.accesses?.listings.to_string())),
    ("attributes", |it| Some(it.row()?.accesses?.attributes.to_string())),
    ("closes", |it| Some(it.row()?.accesses?.closes.to_string())),
    ("opening_ns", |it| Some(it.row()?.calls?.opening_ns.to_string())),
    ("listing_ns", |it| Some(it.row()?.calls?.listing_ns.to_string())),
    ("attributes_ns", |it| Some(it.row()?.calls?.attributes_ns.to_string())),
    ("timed_threads", |it| Some(it.row()?.calls?.threads.to_string())),
    ("faults", |it| whole(it.row()?.faults?)),
    ("switches", |it| whole(it.row()?.switches?)),
    ("unwritten_bytes", |it| whole(it.row()?.unwritten?)),
    ("by", |it| {
        let has_times = it.row().is_some() || it.pair.is_some_and(|pair| pair.ratios.is_some());
        has_times.then(|| it.ranking.by.as_str().to_owned())
    }),
    ("disturbed", |it| Some(it.row()?.disturbed.len().to_string())),
    ("start_up_ns", |it| whole(it.row()?.start_up?)),
    ("without_start_ns", |it| whole(it.row()?.without_start?)),
    ("apart", |it| Some(it.is_apart()?.to_string())),
    ("device_read_bytes", |it| whole(it.row()?.device_read?)),
    ("device_written_bytes", |it| whole(it.row()?.device_written?)),
    ("ns_per_byte", |it| exact(it.row()?.ns_per_byte?)),
    ("held_each_bytes", |it| whole(it.row()?.cache_bytes_per_name?)),
    ("run_cpu_ns", |it| whole(it.row()?.run_cpu_ns?)),
    ("question", |it| Some(it.pair?.question.clone())),
    ("against", |it| Some(it.pair?.against.clone())),
    ("ratio", |it| exact(it.pair?.ratios?.median)),
    ("ratio_low", |it| exact(it.pair?.ratios?.low)),
    ("ratio_high", |it| exact(it.pair?.ratios?.high)),
    ("checked", |it| Some(it.row()?.cell.checked?.as_str().to_owned())),
    ("noisy", |it| it.row().map(|_| it.ranking.noisy.to_string())),
    ("proved", |it| it.row().map(|_| it.ranking.proved.to_string())),
    ("cores", |it| exact(it.row()?.cores?)),
    ("code_lines", |it| Some(it.row()?.cell.code?.lines.to_string())),
    ("unranked_reason", |it| it.row.err().map(str::to_owned)),
    ("article_method", |it| Some(it.article?.published.method.clone())),
    ("article_ns", |it| whole(it.article?.published.published.value_ns())),
    ("article_ratio", |it| exact(it.article?.published_ratio?)),
    ("by_protocol_ns", |it| whole(it.article?.by_protocol_ns?)),
    ("same_finding", |it| Some(it.article?.same_finding?.to_string())),
];

fn whole(number: f64) -> Option<String> {
    Some(format!("{number:.0}"))
}

fn exact(number: f64) -> Option<String> {
    Some(format!("{number:.4}"))
}

pub fn header() -> String {
    COLUMNS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(",")
}

/// Returns all lines, the header first.
pub fn write(report: &Report<'_>) -> String {
    let lines = report.rankings.iter().flat_map(|ranking| lines(report, ranking));
    std::iter::once(header()).chain(lines).map(|line| line + "\n").collect()
}

/// Returns the lines of a ranking, without line ends: rows, rows apart, unranked cells,
/// pairs.
pub fn lines(report: &Report<'_>, ranking: &Ranking) -> Vec<String> {
    let spec = report.session;
    let of_ranking = report.article_tables.iter().filter(|table| {
        (table.dataset, table.cache_state) == (ranking.dataset, ranking.cache_state)
    });
    let articles: Vec<&ArticleRow> = of_ranking.flat_map(|table| &table.rows).collect();
    let article =
        |cell: &Cell| articles.iter().copied().find(|row| row.cell.as_deref() == Some(&*cell.name));
    let rows = ranking.rows.iter().enumerate().chain(ranking.apart.iter().enumerate());
    let rows = rows.map(|(at, row)| Line {
        spec,
        ranking,
        cell: &row.cell,
        row: Ok((at, row)),
        pair: None,
        article: article(&row.cell),
    });
    let cell_of = |name: &str| {
        let cell = spec.cells.iter().find(|cell| cell.name == name);
        cell.expect("BUG: a ranking has only cells of its session")
    };
    let unranked = ranking.unranked.iter().map(|unranked| {
        let (cell, row) = (cell_of(&unranked.cell), Err(unranked.reason.as_str()));
        Line { spec, ranking, cell, row, pair: None, article: None }
    });
    let pairs = ranking.pairs.iter().map(|pair| {
        let row = Err(pair.reason.as_deref().unwrap_or_default());
        Line { spec, ranking, cell: cell_of(&pair.cell), row, pair: Some(pair), article: None }
    });
    let fields = |line: Line<'_>| {
        let fields = COLUMNS.iter().map(|(_, field)| quoted(&field(&line).unwrap_or_default()));
        fields.collect::<Vec<_>>().join(",")
    };
    rows.chain(unranked).chain(pairs).map(fields).collect()
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{NAMES, data, with};

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
    fn pair_is_one_line_with_its_ratio() {
        let mut data =
            with(&[("base", 1_000_000), ("base (again)", 1_000_000), ("a", 500_000)], 12);
        data.spec.add_pair("base:a").unwrap();
        let lines = parse(&write(&Report::of(&data)));
        let of = |line: &[String], name: &str| {
            line[COLUMNS.iter().position(|(column, _)| *column == name).unwrap()].clone()
        };
        let pair = lines.last().unwrap();
        let expected = ["base", "a", "base against a", "2.0000", "slower", ""];
        let columns = ["cell", "against", "question", "ratio", "verdict", "median_ns"];
        assert_eq!(columns.map(|column| of(pair, column)), expected);
    }

    #[test]
    fn unranked_cell_has_reason_and_no_numbers() {
        let data = data();
        let lines = parse(&write(&Report::of(&data)));
        let unranked = lines.iter().find(|line| line[4] == "wrong").unwrap();
        let reason = COLUMNS.iter().position(|(name, _)| *name == "unranked_reason").unwrap();
        assert_eq!(unranked[reason], "found something else: \"2\", not 3");
        let others = unranked[10..].iter().filter(|field| *field != &unranked[reason]);
        assert!(others.clone().all(String::is_empty), "{unranked:?}");
        let ranked = lines.iter().find(|line| line[4] == "base").unwrap();
        assert_eq!(
            ranked[COLUMNS.iter().position(|(name, _)| *name == "median_ns").unwrap()],
            "1000"
        );
        assert_eq!(ranked[reason], "");
    }
}
