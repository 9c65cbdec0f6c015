//! Transforms one file, from opening it to publishing the result.

use std::path::Path;

use crate::error::Error;
use crate::pass::{PassReport, PassRunner};
use crate::publish::{Batch, Durability, PublishReport, ReplaceOptions, Replacement};
use crate::source::Source;
use crate::step::Step;

/// The report for one file.
#[derive(Debug)]
#[non_exhaustive]
pub struct FileReport {
    /// The report of the pass.
    pub pass: PassReport,
    /// The published result; `None` if none was requested, or if it waits in a batch.
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

/// Transforms a file as [`transform`] does, but adds the result to a batch.
///
/// # Errors
/// The errors of [`transform`] and [`Batch::add`].
pub fn transform_into(
    batch: &mut Batch,
    input: &Path,
    target: &Path,
    step: Option<&mut dyn Step>,
    runner: &mut PassRunner,
    options: ReplaceOptions,
) -> Result<PassReport, Error> {
    let options = ReplaceOptions { durability: Durability::Batch, ..options };
    let source = runner.open(input)?;
    let (pass, result) = pass(source, Some(target), step, runner, options)?;
    result.map_or(Ok(()), |result| batch.add(result))?;
    Ok(pass)
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
