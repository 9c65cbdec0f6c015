//! Finds entries by their names, without a table: reads the pages of names, and of other columns only those with a match.
//!
//! ```text
//! words ─► index: blocks of rows that can match ─► pages of names, on several threads
//!       ─► rows that match ─► directories and attributes of these rows ─► hits in tree order
//! ```

mod directories;
mod in_order;
mod index;
mod matcher;
mod names;
mod search;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};

use transect::{Attributes, Cancel, FieldMask};

use crate::byte_values::ByteValues;
use crate::read::column::ColumnReader;
use crate::read::error::ReadError;
use crate::read::footer::RowGroup;
use crate::read::rows::check_name;
use crate::read::{ReadAt, RowReader, Snapshot};
use crate::schema::{Column, TEXT_PAGE_ROWS};

pub use matcher::Matcher;
pub use search::{NamePattern, Search};

use directories::{DirectoryReader, is_exact};
use index::Blocks;
use search::NameMatcher;

/// The rows that a thread searches at a time.
const TASK_ROWS: u64 = 32_768;

/// The rows of the first task: those of a page of names. They may have all hits that are wanted.
const FIRST_TASK_ROWS: u64 = TEXT_PAGE_ROWS as u64;

const MAX_THREADS: usize = 16;

/// The number of blocks for each thread but the first: one thread searches a few of them sooner than another starts.
const THREAD_BLOCKS: usize = 32;

/// An entry that was found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Hit<'h> {
    /// The number of its row.
    pub row: u64,
    /// The path of its directory, with a separator at the end; empty for a root.
    pub directory: &'h [u8],
    /// The name as the system stores it; of a root, its path.
    pub name: &'h [u8],
    /// The type, and the attributes that were requested and are stored.
    pub attributes: &'h Attributes,
}

/// What a thread found in some rows.
#[derive(Debug, Default)]
struct Found {
    count: u64,
    hits: Vec<FoundHit>,
    names: ByteValues,
    /// The different directories, as far as they are neighbours.
    directories: ByteValues,
}

#[derive(Debug)]
struct FoundHit {
    row: u64,
    directory: usize,
    attributes: Attributes,
}

