//! Opens input files, and writes output files atomically.

use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use transect::FileType;
use transect_sys::check_output_path;
use transect_sys::file::attributes_at;
use transect_sys::input::{open_sink, open_stream};
use transect_transform::publish::{put_private_with, put_with};

use crate::exit::CliError;
use crate::output::report_lost_metadata;
use crate::stream::{self, Stream};

const BUFFER_SIZE: usize = 64 * 1024;

/// Writes a file, or standard output for `-`. The file has its old content until `write` returns, then
/// all of the new one.
pub fn write(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    if file.as_os_str() == "-" {
        return Ok(write_buffered(stream::stdout(), write)?);
    }
    check_output_path(file).map_err(CliError::cannot("write", file))?;
    // Checked once: a file mistaken for a device would be overwritten in place.
    if attributes_at(file).is_ok_and(|there| there.file_type() != FileType::File) {
        // Devices, pipes and terminals are written to; opening a directory fails. A regular file
        // that appeared meanwhile is not truncated.
        let written = open_sink(file).and_then(|there| write_buffered(Stream::new(there), write));
        return written.map_err(CliError::cannot("write", file));
    }
    let published = put_with(file, write)?;
    report_lost_metadata(&published.path, &published.lost_metadata);
    Ok(())
}

/// Writes a new file of the program's own, which only its owner can read.
pub fn write_private(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), CliError> {
    let published = put_private_with(file, write)?;
    report_lost_metadata(&published.path, &published.lost_metadata);
    Ok(())
}

/// Opens a file to read from, or standard input for `-`.
pub fn open_input(file: &Path) -> io::Result<Box<dyn Read>> {
    match file.as_os_str() == "-" {
        true => Ok(Box::new(io::stdin())),
        false => Ok(Box::new(open_stream(file)?)),
    }
}

/// Creates a directory for output, and those above it.
pub fn create_directory(directory: &Path) -> Result<(), CliError> {
    let created = check_output_path(directory).and_then(|()| std::fs::create_dir_all(directory));
    created.map_err(CliError::cannot("create", directory))
}

fn write_buffered(
    stream: impl Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER_SIZE, stream);
    write(&mut out)?;
    out.flush()
}
