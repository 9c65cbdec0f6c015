//! Sorts more records than there is memory for: sorted runs in a temporary file, which are merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::path::Path;

use crate::scratch::Scratch;

/// The bytes that are read of a run at once, at least.
const MIN_READ: usize = 4096;

/// Returns the number of 8 bytes at an offset of a record, whose numbers are sorted as bytes.
pub(crate) fn u64_at(record: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(record[at..at + 8].try_into().expect("BUG: eight bytes"))
}

/// As [`u64_at`], of 16 bytes.
pub(crate) fn u128_at(record: &[u8], at: usize) -> u128 {
    u128::from_be_bytes(record[at..at + 16].try_into().expect("BUG: sixteen bytes"))
}

/// Records of `N` bytes, which are sorted by their bytes.
#[derive(Debug)]
pub(crate) struct Sorter<const N: usize> {
    records: Vec<[u8; N]>,
    /// The maximum number of records in memory.
    limit: usize,
    runs: Scratch,
    /// Where each run ends.
    ends: Vec<u64>,
}

impl<const N: usize> Sorter<N> {
    /// Returns an empty sorter that uses up to `memory` bytes, and a temporary file in `folder`.
    pub(crate) fn new(folder: &Path, memory: usize) -> Self {
        let limit = (memory / N).max(2);
        let runs = Scratch::new(Some(folder));
        Self { records: Vec::new(), limit, runs, ends: Vec::new() }
    }

    pub(crate) fn push(&mut self, record: [u8; N]) -> io::Result<()> {
        if self.records.len() == self.limit {
            self.end_run()?;
        }
        if self.records.len() == self.records.capacity() {
            // Twice as many each time, but never more than the limit.
            let more = self.records.len().clamp(64, self.limit.max(65) - 1);
            let room = self.limit - self.records.len();
            self.records.reserve_exact(more.min(room).max(1));
        }
        self.records.push(record);
        Ok(())
    }

    fn end_run(&mut self) -> io::Result<()> {
        self.records.sort_unstable();
        self.runs.append(self.records.as_flattened())?;
        self.ends.push(self.runs.len());
        self.records.clear();
        Ok(())
    }

    pub(crate) fn sorted(mut self) -> io::Result<Sorted<N>> {
        if self.ends.is_empty() {
            self.records.sort_unstable();
        } else {
            self.end_run()?;
            self.records = Vec::new();
        }
        let count = self.ends.len();
        let read = (self.limit * N / count.max(1)).max(MIN_READ) / N * N;
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let run =
            |(begin, &end)| Run { next: begin, end, block: Vec::new(), at: 0, read: read.max(N) };
        let runs = begins.zip(&self.ends).map(run).collect();
        let (heap, rest) = (BinaryHeap::new(), self.records.into_iter());
        let mut sorted = Sorted { heap, runs, source: self.runs, rest };
        for run in 0..count {
            sorted.refill(run)?;
        }
        Ok(sorted)
    }
}

/// A run that is being merged.
#[derive(Debug)]
struct Run {
    /// The offset of what is read next.
    next: u64,
    end: u64,
    block: Vec<u8>,
    at: usize,
    read: usize,
}

#[derive(Debug)]
pub(crate) struct Sorted<const N: usize> {
    /// The next record of each run.
    heap: BinaryHeap<Reverse<([u8; N], usize)>>,
    runs: Vec<Run>,
    source: Scratch,
    /// All records, if they fitted into memory.
    rest: std::vec::IntoIter<[u8; N]>,
}

impl<const N: usize> Sorted<N> {
    pub(crate) fn next(&mut self) -> io::Result<Option<[u8; N]>> {
        let Some(Reverse((record, run))) = self.heap.pop() else { return Ok(self.rest.next()) };
        self.refill(run)?;
        Ok(Some(record))
    }

    fn refill(&mut self, number: usize) -> io::Result<()> {
        let run = &mut self.runs[number];
        if run.at == run.block.len() {
            let length = (run.end - run.next).min(run.read as u64) as usize;
            run.block.resize(length, 0);
            run.at = 0;
            self.source.read_exact_at(run.next, &mut run.block)?;
            run.next += length as u64;
        }
        if let Some(record) = run.block[run.at..].first_chunk() {
            run.at += N;
            self.heap.push(Reverse((*record, number)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use transect_testkit::TempDir;

    use super::*;

    proptest! {
        #[test]
        fn sorted_is_the_order_of_the_records(
            records in prop::collection::vec(any::<[u8; 3]>(), 0..300),
            memory in 0..1000_usize,
        ) {
            let folder = TempDir::new();
            let mut sorter = Sorter::new(folder.path(), memory);
            records.iter().try_for_each(|&record| sorter.push(record)).unwrap();
            let mut sorted = sorter.sorted().unwrap();
            let found: Vec<[u8; 3]> = std::iter::from_fn(|| sorted.next().unwrap()).collect();
            let mut expected = records;
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
