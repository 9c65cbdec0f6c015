//! What a walk took from a snapshot, as text and as JSON.

use serde::Serialize;
use transect::FieldMask;
use transect_text::units::{count, counted};

use super::time::TimeFormatter;

/// What a walk took from a snapshot.
#[derive(Serialize)]
pub(crate) struct InheritedObject {
    pub(crate) level: String,
    pub(crate) taken: i64,
    pub(crate) oldest: i64,
    pub(crate) directories: u64,
    pub(crate) entries: u64,
    /// Set if the file system reported what changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) since_generation: Option<u64>,
}

impl InheritedObject {
    /// Returns whether some attributes may be older than the walk.
    pub(crate) fn may_be_older(&self) -> bool {
        self.entries > 0 && self.since_generation.is_none()
    }

    /// Returns the text for a walk with this number of directories.
    pub(crate) fn text(&self, directories: u64) -> String {
        let times = TimeFormatter::for_fields(FieldMask::MTIME);
        let (unchanged, taken) = (count(self.directories), times.text(self.taken));
        let all = counted(directories, "directory", "directories");
        let text = format!("{unchanged} of {all} unchanged since {taken}");
        if self.entries == 0 {
            return text;
        }
        let entries = counted(self.entries, "entry", "entries");
        if let Some(generation) = self.since_generation {
            return format!(
                "{text}, and so are {entries} in them: Btrfs reports what changed since \
                 generation {generation}"
            );
        }
        format!("{text}; attributes of {entries} in them are from {}", times.text(self.oldest))
    }
}
