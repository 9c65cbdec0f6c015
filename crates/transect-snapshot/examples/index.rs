//! An index that follows changes: `index INDEX PATH` prints what changed since it was last called.
//!
//! The index is a snapshot. A directory that is new or gone is one line, for everything in it.

use std::env;
use std::error::Error;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use transect::{Cancel, FieldMask, ScanOptions};
use transect_snapshot::{DiffOptions, LiveTree, ReadError, Snapshot, diff, write};

#[expect(clippy::disallowed_methods, reason = "an example prints")]
fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args_os().skip(1).map(PathBuf::from);
    let (index, root) = args.next().zip(args.next()).ok_or("usage: index INDEX PATH")?;
    run(&index, &root, &mut io::stdout().lock())
}

pub(crate) fn run(index: &Path, root: &Path, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let walk = ScanOptions::new([std::path::absolute(root)?]);
    let tree = LiveTree::read(walk, FieldMask::MTIME)?;
    let mut options = DiffOptions::default();
    options.ignored = FieldMask::ALLOCATED;
    match Snapshot::open(index) {
        Ok(before) => {
            for change in diff(&before, &tree, &options)?.changes {
                // Directories change with their entries.
                if !change.is_consequence() {
                    let path = String::from_utf8_lossy(&change.path);
                    writeln!(out, "{} {path}", change.kind.as_str())?;
                }
            }
        }
        Err(ReadError::Io(error)) if error.kind() == ErrorKind::NotFound => {
            writeln!(out, "{} entries", tree.table().len())?;
        }
        Err(error) => return Err(error.into()),
    }
    let new = index.with_extension("new");
    write(tree.table(), tree.metadata(), &Cancel::new(), &mut File::create(&new)?)?;
    Ok(fs::rename(new, index)?)
}
