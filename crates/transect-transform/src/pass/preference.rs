//! What was measured to be the best way for some files.

use super::{IoMethod, OutputMode, Task};
use crate::step::{Cost, Shape};

/// Where files begin of which it is told how they are passed over: what a smaller one takes is not its
/// reading and writing.
const MIDDLE: u64 = 1 << 20;

/// Where large files begin.
const LARGE: u64 = 64 << 20;

/// What is done with the bytes, as far as it matters for a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Nothing.
    Copy,
    /// Steps that take less time than reading and writing.
    Light,
    /// Steps that take more.
    Heavy,
}

/// How long files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeClass {
    /// From 1 MiB to less than 64 MiB.
    Middle,
    /// From 64 MiB.
    Large,
}

/// A method that was measured to be the best for some files; what is none holds for any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preference {
    /// What is done with them.
    pub load: Option<Load>,
    /// How long they are.
    pub size: Option<SizeClass>,
    /// Whether most of them is in memory, or on the device only.
    pub resident: Option<bool>,
    /// The method.
    pub method: IoMethod,
    /// How many bytes are read at once; what the method likes if nothing is said.
    pub block: Option<usize>,
}

impl Load {
    /// All.
    pub const ALL: &'static [Self] = &[Self::Copy, Self::Light, Self::Heavy];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Light => "light",
            Self::Heavy => "heavy",
        }
    }

    /// Returns what steps of a shape (`None`: a copy) and a cost are.
    pub fn of(shape: Option<Shape>, cost: Cost) -> Self {
        match (shape, cost) {
            (None, _) => Self::Copy,
            (Some(_), Cost::Light) => Self::Light,
            (Some(_), Cost::Heavy) => Self::Heavy,
        }
    }
}

impl SizeClass {
    /// All.
    pub const ALL: &'static [Self] = &[Self::Middle, Self::Large];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Middle => "middle",
            Self::Large => "large",
        }
    }

    /// Returns what it stands for, for people.
    pub fn about(self) -> &'static str {
        match self {
            Self::Middle => "files from 1 MiB to 64 MiB",
            Self::Large => "files from 64 MiB",
        }
    }

    /// Returns the class of a file of so many bytes; nothing for small files.
    pub fn of(bytes: u64) -> Option<Self> {
        match bytes {
            ..MIDDLE => None,
            MIDDLE..LARGE => Some(Self::Middle),
            LARGE.. => Some(Self::Large),
        }
    }
}

impl From<IoMethod> for Preference {
    /// For all files.
    fn from(method: IoMethod) -> Self {
        Self { load: None, size: None, resident: None, method, block: None }
    }
}

impl Preference {
    /// Returns whether it is for a task, whatever of the input is in memory. What was measured is to
    /// read a file and to write another one.
    pub(super) fn may_match(&self, task: &Task) -> bool {
        let Task { shape, cost, size, output, .. } = *task;
        let load = Load::of(shape, cost);
        output == OutputMode::NewFile
            && self.load.is_none_or(|wanted| wanted == load)
            && self.size.is_none_or(|wanted| SizeClass::of(size) == Some(wanted))
    }

    /// Returns whether it is for a task.
    pub(super) fn matches(&self, task: &Task) -> bool {
        self.may_match(task) && (self.resident.is_none() || self.resident == task.resident)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: Task = Task {
        shape: Some(Shape::BYTES),
        cost: Cost::Light,
        size: LARGE,
        output: OutputMode::NewFile,
        kernel_copy_obstacle: None,
        resident: Some(true),
    };

    #[test]
    fn a_preference_is_for_what_was_measured_and_for_nothing_else() {
        let preference = Preference {
            load: Some(Load::Light),
            size: Some(SizeClass::Large),
            resident: Some(true),
            ..Preference::from(IoMethod::Pipeline)
        };
        assert!(preference.matches(&TASK));
        for other in [
            Task { shape: None, ..TASK },
            Task { cost: Cost::Heavy, ..TASK },
            Task { size: LARGE - 1, ..TASK },
            Task { output: OutputMode::InPlace, ..TASK },
            Task { output: OutputMode::Discard, ..TASK },
            Task { resident: Some(false), ..TASK },
            // Who cannot tell is told nothing.
            Task { resident: None, ..TASK },
        ] {
            assert!(!preference.matches(&other), "{other:?}");
        }
        assert!(Preference::from(IoMethod::Pipeline).matches(&Task { resident: None, ..TASK }));
    }

    #[test]
    fn small_files_are_of_no_class() {
        assert_eq!(SizeClass::of(MIDDLE - 1), None);
        assert_eq!(SizeClass::of(MIDDLE), Some(SizeClass::Middle));
        assert_eq!(SizeClass::of(LARGE - 1), Some(SizeClass::Middle));
        assert_eq!(SizeClass::of(u64::MAX), Some(SizeClass::Large));
    }
}
