//! Disk usage of the directories right below a path, read on all processors: `du PATH…`.
//!
//! A file with several names counts once, at one of them, as in `du -d 1`.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};

use transect::table::Table;

#[expect(clippy::disallowed_methods, reason = "an example prints")]
fn main() -> io::Result<()> {
    run(env::args_os().skip(1), &mut io::stdout().lock())
}

pub(crate) fn run(roots: impl Iterator<Item = OsString>, out: &mut impl Write) -> io::Result<()> {
    for root in roots {
        let table = Table::read(root)?;
        for row in table.roots() {
            for child in table.children(row).chain([row]) {
                if table.totals(child).directories > 0 {
                    let usage = table.totals(child).disk_usage;
                    writeln!(out, "{usage:>15} {}", table.path(child).display())?;
                }
            }
        }
        for error in &table.diagnostics().kept_errors {
            writeln!(out, "not counted: {error}")?;
        }
    }
    Ok(())
}
