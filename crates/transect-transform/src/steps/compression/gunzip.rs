//! Decompresses gzip files (RFC 1952).

use flate2::{Crc, Decompress, FlushDecompress, Status};
use memchr::memchr;

use crate::output::OutputBuffer;
use crate::step::{Cost, InvalidData, Shape, Step, StepError};
use crate::steps::info::StepResult;
use crate::steps::pending::carry_over;

/// The beginning of a member.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Header flags for optional fields.
const HEADER_CHECKSUM: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;
const RESERVED: u8 = 0xe0;

/// Decompresses all members of a file. Rejects any other bytes between or after them.
struct Gunzip {
    decompress: Decompress,
    part: Part,
    /// Flags of the header.
    flags: u8,
    /// Bytes of an incomplete field of known length.
    field: Vec<u8>,
    /// Checksum of the header, and then of the content.
    checksum: Crc,
    /// Bytes of the input so far.
    position: u64,
    /// Offset of the member.
    member: u64,
}

/// The next part of a member, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The ten bytes of every header.
    Header,
    ExtraLength,
    Extra(usize),
    Name,
    Comment,
    HeaderChecksum,
    Content,
    Trailer,
}

/// Returns the step that decompresses gzip files.
pub(in crate::steps) fn gunzip(parameter: Option<&str>) -> StepResult {
    if parameter.is_some() {
        return Err("it has no parameter".to_owned());
    }
    Ok(Box::new(Gunzip {
        decompress: Decompress::new(false),
        part: Part::Header,
        flags: 0,
        field: Vec::with_capacity(10),
        checksum: Crc::new(),
        position: 0,
        member: 0,
    }))
}

impl Gunzip {
    /// Reads bytes of the current part. Returns the rest.
    fn take<'a>(
        &mut self,
        input: &'a [u8],
        out: &mut OutputBuffer<'_>,
    ) -> Result<&'a [u8], StepError> {
        match self.part {
            Part::Header => self.take_field(10, input, Self::header),
            Part::ExtraLength => self.take_field(2, input, Self::extra_length),
            Part::Extra(left) => {
                let (extra, rest) = input.split_at(input.len().min(left));
                self.checksum.update(extra);
                match left - extra.len() {
                    0 => self.next_header_field(NAME | COMMENT | HEADER_CHECKSUM),
                    left => self.part = Part::Extra(left),
                }
                Ok(rest)
            }
            Part::Name => Ok(self.take_text(input, COMMENT | HEADER_CHECKSUM)),
            Part::Comment => Ok(self.take_text(input, HEADER_CHECKSUM)),
            Part::HeaderChecksum => self.take_field(2, input, Self::header_checksum),
            Part::Content => self.take_content(input, out),
            Part::Trailer => self.take_field(8, input, Self::trailer),
        }
    }

    /// Reads a field of known length, and processes it when it is complete.
    fn take_field<'a>(
        &mut self,
        length: usize,
        input: &'a [u8],
        taken: impl FnOnce(&mut Self, &[u8]) -> Result<(), InvalidData>,
    ) -> Result<&'a [u8], StepError> {
        let mut field = std::mem::take(&mut self.field);
        let rest = carry_over(&mut field, length, input);
        if field.len() == length {
            taken(self, &field)?;
            field.clear();
        }
        self.field = field;
        Ok(rest)
    }

    /// Skips a text of any length up to its NUL.
    fn take_text<'a>(&mut self, input: &'a [u8], then: u8) -> &'a [u8] {
        let end = memchr(0, input);
        let (text, rest) = input.split_at(end.map_or(input.len(), |end| end + 1));
        self.checksum.update(text);
        if end.is_some() {
            self.next_header_field(then);
        }
        rest
    }

    /// Goes on to the next field present, among those in `can_come`.
    fn next_header_field(&mut self, can_come: u8) {
        let come = self.flags & can_come;
        self.part = match come {
            _ if come & EXTRA != 0 => Part::ExtraLength,
            _ if come & NAME != 0 => Part::Name,
            _ if come & COMMENT != 0 => Part::Comment,
            _ if come & HEADER_CHECKSUM != 0 => Part::HeaderChecksum,
            _ => {
                self.checksum.reset();
                Part::Content
            }
        };
    }

    fn header(&mut self, header: &[u8]) -> Result<(), InvalidData> {
        if header[..2] != MAGIC {
            return Err(self.something_else());
        }
        let (method, flags) = (header[2], header[3]);
        if method != 8 || flags & RESERVED != 0 {
            return Err(self.invalid("a gzip member of a kind that is not known"));
        }
        self.flags = flags;
        self.checksum.reset();
        self.checksum.update(header);
        self.next_header_field(EXTRA | NAME | COMMENT | HEADER_CHECKSUM);
        Ok(())
    }

    fn extra_length(&mut self, length: &[u8]) -> Result<(), InvalidData> {
        self.checksum.update(length);
        match u16::from_le_bytes([length[0], length[1]]) {
            0 => self.next_header_field(NAME | COMMENT | HEADER_CHECKSUM),
            length => self.part = Part::Extra(usize::from(length)),
        }
        Ok(())
    }

    fn header_checksum(&mut self, stored: &[u8]) -> Result<(), InvalidData> {
        if stored != &self.checksum.sum().to_le_bytes()[..2] {
            return Err(self.invalid("a damaged gzip member (its header)"));
        }
        self.next_header_field(0);
        Ok(())
    }

    fn take_content<'a>(
        &mut self,
        input: &'a [u8],
        out: &mut OutputBuffer<'_>,
    ) -> Result<&'a [u8], StepError> {
        let mut rest = input;
        loop {
            let room = out.spare_block()?;
            let begin = room.len();
            let before = self.decompress.total_in();
            let status = self.decompress.decompress_vec(rest, room, FlushDecompress::None);
            self.checksum.update(&room[begin..]);
            let full = room.len() == room.capacity();
            let taken = usize::try_from(self.decompress.total_in() - before);
            rest = &rest[taken.expect("BUG: more was taken than there is")..];
            match status {
                // The library's message depends on how much input it got at once.
                Err(_) => return Err(self.invalid("a damaged gzip member (its content)").into()),
                Ok(Status::StreamEnd) => {
                    self.part = Part::Trailer;
                    return Ok(rest);
                }
                // If there is room left, the library has no more output for this input.
                Ok(_) if rest.is_empty() && !full => return Ok(rest),
                Ok(_) => {}
            }
        }
    }

    fn trailer(&mut self, trailer: &[u8]) -> Result<(), InvalidData> {
        let (checksum, length) = trailer.split_at(4);
        if checksum != self.checksum.sum().to_le_bytes() {
            return Err(self.invalid("a damaged gzip member (its checksum)"));
        }
        // Both are modulo 2^32.
        if length != self.checksum.amount().to_le_bytes() {
            return Err(self.invalid("a damaged gzip member (its length)"));
        }
        self.decompress.reset(false);
        self.part = Part::Header;
        Ok(())
    }

    /// Returns an error about the member. The position is its beginning, not where the damage was
    /// detected, which depends on how much input the library got at once.
    fn invalid(&self, reason: &str) -> InvalidData {
        InvalidData::at(self.member, reason)
    }

    fn something_else(&self) -> InvalidData {
        self.invalid(match self.member {
            0 => "not a gzip file: it begins with something else",
            _ => "trailing data that is not a gzip member",
        })
    }
}

