//! Decryption.

use super::{CHUNK, Chunks, FileCipher, HEADER, Key, MAGIC, TAG, VERSION};
use crate::output::OutputBuffer;
use crate::step::{InvalidData, Shape, Step, StepError};
use crate::steps::info::StepResult;

/// Decrypts with a key. Writes nothing of a chunk that is not authentic.
struct Decrypt {
    key: Key,
    /// The header so far.
    header: Vec<u8>,
    chunks: Chunks,
    /// `None` until the header is complete.
    cipher: Option<FileCipher>,
}

/// Returns the step that decrypts with the key in a file.
pub(in crate::steps) fn decrypt(parameter: Option<&str>) -> StepResult {
    Ok(Box::new(Decrypt::new(Key::from_parameter(parameter)?)))
}

impl Decrypt {
    fn new(key: Key) -> Self {
        let header = Vec::with_capacity(HEADER);
        Self { key, header, chunks: Chunks::new(CHUNK + TAG, 0), cipher: None }
    }

    /// Reads the header, and returns the part of `input` after it.
    fn after_header<'a>(&mut self, input: &'a [u8]) -> Result<&'a [u8], InvalidData> {
        let missing = HEADER - self.header.len();
        let (first, rest) = input.split_at(input.len().min(missing));
        self.header.extend_from_slice(first);
        if self.cipher.is_none()
            && let Ok(header) = <&[u8; HEADER]>::try_from(&self.header[..])
        {
            verify(header)?;
            self.cipher = Some(FileCipher::new(&self.key, header));
        }
        Ok(rest)
    }
}

/// Checks that the header, as far as it is there, has the right format.
fn verify(header: &[u8]) -> Result<(), InvalidData> {
    let magic = &header[..header.len().min(MAGIC.len())];
    if !MAGIC.starts_with(magic) {
        return Err(InvalidData::new("it was not encrypted by 'encrypt'"));
    }
    match header.get(MAGIC.len()) {
        Some(&version) if version != VERSION => {
            let reason = format!("it was encrypted by version {version}, and known is {VERSION},");
            Err(InvalidData::at(MAGIC.len() as u64, reason))
        }
        _ => Ok(()),
    }
}

impl Step for Decrypt {
    fn shape(&self) -> Shape {
        Shape::Resizing
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let rest = self.after_header(input)?;
        let Self { chunks, cipher, .. } = self;
        chunks.feed(rest, |chunk| {
            cipher.as_mut().expect("BUG: something follows the header").open(chunk, false)?;
            out.put(chunk)
        })
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let Some(cipher) = &mut self.cipher else {
            verify(&self.header)?;
            return Err(InvalidData::new("its end is missing").into());
        };
        let chunk = self.chunks.last();
        if chunk.is_empty() {
            return Err(InvalidData::new("its end is missing").into());
        }
        cipher.open(chunk, true)?;
        out.put(chunk)
    }

