//! BPS patches: a result composed of parts of the file, of itself, and of the patch.
//!
//! ```text
//! "BPS1"  size before  size after  length of a comment, comment  action...  CRC-32 before, after, patch
//! ```
//!
//! Numbers have seven bits per byte, least significant first. The last byte has its top bit set.
//! For each further byte, one is subtracted, so that every number has only one encoding.

use flate2::Crc;

use super::changes::{Change, Changes, KnownFiles};
use crate::step::InvalidData;

pub(super) const MAGIC: &[u8] = b"BPS1";

/// Length of the three checksums at the end.
const FOOTER: usize = 12;

/// A patch whose actions have all been checked.
#[derive(Clone, Debug)]
pub(super) struct Bps {
    pub(super) before: u64,
    pub(super) after: u64,
    pub(super) crc_before: u32,
    pub(super) crc_after: u32,
    /// The actions, encoded.
    actions: Vec<u8>,
}

/// The source of the next bytes of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action<'a> {
    /// From the input.
    Before { from: u64, length: u64 },
    /// From the result so far, possibly including bytes that this action produces.
    After { from: u64, length: u64 },
    /// From the patch.
    Literal(&'a [u8]),
}

impl Action<'_> {
    fn length(&self) -> u64 {
        match *self {
            Action::Before { length, .. } | Action::After { length, .. } => length,
            Action::Literal(bytes) => bytes.len() as u64,
        }
    }
}

impl Bps {
    pub(super) fn parse(patch: &[u8]) -> Result<Self, InvalidData> {
        let cut_short = || InvalidData::new("it is cut short");
        let (body, footer) = patch.split_last_chunk::<FOOTER>().ok_or_else(cut_short)?;
        let (crcs, []) = footer.as_chunks::<4>() else { unreachable!("BUG: three times four") };
        let [crc_before, crc_after, crc] = [0, 1, 2].map(|at| u32::from_le_bytes(crcs[at]));
        let mut sum = Crc::new();
        sum.update(&patch[..patch.len() - 4]);
        if sum.sum() != crc {
            return Err(InvalidData::new("the patch has the wrong CRC-32"));
        }
        let mut rest = body.strip_prefix(MAGIC).ok_or_else(cut_short)?;
        let mut next = || {
            let (number, after) = number(rest)?;
            rest = after;
            Some(number)
        };
        let sizes = next().zip(next()).zip(next());
        let ((before, after), comment) = sizes.ok_or_else(cut_short)?;
        let comment = usize::try_from(comment).ok().filter(|length| *length <= rest.len());
        let actions = rest[comment.ok_or_else(cut_short)?..].to_vec();
        let bps = Self { before, after, crc_before, crc_after, actions };
        bps.verify((body.len() - bps.actions.len()) as u64)?;
        Ok(bps)
    }

    /// Checks that all actions are possible, and that they produce the specified length.
    fn verify(&self, begin: u64) -> Result<(), InvalidData> {
        let mut made = 0;
        let mut actions = self.actions();
        loop {
            let at = begin + (self.actions.len() - actions.rest.len()) as u64;
            match actions.next() {
                Some(action) => made += action.length(),
                None if actions.failed => {
                    return Err(InvalidData::at(at, "it does what cannot be done"));
                }
                None if made != self.after => {
                    let after = self.after;
                    let reason = format!("it makes {made} bytes, and should make {after}");
                    return Err(InvalidData::new(reason));
                }
                None => return Ok(()),
            }
        }
    }

    pub(super) fn actions(&self) -> Actions<'_> {
        Actions {
            patch: self,
            rest: &self.actions,
            made: 0,
            before_at: 0,
            after_at: 0,
            failed: false,
        }
    }

    /// Returns the patch as changes at single offsets, if it does nothing else.
    pub(super) fn changes(&self) -> Option<Changes> {
        if self.before != self.after {
            return None;
        }
        let (mut list, mut offset) = (Vec::new(), 0);
        for action in self.actions() {
            match action {
                Action::Before { from, .. } if from == offset => {}
                Action::Literal(new) => {
                    list.push(Change { offset, old: None, new: new.to_vec() });
                }
                _ => return None,
            }
            offset += action.length();
        }
        let known =
            KnownFiles { size: self.before, before: self.crc_before, after: self.crc_after };
        Some(Changes { list, known: Some(known), ..Changes::default() })
    }
}

