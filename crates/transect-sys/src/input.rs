//! Opens files that others may have placed, without waiting for them.
//!
//! Opening a named pipe waits for its other end, reading a device may never end, and a path in a directory that others
//! write to may lead to either. These functions open with `O_NONBLOCK` and examine the open file, so that nothing can
//! be exchanged in between.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
#[cfg(unix)]
use std::time::{Duration, Instant};

/// How long an output waits for the reader of its pipe.
#[cfg(unix)]
const READER_WAIT: Duration = Duration::from_millis(500);

/// Opens a regular file for reading. Follows links.
///
/// # Errors
/// The system's error, or the path leads to something else: a directory, a pipe, a socket, a device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_if(path, File::options().read(true), |_, there| there.is_file())
}

/// Opens a regular file with these options, of which `custom_flags` are replaced.
///
/// # Errors
/// As [`open_regular`].
pub fn open_regular_with(path: &Path, options: &OpenOptions) -> io::Result<File> {
    open_if(path, options, |_, there| there.is_file())
}

/// Reads a regular file.
///
/// # Errors
/// As [`open_regular`], or it cannot be read.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes).map(|_| bytes)
}

/// Reads a regular file of text.
///
/// # Errors
/// As [`read_regular`], or the content is not UTF-8.
pub fn read_regular_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text).map(|_| text)
}

/// Opens a regular file or a disk for reading.
///
/// # Errors
/// As [`open_regular`].
pub fn open_disk(path: &Path) -> io::Result<File> {
    open_if(path, File::options().read(true), |_, there| there.is_file() || is_disk(there))
}

/// Opens what a caller named as a stream, for reading: a regular file, what the caller's shell has opened
/// (`/dev/stdin`, and `/dev/fd/63` for `<(…)`), a terminal, or the null device. A pipe with a name is refused: it has
/// no other end until another process opens it.
///
/// # Errors
/// As [`open_regular`].
pub fn open_stream(path: &Path) -> io::Result<File> {
    open_if(path, File::options().read(true), |file, there| {
        there.is_file() || is_stream(file, there)
    })
}

/// Opens what exists at a path and is not a regular file, for writing. A named pipe has half a second to get a reader.
///
/// # Errors
/// The system's error, or no process reads the pipe.
pub fn open_sink(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true);
    #[cfg(not(unix))]
    return options.open(path);
    #[cfg(unix)]
    {
        let begun = Instant::now();
        loop {
            match open_if(path, &options, |_, there| !is_socket(there)) {
                Err(error)
                    if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {}
                opened => return opened,
            }
            if begun.elapsed() > READER_WAIT {
                return Err(io::Error::new(io::ErrorKind::NotConnected, "no process reads it"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[cfg(not(unix))]
fn open_if(
    path: &Path,
    options: &OpenOptions,
    is_wanted: impl Fn(Option<&File>, &Metadata) -> bool,
) -> io::Result<File> {
    let file = options.open(path)?;
    match is_wanted(Some(&file), &file.metadata()?) {
        true => Ok(file),
        false => Err(not_a_file("something else")),
    }
}

#[cfg(unix)]
fn open_if(
    path: &Path,
    options: &OpenOptions,
    is_wanted: impl Fn(Option<&File>, &Metadata) -> bool,
) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;

    let check = |file: Option<&File>, there: &Metadata| match is_wanted(file, there) {
        true => Ok(()),
        false => Err(refusal(there)),
    };
    // Looked at before, as opening a device may have effects; what is missing fails below.
    if let Ok(there) = path.metadata() {
        check(None, &there)?;
    }
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = options.clone().custom_flags(flags.bits().cast_signed()).open(path)?;
    let there = file.metadata()?;
    check(Some(&file), &there)?;
    if !there.is_file() {
        // Reads wait again. The flag belongs to this opening alone.
        let flags = rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK;
        rustix::fs::fcntl_setfl(&file, flags)?;
    }
    Ok(file)
}

#[cfg(unix)]
fn is_socket(there: &Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_socket(&there.file_type())
}

/// Returns the error for a file of the wrong type.
#[cfg(unix)]
fn refusal(there: &Metadata) -> io::Error {
    use std::os::unix::fs::FileTypeExt;
    let file_type = there.file_type();
    match () {
        () if file_type.is_dir() => rustix::io::Errno::ISDIR.into(),
        () if file_type.is_fifo() => not_a_file("a named pipe"),
        () if file_type.is_socket() => not_a_file("a socket"),
        () => not_a_file("a device"),
    }
}

fn not_a_file(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a file"))
}

/// Returns whether a file is a device with blocks.
pub fn is_disk(there: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::FileTypeExt::is_block_device(&there.file_type());
    #[cfg(not(unix))]
    {
        let _ = there;
        false
    }
}

/// Returns whether a file is a pipe without a name, a terminal or the null device; without a handle, whether it may be.
#[cfg(unix)]
fn is_stream(file: Option<&File>, there: &Metadata) -> bool {
    use std::io::IsTerminal;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    if there.file_type().is_char_device() {
        let null = Path::new("/dev/null").metadata();
        return null.is_ok_and(|null| null.rdev() == there.rdev())
            || file.is_none_or(IsTerminal::is_terminal);
    }
    there.file_type().is_fifo() && file.is_none_or(has_no_name)
}

#[cfg(not(unix))]
fn is_stream(_: Option<&File>, _: &Metadata) -> bool {
    // Devices of Windows have no types.
    true
}

/// Returns whether a pipe has no name: `PIPEFS_MAGIC` in `linux/magic.h`.
#[cfg(target_os = "linux")]
fn has_no_name(pipe: &File) -> bool {
    const PIPEFS_MAGIC: i64 = 0x5049_5045;
    #[expect(clippy::allow_attributes, reason = "its type differs between processors")]
    #[allow(clippy::unnecessary_cast)]
    rustix::fs::fstatfs(pipe).is_ok_and(|found| found.f_type as i64 == PIPEFS_MAGIC)
}

/// Returns whether a pipe has no name, which only Linux reports.
#[cfg(all(unix, not(target_os = "linux")))]
fn has_no_name(_: &File) -> bool {
    true
}