    fn reset(&mut self) {
        self.header.clear();
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use chacha20poly1305::aead::{Aead, KeyInit};
    use chacha20poly1305::{ChaCha20Poly1305, Nonce};
    use proptest::prelude::*;
    use transect_testkit::TempDir;

    use super::*;
    use crate::chain::Chain;
    use crate::steps::encryption::{CONTEXT, SALT};
    use crate::test_support::{StepTester, any_bytes, cuts};

    const KEY: [u8; 32] = [0x4b; 32];

    /// A directory with a key file, and its words.
    struct Keyed {
        _directory: TempDir,
        encrypt: String,
        decrypt: String,
    }

    fn keyed(key: [u8; 32]) -> Keyed {
        let directory = TempDir::new();
        let file = directory.join("key");
        let digits: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        std::fs::write(&file, digits).unwrap();
        let word = |step: &str| format!("{step}={}", file.display());
        Keyed { encrypt: word("encrypt"), decrypt: word("decrypt"), _directory: directory }
    }

    /// Encrypts once, in pieces: two results would differ.
    fn encrypted(keyed: &Keyed, input: &[u8], sizes: &[usize]) -> Vec<u8> {
        StepTester::parse(&keyed.encrypt).feed(input, sizes).unwrap().result
    }

    fn error_of(keyed: &Keyed, encrypted: &[u8]) -> String {
        let mut error = StepTester::parse(&keyed.decrypt).run(encrypted, &[1000]).unwrap_err();
        error.step.clear();
        error.to_string()
    }

    /// Encrypts according to the format, independently: computes the nonce of every chunk instead
    /// of using STREAM.
    fn by_hand(key: &[u8; 32], salt: &[u8; SALT], chunks: &[&[u8]]) -> Vec<u8> {
        let mut all = [&MAGIC[..], &[VERSION], salt].concat();
        let file_key = blake3::derive_key(CONTEXT, &[&key[..], &all].concat());
        let cipher = ChaCha20Poly1305::new(&file_key.into());
        for (at, &chunk) in chunks.iter().enumerate() {
            let mut nonce = [0; 12];
            nonce[7..11].copy_from_slice(&u32::try_from(at).unwrap().to_be_bytes());
            nonce[11] = u8::from(at + 1 == chunks.len());
            all.extend(cipher.encrypt(&Nonce::from(nonce), chunk).unwrap());
        }
        all
    }

    fn text(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn encrypted_file_equals_documented_format() {
        let keyed = keyed(KEY);
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 7] {
            let input = text(length);
            let chunks: Vec<_> = match length {
                0 => vec![&b""[..]],
                _ => input.chunks(CHUNK).collect(),
            };
            let theirs = by_hand(&KEY, &[7; SALT], &chunks);
            let decrypted = StepTester::parse(&keyed.decrypt).result(&theirs, &[10_007]);
            assert!(decrypted == input, "{length}");
            let ours = encrypted(&keyed, &input, &[30_011]);
            let salt = ours[HEADER - SALT..HEADER].try_into().unwrap();
            assert!(ours == by_hand(&KEY, &salt, &chunks), "{length}");
        }
    }

    /// Created with other programs: `b3sum --derive-key` and Python's `cryptography`.
    #[test]
    fn decrypt_first_version_readable() {
        let salt: Vec<u8> = (0..32).collect();
        let chunk = "f786ffa73ea03f86cf4f87653b999dcafe38e064d1c2d093f3";
        let chunk: Vec<_> = (0..chunk.len() / 2)
            .map(|at| u8::from_str_radix(&chunk[2 * at..][..2], 16).unwrap())
            .collect();
        let whole = [&MAGIC[..], &[1], &salt, &chunk].concat();
        assert_eq!(StepTester::parse(&keyed(KEY).decrypt).result(&whole, &[7]), b"few bytes");
    }

    #[test]
    fn decrypt_flipped_bit_detected() {
        let keyed = keyed(KEY);
        let whole = encrypted(&keyed, b"few bytes", &[1]);
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let error = error_of(&keyed, &damaged);
            let expected = match bit / 8 {
                0..15 => "it was not encrypted by 'encrypt'".to_owned(),
                15 => format!(
                    "it was encrypted by version {}, and known is 1, at byte 15",
                    damaged[15]
                ),
                _ => "it has another key, or was changed, at byte 48".to_owned(),
            };
            assert_eq!(error, expected, "bit {bit}");
        }
    }

    #[test]
    fn decrypt_truncation_detected() {
        let keyed = keyed(KEY);
        let whole = encrypted(&keyed, &text(2 * CHUNK + 9), &[usize::MAX]);
        let chunk_length = CHUNK + TAG;
        for end in [
            0,
            1,
            14,
            15,
            16,
            47,
            48,
            49,
            63,
            64,
            100,
            HEADER + chunk_length - 1,
            HEADER + chunk_length,
            HEADER + chunk_length + 1,
            HEADER + chunk_length + TAG,
            HEADER + 2 * chunk_length,
            HEADER + 2 * chunk_length + 1,
            HEADER + 2 * chunk_length + TAG,
            whole.len() - 1,
        ] {
            let error = error_of(&keyed, &whole[..end]);
            let expected = match end {
                ..=HEADER => "its end is missing".to_owned(),
                end if (end - HEADER).is_multiple_of(chunk_length) => {
                    "its end is missing".to_owned()
                }
                end if end < HEADER + chunk_length => {
                    "it has another key, or was changed, at byte 48".to_owned()
                }
                end => {
                    let begin = HEADER + (end - HEADER) / chunk_length * chunk_length;
                    format!("it was changed, or cut off, at byte {begin}")
                }
            };
            assert_eq!(error, expected, "cut at {end}");
        }
    }

