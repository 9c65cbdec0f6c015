//! Merged sessions as text on a terminal, as Markdown and as comma-separated values.

use std::io::{Result, Write};

use transect_text::style::{BOLD, DIM, Style, WARN};
use transect_text::units::bytes;

use super::csv::{exact, fields, names};
use super::markdown;
use super::terminal::Screen;
use super::value::Form;
use crate::ranking::merge::{
    Merged, MergedGroup, MergedRanking, MergedResult, MergedRow, MergedSession,
};
use transect_text::table::Table;

/// What the table means.
const ABOUT: &str = "Each number is a ratio within one session, to its own base or floor, with the verdict of that \
                     session. Times of different machines are not compared.";

/// Writes merged sessions as text in lines of at most `width` characters.
///
/// # Errors
/// `out` cannot be written to.
pub fn write(mut out: impl Write, merged: &Merged, width: Option<usize>) -> Result<()> {
    let mut screen = Screen { out: &mut out, width };
    for (at, session) in merged.sessions.iter().enumerate() {
        screen.write_wrapped(Style::new(), &machine(at, session))?;
    }
    for group in &merged.groups {
        writeln!(screen.out)?;
        screen.write_wrapped(BOLD, &format!("{}, {}", group.name, group.conditions))?;
        screen.table(&table(group, Form::Terminal))?;
    }
    writeln!(screen.out)?;
    merged.notes.iter().try_for_each(|note| screen.write_wrapped(WARN, note))?;
    screen.write_wrapped(DIM, ABOUT)
}

/// Writes merged sessions as GitHub-flavoured Markdown.
///
/// # Errors
/// `out` cannot be written to.
pub fn write_markdown(mut out: impl Write, merged: &Merged) -> Result<()> {
    let out = &mut out;
    writeln!(out, "# transect lab, merged\n")?;
    for (at, session) in merged.sessions.iter().enumerate() {
        writeln!(out, "* {}", Form::Markdown.name(&machine(at, session)))?;
    }
    for group in &merged.groups {
        let (name, conditions) = (Form::Markdown.name(&group.name), &group.conditions);
        writeln!(out, "\n## {name}, {conditions}\n")?;
        markdown::table(out, &table(group, Form::Markdown))?;
    }
    writeln!(out)?;
    for note in &merged.notes {
        writeln!(out, "> {}\n", Form::Markdown.name(note))?;
    }
    writeln!(out, "{ABOUT}")
}

/// Describes the machine and the rules of a session.
fn machine(at: usize, session: &MergedSession) -> String {
    let MergedSession { file, cores, system, preset, rounds, base, .. } = session;
    let processor = session.processor.as_deref().unwrap_or("unknown processor");
    let memory = session.memory.map_or(String::new(), |memory| format!(", {}", bytes(memory)));
    let guest = if session.hypervisor { ", a guest" } else { "" };
    format!(
        "{}: {file}: {processor}, {cores} cores{memory}{guest}, {system}; preset {preset}, {rounds} rounds, \
         base {base}",
        at + 1
    )
}

/// Returns the table of a group: for each session that has it, the ratio to its base and floor, and its verdict.
fn table(group: &MergedGroup, form: Form) -> Table {
    let has_it = |at: &usize| group.rankings[*at].is_some();
    let sessions: Vec<usize> = (0..group.rankings.len()).filter(has_it).collect();
    let mut titles = vec!["method".to_owned()];
    let mut is_number = vec![false];
    for at in sessions.iter().map(|at| at + 1) {
        titles.extend([format!("{at}: × base (95 %)"), format!("{at}: × floor")]);
        titles.push(format!("{at}: verdict"));
        is_number.extend([true, true, false]);
    }
    let row = |row: &MergedRow| {
        let cells = sessions.iter().flat_map(|&at| result_cells(row.results[at].as_ref()));
        (Style::new(), std::iter::once(form.name(&row.cell)).chain(cells).collect())
    };
    Table { titles, is_number, rows: group.rows.iter().map(row).collect() }
}

/// Returns the cells of a result: ratio to the base, ratio to the floor, verdict.
fn result_cells(result: Option<&MergedResult>) -> [String; 3] {
    let Some(result) = result else { return Default::default() };
    let floor = result.to_floor.map_or(String::new(), |ratios| format!("{:.2}", ratios.median));
    [
        result.to_base.map_or(String::new(), |ratios| ratios.to_string()),
        floor,
        verdict(result).to_owned(),
    ]
}

