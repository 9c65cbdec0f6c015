//! Decodes UTF-16 in blocks.

use super::Order;
use crate::output::OutputBuffer;
use crate::step::{InvalidData, StepError};

/// Units to check at once.
const SPAN: usize = 32;

/// Converts UTF-16 to UTF-8, wherever blocks are split.
pub(super) struct Utf16 {
    order: Order,
    /// Offset of the next unit in the input.
    position: u64,
    /// The first byte of a unit that was split.
    broken: Option<u8>,
    /// The first half of a surrogate pair.
    high: Option<u16>,
}

impl Utf16 {
    /// Returns the state after `position` bytes that are not part of the text.
    pub(super) fn at(position: u64, order: Order) -> Self {
        Self { order, position, broken: None, high: None }
    }

    pub(super) fn feed(
        &mut self,
        input: &[u8],
        out: &mut OutputBuffer<'_>,
    ) -> Result<(), StepError> {
        let mut rest = input;
        if let (Some(first), [second, after @ ..]) = (self.broken, rest) {
            self.broken = None;
            self.unit([first, *second], out)?;
            rest = after;
        }
        let (units, last) = rest.as_chunks();
        for span in units.chunks(SPAN) {
            if self.high.is_none() && self.put_ascii(span, out)? {
                continue;
            }
            for unit in span {
                self.unit(*unit, out)?;
            }
        }
        if let [last] = last {
            self.broken = Some(*last);
        }
        Ok(())
    }

    pub(super) fn finish(&self) -> Result<(), StepError> {
        if self.high.is_some() {
            return Err(self.unpaired(self.position - 2));
        }
        match self.broken {
            Some(_) => Err(InvalidData::at(self.position, "half a unit of UTF-16").into()),
            None => Ok(()),
        }
    }

    fn value(&self, unit: [u8; 2]) -> u16 {
        match self.order {
            Order::Little => u16::from_le_bytes(unit),
            Order::Big => u16::from_be_bytes(unit),
        }
    }

    /// Writes a span if it is ASCII, and returns whether it was. That is the common case in many
    /// languages. Checks all units at once, which the compiler vectorises.
    fn put_ascii(
        &mut self,
        span: &[[u8; 2]],
        out: &mut OutputBuffer<'_>,
    ) -> Result<bool, StepError> {
        let all = span.iter().fold(0, |all, unit| all | self.value(*unit));
        if all >= 0x80 {
            return Ok(false);
        }
        let mut text = [0; SPAN];
        for (byte, unit) in text.iter_mut().zip(span) {
            // The other byte is 0.
            *byte = unit[0] | unit[1];
        }
        out.put(&text[..span.len()])?;
        self.position += 2 * span.len() as u64;
        Ok(true)
    }

    fn unit(&mut self, unit: [u8; 2], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        let unit = self.value(unit);
        let character = match (self.high, unit) {
            (None, 0xd800..=0xdbff) => {
                self.high = Some(unit);
                self.position += 2;
                return Ok(());
            }
            (Some(high), 0xdc00..=0xdfff) => {
                self.high = None;
                let (high, low) = (u32::from(high) - 0xd800, u32::from(unit) - 0xdc00);
                char::from_u32(0x1_0000 + (high << 10) + low)
            }
            (Some(_), _) => return Err(self.unpaired(self.position - 2)),
            (None, _) => char::from_u32(u32::from(unit)),
        };
        let character = character.ok_or_else(|| self.unpaired(self.position))?;
        self.position += 2;
        out.put(character.encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn unpaired(&self, position: u64) -> StepError {
        InvalidData::at(position, "half a character of UTF-16 (a surrogate alone)").into()
    }
}
