//! The report of a session as GitHub-flavoured Markdown.

use std::io::{Result, Write};

use transect_text::quote;
use transect_text::units::{bytes, count};

use super::format::{
    calls_per_entry, interval, megabytes_per_second, milliseconds, nanoseconds_per_byte, percent,
    verdict_label,
};
use super::{ArticleTable, Conclusion, PublishedTable, Report, Unit, counters};
use crate::ranking::{Ranking, Row};
use crate::spec::{SessionSpec, Spec};
use transect_text::table::Table;

/// Writes a report.
///
/// # Errors
/// `out` cannot be written to.
pub fn write(mut out: impl Write, report: &Report<'_>) -> Result<()> {
    let out = &mut out;
    let spec = report.session;
    writeln!(out, "# transect lab\n")?;
    environment_table(out, spec)?;
    for (ranking, conclusion) in report.rankings.iter().zip(&report.conclusions) {
        ranking_section(out, spec, ranking, conclusion)?;
        let of_it = |r: &&ArticleTable| {
            (r.dataset, r.cache_state) == (ranking.dataset, ranking.cache_state)
        };
        report.article_tables.iter().filter(of_it).try_for_each(|r| article_table(out, r))?;
        if let Some(table) = counters::table(&ranking.rows, spec.environment.cores, escaped) {
            writeln!(out, "\n{}\n", counters::ABOUT)?;
            plain_table(out, &table)?;
        }
    }
    if let Some(table) = report.references.first() {
        writeln!(out, "\n## From the articles\n\n> {}", escaped(table.whose))?;
    }
    report.references.iter().try_for_each(|table| published_table(out, table))
}

fn environment_table(out: &mut impl Write, spec: &SessionSpec) -> Result<()> {
    let SessionSpec { environment, .. } = spec;
    let guest = if environment.hypervisor { ", a guest" } else { "" };
    let unknown = || "unknown".to_owned();
    let processor = environment.processor.clone().unwrap_or_else(unknown);
    table_head(out, &["", ""], &[])?;
    for (what, is) in [
        ("processor", format!("{processor}, {} cores{guest}", environment.cores)),
        ("memory", environment.memory.map_or_else(unknown, bytes)),
        ("system", environment.system.clone()),
        ("load at the start", environment.load.clone().unwrap_or_else(unknown)),
        ("began", format!("{} (seconds since 1970 UTC)", environment.began)),
        ("transect", environment.version.clone()),
        ("preset", spec.preset.clone()),
        ("rounds", format!("{} of {}", spec.rounds, spec.runs)),
        ("seed", spec.seed.to_string()),
        ("base", spec.base.clone()),
    ] {
        table_row(out, &[what.to_owned(), escaped(&is)])?;
    }
    if spec.whole_processes {
        table_row(out, &["times", "whole processes, from start to exit"])?;
    }
    for (what, is) in environment.details() {
        table_row(out, &[escaped(&what), escaped(&is)])?;
    }
    let command = quote::for_terminal(environment.command.join(" ").as_ref());
    let fence = "`".repeat(longest_run(&command, '`').max(2) + 1);
    writeln!(out, "\n{fence}sh\n{command}\n{fence}")
}

fn ranking_section(
    out: &mut impl Write,
    spec: &SessionSpec,
    ranking: &Ranking,
    conclusion: &Conclusion,
) -> Result<()> {
    let dataset = &spec.datasets[ranking.dataset];
    let number = if spec.cache_states.len() > 1 {
        format!("{}. ", ranking.cache_state + 1)
    } else {
        String::new()
    };
    let state = spec.state_of(ranking.cache_state);
    let asked = spec.replaced_reason(ranking.cache_state);
    let asked = asked.map_or("", |_| " (cold was asked for)");
    writeln!(out, "\n## {}: {number}{state}{asked}\n", escaped(&ranking.name))?;
    let kind = dataset.file_system.kind();
    let options = dataset.file_system.options.as_deref().unwrap_or("options unknown");
    let root = dataset.root.to_string_lossy();
    let below = dataset.file_system.below().map_or(String::new(), |below| format!("; {below}"));
    let on = format!("{root}: {}; {kind}, {options}{below}", spec.work_in(dataset));
    writeln!(
        out,
        "{}\n\n{}\n\n{}",
        escaped(&on),
        escaped(&conclusion.sentence),
        escaped(&conclusion.noise)
    )?;
    if !conclusion.answers.is_empty() {
        writeln!(out)?;
    }
    for answer in &conclusion.answers {
        writeln!(out, "* {}", escaped(answer))?;
    }
    for alarm in &conclusion.alarms {
        writeln!(out, "\n> **{}**", escaped(alarm))?;
    }
    for note in conclusion.notes.iter().filter(|note| **note != conclusion.noise) {
        writeln!(out, "\n> {}", escaped(note))?;
    }
    writeln!(out)?;
    let is_known = |column: &&Column| {
        let has_it = |row: &Row| !(column.text)(spec, row).is_empty();
        column.shown_in != ShownIn::Known || ranking.rows.iter().any(has_it)
    };
    let columns = COLUMNS.iter().filter(|column| column.shown_in.includes(spec));
    let columns: Vec<&Column> = columns.filter(is_known).collect();
    let titles: Vec<&str> = columns.iter().map(|column| column.title).collect();
    let right: Vec<usize> = (0..columns.len()).filter(|&at| columns[at].is_number).collect();
    let ranked = |out: &mut _, rows: &[Row]| {
        table_head(out, &titles, &right)?;
        rows.iter().try_for_each(|row| {
            let cells = columns.iter().map(|column| (column.text)(spec, row));
            table_row(out, &cells.collect::<Vec<String>>())
        })
    };
    ranked(out, &ranking.rows)?;
    if !ranking.apart.is_empty() {
        writeln!(out, "\nListed separately, as they left nothing unwritten:\n")?;
        ranked(out, &ranking.apart)?;
    }
    if !ranking.implausible.is_empty() {
        writeln!(out, "\nImplausible, and not ranked:\n")?;
        ranked(out, &ranking.implausible)?;
    }
    if !ranking.unranked.is_empty() {
        writeln!(out, "\nNot ranked:\n")?;
    }
    for unranked in &ranking.unranked {
        writeln!(out, "* {}: {}", escaped(&unranked.cell), escaped(&unranked.reason))?;
    }
    Ok(())
}

