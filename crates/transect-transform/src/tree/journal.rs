//! The journal of a job, so that an interrupted job can be continued.
//!
//! ```text
//! # transect journal: eol=lf trim
//! 8c1f…(32 digits)  src/a.c
//! ```
//!
//! One line for each input whose result was published: a checksum of the input's state before
//! (identity, size, times), and its path.
//!
//! In place, the line is written before publishing. If the file still has that state, its result
//! was not published. If it does not, the result was published, or someone else changed the file;
//! in both cases the next run skips it. For other outputs, where the input keeps its state, the
//! line is written after publishing.

use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use transect_sys::file::{attributes_at, attributes_of};
use transect_sys::{Attributes, FileType, check_output_path};

use crate::chain::Chain;
use crate::error::{Error, Operation, Reason};
use crate::lines::Lines;
use crate::manifest::{self, Line};
use crate::step::InvalidData;
use crate::system;

/// The beginning of every journal.
const HEAD: &str = "# transect journal:";

/// Number of digits of a checksum.
const DIGITS: usize = 32;

/// The journal of a job, open for appending.
#[derive(Debug)]
pub struct JobJournal {
    path: PathBuf,
    /// The file is locked, so that no other run appends.
    lines: Mutex<JournalFile>,
    /// Checksum of each input that earlier runs have recorded.
    before: HashMap<PathBuf, String>,
}

/// The file of a journal, and the length of its complete lines.
#[derive(Debug)]
struct JournalFile {
    file: File,
    length: u64,
    /// The last line is incomplete: the device was full.
    is_torn: bool,
}

impl JournalFile {
    fn append(&mut self, path: &Path, line: &[u8]) -> io::Result<()> {
        if self.is_torn {
            // Otherwise the next line would continue the incomplete one and make the journal
            // unusable.
            system::truncate(&self.file, path, self.length)?;
        }
        self.is_torn = true;
        self.file.write_all(line)?;
        self.is_torn = false;
        self.length += line.len() as u64;
        Ok(())
    }
}

impl JobJournal {
    /// Opens a journal, or starts one if the file does not exist or is empty. Ignores an incomplete
    /// last line: its input was not replaced.
    ///
    /// Writes nothing to a file that is not a journal of these steps, and truncates only an
    /// incomplete line.
    ///
    /// # Errors
    /// The file is not a journal, or a journal of other steps; another run uses it; or the system
    /// reports an error.
    pub fn open(path: &Path, chain: &Chain) -> Result<Self, Error> {
        let file = open_or_create(path)?;
        lock(&file, path)?;
        let head = format!("{HEAD} {chain}\n");
        let JournalContents { before, whole, length } = JournalContents::read(&file, path, &head)?;
        let failed = || Error::system(Operation::Write, path);
        let length = if whole == 0 {
            // The file is empty, or its first line is incomplete.
            let rest = &head.as_bytes()[length as usize..];
            if let Err(error) = (&file).write_all(rest) {
                // The next run would not recognise a part of the line as a journal.
                let _ = system::truncate(&file, path, length);
                return Err(failed()(error));
            }
            head.len() as u64
        } else {
            if whole < length {
                system::truncate(&file, path, whole).map_err(failed())?;
            }
            whole
        };
        let lines = Mutex::new(JournalFile { file, length, is_torn: false });
        Ok(Self { path: path.to_owned(), lines, before })
    }

    /// Returns whether an earlier run has processed an input. `target` is the path of its result,
    /// unless the job works in place.
    pub(super) fn is_done(&self, input: &Path, target: Option<&Path>) -> bool {
        let Some(before) = self.before.get(input) else {
            return false;
        };
        // If the file cannot be queried, process it again; that reports the error.
        let Ok(now) = attributes_at(input) else {
            return false;
        };
        let is_as_before = state_checksum(&now) == *before;
        target.map_or(!is_as_before, |target| is_as_before && target.exists())
    }

    pub(super) fn record(&self, input: &Path, before: &Attributes) -> Result<(), Error> {
        let line = Line::new(state_checksum(before), input).to_bytes();
        // The file holds complete lines even if another thread panicked.
        let mut lines = self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        lines.append(&self.path, &line).map_err(Error::system(Operation::Write, &self.path))
    }

    pub(super) fn sync(&self) -> Result<(), Error> {
        let lines = self.lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        lines.file.sync_data().map_err(Error::system(Operation::Sync, &self.path))
    }
}