fn verdict(result: &MergedResult) -> &'static str {
    match result.judgement {
        _ if result.unranked.is_some() => "not ranked",
        Some(judgement) => judgement.verdict.label(),
        None if result.is_base => "the base",
        None => "",
    }
}

/// A cell in a session.
struct Line<'m> {
    group: &'m MergedGroup,
    row: &'m MergedRow,
    at: usize,
    session: &'m MergedSession,
    ranking: &'m MergedRanking,
    result: &'m MergedResult,
}

/// Returns the field of a column; `None` if the value is unknown.
type Field = fn(&Line<'_>) -> Option<String>;

/// Names and fields of the columns of [`csv`].
const COLUMNS: &[(&str, Field)] = &[
    ("place", |it| Some(it.group.name.clone())),
    ("state", |it| Some(it.group.conditions.clone())),
    ("cell", |it| Some(it.row.cell.clone())),
    ("language", |it| Some(it.row.language.clone())),
    ("session", |it| Some((it.at + 1).to_string())),
    ("file", |it| Some(it.session.file.clone())),
    ("processor", |it| it.session.processor.clone()),
    ("cores", |it| Some(it.session.cores.to_string())),
    ("system", |it| Some(it.session.system.clone())),
    ("preset", |it| Some(it.session.preset.clone())),
    ("base", |it| Some(it.session.base.clone())),
    ("by", |it| Some(it.ranking.by.as_str().to_owned())),
    ("n", |it| Some(it.result.to_base?.n.to_string())),
    ("to_base", |it| exact(it.result.to_base?.median)),
    ("to_base_low", |it| exact(it.result.to_base?.low)),
    ("to_base_high", |it| exact(it.result.to_base?.high)),
    ("verdict", |it| Some(it.result.judgement?.verdict.as_str().to_owned())),
    ("adjusted_p", |it| Some(it.result.judgement?.adjusted_p.to_string())),
    ("to_floor", |it| exact(it.result.to_floor?.median)),
    ("proved", |it| Some(it.ranking.proved.to_string())),
    ("noisy", |it| Some(it.ranking.noisy.to_string())),
    ("unranked_reason", |it| it.result.unranked.clone()),
];

/// Returns merged sessions as comma-separated values: a line for each cell of each session. Unknown values are
/// empty.
pub fn csv(merged: &Merged) -> String {
    let mut text = names(COLUMNS) + "\n";
    for group in &merged.groups {
        for row in &group.rows {
            for (at, result) in row.results.iter().enumerate() {
                let (Some(result), Some(ranking)) = (result, &group.rankings[at]) else { continue };
                let session = &merged.sessions[at];
                let line = Line { group, row, at, session, ranking, result };
                text += &(fields(COLUMNS, |field| field(&line)) + "\n");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{data, with};
    use crate::ranking::merge::{Source, merge};

    #[test]
    fn every_form_has_both_machines_and_no_times() {
        let times = [("base", 1_000_000), ("base (again)", 1_000_000), ("a|b", 2_000_000)];
        let sessions = [with(&times, 12), data()];
        let source = |data| Source { file: format!("{data:p}.jsonl"), data };
        let merged = merge(&sessions.iter().map(source).collect::<Vec<_>>()).unwrap();
        let (mut text, mut table) = (Vec::new(), Vec::new());
        write(&mut text, &merged, None).unwrap();
        write_markdown(&mut table, &merged).unwrap();
        let [text, table] = [text, table].map(|bytes| String::from_utf8(bytes).unwrap());
        for form in [&text, &table] {
            assert!(form.contains("1: × base (95 %)") && form.contains("2: verdict"), "{form}");
            assert!(!form.contains(" ms"), "{form}");
        }
        assert!(table.contains("| a\\|b | 2.00 (2.00 to 2.00)"), "{table}");
        let csv = csv(&merged);
        assert!(csv.starts_with("place,state,cell,language,session,"), "{csv}");
        let wide = {
            let mut narrow = Vec::new();
            write(&mut narrow, &merged, Some(60)).unwrap();
            String::from_utf8(narrow).unwrap()
        };
        assert!(wide.contains("a|b: "), "rows as text where the table is too wide: {wide}");
    }
}
