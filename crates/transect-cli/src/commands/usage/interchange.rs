//! Trees that come from ncdu, and go there.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use transect::table::{Row, Table};
use transect::{FieldMask, ncdu};

use crate::exit::Fatal;
use crate::output::{self, quote};

/// Bytes that are gathered before they are written, or read at once.
const ROOM: usize = 64 * 1024;

/// Reads what ncdu, or another one, exported.
pub(super) fn import(file: &Path, columns: FieldMask) -> Result<Table, Fatal> {
    let table = match file.as_os_str() == "-" {
        true => ncdu::read(io::stdin().lock(), columns),
        false => File::open(file)
            .map_err(ncdu::Error::Read)
            .and_then(|there| ncdu::read(BufReader::with_capacity(ROOM, there), columns)),
    };
    table.map_err(|error| {
        let error = quote::for_terminal(error.to_string().as_ref());
        Fatal::Usage(format!("cannot import '{}': {error}", file.display()))
    })
}

/// Writes a table as ncdu exports it.
pub(super) fn export(table: &Table, file: &Path) -> Result<(), Fatal> {
    let mut roots = table.roots();
    let (Some(root), None) = (roots.next(), roots.next()) else {
        let reason = "an export holds one tree: give one PATH, one that can be read";
        return Err(Fatal::Usage(reason.to_owned()));
    };
    if file.as_os_str() == "-" {
        let mut out = BufWriter::with_capacity(ROOM, output::Unbuffered::stdout());
        write(table, root, &mut out)?;
        return Ok(out.flush()?);
    }
    let written = File::create(file).and_then(|there| {
        let mut out = BufWriter::with_capacity(ROOM, there);
        write(table, root, &mut out)?;
        out.flush()
    });
    written.map_err(|error| {
        let (file, reason) = (file.display(), transect::reason(&error));
        Fatal::Usage(format!("cannot write '{file}': {reason}"))
    })
}

fn write(table: &Table, root: Row, out: &mut impl Write) -> io::Result<()> {
    let path = table.path(root);
    // Whoever looks at it elsewhere cannot know where it was read.
    let path = path.canonicalize().unwrap_or(path);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    ncdu::write(table, root, &path, since.as_secs(), out)
}
