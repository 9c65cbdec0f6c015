//! The report of a session as GitHub-flavoured Markdown.

use std::io::{Result, Write};

use transect_text::quote;
use transect_text::units::{bytes, count};

use super::format::{
    calls_per_entry, interval, megabytes_per_second, milliseconds, nanoseconds_per_byte,
    verdict_label,
};
use super::{ArticleTable, Conclusion, PublishedTable, Report, Unit};
use crate::spec::{SessionSpec, Spec};
use crate::stats::ranking::{Ranking, Row};

/// Writes a report.
///
/// # Errors
/// `out` cannot be written to.
pub fn write(mut out: impl Write, report: &Report<'_>) -> Result<()> {
    let out = &mut out;
    let spec = report.session;
    writeln!(out, "# transect lab\n")?;
    environment(out, spec)?;
    for (ranking, conclusion) in report.rankings.iter().zip(&report.conclusions) {
        ranking_section(out, spec, ranking, conclusion)?;
        let of_it = |r: &&ArticleTable| {
            (r.dataset, r.cache_state) == (ranking.dataset, ranking.cache_state)
        };
        report.article_tables.iter().filter(of_it).try_for_each(|r| article_table(out, r))?;
    }
    if let Some(table) = report.references.first() {
        writeln!(out, "\n## From the articles\n\n> {}", text(table.whose))?;
    }
    report.references.iter().try_for_each(|table| published_table(out, table))
}

fn environment(out: &mut impl Write, spec: &SessionSpec) -> Result<()> {
    let SessionSpec { environment, .. } = spec;
    let guest = if environment.hypervisor { ", a guest" } else { "" };
    let unknown = || "unknown".to_owned();
    let processor = environment.processor.clone().unwrap_or_else(unknown);
    table(out, &["", ""], &[])?;
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
        line(out, &[what.to_owned(), text(&is)])?;
    }
    for (what, is) in environment.details() {
        line(out, &[text(&what), text(&is)])?;
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
    writeln!(out, "\n## {}: {number}{state}\n", text(&ranking.name))?;
    let kind = dataset.file_system.name.as_deref().unwrap_or("unknown file system");
    let options = dataset.file_system.options.as_deref().unwrap_or("options unknown");
    let root = dataset.root.to_string_lossy();
    let below = dataset.file_system.below().map_or(String::new(), |below| format!("; {below}"));
    let on = format!("{root}: {}; {kind}, {options}{below}", spec.work_in(dataset));
    writeln!(
        out,
        "{}\n\n{}\n\n{}",
        text(&on),
        text(&conclusion.sentence),
        text(&conclusion.noise)
    )?;
    for alarm in &conclusion.alarms {
        writeln!(out, "\n> **{}**", text(alarm))?;
    }
    for note in conclusion.notes.iter().filter(|note| **note != conclusion.noise) {
        writeln!(out, "\n> {}", text(note))?;
    }
    writeln!(out)?;
    let columns: Vec<&Column> =
        COLUMNS.iter().filter(|column| column.of.is_in(spec.experiment)).collect();
    let titles: Vec<&str> = columns.iter().map(|column| column.title).collect();
    let right: Vec<usize> = (0..columns.len()).filter(|&at| columns[at].is_number).collect();
    let ranked = |out: &mut _, rows: &[Row]| {
        table(out, &titles, &right)?;
        rows.iter().try_for_each(|row| {
            let cells = columns.iter().map(|column| (column.text)(spec, row));
            line(out, &cells.collect::<Vec<String>>())
        })
    };
    ranked(out, &ranking.rows)?;
    if !ranking.apart.is_empty() {
        writeln!(out, "\nApart, as they leave nothing unwritten:\n")?;
        ranked(out, &ranking.apart)?;
    }
    if !ranking.unranked.is_empty() {
        writeln!(out, "\nNot ranked:\n")?;
    }
    for unranked in &ranking.unranked {
        writeln!(out, "* {}: {}", text(&unranked.cell), text(&unranked.reason))?;
    }
    Ok(())
}

/// The sessions that show a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Everything,
    Walks,
    Files,
    Questions,
}

impl Of {
    fn is_in(self, session: Spec) -> bool {
        match self {
            Self::Everything => true,
            Self::Walks => session == Spec::Walk,
            Self::Files => matches!(session, Spec::Transform(_)),
            Self::Questions => session == Spec::Attributes,
        }
    }
}

/// A column of the ranking.
struct Column {
    title: &'static str,
    is_number: bool,
    of: Of,
    text: fn(&SessionSpec, &Row) -> String,
}

const fn column(
    title: &'static str,
    is_number: bool,
    of: Of,
    text: fn(&SessionSpec, &Row) -> String,
) -> Column {
    Column { title, is_number, of, text }
}

