//! The table of a seed article beside ours, for sessions of its preset.
//!
//! A row is a method of the article and the cell that stands for it here. Each has its ratio to the same base, so
//! findings can be compared although machines, systems and trees differ.

use std::cmp::Ordering;

use serde::Serialize;
use transect_text::style::Style;
use transect_text::table::Table;

use super::value::{Form, Value};
use crate::experiments::{transform, walk};
use crate::harness::cache_state::State;
use crate::published::reference::{ReferenceRow, StatedCacheState, TimeKind};
use crate::published::tables;
use crate::ranking::pair_answers::in_words;
use crate::ranking::{Ranking, Row};
use crate::spec::pairs::expand;
use crate::spec::{SessionSpec, Spec};
use transect_stats::verdict::DEFAULT_THRESHOLD;
use transect_stats::{Ratios, Summary, Verdict};

pub const DISCLAIMER: &str = "The article's times are as it printed them, of another machine, system and tree. They are \
                         never ranked with ours.";

#[derive(Clone, Debug, Serialize)]
pub struct ArticleTable {
    #[serde(rename = "place")]
    pub dataset: usize,
    #[serde(rename = "pass")]
    pub cache_state: usize,
    /// The article: `S0` to `S4`.
    pub source: &'static str,
    /// Its subject.
    pub article: &'static str,
    /// Its tree or file.
    pub corpus: &'static str,
    /// How many of its comparisons are decided here, and how many of these find the same.
    pub sentence: String,
    /// What the ratios and columns mean.
    pub about: String,
    /// Whose numbers these are: [`DISCLAIMER`].
    pub whose: &'static str,
    pub rows: Vec<ArticleRow>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ArticleRow {
    #[serde(flatten)]
    pub published: &'static ReferenceRow,
    /// The published time divided by that of the article's base; `None` for the base.
    pub published_ratio: Option<f64>,
    /// The cell that stands for the method; `None` if none was ranked.
    pub cell: Option<String>,
    /// Its time of the same kind, in nanoseconds: median of all rounds.
    pub time_ns: Option<f64>,
    /// The median of as many rounds as the article's protocol has, in nanoseconds.
    pub by_protocol_ns: Option<f64>,
    /// Its longest time divided by its median.
    pub worst: Option<f64>,
    /// Its ratio to the cell that stands for the article's base.
    pub ratios: Option<Ratios>,
    pub verdict: Option<String>,
    /// Whether it differs from the base in the direction that the article found; `None` if that is undecided.
    pub same_finding: Option<bool>,
}

impl ArticleTable {
    /// Returns the tables of a session, one for each ranking; empty if its preset has no article.
    pub(super) fn of(spec: &SessionSpec, rankings: &[Ranking]) -> Vec<Self> {
        let Some((protocol, rounds)) = protocol_of(spec) else { return Vec::new() };
        let rows: Vec<&'static ReferenceRow> = tables::of_protocol(protocol).collect();
        let ranked = rankings.iter().filter(|ranking| !ranking.rows.is_empty());
        ranked.filter_map(|ranking| Self::one(&rows, rounds, spec, ranking)).collect()
    }

