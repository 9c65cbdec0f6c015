//! One file, from opening it to having the result in its place.

use std::path::Path;

use crate::error::Error;
use crate::pass::{Passed, Passes};
use crate::publish::{Batch, Durability, Published, ReplaceOptions, Replacement};
use crate::source::Source;
use crate::step::Step;

/// What came of one file.
#[derive(Debug)]
pub struct Report {
    /// What was read, made and found.
    pub passed: Passed,
    /// What became of the result; nothing if none was wanted, or if it waits in a batch.
    pub published: Option<Published>,
}

/// Passes over a file. The result goes to `target`, or nowhere.
///
/// In place ([`Existing::InPlace`](crate::publish::Existing::InPlace)) the target is the input.
///
/// # Errors
/// Those of [`Passes::open`], [`Replacement::begin`], [`Passes::run`] and [`Replacement::publish`]. The
/// target is what it was, and nothing is left beside it.
pub fn transform(
    input: &Path,
    target: Option<&Path>,
    step: Option<&mut dyn Step>,
    passes: &mut Passes,
    options: ReplaceOptions,
) -> Result<Report, Error> {
    let source = passes.open(input)?;
    let (passed, result) = pass(source, target, step, passes, options)?;
    let published = result.map(Replacement::publish).transpose()?;
    Ok(Report { passed, published })
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
    passes: &mut Passes,
    options: ReplaceOptions,
) -> Result<Passed, Error> {
    let options = ReplaceOptions { durability: Durability::Batch, ..options };
    let source = passes.open(input)?;
    let (passed, result) = pass(source, Some(target), step, passes, options)?;
    result.map_or(Ok(()), |result| batch.add(result))?;
    Ok(passed)
}

/// Passes over a file, and leaves the result to be published. The source is closed at the end: Windows
/// replaces nothing that is open.
pub(crate) fn pass(
    source: Source,
    target: Option<&Path>,
    step: Option<&mut dyn Step>,
    passes: &mut Passes,
    options: ReplaceOptions,
) -> Result<(Passed, Option<Replacement>), Error> {
    let mut out =
        target.map(|target| Replacement::begin(target, Some(&source), options)).transpose()?;
    let passed = passes.run(&source, step, out.as_mut())?;
    Ok((passed, out))
}