impl<S: ReadAt> Snapshot<S> {
    /// Calls `each` with the entries that a search finds, in tree order, until it breaks or `cancel` is set. Returns the
    /// number of calls.
    ///
    /// Works on as many threads as there are processors, at most 16. Memory is needed for the hits of a few
    /// tens of thousands of rows.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged. Parts that the search does not need are not checked.
    pub fn find(
        &self,
        search: &Search,
        cancel: &Cancel,
        mut each: impl FnMut(&Hit<'_>) -> ControlFlow<()>,
    ) -> Result<u64, ReadError> {
        let mut rows = None;
        let mut exact = Vec::new();
        let mut count = 0;
        self.run(search, true, cancel, |found| {
            for (index, hit) in found.hits.iter().enumerate() {
                let mut directory = found.directories.get(hit.directory);
                if !is_exact(directory) || cfg!(windows) {
                    exact.clear();
                    let rows = rows.get_or_insert_with(|| self.rows());
                    rows.descend_to(hit.row)?;
                    rows.push_directory(&mut exact);
                    directory = &exact;
                }
                let name = found.names.get(index);
                count += 1;
                let hit = Hit { row: hit.row, directory, name, attributes: &hit.attributes };
                if each(&hit).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    /// Returns the number of entries that a search finds. If `cancel` is set, it is too small.
    ///
    /// # Errors
    /// As for [`Snapshot::find`].
    pub fn count(&self, search: &Search, cancel: &Cancel) -> Result<u64, ReadError> {
        let mut count = 0;
        self.run(search, false, cancel, |found| {
            count += found.count;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }

    fn run(
        &self,
        search: &Search,
        wants_hits: bool,
        cancel: &Cancel,
        mut take: impl FnMut(&Found) -> Result<ControlFlow<()>, ReadError>,
    ) -> Result<(), ReadError> {
        let footer = &self.footer;
        let blocks =
            index::blocks_with(&self.source, footer.name_index, footer.rows, search.words())?;
        let blocks = blocks.as_ref();
        let tasks = tasks(&footer.groups, blocks);
        let useful = blocks.map_or(MAX_THREADS, |blocks| 1 + blocks.len() / THREAD_BLOCKS);
        // To count the processors, five files are read.
        let threads = match useful {
            1 => 1,
            _ => std::thread::available_parallelism().map_or(1, |threads| threads.get()),
        };
        // Ends the tasks that run when no more hits are wanted.
        let is_done = AtomicBool::new(false);
        let stop = || cancel.is_cancelled() || is_done.load(Ordering::Relaxed);
        let worker = || {
            let mut searcher = Searcher::new(self, search, wants_hits);
            let tasks = &tasks;
            move |task: usize| searcher.search(tasks[task].clone(), blocks, stop)
        };
        let mut result = Ok(());
        in_order::run(
            tasks.len(),
            threads.min(MAX_THREADS).min(useful),
            worker,
            |found| match found.and_then(|found| take(&found)) {
                Ok(flow) if flow.is_continue() && !cancel.is_cancelled() => flow,
                ended => {
                    result = ended.map(drop);
                    is_done.store(true, Ordering::Relaxed);
                    ControlFlow::Break(())
                }
            },
        );
        result
    }
}

/// Returns the rows that can have a match, in order. The first tasks are small.
fn tasks(groups: &[RowGroup], blocks: Option<&Blocks>) -> Vec<Range<u64>> {
    let mut tasks = Vec::new();
    for group in groups {
        let end = group.first_row + group.rows;
        let mut begin = group.first_row;
        while begin < end {
            // As many rows as there are before them, so that tasks begin where pages do.
            let rows = begin..end.min(begin + begin.clamp(FIRST_TASK_ROWS, TASK_ROWS));
            begin = rows.end;
            if blocks
                .is_none_or(|blocks| blocks.next(rows.start).is_some_and(|next| next < rows.end))
            {
                tasks.push(rows);
            }
        }
    }
    tasks
}

/// Searches rows, on one thread, forwards.
struct Searcher<'s> {
    search: &'s Search,
    matcher: NameMatcher<'s>,
    /// Whether more than the number of hits is wanted.
    wants_hits: bool,
    names: ColumnReader<'s>,
    raw: ColumnReader<'s>,
    directories: Option<DirectoryReader<'s>>,
    /// Reads attributes, and which of them; `None` if none are needed.
    rows: RowReader<'s>,
    fields: Option<FieldMask>,
    folded: Vec<u8>,
    /// The path of a directory, with a separator at the end.
    directory: Vec<u8>,
}

impl<'s> Searcher<'s> {
    fn new<S: ReadAt>(snapshot: &'s Snapshot<S>, search: &'s Search, wants_hits: bool) -> Self {
        let fields = if wants_hits { search.needed_fields() } else { search.filter.fields() };
        let has_filter = !search.filter.selects_everything();
        Self {
            search,
            matcher: NameMatcher::new(search),
            wants_hits,
            names: snapshot.column(Column::Name),
            raw: snapshot.column(Column::NameRaw),
            directories: (wants_hits || search.needs_paths())
                .then(|| DirectoryReader::new(snapshot)),
            rows: snapshot.rows(),
            fields: (wants_hits || has_filter).then_some(fields),
            folded: Vec::new(),
            directory: Vec::new(),
        }
    }

    /// Searches some rows of a row group, and checks before each page whether to stop.
    fn search(
        &mut self,
        rows: Range<u64>,
        blocks: Option<&Blocks>,
        stop: impl Fn() -> bool,
    ) -> Result<Found, ReadError> {
        let mut found = Found::default();
        let (mut next, mut matches, mut others) = (rows.start, Vec::new(), Vec::new());
        while !stop() {
            if let Some(blocks) = blocks {
                next = blocks.next(next).unwrap_or(rows.end);
            }
            if next >= rows.end {
                break;
            }
            self.names.locate(next)?;
            let raw = self.raw.page_of(next)?;
            // Both pages have these rows.
            let end = self.names.page_end().min(raw.page_end()).min(rows.end);
            matches.clear();
            others.clear();
            self.search_page(next..end, &mut others, &mut matches)?;
            for &row in &matches {
                if row >= next && row < end {
                    self.add(row, &mut found)?;
                }
            }
            next = end;
        }
        Ok(found)
    }

    /// Appends the rows that match; `others` are those with names that are not UTF-8.
    fn search_page(
        &mut self,
        rows: Range<u64>,
        others: &mut Vec<usize>,
        matches: &mut Vec<u64>,
    ) -> Result<(), ReadError> {
        let Self { names, raw, matcher, folded, .. } = self;
        let raw = raw.page_of(rows.start)?;
        let first = names.page_begin();
        let of_raw =
            (rows.start - raw.page_begin()) as usize..(rows.end - raw.page_begin()) as usize;
        let has_others = raw.defined.get(of_raw).is_none_or(|of_rows| of_rows.contains(&true));
        // Most pages that the index leaves have no match, and most need not be decoded to prove that.
        if let Some(word) = matcher.first_word()
            && !(has_others || matcher.ignore_case || names.may_contain(rows.start, word)?)
        {
            return Ok(());
        }
        let names = names.page_of(rows.start)?;
        if has_others {
            let are_raw = rows.clone().filter(|&row| raw.bytes(row).is_some());
            others.extend(are_raw.map(|row| (row - first) as usize));
        }
        if let Some(names) = names.all_bytes() {
            let found = |index: usize| matches.push(first + index as u64);
            names::matches_in(names, others, matcher, folded, found);
        }
        for &index in &*others {
            let row = first + index as u64;
            let is_match =
                raw.bytes(row).is_some_and(|it| names::matches_alone(it, matcher, folded));
            if is_match {
                matches.push(row);
            }
        }
        if has_others {
            matches.sort_unstable();
        }
        Ok(())
    }

    /// Adds a row whose name matches, if all else does.
    fn add(&mut self, row: u64, found: &mut Found) -> Result<(), ReadError> {
        let Self { search, names, raw, directories, rows, fields, directory, .. } = self;
        let attributes = match *fields {
            Some(fields) => rows.attributes_at(row, fields)?,
            None => Attributes::default(),
        };
        if !search.filter.selects_everything() && !search.filter.accepts(&attributes) {
            return Ok(());
        }
        let (names, raw) = (names.page_of(row)?, raw.page_of(row)?.bytes(row));
        let Some(name) = raw.or_else(|| names.bytes(row)) else { return Ok(()) };
        if let Some(reader) = directories {
            directory.clear();
            directory.extend_from_slice(reader.path(row)?);
            check_name(name, directory.is_empty(), raw.is_some())?;
            if directory.last().is_some_and(|&last| last != b'/') {
                directory.push(b'/');
            }
            if search.needs_paths() && !search.accepts_path(directory, name) {
                return Ok(());
            }
        }
        found.count += 1;
        if self.wants_hits {
            let last = found.directories.len().checked_sub(1);
            let directory = match last.filter(|&it| found.directories.get(it) == &directory[..]) {
                Some(last) => last,
                None => {
                    found.directories.push(directory);
                    found.directories.len() - 1
                }
            };
            found.names.push(name);
            found.hits.push(FoundHit { row, directory, attributes });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ffi::OsStr;

    use transect::FileType;
    use transect::table::TableImporter;

    use super::*;
    use crate::Metadata;

    #[test]
    fn tasks_of_all_rows_are_adjacent_and_begin_small() {
        let group = |first_row, rows| RowGroup { first_row, rows, columns: Vec::new() };
        let tasks = tasks(&[group(0, 131_072), group(131_072, 40_000)], None);
        let lengths: Vec<u64> = tasks.iter().map(|rows| rows.end - rows.start).collect();
        let doubling = [2048, 2048, 4096, 8192, 16_384];
        assert_eq!(lengths, [&doubling[..], &[32_768; 4], &[40_000 - 32_768]].concat());
        assert_eq!(tasks.first().map(|rows| rows.start), Some(0));
        assert!(tasks.is_sorted_by(|a, b| a.end == b.start));
    }

    #[test]
    fn search_stopped_after_a_page_has_its_hits_only() {
        let mut importer = TableImporter::new(FieldMask::empty());
        importer.enter(OsStr::new("/root"), &Attributes::of_type(FileType::Directory));
        for number in 0..10_000 {
            let name = format!("name {number:06}");
            importer.add_entry(OsStr::new(&name), &Attributes::of_type(FileType::File));
        }
        let table = importer.finish().expect("few entries");
        let mut bytes = Vec::new();
        crate::write(&table, &Metadata::default(), &Cancel::new(), &mut bytes).expect("memory");
        let snapshot = Snapshot::new(bytes).expect("a snapshot");
        let search = Search::new([NamePattern::substring(b"name")]);
        let mut searcher = Searcher::new(&snapshot, &search, true);
        let checks = Cell::new(0);
        let stop = || checks.replace(checks.get() + 1) == 1;
        let found = searcher.search(0..10_001, None, stop).expect("a snapshot");
        // The first row is the root.
        assert_eq!(found.count, TEXT_PAGE_ROWS as u64 - 1);
    }
}
