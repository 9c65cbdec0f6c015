//! The report of a session as text on a terminal.

use std::io::{Result, Write};

use transect_text::quote;
use transect_text::style::{BOLD, DIM, ERROR, Style, WARN};
use transect_text::units::bytes;
use transect_text::wrap::{wrap, wrap_lines};

use super::columns::{self, Column};
use super::overview::MAX_BARS;
use super::value::Form;
use super::{ArticleTable, Conclusion, LISTING, Overview, PublishedTable, Report};
use crate::harness::cache_state::State;
use crate::ranking::{Ranking, Row};
use crate::spec::SessionSpec;
use transect_text::table::Table;

/// Width of prose if the width of the terminal is unknown.
const DEFAULT_WIDTH: usize = 100;

/// The most rows of a ranking that are written without `all`: the bars of an overview, and a floor.
const MAX_ROWS: usize = MAX_BARS + 1;

/// The most cells without a rank that are written without `all`.
const MAX_UNRANKED: usize = 5;

/// Writes a report in lines of at most `width` characters; without a width, with all columns. Names are
/// never cut: a table that is too wide even with the fewest columns becomes text. Of a long ranking, it writes the rows that [`Overview`] names,
/// unless `all` are wanted.
pub fn write(
    mut out: impl Write,
    report: &Report<'_>,
    width: Option<usize>,
    all: bool,
) -> Result<()> {
    let mut screen = Screen { out: &mut out, width };
    screen.session_heading(report)?;
    for (at, ranking) in report.rankings.iter().enumerate() {
        screen.ranking(report, ranking, &report.overviews[at], all)?;
        screen.conclusion(&report.overviews[at], &report.conclusions[at])?;
        screen.table_beside(report, ranking)?;
    }
    if let Some(table) = report.references.first() {
        writeln!(screen.out, "\n{BOLD}From the articles{BOLD:#}")?;
        screen.write_wrapped(WARN, table.whose)?;
    }
    report.references.iter().try_for_each(|table| screen.published_table(table))
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
    let base = ranking.rows.iter().find(|row| row.cell.name == spec.base);
    let floor = base.and_then(|base| spec.floor_of(&base.cell, ranking.state));
    let bars = overview.bars.iter().map(|bar| bar.cell.as_str());
    let named: Vec<&str> = floor.into_iter().chain(bars).collect();
    Some(ranking.rows.iter().filter(|row| named.contains(&row.cell.name.as_str())).collect())
}

fn escaped(name: &str) -> String {
    Form::Terminal.name(name)
}

/// The output and its width.
pub(super) struct Screen<'o> {
    pub(super) out: &'o mut dyn Write,
    pub(super) width: Option<usize>,
}

