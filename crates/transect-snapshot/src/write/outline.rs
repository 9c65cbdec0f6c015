//! What has to be known of a tree before its first row is written: the order of its rows, how many each
//! directory has, and its digest.

use std::sync::{Mutex, PoisonError};

use transect::table::{Children, Row, Table, UnreadReason};
use transect::{Attributes, FieldMask, FileType};

use crate::digest::{Digest, DirectoryDigest};

/// The number of rows whose digests a thread computes at a time, at least.
const BATCH_ROWS: u32 = 4096;

/// A row, and its number of steps from the root.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutlinedRow {
    pub(super) row: Row,
    pub(super) depth: u32,
}

/// A directory, by its number in tree order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutlinedDirectory {
    /// The index of its row.
    first: u32,
    /// The number of its rows: itself and all entries below it.
    pub(super) rows: u32,
    /// The number of the directory that comes after it and all below it.
    next: u32,
}

/// The tree order of a table.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) rows: Vec<OutlinedRow>,
    directories: Vec<OutlinedDirectory>,
    digests: Vec<Digest>,
    /// Link counts are stored, but are no column of the table.
    adds_link_counts: bool,
}

/// A directory whose entries are being visited.
struct OpenDirectory {
    number: usize,
    children: Children,
    /// The row of the entry visited last.
    last: Option<Row>,
}

impl Outline {
    /// Outlines a table, of which `fields` are stored; `threads` compute the digests.
    pub(super) fn of(table: &Table, fields: FieldMask, threads: usize) -> Self {
        let adds_link_counts = (fields - table.columns()).contains(FieldMask::NLINK);
        let mut outline = Self { adds_link_counts, ..Self::default() };
        outline.rows.reserve_exact(table.len() as usize);
        outline.order(table);
        outline.digests = digests(&Digester { table, outline: &outline }, threads);
        outline
    }

    /// Returns the directories from an index in the rows on.
    pub(super) fn directories_from(
        &self,
        row: usize,
    ) -> impl Iterator<Item = (&OutlinedDirectory, &Digest)> {
        let first = self.directories.partition_point(|it| (it.first as usize) < row);
        self.directories[first..].iter().zip(&self.digests[first..])
    }

    /// Returns the attributes of an entry, as they are stored.
    pub(super) fn attributes(&self, table: &Table, row: Row) -> Attributes {
        let mut attributes = table.attributes(row);
        if self.adds_link_counts {
            table.link_count(row).into_iter().for_each(|count| attributes.set_nlink(count));
        }
        attributes
    }

    fn order(&mut self, table: &Table) {
        let mut open: Vec<OpenDirectory> = Vec::new();
        let mut last_root: Option<Row> = None;
        for root in table.roots() {
            if last_root.is_some_and(|last| table.name(last) == table.name(root)) {
                continue;
            }
            last_root = Some(root);
            self.visit(table, root, &mut open);
            while let Some(directory) = open.last_mut() {
                let Some(row) = directory.children.next() else {
                    let next = self.directories.len() as u32;
                    let of = &mut self.directories[directory.number];
                    (of.rows, of.next) = (self.rows.len() as u32 - of.first, next);
                    open.pop();
                    continue;
                };
                // A directory that changes during its listing may list a name twice; a row is
                // identified by its path.
                if directory.last.is_some_and(|last| table.name(last) == table.name(row)) {
                    continue;
                }
                directory.last = Some(row);
                self.visit(table, row, &mut open);
            }
        }
    }

    fn visit(&mut self, table: &Table, row: Row, open: &mut Vec<OpenDirectory>) {
        if table.file_type(row) == FileType::Directory {
            let (number, first) = (self.directories.len(), self.rows.len() as u32);
            self.directories.push(OutlinedDirectory { first, ..OutlinedDirectory::default() });
            self.rows.push(OutlinedRow { row, depth: open.len() as u32 });
            open.push(OpenDirectory { number, children: table.children(row), last: None });
        } else {
            self.rows.push(OutlinedRow { row, depth: open.len() as u32 });
        }
    }
}

/// Computes digests of directories.
struct Digester<'t> {
    table: &'t Table,
    outline: &'t Outline,
}

impl Digester<'_> {
    /// Returns the digest of a directory; `below` has those of the directories in it, the first of which
    /// has the number `number + 1`.
    fn digest(&self, number: usize, below: &[Digest], digest: &mut DirectoryDigest) -> Digest {
        let (table, directories) = (self.table, &self.outline.directories);
        let OutlinedDirectory { first, rows, next } = directories[number];
        let row = |index: u32| self.outline.rows[index as usize].row;
        digest.begin(table.unread_reason(row(first)).map(UnreadReason::as_str));
        let mut entry = first + 1;
        let mut child = number + 1;
        while entry < first + rows {
            let name = table.name(row(entry)).as_encoded_bytes();
            let attributes = self.outline.attributes(table, row(entry));
            match directories.get(child).filter(|it| child < next as usize && it.first == entry) {
                Some(directory) => {
                    digest.add(name, &attributes, Some(&below[child - number - 1]));
                    entry += directory.rows;
                    child = directory.next as usize;
                }
                None => {
                    digest.add(name, &attributes, None);
                    entry += 1;
                }
            }
        }
        digest.finish()
    }

    /// Computes the digests of the directories from `first` on, the deepest ones first.
    fn fill(&self, first: usize, digests: &mut [Digest]) {
        let mut digest = DirectoryDigest::default();
        for index in (0..digests.len()).rev() {
            let (own, below) = digests[index..].split_at_mut(1);
            own[0] = self.digest(first + index, below, &mut digest);
        }
    }
}

/// Computes the digests of all directories. Small trees are done by several threads, each with all
/// directories in them; the directories above them last.
fn digests(digester: &Digester<'_>, threads: usize) -> Vec<Digest> {
    let directories = &digester.outline.directories;
    let mut digests = vec![Digest::default(); directories.len()];
    let mut above = Vec::new();
    let mut batches: Vec<(usize, &mut [Digest])> = Vec::new();
    let (mut rest, mut number) = (&mut digests[..], 0);
    while number < directories.len() {
        if directories[number].rows > BATCH_ROWS {
            above.push(number);
            rest = &mut rest[1..];
            number += 1;
            continue;
        }
        let (first, mut rows) = (number, 0);
        while rows < BATCH_ROWS
            && let Some(directory) = directories.get(number)
            && directory.rows <= BATCH_ROWS
        {
            rows += directory.rows;
            number = directory.next as usize;
        }
        let (batch, after) = rest.split_at_mut(number - first);
        batches.push((first, batch));
        rest = after;
    }
    let threads = threads.min(batches.len());
    let batches = Mutex::new(batches.into_iter());
    let work = || {
        loop {
            let batch = batches.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((first, batch)) = batch else { return };
            digester.fill(first, batch);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Without them, this thread does all.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    let mut digest = DirectoryDigest::default();
    for number in above.into_iter().rev() {
        let (own, below) = digests[number..].split_at_mut(1);
        own[0] = digester.digest(number, below, &mut digest);
    }
    digests
}
