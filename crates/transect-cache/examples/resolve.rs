//! An include resolver: `resolve FILE.c DIRECTORY…` prints every file that a C file includes.
//!
//! Looks up each name beside the including file, then in the directories, as a compiler does. The
//! cache answers repeated questions, and those about names that are missing, from memory.

use std::collections::HashSet;
use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use transect_cache::{CacheOptions, Level};

#[expect(clippy::disallowed_methods, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    run(env::args_os().skip(1).map(PathBuf::from), &mut io::stdout().lock())
}

pub(crate) fn run(
    mut args: impl Iterator<Item = PathBuf>,
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let first = args.next().ok_or("usage: resolve FILE.c DIRECTORY…")?;
    let cache = CacheOptions::new(Level::Frozen).base(env::current_dir()?).open()?;
    let dirs: Vec<PathBuf> = args.collect();
    let mut left = vec![first];
    let mut seen: HashSet<PathBuf> = HashSet::new();
    while let Some(file) = left.pop() {
        let text = fs::read(&file)?;
        let beside = file.parent().filter(|dir| *dir != "").unwrap_or(Path::new("."));
        let dirs = cache.search_dirs([beside].into_iter().chain(dirs.iter().map(|dir| &**dir)))?;
        for name in included(&String::from_utf8_lossy(&text)) {
            match cache.resolve(name, &dirs)? {
                Some(found) if seen.insert(found.path.clone()) => {
                    writeln!(out, "{}", found.path.display())?;
                    left.push(found.path);
                }
                Some(_) => {}
                None => writeln!(out, "{name}: not found")?,
            }
        }
    }
    Ok(())
}

/// Returns the names in the `#include` lines of a file.
fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let name = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let name = name.trim_start().strip_prefix(['"', '<'])?;
        name.split(['"', '>']).next()
    })
}