impl Screen<'_> {
    pub(super) fn write_wrapped(&mut self, style: Style, text: &str) -> Result<()> {
        for line in wrap(&escaped(text), self.width.unwrap_or(DEFAULT_WIDTH)) {
            writeln!(self.out, "{style}{line}{style:#}")?;
        }
        Ok(())
    }

    /// Writes the rows of a ranking: those of its overview, unless `all` are wanted.
    fn ranking(
        &mut self,
        report: &Report<'_>,
        ranking: &Ranking,
        overview: &Overview,
        all: bool,
    ) -> Result<()> {
        self.dataset_heading(report.session, ranking)?;
        let of_overview = if all { None } else { few_rows(report.session, ranking, overview) };
        let rows = of_overview.unwrap_or_else(|| ranking.rows.iter().collect());
        self.rows(report.session, &rows)?;
        if !ranking.apart.is_empty() {
            writeln!(self.out)?;
            self.write_wrapped(DIM, "listed separately, as they left nothing unwritten:")?;
            self.rows(report.session, &ranking.apart.iter().collect::<Vec<_>>())?;
        }
        let shown = if all { usize::MAX } else { MAX_UNRANKED };
        for unranked in ranking.unranked.iter().take(shown) {
            let cell = escaped(&unranked.cell);
            self.write_wrapped(
                WARN,
                &format!("not ranked: {cell}: {}", escaped(&unranked.reason)),
            )?;
        }
        let hidden = ranking.rows.len() - rows.len();
        let hidden = hidden + ranking.unranked.len().saturating_sub(shown);
        if hidden > 0 {
            let rows = if hidden == 1 { "row" } else { "rows" };
            self.write_wrapped(DIM, &format!("{hidden} more {rows}: transect lab report --all"))?;
        }
        Ok(())
    }

    /// Writes what a ranking says, in words.
    fn conclusion(&mut self, overview: &Overview, conclusion: &Conclusion) -> Result<()> {
        writeln!(self.out)?;
        if !overview.bars.is_empty() {
            self.write_wrapped(BOLD, &overview.sentence)?;
        }
        self.write_wrapped(Style::new(), &conclusion.sentence)?;
        self.write_wrapped(DIM, &conclusion.noise)?;
        for answer in &conclusion.answers {
            self.write_wrapped(Style::new(), answer)?;
        }
        for alarm in &conclusion.alarms {
            self.write_wrapped(ERROR, alarm)?;
        }
        // The noise was written above.
        for note in conclusion.notes.iter().filter(|note| **note != conclusion.noise) {
            self.write_wrapped(WARN, note)?;
        }
        Ok(())
    }

    /// Writes the table of the article beside a ranking, if there is one.
    fn table_beside(&mut self, report: &Report<'_>, ranking: &Ranking) -> Result<()> {
        let of_it = |r: &&ArticleTable| {
            (r.dataset, r.cache_state) == (ranking.dataset, ranking.cache_state)
        };
        if let Some(table) = report.article_tables.iter().find(of_it) {
            self.article_table(table)?;
        }
        Ok(())
    }

    fn session_heading(&mut self, report: &Report<'_>) -> Result<()> {
        if report.session.is_listing {
            return self.write_wrapped(DIM, LISTING);
        }
        let SessionSpec { preset, environment, rounds, max_time, runs, seed, .. } = report.session;
        let (rounds, enough) = match (report.ended, max_time) {
            (Some(ended), _) => (ended.rounds, format!(" ({})", ended.by.about())),
            (None, Some(_)) => (*rounds, " or more".to_owned()),
            (None, None) => (*rounds, String::new()),
        };
        let guest = if environment.hypervisor { ", a guest" } else { "" };
        let processor = environment.processor.as_deref().unwrap_or("unknown processor");
        let (cores, system) = (environment.cores, &environment.system);
        self.write_wrapped(DIM, &format!("{processor}, {cores} cores{guest}, {system}"))?;
        if environment.wine.is_some() {
            self.write_wrapped(ERROR, "under Wine: not a measurement of Windows")?;
        }
        if let Some(limit) = environment.machine.memory_limit() {
            self.write_wrapped(DIM, &format!("limit of cached memory: {}", bytes(limit)))?;
        }
        self.write_wrapped(
            DIM,
            &format!("preset {preset}, {rounds} rounds of {runs}{enough}, seed {seed}"),
        )
    }

    fn dataset_heading(&mut self, spec: &SessionSpec, ranking: &Ranking) -> Result<()> {
        let dataset = &spec.datasets[ranking.dataset];
        let root = quote::for_terminal(dataset.root.as_os_str());
        let proof = match ranking.proved {
            _ if ranking.state == State::AsIs => "",
            // The name of the state already says that nothing is proved.
            _ if ranking.state == State::Cold && spec.dropped.is_some() => "",
            true => ", proved",
            false => ", not proved",
        };
        let passes = spec.cache_states.len();
        let pass =
            if passes > 1 { format!("{}. ", ranking.cache_state + 1) } else { String::new() };
        // A tree is known by its path; inputs are made for the session and known by their names.
        let title = match spec.words().is_path {
            true => format!("{BOLD}{root}{BOLD:#}"),
            false => format!("{BOLD}{}{BOLD:#} in {root}", escaped(&dataset.name)),
        };
        let heading = format!("{title}: {}", spec.work_in(dataset));
        writeln!(self.out, "\n{}", wrap_lines(&heading, self.width.unwrap_or(usize::MAX)))?;
        let file_system = dataset.file_system.kind();
        let read_ahead = dataset.file_system.read_ahead.filter(|_| spec.words().has_rates);
        let read_ahead =
            read_ahead.map_or(String::new(), |it| format!(", reads {} ahead", bytes(it)));
        let state = spec.state_of(ranking.cache_state);
        let asked = spec.replaced_reason(ranking.cache_state);
        let asked = asked.map_or("", |_| " (cold was asked for)");
        let by = ranking.by.about();
        self.write_wrapped(
            DIM,
            &format!("{pass}{state}{proof}{asked}; {file_system}{read_ahead}{by}"),
        )?;
        writeln!(self.out)
    }

    fn rows(&mut self, spec: &SessionSpec, rows: &[&Row]) -> Result<()> {
        let columns = columns::shown(Form::Terminal, spec, rows);
        let table = |columns: &[&Column]| columns::table(Form::Terminal, spec, columns, rows);
        self.table(&table(&fitting_columns(&table, &columns, self.width)))
    }

    /// Writes a table; if it is too wide, writes each row as text.
    pub(super) fn table(&mut self, table: &Table) -> Result<()> {
        if self.width.is_none_or(|width| table.width() <= width) {
            return table.write(self.out);
        }
        for (_, row) in &table.rows {
            let Some((first, rest)) = row.split_first() else { continue };
            let texts = rest.iter().zip(&table.titles[1..]).filter(|(text, _)| !text.is_empty());
            let texts: Vec<String> = texts.map(|(text, title)| format!("{title} {text}")).collect();
            let colon = if texts.is_empty() { "" } else { ": " };
            self.write_wrapped(Style::new(), &format!("{first}{colon}{}", texts.join(", ")))?;
        }
        Ok(())
    }

    fn article_table(&mut self, table: &ArticleTable) -> Result<()> {
        writeln!(self.out)?;
        let about = table.about;
        self.write_wrapped(BOLD, &format!("The same, as the article prints it: {about}"))?;
        self.table(&table.in_form(Form::Terminal))
    }

    fn published_table(&mut self, table: &PublishedTable) -> Result<()> {
        let PublishedTable { source, article, corpus, .. } = table;
        writeln!(self.out)?;
        self.write_wrapped(BOLD, &format!("{source}, {article}: {corpus}"))?;
        self.table(&table.in_form(Form::Terminal))
    }
}

/// Returns the columns that fit into the width.
fn fitting_columns<'c>(
    table: &dyn Fn(&[&Column]) -> Table,
    of: &[&'c Column],
    width: Option<usize>,
) -> Vec<&'c Column> {
    let mut dropped: Vec<&str> = Vec::new();
    loop {
        let is_there = |column: &&Column| {
            let stands_in_for = of.iter().find(|other| other.replaced_by == Some(column.title()));
            let is_its_turn = stands_in_for.is_none_or(|other| dropped.contains(&other.title()));
            is_its_turn && !dropped.contains(&column.title())
        };
        let columns: Vec<&Column> = of.iter().copied().filter(is_there).collect();
        let line = table(&columns).width();
        let next =
            columns.iter().filter(|column| column.drop_order > 0).min_by_key(|c| c.drop_order);
        match (width, next) {
            (Some(width), Some(next)) if line > width => dropped.push(next.title()),
            _ => return columns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::columns::COLUMNS;

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
}
