//! Compresses as `gzip` does.

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use super::fixed_blocks::FixedBlocks;
use super::level;
use crate::output::OutputBuffer;
use crate::step::{Cost, InvalidData, Step, StepError};
use crate::steps::info::StepResult;

/// Default level, the same as gzip's.
const USUAL: u32 = 6;

/// Bytes of output to produce at once.
const ROOM: usize = 32 << 10;

/// Compresses into one member (RFC 1952), without name and time, so that the same file gives the
/// same result.
struct Gzip {
    level: u32,
    compress: Compress,
    checksum: Crc,
    pieces: FixedBlocks,
    /// Output of the last call. Its capacity never changes: the output of compressors may depend on
    /// the room they have.
    room: Vec<u8>,
    /// Whether the header is written.
    begun: bool,
}

pub(in crate::steps) fn gzip(parameter: Option<&str>) -> StepResult {
    let level = level(parameter, USUAL, 1..=9)?;
    Ok(Box::new(Gzip {
        level,
        compress: Compress::new(Compression::new(level), false),
        checksum: Crc::new(),
        pieces: FixedBlocks::default(),
        room: Vec::with_capacity(ROOM),
        begun: false,
    }))
}

impl Gzip {
    /// Writes the header, unless done already.
    fn begin(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        // RFC 1952, 2.3.1: marks the lowest and the highest level.
        let extra_flags = match self.level {
            1 => 4,
            9 => 2,
            _ => 0,
        };
        // Deflate, no flags, no time, unknown system.
        out.put(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, extra_flags, 255])
    }
}

/// Compresses a piece; the last one with `Finish`.
fn compress(
    compress: &mut Compress,
    piece: &[u8],
    flush: FlushCompress,
    room: &mut Vec<u8>,
    out: &mut OutputBuffer<'_>,
) -> Result<(), StepError> {
    let mut rest = piece;
    loop {
        room.clear();
        let before = compress.total_in();
        let status = compress.compress_vec(rest, room, flush);
        let status = status.map_err(|error| InvalidData::new(error.to_string()))?;
        let taken = usize::try_from(compress.total_in() - before);
        rest = &rest[taken.expect("BUG: more was taken than there is")..];
        out.put(room)?;
        // If there is room left, the library has no more output for this input.
        let all = rest.is_empty() && room.len() < room.capacity();
        if status == Status::StreamEnd || (flush == FlushCompress::None && all) {
            return Ok(());
        }
    }
}

impl Step for Gzip {
    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.begin(out)?;
        self.checksum.update(input);
        let Self { compress: state, pieces, room, .. } = self;
        pieces.feed(input, |piece| compress(state, piece, FlushCompress::None, room, out))
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.begin(out)?;
        let last = self.pieces.last();
        compress(&mut self.compress, last, FlushCompress::Finish, &mut self.room, out)?;
        out.put(&self.checksum.sum().to_le_bytes())?;
        // Both are modulo 2^32.
        out.put(&self.checksum.amount().to_le_bytes())
    }

    fn reset(&mut self) {
        self.compress.reset();
        self.checksum.reset();
        self.pieces.reset();
        self.begun = false;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::bufread::GzDecoder;
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, any_bytes, cuts};

    fn read(compressed: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        GzDecoder::new(compressed).read_to_end(&mut content).unwrap();
        content
    }

    #[test]
    fn gzip_level_range() {
        for parameter in [Some(""), Some("0"), Some("10"), Some("+6"), Some("best")] {
            assert!(gzip(parameter).is_err(), "{parameter:?}");
        }
    }

    #[test]
    fn gzip_result_independent_of_input_blocks() {
        // A mix of near and far repetitions, and bytes without any.
        let mut state = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(100_000)
        .collect();
        let input = [&noise[..], &b"text ".repeat(60_000), &noise, &noise[..777]].concat();
        for level in 1..=9 {
            let result =
                StepTester::parse(&format!("gzip={level}")).result(&input, &[9_999, 1, 150_000]);
            assert!(read(&result) == input, "level {level}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn gzip_round_trip(input in any_bytes(), sizes in cuts(), level in 1..10) {
            let result = StepTester::parse(&format!("gzip={level}")).result(&input, &sizes);
            prop_assert_eq!(read(&result), input.clone());
            let both = format!("gzip={level} gunzip");
            prop_assert_eq!(StepTester::parse(&both).result(&input, &sizes), input);
        }
    }
}
