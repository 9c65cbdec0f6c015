//! What won, as text on a terminal.

use std::io::Write;
use std::path::Path;

use transect::internal::WalkSettings;
use transect_text::settings;
use transect_text::style::BOLD;

use super::explanation::write_stored;

/// Writes the settings that won, and where they were stored. `busy` is
/// [`TuneResult::busy`](crate::tune::TuneResult::busy).
pub fn write_result(
    out: &mut impl Write,
    settings: &WalkSettings,
    stored: Option<&Path>,
    busy: bool,
) -> std::io::Result<()> {
    if busy {
        writeln!(
            out,
            "\nUndecided: this machine was too busy to compare wall times, and CPU times say nothing \
             about speed."
        )?;
    } else if settings.is_default() {
        writeln!(out, "\nNo setting is significantly faster than the defaults, which stay.")?;
    } else {
        writeln!(out, "\n{BOLD}{}{BOLD:#}", settings::describe(settings))?;
    }
    write_stored(out, stored, "not stored")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_of_busy_machine_is_undecided() {
        let mut text = Vec::new();
        write_result(&mut text, &WalkSettings::default(), None, true).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("too busy to compare wall times") && text.contains("not stored"));
    }
}
