//! Which method a file is passed over with, and why.

use std::sync::OnceLock;

use super::{IoMethod, OutputMode, PassOptions, Preference};
use crate::error::Error;
use crate::step::{Cost, Shape};

/// Where threads begin to pay for heavy steps. Measured with zstd on two busy cores (examples/once.rs,
/// interleaved, November 2026): the pipeline takes 1.1 to 1.3 times the processor at every size, and
/// 0.7 of the time at 4 MiB, 0.5 at 54 MB; at 1 and 2 MiB nothing is decided, and below it is slower.
const MIN_PIPELINE_SIZE: u64 = 4 << 20;

/// Where it pays to go past the system's cache. Below, the device would be waited for at every file, even
/// where all of it is in memory: a tree of 24 thousand files, most of them small and none to be changed,
/// took minutes where reading through the cache took seconds (November 2026). What is smaller is read
/// through it, and leaves nothing there where the system can do that.
const MIN_DIRECT_SIZE: u64 = 1 << 20;

/// What is to be done with a file, as far as it matters for the method.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// What becomes of the length; nothing for a copy.
    pub shape: Option<Shape>,
    /// What the steps cost.
    pub cost: Cost,
    /// How many bytes the file has, as far as is known.
    pub size: u64,
    /// Where the result goes.
    pub output: OutputMode,
    /// Why the kernel cannot copy on its own, if it cannot.
    pub kernel_copy_obstacle: Option<&'static str>,
    /// Whether most of the input is in memory; nothing if that is not known.
    pub resident: Option<bool>,
}

impl Task {
    /// Returns why a method cannot do this, if it cannot.
    fn unsupported_reason(&self, method: IoMethod) -> Option<&'static str> {
        let seen = self.kernel_copy_obstacle.filter(|_| method == IoMethod::KernelCopy);
        method.unsupported_reason(self.shape, self.output).or(seen)
    }
}

/// A method, and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The method.
    pub method: IoMethod,
    /// Why this one, in one line.
    pub reason: &'static str,
    /// How many bytes are read at once; what the method likes if nothing is said.
    pub block: Option<usize>,
}

/// Why a method is taken that was measured to be the best, and why it is not.
const MEASURED: &str = "it was measured to be the best here";
const MEASURED_BUT_UNUSABLE: &str = "what was measured to be the best here cannot do this";

/// Methods, to be tried one after the other.
#[derive(Debug)]
pub(super) struct PlanCandidates {
    /// Those of which only the file or its file system knows whether they can be.
    pub(super) attempts: Vec<Plan>,
    /// The one that can always be, or that was asked for.
    pub(super) fallback: Plan,
}

impl Plan {
    /// Chooses a method. One that was asked for is taken or refused, never replaced; one that is
    /// preferred is taken where it can do the task.
    ///
    /// # Errors
    /// The method that was asked for cannot do this task.
    pub fn new(options: &PassOptions, task: Task) -> Result<Self, Error> {
        let PlanCandidates { attempts, fallback } = Self::candidates(options, task)?;
        Ok(attempts.first().copied().unwrap_or(fallback))
    }

    /// Returns all methods that are to be tried.
    pub(super) fn candidates(options: &PassOptions, task: Task) -> Result<PlanCandidates, Error> {
        if let Some(method) = options.method {
            let fallback = Self { method, reason: "it was asked for", block: None };
            return match task.unsupported_reason(method) {
                Some(why) => Err(Error::Unsupported(method.as_str(), why)),
                None => Ok(PlanCandidates { attempts: Vec::new(), fallback }),
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
        Ok(PlanCandidates { attempts, fallback: Self { reason, ..fallback } })
    }

    /// Chooses by what is known without measuring.
    fn default_for(task: Task) -> Self {
        let (method, reason) = match task {
            Task {
                shape: None, output: OutputMode::NewFile, kernel_copy_obstacle: None, ..
            } => (IoMethod::KernelCopy, "the kernel copies what nobody has to see"),
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

/// Returns whether several threads can run at the same time.
fn has_several_processors() -> bool {
    static SEVERAL: OnceLock<bool> = OnceLock::new();
    *SEVERAL.get_or_init(|| std::thread::available_parallelism().is_ok_and(|count| count.get() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_copy_is_left_to_the_kernel_unless_told_otherwise() {
        let copy = Task { shape: None, ..SMALL };
        assert_eq!(method(None, None, copy), IoMethod::KernelCopy);
        assert_eq!(method(Some(IoMethod::Streams), None, copy), IoMethod::Streams);
        let seen = Task { kernel_copy_obstacle: Some("somebody looks"), ..copy };
        assert_eq!(method(None, Some(IoMethod::KernelCopy), seen), IoMethod::Buffered);
        assert!(Plan::new(&options(Some(IoMethod::KernelCopy), None), seen).is_err());
        let nowhere = Task { output: OutputMode::Discard, ..copy };
        assert_eq!(method(None, None, nowhere), IoMethod::Buffered);
        let in_place = Task { output: OutputMode::InPlace, ..copy };
        assert_eq!(method(None, None, in_place), IoMethod::Buffered);
    }

    #[test]
    fn threads_are_for_heavy_steps_on_large_files_and_several_processors() {
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
            for shape in [Shape::Reduce, Shape::BYTES, Shape::Resizing] {
                let task = Task { cost, size, shape: Some(shape), ..SMALL };
                assert_eq!(method(None, None, task), expected, "{task:?}");
            }
        }
    }

    #[test]
    fn a_preference_gives_way_and_what_was_asked_for_does_not() {
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
    fn what_was_measured_brings_its_block_and_says_so() {
        let wanted = Preference { block: Some(1 << 20), ..Preference::from(IoMethod::Streams) };
        let options = PassOptions { preferred: [wanted].into(), ..PassOptions::default() };
        let plan = Plan::new(&options, SMALL).unwrap();
        assert_eq!((plan.method, plan.block), (IoMethod::Streams, Some(1 << 20)));
        assert_eq!(plan.reason, MEASURED);

        // What cannot be is left, and that is said, too.
        let wanted = Preference::from(IoMethod::KernelCopy);
        let options = PassOptions { preferred: [wanted].into(), ..PassOptions::default() };
        let plan = Plan::new(&options, SMALL).unwrap();
        assert_eq!((plan.method, plan.reason), (IoMethod::Buffered, MEASURED_BUT_UNUSABLE));
    }

    #[test]
    fn what_is_to_spare_the_cache_goes_past_it_where_there_is_a_way() {
        let options = PassOptions { spare_cache: true, ..options(None, Some(IoMethod::Streams)) };
        for shape in [None, Some(Shape::Resizing)] {
            let small = Plan::candidates(&options, Task { shape, ..SMALL }).unwrap().attempts;
            assert!(small.iter().all(|plan| plan.method == IoMethod::Streams), "{small:?}");
            let task = Task { shape, size: MIN_DIRECT_SIZE, ..SMALL };
            let PlanCandidates { attempts, fallback: last } =
                Plan::candidates(&options, task).unwrap();
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
        assert!(Plan::candidates(&asked, SMALL).unwrap().attempts.is_empty());
    }
}
