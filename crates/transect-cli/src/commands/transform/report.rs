//! Prints the outcome of each file, and the summary.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Serialize;
use transect_transform::chain::Chain;
use transect_transform::manifest::Line;
use transect_transform::publish::CleanupReport;
use transect_transform::step::{Finding, Shape, Stage, Step};
use transect_transform::tree::{FileOutcome, FileStatus, Input, InputSet, Job, OutputTarget, Skip};
use transect_transform::{Error, Reason};

use crate::args::TransformArgs;
use crate::output::json::{self, PathEntry, object};
use crate::output::units::{bytes, count, counted, duration};
use crate::output::{self, quote, stream};
use transect_program::{CliError, ExitStatus, exit::is_closed_pipe};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// Print errors and digests.
    Quiet,
    /// Print also files that changed.
    Changes,
    /// Print every file.
    Everything,
    /// Print every file as a line of JSON.
    Json,
}

/// Prints and counts the outcome of each file.
pub(super) struct Report<'a> {
    detail: Detail,
    chain: &'a Chain,
    /// `--check`: a file that would change sets the exit code.
    checks: bool,
    /// The chain only inspects: findings are printed instead of outcomes.
    inspects: bool,
    in_place: bool,
    inputs: &'a [Input],
    /// A profile is in use: the method of each file is printed.
    shows_method: bool,
    done: Arc<AtomicU64>,
    counts: Counts,
    /// The error after which nothing can be printed. Files are transformed all the same.
    closed: Option<io::Error>,
}

