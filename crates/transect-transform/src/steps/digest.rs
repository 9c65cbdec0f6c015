//! Digests and checksums.

use sha2::Digest as _;

use crate::output::OutputBuffer;
use crate::step::{Cost, Finding, Shape, Step, StepError};
use crate::system;

/// A digest algorithm.
trait Hash: Send {
    /// The name of the step.
    const NAME: &'static str;

    /// Returns its cost.
    fn cost() -> Cost {
        Cost::Light
    }

    /// Returns the initial state.
    fn begin() -> Self;

    /// Adds bytes.
    fn take(&mut self, input: &[u8]);

    /// Returns the digest of all bytes so far, in lower-case hexadecimal, most significant first.
    fn hex(&self) -> String;

    /// The same as [`Step::blake3_slot`].
    fn blake3_slot(&mut self) -> Option<&mut Option<[u8; 32]>> {
        None
    }
}

/// Computes the digest of its input.
struct Digest<H>(H);

impl<H: Hash> Step for Digest<H> {
    fn shape(&self) -> Shape {
        Shape::Reduce
    }

    fn cost(&self) -> Cost {
        H::cost()
    }

    fn feed(&mut self, input: &[u8], _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.0.take(input);
        Ok(())
    }

    fn finish(&mut self, _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        Ok(())
    }

    fn blake3_slot(&mut self) -> Option<&mut Option<[u8; 32]>> {
        self.0.blake3_slot()
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new(H::NAME, self.0.hex())]
    }

    fn reset(&mut self) {
        self.0 = H::begin();
    }
}

/// Returns the step that computes the BLAKE3 digest.
pub(super) fn blake3() -> impl Step {
    Digest(Blake3::begin())
}

/// Returns the step that computes the SHA-256 digest.
pub(super) fn sha256() -> impl Step {
    Digest(sha2::Sha256::begin())
}

/// Returns the step that computes the 128-bit XXH3 checksum.
pub(super) fn xxh3() -> impl Step {
    Digest(xxhash_rust::xxh3::Xxh3::begin())
}

/// Returns the step that computes the CRC-32C checksum.
pub(super) fn crc32c() -> impl Step {
    Digest(Crc32c::begin())
}

/// The BLAKE3 digest of the bytes so far, or of a whole file that other threads have read.
#[derive(Default)]
struct Blake3 {
    hasher: blake3::Hasher,
    whole: Option<[u8; blake3::OUT_LEN]>,
}

impl Hash for Blake3 {
    const NAME: &'static str = "blake3";

    fn begin() -> Self {
        Self::default()
    }

    fn take(&mut self, input: &[u8]) {
        self.hasher.update(input);
    }

    fn hex(&self) -> String {
        let whole = self.whole.map_or_else(|| self.hasher.finalize(), blake3::Hash::from_bytes);
        whole.to_hex().to_string()
    }

    fn blake3_slot(&mut self) -> Option<&mut Option<[u8; 32]>> {
        Some(&mut self.whole)
    }
}

impl Hash for sha2::Sha256 {
    const NAME: &'static str = "sha256";

    fn cost() -> Cost {
        if system::has_sha256() { Cost::Light } else { Cost::Heavy }
    }

    fn begin() -> Self {
        Self::new()
    }

    fn take(&mut self, input: &[u8]) {
        self.update(input);
    }

    fn hex(&self) -> String {
        format!("{:x}", self.clone().finalize())
    }
}

impl Hash for xxhash_rust::xxh3::Xxh3 {
    const NAME: &'static str = "xxh3";

    fn begin() -> Self {
        Self::new()
    }

    fn take(&mut self, input: &[u8]) {
        self.update(input);
    }

    fn hex(&self) -> String {
        format!("{:032x}", self.digest128())
    }
}

/// The CRC-32C of the bytes so far.
struct Crc32c(u32);

impl Hash for Crc32c {
    const NAME: &'static str = "crc32c";

    fn begin() -> Self {
        Self(0)
    }

    fn take(&mut self, input: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, input);
    }

    fn hex(&self) -> String {
        format!("{:08x}", self.0)
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