impl Step for Gunzip {
    fn shape(&self) -> Shape {
        Shape::Resizing
    }

    fn cost(&self) -> Cost {
        Cost::Heavy
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let before = self.position;
        let mut rest = input;
        while !rest.is_empty() {
            if self.part == Part::Header && self.field.is_empty() {
                self.member = before + (input.len() - rest.len()) as u64;
            }
            rest = self.take(rest, out)?;
        }
        self.position += input.len() as u64;
        Ok(())
    }

    fn finish(&mut self, _out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let error = match self.part {
            Part::Header if self.position == 0 => InvalidData::new("not a gzip file: it is empty"),
            Part::Header if self.field.is_empty() => return Ok(()),
            Part::Header if !self.field.iter().zip(MAGIC).all(|(byte, magic)| *byte == magic) => {
                self.something_else()
            }
            _ => self.invalid("the file ends within the gzip member"),
        };
        Err(error.into())
    }

    fn reset(&mut self) {
        self.decompress.reset(false);
        self.part = Part::Header;
        self.field.clear();
        self.position = 0;
        self.member = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, GzBuilder};
    use proptest::prelude::*;

    use super::*;
    use crate::test_support::{StepTester, any_bytes, cuts};

    fn member(content: &[u8]) -> Vec<u8> {
        StepTester::parse("gzip").result(content, &[usize::MAX])
    }

    fn error_of(input: &[u8]) -> String {
        StepTester::parse("gunzip").run(input, &[1]).unwrap_err().to_string()
    }

    /// Returns a member whose header has every optional field.
    fn full(content: &[u8]) -> Vec<u8> {
        let builder = GzBuilder::new().extra(*b"extra").filename("name").comment("comment");
        let mut writer = builder.write(Vec::new(), Compression::fast());
        writer.write_all(content).unwrap();
        let mut member = writer.finish().unwrap();
        // The library writes no header checksum: insert it after the fields.
        let header = 10 + 2 + b"extra".len() + b"name\0".len() + b"comment\0".len();
        member[3] |= HEADER_CHECKSUM;
        let mut checksum = Crc::new();
        checksum.update(&member[..header]);
        let checksum = checksum.sum().to_le_bytes();
        member.splice(header..header, checksum[..2].iter().copied());
        member
    }

    #[test]
    fn gunzip_concatenated_members() {
        let input = [&member(b"one ")[..], &full(b"two "), &member(b""), &full(b"three")].concat();
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
    fn gunzip_other_bytes_rejected_at_offset() {
        let whole = full(b"some text");
        let length = whole.len();
        assert_eq!(error_of(b""), "gunzip: not a gzip file: it is empty");
        for text in [&b"x"[..], b"\x1fx", b"some text that is longer"] {
            assert_eq!(
                error_of(text),
                "gunzip: not a gzip file: it begins with something else at byte 0"
            );
        }
        for garbage in [&b"x"[..], &[0; 512]] {
            assert_eq!(
                error_of(&[&whole[..], garbage].concat()),
                format!("gunzip: trailing data that is not a gzip member at byte {length}")
            );
        }
        for cut in 1..length {
            assert_eq!(
                error_of(&whole[..cut]),
                "gunzip: the file ends within the gzip member at byte 0",
                "{cut}"
            );
        }
    }

    #[test]
    fn gunzip_damage_detected() {
        let whole = full(b"some text");
        let length = whole.len();
        for (at, what) in [
            (2, "a gzip member of a kind that is not known"),
            (12, "a damaged gzip member (its header)"),
            (length - 8, "a damaged gzip member (its checksum)"),
            (length - 4, "a damaged gzip member (its length)"),
        ] {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            assert_eq!(error_of(&damaged), format!("gunzip: {what} at byte 0"));
        }
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
            let mut damaged = full(&input);
            let at = at.index(damaged.len());
            damaged[at] ^= 1_u8 << bit;
            if let Ok(outcome) = StepTester::parse("gunzip").run(&damaged, &sizes) {
                // Some bits may change without effect.
                prop_assert_eq!(outcome.result, input);
            }
        }
    }
}
