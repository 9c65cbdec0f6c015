//! Decodes the values of a page. Memory grows with the number of values that the caller expects, which
//! is limited, and with the bytes of the page; never with a number in the page.
//!
//! Source: `Encodings.md` of apache/parquet-format.

use crate::byte_values::ByteValues;

use super::error::{ReadError, damaged};
use super::thrift::varint;

#[derive(Clone, Copy, Debug)]
pub(crate) struct PageBytes<'b>(&'b [u8]);

impl<'b> PageBytes<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], ReadError> {
        match self.0.split_at_checked(length) {
            Some((bytes, rest)) => {
                self.0 = rest;
                Ok(bytes)
            }
            None => damaged("a page ends too early"),
        }
    }

    pub(crate) fn u32(&mut self) -> Result<u32, ReadError> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(bytes.try_into().expect("BUG: four bytes")))
    }

    pub(crate) fn byte(&mut self) -> Result<u8, ReadError> {
        Ok(self.take(1)?[0])
    }

    fn varint(&mut self) -> Result<u64, ReadError> {
        varint(|| self.byte())
    }

    fn zigzag(&mut self) -> Result<u64, ReadError> {
        let value = self.varint()?;
        Ok((value >> 1) ^ (value & 1).wrapping_neg())
    }
}

/// Decodes `count` numbers of 4 or 8 bytes, one after the other.
pub(crate) fn plain(
    mut bytes: PageBytes<'_>,
    count: usize,
    width: usize,
    values: &mut Vec<u64>,
) -> Result<(), ReadError> {
    let bytes = bytes.take(count * width)?;
    match width {
        4 => values
            .extend(bytes.as_chunks::<4>().0.iter().map(|it| u64::from(u32::from_le_bytes(*it)))),
        _ => values.extend(bytes.as_chunks::<8>().0.iter().map(|it| u64::from_le_bytes(*it))),
    }
    Ok(())
}

/// Decodes `count` numbers whose first bytes come first, then all second bytes, and so on.
pub(crate) fn byte_stream_split(
    mut bytes: PageBytes<'_>,
    count: usize,
    width: usize,
    values: &mut Vec<u64>,
) -> Result<(), ReadError> {
    let bytes = bytes.take(count * width)?;
    if count == 0 {
        return Ok(());
    }
    let mut streams = [&bytes[..0]; 8];
    for (stream, bytes) in streams.iter_mut().zip(bytes.chunks_exact(count)) {
        *stream = bytes;
    }
    if width == 8 {
        let [a, b, c, d, e, f, g, h] = streams.map(|stream| &stream[..count]);
        values.extend(
            (0..count)
                .map(|i| u64::from_le_bytes([a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i]])),
        );
    } else {
        let [a, b, c, d, ..] = streams;
        values.extend((0..count).map(|i| u64::from(u32::from_le_bytes([a[i], b[i], c[i], d[i]]))));
    }
    Ok(())
}

/// Decodes `count` numbers stored as differences. Returns the bytes behind them.
pub(crate) fn delta<'b>(
    mut bytes: PageBytes<'b>,
    count: usize,
    values: &mut Vec<u64>,
) -> Result<PageBytes<'b>, ReadError> {
    let (block, parts) = (bytes.varint()?, bytes.varint()?);
    let total = bytes.varint()?;
    if block == 0
        || block > 1 << 16
        || !block.is_multiple_of(128)
        || parts == 0
        || !block.is_multiple_of(parts)
    {
        return damaged("blocks of an impossible size");
    }
    let per_part = (block / parts) as usize;
    if !per_part.is_multiple_of(32) || total != count as u64 {
        return damaged("a page has another number of values");
    }
    let mut last = bytes.zigzag()?;
    if count == 0 {
        return Ok(bytes);
    }
    values.push(last);
    let mut left = count - 1;
    while left > 0 {
        let least = bytes.zigzag()?;
        let widths = bytes.take(parts as usize)?;
        for &width in widths {
            if left == 0 {
                break;
            }
            if width > 64 {
                return damaged("a number of more than 64 bits");
            }
            let packed = bytes.take(per_part * usize::from(width) / 8)?;
            let in_part = per_part.min(left);
            unpack(packed, width.into(), in_part, |difference| {
                last = last.wrapping_add(least).wrapping_add(difference);
                values.push(last);
            });
            left -= in_part;
        }
    }
    Ok(bytes)
}

/// Calls `each` with `count` numbers of `width` bits.
#[inline]
fn unpack(packed: &[u8], width: usize, count: usize, mut each: impl FnMut(u64)) {
    if width == 0 {
        (0..count).for_each(|_| each(0));
        return;
    }
    let mask = u64::MAX >> (64 - width);
    if width <= 8 {
        // Eight numbers are `width` bytes.
        for (group, bytes) in packed.chunks(width).enumerate() {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            let mut bits = u64::from_le_bytes(eight);
            for _ in 0..count.saturating_sub(group * 8).min(8) {
                each(bits & mask);
                bits = bits.checked_shr(width as u32).unwrap_or(0);
            }
        }
        return;
    }
    for index in 0..count {
        let bit = index * width;
        let (byte, shift) = (bit / 8, bit % 8);
        match packed.get(byte..byte + 8) {
            // Eight bytes hold 57 bits at any shift.
            Some(eight) if width <= 57 => {
                let bits = u64::from_le_bytes(eight.try_into().expect("BUG: eight bytes"));
                each(bits >> shift & mask);
            }
            _ => {
                let mut nine = [0; 16];
                let end = packed.len().min(byte + 9);
                nine[..end - byte].copy_from_slice(&packed[byte..end]);
                each((u128::from_le_bytes(nine) >> shift) as u64 & mask);
            }
        }
    }
}