    fn one(
        published: &[&'static ReferenceRow],
        protocol_rounds: usize,
        spec: &SessionSpec,
        ranking: &Ranking,
    ) -> Option<Self> {
        let state = match ranking.state {
            State::Cold => StatedCacheState::Cold,
            State::Warm | State::AsIs => StatedCacheState::Warm,
        };
        let here = || published.iter().copied().filter(|row| row.state == state);
        let is_like = |row: &ReferenceRow, at: usize| row.dataset == spec.datasets[at].name;
        let has_like = |row: &&ReferenceRow| (0..spec.datasets.len()).any(|at| is_like(row, at));
        // A session on other trees has none like the article's: it is compared with the first one.
        let first = || here().next().filter(|_| !published.iter().any(has_like));
        let of_this = here().find(|row| is_like(row, ranking.dataset));
        let like = of_this.or_else(first)?;
        let rows: Vec<_> = here().filter(|row| row.corpus == like.corpus).collect();
        let stands_for = |row: &ReferenceRow| {
            let ranked = |name: &String| {
                let name = expand(name);
                ranking.all_rows().find(|row| row.cell.name == name)
            };
            row.ours.iter().find_map(ranked)
        };
        let is_base = |row: &Row| row.cell.name == spec.base;
        let base = rows.iter().find(|row| stands_for(row).is_some_and(is_base));
        let ratio = |row: &ReferenceRow| {
            let base = base?;
            let is_of_base = |other: &&&ReferenceRow| {
                other.method == base.method && other.quantity == row.quantity
            };
            let of_base = rows.iter().find(is_of_base)?.published.value_ns();
            (base.method != row.method).then(|| row.published.value_ns() / of_base)
        };
        let joined = |row: &&'static ReferenceRow| {
            ArticleRow::of(row, ratio(row), stands_for(row), protocol_rounds)
        };
        let rows: Vec<ArticleRow> = rows.iter().map(joined).collect();
        let Ranking { dataset, cache_state, .. } = *ranking;
        let ReferenceRow { source, article, corpus, .. } = like;
        let whose_tree = match of_this {
            Some(_) => "",
            None => "Measured here on another tree than the article's. ",
        };
        let about = base.map_or(String::new(), |base| {
            format!("Ratios divide by '{}', for which {} stands here. ", base.method, spec.base)
        });
        let protocol = match protocol_rounds {
            1 => "the first round".to_owned(),
            rounds => format!("the median of the first {rounds} rounds"),
        };
        Some(Self {
            dataset,
            cache_state,
            source,
            article,
            corpus,
            sentence: sentence(&rows),
            about: format!("{whose_tree}{about}By its protocol: {protocol} alone."),
            whose: DISCLAIMER,
            rows,
        })
    }

    pub(super) fn in_form(&self, form: Form) -> Table {
        let ms = if form == Form::Markdown { ", ms" } else { "" };
        let titles = ["its time", "time", "by its protocol"].map(|title| format!("{title}{ms}"));
        let [its, ours, by_protocol] = titles.each_ref().map(String::as_str);
        let has_worst = self.rows.iter().any(|row| row.published.published.worst().is_some());
        let mut numbers = vec![its, "× its base", ours, "× base (95 %)", by_protocol];
        numbers.extend(
            has_worst.then_some(["its worst ÷ median", "worst ÷ median"]).into_iter().flatten(),
        );
        let last = ["verdict", "same finding"];
        let mut table = Table::new(&["in the article", "here"], &numbers, &last);
        for row in &self.rows {
            let ArticleRow { published, cell, .. } = row;
            let kind = match published.quantity {
                TimeKind::Real => String::new(),
                kind => format!(", {}", kind.as_str()),
            };
            let time = |ns: Option<f64>| Value::known(ns, Value::Time);
            let text = |text: Option<String>| Value::known(text, Value::Text);
            let [its_worst, worst] = [published.published.worst(), row.worst]
                .map(|worst| has_worst.then(|| Value::known(worst, Value::factor)));
            let cells = [
                Value::Name(format!("{}{kind}", published.method)),
                Value::known(cell.clone(), Value::Name),
                Value::Time(published.published.value_ns()),
                Value::known(row.published_ratio, Value::factor),
                time(row.time_ns),
                Value::interval(row.ratios),
                time(row.by_protocol_ns),
            ];
            let words = [text(row.verdict.clone()), text(row.finding().map(str::to_owned))];
            let cells = cells.into_iter().chain(its_worst).chain(worst).chain(words);
            let cells = cells.map(|value| value.text(form));
            table.add(Style::new(), cells);
        }
        table
    }

