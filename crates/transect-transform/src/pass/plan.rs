//! Chooses the method for a file, and records why.

use std::sync::OnceLock;

use super::method::{IoMethod, OutputMode};
use super::options::PassOptions;
use super::preference::Preference;
use super::task::Task;
use crate::error::Error;
use crate::step::Cost;

/// Size from which threads pay off for heavy steps. Measured with zstd on two busy cores
/// (examples/once.rs, interleaved, November 2026): the pipeline takes 1.1 to 1.3 times the
/// processor time at every size, and 0.7 of the elapsed time at 4 MiB, 0.5 at 54 MB. At 1 and 2 MiB
/// the difference is not significant, and below it is slower.
const MIN_PIPELINE_SIZE: u64 = 4 << 20;

/// Size from which bypassing the page cache pays off. Smaller files would each wait for the device,
/// even if they are cached: a tree of 24,000 mostly small files, none of which needed a change,
/// took minutes instead of seconds (November 2026). Smaller files are read through the cache, and
/// leave nothing there where the system supports that.
const MIN_DIRECT_SIZE: u64 = 1 << 20;

/// A method, and the reason for choosing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The method.
    pub method: IoMethod,
    /// Why it was chosen, in one line.
    pub reason: &'static str,
    /// Bytes to read at once; `None` for the method's default.
    pub block: Option<usize>,
}

/// Reasons for using a preferred method, and for not using it.
const MEASURED: &str = "it was measured to be the best here";
const MEASURED_BUT_UNUSABLE: &str = "what was measured to be the best here cannot do this";

impl Plan {
    /// Chooses a method. A requested method is used or rejected, never replaced. A preferred method
    /// is used if it can do the task.
    ///
    /// # Errors
    /// The requested method cannot do the task.
    pub fn new(options: &PassOptions, task: Task) -> Result<Self, Error> {
        let (attempts, fallback) = Self::candidates(options, task)?;
        Ok(attempts.first().copied().unwrap_or(fallback))
    }

    /// Returns the methods to try first, which the file or its file system may turn out not to
    /// support, and the one that always works, or that was requested.
    pub(super) fn candidates(
        options: &PassOptions,
        task: Task,
    ) -> Result<(Vec<Self>, Self), Error> {
        if let Some(method) = options.method {
            let fallback = Self { method, reason: "it was asked for", block: None };
            return match task.unsupported_reason(method) {
                Some(why) => Err(Error::unsupported(method.as_str(), why)),
                None => Ok((Vec::new(), fallback)),
            };
        }
        let sparing = [IoMethod::DirectUring, IoMethod::Direct].map(|method| Self {
            method,
            reason: "it leaves the system's cache to others",
            block: None,
        });
        let preference = options.preferred.iter().find(|preference| preference.matches(&task));
        let preferred = preference.map(|&Preference { method, block, .. }| Self {
            method,
            reason: MEASURED,
            block,
        });
        let spares = options.spare_cache && task.size >= MIN_DIRECT_SIZE;
        let sparing = sparing.into_iter().filter(|_| spares);
        let can = |plan: &Self| task.unsupported_reason(plan.method).is_none();
        let attempts = sparing.chain(preferred).filter(can).collect();
        let fallback = Self::default_for(task);
        let reason = if preferred.is_some() { MEASURED_BUT_UNUSABLE } else { fallback.reason };
        Ok((attempts, Self { reason, ..fallback }))
    }

    /// Chooses a method without measurements.
    fn default_for(task: Task) -> Self {
        let (method, reason) = match task {
            Task {
                shape: None, output: OutputMode::NewFile, kernel_copy_obstacle: None, ..
            } => (IoMethod::KernelCopy, "no step reads the data, so the kernel copies it"),
            Task { cost: Cost::Heavy, size: MIN_PIPELINE_SIZE.., .. }
                if has_several_processors() =>
            {
                (IoMethod::Pipeline, "the steps are slower than reading and writing beside them")
            }
            Task { cost: Cost::Heavy, size: MIN_PIPELINE_SIZE.., .. } => {
                (IoMethod::Buffered, "there is one processor, and nothing to be done beside")
            }
            Task { cost: Cost::Heavy, .. } => {
                (IoMethod::Buffered, "the file is too small for threads")
            }
            Task { cost: Cost::Light, .. } => {
                (IoMethod::Buffered, "the steps take less time than threads would")
            }
        };
        Self { method, reason, block: None }
    }
}