#[derive(Debug, Default, Serialize)]
struct Counts {
    files: u64,
    same: u64,
    changed: u64,
    would_change: u64,
    written: u64,
    inspected: u64,
    skipped: BTreeMap<&'static str, u64>,
    /// Further names of files that were counted already.
    same_file: u64,
    failed: u64,
    bytes_in: u64,
    bytes_out: u64,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        args: &TransformArgs,
        chain: &'a Chain,
        job: &Job,
        inputs: &'a [Input],
    ) -> Self {
        let detail = match args {
            TransformArgs { json: true, .. } => Detail::Json,
            TransformArgs { verbose: true, .. } => Detail::Everything,
            TransformArgs { quiet: true, .. } => Detail::Quiet,
            _ => Detail::Changes,
        };
        Self {
            detail,
            chain,
            checks: args.check,
            inspects: job.output == OutputTarget::Discard && chain.shape() == Shape::Reduce,
            in_place: job.output == OutputTarget::InPlace,
            shows_method: !job.passes.preferred.is_empty(),
            inputs,
            done: Arc::default(),
            counts: Counts::default(),
            closed: None,
        }
    }

    /// Returns the counter of finished files, for the progress line.
    pub(super) fn done(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.done)
    }

    /// Returns whether a progress line would not be mixed with results on the terminal.
    pub(super) fn allows_progress(&self) -> bool {
        self.detail == Detail::Quiet || !stream::stdout_is_terminal()
    }

    pub(super) fn record(&mut self, input: &Input, done: FileOutcome) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.count(&done);
        let lines = match self.detail {
            Detail::Json => self.json_line(input, &done).into_bytes(),
            _ => self.lines(input, &done),
        };
        self.print(&lines);
        if self.detail != Detail::Json {
            self.report_error(input, &done);
        }
    }

    fn count(&mut self, done: &FileOutcome) {
        let counts = &mut self.counts;
        counts.files += 1;
        match &done.status {
            Ok(FileStatus::Unchanged) => counts.same += 1,
            Ok(FileStatus::Changed) => counts.changed += 1,
            Ok(FileStatus::WouldChange) => counts.would_change += 1,
            Ok(FileStatus::Written) => counts.written += 1,
            Ok(FileStatus::Inspected) => counts.inspected += 1,
            Ok(FileStatus::Skipped(skip)) => *counts.skipped.entry(skip.as_str()).or_default() += 1,
            Ok(FileStatus::SameFile(_)) => counts.same_file += 1,
            Err(_) => counts.failed += 1,
        }
        let is_counted = matches!(done.status, Ok(FileStatus::SameFile(_)) | Err(_));
        if let (false, Some(passed)) = (is_counted, &done.pass) {
            counts.bytes_in += passed.bytes_in;
            counts.bytes_out += passed.bytes_out;
        }
    }

    fn lines(&self, input: &Input, done: &FileOutcome) -> Vec<u8> {
        let Ok(fate) = done.status else {
            return Vec::new();
        };
        let target = done.target.as_deref().unwrap_or(&input.path);
        let findings = done.pass.as_ref().map_or(&[][..], |passed| &passed.findings);
        // The digest of an unchanged copy is that of the result, too.
        let changes_nothing = self.chain.shape() == Shape::Reduce;
        let digested = if changes_nothing { target } else { &input.path };
        let digests = digests(findings, digested, target);
        if !digests.is_empty() {
            return digests;
        }
        let is_news = matches!(fate, FileStatus::Changed | FileStatus::WouldChange);
        let prints_findings =
            self.inspects && matches!(fate, FileStatus::Inspected | FileStatus::SameFile(_));
        if self.detail != Detail::Everything && !prints_findings {
            let tells = is_news && self.detail == Detail::Changes;
            return if tells { output::path_line(&input.path) } else { Vec::new() };
        }
        let path = quote::for_terminal(input.path.as_os_str());
        let line = match fate {
            _ if prints_findings => {
                let values = findings.iter().map(|it| format!("{} {}", it.name, it.value));
                format!("{path}: {}", values.collect::<Vec<_>>().join(", "))
            }
            FileStatus::Written => {
                format!("{path} -> {}", quote::for_terminal(target.as_os_str()))
            }
            FileStatus::Skipped(why) => format!("skipped ({}) {path}", why.as_str()),
            FileStatus::SameFile(first) => {
                let first = quote::for_terminal(self.inputs[first].path.as_os_str());
                format!("{path} is the same file as {first}")
            }
            fate => format!("{} {path}", fate.as_str()),
        };
        let method = done.pass.as_ref().filter(|_| self.shows_method);
        let method = method.map_or(String::new(), |passed| {
            format!(" ({}: {})", passed.method.as_str(), passed.reason)
        });
        let line = line + &method;
        (line + "\n").into_bytes()
    }

    fn json_line(&self, input: &Input, done: &FileOutcome) -> String {
        let passed = done.pass.as_ref();
        let findings = passed.map_or(&[][..], |passed| &passed.findings);
        let (mut reason, mut same_file_as, mut error) = (None, None, None);
        let status = match &done.status {
            Ok(fate) => {
                match fate {
                    FileStatus::Skipped(skip) => reason = Some(skip.as_str()),
                    FileStatus::SameFile(first) => same_file_as = Some(&self.inputs[*first].path),
                    _ => {}
                }
                fate.as_str()
            }
            Err(failed) => {
                error = Some(error_object(failed));
                "failed"
            }
        };
        let target = done.target.as_deref().filter(|target| *target != input.path);
        let findings = findings.iter().map(|Finding { step, stage, name, value }| {
            object! { step: step, stage: stage.as_str(), name: name, value: value }
        });
        let lost = done.lost_metadata.iter().map(|lost| {
            object! { what: &lost.what, os_error: lost.reason.raw_os_error() }
        });
        let line = object! {
            ..path: PathEntry::from(input.path.as_path()),
            target?: target.map(PathEntry::from),
            status: status,
            reason?: reason,
            same_file_as?: same_file_as.map(|first| PathEntry::from(first.as_path())),
            bytes_in: passed.map(|passed| passed.bytes_in),
            bytes_out: passed.map(|passed| passed.bytes_out),
            method?: passed.map(|passed| passed.method.as_str()),
            method_reason?: passed.map(|passed| passed.reason),
            findings: findings.collect::<Vec<_>>(),
            unkept?: (!done.lost_metadata.is_empty()).then(|| lost.collect::<Vec<_>>()),
            error?: error,
        };
        json::line(&line)
    }

    fn print(&mut self, lines: &[u8]) {
        if self.closed.is_none() && !lines.is_empty() {
            self.closed = stream::stdout().write_all(lines).err();
        }
    }

    fn report_error(&mut self, input: &Input, done: &FileOutcome) {
        let target = done.target.as_deref().unwrap_or(&input.path);
        output::report_lost_metadata(target, &done.lost_metadata);
        let Err(error) = &done.status else {
            return;
        };
        if matches!(error.reason(), Reason::Cancelled) {
            return;
        }
        output::error(error);
        match error.reason() {
            Reason::Exists => output::hint_once("use --force to replace existing files"),
            Reason::IsInput => output::hint_once("use --in-place to replace the inputs"),
            Reason::ManyNames(_) => output::hint_once(
                "use --break-links to replace the given names; the others keep the old content",
            ),
            _ => {}
        }
    }

    pub(super) fn finish(
        mut self,
        found: &InputSet,
        cleanup: &CleanupReport,
        elapsed: Duration,
        interrupted: bool,
    ) -> Result<ExitStatus, CliError> {
        output::show_errors(&found.tally, false);
        cleanup.errors.iter().for_each(output::error);
        let interrupted = interrupted || found.interrupted;
        let is_wrong = self.checks && self.counts.would_change > 0;
        let end = ExitStatus::from_diagnostics(&found.tally, interrupted);
        let end = end.max(ExitStatus::complete_if(self.counts.failed == 0 && !is_wrong));
        match self.detail {
            Detail::Json => {
                let summary = object! {
                    schema: "transect.transform/1",
                    steps: self.chain.to_string(),
                    complete: self.counts.failed == 0 && found.tally.is_complete() && !interrupted,
                    interrupted: interrupted,
                    ..counts: &self.counts,
                    leftovers: found.leftovers.len(),
                    leftovers_removed: cleanup.removed,
                    errors: found.tally.errors,
                    elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
                };
                self.print(json::line(&summary).as_bytes());
            }
            Detail::Quiet => {}
            Detail::Changes | Detail::Everything => {
                self.report_leftovers(found, cleanup);
                // Success for a single file is silent, as with cp.
                let is_news =
                    self.inputs.len() > 1 || interrupted || self.detail == Detail::Everything;
                if is_news && !self.inspects {
                    output::note(&self.summary(elapsed, interrupted));
                }
            }
        }
        match self.closed {
            Some(error) if !is_closed_pipe(&error) => Err(error.into()),
            _ => Ok(end),
        }
    }

    fn summary(&self, elapsed: Duration, interrupted: bool) -> String {
        let counts = &self.counts;
        let skipped = |why: Skip| counts.skipped.get(why.as_str()).copied().unwrap_or(0);
        let mut text = count_files(
            counts.files,
            &[
                (counts.changed, "changed"),
                (counts.would_change, "would change"),
                (counts.written, "written"),
                (counts.inspected, "read"),
                (counts.same, "unchanged"),
                (skipped(Skip::Binary), "skipped: not text"),
                (skipped(Skip::AlreadyDone), "done before"),
                (counts.same_file, "hard links"),
                (counts.failed, "failed"),
            ],
        );
        if interrupted {
            text += &format!(", {} not started", count(self.inputs.len() as u64 - counts.files));
        }
        text + &format!("; {} in {}", bytes(counts.bytes_in), duration(elapsed))
    }

    fn report_leftovers(&self, found: &InputSet, cleanup: &CleanupReport) {
        let files = |number: usize| counted(number as u64, "temporary file", "temporary files");
        if cleanup.removed > 0 {
            output::note(&format!("removed {} of killed runs", files(cleanup.removed)));
        }
        let (number, first, why) = match (self.in_place, cleanup.kept.first(), &*found.leftovers) {
            (true, Some((first, why)), _) => (cleanup.kept.len(), first, why.to_string()),
            (false, _, [first, ..]) => {
                let why = "a run with --in-place removes those of killed runs".to_owned();
                (found.leftovers.len(), first, why)
            }
            _ => return,
        };
        let (files, first) = (files(number), first.display());
        output::hint(&format!("kept {files} of other runs, such as '{first}': {why}"));
    }
}

