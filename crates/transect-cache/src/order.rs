//! Paths in the order of their directories.

use std::hash::BuildHasher;
use std::path::Path;

use foldhash::fast::FixedState;

use super::split_path::split;

/// So few paths are not worth being ordered, and so many are looked at before others are.
const SAMPLE: usize = 256;

/// In a directory come so many paths one after another, on average, where nothing is to be gained.
const MIN_RUN: usize = 4;

/// Returns the numbers of paths in an order in which those of one directory come one after another;
/// `None` if they do already, as far as the first of them tell, or if there are few.
///
/// For a cache, questions in no order are several times dearer than those about one directory after
/// another: each finds another part of memory cold. [`AttributeCache::get_many`] asks in this
/// order by itself; it is for whoever hands questions on to one.
///
/// [`AttributeCache::get_many`]: super::AttributeCache::get_many
pub fn by_directory<P: AsRef<Path>>(paths: &[P]) -> Option<Vec<u32>> {
    let numbers = 0..u32::try_from(paths.len()).ok()?;
    let sample = paths.get(..SAMPLE)?;
    if runs(sample) * MIN_RUN <= sample.len() {
        return None;
    }
    // Directories whose hashes are alike are mixed: they are asked a little slower.
    let hasher = FixedState::default();
    let key = |(number, path): (u32, &P)| {
        hasher.hash_one(directory(path)) & !u64::from(u32::MAX) | u64::from(number)
    };
    let mut keys: Vec<u64> = numbers.zip(paths).map(key).collect();
    keys.sort_unstable();
    Some(keys.into_iter().map(|key| key as u32).collect())
}

/// Returns how often a path lies in another directory than the one before it.
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
    fn every_path_comes_once_and_beside_those_of_its_directory() {
        let paths = scattered(2000, 37);
        let order = by_directory(&paths).unwrap();
        let ordered: Vec<&PathBuf> = order.iter().map(|&number| &paths[number as usize]).collect();
        assert_eq!(runs(&ordered), 36);
        let mut numbers = order;
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..2000));
    }

    #[test]
    fn what_is_ordered_or_small_is_left_as_it_is() {
        let mut paths = scattered(2000, 37);
        assert!(by_directory(&paths[..SAMPLE - 1]).is_none());
        paths.sort();
        assert!(by_directory(&paths).is_none());
    }
}
