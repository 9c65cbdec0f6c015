//! The report of a session as text: on a terminal, or as GitHub-flavoured Markdown.

use std::io::{Result, Write};

use transect_text::quote;
use transect_text::style::{BOLD, DIM, ERROR, Style, WARN};
use transect_text::table::Table;
use transect_text::units::bytes;

use super::overview::MAX_BARS;
use super::value::Form;
use super::writer::Writer;
use super::{ArticleTable, Conclusion, Overview, Report};
use crate::harness::cache_state::State;
use crate::ranking::{Ranking, Row};
use crate::spec::SessionSpec;

/// The most rows of a ranking that are written without `all`: the bars of an overview, and a floor.
const MAX_ROWS: usize = MAX_BARS + 1;

/// The most cells without a rank that are written without `all`.
const MAX_UNRANKED: usize = 5;

/// Writes a report as text on a terminal, in lines of at most `width` characters; without a width, with all columns.
/// Names are never cut: a table that is too wide even with the fewest columns becomes text. Of a long ranking, it writes
/// the rows that [`Overview`] names, unless `all` are wanted.
pub fn write(
    mut out: impl Write,
    report: &Report<'_>,
    width: Option<usize>,
    all: bool,
) -> Result<()> {
    let mut out = Writer { out: &mut out, form: Form::Terminal, width };
    out.environment(report)?;
    for (at, ranking) in report.rankings.iter().enumerate() {
        let overview = &report.overviews[at];
        out.ranking_heading(report.session, ranking)?;
        out.gap()?;
        out.ranking(report.session, ranking, overview, all)?;
        out.gap()?;
        out.words(overview, &report.conclusions[at])?;
        out.article_tables(report, ranking)?;
    }
    Ok(())
}

/// Writes a report as Markdown, with all rows. What a ranking says comes before its rows.
pub fn write_markdown(mut out: impl Write, report: &Report<'_>) -> Result<()> {
    let mut out = Writer { out: &mut out, form: Form::Markdown, width: None };
    writeln!(out.out, "# transect lab")?;
    out.environment_table(report.session)?;
    for (at, ranking) in report.rankings.iter().enumerate() {
        let overview = &report.overviews[at];
        out.ranking_heading(report.session, ranking)?;
        out.words(overview, &report.conclusions[at])?;
        out.ranking(report.session, ranking, overview, true)?;
        out.article_tables(report, ranking)?;
    }
    Ok(())
}

/// Returns the rows of an overview, with the floor; `None` if the ranking is short enough to be written
/// whole. Without an overview, they are the fastest.
fn few_rows<'r>(
    spec: &SessionSpec,
    ranking: &'r Ranking,
    overview: &Overview,
) -> Option<Vec<&'r Row>> {
    if ranking.rows.len() <= MAX_ROWS {
        return None;
    }
    if overview.bars.is_empty() {
        return Some(ranking.rows.iter().take(MAX_ROWS).collect());
    }
    let base = ranking.row(&spec.base);
    let floor = base.and_then(|base| spec.floor_of(&base.cell, ranking.state));
    let bars = overview.bars.iter().map(|bar| bar.cell.as_str());
    let named: Vec<&str> = floor.into_iter().chain(bars).collect();
    Some(ranking.rows.iter().filter(|row| named.contains(&row.cell.name.as_str())).collect())
}

