//! Preferences: which method was measured to be fastest for which files.

use super::{IoMethod, OutputMode, Task};
use crate::step::{Cost, Shape};

/// Size from which preferences apply: the time for smaller files is not spent reading and writing.
const MIDDLE: u64 = 1 << 20;

/// Size from which files are large.
const LARGE: u64 = 64 << 20;

/// How much work the steps do, as far as it matters for the choice of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// None.
    Copy,
    /// The steps take less time than reading and writing.
    Light,
    /// The steps take more time than reading and writing.
    Heavy,
}

/// A class of file sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeClass {
    /// From 1 MiB to less than 64 MiB.
    Middle,
    /// From 64 MiB.
    Large,
}

/// A method that was measured to be fastest for some files. Fields that are `None` match any file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preference {
    /// The work that the steps do.
    pub load: Option<Load>,
    /// The size of the files.
    pub size: Option<SizeClass>,
    /// Whether most of the file is in the page cache.
    pub resident: Option<bool>,
    /// The method.
    pub method: IoMethod,
    /// Bytes to read at once; `None` for the method's default.
    pub block: Option<usize>,
}

impl Load {
    /// All loads.
    pub const ALL: &'static [Self] = &[Self::Copy, Self::Light, Self::Heavy];

    /// Returns the name of the load.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Light => "light",
            Self::Heavy => "heavy",
        }
    }

    /// Returns the load of steps with this shape (`None`: a copy) and cost.
    pub fn of(shape: Option<Shape>, cost: Cost) -> Self {
        match (shape, cost) {
            (None, _) => Self::Copy,
            (Some(_), Cost::Light) => Self::Light,
            (Some(_), Cost::Heavy) => Self::Heavy,
        }
    }
}

impl SizeClass {
    /// All size classes.
    pub const ALL: &'static [Self] = &[Self::Middle, Self::Large];

    /// Returns the name of the class.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Middle => "middle",
            Self::Large => "large",
        }
    }

    /// Returns a description of the class.
    pub fn about(self) -> &'static str {
        match self {
            Self::Middle => "files from 1 MiB to 64 MiB",
            Self::Large => "files from 64 MiB",
        }
    }

    /// Returns the class of a file size in bytes; `None` for small files.
    pub fn of(bytes: u64) -> Option<Self> {
        match bytes {
            ..MIDDLE => None,
            MIDDLE..LARGE => Some(Self::Middle),
            LARGE.. => Some(Self::Large),
        }
    }
}

impl From<IoMethod> for Preference {
    /// Returns a preference for all files.
    fn from(method: IoMethod) -> Self {
        Self { load: None, size: None, resident: None, method, block: None }
    }
}

impl Preference {
    /// Returns whether the preference matches a task, apart from residency. Only reading one file
    /// and writing another was measured.
    pub(super) fn may_match(&self, task: &Task) -> bool {
        let Task { shape, cost, size, output, .. } = *task;
        let load = Load::of(shape, cost);
        output == OutputMode::NewFile
            && self.load.is_none_or(|wanted| wanted == load)
            && self.size.is_none_or(|wanted| SizeClass::of(size) == Some(wanted))
    }

    /// Returns whether the preference matches a task.
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
    fn preference_matches_only_measured_tasks() {
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
            // If residency is unknown, a preference that depends on it does not match.
            Task { resident: None, ..TASK },
        ] {
            assert!(!preference.matches(&other), "{other:?}");
        }
        assert!(Preference::from(IoMethod::Pipeline).matches(&Task { resident: None, ..TASK }));
    }

    #[test]
    fn size_class_none_for_small_files() {
        assert_eq!(SizeClass::of(MIDDLE - 1), None);
        assert_eq!(SizeClass::of(MIDDLE), Some(SizeClass::Middle));
        assert_eq!(SizeClass::of(LARGE - 1), Some(SizeClass::Middle));
        assert_eq!(SizeClass::of(u64::MAX), Some(SizeClass::Large));
    }
}
