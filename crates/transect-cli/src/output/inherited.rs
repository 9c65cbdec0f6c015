//! What a walk took from a snapshot, as text.

use transect_snapshot::Inherited;
use transect_text::units::{count, counted};

use super::time::TimeFormatter;

/// Returns the text for a walk with this number of directories.
pub(crate) fn text(inherited: &Inherited, directories: u64) -> String {
    let times = TimeFormatter::local();
    let (unchanged, taken) = (count(inherited.directories), times.text(inherited.taken));
    let all = counted(directories, "directory", "directories");
    let text = format!("{unchanged} of {all} unchanged since {taken}");
    if inherited.entries == 0 {
        return text;
    }
    let entries = counted(inherited.entries, "entry", "entries");
    if let Some(generation) = inherited.since_generation {
        return format!(
            "{text}, and so are {entries} in them: Btrfs reports what changed since generation {generation}"
        );
    }
    format!("{text}; attributes of {entries} in them are from {}", times.text(inherited.oldest))
}