/// Iterates over the actions of a patch, up to the first impossible one.
pub(super) struct Actions<'a> {
    patch: &'a Bps,
    rest: &'a [u8],
    /// Length of the result so far.
    made: u64,
    /// Where the last copy from the input ended, and the last from the result.
    before_at: u64,
    after_at: u64,
    failed: bool,
}

impl<'a> Iterator for Actions<'a> {
    type Item = Action<'a>;

    fn next(&mut self) -> Option<Action<'a>> {
        if self.failed || self.rest.is_empty() {
            return None;
        }
        let action = self.action();
        match action {
            Some(action) => self.made += action.length(),
            None => self.failed = true,
        }
        action
    }
}

impl<'a> Actions<'a> {
    fn action(&mut self) -> Option<Action<'a>> {
        let word = self.number()?;
        let length = (word >> 2).checked_add(1)?;
        if length > self.patch.after - self.made {
            return None;
        }
        match word & 3 {
            0 => before(self.patch, self.made, length),
            1 => {
                let (bytes, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
                self.rest = rest;
                Some(Action::Literal(bytes))
            }
            2 => {
                let from = self.copy_source(self.before_at)?;
                let action = before(self.patch, from, length)?;
                self.before_at = from + length;
                Some(action)
            }
            _ => {
                let from = self.copy_source(self.after_at)?;
                // It must start within the result so far, and may extend beyond it.
                if from >= self.made {
                    return None;
                }
                self.after_at = from.checked_add(length)?;
                Some(Action::After { from, length })
            }
        }
    }

    /// Reads the signed distance from `at` to the source of a copy, and returns the source.
    fn copy_source(&mut self, at: u64) -> Option<u64> {
        let word = self.number()?;
        let distance = word >> 1;
        if word & 1 == 0 { at.checked_add(distance) } else { at.checked_sub(distance) }
    }

    fn number(&mut self) -> Option<u64> {
        let (number, rest) = number(self.rest)?;
        self.rest = rest;
        Some(number)
    }
}

/// Returns a copy from the input, if it lies within it.
fn before<'a>(patch: &Bps, from: u64, length: u64) -> Option<Action<'a>> {
    let fits = from.checked_add(length).is_some_and(|end| end <= patch.before);
    fits.then_some(Action::Before { from, length })
}

