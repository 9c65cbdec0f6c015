//! The example `find` with `ignore`: files that `.gitignore` does not exclude, with time and length.

use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;

use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let root = args.next().ok_or("usage: find PATH [GLOB…]")?;
    let mut globs = OverrideBuilder::new(&root);
    for glob in args {
        globs.add(&glob)?;
    }
    let mut files = 0;
    let mut out = BufWriter::new(io::stdout().lock());
    // The parallel walk has no iterator; a channel and threads would be needed for one.
    let walk =
        WalkBuilder::new(&root).hidden(false).ignore(false).overrides(globs.build()?).build();
    for entry in walk {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|file_type| file_type.is_file()) => {
                if entry.path().components().any(|part| part.as_os_str() == ".git") {
                    continue;
                }
                let metadata = entry.metadata()?;
                let time = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
                writeln!(out, "{time:>19} {:>11} {}", metadata.len(), entry.path().display())?;
                files += 1;
            }
            Ok(_) => {}
            Err(error) => writeln!(out, "not read: {error}")?,
        }
    }
    writeln!(out, "{files} files")?;
    Ok(out.flush()?)
}
