//! The report of a session as GitHub-flavoured Markdown.

use std::io::{Result, Write};

use transect_text::quote;
use transect_text::units::bytes;

use super::value::Form;
use super::{ArticleTable, Conclusion, LISTING, PublishedTable, Report, columns};
use crate::ranking::{Ranking, Row};
use crate::spec::SessionSpec;
use transect_text::table::Table;

/// Writes a report.
pub fn write(mut out: impl Write, report: &Report<'_>) -> Result<()> {
    let out = &mut out;
    let spec = report.session;
    writeln!(out, "# transect lab\n")?;
    match spec.is_listing {
        true => writeln!(out, "{}", escaped(LISTING))?,
        false => environment_table(out, spec)?,
    }
    for (ranking, conclusion) in report.rankings.iter().zip(&report.conclusions) {
        ranking_section(out, spec, ranking, conclusion)?;
        let of_it = |r: &&ArticleTable| {
            (r.dataset, r.cache_state) == (ranking.dataset, ranking.cache_state)
        };
        report.article_tables.iter().filter(of_it).try_for_each(|r| article_table(out, r))?;
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
    table_head(out, &["", ""], &[false; 2])?;
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
    let columns = columns::shown(Form::Markdown, spec, &ranking.rows.iter().collect::<Vec<_>>());
    let ranked = |out: &mut _, rows: &[Row]| {
        let rows: Vec<&Row> = rows.iter().collect();
        table(out, &columns::table(Form::Markdown, spec, &columns, &rows))
    };
    ranked(out, &ranking.rows)?;
    if !ranking.apart.is_empty() {
        writeln!(out, "\nListed separately, as they left nothing unwritten:\n")?;
        ranked(out, &ranking.apart)?;
    }
    if !ranking.unranked.is_empty() {
        writeln!(out, "\nNot ranked:\n")?;
    }
    for unranked in &ranking.unranked {
        writeln!(out, "* {}: {}", escaped(&unranked.cell), escaped(&unranked.reason))?;
    }
    Ok(())
}

fn article_table(out: &mut impl Write, article: &ArticleTable) -> Result<()> {
    writeln!(out, "\n### The same, as the article prints it\n\n{}\n", escaped(article.about))?;
    table(out, &article.in_form(Form::Markdown))
}

fn published_table(out: &mut impl Write, published: &PublishedTable) -> Result<()> {
    let PublishedTable { source, article, corpus, .. } = published;
    writeln!(out, "\n### {source}, {article}: {}\n", escaped(corpus))?;
    table(out, &published.in_form(Form::Markdown))
}

/// Writes a table whose cells are escaped.
pub(super) fn table(out: &mut impl Write, table: &Table) -> Result<()> {
    table_head(out, &table.titles, &table.is_number)?;
    table.rows.iter().try_for_each(|(_, cells)| table_row(out, cells))
}

/// Writes the head of a table; numbers are aligned to the right.
fn table_head(out: &mut impl Write, titles: &[impl AsRef<str>], is_number: &[bool]) -> Result<()> {
    table_row(out, titles)?;
    let rule = |&is_number: &bool| if is_number { "---:" } else { "---" };
    table_row(out, &is_number.iter().map(rule).collect::<Vec<_>>())
}

fn table_row(out: &mut impl Write, cells: &[impl AsRef<str>]) -> Result<()> {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    writeln!(out, "| {} |", cells.join(" | "))
}

fn escaped(text: &str) -> String {
    Form::Markdown.name(text)
}

/// Returns the length of the longest run of a character.
fn longest_run(text: &str, of: char) -> usize {
    text.split(|character| character != of).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_run_of_backticks() {
        assert_eq!(longest_run("a ``` b `", '`'), 3);
        assert_eq!(longest_run("", '`'), 0);
    }
}
