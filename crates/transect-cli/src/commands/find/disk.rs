//! Compares hits with the disk.

use serde::Serialize;
use transect::FieldMask;
use transect::internal::ListEntry;
use transect_snapshot::{COMPARED, changed_fields};
use transect_sys::FaultKind;
use transect_sys::file::query_attributes;

/// The attributes that are compared. File systems change the allocated size of a file on their own.
pub(super) const FIELDS: FieldMask = COMPARED.difference(FieldMask::ALLOCATED);

transect_sys::words! {
    /// What is on the disk in place of an entry.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum DiskState {
        Same = "same",
        Changed = "changed",
        Vanished = "vanished",
        /// It cannot be queried.
        Unknown = "unknown",
    }
}

impl DiskState {
    /// Queries an entry of the snapshot on the disk, without following a link.
    pub(super) fn of(entry: &ListEntry<'_>) -> Self {
        let stored = entry.attributes();
        match query_attributes(&entry.path(), FIELDS, false) {
            Ok(now) => {
                let changed = changed_fields(stored, &now) - FieldMask::ALLOCATED;
                match now.file_type() == stored.file_type() && changed.is_empty() {
                    true => Self::Same,
                    false => Self::Changed,
                }
            }
            Err(error) => match FaultKind::of(&error) {
                FaultKind::NotFound | FaultKind::NotADirectory => Self::Vanished,
                _ => Self::Unknown,
            },
        }
    }
}

/// The number of entries in each state.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct DiskCounts {
    same: u64,
    changed: u64,
    pub(super) vanished: u64,
    unknown: u64,
}

impl DiskCounts {
    pub(super) fn add(&mut self, state: DiskState) {
        *match state {
            DiskState::Same => &mut self.same,
            DiskState::Changed => &mut self.changed,
            DiskState::Vanished => &mut self.vanished,
            DiskState::Unknown => &mut self.unknown,
        } += 1;
    }
}
