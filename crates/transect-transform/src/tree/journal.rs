//! What was done of a job that may be interrupted, for the next one that goes on with it.
//!
//! ```text
//! # transect journal: eol=lf trim
//! 8c1f…(32 digits)  src/a.c
//! ```
//!
//! One line for each input whose result got to its place: the checksum of what the input was before
//! (identity, size, times), and its path. In place the line is written first: if the file is still
//! what it was, its result did not get there; if not, it did, or somebody else has changed it, and in
//! both cases it is left alone. Elsewhere, where the input stays what it is, the line is written when
//! the result is in its place.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use transect_sys::Attributes;
use transect_sys::file::attributes_at;

use crate::chain::Chain;
use crate::error::{Error, Operation};
use crate::manifest::{self, Line};
use crate::step::Refusal;

const HEAD: &str = "transect journal:";

/// The journal of a job, appended to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    /// What each input was before, as far as an earlier run came.
    before: HashMap<PathBuf, String>,
}

impl Journal {
    /// Opens a journal, or begins one where there is none. A last line that was not finished counts
    /// for nothing: what it was about did not begin.
    ///
    /// # Errors
    /// It is no journal, or one of other steps; or whatever the system says.
    pub fn open(path: &Path, chain: &Chain) -> Result<Self, Error> {
        let mut options = File::options();
        let file = options.read(true).append(true).create(true).open(path);
        let mut file = file.map_err(Error::system(Operation::Create, path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::system(Operation::Read, path))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let failed = || Error::system(Operation::Write, path);
        file.set_len(whole as u64).map_err(failed())?;
        let head = format!("# {HEAD} {chain}\n");
        let mut before = HashMap::new();
        if whole == 0 {
            file.write_all(head.as_bytes()).map_err(failed())?;
        } else {
            let refused = |reason: String| Error::refused(path)(Refusal::whole(reason));
            let text = &bytes[..whole];
            if !text.starts_with(head.as_bytes()) {
                let first = text.split(|&byte| byte == b'\n').next().unwrap_or(text);
                let first = String::from_utf8_lossy(first);
                return Err(refused(format!(
                    "it is no journal of '{chain}': it begins with '{first}'"
                )));
            }
            for line in manifest::lines(text) {
                let Line { digest, name, .. } = line.map_err(|error| refused(error.to_string()))?;
                before.insert(name, digest);
            }
        }
        Ok(Self { path: path.to_owned(), file: Mutex::new(file), before })
    }

    /// Returns whether an earlier run has done an input. `target` is where its result goes, if that
    /// is another place.
    pub(super) fn has(&self, input: &Path, target: Option<&Path>) -> bool {
        let Some(before) = self.before.get(input) else {
            return false;
        };
        // What cannot be asked about is tried once more, and tells why.
        let is_as_before = attributes_at(input).is_ok_and(|now| state(&now) == *before);
        match target {
            Some(target) => is_as_before && target.exists(),
            None => !is_as_before && input.exists(),
        }
    }

    /// Writes down what an input was.
    pub(super) fn note(&self, input: &Path, before: &Attributes) -> Result<(), Error> {
        let line = Line::new(state(before), input).to_bytes();
        // Whole lines only, whatever somebody else panicked at.
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.write_all(&line).map_err(Error::system(Operation::Write, &self.path))
    }

    /// Waits until the device has all lines.
    pub(super) fn sync(&self) -> Result<(), Error> {
        let file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        file.sync_data().map_err(Error::system(Operation::Sync, &self.path))
    }
}

/// Returns the checksum of all that tells one state of a file from another.
fn state(attributes: &Attributes) -> String {
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
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes))
}
