//! Decompresses Zstandard files.

use std::io;

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation as _, OutBuffer};

use crate::output::OutputBuffer;
use crate::step::{Cost, InvalidData, Step, StepError};
use crate::steps::info::StepResult;

/// The largest window that a frame may request, as a power of two: the limit of the program `zstd`,
/// and enough for its highest level.
const WINDOW: u32 = 27;

/// Maximum length of a frame header.
const HEADER: usize = 18;

/// Decompresses all frames of a file. Rejects any other bytes between or after them.
struct Unzstd {
    decoder: Decoder<'static>,
    /// Bytes of the input so far.
    position: u64,
    /// The current frame, if any.
    frame: Option<Frame>,
}

struct Frame {
    begin: u64,
    header: Vec<u8>,
    /// Bytes of output so far.
    made: u64,
}

impl Frame {
    fn new(begin: u64) -> Self {
        Self { begin, header: Vec::with_capacity(HEADER), made: 0 }
    }

    /// Returns how much input to give to the library at once. The library decodes a frame that it
    /// gets as a whole with other code, which reports other errors. Byte by byte through the
    /// header, it never does.
    fn limit_input<'a>(&self, input: &'a [u8]) -> &'a [u8] {
        if self.header.len() < HEADER { &input[..input.len().min(1)] } else { input }
    }

    /// Records the bytes read and produced.
    fn note(&mut self, read: &[u8], made: usize) {
        let header = read.len().min(HEADER - self.header.len());
        self.header.extend_from_slice(&read[..header]);
        self.made += made as u64;
    }

    /// Checks that the content is as long as the header says, if it does. The library checks that
    /// only if the last block is not empty.
    fn end(&self) -> Result<(), InvalidData> {
        match zstd::zstd_safe::get_frame_content_size(&self.header) {
            Ok(Some(length)) if length != self.made => {
                Err(InvalidData::at(self.begin, "a damaged zstd frame (its length)"))
            }
            _ => Ok(()),
        }
    }
}

pub(in crate::steps) fn unzstd(parameter: Option<&str>) -> StepResult {
    if parameter.is_some() {
        return Err("it has no parameter".to_owned());
    }
    let decoder = || {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW))?;
        Ok(decoder)
    };
    let decoder = decoder().map_err(|error: io::Error| error.to_string())?;
    Ok(Box::new(Unzstd { decoder, position: 0, frame: None }))
}

/// Returns an error about the frame at an offset. The position is its beginning, not where the
/// damage was detected, which depends on how much input the library got at once.
fn invalid(begin: u64, error: &io::Error) -> InvalidData {
    let reason = match error.to_string() {
        unknown if unknown.contains("Unknown frame descriptor") => match begin {
            0 => "not a zstd file: it begins with something else".to_owned(),
            _ => "trailing data that is not a zstd frame".to_owned(),
        },
        memory if memory.contains("too much memory") => {
            format!("a zstd frame that needs more than {} MiB of memory", 1 << (WINDOW - 20))
        }
        other => format!("a damaged zstd frame ({other})"),
    };
    InvalidData::at(begin, reason)
}

impl Step for Unzstd {
    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let mut rest = input;
        // Whether the decoder has more output than there was room for.
        let mut more = false;
        while !rest.is_empty() || more {
            let frame = self.frame.get_or_insert_with(|| Frame::new(self.position));
            let limit_input = frame.limit_input(rest);
            let mut portion_left = InBuffer::around(limit_input);
            let room = out.spare_block()?;
            let filled = room.len();
            let mut output = OutBuffer::around_pos(room, filled);
            let hint = self.decoder.run(&mut portion_left, &mut output);
            let hint = hint.map_err(|error| invalid(frame.begin, &error))?;
            more = output.pos() == output.capacity();
            let (read, made) = (portion_left.pos(), output.pos() - filled);
            frame.note(&limit_input[..read], made);
            self.position += read as u64;
            rest = &rest[read..];
            if hint == 0 {
                // The frame has ended, and all of it was passed on.
                frame.end()?;
                self.frame = None;
                more = false;
            }
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        match &self.frame {
            Some(frame) => {
                Err(InvalidData::at(frame.begin, "the file ends within the zstd frame").into())
            }
            None if self.position == 0 => {
                Err(InvalidData::new("not a zstd file: it is empty").into())
            }
            None => Ok(()),
        }
    }

    fn reset(&mut self) {
        self.decoder.reinit().expect("BUG: a session can be given up at any time");
        self.position = 0;
        self.frame = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, any_bytes, cuts};

    fn frame(content: &[u8]) -> Vec<u8> {
        StepTester::parse("zstd=1").result(content, &[usize::MAX])
    }

    fn error_of(input: &[u8]) -> String {
        StepTester::parse("unzstd").run(input, &[1]).unwrap_err().to_string()
    }

