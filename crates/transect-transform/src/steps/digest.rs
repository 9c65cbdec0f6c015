//! Digests and checksums.

use sha2::Digest as _;
use xxhash_rust::xxh3::Xxh3;

use crate::manifest::Algorithm;
use crate::output::OutputBuffer;
use crate::step::{Cost, Finding, Shape, Step, StepError};
use crate::system;

/// Computes the digest of its input.
struct Digest {
    algorithm: Algorithm,
    state: State,
}

/// What was computed of the bytes so far.
#[expect(clippy::large_enum_variant, reason = "each step is in a box of its own")]
enum State {
    /// Also the digest of a whole file that other threads have read.
    Blake3(blake3::Hasher, Option<[u8; blake3::OUT_LEN]>),
    Sha256(sha2::Sha256),
    Xxh3(Xxh3),
    Crc32c(u32),
}

pub(super) fn digest(algorithm: Algorithm) -> impl Step {
    Digest { algorithm, state: State::begin(algorithm) }
}

impl State {
    fn begin(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Blake3 => Self::Blake3(blake3::Hasher::new(), None),
            Algorithm::Sha256 => Self::Sha256(sha2::Sha256::new()),
            Algorithm::Xxh3 => Self::Xxh3(Xxh3::new()),
            Algorithm::Crc32c => Self::Crc32c(0),
        }
    }

    /// Returns the digest in lower-case hexadecimal, most significant digit first.
    fn hex(&self) -> String {
        match self {
            Self::Blake3(hasher, whole) => {
                let digest = whole.map_or_else(|| hasher.finalize(), blake3::Hash::from_bytes);
                digest.to_hex().to_string()
            }
            Self::Sha256(hasher) => format!("{:x}", hasher.clone().finalize()),
            Self::Xxh3(hasher) => format!("{:032x}", hasher.digest128()),
            Self::Crc32c(crc) => format!("{crc:08x}"),
        }
    }
}

impl Step for Digest {
    fn shape(&self) -> Shape {
        Shape::Reduce
    }

    fn cost(&self) -> Cost {
        match self.algorithm {
            Algorithm::Sha256 if !system::has_sha256() => Cost::Heavy,
            _ => Cost::Light,
        }
    }

    fn feed(&mut self, input: &[u8], _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        match &mut self.state {
            State::Blake3(hasher, _) => {
                hasher.update(input);
            }
            State::Sha256(hasher) => hasher.update(input),
            State::Xxh3(hasher) => hasher.update(input),
            State::Crc32c(crc) => *crc = crc32c::crc32c_append(*crc, input),
        }
        Ok(())
    }

    fn blake3_slot(&mut self) -> Option<&mut Option<[u8; 32]>> {
        match &mut self.state {
            State::Blake3(_, whole) => Some(whole),
            _ => None,
        }
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new(self.algorithm.as_str(), self.state.hex())]
    }

    fn reset(&mut self) {
        self.state = State::begin(self.algorithm);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, any_bytes, cuts};

    fn digest(word: &str, input: &[u8], sizes: &[usize]) -> String {
        let outcome = StepTester::parse(word).run(input, sizes).unwrap();
        assert_eq!(outcome.result, b"", "a digest makes nothing");
        assert_eq!(outcome.findings[0].algorithm().unwrap().as_str(), word);
        outcome.finding(word)
    }

    /// FIPS 180-4 and its examples; the first vectors of BLAKE3; RFC 3720, B.4; the checks of XXH3.
    #[test]
    fn digest_equals_published_vectors() {
        let counting: Vec<u8> = (0..251).cycle().take(1024).collect();
        for (word, input, expected) in [
            (
                "sha256",
                &b""[..],
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            ("sha256", b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "sha256",
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            ("blake3", b"", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"),
            (
                "blake3",
                &counting,
                "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
            ),
            ("crc32c", b"", "00000000"),
            ("crc32c", b"123456789", "e3069283"),
            ("crc32c", &[0; 32], "8a9136aa"),
            ("crc32c", &[0xff; 32], "62a8ab43"),
            ("xxh3", b"", "99aa06d3014798d86001c324468d497f"),
        ] {
            assert_eq!(digest(word, input, &[1]), expected, "{word}");
            assert_eq!(digest(word, input, &[7, 0, 64]), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn digest_independent_of_blocks(input in any_bytes(), sizes in cuts()) {
            let expected = [
                ("blake3", blake3::hash(&input).to_hex().to_string()),
                ("sha256", format!("{:x}", sha2::Sha256::digest(&input))),
                ("xxh3", format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&input))),
                ("crc32c", format!("{:08x}", crc32c::crc32c(&input))),
            ];
            for (word, expected) in expected {
                prop_assert_eq!(digest(word, &input, &sizes), expected);
            }
        }
    }
}
