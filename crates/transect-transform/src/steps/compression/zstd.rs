//! Compresses with Zstandard.

use std::io;

use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation as _, OutBuffer};

use super::fixed_blocks::FixedBlocks;
use super::level;
use crate::output::OutputBuffer;
use crate::step::{Cost, InvalidData, Step, StepError};
use crate::steps::info::StepResult;

/// Size from which a file is divided into jobs for several threads. The buffers of the threads take
/// about 20 ms, whatever the size.
const MIN_PARALLEL_SIZE: u64 = 32 << 20;

/// Maximum level for several threads. Above, a job takes seconds to compress, and a pass that is cancelled waits for
/// those that have begun: ten seconds at level 19.
const MAX_PARALLEL_LEVEL: i32 = 12;

/// Bytes that one thread compresses at a time.
const JOB_SIZE: u32 = 8 << 20;

/// Compresses into one frame with a checksum of the content, as the program `zstd` does.
struct Zstd {
    level: i32,
    encoder: Encoder<'static>,
    /// Compresses the current file on several threads, if it is large.
    parallel: Option<Encoder<'static>>,
    pieces: FixedBlocks,
}

pub(in crate::steps) fn zstd(parameter: Option<&str>) -> StepResult {
    let level = level(parameter, zstd::DEFAULT_COMPRESSION_LEVEL, 1..=22)?;
    let encoder = encoder(level).map_err(|error| error.to_string())?;
    Ok(Box::new(Zstd { level, encoder, parallel: None, pieces: FixedBlocks::default() }))
}

fn encoder(level: i32) -> io::Result<Encoder<'static>> {
    let mut encoder = Encoder::new(level)?;
    encoder.set_parameter(CParameter::ChecksumFlag(true))?;
    Ok(encoder)
}

/// Returns an encoder whose result depends on the size of the jobs, but not on the number of threads.
fn parallel_encoder(level: i32, threads: u32) -> io::Result<Encoder<'static>> {
    let mut encoder = encoder(level)?;
    encoder.set_parameter(CParameter::NbWorkers(threads))?;
    encoder.set_parameter(CParameter::JobSize(JOB_SIZE))?;
    Ok(encoder)
}

/// Compression can only fail for lack of memory or threads.
fn failure(error: io::Error) -> InvalidData {
    InvalidData::new(error.to_string())
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

    fn use_threads(
        &mut self,
        size: u64,
        another: &mut dyn FnMut() -> bool,
    ) -> Result<(), InvalidData> {
        if size < MIN_PARALLEL_SIZE || self.level > MAX_PARALLEL_LEVEL {
            return Ok(());
        }
        let jobs = size.div_ceil(u64::from(JOB_SIZE));
        let others = (1..jobs).take_while(|_| another()).count();
        self.parallel = Some(parallel_encoder(self.level, 1 + others as u32).map_err(failure)?);
        Ok(())
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let Self { encoder, parallel, pieces, .. } = self;
        let encoder = parallel.as_mut().unwrap_or(encoder);
        pieces.feed(input, |piece| compress(encoder, piece, out))
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let encoder = self.parallel.as_mut().unwrap_or(&mut self.encoder);
        compress(encoder, self.pieces.last(), out)?;
        loop {
            let room = out.spare_block()?;
            let begin = room.len();
            let mut output = OutBuffer::around_pos(room, begin);
            if encoder.finish(&mut output, true).map_err(failure)? == 0 {
                break;
            }
        }
        // Ends the threads, which another file may use now.
        self.parallel = None;
        Ok(())
    }

    fn reset(&mut self) {
        self.pieces.reset();
        self.parallel = None;
        self.encoder.reinit().expect("BUG: a session can be given up at any time");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
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

    /// Feeds a step one file in small pieces.
    fn result(step: &mut dyn Step, input: &[u8]) -> Vec<u8> {
        let (mut gathered, mut result) = (Vec::new(), Vec::new());
        let mut next = |block: &[u8]| {
            result.extend_from_slice(block);
            Ok(())
        };
        let mut out = OutputBuffer::new(&mut gathered, &mut next);
        input.chunks(300_001).try_for_each(|piece| step.feed(piece, &mut out)).unwrap();
        step.finish(&mut out).unwrap();
        out.flush().unwrap();
        step.reset();
        result
    }

    #[test]
    fn zstd_result_same_for_every_number_of_threads() {
        // Three jobs, the last of them short. No two blocks are equal.
        let mut input = vec![0; 17 << 20];
        for (at, block) in (0_u64..).zip(input.chunks_mut(1 << 10)) {
            blake3::Hasher::new().update(&at.to_le_bytes()).finalize_xof().fill(&mut block[..100]);
        }
        let mut step = super::zstd(Some("1")).unwrap();
        step.use_threads(MIN_PARALLEL_SIZE - 1, &mut || unreachable!()).unwrap();
        let sequential = result(step.as_mut(), &input);
        let parallel = [0, 1, 9].map(|idle| {
            let mut used = 0;
            let mut another = || {
                let is_idle = used < idle;
                used += usize::from(is_idle);
                is_idle
            };
            step.use_threads(MIN_PARALLEL_SIZE, &mut another).unwrap();
            assert_eq!(used, idle.min(3), "a file of this size has four jobs");
            result(step.as_mut(), &input)
        });
        assert!(zstd::decode_all(&parallel[0][..]).unwrap() == input);
        assert!(parallel[0] != sequential, "the input was divided into jobs");
        assert!(parallel.iter().all(|result| *result == parallel[0]));
        assert!(result(step.as_mut(), &input) == sequential, "the next file may be small");
    }

    #[test]
    fn zstd_reset_gives_up_jobs() {
        let mut step = super::zstd(Some("1")).unwrap();
        let expected = result(step.as_mut(), b"text");
        let input: Vec<_> = (0_u32..5 << 20).flat_map(u32::to_le_bytes).collect();
        for is_closed in [false, true] {
            step.use_threads(MIN_PARALLEL_SIZE, &mut || true).unwrap();
            let mut next = |_: &[u8]| if is_closed { Err(StepError::Closed) } else { Ok(()) };
            let mut gathered = Vec::new();
            let mut out = OutputBuffer::new(&mut gathered, &mut next);
            let fed = step.feed(&input, &mut out);
            let ended = if is_closed { fed.and_then(|()| step.finish(&mut out)) } else { fed };
            assert_eq!(ended, if is_closed { Err(StepError::Closed) } else { Ok(()) });
            step.reset();
            assert_eq!(result(step.as_mut(), b"text"), expected);
        }
    }

    #[test]
    fn zstd_highest_levels_use_one_thread() {
        for (level, is_parallel) in [("12", true), ("13", false)] {
            let mut step = super::zstd(Some(level)).unwrap();
            let mut is_asked = false;
            let mut another = || {
                is_asked = true;
                false
            };
            step.use_threads(100 << 20, &mut another).unwrap();
            assert_eq!(is_asked, is_parallel, "level {level}");
        }
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
