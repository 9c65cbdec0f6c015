//! Which blocks of rows have files that may have several names: who shares bytes with whom is asked only there.
//!
//! The text of the key has the number of rows of the file, and then the numbers of the blocks, by ascending
//! ranges: `2000000 0-2 7` are four blocks. `docs/FORMAT.md` describes it.

use std::fmt::Write;
use std::ops::Range;

/// The key of the blocks in the metadata.
pub(crate) const LINKED_KEY: &str = "transect.linked_blocks";

pub(crate) const LINKED_BLOCK_ROWS: u64 = 8192;

/// Returns the text of a file of `rows` rows; for each block whether it is one of these.
pub(crate) fn text(rows: u64, blocks: &[bool]) -> String {
    let mut text = rows.to_string();
    let mut first = 0;
    for of in blocks.chunk_by(|a, b| a == b) {
        let last = first + of.len() - 1;
        let written = match (of[0], of.len()) {
            (false, _) => Ok(()),
            (true, 1) => write!(text, " {first}"),
            (true, _) => write!(text, " {first}-{last}"),
        };
        written.expect("BUG: a text has no limit");
        first += of.len();
    }
    text
}

/// Returns the rows of the blocks; `None` for anything else than the text of a file of `rows` rows.
pub(crate) fn parse(text: &[u8], rows: u64) -> Option<Vec<Range<u64>>> {
    let mut parts = std::str::from_utf8(text).ok()?.split(' ');
    if parts.next()?.parse::<u64>().ok()? != rows {
        return None;
    }
    let blocks = rows.div_ceil(LINKED_BLOCK_ROWS);
    let mut found: Vec<Range<u64>> = Vec::new();
    let mut next = 0;
    for part in parts {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        if first < next || last < first || last >= blocks {
            return None;
        }
        next = last + 1;
        found.push(first * LINKED_BLOCK_ROWS..(next * LINKED_BLOCK_ROWS).min(rows));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn linked_blocks_read_as_written(blocks in prop::collection::vec(any::<bool>(), 1..40), cut in 0..8192_u64) {
            let rows = blocks.len() as u64 * LINKED_BLOCK_ROWS - cut;
            let found = parse(text(rows, &blocks).as_bytes(), rows).expect("it was just written");
            for (block, &is_one) in (0..).zip(&blocks) {
                let first = block * LINKED_BLOCK_ROWS;
                for row in [first, (first + LINKED_BLOCK_ROWS).min(rows) - 1] {
                    let is_found = found.iter().any(|range| range.contains(&row));
                    prop_assert_eq!(is_found, is_one);
                }
            }
            prop_assert!(found.iter().all(|range| range.end <= rows));
        }

        #[test]
        fn linked_blocks_of_anything_end_without_panic(text in "[0-9 -]{0,40}", rows in any::<u64>()) {
            let _ = parse(text.as_bytes(), rows);
        }
    }

    #[test]
    fn linked_blocks_that_do_not_fit_are_refused() {
        let rows = 9 * LINKED_BLOCK_ROWS;
        assert_eq!(text(rows, &[true, true, false, true]), "73728 0-1 3");
        assert_eq!(parse(b"73728", rows), Some(Vec::new()));
        assert!(parse(b"73728 8", rows).is_some());
        for other in ["", "73727 1", "73728 9", "73728 3 2", "73728 2-1", "73728 1  2", "73728 x"] {
            assert_eq!(parse(other.as_bytes(), rows), None, "{other}");
        }
    }
}
