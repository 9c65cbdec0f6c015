//! `transect verify`: compares files with a list of digests.

use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use serde::Serialize;
use transect_transform::manifest::{self, Line};
use transect_transform::pass::PassOptions;
use transect_transform::{Error, Reason, verify};

use super::transform::{cores, count_files, error_object, progress};
use crate::args::VerifyArgs;
use crate::output::json::{self, PathEntry, object};
use crate::output::units::duration;
use crate::output::{self, quote, stream};
use crate::progress::ProgressLine;
use transect_program::{CliError, ExitStatus, cancel_on_signal, exit::is_closed_pipe};

#[derive(Debug, Default, Serialize)]
struct Counts {
    files: u64,
    matching: u64,
    differing: u64,
    missing: u64,
    failed: u64,
    /// Lines that are not digests.
    malformed: u64,
}

/// What fails if a manifest cannot be read.
const READ: &str = "read the manifest";

/// Lines of manifests kept in memory.
const BATCH_LINES: usize = 1 << 16;

struct Verifier<'a> {
    args: &'a VerifyArgs,
    passes: PassOptions,
    threads: usize,
    lines: Vec<Line>,
    /// All lines read so far.
    found: Arc<AtomicU64>,
    done: Arc<AtomicU64>,
    counts: Counts,
    /// The error after which nothing can be printed.
    closed: Option<io::Error>,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitStatus, CliError> {
    // All of them, before anything is compared.
    let mut manifests = Vec::new();
    for manifest in &args.manifests {
        let opened = output::file::open_input(manifest);
        manifests.push((manifest, opened.map_err(CliError::cannot(READ, manifest))?));
    }
    let read = Arc::new(AtomicU64::new(0));
    let cancel = cancel_on_signal()?;
    let mut verifier = Verifier {
        args,
        passes: PassOptions::default().cancel(cancel.clone()).progress(Some(Arc::clone(&read))),
        threads: args.threads.map_or_else(cores, usize::from),
        lines: Vec::new(),
        found: Arc::default(),
        done: Arc::default(),
        counts: Counts::default(),
        closed: None,
    };
    let line = {
        let (done, found) = (Arc::clone(&verifier.done), Arc::clone(&verifier.found));
        let read = Arc::clone(&read);
        ProgressLine::start_with(args.progress, args.quiet, move |elapsed| {
            let [done, found, read] = [&done, &found, &read].map(|n| n.load(Ordering::Relaxed));
            progress(done, found, read, elapsed)
        })
    };
    let began = Instant::now();
    for (manifest, text) in manifests {
        verifier.verify_manifest(manifest, text)?;
    }
    verifier.verify_batch();
    drop(line);
    let interrupted = cancel.is_cancelled();
    let Verifier { counts, closed, found, .. } = verifier;
    let good = counts.matching + if args.ignore_missing { counts.missing } else { 0 };
    let complete = good == found.load(Ordering::Relaxed) && counts.malformed == 0;
    if args.json {
        let summary = object! {
            schema: "transect.verify/1",
            complete: complete,
            interrupted: interrupted,
            ..counts: &counts,
            bytes: read.load(Ordering::Relaxed),
            elapsed_ns: u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
        };
        output::print_json(&summary)?;
    } else {
        let outcomes = [
            (counts.matching, "match"),
            (counts.differing, "differ"),
            (counts.missing, "missing"),
            (counts.failed, "failed"),
            (counts.malformed, "malformed lines"),
        ];
        let files = count_files(counts.files, &outcomes);
        output::note(&format!("{files} in {}", duration(began.elapsed())));
    }
    match closed {
        Some(error) if !is_closed_pipe(&error) => Err(error.into()),
        _ if interrupted => Ok(ExitStatus::Interrupted),
        _ => Ok(ExitStatus::complete_if(complete)),
    }
}

impl Verifier<'_> {
    /// Reads a manifest, and compares files in batches. A malformed line is reported and skipped.
    fn verify_manifest(&mut self, manifest: &Path, text: Box<dyn Read>) -> Result<(), CliError> {
        let before = self.found.load(Ordering::Relaxed);
        for line in manifest::Reader::new(BufReader::new(text)) {
            match line.map_err(CliError::cannot(READ, manifest))? {
                Ok(line) => {
                    self.found.fetch_add(1, Ordering::Relaxed);
                    self.lines.push(line);
                }
                Err(error) => {
                    self.counts.malformed += 1;
                    output::error(&format_args!("'{}', {error}", manifest.display()));
                }
            }
            if self.lines.len() >= BATCH_LINES {
                self.verify_batch();
            }
            if self.passes.cancel.is_cancelled() {
                return Ok(());
            }
        }
        if self.found.load(Ordering::Relaxed) == before {
            let manifest = manifest.display();
            return Err(CliError::Failed(format!(
                "cannot {READ} '{manifest}': it contains no digests"
            )));
        }
        Ok(())
    }

    fn verify_batch(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        let Self { args, counts, closed, done, .. } = self;
        verify(&lines, &self.passes, self.threads, &mut |line, verdict| {
            done.fetch_add(1, Ordering::Relaxed);
            if let Some(text) = record(args, line, &verdict, counts)
                && closed.is_none()
            {
                *closed = stream::stdout().write_all(text.as_bytes()).err();
            }
        });
    }
}

/// Counts a file, and returns its line of output.
fn record(
    args: &VerifyArgs,
    line: &Line,
    verdict: &Result<bool, Error>,
    counts: &mut Counts,
) -> Option<String> {
    counts.files += 1;
    let is_missing = |error: &Error| {
        error.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    let (count, status, word) = match verdict {
        Ok(true) => (&mut counts.matching, "matching", "OK"),
        Ok(false) => (&mut counts.differing, "differing", "DIFFERS"),
        Err(error) if matches!(error.reason(), Reason::Cancelled) => return None,
        Err(error) if is_missing(error) => (&mut counts.missing, "missing", "MISSING"),
        Err(_) => (&mut counts.failed, "failed", "FAILED"),
    };
    *count += 1;
    let is_no_news =
        status == "matching" && args.quiet || status == "missing" && args.ignore_missing;
    if is_no_news && !args.json {
        return None;
    }
    if args.json {
        let entry = object! {
            ..path: PathEntry::from(line.name.as_path()),
            status: status,
            error?: verdict.as_ref().err().map(error_object),
        };
        return Some(json::line(&entry));
    }
    if let ("failed", Err(error)) = (status, verdict) {
        output::error(error);
    }
    // In the format of b3sum --check; quoting keeps every name on one line.
    Some(format!("{}: {word}\n", quote::for_terminal(line.name.as_os_str())))
}
