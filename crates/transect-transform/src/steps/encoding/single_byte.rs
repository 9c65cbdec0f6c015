//! Encodings with one byte per character: ISO 8859-1 and Windows-1252.

use super::{Encoding, ascii};
use crate::output::OutputBuffer;
use crate::step::{InvalidData, StepError};

/// The characters 0x80 to 0x9F of Windows-1252 in `CP1252.TXT` from unicode.org; 0 for undefined
/// bytes. All others are as in ISO 8859-1, whose bytes are the first characters of Unicode.
const CP1252: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, //
    0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0, //
    0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, //
    0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
];

/// Converts single-byte characters to UTF-8.
pub(super) struct SingleByte {
    encoding: Encoding,
    position: u64,
    characters: Box<[Option<char>; 256]>,
}

impl SingleByte {
    pub(super) fn new(encoding: Encoding) -> Self {
        let characters = Box::new(std::array::from_fn(|byte| match (encoding, byte) {
            (Encoding::Cp1252, 0x80..=0x9f) => {
                let code = CP1252[byte - 0x80];
                char::from_u32(u32::from(code)).filter(|_| code != 0)
            }
            // 256 numbers from 0 up: every index is a byte.
            _ => Some(char::from(byte as u8)),
        }));
        Self { encoding, position: 0, characters }
    }

    pub(super) fn feed(
        &mut self,
        input: &[u8],
        out: &mut OutputBuffer<'_>,
    ) -> Result<(), StepError> {
        let mut rest = input;
        while !rest.is_empty() {
            let (text, after) = rest.split_at(ascii(rest));
            out.put(text)?;
            self.position += text.len() as u64;
            rest = after;
            while let [byte, after @ ..] = rest
                && !byte.is_ascii()
            {
                let character = self.characters[usize::from(*byte)].ok_or_else(|| {
                    let name = self.encoding.name();
                    InvalidData::at(self.position, format!("0x{byte:02X} is not defined in {name}"))
                })?;
                out.put(character.encode_utf8(&mut [0; 4]).as_bytes())?;
                self.position += 1;
                rest = after;
            }
        }
        Ok(())
    }
}

pub(super) fn byte(encoding: Encoding, character: char) -> Option<u8> {
    let code = u32::from(character);
    match (encoding, u8::try_from(code)) {
        (Encoding::Cp1252, Ok(0x80..=0x9f)) => None,
        (_, Ok(byte)) => Some(byte),
        (Encoding::Cp1252, Err(_)) => {
            let index = CP1252.iter().position(|known| u32::from(*known) == code)?;
            u8::try_from(index).ok().map(|index| index + 0x80)
        }
        (_, Err(_)) => None,
    }
}
