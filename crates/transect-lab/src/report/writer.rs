//! Writes the parts of a report in one of its forms: headings, sentences, tables.

use std::io::{Result, Write};

use transect_text::style::{BOLD, ERROR, Style, WARN};
use transect_text::table::Table;
use transect_text::wrap::{wrap, wrap_lines};

use super::columns::{self, Column};
use super::value::Form;
use crate::ranking::Row;
use crate::spec::SessionSpec;

/// Width of prose if the width of the terminal is unknown.
const DEFAULT_WIDTH: usize = 100;

/// The output, its form, and the width of a terminal. All texts are escaped, except those in tables.
pub(super) struct Writer<'o> {
    pub(super) out: &'o mut dyn Write,
    pub(super) form: Form,
    pub(super) width: Option<usize>,
}

impl Writer<'_> {
    /// Writes a blank line on a terminal; in Markdown, every part begins with one.
    pub(super) fn gap(&mut self) -> Result<()> {
        if self.form == Form::Terminal { writeln!(self.out) } else { Ok(()) }
    }

    pub(super) fn heading(&mut self, level: usize, title: &str, beside: &str) -> Result<()> {
        let [title, beside] = [title, beside].map(|text| self.form.name(text));
        match self.form {
            Form::Terminal => {
                let line = format!("{BOLD}{title}{BOLD:#}{beside}");
                writeln!(self.out, "\n{}", wrap_lines(&line, self.width.unwrap_or(usize::MAX)))
            }
            Form::Markdown => writeln!(self.out, "\n{} {title}{beside}", "#".repeat(level)),
        }
    }

    /// Writes a sentence. In Markdown, warnings and errors are quotations.
    pub(super) fn sentence(&mut self, style: Style, text: &str) -> Result<()> {
        let text = self.form.name(text);
        match self.form {
            Form::Terminal => {
                let mut lines = wrap(&text, self.width.unwrap_or(DEFAULT_WIDTH)).into_iter();
                lines.try_for_each(|line| writeln!(self.out, "{style}{line}{style:#}"))
            }
            Form::Markdown if style == ERROR => writeln!(self.out, "\n> **{text}**"),
            Form::Markdown if style == WARN => writeln!(self.out, "\n> {text}"),
            Form::Markdown => writeln!(self.out, "\n{text}"),
        }
    }

    pub(super) fn items(
        &mut self,
        style: Style,
        items: impl Iterator<Item = String>,
    ) -> Result<()> {
        for (at, item) in items.enumerate() {
            match self.form {
                Form::Terminal => self.sentence(style, &item)?,
                Form::Markdown => {
                    let gap = if at == 0 { "\n" } else { "" };
                    writeln!(self.out, "{gap}* {}", self.form.name(&item))?;
                }
            }
        }
        Ok(())
    }

    /// Writes rows of a ranking, with the columns that fit.
    pub(super) fn rows(&mut self, spec: &SessionSpec, rows: &[&Row]) -> Result<()> {
        let columns = columns::shown(self.form, spec, rows);
        let table = |columns: &[&Column]| columns::table(self.form, spec, columns, rows);
        let fitting = table(&fitting_columns(&table, &columns, self.width));
        self.table(&fitting)
    }

    /// Writes a table; if it is too wide for the terminal, each row as text.
    pub(super) fn table(&mut self, table: &Table) -> Result<()> {
        if self.form == Form::Markdown {
            return self.markdown_table(table);
        }
        if self.width.is_none_or(|width| table.width() <= width) {
            return table.write(self.out);
        }
        for (_, row) in &table.rows {
            let Some((first, rest)) = row.split_first() else { continue };
            let texts = rest.iter().zip(&table.titles[1..]).filter(|(text, _)| !text.is_empty());
            let texts: Vec<String> = texts.map(|(text, title)| format!("{title} {text}")).collect();
            let colon = if texts.is_empty() { "" } else { ": " };
            self.sentence(Style::new(), &format!("{first}{colon}{}", texts.join(", ")))?;
        }
        Ok(())
    }

    fn markdown_table(&mut self, table: &Table) -> Result<()> {
        let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let rule = |&is_number: &bool| if is_number { "---:" } else { "---" }.to_owned();
        let rules: Vec<String> = table.is_number.iter().map(rule).collect();
        writeln!(self.out, "\n{}\n{}", line(&table.titles), line(&rules))?;
        table.rows.iter().try_for_each(|(_, cells)| writeln!(self.out, "{}", line(cells)))
    }
}

pub(super) fn fitting_columns<'c>(
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
