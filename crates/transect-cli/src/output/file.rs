//! Files that somebody asks for, which are whole or not there.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use transect::FileType;
use transect_sys::file::attributes_at;
use transect_transform::publish::put_with;

use super::stream::{self, Stream};
use crate::exit::Fatal;

/// Bytes that are gathered before they go to a stream.
const ROOM: usize = 64 * 1024;

/// Writes a file where somebody wants it; `-` is stdout. Whoever opens it finds all that `write`
/// wrote, or what was there before.
pub(crate) fn write(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Fatal> {
    if file.as_os_str() == "-" {
        return Ok(gathered(stream::stdout(), write)?);
    }
    // Asked once: a file that was taken for a device would be overwritten in place.
    if attributes_at(file).is_ok_and(|there| there.file_type() != FileType::File) {
        // A device or a pipe stays what it is, a terminal also, and a directory says that it is one.
        // If a regular file has come there meanwhile, it is not emptied.
        let there = File::options().write(true).open(file);
        let written = there.and_then(|there| gathered(Stream::of(there), write));
        return written.map_err(|error| {
            let (file, reason) = (file.display(), transect::reason(&error));
            Fatal::File(format!("cannot write '{file}': {reason}"))
        });
    }
    let published = put_with(file, write)?;
    super::complain_of_lost(&published.path, &published.lost_metadata);
    Ok(())
}

fn gathered(
    stream: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(ROOM, stream);
    write(&mut out)?;
    out.flush()
}
