//! The input of a session: the same bytes everywhere, so that it need not be kept.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use transect_transform::chain::Chain;
use transect_transform::output::OutputBuffer;
use transect_transform::pass::{PassOptions, PassRunner};
use transect_transform::publish::ReplaceOptions;
use transect_transform::step::{Step, StepError};

use super::spec::{Digests, Kind};

/// The pattern of the article's tool: 96 bytes, all printable except the last.
pub(super) const PATTERN: std::ops::Range<u8> = 32..128;

/// How much is made at once.
const PIECE: usize = 96 << 13;

impl Digests {
    /// Returns the digests of an input of so many bytes and of what a step has to make of it. They are
    /// made of bytes that were never in a file, and changed by the standard library: not by what is
    /// measured.
    pub fn expected(size: u64, kind: Kind) -> Self {
        let input = digest(pieces(size));
        let output = match kind {
            Kind::Case => digest(pieces(size).map(|piece| piece.to_ascii_uppercase())),
            Kind::Copy | Kind::Blake3 | Kind::Zstd => input.clone(),
        };
        Self { input, output }
    }
}

/// Writes an input, to the device.
///
/// # Errors
/// Whatever the system says.
pub fn create(path: &Path, size: u64) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    pieces(size).try_for_each(|piece| file.write_all(&piece))?;
    // What is dirty cannot be dropped, and would be written while something else is measured.
    file.sync_all()
}

/// Returns the content of an input, piece by piece.
fn pieces(size: u64) -> impl Iterator<Item = Vec<u8>> {
    let whole: Vec<u8> = PATTERN.cycle().take(PIECE).collect();
    let mut left = size;
    std::iter::from_fn(move || {
        let length = left.min(PIECE as u64);
        left -= length;
        (length > 0).then(|| whole[..length as usize].to_vec())
    })
}

/// Returns the digest of pieces, one after the other.
pub(super) fn digest(pieces: impl Iterator<Item = Vec<u8>>) -> String {
    let mut chain = blake3(&[]);
    let mut nothing = |_: &[u8]| Ok::<(), StepError>(());
    let mut gathered = Vec::new();
    let mut out = OutputBuffer::new(&mut gathered, &mut nothing);
    for piece in pieces {
        chain.feed(&piece, &mut out).expect("BUG: a digest takes everything");
    }
    chain.finish(&mut out).expect("BUG: a digest takes everything");
    found(chain.findings())
}

/// Returns the digest of what a file holds after a step of this kind has made it.
///
/// # Errors
/// It cannot be read, or is no compressed file where it should be one.
pub(super) fn digest_of(path: &Path, kind: Kind) -> Result<String, String> {
    let mut chain = blake3(if kind == Kind::Zstd { &["unzstd"] } else { &[] });
    let mut passes = PassRunner::new(PassOptions::default());
    let report = transect_transform::transform(
        path,
        None,
        Some(&mut chain),
        &mut passes,
        ReplaceOptions::default(),
    );
    report.map(|report| found(report.pass.findings)).map_err(|error| error.to_string())
}

fn blake3(before: &[&str]) -> Chain {
    let words: Vec<&str> = before.iter().copied().chain(["blake3"]).collect();
    Chain::parse(&words).expect("BUG: the library has these steps")
}

fn found(findings: Vec<transect_transform::step::Finding>) -> String {
    let digest = findings.into_iter().find(|finding| finding.name == "blake3");
    digest.expect("BUG: a digest is found at the end").value
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    fn an_input_holds_what_was_expected_of_it() {
        let temp = TempDir::new();
        for size in [0, 1, 95, 96, PIECE as u64, PIECE as u64 * 2 + 7] {
            let path = temp.join(size.to_string());
            create(&path, size).unwrap();
            let content = std::fs::read(&path).unwrap();
            assert_eq!(content.len() as u64, size);
            assert!(content.iter().enumerate().all(|(at, &b)| b == 32 + (at % 96) as u8));
            let digests = Digests::expected(size, Kind::Case);
            assert_eq!(digest_of(&path, Kind::Copy).unwrap(), digests.input);
            std::fs::write(&path, content.to_ascii_uppercase()).unwrap();
            assert_eq!(digest_of(&path, Kind::Case).unwrap(), digests.output);
        }
    }

    #[test]
    fn what_is_not_compressed_is_no_compressed_output() {
        let temp = TempDir::new();
        std::fs::write(temp.join("plain"), "plain").unwrap();
        assert!(digest_of(&temp.join("plain"), Kind::Zstd).is_err());
        assert!(digest_of(&temp.join("missing"), Kind::Copy).is_err());
    }
}
