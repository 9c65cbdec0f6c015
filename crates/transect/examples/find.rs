//! Files that `.gitignore` files do not exclude: `find PATH [GLOB…]`.
//!
//! Prints the time of the last change in nanoseconds, the length and the path of every file. The loop
//! runs while the walk goes on.

use std::env;
use std::error::Error;
use std::io::{self, BufWriter, Write};

use transect::{FieldMask, FileType, Filters};

#[expect(clippy::disallowed_methods, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(io::stdout().lock());
    run(env::args().skip(1), &mut out)?;
    Ok(out.flush()?)
}

pub(crate) fn run(
    mut args: impl Iterator<Item = String>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let root = args.next().ok_or("usage: find PATH [GLOB…]")?;
    let filters = Filters::new().gitignore(true).types([FileType::File]).globs(args);
    let mut files = 0;
    for entry in transect::walk(root).filters(filters).want(FieldMask::SIZE | FieldMask::MTIME) {
        match entry {
            Ok(entry) => {
                let (time, size) = (entry.attributes().mtime(), entry.attributes().size());
                let (time, size) = (time.unwrap_or(0), size.unwrap_or(0));
                writeln!(out, "{time:>19} {size:>11} {}", entry.path().display())?;
                files += 1;
            }
            Err(error) => writeln!(out, "not read: {error}")?,
        }
    }
    writeln!(out, "{files} files")?;
    Ok(())
}