/// Returns whether several threads can run in parallel.
fn has_several_processors() -> bool {
    static SEVERAL: OnceLock<bool> = OnceLock::new();
    *SEVERAL.get_or_init(|| std::thread::available_parallelism().is_ok_and(|count| count.get() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Shape;

    const SMALL: Task = Task {
        shape: Some(Shape::Resizing),
        cost: Cost::Light,
        size: 1000,
        output: OutputMode::NewFile,
        kernel_copy_obstacle: None,
        resident: None,
    };

    fn options(method: Option<IoMethod>, preferred: Option<IoMethod>) -> PassOptions {
        let preferred = preferred.map(Preference::from).into_iter().collect();
        PassOptions { method, preferred, ..PassOptions::default() }
    }

    fn method(asked: Option<IoMethod>, preferred: Option<IoMethod>, task: Task) -> IoMethod {
        let plan = Plan::new(&options(asked, preferred), task).unwrap();
        assert!(!plan.reason.is_empty());
        plan.method
    }

    #[test]
    fn plan_copy_uses_kernel_unless_obstacle() {
        let copy = Task { shape: None, ..SMALL };
        assert_eq!(method(None, None, copy), IoMethod::KernelCopy);
        assert_eq!(method(Some(IoMethod::Streams), None, copy), IoMethod::Streams);
        let seen = Task { kernel_copy_obstacle: Some("progress is shown"), ..copy };
        assert_eq!(method(None, Some(IoMethod::KernelCopy), seen), IoMethod::Buffered);
        assert!(Plan::new(&options(Some(IoMethod::KernelCopy), None), seen).is_err());
        let nowhere = Task { output: OutputMode::Discard, ..copy };
        assert_eq!(method(None, None, nowhere), IoMethod::Buffered);
        let in_place = Task { output: OutputMode::InPlace, ..copy };
        assert_eq!(method(None, None, in_place), IoMethod::Buffered);
    }

    #[test]
    fn plan_pipeline_for_heavy_steps_and_large_files() {
        let threads =
            if has_several_processors() { IoMethod::Pipeline } else { IoMethod::Buffered };
        for (cost, size, expected) in [
            (Cost::Light, 0, IoMethod::Buffered),
            (Cost::Light, u64::MAX, IoMethod::Buffered),
            (Cost::Heavy, 0, IoMethod::Buffered),
            (Cost::Heavy, MIN_PIPELINE_SIZE - 1, IoMethod::Buffered),
            (Cost::Heavy, MIN_PIPELINE_SIZE, threads),
            (Cost::Heavy, u64::MAX, threads),
        ] {
            for shape in [Shape::Reduce, Shape::SameSize, Shape::Resizing] {
                let task = Task { cost, size, shape: Some(shape), ..SMALL };
                assert_eq!(method(None, None, task), expected, "{task:?}");
            }
        }
    }

    #[test]
    fn plan_requested_method_overrides_preference() {
        let preferred = Some(IoMethod::KernelCopy);
        assert_eq!(method(None, preferred, SMALL), IoMethod::Buffered);
        let refused = Plan::new(&options(preferred, None), SMALL);
        assert_eq!(
            refused.unwrap_err().to_string(),
            "method 'kernel-copy' cannot be used here: the kernel copies what is there, and no \
             step sees it"
        );
        let preferred = Some(IoMethod::Streams);
        assert_eq!(method(None, preferred, SMALL), IoMethod::Streams);
        assert_eq!(method(Some(IoMethod::Pipeline), preferred, SMALL), IoMethod::Pipeline);
    }

    #[test]
    fn plan_preference_sets_block_and_reason() {
        let wanted = Preference { block: Some(1 << 20), ..Preference::from(IoMethod::Streams) };
        let options = PassOptions { preferred: [wanted].into(), ..PassOptions::default() };
        let plan = Plan::new(&options, SMALL).unwrap();
        assert_eq!((plan.method, plan.block), (IoMethod::Streams, Some(1 << 20)));
        assert_eq!(plan.reason, MEASURED);

        // A preferred method that cannot do the task is skipped, and the reason reports that.
        let wanted = Preference::from(IoMethod::KernelCopy);
        let options = PassOptions { preferred: [wanted].into(), ..PassOptions::default() };
        let plan = Plan::new(&options, SMALL).unwrap();
        assert_eq!((plan.method, plan.reason), (IoMethod::Buffered, MEASURED_BUT_UNUSABLE));
    }

    #[test]
    fn plan_spare_cache_tries_direct_methods_first() {
        let options = PassOptions { spare_cache: true, ..options(None, Some(IoMethod::Streams)) };
        for shape in [None, Some(Shape::Resizing)] {
            let small = Plan::candidates(&options, Task { shape, ..SMALL }).unwrap().0;
            assert!(small.iter().all(|plan| plan.method == IoMethod::Streams), "{small:?}");
            let task = Task { shape, size: MIN_DIRECT_SIZE, ..SMALL };
            let (attempts, last) = Plan::candidates(&options, task).unwrap();
            let plans = attempts.into_iter().chain([last]);
            let methods: Vec<_> = plans.map(|plan| plan.method).collect();
            let direct = [IoMethod::DirectUring, IoMethod::Direct]
                .into_iter()
                .filter(|method| method.unavailable_reason().is_none());
            let planned = if shape.is_none() { IoMethod::KernelCopy } else { IoMethod::Buffered };
            let expected: Vec<_> = direct.chain([IoMethod::Streams, planned]).collect();
            assert_eq!(methods, expected);
        }
        let asked = PassOptions { method: Some(IoMethod::Buffered), ..options };
        assert!(Plan::candidates(&asked, SMALL).unwrap().0.is_empty());
    }
}