/// Calls `each` with `count` bits, of which many in a row are often equal, as runs.
fn unpack_bits(packed: &[u8], count: usize, each: &mut impl FnMut(u32, usize)) {
    for (group, &byte) in packed.iter().enumerate() {
        let in_group = count.saturating_sub(group * 8).min(8);
        match byte {
            _ if in_group == 0 => return,
            0 | 0xff => each((byte & 1).into(), in_group),
            _ => (0..in_group).for_each(|bit| each((byte >> bit & 1).into(), 1)),
        }
    }
}

/// Decodes `count` numbers of `width` bits, stored as runs and groups of eight.
pub(crate) fn runs(
    mut bytes: PageBytes<'_>,
    width: usize,
    count: usize,
    mut each: impl FnMut(u32, usize),
) -> Result<(), ReadError> {
    if width > 32 {
        return damaged("a number of more than 32 bits");
    }
    let mut left = count;
    while left > 0 {
        let header = bytes.varint()?;
        let length = usize::try_from(header >> 1).unwrap_or(usize::MAX);
        if length == 0 {
            return damaged("an empty run");
        }
        if header & 1 == 0 {
            let mut four = [0; 4];
            let value = bytes.take(width.div_ceil(8))?;
            four[..value.len()].copy_from_slice(value);
            let length = length.min(left);
            each(u32::from_le_bytes(four), length);
            left -= length;
        } else {
            let in_groups = length.saturating_mul(8).min(left);
            // The last group may be cut where no values follow.
            let stored = length.saturating_mul(width).min(bytes.0.len());
            if stored < (in_groups * width).div_ceil(8) {
                return damaged("a page ends too early");
            }
            let packed = bytes.take(stored)?;
            match width {
                1 => unpack_bits(packed, in_groups, &mut each),
                _ => unpack(packed, width, in_groups, |value| each(value as u32, 1)),
            }
            left -= in_groups;
        }
    }
    Ok(())
}

/// Decodes `count` values with a length of 4 bytes each.
///
/// The values are moved together in the buffer of the page, which `values` takes: a second buffer costs a page fault for
/// every 4 KiB. `page` gets the one that `values` had.
pub(crate) fn plain_bytes(
    page: &mut Vec<u8>,
    begin: usize,
    count: usize,
    values: &mut ByteValues,
) -> Result<(), ReadError> {
    values.clear();
    let (mut next, mut end) = (begin, 0);
    for _ in 0..count {
        let mut bytes = PageBytes::new(page.get(next..).unwrap_or_default());
        let length = bytes.u32()? as usize;
        bytes.take(length)?;
        page.copy_within(next + 4..next + 4 + length, end);
        next += 4 + length;
        end += length;
        // A page is smaller than 4 GiB.
        values.ends.push(end as u32);
    }
    page.truncate(end);
    std::mem::swap(page, &mut values.bytes);
    Ok(())
}

/// Decodes `count` values whose lengths come first, as differences.
pub(crate) fn delta_length(
    bytes: PageBytes<'_>,
    count: usize,
    lengths: &mut Vec<u64>,
    values: &mut ByteValues,
) -> Result<(), ReadError> {
    lengths.clear();
    let mut bytes = delta(bytes, count, lengths)?;
    // A page is smaller than 4 GiB.
    let mut end = values.bytes.len() as u64;
    let begin = end;
    for &length in lengths.iter() {
        end = end.saturating_add(length);
        if end - begin > bytes.0.len() as u64 {
            return damaged("a page ends too early");
        }
        values.ends.push(end as u32);
    }
    values.bytes.extend_from_slice(bytes.take((end - begin) as usize)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn decoders_arbitrary_bytes_end_without_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            count in 0..300_usize,
            width in 0..40_usize,
        ) {
            let page = PageBytes::new(&bytes);
            let mut numbers = Vec::new();
            let _ = plain(page, count, 8, &mut numbers);
            let _ = byte_stream_split(page, count, 4, &mut numbers);
            let _ = delta(page, count, &mut numbers);
            let mut seen = 0;
            let all = runs(page, width, count, |_, length| seen += length);
            prop_assert!(all.is_err() || seen == count);
            let mut values = ByteValues::default();
            let _ = plain_bytes(&mut bytes.clone(), 0, count, &mut values);
            let _ = delta_length(page, count, &mut Vec::new(), &mut ByteValues::default());
            prop_assert!(numbers.len() <= 3 * count && values.ends.len() <= count);
        }
    }
}
