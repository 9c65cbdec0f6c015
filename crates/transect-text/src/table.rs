//! Tables on a terminal.

use std::io::{Result, Write};

use crate::style::{BOLD, Style};

const GAP: &str = "  ";

/// A table with columns as wide as their content.
pub struct Table {
    /// The titles of the columns.
    pub titles: Vec<String>,
    /// Numbers are aligned to the right, words to the left.
    pub is_number: Vec<bool>,
    /// Each row and the style of its last cell.
    pub rows: Vec<(Style, Vec<String>)>,
}

impl Table {
    /// Returns a table without rows: columns of words, of numbers, and again of words.
    pub fn new(words: &[&str], numbers: &[&str], last: &[&str]) -> Self {
        let titles = [words, numbers, last].concat();
        let numbers = words.len()..words.len() + numbers.len();
        Self {
            is_number: (0..titles.len()).map(|at| numbers.contains(&at)).collect(),
            titles: titles.into_iter().map(str::to_owned).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, in which all cells have this style.
    pub fn add(&mut self, style: Style, cells: impl IntoIterator<Item = String>) {
        self.rows.push((style, cells.into_iter().collect()));
    }

    fn widths(&self) -> Vec<usize> {
        let width = |at: usize| {
            let cells = self.rows.iter().filter_map(|(_, row)| row.get(at));
            let widths = cells.chain(self.titles.get(at)).map(|text| text.chars().count());
            widths.max().unwrap_or(0)
        };
        (0..self.titles.len()).map(width).collect()
    }

    /// Returns the length of its lines.
    pub fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
    }

    /// Writes the table.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn write(&self, out: &mut (impl Write + ?Sized)) -> Result<()> {
        let widths = self.widths();
        let fitted = |at: usize, text: &str| match self.is_number[at] {
            true => format!("{text:>width$}", width = widths[at]),
            false => format!("{text:<width$}", width = widths[at]),
        };
        let line = |texts: &[String]| -> Vec<String> {
            texts.iter().enumerate().map(|(at, text)| fitted(at, text)).collect()
        };
        writeln!(out, "{BOLD}{}{BOLD:#}", line(&self.titles).join(GAP).trim_end())?;
        for (style, row) in &self.rows {
            let mut cells = line(row);
            let last = cells.pop().unwrap_or_default();
            match (cells.join(GAP), last.trim_end()) {
                (cells, "") => writeln!(out, "{}", cells.trim_end())?,
                (cells, last) => writeln!(out, "{cells}{GAP}{style}{last}{style:#}")?,
            }
        }
        Ok(())
    }
}