/// The sessions that show a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShownIn {
    All,
    Walks,
    Transforms,
    /// Transforms, and walks of whole processes.
    Processes,
    Attributes,
    /// Rankings in which any row has it.
    Known,
}

impl ShownIn {
    fn includes(self, session: &SessionSpec) -> bool {
        let is_transform = session.experiment.rules().is_some();
        match self {
            Self::All | Self::Known => true,
            Self::Walks => session.experiment == Spec::Walk,
            Self::Transforms => is_transform,
            Self::Processes => is_transform || session.whole_processes,
            Self::Attributes => session.experiment == Spec::Attributes,
        }
    }
}

/// A column of the ranking.
struct Column {
    title: &'static str,
    is_number: bool,
    shown_in: ShownIn,
    text: fn(&SessionSpec, &Row) -> String,
}

const fn column(
    title: &'static str,
    is_number: bool,
    shown_in: ShownIn,
    text: fn(&SessionSpec, &Row) -> String,
) -> Column {
    Column { title, is_number, shown_in, text }
}

/// All columns, in order.
const COLUMNS: &[Column] = &[
    column("method", false, ShownIn::All, |_, row| escaped(&row.cell.name)),
    column("language", false, ShownIn::All, |_, row| escaped(&row.cell.language)),
    column("median, ms", true, ShownIn::All, |_, row| milliseconds(row.time.median)),
    column("min, ms", true, ShownIn::All, |_, row| milliseconds(row.time.min)),
    column("max, ms", true, ShownIn::All, |_, row| milliseconds(row.time.max)),
    column("MAD, ms", true, ShownIn::Transforms, |_, row| milliseconds(row.time.mad)),
    column("n", true, ShownIn::All, |_, row| count(row.time.n as u64)),
    column("MB/s", true, ShownIn::Transforms, |_, row| megabytes_per_second(row)),
    column("ns/byte", true, ShownIn::Transforms, |_, row| nanoseconds_per_byte(row)),
    column("cpu, ms", true, ShownIn::Walks, |_, row| milliseconds(row.cpu_ns())),
    column("user, ms", true, ShownIn::Transforms, |_, row| milliseconds(row.user_ns)),
    column("sys, ms", true, ShownIn::Transforms, |_, row| milliseconds(row.system_ns)),
    column("cores", true, ShownIn::Known, |_, row| {
        row.cores.map_or(String::new(), |it| format!("{it:.2}"))
    }),
    column("faults", true, ShownIn::Processes, |_, row| known(row.faults, count)),
    column("switches", true, ShownIn::Transforms, |_, row| known(row.switches, count)),
    column("unwritten", true, ShownIn::Transforms, |_, row| known(row.unwritten, bytes)),
    column("read", true, ShownIn::Transforms, |_, row| known(row.device_read, bytes)),
    column("written", true, ShownIn::Transforms, |_, row| known(row.device_written, bytes)),
    column("fresh", true, ShownIn::Transforms, |_, row| {
        row.fresh.map_or(String::new(), |times| format!("{times:.2}"))
    }),
    column("memory", true, ShownIn::All, |_, row| known(row.peak_memory, bytes)),
    column("calls / entry", true, ShownIn::Walks, |_, row| calls_per_entry(row)),
    column("calls / file", true, ShownIn::Transforms, |_, row| calls_per_entry(row)),
    column("cache / name", true, ShownIn::Attributes, |_, row| {
        known(row.cache_bytes_per_name, bytes)
    }),
    column("cpu, ms", true, ShownIn::Attributes, |_, row| milliseconds(row.cpu_ns())),
    column("calls / question", true, ShownIn::Attributes, |_, row| calls_per_entry(row)),
    column("× base (95 %)", true, ShownIn::All, |_, row| interval(row.to_base.as_ref())),
    column("× floor (95 %)", true, ShownIn::All, |_, row| interval(row.to_floor.as_ref())),
    column("lines", true, ShownIn::Known, |_, row| {
        row.cell.code.map_or(String::new(), |it| count(it.lines))
    }),
    column("tokens", true, ShownIn::Known, |_, row| {
        row.cell.code.map_or(String::new(), |it| count(it.tokens))
    }),
    column("verdict", false, ShownIn::All, verdict_label),
];

