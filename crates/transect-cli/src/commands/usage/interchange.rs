//! Reads and writes the format of ncdu.

use std::io::{self, BufReader, Write};
use std::path::Path;

use transect::table::{Row, Table};
use transect::{Cancel, FieldMask, ncdu};
use transect_sys::host::now;

use crate::output;
use transect_program::{CliError, ExitStatus};

const BUFFER_SIZE: usize = 64 * 1024;

/// Reads an export of ncdu, gdu or transect.
pub(super) fn import(file: &Path, columns: FieldMask) -> Result<Table, CliError> {
    let opened = output::file::open_input(file).map_err(ncdu::Error::Read);
    let table = opened
        .and_then(|opened| ncdu::read(BufReader::with_capacity(BUFFER_SIZE, opened), columns));
    table.map_err(|error| CliError::Failed(format!("cannot import '{}': {error}", file.display())))
}

/// Writes a table in the format of ncdu. Nothing is written if interrupted: the format has no mark for
/// an incomplete tree.
pub(super) fn export(
    table: &Table,
    file: &Path,
    end: ExitStatus,
    cancel: &Cancel,
) -> Result<ExitStatus, CliError> {
    let mut roots = table.roots();
    let (Some(root), None) = (roots.next(), roots.next()) else {
        let reason = "an export holds one tree: give one PATH, one that can be read";
        return Err(CliError::failed(reason));
    };
    let written =
        output::file::write(file, |out| write(table, root, &mut CancellableWriter { out, cancel }));
    match written {
        Err(_) if cancel.is_cancelled() => {
            output::note("interrupted: nothing was exported");
            Ok(ExitStatus::Interrupted)
        }
        written => written.map(|()| end),
    }
}

fn write(table: &Table, root: Row, out: &mut impl Write) -> io::Result<()> {
    let path = table.path(root);
    // An absolute path, as the export may be read elsewhere.
    let path = path.canonicalize().unwrap_or(path);
    ncdu::write(table, root, &path, now().unsigned_abs() / 1_000_000_000, out)
}

struct CancellableWriter<'a> {
    out: &'a mut dyn Write,
    cancel: &'a Cancel,
}

impl Write for CancellableWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            // Not `ErrorKind::Interrupted`, which `write_all` retries.
            return Err(io::Error::other("interrupted"));
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
