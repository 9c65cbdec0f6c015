//! `transect commit`: makes one snapshot of the parts of a scan.

use std::io::{self, Write};

use serde::Serialize;
use transect_snapshot::WriteError;
use transect_snapshot::tasks::{Commit, Manifest, TaskError, remove_unfinished};

use super::task::failed;
use crate::args::CommitArgs;
use crate::commands::snapshot::{Counted, host};
use crate::exit::{CliError, ExitStatus};
use crate::interrupt::cancel_on_signal;
use crate::output::units::{bytes, counted};
use crate::output::{self, json, quote, stream};

/// The name of the file that lists the parts.
const MANIFEST: &str = "_manifest.json";

/// What `--json` prints.
#[derive(Serialize)]
struct Object<'a> {
    schema: &'static str,
    #[serde(flatten)]
    file: json::PathEntry<'a>,
    parts: usize,
    entries: u64,
    size: u64,
    complete: bool,
    errors: u64,
}

pub(crate) fn run(args: &CommitArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let committed = (|| {
        let commit = Commit::open(&args.folder)?;
        let table = commit.table(&cancel)?;
        let mut metadata = commit.metadata();
        metadata.host = host();
        let options = std::env::args_os().skip(1);
        metadata.options = options.map(|it| it.to_string_lossy().into_owned()).collect();
        let manifest = commit.manifest(table.len(), &metadata)?;
        Ok((table, metadata, manifest))
    })();
    let (table, metadata, manifest) = match committed {
        Ok(committed) => committed,
        Err(TaskError::Cancelled) => return Ok(interrupted()),
        Err(error) => return Err(failed(&error)),
    };
    let mut size = 0;
    let written = output::file::write(&args.output, |out| {
        let mut out = Counted::new(out);
        transect_snapshot::write(&table, &metadata, &cancel, &mut out)?;
        size = out.bytes();
        Ok(())
    });
    if cancel.is_cancelled() && written.is_err() {
        output::note(&WriteError::Cancelled.to_string());
        return Ok(interrupted());
    }
    written?;
    output::file::write(&args.folder.join(MANIFEST), |out| {
        serde_json::to_writer(&mut *out, &manifest)?;
        out.write_all(b"\n")
    })?;
    remove_unfinished(&args.folder).map_err(|error| failed(&error))?;
    output::show_stored_errors("the parts", table.diagnostics(), args.errors);
    show(args, &manifest, size)?;
    Ok(ExitStatus::from_diagnostics(table.diagnostics(), false))
}

fn interrupted() -> ExitStatus {
    output::note("interrupted: nothing was stored");
    ExitStatus::Interrupted
}

fn show(args: &CommitArgs, manifest: &Manifest, size: u64) -> io::Result<()> {
    if args.output.as_os_str() == "-" {
        return Ok(());
    }
    let (parts, entries) = (manifest.parts.len(), manifest.entries);
    if args.json {
        let object = Object {
            schema: "transect.commit/1",
            file: args.output.as_path().into(),
            parts,
            entries,
            size,
            complete: manifest.complete,
            errors: manifest.errors,
        };
        return output::write_json(&mut stream::stdout(), &object);
    }
    let parts = counted(parts as u64, "part", "parts");
    let entries = counted(entries, "entry", "entries");
    let file = quote::for_terminal(args.output.as_os_str());
    let text = format!("stored {entries} of {parts} in '{file}': {}\n", bytes(size));
    stream::stdout().write_all(text.as_bytes())
}
