//! Finds the names of files that may have others in several parts.

use std::collections::VecDeque;

use super::part_set::PartSet;
use crate::read::linked_rows::LinkedRows;
use crate::tasks::{TaskError, read_error};

/// Such names in the parts that were asked last.
pub(super) struct LinkedRowsOfParts<'c> {
    set: &'c PartSet,
    /// The maximum number of parts.
    limit: usize,
    parts: VecDeque<(usize, LinkedRows<'c>)>,
}

impl<'c> LinkedRowsOfParts<'c> {
    pub(super) fn new(set: &'c PartSet, limit: usize) -> Self {
        Self { set, limit, parts: VecDeque::new() }
    }

    /// Returns the first such row of a part from a row on.
    pub(super) fn next(&mut self, part: usize, row: u64) -> Result<Option<u64>, TaskError> {
        let open = &self.set.parts[part];
        let at = self.parts.iter().position(|(of, _)| *of == part).unwrap_or_else(|| {
            if self.parts.len() >= self.limit {
                self.parts.pop_front();
            }
            self.parts.push_back((part, LinkedRows::of(&open.snapshot)));
            self.parts.len() - 1
        });
        let next = self.parts[at].1.next(row).map_err(|error| read_error(&open.path, error))?;
        Ok(next.map(|linked| linked.row))
    }
}
