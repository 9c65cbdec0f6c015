//! Preferences: which method was measured to be fastest for which files.

use super::method::{IoMethod, OutputMode};
use super::task::{Load, SizeClass, Task};

transect_sys::options! {
    /// A method that was measured to be fastest for some files. Fields that are `None` match any file.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Preference {
        /// Sets the work that the steps do.
        load: Option<Load> = impl Into<Option<Load>>,
        /// Sets the size of the files.
        size: Option<SizeClass> = impl Into<Option<SizeClass>>,
        /// Sets whether most of the file is in the page cache.
        resident: Option<bool> = impl Into<Option<bool>>,
        /// Sets the bytes to read at once; `None` stands for the method's default.
        block: Option<usize> = impl Into<Option<usize>>,
        ;
        /// The method.
        pub method: IoMethod,
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

    pub(super) fn matches(&self, task: &Task) -> bool {
        self.may_match(task) && (self.resident.is_none() || self.resident == task.resident)
    }
}

#[cfg(test)]
mod tests {
    use super::super::task::LARGE;
    use super::*;
    use crate::step::{Cost, Shape};

    const TASK: Task = Task {
        shape: Some(Shape::SameSize),
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
}