    /// Returns the caveats of the published numbers, each once.
    pub(super) fn notes(&self) -> Vec<String> {
        let published = || self.rows.iter().map(|row| row.published);
        let mut notes = Vec::new();
        for row in published().filter(|row| !row.note.is_empty()) {
            let text = match published().filter(|other| other.note == row.note).count() {
                1 => format!("{}: {}", row.method, row.note),
                _ => row.note.clone(),
            };
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
        notes
    }
}

impl ArticleRow {
    fn of(
        published: &'static ReferenceRow,
        published_ratio: Option<f64>,
        row: Option<&Row>,
        protocol_rounds: usize,
    ) -> Self {
        let is_real = published.quantity == TimeKind::Real;
        let time_ns = row.and_then(|row| time_of(published.quantity, row));
        let first = row.map(|row| &row.samples[..protocol_rounds.min(row.samples.len())]);
        let compared = row.filter(|_| is_real && published_ratio.is_some());
        let judgement = compared.and_then(|row| row.judgement);
        let found = judgement.and_then(|judgement| direction(judgement.verdict));
        Self {
            published,
            published_ratio,
            cell: row.map(|row| row.cell.name.clone()),
            time_ns,
            by_protocol_ns: first.filter(|_| is_real).and_then(Summary::of).map(|it| it.median),
            worst: row.filter(|_| is_real).map(|row| row.time.max / row.time.median),
            ratios: compared.and_then(|row| row.to_base),
            verdict: compared
                .zip(judgement)
                .map(|(row, judgement)| in_words(&judgement, row.alone, row.time.n)),
            same_finding: found.zip(published_ratio).map(|(ours, ratio)| ours == printed(ratio)),
        }
    }

    /// Returns whether the article found the same, in words; `None` if nothing is compared.
    fn finding(&self) -> Option<&'static str> {
        self.ratios?;
        Some(match self.same_finding {
            Some(true) => "yes",
            Some(false) => "no",
            None => "undecided",
        })
    }
}

fn sentence(rows: &[ArticleRow]) -> String {
    let made = rows
        .iter()
        .filter(|row| row.published_ratio.is_some() && row.published.quantity == TimeKind::Real);
    let compared = made.clone().filter(|row| row.ratios.is_some());
    let decided = compared.clone().filter_map(|row| row.same_finding);
    let same = decided.clone().filter(|same| *same).count();
    let (made, compared, decided) = (made.count(), compared.count(), decided.count());
    format!(
        "Comparisons of the article: {made}. Decided here: {decided}; the same finding: {same}; nothing stands here: {}.",
        made - compared
    )
}

/// Returns the time of a cell that an article prints; `None` if it is unknown.
fn time_of(kind: TimeKind, row: &Row) -> Option<f64> {
    match kind {
        TimeKind::Real => Some(row.time.median),
        TimeKind::User => Some(row.user_ns),
        TimeKind::Sys => Some(row.system_ns),
        TimeKind::InFindFirstFile => row.calls.map(|calls| calls.opening_ns as f64),
        TimeKind::InFindNextFile => row.calls.map(|calls| calls.listing_ns as f64),
    }
}

/// Returns how the times of a cell and its base compare; `None` if that is undecided.
fn direction(verdict: Verdict) -> Option<Ordering> {
    match verdict {
        Verdict::Faster | Verdict::LessCpu => Some(Ordering::Less),
        Verdict::Slower | Verdict::MoreCpu => Some(Ordering::Greater),
        Verdict::NoDifference => Some(Ordering::Equal),
        Verdict::Undecided => None,
    }
}

/// Returns what an article's ratio says, by the smallest difference that counts. Articles have no intervals.
fn printed(ratio: f64) -> Ordering {
    if (ratio - 1.0).abs() <= DEFAULT_THRESHOLD { Ordering::Equal } else { ratio.total_cmp(&1.0) }
}

/// Returns the protocol of the article that the session's preset follows, and its number of rounds.
fn protocol_of(spec: &SessionSpec) -> Option<(&'static str, usize)> {
    match spec.experiment() {
        Spec::Walk => walk::preset::Preset::find(&spec.preset)?.protocol(),
        Spec::Transform => transform::Preset::find(&spec.preset)?.protocol(),
        Spec::Attributes => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{change, disturb, with};
    use crate::harness::log::SessionData;
    use crate::harness::protocol::CallTimes;
    use crate::ranking::rank;

    fn tables(data: &SessionData) -> Vec<ArticleTable> {
        ArticleTable::of(&data.spec, &rank(data))
    }

    /// Returns a session of an article's preset on these cells, of which the first is the base.
    fn session(preset: &str, times: &[(&str, u64)], rounds: usize) -> SessionData {
        let times: Vec<(String, u64)> =
            times.iter().map(|(name, time)| (expand(name), *time)).collect();
        let again = (format!("{} (again)", times[0].0), times[0].1);
        let times = times.iter().chain([&again]).map(|(name, time)| (name.as_str(), *time));
        let mut data = with(&times.collect::<Vec<_>>(), rounds);
        data.spec.preset = preset.to_owned();
        (data.spec.base, data.spec.second_base) = (data.spec.cells[0].name.clone(), again.0);
        data
    }

    fn row<'t>(table: &'t ArticleTable, method: &str) -> &'t ArticleRow {
        table.rows.iter().find(|row| row.published.method == method).expect("a row")
    }

