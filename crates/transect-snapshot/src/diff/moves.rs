//! Finds what moved: entries that are gone from one place and appear in another with the same file id.
//!
//! A file id alone proves nothing, because systems give the id of a deleted file to a new one. So the
//! entries must also have the same type and the same time of creation; where that is not stored, the same
//! time of change and size, or for a directory the same digest or time of change.

use std::collections::{HashMap, HashSet};

use transect::{Attributes, FieldMask, FileId, FileType};

use crate::digest::Digest;
use crate::read::ReadError;
use crate::tree::{Position, Tree, TreeRows};

use super::change::{Change, ChangeKind, Facts};
use super::compare::changed_fields;
use super::merge::{Lone, Merger, Pair, join};

/// An entry of the second tree that may have moved there.
struct Candidate {
    at: Position,
    identity: Identity,
}

/// The attributes of [`Identity`], and the file id.
const IDENTITY: FieldMask =
    FieldMask::FILE_ID.union(FieldMask::SIZE).union(FieldMask::MTIME).union(FieldMask::BTIME);

/// What shows that two entries are one.
#[derive(Clone, Copy, Debug)]
struct Identity {
    file_type: FileType,
    size: Option<u64>,
    mtime: Option<i64>,
    btime: Option<i64>,
    digest: Option<Digest>,
}

impl Identity {
    fn of(attributes: &Attributes, digest: Option<Digest>) -> Self {
        Self {
            file_type: attributes.file_type(),
            size: attributes.size(),
            mtime: attributes.mtime(),
            btime: attributes.btime(),
            digest,
        }
    }

    fn is(&self, other: &Self) -> bool {
        if self.file_type != other.file_type {
            return false;
        }
        if let (Some(before), Some(after)) = (self.btime, other.btime) {
            return before == after;
        }
        let is_same_time = self.mtime.is_some() && self.mtime == other.mtime;
        match self.file_type {
            FileType::Directory => {
                is_same_time || self.digest.is_some() && self.digest == other.digest
            }
            _ => is_same_time && self.size == other.size,
        }
    }
}

/// A pair of entries that are one.
struct Move {
    from: Vec<u8>,
    before: Facts,
    a: Position,
    b: Position,
}

pub(super) struct MoveFinder<'t> {
    pub(super) a: Tree<'t>,
    pub(super) b: Tree<'t>,
    /// Which device of the first tree is which of the second.
    pub(super) devices: HashMap<u64, u64>,
}

