//! Encryption.

use super::{CHUNK, Chunks, FileCipher, HEADER, Key, MAGIC, SALT, TAG, VERSION};
use crate::output::OutputBuffer;
use crate::step::{InvalidData, Shape, Step, StepError};
use crate::steps::info::StepResult;

/// Encrypts with a key. Two results always differ, but they decrypt to the same bytes.
struct Encrypt {
    key: Key,
    chunks: Chunks,
    /// `None` before the first byte of a file: each file has its own salt.
    cipher: Option<FileCipher>,
}

/// Returns the step that encrypts with the key in a file.
pub(in crate::steps) fn encrypt(parameter: Option<&str>) -> StepResult {
    Ok(Box::new(Encrypt::new(Key::from_parameter(parameter)?)))
}

/// Returns the header of a new file.
fn header() -> Result<[u8; HEADER], InvalidData> {
    let mut header = [VERSION; HEADER];
    header[..MAGIC.len()].copy_from_slice(&MAGIC);
    let random = getrandom::fill(&mut header[HEADER - SALT..]);
    random.map_err(|error| InvalidData::new(format!("cannot get random numbers: {error}")))?;
    Ok(header)
}

impl Encrypt {
    fn new(key: Key) -> Self {
        Self { key, chunks: Chunks::new(CHUNK, TAG), cipher: None }
    }

    fn begin(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if self.cipher.is_none() {
            let header = header()?;
            self.cipher = Some(FileCipher::new(&self.key, &header));
            out.put(&header)?;
        }
        Ok(())
    }
}

/// Encrypts a chunk in place, and writes it.
fn put(
    cipher: Option<&mut FileCipher>,
    chunk: &mut Vec<u8>,
    last: bool,
    out: &mut OutputBuffer<'_>,
) -> Result<(), StepError> {
    let cipher = cipher.expect("BUG: it has begun");
    cipher.seal(chunk, last)?;
    out.put(chunk)
}

impl Step for Encrypt {
    fn shape(&self) -> Shape {
        Shape::Resizing
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.begin(out)?;
        let Self { chunks, cipher, .. } = self;
        chunks.feed(input, |chunk| put(cipher.as_mut(), chunk, false, out))
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.begin(out)?;
        put(self.cipher.as_mut(), self.chunks.last(), true, out)?;
        // A second file that continued the chunks of the first could never be decrypted.
        self.reset();
        Ok(())
    }

    fn reset(&mut self) {
        self.chunks.reset();
        self.cipher = None;
    }

    fn warning(&self) -> Option<&str> {
        self.key.warning()
    }

    fn clone_reset(&self) -> Option<Box<dyn Step>> {
        Some(Box::new(Self::new(self.key.clone())))
    }
}
