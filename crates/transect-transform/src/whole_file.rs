//! Transforms one file, from opening it to publishing the result.

use std::path::Path;

use crate::error::Error;
use crate::pass::{PassReport, PassRunner};
use crate::publish::{PublishReport, ReplaceOptions, Replacement};
use crate::source::Source;
use crate::step::Step;

/// The report for one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileReport {
    /// The report of the pass.
    pub pass: PassReport,
    /// The published result; `None` if none was requested.
    pub published: Option<PublishReport>,
}

/// Transforms a file. The result goes to `target`, or is discarded.
///
/// In place ([`Existing::InPlace`](crate::publish::Existing::InPlace)), the target is the input.
///
/// # Errors
/// The errors of [`PassRunner::open`], [`Replacement::begin`], [`PassRunner::run`] and
/// [`Replacement::publish`]. The target is then unchanged, and no temporary file is left.
pub fn transform(
    input: &Path,
    target: Option<&Path>,
    step: Option<&mut dyn Step>,
    runner: &mut PassRunner,
    options: ReplaceOptions,
) -> Result<FileReport, Error> {
    let source = runner.open(input)?;
    let (pass, result) = pass(source, target, step, runner, options)?;
    let published = result.map(Replacement::publish).transpose()?;
    Ok(FileReport { pass, published })
}

/// Runs a pass, and leaves publishing to the caller. Closes the source first: Windows cannot
/// replace an open file.
pub(crate) fn pass(
    source: Source,
    target: Option<&Path>,
    step: Option<&mut dyn Step>,
    runner: &mut PassRunner,
    options: ReplaceOptions,
) -> Result<(PassReport, Option<Replacement>), Error> {
    let mut out =
        target.map(|target| Replacement::begin(target, Some(&source), options)).transpose()?;
    let pass = runner.run(&source, step, out.as_mut())?;
    Ok((pass, out))
}
