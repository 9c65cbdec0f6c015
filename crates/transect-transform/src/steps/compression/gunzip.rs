//! Decompresses gzip files (RFC 1952).

use std::io::Write as _;

use flate2::write::MultiGzDecoder;

use super::fixed_blocks::FixedBlocks;
use crate::output::OutputBuffer;
use crate::step::{Cost, InvalidData, Step, StepError};

/// Bytes given to the library at once. Deflate makes at most 1032 bytes of one, so that the library
/// holds at most a megabyte of output.
const PIECE: usize = 1 << 10;

/// Decompresses all members of a file. Rejects any other bytes between or after them.
struct Gunzip {
    decoder: MultiGzDecoder<Vec<u8>>,
    /// What the library reports of damage depends on how much input it gets at once.
    pieces: FixedBlocks<PIECE>,
    is_empty: bool,
}

pub(in crate::steps) fn gunzip() -> impl Step {
    let decoder = MultiGzDecoder::new(Vec::new());
    Gunzip { decoder, pieces: FixedBlocks::default(), is_empty: true }
}

fn invalid(error: std::io::Error) -> InvalidData {
    InvalidData::new(format!("not a gzip file, or a damaged one ({error})"))
}

/// Decompresses a piece, and passes on what the library made of it.
fn decompress(
    decoder: &mut MultiGzDecoder<Vec<u8>>,
    piece: &[u8],
    out: &mut OutputBuffer<'_>,
) -> Result<(), StepError> {
    decoder.write_all(piece).map_err(invalid)?;
    out.put(decoder.get_ref())?;
    decoder.get_mut().clear();
    Ok(())
}

impl Step for Gunzip {
    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.is_empty &= input.is_empty();
        let Self { decoder, pieces, .. } = self;
        pieces.feed(input, |piece| decompress(decoder, piece, out))
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if self.is_empty {
            return Err(InvalidData::new("not a gzip file: it is empty").into());
        }
        decompress(&mut self.decoder, self.pieces.last(), out)?;
        self.decoder.try_finish().map_err(invalid)?;
        out.put(self.decoder.get_ref())
    }

    fn reset(&mut self) {
        self.decoder = MultiGzDecoder::new(Vec::new());
        self.pieces.reset();
        self.is_empty = true;
    }
}

#[cfg(test)]
mod tests {
    use flate2::{Compression, GzBuilder};
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, any_bytes, cuts};

    fn error_of(input: &[u8]) -> String {
        StepTester::parse("gunzip").run(input, &[1]).unwrap_err().to_string()
    }

    /// Returns a member whose header has optional fields.
    fn member(content: &[u8]) -> Vec<u8> {
        let builder = GzBuilder::new().extra(*b"extra").filename("name").comment("comment");
        let mut writer = builder.write(Vec::new(), Compression::fast());
        writer.write_all(content).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn gunzip_concatenated_members() {
        let plain = StepTester::parse("gzip").result(b"one ", &[usize::MAX]);
        let input = [&plain[..], &member(b"two "), &member(b""), &member(b"three")].concat();
        assert_eq!(StepTester::parse("gunzip").result(&input, &[1]), b"one two three");
    }

    #[test]
    fn gunzip_reads_files_of_gzip() {
        // `gzip -9` of a file `hello`, with name and time; and of nothing.
        let named =
            b"\x1f\x8b\x08\x08\x9d\x84\x01\x6b\x02\x03hello\0\xcb\x48\xcd\xc9\xc9\xd7\x51\xc8\
            \x40\xa2\xb8\0\xe7\x42\x6e\x52\x14\0\0\0";
        assert_eq!(StepTester::parse("gunzip").result(named, &[1]), b"hello, hello, hello\n");
        let empty = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0";
        assert_eq!(StepTester::parse("gunzip").result(empty, &[1]), b"");
    }

    #[test]
    fn gunzip_other_bytes_and_cut_files_rejected() {
        let whole = member(b"some text");
        assert_eq!(error_of(b""), "gunzip: not a gzip file: it is empty");
        let garbage = [&b"x"[..], &[0; 512], b"some text that is longer"];
        for garbage in garbage {
            assert!(error_of(garbage).contains("not a gzip file"), "{garbage:?}");
            let behind = [&whole[..], garbage].concat();
            assert!(error_of(&behind).contains("a damaged one"), "{garbage:?}");
        }
        for cut in 1..whole.len() {
            assert!(error_of(&whole[..cut]).contains("a damaged one"), "{cut}");
        }
    }

    #[test]
    fn gunzip_large_result_emitted_in_pieces() {
        // 64 MiB of zeros in 64 KiB must not be held in memory.
        let content = vec![0; 64 << 20];
        let input = StepTester::parse("gzip").result(&content, &[usize::MAX]);
        assert!(input.len() < 70_000);
        let (mut gathered, mut total) = (Vec::new(), 0);
        let mut next = |block: &[u8]| {
            assert!(block.len() <= 2 << 20);
            total += block.len();
            Ok(())
        };
        let mut out = OutputBuffer::new(&mut gathered, &mut next);
        let mut step = gunzip();
        step.feed(&input, &mut out).unwrap();
        step.finish(&mut out).unwrap();
        out.flush().unwrap();
        assert_eq!(total, content.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn gunzip_any_bytes_same_outcome_for_any_blocks(input in any_bytes(), sizes in cuts()) {
            // The tester compares the outcomes of two ways to split the input.
            let _ = StepTester::parse("gunzip").run(&input, &sizes);
        }

        #[test]
        fn gunzip_damaged_member_same_outcome_for_any_blocks(
            input in any_bytes(),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u32,
            sizes in cuts(),
        ) {
            let mut damaged = member(&input);
            let at = at.index(damaged.len());
            damaged[at] ^= 1_u8 << bit;
            if let Ok(outcome) = StepTester::parse("gunzip").run(&damaged, &sizes) {
                // Some bits may change without effect.
                prop_assert_eq!(outcome.result, input);
            }
        }
    }
}
