//! Which method a file is passed over with, and why.

use std::sync::OnceLock;

use super::{Destination, IoMethod};
use crate::error::Error;
use crate::step::{Cost, Shape};

/// Where threads begin to pay for heavy steps. Below, starting three threads and handing blocks from
/// one to the other takes longer than what they do at the same time (zstd, 64 KiB to 64 MiB: the
/// pipeline needs 1.1 to 1.4 times the processor at every size, and is faster from 2 MiB on).
const WORTH_THREADS: u64 = 4 << 20;

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
    pub destination: Destination,
    /// Why the kernel cannot copy on its own, if it cannot.
    pub why_seen: Option<&'static str>,
}

impl Task {
    /// Returns why a method cannot do this, if it cannot.
    fn refusal(&self, method: IoMethod) -> Option<&'static str> {
        let seen = self.why_seen.filter(|_| method == IoMethod::KernelCopy);
        method.refusal(self.shape, self.destination).or(seen)
    }
}

/// A method, and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The method.
    pub method: IoMethod,
    /// Why this one, in one line.
    pub reason: &'static str,
}

impl Plan {
    /// Chooses a method. One that was asked for is taken or refused, never replaced; one that is
    /// preferred is taken where it can do the task.
    ///
    /// # Errors
    /// The method that was asked for cannot do this task.
    pub fn new(
        asked: Option<IoMethod>,
        preferred: Option<IoMethod>,
        task: Task,
    ) -> Result<Self, Error> {
        if let Some(method) = asked {
            return match task.refusal(method) {
                Some(why) => Err(Error::Impossible(method.as_str(), why)),
                None => Ok(Self { method, reason: "it was asked for" }),
            };
        }
        Ok(Self::preference(preferred, task).unwrap_or_else(|| Self::of(task)))
    }

    /// Returns the preferred method, if it can do the task.
    fn preference(preferred: Option<IoMethod>, task: Task) -> Option<Self> {
        let method = preferred?;
        let can = task.refusal(method).is_none();
        can.then_some(Self { method, reason: Self::PREFERRED })
    }

    const PREFERRED: &'static str = "it was measured to be the best here";

    /// Returns whether the method was taken because it is preferred: another one will do.
    pub(super) fn is_preference(self) -> bool {
        self.reason == Self::PREFERRED
    }

    /// Chooses by what is known without measuring.
    fn of(task: Task) -> Self {
        let (method, reason) = match task {
            Task { shape: None, destination: Destination::Elsewhere, why_seen: None, .. } => {
                (IoMethod::KernelCopy, "the kernel copies what nobody has to see")
            }
            Task { cost: Cost::Heavy, size: WORTH_THREADS.., .. } if has_processors() => {
                (IoMethod::Pipeline, "the steps are slower than reading and writing beside them")
            }
            Task { cost: Cost::Heavy, size: WORTH_THREADS.., .. } => {
                (IoMethod::Buffered, "there is one processor, and nothing to be done beside")
            }
            Task { cost: Cost::Heavy, .. } => {
                (IoMethod::Buffered, "the file is too small for threads")
            }
            Task { cost: Cost::Light, .. } => {
                (IoMethod::Buffered, "the steps take less time than threads would")
            }
        };
        Self { method, reason }
    }
}

/// Returns whether several threads can run at the same time.
fn has_processors() -> bool {
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
        destination: Destination::Elsewhere,
        why_seen: None,
    };

    fn method(asked: Option<IoMethod>, preferred: Option<IoMethod>, task: Task) -> IoMethod {
        let plan = Plan::new(asked, preferred, task).unwrap();
        assert!(!plan.reason.is_empty());
        plan.method
    }

    #[test]
    fn a_copy_is_left_to_the_kernel_unless_told_otherwise() {
        let copy = Task { shape: None, ..SMALL };
        assert_eq!(method(None, None, copy), IoMethod::KernelCopy);
        assert_eq!(method(Some(IoMethod::Streams), None, copy), IoMethod::Streams);
        let seen = Task { why_seen: Some("somebody looks"), ..copy };
        assert_eq!(method(None, Some(IoMethod::KernelCopy), seen), IoMethod::Buffered);
        assert!(Plan::new(Some(IoMethod::KernelCopy), None, seen).is_err());
        let nowhere = Task { destination: Destination::Nowhere, ..copy };
        assert_eq!(method(None, None, nowhere), IoMethod::Buffered);
        let in_place = Task { destination: Destination::InPlace, ..copy };
        assert_eq!(method(None, None, in_place), IoMethod::Buffered);
    }

    #[test]
    fn threads_are_for_heavy_steps_on_large_files_and_several_processors() {
        let threads = if has_processors() { IoMethod::Pipeline } else { IoMethod::Buffered };
        for (cost, size, expected) in [
            (Cost::Light, 0, IoMethod::Buffered),
            (Cost::Light, u64::MAX, IoMethod::Buffered),
            (Cost::Heavy, 0, IoMethod::Buffered),
            (Cost::Heavy, WORTH_THREADS - 1, IoMethod::Buffered),
            (Cost::Heavy, WORTH_THREADS, threads),
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
        let refused = Plan::new(preferred, None, SMALL).map_err(|error| error.to_string());
        assert_eq!(
            refused.unwrap_err(),
            "method 'kernel-copy' cannot be used here: the kernel copies what is there, and no \
             step sees it"
        );
        let preferred = Some(IoMethod::Streams);
        assert_eq!(method(None, preferred, SMALL), IoMethod::Streams);
        assert!(Plan::new(None, preferred, SMALL).unwrap().is_preference());
        assert_eq!(method(Some(IoMethod::Pipeline), preferred, SMALL), IoMethod::Pipeline);
        assert!(!Plan::new(preferred, None, SMALL).unwrap().is_preference());
    }
}
