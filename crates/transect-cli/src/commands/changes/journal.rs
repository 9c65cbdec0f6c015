//! `transect changes --journal`: the records of a change journal, oldest first.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use serde::Serialize;
use transect_volumes::{JournalChange, read_journal, reasons};

use crate::args::ChangesArgs;
use crate::output::json::{PathEntry, object};
use crate::output::time::TimeFormatter;
use crate::output::units::counted;
use crate::output::{self, quote, stream};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(super) fn run(args: &ChangesArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let path = args.path.as_deref().unwrap_or(Path::new("."));
    let mut out = BufWriter::new(stream::stdout());
    let times = TimeFormatter::local();
    let mut written = Ok(());
    let read = read_journal(path, |change| {
        written = match args.comparison.json {
            true => output::write_json(&mut out, &record(&change)),
            false => write_line(&mut out, &times, &change),
        };
        match written.is_err() || cancel.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    written?;
    let counts = read.map_err(CliError::cannot("read the change journal of", path))?;
    if args.comparison.json {
        let summary = object! {
            schema: "transect.journal/1",
            complete: counts.damaged == 0,
            changes: counts.changes,
            nameless_records: counts.nameless,
            damaged_records: counts.damaged,
        };
        output::write_json(&mut out, &summary)?;
    }
    out.flush()?;
    if cancel.is_cancelled() {
        return Ok(ExitStatus::Interrupted);
    }
    if counts.damaged > 0 {
        let records = counted(counts.damaged, "record", "records");
        output::error(&format!("cannot read {records} of the change journal: damaged content"));
        return Ok(ExitStatus::Partial);
    }
    Ok(ExitStatus::Complete)
}

/// Returns a record. Without its directory, `path` is that of the name alone.
fn record(change: &JournalChange) -> impl Serialize {
    object! {
        usn: change.usn,
        time: change.time,
        ..path: PathEntry::from(change.path.as_ref().unwrap_or(&change.name).as_path()),
        directory_known: change.path.is_some(),
        r#type: change.file_type.as_str(),
        reasons: reasons(change.reasons).collect::<Vec<_>>(),
        reason_bits: change.reasons,
        inode: change.inode,
    }
}

/// Writes a record: `2026-01-31 10:00:00  src/main.rs: content extended, closed`.
fn write_line(
    out: &mut impl Write,
    times: &TimeFormatter,
    change: &JournalChange,
) -> io::Result<()> {
    let time = change.time.map_or_else(|| "unknown time".to_owned(), |time| times.text(time));
    let path = match &change.path {
        Some(path) => quote::for_terminal(path.as_os_str()),
        None => format!("…/{}", quote::for_terminal(change.name.as_os_str())),
    };
    let words: Vec<_> = reasons(change.reasons).collect();
    let words = match words.is_empty() {
        true => format!("unknown reason {:#x}", change.reasons),
        false => words.join(", "),
    };
    writeln!(out, "{time:<19}  {path}: {words}")
}