impl MoveFinder<'_> {
    /// Finds moves among what was removed and added, and compares what is in directories that moved, until
    /// nothing more is found.
    pub(super) fn find(&self, merger: &mut Merger) -> Result<(), ReadError> {
        while !merger.removed.is_empty() && !merger.added.is_empty() {
            let moves = self.find_once(merger)?;
            if moves.is_empty() {
                break;
            }
            self.report(merger, moves)?;
            let (moved_a, moved_b) = &merger.moved;
            forget_moved(self.a, &mut merger.removed, moved_a)?;
            forget_moved(self.b, &mut merger.added, moved_b)?;
        }
        Ok(())
    }

    /// Returns pairs of entries below what was removed and added.
    fn find_once(&self, merger: &mut Merger) -> Result<Vec<Move>, ReadError> {
        let mut candidates: HashMap<FileId, Candidate> = HashMap::new();
        let mut offer = |at, attributes: &Attributes, digest| {
            if let Some(id) = attributes.file_id() {
                let identity = Identity::of(attributes, digest);
                candidates.entry(id).or_insert(Candidate { at, identity });
            }
        };
        let mut reader = None;
        for lone in &merger.added {
            if !lone.is_directory() {
                offer(lone.at, &lone.facts.attributes, None);
                continue;
            }
            let rows = below(self.b, &mut reader, lone.at);
            let mut enters = true;
            while rows.advance(enters)? {
                let at = rows.position();
                enters = !merger.moved.1.contains(&at);
                if enters {
                    offer(at, &rows.attributes_of(IDENTITY), rows.digest());
                }
            }
        }
        let mut moves = Vec::new();
        let mut reader = None;
        for lone in &merger.removed {
            if !lone.is_directory() {
                if let Some(target) = self.take(&lone.facts.attributes, None, &mut candidates) {
                    merger.moved.0.insert(lone.at);
                    merger.moved.1.insert(target);
                    let (from, before) = (lone.path.clone(), lone.facts.clone());
                    moves.push(Move { from, before, a: lone.at, b: target });
                }
                continue;
            }
            let rows = below(self.a, &mut reader, lone.at);
            let mut path = PathTracker::new(&lone.path);
            let mut enters = true;
            while rows.advance(enters)? {
                let at = rows.position();
                enters = !merger.moved.0.contains(&at);
                if !enters {
                    continue;
                }
                path.enter(rows.depth(), rows.name());
                let attributes = rows.attributes_of(IDENTITY);
                let found = self.take(&attributes, rows.digest(), &mut candidates);
                let Some(target) = found else { continue };
                merger.moved.0.insert(at);
                merger.moved.1.insert(target);
                let from = path.path.clone();
                moves.push(Move { from, before: Facts::of(rows), a: at, b: target });
                enters = false;
            }
        }
        Ok(moves)
    }

    fn take(
        &self,
        attributes: &Attributes,
        digest: Option<Digest>,
        candidates: &mut HashMap<FileId, Candidate>,
    ) -> Option<Position> {
        let mut id = attributes.file_id()?;
        id.device = self.devices.get(&id.device).copied().unwrap_or(id.device);
        let identity = Identity::of(attributes, digest);
        if !candidates.get(&id)?.identity.is(&identity) {
            return None;
        }
        candidates.remove(&id).map(|candidate| candidate.at)
    }

    /// Reports moves, whose targets lie in what was added, and compares the directories that moved.
    fn report(&self, merger: &mut Merger, moves: Vec<Move>) -> Result<(), ReadError> {
        let mut moves: HashMap<Position, Move> = moves.into_iter().map(|it| (it.b, it)).collect();
        let mut directories = Vec::new();
        let mut changes = Vec::new();
        let mut add = |found: Move, after: Facts, to: &[u8]| {
            let fields = changed_fields(&found.before.attributes, &after.attributes);
            if after.attributes.file_type() == FileType::Directory {
                directories.push((found.a, found.b, found.from.clone(), to.to_vec()));
            }
            changes.push(Change {
                from: Some(found.from),
                before: Some(found.before),
                after: Some(after),
                fields,
                ..Change::new(ChangeKind::Renamed, to.to_vec())
            });
        };
        let mut reader = None;
        for lone in &merger.added {
            if moves.is_empty() {
                break;
            }
            if !lone.is_directory() {
                if let Some(found) = moves.remove(&lone.at) {
                    add(found, lone.facts.clone(), &lone.path);
                }
                continue;
            }
            let rows = below(self.b, &mut reader, lone.at);
            let mut path = PathTracker::new(&lone.path);
            // Below a directory that moved, other entries may have moved in.
            while rows.advance(true)? {
                path.enter(rows.depth(), rows.name());
                if let Some(found) = moves.remove(&rows.position()) {
                    add(found, Facts::of(rows), &path.path);
                }
            }
        }
        changes.into_iter().for_each(|change| merger.push_rename(change));
        for (a, b, from, to) in directories {
            let (a, b) = (self.a.rows_of(a), self.b.rows_of(b));
            merger.merge(a, b, Pair::Moved(&from, &to))?;
        }
        Ok(())
    }
}

/// Returns a reader of an entry and everything below it: the same one each time, where there is one.
fn below<'r, 't>(
    tree: Tree<'t>,
    reader: &'r mut Option<TreeRows<'t>>,
    at: Position,
) -> &'r mut TreeRows<'t> {
    let rows = reader.get_or_insert_with(|| tree.rows());
    rows.restart(at);
    rows
}

/// Drops what moved from the entries that only this tree has, and counts what moved below the others.
fn forget_moved(
    tree: Tree<'_>,
    lones: &mut Vec<Lone>,
    moved: &HashSet<Position>,
) -> Result<(), ReadError> {
    lones.retain(|lone| !moved.contains(&lone.at));
    let mut reader = None;
    for lone in lones {
        lone.moved_entries = 0;
        if !lone.is_directory() {
            continue;
        }
        let rows = below(tree, &mut reader, lone.at);
        let mut enters = true;
        while rows.advance(enters)? {
            enters = !moved.contains(&rows.position());
            if !enters {
                lone.moved_entries += rows.totals().map_or(1, |totals| totals.entries);
            }
        }
    }
    Ok(())
}

/// The path of the current entry below one.
struct PathTracker {
    path: Vec<u8>,
    /// The lengths of the paths of the directories on the way.
    ends: Vec<usize>,
    base: Option<u32>,
}

impl PathTracker {
    fn new(path: &[u8]) -> Self {
        Self { path: path.to_vec(), ends: vec![path.len()], base: None }
    }

    fn enter(&mut self, depth: u32, name: &[u8]) {
        let base = *self.base.get_or_insert(depth);
        let level = (depth - base) as usize;
        if level == 0 {
            return;
        }
        self.ends.truncate(level);
        self.path.truncate(self.ends.last().copied().unwrap_or(0));
        self.path = join(&self.path, name);
        self.ends.push(self.path.len());
    }
}
