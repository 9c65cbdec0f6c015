//! Sorts paths by directory.

use std::hash::BuildHasher;
use std::path::Path;

use foldhash::fast::FixedState;

use super::split_path::split;

/// The number of paths examined to see whether they are sorted. Fewer paths are not worth sorting.
const SAMPLE: usize = 256;

/// If this many consecutive paths share a directory on average, sorting gains nothing.
const MIN_RUN: usize = 4;

/// Returns the indexes of paths in an order that groups them by directory; `None` if there are few
/// paths, or the first of them are grouped already.
///
/// Lookups in random order cost several times as much as lookups grouped by directory: each finds
/// other memory cold. [`AttributeCache::get_many`] uses this order by itself. Programs that forward
/// lookups to a cache can use it, too.
///
/// [`AttributeCache::get_many`]: super::AttributeCache::get_many
pub fn by_directory<P: AsRef<Path>>(paths: &[P]) -> Option<Vec<u32>> {
    let numbers = 0..u32::try_from(paths.len()).ok()?;
    let sample = paths.get(..SAMPLE)?;
    if runs(sample) * MIN_RUN <= sample.len() {
        return None;
    }
    // Directories with equal hashes are mixed, which only costs time.
    let hasher = FixedState::default();
    let key = |(number, path): (u32, &P)| {
        hasher.hash_one(directory(path)) & !u64::from(u32::MAX) | u64::from(number)
    };
    let mut keys: Vec<u64> = numbers.zip(paths).map(key).collect();
    keys.sort_unstable();
    Some(keys.into_iter().map(|key| key as u32).collect())
}

/// Returns how often a path is in another directory than the path before.
fn runs<P: AsRef<Path>>(paths: &[P]) -> usize {
    paths.windows(2).filter(|pair| directory(&pair[0]) != directory(&pair[1])).count()
}

fn directory<P: AsRef<Path>>(path: &P) -> &[u8] {
    split(path.as_ref()).map_or(b"", |(directory, _)| directory)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn scattered(paths: usize, directories: usize) -> Vec<PathBuf> {
        (0..paths).map(|n| format!("/d{}/f{n}", n % directories).into()).collect()
    }

    #[test]
    fn by_directory_scattered_paths_grouped() {
        let paths = scattered(2000, 37);
        let order = by_directory(&paths).unwrap();
        let ordered: Vec<&PathBuf> = order.iter().map(|&number| &paths[number as usize]).collect();
        assert_eq!(runs(&ordered), 36);
        let mut numbers = order;
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..2000));
    }

    #[test]
    fn by_directory_few_or_sorted_paths_none() {
        let mut paths = scattered(2000, 37);
        assert!(by_directory(&paths[..SAMPLE - 1]).is_none());
        paths.sort();
        assert!(by_directory(&paths).is_none());
    }
}
