//! Holes: parts of a file that read as zeros and occupy no space. Those of the input stay holes.

use crate::error::Error;
use crate::publish::Replacement;

/// The smallest hole to make; every file system supports this size.
const PAGE: usize = 4096;

/// Appends to a result, with a hole for every page of zeros.
pub(crate) fn append_sparse(out: &mut Replacement, bytes: &[u8]) -> Result<(), Error> {
    append_sparse_with(out, bytes, Replacement::append)
}

/// Appends as [`append_sparse`] does, using `append` for the data.
pub(super) fn append_sparse_with(
    out: &mut Replacement,
    mut bytes: &[u8],
    mut append: impl FnMut(&mut Replacement, &[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    while !bytes.is_empty() {
        let zeros = leading_run(bytes, out.length(), true);
        if zeros > 0 {
            out.hole(zeros as u64)?;
        }
        let data = leading_run(&bytes[zeros..], out.length(), false);
        append(out, &bytes[zeros..zeros + data])?;
        bytes = &bytes[zeros + data..];
    }
    Ok(())
}

/// Returns how many of the first bytes are in pages that are all zeros, or in pages that are not.
/// Pages start at multiples of the page size in the file; the first byte is at `offset`.
fn leading_run(bytes: &[u8], offset: u64, zeros: bool) -> usize {
    let first = PAGE - (offset % PAGE as u64) as usize;
    let mut length = 0;
    while length < bytes.len() {
        let end = if length == 0 { first } else { length + PAGE }.min(bytes.len());
        if is_zero(&bytes[length..end]) != zeros {
            break;
        }
        length = end;
    }
    length
}

fn is_zero(bytes: &[u8]) -> bool {
    static ZEROS: [u8; PAGE] = [0; PAGE];
    bytes == &ZEROS[..bytes.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_run_ends_at_page_of_file() {
        let mut bytes = vec![0; 3 * PAGE];
        bytes[PAGE + 5] = 1;
        assert_eq!(leading_run(&bytes, 0, true), PAGE);
        assert_eq!(leading_run(&bytes[PAGE..], PAGE as u64, false), PAGE);
        // The page that contains the 1 starts 10 bytes later.
        assert_eq!(leading_run(&bytes, 4086, true), 10);
        assert_eq!(leading_run(&bytes[..PAGE], 7, true), PAGE);
        assert_eq!(leading_run(&[], 7, true), 0);
    }
}
