//! A tree browser: `browse PATH`, then the number of a directory, `..` to go up, or `q`.
//!
//! The tree is read once, into a table. Every question after that is answered from memory.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};

use transect::FileType;
use transect::table::{Row, Table};

#[expect(clippy::disallowed_methods, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    let root = env::args_os().nth(1).ok_or("usage: browse PATH")?;
    run(root, io::stdin().lock(), &mut io::stdout().lock())
}

pub(crate) fn run(
    root: OsString,
    input: impl BufRead,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let table = Table::read(root)?;
    let mut here = table.roots().next().ok_or("nothing was read")?;
    let mut lines = input.lines();
    loop {
        let totals = table.totals(here);
        let path = table.path(here);
        writeln!(out, "{}: {} files, {} bytes", path.display(), totals.files, totals.disk_usage)?;
        let rows = by_usage(&table, here);
        for (number, &row) in rows.iter().take(20).enumerate() {
            let slash = if table.file_type(row) == FileType::Directory { "/" } else { "" };
            let (usage, name) = (table.totals(row).disk_usage, table.name(row).display());
            writeln!(out, "{number:>3} {usage:>14} {name}{slash}")?;
        }
        write!(out, "> ")?;
        out.flush()?;
        match lines.next().transpose()?.as_deref().map(str::trim) {
            None | Some("q") => return Ok(()),
            Some("..") => here = table.parent(here).unwrap_or(here),
            Some(number) => match number.parse().ok().and_then(|number: usize| rows.get(number)) {
                Some(&row) if table.file_type(row) == FileType::Directory => here = row,
                _ => writeln!(out, "'{number}' is not the number of a directory")?,
            },
        }
    }
}

/// Returns the entries of a directory, the largest first.
fn by_usage(table: &Table, dir: Row) -> Vec<Row> {
    let mut rows: Vec<Row> = table.children(dir).collect();
    rows.sort_by_key(|&row| std::cmp::Reverse(table.totals(row).disk_usage));
    rows
}