/// All columns, in order.
const COLUMNS: &[Column] = &[
    column("method", false, Of::Everything, |_, row| text(&row.cell.name)),
    column("language", false, Of::Everything, |_, row| text(&row.cell.language)),
    column("contract", false, Of::Everything, |_, row| text(&row.cell.contract.join(" "))),
    column("median, ms", true, Of::Everything, |_, row| milliseconds(row.time.median)),
    column("min, ms", true, Of::Everything, |_, row| milliseconds(row.time.min)),
    column("max, ms", true, Of::Everything, |_, row| milliseconds(row.time.max)),
    column("MAD, ms", true, Of::Files, |_, row| milliseconds(row.time.mad)),
    column("n", true, Of::Everything, |_, row| count(row.time.n as u64)),
    column("MB/s", true, Of::Files, |_, row| megabytes_per_second(row)),
    column("ns/byte", true, Of::Files, |_, row| nanoseconds_per_byte(row)),
    column("cpu, ms", true, Of::Walks, |_, row| milliseconds(row.cpu_ns())),
    column("user, ms", true, Of::Files, |_, row| milliseconds(row.user_ns)),
    column("sys, ms", true, Of::Files, |_, row| milliseconds(row.system_ns)),
    column("faults", true, Of::Files, |_, row| told(row.faults, count)),
    column("switches", true, Of::Files, |_, row| told(row.switches, count)),
    column("unwritten", true, Of::Files, |_, row| told(row.unwritten, bytes)),
    column("read", true, Of::Files, |_, row| told(row.device_read, bytes)),
    column("written", true, Of::Files, |_, row| told(row.device_written, bytes)),
    column("fresh", true, Of::Files, |_, row| {
        row.fresh.map_or(String::new(), |times| format!("{times:.2}"))
    }),
    column("memory", true, Of::Everything, |_, row| told(row.peak_memory, bytes)),
    column("calls / entry", true, Of::Walks, |_, row| calls_per_entry(row)),
    column("calls / file", true, Of::Files, |_, row| calls_per_entry(row)),
    column("cache / name", true, Of::Questions, |_, row| told(row.cache_bytes_per_name, bytes)),
    column("cpu, ms", true, Of::Questions, |_, row| milliseconds(row.cpu_ns())),
    column("calls / question", true, Of::Questions, |_, row| calls_per_entry(row)),
    column("× base (95 %)", true, Of::Everything, |_, row| interval(row.to_base.as_ref())),
    column("× floor (95 %)", true, Of::Everything, |_, row| interval(row.to_floor.as_ref())),
    column("verdict", false, Of::Everything, verdict_label),
];

fn told(number: Option<f64>, of: fn(u64) -> String) -> String {
    number.map_or(String::new(), |number| of(number as u64))
}

fn article_table(out: &mut impl Write, article: &ArticleTable) -> Result<()> {
    let ArticleTable { protocol, about, columns, rows, .. } = article;
    writeln!(out, "\n### The same, as the article prints it ({protocol})\n\n{}\n", text(about))?;
    let title = |column: &super::ArticleColumn| match column.unit {
        Unit::Nanoseconds => format!("{}, ms", text(&column.name)),
        Unit::Times => text(&column.name),
    };
    let titles: Vec<String> =
        std::iter::once("method".to_owned()).chain(columns.iter().map(title)).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    table(out, &titles, &(1..titles.len()).collect::<Vec<_>>())?;
    for row in rows {
        let values = row.values.iter().zip(columns).map(|(value, column)| match column.unit {
            Unit::Nanoseconds => milliseconds(*value),
            Unit::Times => format!("{value:.1}"),
        });
        line(out, &std::iter::once(text(&row.cell)).chain(values).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn published_table(out: &mut impl Write, article: &PublishedTable) -> Result<()> {
    writeln!(out, "\n### {}, {}: {}\n", article.source, article.article, text(article.corpus))?;
    table(out, &["method", "contract", "state", "what", "ms", "× the slowest", "note"], &[4, 5])?;
    for row in &article.rows {
        let cells = [
            text(row.method),
            row.contract.join(" "),
            row.state.as_str().to_owned(),
            text(row.quantity.word()),
            milliseconds(row.value_ns()),
            row.speedup.map_or(String::new(), |times| format!("{times:.1}")),
            text(row.note),
        ];
        line(out, &cells)?;
    }
    Ok(())
}

/// Writes the head of a table; the columns in `right` are aligned to the right.
fn table(out: &mut impl Write, titles: &[&str], right: &[usize]) -> Result<()> {
    line(out, titles)?;
    let rule = |at| if right.contains(&at) { "---:" } else { "---" };
    line(out, &(0..titles.len()).map(rule).collect::<Vec<_>>())
}

fn line(out: &mut impl Write, cells: &[impl AsRef<str>]) -> Result<()> {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

/// Escapes a text so that it is plain text in one line, also inside a table.
fn text(text: &str) -> String {
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
        assert_eq!(text("a|b`c`"), "a\\|b\\`c\\`");
        assert_eq!(text("<img src=x>\n# x"), "\\<img src=x\\>\\\\n\\# x");
        assert_eq!(text("\u{202e}x"), "\\\\u{202e}x");
        assert_eq!(text("getdents-statx/recursive (again)"), "getdents-statx/recursive (again)");
    }

    #[test]
    fn longest_run_of_backticks() {
        assert_eq!(longest_run("a ``` b `", '`'), 3);
        assert_eq!(longest_run("", '`'), 0);
    }
}
