//! The properties of a pass that the choice of a method depends on.

use super::method::{IoMethod, OutputMode};
use crate::step::{Cost, Shape};

/// Size from which preferences apply. Reading and writing take little of the time of smaller files.
const MIDDLE: u64 = 1 << 20;

/// Size from which files are large.
pub(super) const LARGE: u64 = 64 << 20;

/// The properties of a file and of its steps that the choice of a method depends on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Task {
    /// How the steps affect the length; `None` for a copy.
    pub shape: Option<Shape>,
    /// What the steps cost.
    pub cost: Cost,
    /// The size of the file in bytes, as far as it is known.
    pub size: u64,
    /// What to do with the result.
    pub output: OutputMode,
    /// Why a copy cannot be left to the kernel, if it cannot.
    pub kernel_copy_obstacle: Option<&'static str>,
    /// Whether most of the input is in the page cache; `None` if unknown.
    pub resident: Option<bool>,
}

impl Task {
    /// Returns the task of a new file, whose residency is unknown.
    pub fn new(shape: Option<Shape>, cost: Cost, size: u64) -> Self {
        let (output, kernel_copy_obstacle, resident) = (OutputMode::NewFile, None, None);
        Self { shape, cost, size, output, kernel_copy_obstacle, resident }
    }

    /// Returns why a method cannot do this task, if it cannot.
    pub(super) fn unsupported_reason(&self, method: IoMethod) -> Option<&'static str> {
        let seen = self.kernel_copy_obstacle.filter(|_| method == IoMethod::KernelCopy);
        method.unsupported_reason(self.shape, self.output).or(seen)
    }
}

transect_sys::words! {
    /// The work that the steps do, as far as it matters for the choice of a method.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Load {
        /// No step: the content is copied.
        Copy = "copy",
        /// The steps take less time than reading and writing.
        Light = "light",
        /// The steps take more time than reading and writing.
        Heavy = "heavy",
    }
}

transect_sys::words! {
    /// A class of file sizes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SizeClass {
        /// From 1 MiB to less than 64 MiB.
        Middle = "middle",
        /// From 64 MiB.
        Large = "large",
    }
}

impl Load {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_class_none_for_small_files() {
        assert_eq!(SizeClass::of(MIDDLE - 1), None);
        assert_eq!(SizeClass::of(MIDDLE), Some(SizeClass::Middle));
        assert_eq!(SizeClass::of(LARGE - 1), Some(SizeClass::Middle));
        assert_eq!(SizeClass::of(u64::MAX), Some(SizeClass::Large));
    }
}
