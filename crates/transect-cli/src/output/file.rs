//! Files that somebody asks for, which are whole or not there.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use transect::FileType;
use transect_sys::file::attributes_at;
use transect_transform::publish::put_with;

use super::stream::{self, Stream};
use crate::exit::CliError;

/// Bytes that are gathered before they go to a stream.
const BUFFER_SIZE: usize = 64 * 1024;

/// Writes a file where somebody wants it; `-` is stdout. Whoever opens it finds all that `write`
/// wrote, or what was there before.
pub(crate) fn write(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    if file.as_os_str() == "-" {
        return Ok(write_buffered(stream::stdout(), write)?);
    }
    // Asked once: a file that was taken for a device would be overwritten in place.
    if attributes_at(file).is_ok_and(|there| there.file_type() != FileType::File) {
        // A device or a pipe stays what it is, a terminal also, and a directory says that it is one.
        // If a regular file has come there meanwhile, it is not emptied.
        let there = File::options().write(true).open(file);
        let written = there.and_then(|there| write_buffered(Stream::new(there), write));
        return written.map_err(|error| {
            let (file, reason) = (file.display(), transect::reason(&error));
            CliError::File(format!("cannot write '{file}': {reason}"))
        });
    }
    let published = put_with(file, write)?;
    super::report_lost_metadata(&published.path, &published.lost_metadata);
    Ok(())
}

fn write_buffered(
    stream: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER_SIZE, stream);
    write(&mut out)?;
    out.flush()
}
