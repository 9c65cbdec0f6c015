//! Compresses with Zstandard.

use std::io;

use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation as _, OutBuffer};

use super::fixed_blocks::FixedBlocks;
use super::level;
use crate::output::OutputBuffer;
use crate::step::{Cost, InvalidData, Step, StepError};
use crate::steps::info::StepResult;

/// Compresses into one frame with a checksum of the content, as the program `zstd` does.
struct Zstd {
    encoder: Encoder<'static>,
    pieces: FixedBlocks,
}

pub(in crate::steps) fn zstd(parameter: Option<&str>) -> StepResult {
    let level = level(parameter, zstd::DEFAULT_COMPRESSION_LEVEL, 1..=22)?;
    let encoder = || {
        let mut encoder = Encoder::new(level)?;
        encoder.set_parameter(CParameter::ChecksumFlag(true))?;
        Ok(encoder)
    };
    let encoder = encoder().map_err(|error: io::Error| error.to_string())?;
    Ok(Box::new(Zstd { encoder, pieces: FixedBlocks::default() }))
}

/// Compression can only fail for lack of memory.
fn failure(error: io::Error) -> StepError {
    InvalidData::new(error.to_string()).into()
}

fn compress(
    encoder: &mut Encoder<'static>,
    piece: &[u8],
    out: &mut OutputBuffer<'_>,
) -> Result<(), StepError> {
    let mut input = InBuffer::around(piece);
    while input.pos() < piece.len() {
        let room = out.spare_block()?;
        let begin = room.len();
        encoder.run(&mut input, &mut OutBuffer::around_pos(room, begin)).map_err(failure)?;
    }
    Ok(())
}

impl Step for Zstd {
    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let Self { encoder, pieces } = self;
        pieces.feed(input, |piece| compress(encoder, piece, out))
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        compress(&mut self.encoder, self.pieces.last(), out)?;
        loop {
            let room = out.spare_block()?;
            let begin = room.len();
            let mut output = OutBuffer::around_pos(room, begin);
            if self.encoder.finish(&mut output, true).map_err(failure)? == 0 {
                return Ok(());
            }
        }
    }

    fn reset(&mut self) {
        self.pieces.reset();
        self.encoder.reinit().expect("BUG: a session can be given up at any time");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::test_support::{StepTester, any_bytes, cuts};

    #[test]
    fn zstd_level_range() {
        assert!(zstd::compression_level_range().contains(&22));
        for parameter in [Some(""), Some("0"), Some("23"), Some("-1"), Some("best")] {
            assert!(super::zstd(parameter).is_err(), "{parameter:?}");
        }
    }

    #[test]
    fn zstd_result_one_frame_with_checksum() {
        let result = StepTester::parse("zstd=1").result(&b"text ".repeat(100_000), &[70_001]);
        assert_eq!(result[..4], [0x28, 0xb5, 0x2f, 0xfd], "RFC 8878, 3.1.1");
        assert_eq!(result[4] & 4, 4, "the flag of the checksum");
        assert_eq!(zstd::decode_all(&result[..]).unwrap(), b"text ".repeat(100_000));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn zstd_round_trip(input in any_bytes(), sizes in cuts(), level in 1..6) {
            let result = StepTester::parse(&format!("zstd={level}")).result(&input, &sizes);
            prop_assert_eq!(zstd::decode_all(&result[..]).unwrap(), input.clone());
            let both = format!("zstd={level} unzstd");
            prop_assert_eq!(StepTester::parse(&both).result(&input, &sizes), input);
        }
    }
}
