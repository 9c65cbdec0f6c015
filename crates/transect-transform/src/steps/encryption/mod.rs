//! Authenticated encryption: any change, removal, exchange or addition of bytes is detected.
//!
//! ```text
//!     bytes
//!        15  "\x8etransect aead\n"
//!         1  version: 1
//!        32  salt, random for every file
//! 65536+16   a chunk, encrypted, and its tag
//!      ...
//! 0..=65536+16   the last chunk and its tag; without bytes only if the file is empty
//! ```
//!
//! The key of a file is derived from the key in the key file and the header (BLAKE3, `derive_key`).
//! It is different for each file, so that no nonce is used twice, and a changed header gives
//! another key. Chunks are encrypted with ChaCha20-Poly1305 in the STREAM construction (Hoang,
//! Reyhanitabar, Rogaway and Vizár, 2015): the nonce is seven zeros, the chunk number as four
//! big-endian bytes, and 1 for the last chunk, 0 for others.

use aead_stream::{NewStream, Nonce, StreamBE32, StreamPrimitive};
use chacha20poly1305::ChaCha20Poly1305;
use zeroize::Zeroizing;

use crate::step::InvalidData;
use chunks::Chunks;
use key::Key;

mod chunks;
pub(super) mod decrypt;
pub(super) mod encrypt;
pub(super) mod key;

/// The beginning of every encrypted file. No text starts with it, and a conversion of line endings
/// changes it and is detected.
const MAGIC: [u8; 15] = *b"\x8etransect aead\n";

const VERSION: u8 = 1;

/// Length of the salt: long enough that no two files ever have the same.
const SALT: usize = 32;

/// Bytes before the first chunk.
const HEADER: usize = MAGIC.len() + 1 + SALT;

/// Bytes of a chunk before encryption: decryption holds back this many until they are
/// authenticated.
const CHUNK: usize = 64 << 10;

/// Bytes that encryption adds to a chunk.
const TAG: usize = 16;

/// Context for deriving the key of a file.
const CONTEXT: &str = "transect-transform 2026-11-21 encrypt version 1, key of one file";

type Stream = StreamBE32<ChaCha20Poly1305>;

/// Encrypts or decrypts the chunks of one file.
struct FileCipher {
    stream: Stream,
    /// Number of the next chunk.
    next: u32,
}

impl FileCipher {
    /// Returns the cipher for the file with this header.
    fn new(key: &Key, header: &[u8; HEADER]) -> Self {
        let mut hasher = Zeroizing::new(blake3::Hasher::new_derive_key(CONTEXT));
        hasher.update(key.bytes()).update(header);
        let file_key = Zeroizing::new(hasher.finalize());
        let no_prefix = Nonce::<ChaCha20Poly1305, Stream>::default();
        let stream = Stream::new(file_key.as_bytes().into(), &no_prefix);
        Self { stream, next: 0 }
    }

    /// Encrypts the next chunk, and appends its tag.
    fn seal(&mut self, chunk: &mut Vec<u8>, last: bool) -> Result<(), InvalidData> {
        let encrypted = self.stream.encrypt_in_place(self.next, last, &[], chunk);
        encrypted.expect("BUG: a chunk is short, and its memory grows");
        self.advance(last)
    }

    /// Decrypts the next chunk if it is authentic; otherwise leaves it unchanged.
    fn open(&mut self, chunk: &mut Vec<u8>, last: bool) -> Result<(), InvalidData> {
        match self.stream.decrypt_in_place(self.next, last, &[], chunk) {
            Ok(()) => self.advance(last),
            Err(_) => Err(self.invalid(chunk, last)),
        }
    }

    fn advance(&mut self, last: bool) -> Result<(), InvalidData> {
        if !last {
            let next = self.next.checked_add(1);
            self.next = next.ok_or_else(|| InvalidData::new("it is longer than 256 TiB"))?;
        }
        Ok(())
    }

    /// Returns the error for a chunk that is not authentic.
    fn invalid(&self, chunk: &mut Vec<u8>, last: bool) -> InvalidData {
        let begin = HEADER as u64 + u64::from(self.next) * (CHUNK + TAG) as u64;
        let end = begin + chunk.len() as u64;
        if self.stream.decrypt_in_place(self.next, !last, &[], chunk).is_ok() {
            return if last {
                InvalidData::new("its end is missing")
            } else {
                InvalidData::at(end, "something was added behind its end,")
            };
        }
        if self.next == 0 {
            return InvalidData::at(begin, "it has another key, or was changed,");
        }
        InvalidData::at(begin, "it was changed, or cut off,")
    }
}
