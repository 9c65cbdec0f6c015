//! `transect transform`: transforms files in one pass, each result written atomically.

mod positionals;
mod report;
mod streams;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use transect_transform::pass::{PassOptions, Preference};
use transect_transform::publish::{CleanupReport, Existing, ReplaceOptions, remove_abandoned};
use transect_transform::step::{Shape, Step};
use transect_transform::steps::STEPS;
use transect_transform::tree::{Job, JobJournal, OutputTarget, find_inputs};

use crate::args::TransformArgs;
use crate::output;
use crate::output::units::{bytes, count};
use crate::profile;
use crate::progress::ProgressLine;
use positionals::Positionals;
use report::Report;
pub(super) use report::{count_files, error_object};
use transect_program::{CliError, ExitStatus, cancel_on_signal};

pub(crate) fn run(args: &TransformArgs) -> Result<ExitStatus, CliError> {
    if args.steps {
        return list_steps();
    }
    let Positionals { chain, paths, copies } =
        Positionals::parse(&args.words, args.paths.as_deref())?;
    let read = Arc::new(AtomicU64::new(0));
    let mut passes = PassOptions::default()
        .method(args.method)
        .block(args.block)
        .spare_cache(args.spare_cache)
        .sequential(args.sequential)
        .text_only(chain.is_for_text() && !args.binary)
        .read_back(args.read_back)
        .cancel(cancel_on_signal()?)
        .progress(Some(Arc::clone(&read)));
    let replace = ReplaceOptions::default()
        .existing(if args.force { Existing::Replace } else { Existing::Keep })
        .break_links(args.break_links)
        .durability(args.sync)
        .keep_times(args.keep_times);
    if let Some(streams) = streams::Streams::from_args(args, &paths)? {
        return streams.run(chain, &passes, replace);
    }

    let inspects_only = chain.shape() == Shape::Reduce && !copies;
    let to = destination(args, &paths, inspects_only)?;
    passes.preferred = preferred(args, &paths, &to);
    let sizes = matches!(to, OutputTarget::Directory(_));
    let threads = args.threads.map_or_else(cores, usize::from);
    let journal = args.journal.as_deref().map(|path| JobJournal::open(path, &chain)).transpose()?;
    let job = Job::new(to)
        .passes(passes)
        .replace(replace)
        .threads(threads)
        .journal(journal.map(Arc::new));
    let began = Instant::now();
    let found = find_inputs(args.filter.options(paths).cancel(job.passes.cancel.clone()), sizes)?;
    job.check(&chain, &found.files)?;

    // Only --in-place, which changes the tree anyway, removes files from it.
    let cleanup = match job.output {
        OutputTarget::InPlace => remove_abandoned(&found.leftovers),
        _ => CleanupReport::default(),
    };
    let mut report = Report::new(args, &chain, &job, &found.files);
    let (done, files) = (report.done(), found.files.len() as u64);
    let room = report.allows_progress();
    let line = ProgressLine::start_with(args.progress, room, move |elapsed| {
        progress(done.load(Ordering::Relaxed), files, read.load(Ordering::Relaxed), elapsed)
    });
    job.run(&chain, &found.files, &mut |input, done| report.record(input, done));
    drop(line);
    report.finish(&found, &cleanup, began.elapsed(), job.passes.cancel.is_cancelled())
}

/// Returns the measured preferences for the file systems of inputs and results, unless options set
/// the method.
fn preferred(args: &TransformArgs, paths: &[PathBuf], to: &OutputTarget) -> Arc<[Preference]> {
    let target = match to {
        OutputTarget::File(target) | OutputTarget::Directory(target) => target,
        // Only writing to another file was measured.
        OutputTarget::InPlace | OutputTarget::Discard => return Arc::default(),
    };
    if args.no_profile || args.method.is_some() || args.block.is_some() {
        return Arc::default();
    }
    profile::preferences(paths, target, args.sync)
}

/// Returns where results go, from the options and the number and type of the inputs.
fn destination(
    args: &TransformArgs,
    paths: &[PathBuf],
    inspects_only: bool,
) -> Result<OutputTarget, CliError> {
    if args.check {
        return Ok(OutputTarget::Discard);
    }
    if args.in_place {
        return Ok(OutputTarget::InPlace);
    }
    let Some(output) = &args.output else {
        let why = "no destination given; use --in-place, --output PATH or --check";
        return if inspects_only { Ok(OutputTarget::Discard) } else { Err(CliError::failed(why)) };
    };
    let ends_as_directory = || {
        let last = output.as_os_str().as_encoded_bytes().last();
        last.is_some_and(|&last| std::path::is_separator(last.into()))
    };
    if !ends_as_directory() && !output.is_dir() && paths.len() == 1 && !paths[0].is_dir() {
        return Ok(OutputTarget::File(output.clone()));
    }
    match paths.iter().find(|root| lies_in(output, root)) {
        None => Ok(OutputTarget::Directory(output.clone())),
        Some(root) => Err(CliError::Failed(format!(
            "cannot write results to '{}', which is inside '{}'; the next run would transform them again",
            output.display(),
            root.display()
        ))),
    }
}

/// Returns whether a directory, which may not exist yet, is inside a tree.
fn lies_in(directory: &Path, root: &Path) -> bool {
    let there = |path: &Path| path.canonicalize().ok();
    let Some(root) = there(root).filter(|root| root.is_dir()) else {
        return false;
    };
    let here = if directory.is_absolute() { PathBuf::new() } else { PathBuf::from(".") };
    let directory = here.join(directory);
    directory.ancestors().find_map(there).is_some_and(|directory| directory.starts_with(root))
}

pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub(super) fn progress(done: u64, files: u64, read: u64, elapsed: Duration) -> String {
    let rate = read as f64 / elapsed.as_secs_f64();
    let (done, files) = (count(done), count(files));
    format!("{done} of {files} files  {}  {}/s", bytes(read), bytes(rate as u64))
}

/// Lists all steps, one per line.
fn list_steps() -> Result<ExitStatus, CliError> {
    let mut text = output::buffer();
    let width = STEPS.iter().map(|step| step.name.len()).max().unwrap_or(0);
    let margin = width + 2;
    let columns = output::terminal_width().unwrap_or(80).clamp(40, 80) - 2;
    for step in STEPS {
        let lines = output::wrap(step.about, columns - margin);
        writeln!(text, "{:width$}  {}", step.name, lines.join(&format!("\n{:margin$}", "")))?;
        if !step.parameter.is_empty() {
            writeln!(text, "{:margin$}{}", "", step.syntax())?;
        }
    }
    output::print_wrapped(text)?;
    Ok(ExitStatus::Complete)
}
