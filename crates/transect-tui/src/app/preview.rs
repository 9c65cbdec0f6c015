//! What the selected directory holds: its largest entries, and the largest files below it.

use transect::table::Row;
use transect_text::measure::Measure;

use super::App;
use crate::background::preview;
use crate::message::{Job, RequestId};
use crate::tree;

/// Directories with more entries below are searched in the background.
const SEARCHED_AT_ONCE: u64 = 20_000;

/// The largest entries of a directory, and the largest files below it.
#[derive(Debug)]
pub(crate) struct Preview {
    directory: Row,
    measure: Measure,
    /// The pending search for them.
    request: Option<RequestId>,
    pub(crate) entries: Vec<Row>,
    pub(crate) files: Vec<Row>,
}

impl App {
    pub(crate) fn update_preview(&mut self) {
        let selected = self.listing.selected();
        let Some(directory) = selected.filter(|&row| tree::is_directory(&self.table, row)) else {
            self.preview = None;
            return;
        };
        let measure = self.order.measure;
        let is_same = |known: &Preview| known.directory == directory && known.measure == measure;
        if self.preview.as_ref().is_some_and(is_same) {
            return;
        }
        let (mut entries, mut files, mut request) = (Vec::new(), Vec::new(), None);
        if self.table.totals(directory).entries() <= SEARCHED_AT_ONCE {
            (entries, files) = preview(&self.table, directory, measure);
        } else {
            request = Some(self.request(Job::Preview { directory, measure }));
        }
        self.preview = Some(Preview { directory, measure, request, entries, files });
    }

    pub(super) fn set_preview(&mut self, request: RequestId, entries: Vec<Row>, files: Vec<Row>) {
        if let Some(preview) = self.preview.as_mut().filter(|it| it.request == Some(request)) {
            (preview.entries, preview.files) = (entries, files);
        }
    }
}
