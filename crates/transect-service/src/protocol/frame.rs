//! Frames: a length, a kind, and the payload.

use std::io::{self, Read};

use super::ProtocolError;

/// Bytes of the length at the start of every frame.
const LENGTH: usize = 4;

/// Bytes to read at once, unless the current frame needs more.
const READ: usize = 64 << 10;

/// A frame, without its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The number of a [`Kind`](super::Kind).
    pub kind: u8,
    /// The bytes after the header.
    pub payload: &'a [u8],
}

/// Appends a frame. `write` appends its payload.
pub fn append_frame(out: &mut Vec<u8>, kind: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH]);
    out.push(kind);
    write(out);
    let length = u32::try_from(out.len() - start - LENGTH).expect("BUG: a frame beyond all limits");
    out[start..start + LENGTH].copy_from_slice(&length.to_le_bytes());
}

/// Collects input until a frame is complete.
#[derive(Debug)]
pub struct FrameReader {
    bytes: Vec<u8>,
    /// Unread input starts here…
    start: usize,
    /// … and ends here.
    end: usize,
    longest: usize,
}

impl FrameReader {
    /// Returns a reader of frames of at most `longest` bytes.
    pub fn new(longest: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, end: 0, longest }
    }

    /// Returns the length of the current frame once it is known.
    fn length(&self) -> Result<Option<usize>, ProtocolError> {
        let Some(length) = self.bytes[self.start..self.end].first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        match u32::from_le_bytes(*length) as usize {
            0 => Err(ProtocolError("an empty frame")),
            length if length > self.longest => Err(ProtocolError("a frame is too long")),
            length => Ok(Some(length)),
        }
    }

    /// Returns whether a frame is complete.
    ///
    /// # Errors
    /// The input is not a frame, or one that is too long.
    pub fn is_ready(&self) -> Result<bool, ProtocolError> {
        let length = self.length()?;
        Ok(length.is_some_and(|length| self.end - self.start >= LENGTH + length))
    }

    /// Returns what has arrived and was not taken.
    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns whether no byte of the next frame has arrived.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Takes the complete frame.
    ///
    /// # Panics
    /// If it is not [ready](FrameReader::is_ready).
    pub fn take(&mut self) -> Frame<'_> {
        const READY: &str = "BUG: the caller did not check whether a frame is ready";
        let length = self.length().ok().flatten().expect(READY);
        let from = self.start + LENGTH;
        self.start = from + length;
        assert!(self.start <= self.end, "{READY}");
        Frame { kind: self.bytes[from], payload: &self.bytes[from + 1..self.start] }
    }

    /// Reads once. Returns the number of bytes; 0 at the end of the input.
    ///
    /// # Errors
    /// Those of the source.
    pub fn fill(&mut self, source: &mut impl Read) -> io::Result<usize> {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let wanted = self.length().ok().flatten().map_or(0, |length| LENGTH + length);
        // Room for twice what has arrived, not for whatever the length announces.
        let room = wanted.min(2 * self.end).max(self.end + READ);
        if self.bytes.len() < room {
            self.bytes.resize(room, 0);
        }
        let read = source.read(&mut self.bytes[self.end..])?;
        self.end += read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a few bytes at a time, as sockets do.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(block.len());
            self.0.read(&mut block[..most])
        }
    }

    #[test]
    fn frame_too_long_refused_before_allocation() {
        let mut inbox = FrameReader::new(100);
        inbox.fill(&mut &101_u32.to_le_bytes()[..]).unwrap();
        assert_eq!(inbox.is_ready(), Err(ProtocolError("a frame is too long")));
        let mut inbox = FrameReader::new(usize::MAX);
        inbox.fill(&mut &0_u32.to_le_bytes()[..]).unwrap();
        assert_eq!(inbox.is_ready(), Err(ProtocolError("an empty frame")));
    }

    proptest! {
        #[test]
        fn frame_any_chunks_round_trip(
            frames in prop::collection::vec(
                (any::<u8>(), prop::collection::vec(any::<u8>(), 0..300)), 0..20),
            drops in 1_usize..700,
        ) {
            let mut sent = Vec::new();
            for (kind, payload) in &frames {
                append_frame(&mut sent, *kind, |out| out.extend(payload));
            }
            let mut source = Drops(&sent, drops);
            let mut inbox = FrameReader::new(301);
            for (kind, payload) in &frames {
                while !inbox.is_ready().unwrap() {
                    prop_assert!(inbox.fill(&mut source).unwrap() > 0);
                }
                prop_assert_eq!(inbox.take(), Frame { kind: *kind, payload });
            }
            prop_assert!(inbox.is_empty());
            prop_assert_eq!(inbox.fill(&mut source).unwrap(), 0);
        }

        #[test]
        fn parser_random_bytes_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut inbox = FrameReader::new(50);
            inbox.fill(&mut &bytes[..]).unwrap();
            while inbox.is_ready() == Ok(true) {
                inbox.take();
            }
        }
    }
}
