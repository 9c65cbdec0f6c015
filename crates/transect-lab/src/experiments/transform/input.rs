//! The input of a session: the same bytes on every machine, so it need not be stored.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use transect_transform::chain::Chain;
use transect_transform::output::OutputBuffer;
use transect_transform::pass::{PassOptions, PassRunner};
use transect_transform::publish::ReplaceOptions;
use transect_transform::step::{Step, StepError};

use crate::spec::transform::{Digests, Kind};

/// The pattern of the article's tool: 96 bytes, all printable except the last.
pub(super) const PATTERN: std::ops::Range<u8> = 32..128;

/// Bytes generated at once: a multiple of the pattern.
const PIECE: usize = 96 << 13;

impl Digests {
    /// Returns the digests of an input of `size` bytes and of its expected output. They are calculated in
    /// memory with the standard library, independently of the measured code.
    pub fn expected(size: u64, kind: Kind) -> Self {
        let input = digest(pieces(size));
        let output = match kind {
            Kind::Case => digest(pieces(size).map(|piece| piece.to_ascii_uppercase())),
            Kind::Copy | Kind::Blake3 | Kind::Zstd => input.clone(),
        };
        Self { input, output }
    }
}

pub fn create(path: &Path, size: u64) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    pieces(size).try_for_each(|piece| file.write_all(&piece))?;
    // Dirty pages cannot be dropped, and would be written during a measurement.
    file.sync_all()
}

fn pieces(size: u64) -> impl Iterator<Item = Vec<u8>> {
    let whole: Vec<u8> = PATTERN.cycle().take(PIECE).collect();
    let mut left = size;
    std::iter::from_fn(move || {
        let length = left.min(PIECE as u64);
        left -= length;
        (length > 0).then(|| whole[..length as usize].to_vec())
    })
}

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

/// Returns the digest of an output: of its decompressed content if the kind is compression.
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
    fn created_input_has_expected_digest() {
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
    fn digest_of_uncompressed_file_as_zstd_is_error() {
        let temp = TempDir::new();
        std::fs::write(temp.join("plain"), "plain").unwrap();
        assert!(digest_of(&temp.join("plain"), Kind::Zstd).is_err());
        assert!(digest_of(&temp.join("missing"), Kind::Copy).is_err());
    }
}