    const S1: [(&str, u64); 4] = [
        ("{best}/recursive", 1_000_000),
        ("{best}/queue", 1_000_000),
        ("qt-iterator-recursive", 1_900_000),
        ("java-walk-file-tree", 500_000),
    ];

    #[test]
    fn methods_of_article_beside_cells_that_stand_for_them() {
        let table = &tables(&session("article-s1", &S1, 12))[0];
        assert_eq!((table.source, table.rows.len()), ("S1", 15), "of the smallest tree");
        let base = row(table, "WinAPI recursive");
        assert_eq!((base.published_ratio, base.ratios, base.finding()), (None, None, None));
        let found = |method: &str| {
            let row = row(table, method);
            (row.published_ratio.map(|it| it.round()), row.verdict.as_deref(), row.same_finding)
        };
        assert_eq!(found("WinAPI queue"), (Some(1.0), Some("no difference"), Some(true)));
        assert_eq!(found("Qt iterator recursive"), (Some(2.0), Some("slower"), Some(true)));
        assert_eq!(found("Java walkFileTree visitor"), (Some(4.0), Some("faster"), Some(false)));
        assert_eq!(found("Groovy eachFileRecurse"), (Some(26.0), None, None), "not measured");
        assert_eq!(
            table.sentence,
            "Comparisons of the article: 14. Decided here: 3; the same finding: 2; nothing stands here: 11."
        );
    }

    #[test]
    fn few_rounds_find_nothing_and_protocol_reduces_its_own() {
        let table = &tables(&session("article-s1", &S1, 3))[0];
        let qt = row(table, "Qt iterator recursive");
        assert_eq!(
            (qt.verdict.as_deref(), qt.finding()),
            (Some("too few rounds"), Some("undecided"))
        );
        // The first of three rounds; later ones take a nanosecond longer each.
        let (first, all) = (qt.by_protocol_ns.unwrap(), qt.time_ns.unwrap());
        assert_eq!((first, all), (1_900_000.0, 1_900_001.0));
    }

    #[test]
    fn tree_of_article_selects_its_numbers() {
        let mut data = session("article-s1", &S1, 5);
        assert!(tables(&data)[0].about.contains("on another tree"));
        data.spec.datasets[0].name = "data".to_owned();
        let table = &tables(&data)[0];
        assert!(table.corpus.starts_with("D3 data") && !table.about.contains("another tree"));
        data.spec.preset = "quick".to_owned();
        assert!(tables(&data).is_empty(), "rows of an article only in its own session");
    }

    #[test]
    fn times_inside_calls_beside_those_of_article() {
        let cell = "{best}/shared-queue,threads=7,buffer=4K";
        let mut data = session("article-s2", &[(cell, 1000)], 3);
        data.spec.cache_states = vec![State::Cold];
        change(&mut data, &expand(cell), |runs, _| {
            runs[0].calls =
                Some(CallTimes { opening_ns: 10, listing_ns: 20, ..CallTimes::default() });
        });
        let table = &tables(&data)[0];
        let times: Vec<_> = table.rows.iter().map(|row| row.time_ns).collect();
        assert_eq!(times[..3], [Some(1001.0), Some(10.0), Some(20.0)]);
        assert!(table.rows[2].by_protocol_ns.is_none() && table.rows[3].cell.is_none());
        assert!((table.rows[5].published_ratio.unwrap() - 29.0 / 128.0).abs() < 1e-9);
    }

    #[test]
    fn busy_session_shows_times_and_finds_nothing() {
        let mut data = session("article-s1", &S1, 12);
        let samples = data.samples.len();
        disturb(&mut data, samples);
        let table = &tables(&data)[0];
        assert!(table.rows.iter().all(|row| row.ratios.is_none() && row.same_finding.is_none()));
    }
}
