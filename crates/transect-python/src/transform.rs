//! `transform`: changes files, or computes something of them.
//!
//! ```text
//! Transform.__next__ ─ first call ─► pump: find all inputs ─► job ─► outcomes ─► Transform.__next__ ─► Outcome
//! ```

use std::thread::available_parallelism;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use transect::{Cancel, Diagnostics, ScanOptions};
use transect_transform::chain::Chain;
use transect_transform::pass::PassOptions;
use transect_transform::publish::{ReplaceOptions, remove_abandoned};
use transect_transform::step::{Shape, Step};
use transect_transform::tree::{Job, OutputTarget, find_inputs};

use crate::errors::{self, ErrorInfo};
use crate::iterator::{Errors, Items};
use crate::options::{at_least_one, parse_options, texts};
use crate::outcome::Outcome;
use crate::pump::{BatchSender, Pump};

/// The step that changes nothing.
const COPY: &str = "copy";

/// Separates steps in one text.
const PIPE: &str = " | ";

/// Transform files, each in one pass, and iterate over the outcomes, in the order of their paths.
///
/// Nothing happens before the first `next`: list(transect.transform(...)) runs it all. A result is written
/// to a temporary file, and takes the place of its file when it is complete.
///
/// steps: one step such as "eol=lf", several with " | " between, or an iterable of steps.
///     `transect transform --steps` lists them.
/// paths: files, and directories with all files below that the filters select.
/// in_place: replace each file that changes. check: change nothing, only find out what would change.
///     Steps that only compute, such as "blake3", need neither.
/// break_links: replace also files with names that are not among the inputs, which keep the old content.
/// keep_times: give each result the times of its file. binary: also files that are not text.
/// threads: the number of threads; by default one for each processor.
///
/// The other arguments are the filters of `scan`.
///
/// The first `next` raises FileNotFoundError or another OSError if a root cannot be read, before anything is
/// changed. Files that cannot be transformed are outcomes with the status "failed". After the last outcome,
/// these and errors inside the trees are announced by a PartialResultWarning.
#[pyfunction]
#[pyo3(
    signature = (steps, paths, *, in_place=false, check=false, break_links=false, keep_times=false,
                 binary=false, threads=None, **options),
    text_signature = "(steps, paths, *, in_place=False, check=False, break_links=False, keep_times=False, binary=False, threads=None, **filters)"
)]
#[expect(clippy::too_many_arguments, reason = "they are keyword arguments")]
pub(crate) fn transform(
    py: Python<'_>,
    steps: &Bound<'_, PyAny>,
    paths: &Bound<'_, PyAny>,
    in_place: bool,
    check: bool,
    break_links: bool,
    keep_times: bool,
    binary: bool,
    threads: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<Transform>> {
    let words: Vec<String> = texts(steps)?
        .iter()
        .flat_map(|text| text.split(PIPE))
        .map(|word| word.trim().to_owned())
        .collect();
    if words.is_empty() {
        return Err(PyValueError::new_err("no step was given"));
    }
    let copies = words.iter().any(|word| word == COPY);
    let words: Vec<String> = words.into_iter().filter(|word| word != COPY).collect();
    let chain = Chain::parse(&words).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let output = match chain.shape() {
        _ if check => OutputTarget::Discard,
        _ if in_place => OutputTarget::InPlace,
        Shape::Reduce if !copies => OutputTarget::Discard,
        _ => return Err(PyValueError::new_err("use in_place=True or check=True")),
    };
    let threads = at_least_one("threads", threads)?;
    let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    let cancel = Cancel::new();
    let passes =
        PassOptions::default().text_only(chain.is_for_text() && !binary).cancel(cancel.clone());
    let replace = ReplaceOptions::default().break_links(break_links).keep_times(keep_times);
    let inputs = parse_options(paths, options)?.cancel(cancel.clone());
    // Errors in the options are errors of this call.
    inputs.clone().plan().map_err(|error| errors::exception(py, &error))?;
    let job = Job::new(output).passes(passes).replace(replace).threads(threads);
    // `None` as soon as it has begun.
    let mut work = Some(Work { inputs, job, chain });
    let (mut pump, of_job) = (None, cancel.clone());
    let next = move |py: Python<'_>, errors: &mut Errors| {
        if let Some(work) = work.take() {
            pump = Some(Pump::start(&of_job, move |items| work.run(items))?);
        }
        pump.as_mut().map_or(Ok(None), |pump| receive(py, pump, errors))
    };
    let meaning = "not all files were found and transformed";
    Py::new(py, (Transform, Items::new(cancel, meaning, next)))
}

/// The steps, and where their files are searched for.
struct Work {
    inputs: ScanOptions,
    job: Job,
    chain: Chain,
}

/// What the thread sends.
enum Item {
    Outcome(Box<Outcome>),
    /// What could not be read of the trees.
    Diagnostics(Diagnostics),
    /// A temporary file of a killed run cannot be removed.
    Leftover(transect_transform::Error),
    /// The walk could not begin.
    Failed(transect::Error),
}

impl Work {
    fn run(self, items: &mut BatchSender<Item>) {
        let found = match find_inputs(self.inputs, false) {
            Ok(found) => found,
            Err(error) => {
                items.send(Item::Failed(error));
                return;
            }
        };
        let has_failed = found.tally.failed_roots > 0;
        items.send(Item::Diagnostics(found.tally));
        if has_failed {
            return;
        }
        if self.job.output == OutputTarget::InPlace {
            for error in remove_abandoned(&found.leftovers).errors {
                items.send(Item::Leftover(error));
            }
        }
        let cancel = self.job.passes.cancel.clone();
        self.job.run(&self.chain, &found.files, &mut |input, done| {
            let outcome = Outcome::new(input, &found.files, done);
            if !items.send(Item::Outcome(Box::new(outcome))) {
                cancel.cancel();
            }
        });
    }
}

/// The outcomes of a transform: an iterator of Outcome objects, and a context manager.
///
/// The threads of the transform stop when it is closed or no longer referenced: files that were begun
/// keep their old content.
#[pyclass(frozen, extends = Items, module = "transect")]
pub(crate) struct Transform;

/// Returns the next outcome; `None` after the last one.
fn receive(
    py: Python<'_>,
    pump: &mut Pump<Item>,
    errors: &mut Errors,
) -> PyResult<Option<Py<PyAny>>> {
    while let Some(item) = pump.next(py)? {
        match item {
            Item::Outcome(outcome) => {
                errors.count += u64::from(outcome.has_failed());
                return Ok(Some(Py::new(py, *outcome)?.into_any()));
            }
            Item::Failed(error) => return Err(errors::exception(py, &error)),
            Item::Diagnostics(found) => {
                errors::failed_root(py, &found)?;
                errors.count += found.errors;
                errors.kept.extend(found.kept_errors.iter().map(ErrorInfo::new));
            }
            Item::Leftover(error) => errors.add(ErrorInfo::of_file(&error)),
        }
    }
    Ok(None)
}