    #[test]
    fn unzstd_concatenated_frames() {
        // RFC 8878, 3.1.2: a skippable frame.
        let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
        let input = [&frame(b"one ")[..], skipped, &frame(b""), &frame(b"two")].concat();
        assert_eq!(StepTester::parse("unzstd").result(&input, &[1]), b"one two");
    }

    #[test]
    fn unzstd_reads_files_of_zstd() {
        // `zstd -19` of a file, and of nothing.
        let file =
            b"\x28\xb5\x2f\xfd\x24\x14\x75\0\0\x40hello, \x0a\x01\0\xe2\x8a\x11\x21\x69\x9d\x87";
        assert_eq!(StepTester::parse("unzstd").result(file, &[1]), b"hello, hello, hello\n");
        let empty = b"\x28\xb5\x2f\xfd\x24\0\x01\0\0\x99\xe9\xd8\x51";
        assert_eq!(StepTester::parse("unzstd").result(empty, &[1]), b"");
    }

    #[test]
    fn unzstd_other_bytes_rejected_at_offset() {
        let whole = frame(b"some text");
        let length = whole.len();
        assert_eq!(error_of(b""), "unzstd: not a zstd file: it is empty");
        assert_eq!(
            error_of(b"text"),
            "unzstd: not a zstd file: it begins with something else at byte 0"
        );
        assert_eq!(
            error_of(&[&whole[..], b"x"].concat()),
            format!("unzstd: trailing data that is not a zstd frame at byte {length}")
        );
        for cut in 1..length {
            assert_eq!(
                error_of(&whole[..cut]),
                "unzstd: the file ends within the zstd frame at byte 0",
                "{cut}"
            );
        }
        let twice = [&whole[..], &whole[..length - 1]].concat();
        assert_eq!(
            error_of(&twice),
            format!("unzstd: the file ends within the zstd frame at byte {length}")
        );
    }

    #[test]
    fn unzstd_damage_detected() {
        let whole = frame(b"some text that is worth a checksum");
        let checksum = whole.len() - 1;
        let mut damaged = whole;
        damaged[checksum] ^= 1;
        assert!(error_of(&damaged).starts_with("unzstd: a damaged zstd frame ("));
    }

    #[test]
    fn unzstd_wrong_content_length_rejected() {
        // A single segment announces five bytes, and the last block is empty.
        let short = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x01, 0, 0];
        assert_eq!(error_of(&short), "unzstd: a damaged zstd frame (its length) at byte 0");
        let empty = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 0x01, 0, 0];
        assert_eq!(StepTester::parse("unzstd").result(&empty, &[1]), b"");
        // Whole frames that announce their length are decoded by the same code as pieces.
        let announced = zstd::bulk::compress(b"text", 1).unwrap();
        assert_eq!(StepTester::parse("unzstd").result(&announced.repeat(3), &[1]), b"texttexttext");
    }

    #[test]
    fn unzstd_window_limit_in_error() {
        // The header requests a window of 2 GiB (RFC 8878, 3.1.1.1.2).
        let large = [0x28, 0xb5, 0x2f, 0xfd, 0x00, (31 - 10) << 3, 0x01, 0x00, 0x00];
        assert_eq!(
            error_of(&large),
            "unzstd: a zstd frame that needs more than 128 MiB of memory at byte 0"
        );
    }

    #[test]
    fn unzstd_large_result_emitted_in_blocks() {
        // 64 MiB of zeros in a few kilobytes must not be held in memory.
        let content = vec![0; 64 << 20];
        let input = frame(&content);
        assert!(input.len() < 10_000);
        let (mut gathered, mut total) = (Vec::new(), 0);
        let mut next = |block: &[u8]| {
            assert!(block.len() <= 2 * crate::output::BLOCK);
            total += block.len();
            Ok(())
        };
        let mut out = OutputBuffer::new(&mut gathered, &mut next);
        let mut step = unzstd(None).unwrap();
        step.feed(&input, &mut out).unwrap();
        step.finish(&mut out).unwrap();
        out.flush().unwrap();
        assert_eq!(total, content.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn unzstd_any_bytes_same_outcome_for_any_blocks(input in any_bytes(), sizes in cuts()) {
            // The tester compares the outcomes of two ways to split the input.
            let _ = StepTester::parse("unzstd").run(&input, &sizes);
        }

        #[test]
        fn unzstd_damaged_frame_same_outcome_for_any_blocks(
            input in any_bytes(),
            at in any::<prop::sample::Index>(),
            bit in 0..8_u32,
            sizes in cuts(),
        ) {
            let mut damaged = frame(&input);
            let at = at.index(damaged.len());
            damaged[at] ^= 1_u8 << bit;
            if let Ok(outcome) = StepTester::parse("unzstd").run(&damaged, &sizes) {
                // Some bits may change without effect.
                prop_assert_eq!(outcome.result, input);
            }
        }
    }
}
