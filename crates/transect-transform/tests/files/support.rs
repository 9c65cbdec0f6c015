//! Steps with obvious results, and the names left in a directory.

use std::path::Path;

use transect_testkit::{TempDir, loudly_skip};
use transect_transform::output::OutputBuffer;
use transect_transform::pass::{IoMethod, PassOptions, PassRunner};
use transect_transform::publish::{Batch, Durability, Existing, ReplaceOptions, Replacement};
use transect_transform::step::{Finding, InvalidData, Shape, Step, StepError};
use transect_transform::{Error, FileReport, Reason, transform};

/// Transforms a file with [`Upper`], and adds the result to a batch.
pub(crate) fn transform_into(
    batch: &mut Batch,
    input: &Path,
    target: &Path,
    runner: &mut PassRunner,
    options: ReplaceOptions,
) {
    let source = runner.open(input).unwrap();
    let options = options.durability(Durability::Batch);
    let mut result = Replacement::begin(target, Some(&source), options).unwrap();
    runner.run(&source, Some(&mut Upper), Some(&mut result)).unwrap();
    batch.add(result).unwrap();
}

/// Returns why something failed.
pub(crate) fn reason<T>(outcome: &Result<T, Error>) -> Option<&Reason> {
    outcome.as_ref().err().map(Error::reason)
}

/// Capital letters: every byte keeps its offset.
pub(crate) struct Upper;

impl Step for Upper {
    fn shape(&self) -> Shape {
        Shape::SameSize
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        out.put(&input.to_ascii_uppercase())
    }

    fn finish(&mut self, _: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        Ok(())
    }

    fn change(&mut self, block: &mut [u8]) -> Result<(), InvalidData> {
        block.make_ascii_uppercase();
        Ok(())
    }

    fn reset(&mut self) {}
}

/// Removes carriage returns, and adds a newline at the end. Holds back a byte. The result may be
/// shorter or longer. Rejects NUL.
#[derive(Default)]
pub(crate) struct Lines {
    held: Option<u8>,
    last: Option<u8>,
}

impl Step for Lines {
    fn shape(&self) -> Shape {
        Shape::Resizing
    }

    fn feed(&mut self, input: &[u8], out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        for &byte in input {
            if byte == 0 {
                return Err(InvalidData::new("it is not text").into());
            }
            if let Some(held) = self.held.take()
                && byte != b'\n'
            {
                out.put(&[held])?;
            }
            if byte == b'\r' {
                self.held = Some(byte);
            } else {
                out.put(&[byte])?;
            }
            self.last = Some(byte);
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        if let Some(held) = self.held.take() {
            out.put(&[held])?;
        }
        if self.last.is_some_and(|last| last != b'\n') {
            out.put(b"\n")?;
        }
        Ok(())
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}

/// The expected result of [`Lines`].
pub(crate) fn lines(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, &byte) in text.iter().enumerate() {
        if byte != b'\r' || text.get(index + 1) != Some(&b'\n') {
            out.push(byte);
        }
    }
    if text.last().is_some_and(|&last| last != b'\n') {
        out.push(b'\n');
    }
    out
}

/// Counts bytes.
#[derive(Default)]
pub(crate) struct Count(u64);

impl Step for Count {
    fn shape(&self) -> Shape {
        Shape::Reduce
    }

    fn feed(&mut self, input: &[u8], _: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        self.0 += input.len() as u64;
        Ok(())
    }

    fn finish(&mut self, _: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        vec![Finding::new("bytes", self.0)]
    }

    fn reset(&mut self) {
        self.0 = 0;
    }
}

/// Calls a function before each block, to provoke races.
pub(crate) struct Meanwhile<F>(pub(crate) F);

impl<F: FnMut() + Send> Step for Meanwhile<F> {
    fn shape(&self) -> Shape {
        Shape::SameSize
    }

    fn feed(&mut self, _: &[u8], _: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        unreachable!("a step that keeps every byte at its place changes blocks")
    }

