//! Encryption.

use super::{CHUNK, Chunks, HEADER, Key, MAGIC, SALT, Sealed, TAG, VERSION};
use crate::output::Out;
use crate::step::{InvalidData, Shape, Step, StepError};
use crate::steps::Made;

/// Encrypts with a key. Two results are never the same, but those of all of them are.
struct Encrypt {
    key: Key,
    chunks: Chunks,
    /// Nothing before the first byte of a file: each has a salt of its own.
    sealed: Option<Sealed>,
}

/// Returns the step that encrypts with the key in a file.
pub(in crate::steps) fn encrypt(parameter: Option<&str>) -> Made {
    Ok(Box::new(Encrypt::new(Key::of(parameter)?)))
}

/// Returns what a file begins with.
fn header() -> Result<[u8; HEADER], InvalidData> {
    let mut header = [VERSION; HEADER];
    header[..MAGIC.len()].copy_from_slice(&MAGIC);
    let random = getrandom::fill(&mut header[HEADER - SALT..]);
    random.map_err(|error| InvalidData::new(format!("there are no random numbers: {error}")))?;
    Ok(header)
}

impl Encrypt {
    fn new(key: Key) -> Self {
        Self { key, chunks: Chunks::new(CHUNK, TAG), sealed: None }
    }

    fn begin(&mut self, out: &mut Out<'_>) -> Result<(), StepError> {
        if self.sealed.is_none() {
            let header = header()?;
            self.sealed = Some(Sealed::new(&self.key, &header));
            out.put(&header)?;
        }
        Ok(())
    }
}

/// Encrypts a chunk where it lies, and puts it.
fn put(
    sealed: Option<&mut Sealed>,
    chunk: &mut Vec<u8>,
    last: bool,
    out: &mut Out<'_>,
) -> Result<(), StepError> {
    let sealed = sealed.expect("BUG: it has begun");
    sealed.seal(chunk, last)?;
    out.put(chunk)
}

impl Step for Encrypt {
    fn shape(&self) -> Shape {
        Shape::Resizing
    }

    fn feed(&mut self, input: &[u8], out: &mut Out<'_>) -> Result<(), StepError> {
        self.begin(out)?;
        let Self { chunks, sealed, .. } = self;
        chunks.feed(input, |chunk| put(sealed.as_mut(), chunk, false, out))
    }

    fn finish(&mut self, out: &mut Out<'_>) -> Result<(), StepError> {
        self.begin(out)?;
        put(self.sealed.as_mut(), self.chunks.last(), true, out)?;
        // A second file that went on with the chunks of the first could not be decrypted by anyone.
        self.reset();
        Ok(())
    }

    fn reset(&mut self) {
        self.chunks.reset();
        self.sealed = None;
    }

    fn warning(&self) -> Option<&str> {
        self.key.warning()
    }

    fn another(&self) -> Option<Box<dyn Step>> {
        Some(Box::new(Self::new(self.key.clone())))
    }
}
