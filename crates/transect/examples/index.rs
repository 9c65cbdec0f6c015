//! The files that an indexer reads: `index PATH [GLOB…]`.
//!
//! Leaves out what `.gitignore` files exclude, and prints the time and length of every other file,
//! which an indexer compares with what it has stored. The loop runs while the walk goes on.

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::time::UNIX_EPOCH;

use transect::{FieldMask, FileType, Filters};

#[expect(clippy::disallowed_methods, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    run(env::args().skip(1), &mut io::stdout().lock())
}

pub(crate) fn run(
    mut args: impl Iterator<Item = String>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let root = args.next().ok_or("usage: index PATH [GLOB…]")?;
    let filters = Filters::new().gitignore(true).types([FileType::File]).globs(args);
    let mut files = 0;
    for entry in transect::walk(root).filters(filters).want(FieldMask::SIZE | FieldMask::MTIME) {
        match entry {
            Ok(entry) => {
                let time = entry.attributes().modified();
                let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                let seconds = since.unwrap_or_default().as_secs();
                let size = entry.attributes().size().unwrap_or(0);
                writeln!(out, "{seconds:>11} {size:>11} {}", entry.path().display())?;
                files += 1;
            }
            Err(error) => writeln!(out, "not indexed: {error}")?,
        }
    }
    writeln!(out, "{files} files")?;
    Ok(())
}
