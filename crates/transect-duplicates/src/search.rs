//! The search: candidates, heads and tails, whole files, groups.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use transect::table::{Row, Table};
use transect::{Cancel, Diagnostics, Operation, ScanError};
use transect_sys::extents::{SharingVolumes, shared_extents};

use crate::candidates::{Candidate, candidates};
use crate::digests::{DigestStore, FileState, FileStates, Record};
use crate::freed::set_freed;
use crate::group::{Duplicate, Group};
use crate::keep::Keep;
use crate::parallel::in_parallel;
use crate::progress::{Phase, Progress};
use crate::read::{Digest, Failure, FileReader, SMALL};

/// The options of a search.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FindOptions {
    /// The number of threads; by default one per core, and at least [`FindOptions::MIN_THREADS`].
    pub threads: Option<usize>,
    /// Search only below this directory. Names elsewhere count as names that the scan did not find.
    pub below: Option<Row>,
    /// Also group files of length 0.
    pub empty_files: bool,
    /// The walk followed links.
    pub follow: bool,
    /// Which file of a group comes first.
    pub keep: Keep,
    /// A request to stop, shared with other threads.
    pub cancel: Cancel,
    /// Counters to update during the search.
    pub progress: Arc<Progress>,
    /// Digests of files that need not be read again, for a table that also has the column
    /// [`FieldMask::CTIME`](transect::FieldMask::CTIME). Those to store are in [`Duplicates::digests`].
    pub digests: Option<Arc<DigestStore>>,
}

impl FindOptions {
    /// The default number of threads on machines with few cores: while one waits for a device,
    /// others read.
    pub const MIN_THREADS: usize = 4;

    pub(crate) fn thread_count(&self) -> usize {
        let default = || thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(|| default().max(Self::MIN_THREADS))
    }
}

/// The result of a search.
#[derive(Debug)]
#[non_exhaustive]
pub struct Duplicates {
    /// The groups: those that free most first, then the largest, then in the order of paths.
    pub groups: Vec<Group>,
    /// Files that could not be read, vanished or changed.
    pub diagnostics: Diagnostics,
    /// Of these, the files that changed since the walk.
    pub changed: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Whether the search was cancelled: there may be more groups, and more files in groups.
    pub interrupted: bool,
    /// The digests of all files that were compared, if [`FindOptions::digests`] are given. After a walk or a search that is not
    /// complete, also those known before.
    pub digests: Option<DigestStore>,
    /// The highest paths on file systems whose files are always read, because the system does not prove that they are unchanged.
    pub unproven: Vec<PathBuf>,
}

/// The size, the digest and the index of a candidate.
type Hashed = (u64, Digest, u32);

/// Finds the files of the same content in a table with [`COLUMNS`](crate::COLUMNS).
pub fn find(table: &Table, options: &FindOptions) -> Duplicates {
    let files = candidates(table, options.below, u64::from(!options.empty_files));
    let states = options.digests.is_some().then(|| FileStates::new(table, &files));
    let search = Search { table, options, files: &files, states };
    let mut out = Output::default();
    let all: Vec<u32> = (0..files.len() as u32).collect();
    let ends =
        search.read(Phase::Ends, &all, 16, &mut out, |reader, file| reader.ends(file).map(Some));
    let (mut groups, mut rest) = (Vec::new(), Vec::new());
    for group in groups_of(ends) {
        if group[0].0 <= SMALL as u64 {
            groups.push(group);
        } else {
            rest.extend(group.iter().map(|&(_, _, index)| index));
        }
    }
    // Candidates are in the order of reading; the largest come first, so that no thread is left
    // with one of them at the end.
    rest.sort_unstable_by_key(|&index| (large_first(files[index as usize].size), index));
    let whole = search
        .read(Phase::Whole, &rest, 1, &mut out, |reader, file| reader.whole(file, &options.cancel));
    groups.extend(groups_of(whole));
    let mut groups = search.finish(groups);
    groups.sort_by_key(|(order, group)| (std::cmp::Reverse((group.freed, group.size)), *order));
    let (diagnostics, changed) = search.diagnostics(out.failures);
    let interrupted = options.cancel.is_cancelled();
    let is_complete = !interrupted && table.diagnostics().is_complete();
    let digests = options.digests.as_ref().map(|known| known.next(out.records, is_complete));
    Duplicates {
        groups: groups.into_iter().map(|(_, group)| group).collect(),
        diagnostics,
        changed,
        bytes_read: options.progress.bytes(),
        interrupted,
        digests,
        unproven: search.states.map(|states| states.unproven).unwrap_or_default(),
    }
}

/// Returns a key that sorts files of at least 16 MiB by size, before all others.
fn large_first(size: u64) -> std::cmp::Reverse<u64> {
    std::cmp::Reverse(if size < 16 << 20 { 0 } else { size })
}

/// Returns the files of the same size and digest, where there are several.
fn groups_of(mut hashed: Vec<Hashed>) -> Vec<Vec<Hashed>> {
    hashed.sort_unstable();
    let groups = hashed.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1));
    groups.filter(|group| group.len() > 1).map(<[_]>::to_vec).collect()
}

