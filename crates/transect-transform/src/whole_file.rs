//! One file, from opening it to having the result in its place.

use std::path::Path;

use crate::error::Error;
use crate::pass::{PassReport, PassRunner};
use crate::publish::{Batch, Durability, PublishReport, ReplaceOptions, Replacement};
use crate::source::Source;
use crate::step::Step;

/// What came of one file.
#[derive(Debug)]
pub struct FileReport {
    /// What was read, made and found.
    pub pass: PassReport,
    /// What became of the result; nothing if none was wanted, or if it waits in a batch.
    pub published: Option<PublishReport>,
}

/// Passes over a file. The result goes to `target`, or nowhere.
///
/// In place ([`Existing::InPlace`](crate::publish::Existing::InPlace)) the target is the input.
///
/// # Errors
/// Those of [`PassRunner::open`], [`Replacement::begin`], [`PassRunner::run`] and [`Replacement::publish`]. The
/// target is what it was, and nothing is left beside it.
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

/// Passes over a file as [`transform`] does, but leaves the result to a batch.
///
/// # Errors
/// Those of [`transform`], and of [`Batch::add`].
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

/// Passes over a file, and leaves the result to be published. The source is closed at the end: Windows
/// replaces nothing that is open.
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