/// Parses a number, and returns it with the rest; `None` if there is none, or if it is too large.
fn number(mut bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut number, mut unit) = (0_u64, 1_u64);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        bytes = rest;
        number = number.checked_add(u64::from(byte & 0x7f).checked_mul(unit)?)?;
        if byte & 0x80 != 0 {
            return Some((number, bytes));
        }
        unit = unit.checked_mul(128)?;
        number = number.checked_add(unit)?;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(in crate::patch) fn crc(bytes: &[u8]) -> u32 {
        let mut crc = Crc::new();
        crc.update(bytes);
        crc.sum()
    }

    /// Encodes a number as in the description of the format.
    fn encoded(mut number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let low = (number & 0x7f) as u8;
            number >>= 7;
            if number == 0 {
                bytes.push(low | 0x80);
                return bytes;
            }
            bytes.push(low);
            number -= 1;
        }
    }

    /// An action of a test patch.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::patch) enum Do<'a> {
        Same(u64),
        Literal(&'a [u8]),
        /// Distance from the end of the last copy, and length.
        Before(i64, u64),
        After(i64, u64),
    }

    pub(in crate::patch) fn patch(before: &[u8], after: &[u8], actions: &[Do<'_>]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [before.len() as u64, after.len() as u64, 7] {
            bytes.extend(encoded(number));
        }
        bytes.extend(b"comment");
        let word = |kind: u64, length: u64| encoded((length - 1) << 2 | kind);
        let moved = |by: i64| encoded(by.unsigned_abs() << 1 | u64::from(by < 0));
        for action in actions {
            match *action {
                Do::Same(length) => bytes.extend(word(0, length)),
                Do::Literal(literal) => {
                    bytes.extend(word(1, literal.len() as u64));
                    bytes.extend(literal);
                }
                Do::Before(by, length) => bytes.extend([word(2, length), moved(by)].concat()),
                Do::After(by, length) => bytes.extend([word(3, length), moved(by)].concat()),
            }
        }
        bytes.extend(crc(before).to_le_bytes());
        bytes.extend(crc(after).to_le_bytes());
        let own = crc(&bytes);
        bytes.extend(own.to_le_bytes());
        bytes
    }

    fn reason(before: &[u8], after: &[u8], actions: &[Do<'_>]) -> String {
        Bps::parse(&patch(before, after, actions)).unwrap_err().to_string()
    }

    #[test]
    fn bps_actions_parsed() {
        let bytes = patch(
            b"0123456789",
            b"01xx234567xx66",
            &[
                Do::Same(2),
                Do::Literal(b"xx"),
                Do::Before(2, 6),
                Do::After(2, 2),
                Do::Before(-2, 1),
                Do::After(8, 1),
            ],
        );
        let bps = Bps::parse(&bytes).unwrap();
        let actions: Vec<_> = bps.actions().collect();
        let expected = [
            Action::Before { from: 0, length: 2 },
            Action::Literal(b"xx"),
            Action::Before { from: 2, length: 6 },
            Action::After { from: 2, length: 2 },
            Action::Before { from: 6, length: 1 },
            Action::After { from: 12, length: 1 },
        ];
        assert_eq!(actions, expected);
        assert_eq!(bps.changes(), None);
    }

    #[test]
    fn bps_without_moves_becomes_changes() {
        let (before, after) = (b"0123456789", b"01xx456y89");
        let actions =
            [Do::Same(2), Do::Literal(b"xx"), Do::Same(3), Do::Literal(b"y"), Do::Before(8, 2)];
        let changes = Bps::parse(&patch(before, after, &actions)).unwrap().changes().unwrap();
        let change = |offset, new: &[u8]| Change { offset, old: None, new: new.to_vec() };
        assert_eq!(changes.list, [change(2, b"xx"), change(7, b"y")]);
        let known = KnownFiles { size: 10, before: crc(before), after: crc(after) };
        assert_eq!(changes.known, Some(known));
    }

    #[test]
    fn bps_impossible_actions_rejected() {
        let cannot = "it does what cannot be done at byte 14";
        for (actions, expected) in [
            (&[Do::Same(5)][..], cannot),
            (&[Do::Before(1, 4)], cannot),
            (&[Do::Before(-1, 1)], cannot),
            (&[Do::Before(i64::MAX, 1)], cannot),
            (&[Do::After(0, 1)], cannot),
            (&[Do::Literal(b"12345")], cannot),
            (&[Do::Same(1 << 60)], cannot),
            (&[Do::Literal(b"1"), Do::After(1, 1)], "it does what cannot be done at byte 16"),
            (&[Do::Same(3)], "it makes 3 bytes, and should make 4"),
            (&[], "it makes 0 bytes, and should make 4"),
        ] {
            assert_eq!(reason(b"0123", b"0123", actions), expected, "{actions:?}");
        }
    }

    #[test]
    fn bps_damage_detected() {
        let whole = patch(b"0123", b"01xx", &[Do::Same(2), Do::Literal(b"xx")]);
        for end in 0..whole.len() {
            assert!(Bps::parse(&whole[..end]).is_err(), "cut at {end}");
        }
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(Bps::parse(&damaged).is_err(), "bit {bit}");
        }
    }

    /// Adds the correct checksum, so that the parser itself must reject the patch.
    fn sealed(mut body: Vec<u8>) -> Vec<u8> {
        let own = crc(&body);
        body.extend(own.to_le_bytes());
        body
    }

    proptest! {
        #[test]
        fn bps_numbers_round_trip(value in any::<u64>()) {
            for value in [value, value >> 20, value >> 40, value >> 56] {
                let written = encoded(value);
                prop_assert_eq!(number(&written), Some((value, &[][..])));
                prop_assert_eq!(number(&written[..written.len() - 1]), None);
            }
        }

        #[test]
        fn bps_any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(bps) = Bps::parse(&sealed([MAGIC, &bytes].concat())) {
                let length: u64 = bps.actions().map(|action| action.length()).sum();
                prop_assert_eq!(length, bps.after);
            }
        }

        #[test]
        fn bps_damaged_with_valid_checksum_never_panics(
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            let actions = [Do::Same(2), Do::Literal(b"xx"), Do::Before(2, 6), Do::After(2, 2)];
            let mut body = patch(b"0123456789", b"01xx234567xx", &actions);
            body.truncate(body.len() - 4);
            let at = at.index(body.len());
            body[at] = byte;
            if let Ok(bps) = Bps::parse(&sealed(body)) {
                prop_assert_eq!(bps.actions().map(|action| action.length()).sum::<u64>(), bps.after);
            }
        }
    }
}
