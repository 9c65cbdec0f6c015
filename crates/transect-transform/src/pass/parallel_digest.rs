//! The BLAKE3 digest of a large file, computed on several threads.
//!
//! ```text
//! part 0   part 1   part 2   part 3   part 4      each read and digested by the next free thread
//!    └──┬─────┘        └──┬─────┘        │
//!       └────────┬────────┘              │
//!                └──────────┬────────────┘
//!                         digest
//! ```
//!
//! BLAKE3 is a tree hash: the value of a subtree depends only on its bytes and its offset. A part
//! is a whole subtree (a power of two of bytes, at a multiple of its length), so parts can be
//! digested in any order.

use std::sync::atomic::{AtomicU64, Ordering};

use blake3::hazmat::{
    ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root,
};

use super::block::{Block, LARGE_BLOCK};
use super::idle::IdleThreads;
use super::options::{PassOptions, add_progress};
use crate::error::Error;
use crate::source::{Source, check_cancelled, fill_at};

/// Size from which several threads pay off: for smaller files, starting them takes much of the
/// time.
pub(super) const MIN_PARALLEL_SIZE: u64 = 4 << 20;

/// Length of a part: long enough that taking one costs nothing.
const PART: u64 = 1 << 20;

/// Maximum number of parts, so that their values take little memory.
const MAX_PARTS: u64 = 1 << 16;

/// Returns the digest of a file of at least [`MIN_PARALLEL_SIZE`] bytes. Threads join in as they
/// become idle.
///
/// # Errors
/// The file became shorter, the pass was cancelled, or the system reported an error.
pub(super) fn digest(
    source: &Source,
    options: &PassOptions,
    idle: &IdleThreads,
) -> Result<[u8; blake3::OUT_LEN], Error> {
    let part = PART.max(source.size().div_ceil(MAX_PARTS).next_power_of_two());
    let parts = PartQueue { source, options, part, next: AtomicU64::new(0) };
    let mut values = std::thread::scope(|scope| {
        let mut others = Vec::new();
        let own = parts.work(|| {
            while parts.next.load(Ordering::Relaxed) < parts.count()
                && let Some(borrowed) = idle.borrow()
            {
                let parts = &parts;
                others.push(scope.spawn(move || {
                    let values = parts.work(|| {});
                    drop(borrowed);
                    values
                }));
            }
        });
        let others = others
            .into_iter()
            .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        // Join all threads before returning the first error.
        let all: Vec<_> = std::iter::once(own).chain(others).collect();
        all.into_iter().collect::<Result<Vec<_>, _>>()
    })?
    .concat();
    values.sort_unstable_by_key(|&(index, _)| index);
    let values: Vec<_> = values.into_iter().map(|(_, value)| value).collect();
    let (left, right) = values.split_at(left_of(values.len()));
    Ok(*merge_subtrees_root(&merged(left), &merged(right), Mode::Hash).as_bytes())
}

/// A file divided into parts.
struct PartQueue<'a> {
    source: &'a Source,
    options: &'a PassOptions,
    /// Length of every part but the last.
    part: u64,
    next: AtomicU64,
}

impl PartQueue<'_> {
    fn count(&self) -> u64 {
        self.source.size().div_ceil(self.part)
    }

    /// Digests parts until none is left. Returns their indexes and values. Calls `before_each`
    /// before each part.
    fn work(&self, mut before_each: impl FnMut()) -> Result<Vec<(u64, ChainingValue)>, Error> {
        let (mut values, mut block) = (Vec::new(), Block::default());
        loop {
            before_each();
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count() {
                return Ok(values);
            }
            let value = self.value(index, &mut block);
            // Without this part there is no digest, so stop the other threads.
            let value = value.inspect_err(|_| self.next.store(self.count(), Ordering::Relaxed))?;
            values.push((index, value));
        }
    }

    fn value(&self, index: u64, block: &mut Block) -> Result<ChainingValue, Error> {
        let Self { source, options, .. } = *self;
        let start = index * self.part;
        let end = source.size().min(start + self.part);
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(start);
        let mut at = start;
        while at < end {
            check_cancelled(&options.cancel, source)?;
            let length = (end - at).min(LARGE_BLOCK as u64) as usize;
            let block = block.first(length);
            let read = fill_at(source.file(), block, at).map_err(source.read_error())?;
            if read < length {
                return Err(Error::changed(source.path()));
            }
            at += read as u64;
            hasher.update(block);
            source.add_consumed(read as u64);
            add_progress(options.progress.as_deref(), read);
        }
        Ok(hasher.finalize_non_root())
    }
}

/// Returns how many of `parts` belong to the left subtree: the largest power of two that leaves at
/// least one.
fn left_of(parts: usize) -> usize {
    parts.next_power_of_two() / 2
}

fn merged(values: &[ChainingValue]) -> ChainingValue {
    if let [value] = values {
        return *value;
    }
    let (left, right) = values.split_at(left_of(values.len()));
    merge_subtrees_non_root(&merged(left), &merged(right), Mode::Hash)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use transect::Cancel;
    use transect_testkit::TempDir;

    use super::*;
    use crate::error::Reason;

    /// Creates a file of `size` bytes in which no two parts are equal.
    fn file(temp: &TempDir, size: u64) -> (Source, Vec<u8>) {
        let mut bytes = vec![0; size as usize];
        blake3::Hasher::new().update(&size.to_le_bytes()).finalize_xof().fill(&mut bytes);
        let path = temp.join("file");
        std::fs::write(&path, &bytes).unwrap();
        (Source::open(path).unwrap(), bytes)
    }

    #[test]
    fn parallel_digest_equals_sequential() {
        let temp = TempDir::new();
        let lengths = [4, 5, 7, 8, 9].map(|parts| parts * PART);
        for size in lengths.into_iter().flat_map(|size| [size - 1, size, size + 1, size + 1025]) {
            let (source, bytes) = file(&temp, size);
            for threads in [0, 1, 3] {
                source.rewind();
                let progress = Arc::new(AtomicU64::new(0));
                let options =
                    PassOptions { progress: Some(progress.clone()), ..PassOptions::default() };
                let idle = IdleThreads::new(threads);
                let digest = digest(&source, &options, &idle).unwrap();
                assert_eq!(digest, *blake3::hash(&bytes).as_bytes(), "{size} {threads}");
                assert_eq!((source.consumed(), progress.load(Ordering::Relaxed)), (size, size));
                assert_eq!(
                    std::iter::from_fn(|| idle.borrow().map(std::mem::forget)).count(),
                    threads
                );
            }
        }
    }

    #[test]
    fn parallel_digest_truncated_file_rejected() {
        let temp = TempDir::new();
        let (source, bytes) = file(&temp, 6 * PART);
        File::options().write(true).open(source.path()).unwrap().set_len(6 * PART - 1).unwrap();
        let idle = IdleThreads::new(2);
        let refused = digest(&source, &PassOptions::default(), &idle).unwrap_err();
        assert!(matches!(refused.reason(), Reason::Changed), "{refused}");
        std::fs::write(source.path(), bytes).unwrap();
        let cancel = Cancel::new();
        cancel.cancel();
        let options = PassOptions { cancel, ..PassOptions::default() };
        let refused = digest(&source, &options, &idle).unwrap_err();
        assert!(matches!(refused.reason(), Reason::Cancelled), "{refused}");
    }
}