/// Returns the number of files, and those of the outcomes that any had.
pub(in crate::commands) fn count_files(files: u64, outcomes: &[(u64, &str)]) -> String {
    let mut text = counted(files, "file", "files");
    for (number, what) in outcomes.iter().filter(|(number, _)| *number > 0) {
        text += &format!(", {} {what}", count(*number));
    }
    text
}

/// Returns the lines for the digests among `findings`, of the input or of the result, tagged with
/// their algorithm.
pub(super) fn digests(findings: &[Finding], input: &Path, result: &Path) -> Vec<u8> {
    let line = |finding: &Finding| {
        let algorithm = finding.algorithm()?;
        let name = match finding.stage {
            Stage::Input => input,
            Stage::Result => result,
            Stage::Between => return None,
        };
        let line =
            Line { algorithm: Some(algorithm), digest: finding.value.clone(), name: name.into() };
        Some(line.to_bytes())
    };
    findings.iter().filter_map(line).flatten().collect()
}

pub(in crate::commands) fn error_object(error: &Error) -> impl Serialize + use<> {
    object! {
        operation: error.operation().as_str().replace(' ', "_"),
        kind: error.reason().as_str(),
        os_error: error.io_error().and_then(io::Error::raw_os_error),
        message: error.to_string(),
    }
}
