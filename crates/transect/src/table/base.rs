//! What a walk found, unchanged ever after: tables that were [edited](super::edits) share it.

use std::sync::OnceLock;

use super::columns::Rows;
use super::directories::{Directories, SubtreeTotals};
use super::hard_links::HardLinkIndex;
use super::name_grams::NameGrams;

/// The rows, directories and files with several names of a table.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) rows: Rows,
    pub(super) directories: Directories,
    pub(super) shared: HardLinkIndex,
    /// In a partial table, the totals of the entries of each directory that have no rows.
    pub(super) unlisted: Vec<SubtreeTotals>,
    /// For searches of names, from the first one on: one for each chunk.
    pub(super) name_grams: OnceLock<Vec<NameGrams>>,
}
