//! The trash: moving entries back, and emptying it.

use std::path::PathBuf;
use std::sync::Arc;

use transect::table::{Row, Table};
use transect_remove::TrashedEntry;

use super::{App, KeptEntries, Overlay, ReadState, RemovalProgress};
use crate::cursor::Cursor;
use crate::message::{Effect, RemovalTask};
use crate::tree;
use transect_text::quote;
use transect_text::units::counted;

#[derive(Debug, Default)]
pub(crate) struct TrashState {
    /// What was moved to the trash, and can be moved back: the last removal at the end.
    pub(super) removals: Vec<Vec<TrashedEntry>>,
    /// Directories of the tree with other entries than the table, to be read again.
    pub(super) changed: Vec<PathBuf>,
}

impl App {
    /// Moves what was last moved to the trash back.
    pub(super) fn undo(&mut self) {
        let Some(entries) = self.trash.removals.pop() else {
            return self.note("nothing to undo: nothing was moved to the trash here");
        };
        let total = entries.len() as u64;
        self.overlay = Overlay::RemovalProgress(RemovalProgress::new(RemovalTask::Restore, total));
        let shown = Arc::clone(&self.table);
        self.push_effect(Effect::Restore { entries, shown });
    }

    pub(super) fn finish_restoring(
        &mut self,
        restored: u64,
        kept: Vec<(TrashedEntry, String)>,
        changed: Vec<PathBuf>,
    ) {
        self.overlay = Overlay::None;
        let title = format!("{} moved back", counted(restored, "entry", "entries"));
        if kept.is_empty() {
            self.note(title);
        } else {
            let line = |(entry, why): &(TrashedEntry, String)| {
                let path = quote::for_terminal(entry.original.as_os_str());
                format!("not moved back '{path}': {why}")
            };
            let lines = kept.iter().map(line).collect();
            self.overlay =
                Overlay::KeptEntries(KeptEntries { title, lines, cursor: Cursor::default() });
            self.trash.removals.push(kept.into_iter().map(|(entry, _)| entry).collect());
        }
        self.trash.changed.extend(changed);
        self.read_changed();
    }

    /// Reads the trash, to confirm that it is emptied.
    pub(super) fn read_trash(&mut self) {
        if self.read_only {
            return self.note("cannot delete: --read-only");
        }
        let Some(root) = self.table.roots().next() else { return };
        self.note("reading the trash …");
        let near = self.table.path(root);
        self.push_effect(Effect::ReadTrash { near });
    }

    pub(super) fn confirm_emptying(&mut self, trash: Result<Arc<Table>, String>) {
        match trash {
            Err(why) => self.error(why),
            // Another question is open.
            Ok(_) if !matches!(self.overlay, Overlay::None) => {}
            Ok(trash) => {
                let mut rows: Vec<Row> =
                    trash.roots().flat_map(|root| trash.children(root)).collect();
                rows.sort_by_key(|&row| std::cmp::Reverse(trash.standalone_usage(row)));
                match rows.is_empty() {
                    true => self.note("the trash is empty"),
                    false => self.request_summary(RemovalTask::EmptyTrash, trash, rows, false),
                }
            }
        }
    }

    /// Reads the directories again that changed otherwise than by removed entries: those of the trash, and those
    /// that received entries.
    pub(super) fn read_changed(&mut self) {
        let paths = std::mem::take(&mut self.trash.changed);
        let directory = |path: &PathBuf| tree::find_path(&self.table, path);
        let mut rows: Vec<Row> = paths.iter().filter_map(directory).collect();
        rows.sort_unstable();
        rows.dedup();
        match rows[..] {
            [] => {}
            [directory]
                if self.read_state == ReadState::Done
                    && self.table.parent(directory).is_some()
                    && tree::is_directory(&self.table, directory) =>
            {
                self.request_directory(directory);
            }
            _ => self.request_rescan(),
        }
    }
}
