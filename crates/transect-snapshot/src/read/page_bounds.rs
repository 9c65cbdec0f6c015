//! The greatest value of each page of a column: pages are skipped whose values are too small.

use transect_sys::ReadAt;

use crate::checksum::{Seal, verify};

use super::error::{ReadError, damaged};
use super::footer::ColumnChunk;
use super::thrift::{BINARY, Thrift};

/// The maximum length of the bounds of a row group's column. The writer's have less than a kilobyte.
const MAX_BYTES: u64 = 1 << 20;

/// Returns the greatest number of each page of a column of a row group (`ColumnIndex` in
/// `parquet.thrift`); `None` for a page in which all are null. Empty if the file does not have all of them.
pub(super) fn greatest(
    source: &impl ReadAt,
    chunk: &ColumnChunk,
) -> Result<Vec<Option<u64>>, ReadError> {
    let length = |(begin, end): (u64, u64)| (begin, end - begin);
    let Some((offset, length)) = chunk.bounds.map(length).filter(|&(_, it)| it <= MAX_BYTES) else {
        return Ok(Vec::new());
    };
    let mut bytes = vec![0; length as usize];
    source.read_exact_at(offset, &mut bytes)?;
    if chunk.is_checked && verify(&bytes) != Seal::Intact {
        return damaged("the bounds of pages have a wrong checksum");
    }
    let (mut nulls, mut numbers) = (Vec::new(), Vec::new());
    Thrift::new(&bytes).fields(|thrift, id, _| {
        match id {
            1 => nulls = thrift.bools()?,
            3 => {
                let (kind, length) = thrift.list()?;
                for _ in 0..length {
                    if kind != BINARY {
                        return Ok(false);
                    }
                    numbers.push(number(thrift.binary()?));
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let is_whole = nulls.len() == numbers.len();
    let pages = nulls.into_iter().zip(numbers);
    let bounds = pages.map(|(is_null, number)| if is_null { Some(None) } else { number.map(Some) });
    Ok(bounds.collect::<Option<_>>().filter(|_| is_whole).unwrap_or_default())
}

/// Returns the number of a bound of 8 bytes.
fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_le_bytes)
}