    fn finish(&mut self, _: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        Ok(())
    }

    fn change(&mut self, block: &mut [u8]) -> Result<(), InvalidData> {
        self.0();
        block.make_ascii_uppercase();
        Ok(())
    }

    fn reset(&mut self) {}
}

/// Methods that support steps and are available here. All others must return a reason.
pub(crate) fn with_steps() -> Vec<IoMethod> {
    let steps = |method: &IoMethod| *method != IoMethod::KernelCopy && is_at_hand(*method);
    IoMethod::ALL.iter().copied().filter(steps).collect()
}

/// All methods that are available here.
pub(crate) fn at_hand() -> Vec<IoMethod> {
    IoMethod::ALL.iter().copied().filter(|method| is_at_hand(*method)).collect()
}

fn is_at_hand(method: IoMethod) -> bool {
    let temp = TempDir::new();
    let input = temp.join("input");
    std::fs::write(&input, "text").unwrap();
    let mut passes = passes(Some(method), None);
    let options = ReplaceOptions::default();
    match transform(&input, Some(&temp.join("output")), None, &mut passes, options) {
        Ok(_) => true,
        Err(error) if matches!(error.reason(), Reason::Unsupported(..)) => {
            // Methods that a system never has are not reported as skipped.
            if method.unavailable_reason().is_none() || cfg!(target_os = "linux") {
                loudly_skip(method.as_str(), error);
            }
            false
        }
        Err(error) => panic!("{}: {error}", method.as_str()),
    }
}

/// Returns whether a method does not support a step. Checks that it then returns the reason, and
/// creates nothing.
pub(crate) fn refuses(method: IoMethod, step: &mut dyn Step) -> bool {
    if method != IoMethod::Mapped || step.shape() != Shape::Resizing {
        return false;
    }
    let temp = TempDir::new();
    let input = temp.join("input");
    std::fs::write(&input, "text").unwrap();
    let target = temp.join("output");
    for target in [None, Some(target.as_path()), Some(input.as_path())] {
        let place = if target == Some(&input) { Existing::InPlace } else { Existing::Keep };
        let mut passes = passes(Some(method), None);
        let refused = transform(&input, target, Some(step), &mut passes, existing(place));
        assert!(matches!(reason(&refused), Some(Reason::Unsupported("mapped", _))));
        assert_eq!(names(temp.path()), ["input"]);
    }
    true
}

pub(crate) fn passes(method: Option<IoMethod>, block: Option<usize>) -> PassRunner {
    PassRunner::new(PassOptions::default().method(method).block(block))
}

pub(crate) fn existing(existing: Existing) -> ReplaceOptions {
    ReplaceOptions::default().existing(existing)
}

/// Runs a pass with default options and small blocks.
pub(crate) fn run(
    input: &Path,
    target: &Path,
    step: &mut dyn Step,
    options: ReplaceOptions,
) -> Result<FileReport, Error> {
    transform(input, Some(target), Some(step), &mut passes(None, Some(4096)), options)
}

/// Copies a file with default options.
pub(crate) fn copy(input: &Path, target: &Path) -> Result<FileReport, Error> {
    transform(input, Some(target), None, &mut passes(None, None), ReplaceOptions::default())
}

/// Transforms a file in place with default options.
pub(crate) fn in_place(path: &Path, step: &mut dyn Step) -> Result<FileReport, Error> {
    run(path, path, step, existing(Existing::InPlace))
}

/// Returns the names in a directory in order, to check that nothing was left behind.
#[expect(clippy::disallowed_methods, reason = "one directory, to see what is left in it")]
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Text without a final newline, always the same.
pub(crate) fn text(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let letters = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b" abcdefghijklmnopqrstuvwxyz\n,.-:"[(state >> 24) as usize % 32]
    });
    letters.take(length).collect()
}

pub(crate) fn message<T>(result: Result<T, Error>) -> String {
    result.map(drop).unwrap_err().to_string()
}