/// What is collected beside digests.
#[derive(Default)]
struct Output {
    failures: Vec<(u32, Failure)>,
    /// Digests to store.
    records: Vec<Record>,
}

struct Search<'a> {
    table: &'a Table,
    options: &'a FindOptions,
    files: &'a [Candidate],
    /// `None` if no digests are kept.
    states: Option<FileStates<'a>>,
}

impl<'a> Search<'a> {
    fn read(
        &self,
        phase: Phase,
        files: &[u32],
        chunk: usize,
        out: &mut Output,
        digest: impl Fn(&mut FileReader<'a>, &Candidate) -> Result<Option<Digest>, Failure> + Sync,
    ) -> Vec<Hashed> {
        let FindOptions { progress, cancel, follow, .. } = self.options;
        progress.begin(phase, files.len());
        // What one thread reads, and what else it collects.
        let part =
            || (FileReader::new(self.table, progress, *follow), Vec::new(), Output::default());
        let threads = self.options.thread_count();
        let parts = in_parallel(threads, files.len(), chunk, cancel, part, |part, index| {
            let (reader, digests, out) = part;
            let index = files[index];
            let file = &self.files[index as usize];
            let known = self.known(file);
            let found = known.and_then(|(store, state)| store.find(state, phase));
            match found.map_or_else(|| digest(reader, file), |found| Ok(Some(found))) {
                Ok(Some(digest)) => {
                    digests.push((file.size, digest, index));
                    let is_unchanged = |state: FileState| reader.ctime == Some(state.ctime);
                    if let Some((_, state)) = known
                        && (found.is_some() || is_unchanged(state))
                    {
                        out.records.push(Record::new(state, phase, digest));
                    }
                }
                Ok(None) => {}
                Err(failure) => out.failures.push((index, failure)),
            }
            progress.add_file();
        });
        let mut digests = Vec::new();
        for (_, read, part) in parts {
            digests.extend(read);
            out.failures.extend(part.failures);
            out.records.extend(part.records);
        }
        digests
    }

    /// Returns the known digests and the state of a file, if its digests can be kept.
    fn known(&self, file: &Candidate) -> Option<(&'a DigestStore, FileState)> {
        let store = self.options.digests.as_deref()?;
        let state = self.states.as_ref()?.of(file)?;
        store.is_settled(state).then_some((store, state))
    }

    /// Makes groups, each with the position of its first name in the order of paths.
    fn finish(&self, groups: Vec<Vec<Hashed>>) -> Vec<(u32, Group)> {
        let keep = self.options.keep.absolute();
        let mut reader = FileReader::new(self.table, &self.options.progress, self.options.follow);
        let mut volumes = SharingVolumes::default();
        let groups = groups.into_iter().map(|mut group| {
            group.sort_unstable_by_key(|&(_, _, index)| self.files[index as usize].order);
            let (size, digest, first) = group[0];
            let order = self.files[first as usize].order;
            let copies = group.iter().map(|&(_, _, index)| {
                let names = self.files[index as usize].names.clone();
                Duplicate { names, freed: 0, has_other_names: false, is_clone: false }
            });
            let mut copies: Vec<Duplicate> = copies.collect();
            keep.choose(self.table, &mut copies);
            let shared: Vec<_> = copies
                .iter()
                .map(|copy| self.shared_extents(copy, &mut reader, &mut volumes))
                .collect();
            set_freed(self.table, &mut copies, &shared);
            let freed = copies.iter().fold(0_u64, |sum, copy| sum.saturating_add(copy.freed));
            (order, Group { size, digest, copies, freed })
        });
        groups.collect()
    }

    /// Returns the parts of the device that a file shares.
    fn shared_extents(
        &self,
        copy: &Duplicate,
        reader: &mut FileReader<'_>,
        volumes: &mut SharingVolumes,
    ) -> Vec<Range<u64>> {
        let row = copy.names[0];
        let device = self.table.attributes(row).device();
        let path = || self.table.path(self.table.top_of_device(row));
        let volume = volumes.volume_of(device, path);
        if !matches!(volume, Ok(Some(_))) || self.options.cancel.is_cancelled() {
            return Vec::new();
        }
        // If it cannot be opened any more, an action on it will report that.
        let Ok(file) = reader.open(row) else { return Vec::new() };
        shared_extents(&file).ok().flatten().unwrap_or_default()
    }

    /// Counts the failures. Returns also how many files changed.
    fn diagnostics(&self, failures: Vec<(u32, Failure)>) -> (Diagnostics, u64) {
        let mut diagnostics = Diagnostics::new(Diagnostics::DEFAULT_KEPT);
        let mut changed = 0;
        for (index, failure) in failures {
            let row = self.files[index as usize].names[0];
            let error = match failure {
                Failure::Io(error) => error,
                Failure::Changed => {
                    changed += 1;
                    io::Error::other("it changed since the walk")
                }
            };
            let depth = u32::try_from(self.table.depth(row)).unwrap_or(u32::MAX);
            let path = self.table.path(row);
            diagnostics.add(ScanError::new(Operation::ReadFile, path, depth, error));
        }
        diagnostics.sort();
        (diagnostics, changed)
    }
}
