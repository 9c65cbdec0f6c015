//! `transect commit`: makes one snapshot of the parts of a scan.

use std::io;
use std::path::Path;

use transect::{Cancel, FileType};
use transect_snapshot::Metadata;
use transect_snapshot::tasks::{
    Commit, CommitLimits, MANIFEST_NAME, Manifest, TaskError, remove_unfinished,
};
use transect_sys::file::attributes_at;

use crate::args::CommitArgs;
use crate::commands::snapshot::{interrupted, not_stored, set_command};
use crate::output::time::TimeFormatter;
use crate::output::units::{bytes, counted};
use crate::output::{self, json, quote};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(crate) fn run(args: &CommitArgs) -> Result<ExitStatus, CliError> {
    let cancel = cancel_on_signal()?;
    let commit = Commit::open(&args.directory).map_err(CliError::failed)?;
    let mut metadata = commit.metadata();
    set_command(&mut metadata);
    let file = args.directory.join(MANIFEST_NAME);
    if attributes_at(&file).is_ok() {
        let started = metadata.started.unwrap_or_default();
        let time = TimeFormatter::local().text(started);
        output::hint(&format!("these parts were committed before; the tree is that of {time}"));
    }
    let (entries, size) =
        write_committed(&args.output, &commit, &limits(args), &metadata, &cancel)?;
    let manifest = commit.manifest(entries, &metadata).map_err(CliError::failed)?;
    output::file::write(&file, |out| {
        serde_json::to_writer(&mut *out, &manifest)?;
        out.write_all(b"\n")
    })?;
    remove_unfinished(&args.directory).map_err(CliError::failed)?;
    let diagnostics = metadata.diagnostics();
    output::show_stored_errors("the parts", &diagnostics, args.errors);
    show(args, &manifest, size)?;
    Ok(ExitStatus::from_diagnostics(&diagnostics, false))
}

/// Writes the snapshot of parts to a file. Returns the number of its entries, and its size.
pub(super) fn write_committed(
    file: &Path,
    commit: &Commit,
    limits: &CommitLimits,
    metadata: &Metadata,
    cancel: &Cancel,
) -> Result<(u64, u64), CliError> {
    let outlined = commit.outline(limits, cancel).map_err(not_stored)?;
    let entries = outlined.entries();
    let (mut size, mut refused) = (0, None);
    let written = output::file::write(file, |out| {
        size = outlined.write(metadata, cancel, out).map_err(|error| match error {
            // The output failed: the caller knows its name.
            TaskError::Write(path, error) if path.as_os_str().is_empty() => error,
            error => {
                let error = refused.insert(error);
                io::Error::other(error.to_string())
            }
        })?;
        Ok(())
    });
    match (written, refused) {
        (Err(_), _) if cancel.is_cancelled() => Err(interrupted()),
        (Err(_), Some(error)) => Err(CliError::failed(error)),
        (written, _) => written.map(|()| (entries, size)),
    }
}

fn limits(args: &CommitArgs) -> CommitLimits {
    let memory = args.memory.map_or(CommitLimits::DEFAULT_MEMORY, |memory| memory as u64);
    CommitLimits {
        memory,
        folder: scratch_directory(&args.output).unwrap_or(&args.directory).to_owned(),
    }
}

/// Returns the directory of temporary files: that of the output, if that is a file.
pub(super) fn scratch_directory(output: &Path) -> Option<&Path> {
    let is_file = attributes_at(output).map_or(true, |there| there.file_type() == FileType::File);
    let directory = output.parent().filter(|_| is_file && output.as_os_str() != "-")?;
    Some(if directory.as_os_str().is_empty() { Path::new(".") } else { directory })
}

fn show(args: &CommitArgs, manifest: &Manifest, size: u64) -> io::Result<()> {
    if args.output.as_os_str() == "-" {
        return Ok(());
    }
    let (parts, entries) = (manifest.parts.len(), manifest.entries);
    if args.json {
        let object = json::object! {
            schema: "transect.commit/1",
            ..file: json::PathEntry::from(args.output.as_path()),
            parts: parts,
            entries: entries,
            size: size,
            complete: manifest.complete,
            errors: manifest.errors,
        };
        return output::print_json(&object);
    }
    let parts = counted(parts as u64, "part", "parts");
    let entries = counted(entries, "entry", "entries");
    let file = quote::for_terminal(args.output.as_os_str());
    let text = format!("stored {entries} of {parts} in '{file}': {}\n", bytes(size));
    output::print_text(&text)
}
