//! The description of a step in the list of all steps, and its creation from a parameter.

use crate::step::{Shape, Step};

/// A step, or the error in its parameter.
pub(super) type StepResult = Result<Box<dyn Step>, String>;

/// Creates a step from the text after the `=`, or returns the error in that text.
pub(super) type Make = fn(Option<&str>) -> StepResult;

/// The description of a step in help and lists.
#[derive(Clone, Copy, Debug)]
pub struct StepInfo {
    /// The name, as typed.
    pub name: &'static str,
    /// The parameter as shown in help, such as `=lf|crlf`; optional parts are in brackets.
    pub parameter: &'static str,
    /// A description of the step in one line.
    pub about: &'static str,
    /// How the step affects the length.
    pub shape: Shape,
    /// Whether the step is for text: in binary files it would change bytes that only look like
    /// text.
    pub text: bool,
    pub(crate) make: Make,
}

impl StepInfo {
    /// Returns the step with its parameter, as typed.
    pub fn syntax(&self) -> String {
        format!("{}{}", self.name, self.parameter)
    }
}

/// Compares names, as function pointers have no meaningful identity.
impl PartialEq for StepInfo {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for StepInfo {}

pub(super) fn without_parameter<S: Step + 'static>(
    parameter: Option<&str>,
    make: impl FnOnce() -> S,
) -> StepResult {
    match parameter {
        None => Ok(Box::new(make())),
        Some(_) => Err("it has no parameter".to_owned()),
    }
}
