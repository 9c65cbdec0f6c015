//! The report as plain HTML tables: everything but the charts, for browsers without scripts.

use std::fmt::Write;

use transect_text::table::Table;
use transect_web::page::escape_html;

use crate::ranking::{Metric, Ranking, Row};
use crate::report::value::Form;
use crate::report::{PublishedTable, Report, columns};

/// Returns the HTML of the page's plain part.
pub(super) fn write(report: &Report<'_>) -> String {
    let mut out = String::new();
    let session = report.session;
    let machine = &session.environment;
    let _ = write!(
        out,
        "<p>{}, {} cores{}, {}. Preset {}, {} rounds of {}, seed {}. transect {}.</p>\n\
         <p><code>{}</code></p>\n",
        escape_html(machine.processor.as_deref().unwrap_or("unknown processor")),
        machine.cores,
        if machine.hypervisor { ", virtual" } else { "" },
        escape_html(&machine.system),
        escape_html(&session.preset),
        session.rounds,
        session.runs,
        session.seed,
        escape_html(&machine.version),
        escape_html(&machine.command.join(" ")),
    );
    for (at, ranking) in report.rankings.iter().enumerate() {
        ranking_section(&mut out, report, ranking, at);
    }
    if let Some(table) = report.references.first() {
        let _ = write!(out, "<h2>From the articles</h2>\n<p>{}</p>\n", escape_html(table.whose));
    }
    report.references.iter().for_each(|table| published_table(&mut out, table));
    out
}

fn ranking_section(out: &mut String, report: &Report<'_>, ranking: &Ranking, at: usize) {
    let (overview, conclusion) = (&report.overviews[at], &report.conclusions[at]);
    let dataset = &report.session.datasets[ranking.dataset];
    let _ = write!(
        out,
        "<h2><bdi>{}</bdi>, {}</h2>\n<p>{}</p>\n<p><strong><bdi>{}</bdi></strong></p>\n<p><bdi>{}</bdi> <bdi>{}</bdi></p>\n",
        escape_html(&ranking.name),
        report.session.state_of(ranking.cache_state),
        report.session.work_in(dataset),
        escape_html(&overview.sentence),
        escape_html(&conclusion.sentence),
        escape_html(&conclusion.noise),
    );
    for answer in &conclusion.answers {
        let _ = writeln!(out, "<p><bdi>{}</bdi></p>", escape_html(answer));
    }
    for text in conclusion.alarms.iter().chain(&conclusion.notes) {
        let _ = writeln!(out, "<p><strong>{}</strong></p>", escape_html(text));
    }
    match ranking.by {
        Metric::Processor => out.push_str("<p>All times are CPU times.</p>\n"),
        Metric::Process => out.push_str("<p>All times are those of whole processes.</p>\n"),
        Metric::Time => {}
    }
    let columns = columns::shown(Form::Page, report.session, &[]);
    let table = |rows: &[Row]| {
        columns::table(Form::Page, report.session, &columns, &rows.iter().collect::<Vec<_>>())
    };
    open_table(out, &table(&ranking.rows));
    for row in &ranking.implausible {
        let _ = writeln!(
            out,
            "<tr><td><bdi>{}</bdi></td><td colspan=\"{}\">implausible: <bdi>{}</bdi></td></tr>",
            escape_html(&row.cell.name),
            columns.len() - 1,
            escape_html(row.implausible.as_deref().unwrap_or_default())
        );
    }
    for unranked in &ranking.unranked {
        let _ = writeln!(
            out,
            "<tr><td><bdi>{}</bdi></td><td colspan=\"{}\">not ranked: <bdi>{}</bdi></td></tr>",
            escape_html(&unranked.cell),
            columns.len() - 1,
            escape_html(&unranked.reason)
        );
    }
    out.push_str("</tbody></table>\n");
    if !ranking.apart.is_empty() {
        out.push_str("<p>Listed separately, as they wrote everything to the device:</p>\n");
        open_table(out, &table(&ranking.apart));
        out.push_str("</tbody></table>\n");
    }
}

fn published_table(out: &mut String, table: &PublishedTable) {
    let PublishedTable { source, article, corpus, .. } = table;
    let _ = writeln!(out, "<h3>{source}, {article}: {}</h3>", escape_html(corpus));
    open_table(out, &table.in_form(Form::Page));
    out.push_str("</tbody></table>\n");
}

/// Writes a table without its end, so that further rows can follow.
fn open_table(out: &mut String, table: &Table) {
    out.push_str("<table><thead><tr>");
    for title in &table.titles {
        let _ = write!(out, "<th scope=\"col\">{title}</th>");
    }
    out.push_str("</tr></thead><tbody>\n");
    for (_, cells) in &table.rows {
        out.push_str("<tr>");
        for cell in cells {
            // `bdi` confines names that change the text direction to their own cell.
            let _ = write!(out, "<td><bdi>{}</bdi></td>", escape_html(cell));
        }
        out.push_str("</tr>\n");
    }
}
