//! Reads the paths to query in batches: a list may be larger than memory.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::slice;

use transect::Cancel;
use transect_service::protocol::PathList;
use transect_sys::input::open_stream;

use crate::args::AttributesArgs;
use transect_program::CliError;
use transect_program::interrupt::InterruptibleStdin;

/// The most paths of a batch: enough for all threads, and to query most directories only once.
const BATCH_PATHS: usize = 64 << 10;

const BATCH_BYTES: usize = 16 << 20;

/// The longest line accepted as a path, in bytes.
const LONGEST_PATH: usize = 1 << 20;

const BUFFER_SIZE: usize = 256 << 10;

/// The paths of the command line, then those of a file.
pub(super) struct Input<'a> {
    paths: slice::Iter<'a, PathBuf>,
    file: Option<Box<dyn BufRead + 'a>>,
    name: &'a Path,
    terminator: u8,
    cancel: &'a Cancel,
}

/// The reason why no path was added.
enum NoPath {
    End,
    TooLong,
    Read(io::Error),
}

impl<'a> Input<'a> {
    pub(super) fn new(args: &'a AttributesArgs, cancel: &'a Cancel) -> Result<Self, CliError> {
        let name = args.from.as_deref().unwrap_or(Path::new(""));
        let file: Option<Box<dyn BufRead>> = match &args.from {
            None => None,
            Some(from) if from.as_os_str() == "-" => Some(Box::new(BufReader::with_capacity(
                BUFFER_SIZE,
                InterruptibleStdin::new(cancel),
            ))),
            Some(from) => {
                let file = open_stream(from).map_err(CliError::cannot("read", from))?;
                Some(Box::new(BufReader::with_capacity(BUFFER_SIZE, file)))
            }
        };
        let terminator = if args.null { b'\0' } else { b'\n' };
        Ok(Self { paths: args.paths.iter(), file, name, terminator, cancel })
    }

    /// Fills `list` with the next paths, and returns whether there are any.
    pub(super) fn next(&mut self, list: &mut PathList) -> Result<bool, CliError> {
        list.clear();
        let mut bytes = 0;
        while list.len() < BATCH_PATHS && bytes < BATCH_BYTES && !self.cancel.is_cancelled() {
            let added = list.push_with(|path| {
                let start = path.len();
                self.next_path(path)?;
                bytes += path.len() - start;
                Ok(())
            });
            match added {
                Ok(()) => {}
                Err(NoPath::End) => break,
                Err(NoPath::TooLong) => {
                    let name = self.name.display();
                    return Err(CliError::Failed(format!(
                        "'{name}' is not a list of paths: it has a line of more than 1 MiB"
                    )));
                }
                Err(NoPath::Read(error)) => return Err(CliError::cannot("read", self.name)(error)),
            }
        }
        Ok(!list.is_empty() && !self.cancel.is_cancelled())
    }

    fn next_path(&mut self, path: &mut Vec<u8>) -> Result<(), NoPath> {
        if let Some(next) = self.paths.next() {
            path.extend_from_slice(next.as_os_str().as_encoded_bytes());
            return Ok(());
        }
        let file = self.file.as_mut().ok_or(NoPath::End)?;
        let start = path.len();
        loop {
            let block = match file.fill_buf() {
                Ok(block) => block,
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    return Err(NoPath::Read(error));
                }
                Err(_) if self.cancel.is_cancelled() => return Err(NoPath::End),
                Err(_) => continue,
            };
            if block.is_empty() {
                // The last line may lack its terminator.
                return if path.len() > start { Ok(()) } else { Err(NoPath::End) };
            }
            let end = memchr::memchr(self.terminator, block);
            let taken = end.unwrap_or(block.len());
            path.extend_from_slice(&block[..taken]);
            file.consume(taken + usize::from(end.is_some()));
            if path.len() - start > LONGEST_PATH {
                return Err(NoPath::TooLong);
            }
            if end.is_some() {
                if cfg!(windows) && self.terminator == b'\n' && path[start..].ends_with(b"\r") {
                    path.pop();
                }
                return Ok(());
            }
        }
    }
}
