//! `transect changes --journal`: the records of a change journal, oldest first.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use serde::Serialize;
use transect::FieldMask;
use transect_volumes::{JournalChange, JournalCounts, read_journal, reasons};

use crate::args::ChangesArgs;
use crate::output::json::{self, PathEntry};
use crate::output::time::TimeFormatter;
use crate::output::units::counted;
use crate::output::{self, quote, stream};
use transect_program::exit::{CliError, ExitStatus};
use transect_program::interrupt::cancel_on_signal;

/// A record of the journal. Without its directory, `path` is that of the name alone.
#[derive(Serialize)]
struct ChangeObject<'a> {
    usn: i64,
    time: Option<i64>,
    #[serde(flatten)]
    path: PathEntry<'a>,
    directory_known: bool,
    r#type: &'static str,
    reasons: Vec<&'static str>,
    reason_bits: u32,
    inode: u64,
}

#[derive(Serialize)]
struct Summary {
    schema: &'static str,
    complete: bool,
    changes: u64,
    nameless_records: u64,
    damaged_records: u64,
}

pub(super) fn run(args: &ChangesArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let path = args.path.as_deref().unwrap_or(Path::new("."));
    let mut out = BufWriter::new(stream::stdout());
    let times = TimeFormatter::for_fields(FieldMask::MTIME);
    let mut written = Ok(());
    let read = read_journal(path, |change| {
        written = match args.comparison.json {
            true => json::write(&mut out, &object(&change)).and_then(|()| writeln!(out)),
            false => write_line(&mut out, &times, &change),
        };
        match written.is_err() || cancel.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    written?;
    let counts = read.map_err(|error| {
        let path = quote::for_terminal(path.as_os_str());
        CliError::Usage(format!(
            "cannot read the change journal of '{path}': {}",
            transect::reason(&error)
        ))
    })?;
    if args.comparison.json {
        json::write(&mut out, &summary(counts))?;
        writeln!(out)?;
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

fn object(change: &JournalChange) -> ChangeObject<'_> {
    ChangeObject {
        usn: change.usn,
        time: change.time,
        path: change.path.as_ref().unwrap_or(&change.name).as_path().into(),
        directory_known: change.path.is_some(),
        r#type: change.file_type.as_str(),
        reasons: reasons(change.reasons).collect(),
        reason_bits: change.reasons,
        inode: change.inode,
    }
}

fn summary(counts: JournalCounts) -> Summary {
    Summary {
        schema: "transect.journal/1",
        complete: counts.damaged == 0,
        changes: counts.changes,
        nameless_records: counts.nameless,
        damaged_records: counts.damaged,
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
