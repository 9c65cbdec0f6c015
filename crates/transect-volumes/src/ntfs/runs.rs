//! Content that is on clusters: lists of runs, and reading.
//!
//! Source: Linux, `fs/ntfs3/run.c` (`run_unpack`).

use std::io;
use std::ops::Range;

use transect_sys::ReadAt;

use super::super::error::invalid;

/// Consecutive clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    /// The place of the first in the content, in clusters.
    first: u64,
    /// The first cluster on the volume; `None` for a hole.
    cluster: Option<u64>,
    clusters: u64,
}

/// Where content is on the volume.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    /// In the order of the content, without gaps.
    runs: Vec<Run>,
    cluster_size: u32,
    clusters: u64,
}

impl Runs {
    /// Returns the runs of content without a cluster yet, on a volume with so many clusters of this size.
    pub(super) fn new(cluster_size: u32, clusters: u64) -> Self {
        Self { runs: Vec::new(), cluster_size, clusters }
    }

    /// Returns the number of clusters, with those in holes.
    pub(super) fn end(&self) -> u64 {
        self.runs.last().map_or(0, |last| last.first + last.clusters)
    }

    /// Returns the number of bytes, with those in holes.
    pub(super) fn bytes(&self) -> u64 {
        self.end().saturating_mul(self.cluster_size.into())
    }

    /// Returns whether all of it is on the volume, and no cluster more often than once by number: so the
    /// content is not larger than the volume.
    pub(super) fn is_stored(&self) -> bool {
        self.runs.iter().all(|run| run.cluster.is_some()) && self.end() <= self.clusters
    }

    /// Returns whether the clusters outside holes are not more than the volume has.
    pub(super) fn is_small(&self) -> bool {
        let stored = self.runs.iter().filter(|run| run.cluster.is_some());
        stored.map(|run| run.clusters).try_fold(0, u64::checked_add) <= Some(self.clusters)
    }

    /// Returns the parts of the content outside holes, in bytes.
    pub(super) fn stored(&self) -> impl Iterator<Item = Range<u64>> {
        let size = u64::from(self.cluster_size);
        let stored = self.runs.iter().filter(|run| run.cluster.is_some());
        stored.map(move |run| {
            run.first.saturating_mul(size)..(run.first + run.clusters).saturating_mul(size)
        })
    }

    pub(super) fn append(&mut self, list: &[u8]) -> io::Result<()> {
        let damaged = || invalid("a list of runs is damaged");
        let (mut rest, mut cluster) = (list, 0_i64);
        loop {
            let Some((&header, numbers)) = rest.split_first() else { return Err(damaged()) };
            if header == 0 {
                return Ok(());
            }
            let (length, offset) = (usize::from(header & 0xF), usize::from(header >> 4));
            if length == 0 || length > 8 || offset > 8 || numbers.len() < length + offset {
                return Err(damaged());
            }
            let (clusters, numbers) = numbers.split_at(length);
            let (distance, numbers) = numbers.split_at(offset);
            rest = numbers;
            let clusters = u64::try_from(signed(clusters)).map_err(|_| damaged())?;
            let first = self.end();
            let end = first.checked_add(clusters).filter(|&end| end <= i64::MAX as u64);
            if clusters == 0 || end.is_none() {
                return Err(damaged());
            }
            let is_hole = offset == 0;
            cluster = cluster.checked_add(signed(distance)).ok_or_else(damaged)?;
            let begin = u64::try_from(cluster).map_err(|_| damaged())?;
            if !is_hole && begin.checked_add(clusters).is_none_or(|end| end > self.clusters) {
                return Err(damaged());
            }
            self.runs.push(Run { first, cluster: (!is_hole).then_some(begin), clusters });
        }
    }

    /// Appends clusters that are at the same place on the volume, behind a hole up to the first of them.
    pub(super) fn append_in_place(&mut self, clusters: Range<u64>) {
        let first = self.end();
        if first < clusters.start {
            self.runs.push(Run { first, cluster: None, clusters: clusters.start - first });
        }
        let (first, clusters) = (clusters.start, clusters.end - clusters.start);
        match self.runs.last_mut().filter(|last| last.cluster.is_some()) {
            Some(last) => last.clusters += clusters,
            None => self.runs.push(Run { first, cluster: Some(first), clusters }),
        }
    }

    /// Fills a block with the content at an offset. Holes are zeros.
    pub(super) fn read(
        &self,
        source: &dyn ReadAt,
        mut offset: u64,
        mut block: &mut [u8],
    ) -> io::Result<()> {
        let size = u64::from(self.cluster_size);
        while !block.is_empty() {
            let at = self.runs.partition_point(|run| run.first <= offset / size);
            let run = at.checked_sub(1).map(|at| self.runs[at]);
            let inside = run.map(|run| (run, offset - run.first * size));
            let Some((run, inside)) = inside.filter(|(run, at)| at / size < run.clusters) else {
                return Err(io::ErrorKind::UnexpectedEof.into());
            };
            let left = (run.clusters - inside / size).saturating_mul(size) - inside % size;
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(block.len());
            let (now, rest) = block.split_at_mut(length);
            match run.cluster {
                Some(cluster) => source.read_exact_at(cluster * size + inside, now)?,
                None => now.fill(0),
            }
            block = rest;
            offset += length as u64;
        }
        Ok(())
    }
}

/// Returns a little-endian number of up to eight bytes, whose highest bit is its sign.
fn signed(bytes: &[u8]) -> i64 {
    let is_negative = bytes.last().is_some_and(|&last| last & 0x80 != 0);
    let mut all = [if is_negative { 0xFF } else { 0 }; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_list_with_hole_and_negative_distance() {
        let mut runs = Runs::new(512, 100);
        // 3 clusters from 50 on, a hole of 2, one cluster 10 before 50.
        runs.append(&[0x11, 3, 50, 0x01, 2, 0x11, 1, 0xF6, 0]).unwrap();
        let run = |first, cluster, clusters| Run { first, cluster, clusters };
        assert_eq!(runs.runs, [run(0, Some(50), 3), run(3, None, 2), run(5, Some(40), 1)]);
        let volume: Vec<u8> = (0..100 * 512).map(|at| (at / 512) as u8).collect();
        let mut block = [9; 1100];
        runs.read(&volume, 2 * 512 + 500, &mut block).unwrap();
        assert_eq!((block[0], block[12], block[12 + 1023], block[12 + 1024]), (52, 0, 0, 40));
        assert!(runs.read(&volume, 6 * 512 - 1, &mut [0; 2]).is_err(), "beyond the end");
        assert!(!runs.is_stored());
    }

    #[test]
    fn runs_outside_volume_or_cut_off_damaged() {
        for list in [
            &[0x11, 3, 98, 0][..],     // three clusters from 98 on
            &[0x11, 1, 0xFF, 0],       // before the first cluster
            &[0x11, 0, 5, 0],          // no clusters
            &[0x10, 5, 0],             // no length
            &[0x11, 3, 5],             // no end
            &[0x19, 1, 1, 1, 1, 1, 1], // a length of nine bytes
            &[0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 1, 0],
            &[],
        ] {
            assert!(Runs::new(512, 100).append(list).is_err(), "{list:?}");
        }
    }
}