fn known(number: Option<f64>, of: fn(u64) -> String) -> String {
    number.map_or(String::new(), |number| of(number as u64))
}

fn article_table(out: &mut impl Write, article: &ArticleTable) -> Result<()> {
    let ArticleTable { about, columns, rows, .. } = article;
    writeln!(out, "\n### The same, as the article prints it\n\n{}\n", escaped(about))?;
    let title = |column: &super::ArticleColumn| match column.unit {
        Unit::Nanoseconds => format!("{}, ms", escaped(&column.name)),
        Unit::Times | Unit::Share => escaped(&column.name),
    };
    let titles: Vec<String> =
        std::iter::once("method".to_owned()).chain(columns.iter().map(title)).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    table_head(out, &titles, &(1..titles.len()).collect::<Vec<_>>())?;
    for row in rows {
        let values = row.values.iter().zip(columns).map(|(value, column)| match column.unit {
            Unit::Nanoseconds => milliseconds(*value),
            Unit::Times => format!("{value:.1}"),
            Unit::Share => percent(*value),
        });
        table_row(out, &std::iter::once(escaped(&row.cell)).chain(values).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn published_table(out: &mut impl Write, article: &PublishedTable) -> Result<()> {
    writeln!(out, "\n### {}, {}: {}\n", article.source, article.article, escaped(article.corpus))?;
    table_head(out, &["method", "state", "what", "ms", "× the slowest", "note"], &[3, 4])?;
    for row in &article.rows {
        let cells = [
            escaped(row.method),
            row.state.as_str().to_owned(),
            escaped(row.quantity.label()),
            milliseconds(row.value_ns()),
            row.speedup.map_or(String::new(), |times| format!("{times:.1}")),
            escaped(row.note),
        ];
        table_row(out, &cells)?;
    }
    Ok(())
}

/// Writes a table whose cells are escaped.
pub(super) fn plain_table(out: &mut impl Write, table: &Table) -> Result<()> {
    let titles: Vec<&str> = table.titles.iter().map(String::as_str).collect();
    let right: Vec<usize> = (0..titles.len()).filter(|&at| table.is_number[at]).collect();
    table_head(out, &titles, &right)?;
    table.rows.iter().try_for_each(|(_, cells)| table_row(out, cells))
}

/// Writes the head of a table; the columns in `right` are aligned to the right.
fn table_head(out: &mut impl Write, titles: &[&str], right: &[usize]) -> Result<()> {
    table_row(out, titles)?;
    let rule = |at| if right.contains(&at) { "---:" } else { "---" };
    table_row(out, &(0..titles.len()).map(rule).collect::<Vec<_>>())
}

fn table_row(out: &mut impl Write, cells: &[impl AsRef<str>]) -> Result<()> {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

/// Escapes a text so that it is plain text in one line, also inside a table.
pub(super) fn escaped(text: &str) -> String {
    let visible = quote::for_terminal(text.as_ref());
    let mut escaped = String::with_capacity(visible.len());
    for character in visible.chars() {
        if matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '#'
        ) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Returns the length of the longest run of a character.
fn longest_run(text: &str, of: char) -> usize {
    text.split(|character| character != of).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_become_markup() {
        assert_eq!(escaped("a|b`c`"), "a\\|b\\`c\\`");
        assert_eq!(escaped("<img src=x>\n# x"), "\\<img src=x\\>\\\\n\\# x");
        assert_eq!(escaped("\u{202e}x"), "\\\\u{202e}x");
        assert_eq!(escaped("getdents-statx/recursive (again)"), "getdents-statx/recursive (again)");
    }

    #[test]
    fn longest_run_of_backticks() {
        assert_eq!(longest_run("a ``` b `", '`'), 3);
        assert_eq!(longest_run("", '`'), 0);
    }
}