impl Writer<'_> {
    /// Writes the machine and the rules of a session in a few lines.
    fn environment(&mut self, report: &Report<'_>) -> Result<()> {
        let SessionSpec { preset, environment, rounds, max_time, runs, seed, .. } = report.session;
        let (rounds, enough) = match (report.ended, max_time) {
            (Some(ended), _) => (ended.rounds, format!(" ({})", ended.by.about())),
            (None, Some(_)) => (*rounds, " or more".to_owned()),
            (None, None) => (*rounds, String::new()),
        };
        let system = &environment.system;
        self.sentence(DIM, &format!("{}, {system}", environment.processors()))?;
        if environment.wine.is_some() {
            self.sentence(ERROR, "under Wine: not a measurement of Windows")?;
        }
        if let Some(limit) = environment.machine.memory_limit() {
            self.sentence(DIM, &format!("limit of cached memory: {}", bytes(limit)))?;
        }
        self.sentence(
            DIM,
            &format!("preset {preset}, {rounds} rounds of {runs}{enough}, seed {seed}"),
        )
    }

    /// Writes all that is known of the machine and the rules of a session, as a table.
    fn environment_table(&mut self, spec: &SessionSpec) -> Result<()> {
        let environment = &spec.environment;
        let unknown = || "unknown".to_owned();
        let mut known: Vec<(String, String)> = [
            ("processor", environment.processors()),
            ("memory", environment.memory.map_or_else(unknown, bytes)),
            ("system", environment.system.clone()),
            ("load at the start", environment.load.clone().unwrap_or_else(unknown)),
            ("began", format!("{} (seconds since 1970 UTC)", environment.began)),
            ("transect", environment.version.clone()),
            ("preset", spec.preset.clone()),
            ("rounds", format!("{} of {}", spec.rounds, spec.runs)),
            ("seed", spec.seed.to_string()),
            ("base", spec.base.clone()),
        ]
        .map(|(what, is)| (what.to_owned(), is))
        .into();
        if spec.whole_processes {
            known.push(("times".to_owned(), "whole processes, from start to exit".to_owned()));
        }
        known.extend(environment.details());
        let mut table = Table::new(&["", ""], &[], &[]);
        for (what, is) in known {
            table.add(Style::new(), [what, is].map(|text| self.form.name(&text)));
        }
        self.table(&table)?;
        let command = quote::for_terminal(environment.command.join(" ").as_ref());
        let fence = "`".repeat(longest_run(&command, '`').max(2) + 1);
        writeln!(self.out, "\n{fence}sh\n{command}\n{fence}")
    }

    fn ranking_heading(&mut self, spec: &SessionSpec, ranking: &Ranking) -> Result<()> {
        let dataset = &spec.datasets[ranking.dataset];
        let root = quote::for_terminal(dataset.root.as_os_str());
        // A tree is known by its path; inputs are made for the session and known by their names.
        let (title, place) = match spec.words().is_path {
            true => (root, String::new()),
            false => (dataset.name.clone(), format!(" in {root}")),
        };
        self.heading(2, &title, &format!("{place}: {}", spec.work_in(dataset)))?;
        let pass = match spec.cache_states.len() {
            1 => String::new(),
            _ => format!("{}. ", ranking.cache_state + 1),
        };
        let proof = match ranking.proved {
            _ if ranking.state == State::AsIs => "",
            // The name of the state already says that nothing is proved.
            _ if ranking.state == State::Cold && spec.dropped.is_some() => "",
            true => ", proved",
            false => ", not proved",
        };
        let state = spec.state_of(ranking.cache_state);
        let asked = spec.replaced_reason(ranking.cache_state);
        let asked = asked.map_or("", |_| " (cold was asked for)");
        let file_system = &dataset.file_system;
        let read_ahead = file_system.read_ahead.filter(|_| spec.words().has_rates);
        let mut known = vec![file_system.kind().to_owned()];
        known.extend(read_ahead.map(|it| format!("reads {} ahead", bytes(it))));
        if self.form == Form::Markdown {
            known.extend(file_system.options.clone());
            known.extend(file_system.below());
        }
        let (known, by) = (known.join(", "), ranking.by.about());
        self.sentence(DIM, &format!("{pass}{state}{proof}{asked}; {known}{by}"))
    }

    /// Writes the rows of a ranking: those of its overview, unless `all` are wanted.
    fn ranking(
        &mut self,
        spec: &SessionSpec,
        ranking: &Ranking,
        overview: &Overview,
        all: bool,
    ) -> Result<()> {
        let of_overview = if all { None } else { few_rows(spec, ranking, overview) };
        let rows = of_overview.unwrap_or_else(|| ranking.rows.iter().collect());
        self.rows(spec, &rows)?;
        if !ranking.apart.is_empty() {
            self.gap()?;
            self.sentence(DIM, "Listed separately, not ranked:")?;
            self.rows(spec, &ranking.apart.iter().collect::<Vec<_>>())?;
        }
        let shown = if all { usize::MAX } else { MAX_UNRANKED };
        let unranked = ranking.unranked.iter().take(shown);
        self.items(WARN, unranked.map(|it| format!("not ranked: {}: {}", it.cell, it.reason)))?;
        let hidden = ranking.rows.len() - rows.len();
        let hidden = hidden + ranking.unranked.len().saturating_sub(shown);
        if hidden > 0 {
            let rows = if hidden == 1 { "row" } else { "rows" };
            self.sentence(DIM, &format!("{hidden} more {rows}: transect lab report --all"))?;
        }
        Ok(())
    }

    fn words(&mut self, overview: &Overview, conclusion: &Conclusion) -> Result<()> {
        if !overview.bars.is_empty() {
            self.sentence(BOLD, &overview.sentence)?;
        }
        self.sentence(Style::new(), &conclusion.sentence)?;
        self.sentence(DIM, &conclusion.noise)?;
        self.items(Style::new(), conclusion.answers.iter().cloned())?;
        conclusion.alarms.iter().try_for_each(|alarm| self.sentence(ERROR, alarm))?;
        let mut notes = conclusion.notes.iter().filter(|note| **note != conclusion.noise);
        notes.try_for_each(|note| self.sentence(WARN, note))
    }

    /// Writes the table of an article beside the ranking, if the session is one of its preset.
    fn article_tables(&mut self, report: &Report<'_>, ranking: &Ranking) -> Result<()> {
        let is_of_it = |table: &&ArticleTable| {
            (table.dataset, table.cache_state) == (ranking.dataset, ranking.cache_state)
        };
        for table in report.article_tables.iter().filter(is_of_it) {
            let ArticleTable { source, article, corpus, .. } = table;
            self.heading(3, &format!("Beside the article: {source}, {article}"), "")?;
            self.sentence(BOLD, &table.sentence)?;
            self.sentence(DIM, &format!("{corpus}. {}", table.about))?;
            self.sentence(WARN, table.whose)?;
            self.table(&table.in_form(self.form))?;
            self.items(DIM, table.notes().into_iter())?;
        }
        Ok(())
    }
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|character| character != of).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::columns::{COLUMNS, Column};
    use crate::report::writer::fitting_columns;

    fn titles(width: Option<usize>) -> Vec<&'static str> {
        // Every cell is as wide as its title, or as a ratio with its interval.
        let table = |columns: &[&Column]| Table {
            titles: columns.iter().map(|column| column.title().to_owned()).collect(),
            is_number: vec![false; columns.len()],
            rows: vec![(
                Style::new(),
                columns
                    .iter()
                    .map(
                        |column| {
                            if column.title().contains('%') { "1.52 (1.49 to 1.60)" } else { "" }
                        },
                    )
                    .map(str::to_owned)
                    .collect(),
            )],
        };
        fitting_columns(&table, &COLUMNS.iter().collect::<Vec<_>>(), width)
            .iter()
            .map(|column| column.title())
            .collect()
    }

    #[test]
    fn unlimited_width_shows_all_columns_once() {
        let all = titles(None);
        assert_eq!(all.len(), COLUMNS.len() - 2);
        assert!(!all.contains(&"× base") && !all.contains(&"× floor"));
    }

    #[test]
    fn narrow_width_drops_least_important_columns() {
        let wide = titles(None);
        let narrow = titles(Some(100));
        assert!(narrow.len() < wide.len() && !narrow.contains(&"max"), "{narrow:?}");
        assert!(narrow.contains(&"× base (95 %)"), "{narrow:?}");
        assert_eq!(titles(Some(1)), ["method", "median", "× base", "verdict"]);
    }

    #[test]
    fn longest_run_of_backticks() {
        assert_eq!(longest_run("a ``` b `", '`'), 3);
        assert_eq!(longest_run("", '`'), 0);
    }
}