    #[test]
    fn decrypt_rearranged_chunks_detected() {
        let keyed = keyed(KEY);
        let chunk_length = CHUNK + TAG;
        let whole = encrypted(&keyed, &text(3 * CHUNK), &[usize::MAX]);
        let (header, chunks) = whole.split_at(HEADER);
        let chunks: Vec<_> = chunks.chunks(chunk_length).collect();
        let other = encrypted(&keyed, &text(3 * CHUNK), &[usize::MAX]);
        let second = HEADER + chunk_length;
        for (order, expected) in [
            ([1, 0, 2].as_slice(), format!("it has another key, or was changed, at byte {HEADER}")),
            (&[0, 2, 1], format!("it was changed, or cut off, at byte {second}")),
            (&[0, 2], format!("it was changed, or cut off, at byte {second}")),
            (&[0, 0, 1, 2], format!("it was changed, or cut off, at byte {second}")),
            (&[0, 1], "its end is missing".to_owned()),
            (&[0, 1, 2, 2], format!("something was added behind its end, at byte {}", whole.len())),
        ] {
            let parts: Vec<_> = order.iter().map(|&at| chunks[at]).collect();
            assert_eq!(error_of(&keyed, &[header, &parts.concat()].concat()), expected);
        }
        // Chunks of another file with the same key.
        let mixed = [&whole[..second], &other[second..]].concat();
        assert_eq!(
            error_of(&keyed, &mixed),
            format!("it was changed, or cut off, at byte {second}")
        );
        // Bytes added after a short last chunk become part of it.
        let short = encrypted(&keyed, b"few bytes", &[1]);
        let long = [&short[..], b"more"].concat();
        assert_eq!(error_of(&keyed, &long), "it has another key, or was changed, at byte 48");
    }

    #[test]
    fn decrypt_emits_only_authentic_chunks() {
        let keyed = keyed(KEY);
        let mut damaged = encrypted(&keyed, &text(3 * CHUNK), &[usize::MAX]);
        damaged[HEADER + 2 * (CHUNK + TAG) + 5] ^= 1;
        let mut chain: Chain = keyed.decrypt.parse().unwrap();
        let (mut gathered, mut result) = (Vec::new(), Vec::new());
        let mut next = |block: &[u8]| {
            result.extend_from_slice(block);
            Ok(())
        };
        let mut out = OutputBuffer::new(&mut gathered, &mut next);
        chain.feed(&damaged, &mut out).unwrap();
        assert!(chain.finish(&mut out).is_err());
        out.flush().unwrap();
        assert!(result == text(2 * CHUNK));
    }

    #[test]
    fn decrypt_wrong_key_reported() {
        let (one, other) = (keyed(KEY), keyed([0x4c; 32]));
        for length in [0, 9, 2 * CHUNK] {
            let whole = encrypted(&one, &text(length), &[usize::MAX]);
            assert_eq!(error_of(&other, &whole), "it has another key, or was changed, at byte 48");
        }
        assert_eq!(error_of(&one, b"plain text"), "it was not encrypted by 'encrypt'");
    }

    #[test]
    fn encrypt_results_differ() {
        let keyed = keyed(KEY);
        let mut trial = StepTester::parse(&keyed.encrypt);
        let results: Vec<_> =
            (0..3).map(|_| trial.feed(b"the same", &[3]).unwrap().result).collect();
        for (at, one) in results.iter().enumerate() {
            assert_eq!(one.len(), HEADER + 8 + TAG);
            for other in &results[at + 1..] {
                assert_ne!(one[16..HEADER], other[16..HEADER], "the salts");
                assert_ne!(one[HEADER..], other[HEADER..], "the chunks");
            }
            assert_eq!(StepTester::parse(&keyed.decrypt).result(one, &[5]), b"the same");
        }
    }

    #[test]
    fn encrypt_clone_reset_without_key_file() {
        let keyed = keyed(KEY);
        let chain: Chain = format!("{} {}", keyed.encrypt, keyed.decrypt).parse().unwrap();
        let (_, file) = keyed.encrypt.split_once('=').unwrap();
        std::fs::remove_file(Path::new(file)).unwrap();
        let mut trial = StepTester::new(chain.clone_reset());
        assert_eq!(trial.result(b"text", &[1]), b"text");
        assert!(!format!("{chain:?}").contains("4b4b"), "no key is shown");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn encrypt_round_trip(
            input in prop_oneof![any_bytes(), (0..3 * CHUNK).prop_map(text)],
            sizes in cuts(),
        ) {
            let keyed = keyed(KEY);
            let both = format!("{} {}", keyed.encrypt, keyed.decrypt);
            prop_assert_eq!(StepTester::parse(&both).result(&input, &sizes), input.clone());
            let whole = encrypted(&keyed, &input, &sizes);
            let tags = input.len().div_ceil(CHUNK).max(1) * TAG;
            prop_assert_eq!(whole.len(), HEADER + input.len() + tags);
            prop_assert_eq!(StepTester::parse(&keyed.decrypt).result(&whole, &sizes), input);
        }

        #[test]
        fn decrypt_other_files_rejected(
            input in prop::collection::vec(any::<u8>(), 0..200),
            begin in 0..=HEADER,
            sizes in cuts(),
        ) {
            let keyed = keyed(KEY);
            let header = by_hand(&KEY, &[7; SALT], &[]);
            let input = [&header[..begin], &input].concat();
            prop_assert!(StepTester::parse(&keyed.decrypt).run(&input, &sizes).is_err());
        }
    }
}