/// Opens a regular file for appending, or creates one.
fn open_or_create(path: &Path) -> Result<File, Error> {
    let failed = || Error::system(Operation::Create, path);
    check_output_path(path).map_err(failed())?;
    let is_there = match attributes_at(path) {
        // Check before opening: opening a device may have side effects, and opening a pipe blocks.
        Ok(there) => {
            regular(path, &there)?;
            true
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(failed()(error)),
    };
    let mut options = File::options();
    options.read(true).append(true).create_new(!is_there);
    let file = options.open(path).map_err(failed())?;
    // It may have been replaced between check and open.
    regular(path, &attributes_of(&file).map_err(failed())?)?;
    Ok(file)
}

fn regular(path: &Path, there: &Attributes) -> Result<(), Error> {
    match there.file_type() {
        FileType::File => Ok(()),
        FileType::Symlink => Err(Error::new(Operation::Create, path, Reason::LinkToNowhere)),
        other => Err(Error::new(Operation::Create, path, Reason::NotAFile(other))),
    }
}

/// Locks a journal until it is closed. Does nothing where the file system has no locks.
fn lock(file: &File, path: &Path) -> Result<(), Error> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(invalid(path, "another run is using it".to_owned())),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn invalid(path: &Path, reason: String) -> Error {
    Error::new(Operation::Read, path, Reason::Invalid(InvalidData::new(reason)))
}

struct JournalContents {
    before: HashMap<PathBuf, String>,
    /// Where the last complete line ends.
    whole: u64,
    length: u64,
}

impl JournalContents {
    /// Reads a journal to its end. `head` is the required first line.
    fn read(file: &File, path: &Path, head: &str) -> Result<Self, Error> {
        let mut contents = Self { before: HashMap::new(), whole: 0, length: 0 };
        let mut lines = Lines::new(BufReader::new(file));
        while let Some(line) = lines.next().map_err(Error::system(Operation::Read, path))? {
            let is_finished = line.text.ends_with(b"\n") && !line.is_too_long;
            contents.length = line.start + line.text.len() as u64;
            if line.number == 1 {
                check_head(line.text, is_finished, path, head)?;
            } else if is_finished {
                let entry = manifest::parse_line(&line);
                let entry = entry.map_err(|error| invalid(path, error.to_string()))?;
                contents.before.extend(entry.map(|Line { name, digest, .. }| (name, digest)));
            } else if line.is_too_long || !may_be_torn_line(line.text) {
                let number = line.number;
                return Err(invalid(path, format!("line {number} is not a journal line")));
            }
            if is_finished {
                contents.whole = contents.length;
            }
        }
        Ok(contents)
    }
}

/// Checks that a file starts as a journal of these steps does.
fn check_head(first: &[u8], is_finished: bool, path: &Path, head: &str) -> Result<(), Error> {
    let is_unfinished_head =
        !is_finished && first.starts_with(HEAD.as_bytes()) && head.as_bytes().starts_with(first);
    if first == head.as_bytes() || is_unfinished_head {
        return Ok(());
    }
    if !first.starts_with(HEAD.as_bytes()) {
        let reason = "it is not a journal of `transform`; name a new file";
        return Err(invalid(path, reason.to_owned()));
    }
    let steps = String::from_utf8_lossy(&first[HEAD.len()..]);
    let (steps, wanted) = (steps.trim().escape_debug(), head[HEAD.len()..].trim());
    Err(invalid(path, format!("it is a journal of '{steps}', not of '{wanted}'")))
}

/// Returns whether text without a newline can be the beginning of a line that
/// [`JobJournal::record`] writes. After a system crash, the rest of it may be zeros.
fn may_be_torn_line(text: &[u8]) -> bool {
    let zeros = text.iter().rev().take_while(|&&byte| byte == 0).count();
    let text = &text[..text.len() - zeros];
    let line = text.strip_prefix(b"\\").unwrap_or(text);
    let (digits, rest) = line.split_at(line.len().min(DIGITS));
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    digits.iter().all(is_digit) && (rest.starts_with(b"  ") || b"  ".starts_with(rest))
}

/// Returns the checksum of the attributes that identify a state of a file.
fn state_checksum(attributes: &Attributes) -> String {
    let mut bytes = Vec::with_capacity(40);
    let id = attributes.file_id();
    for number in [
        id.map_or(0, |id| id.device),
        id.map_or(0, |id| id.inode),
        attributes.size().unwrap_or(0),
        attributes.mtime().unwrap_or(0) as u64,
        attributes.ctime().unwrap_or(0) as u64,
    ] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    format!("{:0DIGITS$x}", xxhash_rust::xxh3::xxh3_128(&bytes))
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use super::*;

    const HEAD_OF_TRIM: &str = "# transect journal: trim\n";

    const IN_USE: &str = "another run is using it";

    fn open_once(path: &Path) -> Result<JobJournal, String> {
        let chain = Chain::parse(&["trim"]).unwrap();
        JobJournal::open(path, &chain).map_err(|error| error.to_string())
    }

    /// Retries while the journal is locked: a test on another thread may be starting a process,
    /// which inherits all open files with their locks until it executes its program.
    fn open(path: &Path) -> Result<JobJournal, String> {
        loop {
            match open_once(path) {
                Err(error) if error.ends_with(IN_USE) => std::thread::yield_now(),
                opened => return opened,
            }
        }
    }

    /// Regression: files without a newline were emptied.
    #[test]
    fn journal_foreign_file_rejected_and_unchanged() {
        let temp = TempDir::new();
        let path = temp.join("file");
        let foreign = "it is not a journal of `transform`; name a new file";
        let line = "0123456789abcdef0123456789abcdef  a\n";
        for (content, reason) in [
            ("precious", foreign),
            ("precious\nprecious", foreign),
            ("#", foreign),
            ("\n", foreign),
            ("# transect journal: trim", ""),
            ("# transect journal: trimmed", "it is a journal of 'trimmed', not of 'trim'"),
            ("# transect journal: \u{1b}[31m\n", "it is a journal of '\\u{1b}[31m', not of 'trim'"),
            (&format!("{HEAD_OF_TRIM}precious"), "line 2 is not a journal line"),
            (&format!("{HEAD_OF_TRIM}{line}0123 precious"), "line 3 is not a journal line"),
            (&format!("{HEAD_OF_TRIM}precious\n{line}"), "line 2: neither"),
        ] {
            std::fs::write(&path, content).unwrap();
            let opened = open(&path);
            let now = std::fs::read_to_string(&path).unwrap();
            if reason.is_empty() {
                opened.unwrap();
                assert_eq!(now, HEAD_OF_TRIM);
                continue;
            }
            let error = opened.unwrap_err();
            assert!(error.contains(reason), "{content:?}: {error}");
            assert_eq!(now, content);
        }
    }

    #[test]
    fn journal_incomplete_last_line_cut_off() {
        let temp = TempDir::new();
        let path = temp.join("file");
        let line = "\\0123456789abcdef0123456789abcdef  a\\nb\n";
        for end in 0..line.len() {
            std::fs::write(&path, [HEAD_OF_TRIM, line, &line[..end]].concat()).unwrap();
            let journal = open(&path).unwrap();
            assert_eq!(journal.before.len(), 1, "cut at {end}");
            drop(journal);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), [HEAD_OF_TRIM, line].concat());
        }
        std::fs::write(&path, [HEAD_OF_TRIM, line, "012\0\0"].concat()).unwrap();
        open(&path).unwrap();
    }

    #[test]
    fn journal_in_use_rejected() {
        let temp = TempDir::new();
        let path = temp.join("file");
        let journal = open(&path).unwrap();
        assert!(open_once(&path).unwrap_err().ends_with(IN_USE));
        drop(journal);
        open(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn journal_pipe_or_dangling_link_rejected() {
        let temp = TempDir::new();
        let (pipe, link) = (temp.join("pipe"), temp.join("link"));
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert!(open(&pipe).unwrap_err().ends_with("it is a named pipe"));
        assert!(open(&link).unwrap_err().ends_with("it is a dangling link"));
        assert!(!temp.join("nowhere").exists());
    }

    #[test]
    fn journal_torn_line_cut_off_before_next() {
        let temp = TempDir::new();
        let path = temp.join("journal");
        let file = File::options().append(true).create(true).open(&path).unwrap();
        let mut lines = JournalFile { file, length: 0, is_torn: false };
        lines.append(&path, b"one\n").unwrap();
        // The device was full in the middle of the second line.
        lines.file.write_all(b"tw").unwrap();
        lines.is_torn = true;
        lines.append(&path, b"three\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\nthree\n");
    }
}
