//! Methods: how bytes get from the input to the output.

use crate::publish::Replacement;
use crate::step::Shape;
use crate::system;

transect_sys::words! {
    /// A method of reading and writing.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum IoMethod {
        /// Reads a block, changes it in place and writes it, without another copy.
        Buffered = "buffered",
        /// The buffered readers and writers of the standard library, which most programs use.
        Streams = "streams",
        /// The kernel copies, or shares blocks on the device. For copies only.
        KernelCopy = "kernel-copy",
        /// Three threads for reading, the steps and writing. For steps that are slower than the device.
        Pipeline = "pipeline",
        /// Maps the input into memory and writes the result. Linux and Windows.
        MappedRead = "mapped-read",
        /// Maps input and output into memory. Linux and Windows, if the result is as long as the input.
        Mapped = "mapped",
        /// Bypasses the page cache, one block at a time. Linux and Windows, where the file system
        /// supports it.
        Direct = "direct",
        /// Several reads and writes in flight, with `io_uring`. Linux.
        Uring = "uring",
        /// `io_uring`, bypassing the page cache: uses the least processor time. Linux, where the file
        /// system supports it.
        DirectUring = "direct-uring",
    }
}

/// What a pass does with the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputMode {
    /// Discards it: only computes findings, and whether the result differs.
    Discard,
    /// Writes it to another file.
    NewFile,
    /// Replaces the input if it differs.
    InPlace,
}

impl OutputMode {
    pub(super) fn of(out: &Replacement) -> Self {
        if out.is_in_place() { Self::InPlace } else { Self::NewFile }
    }
}

impl IoMethod {
    /// Returns why this system lacks the method, if it does.
    pub fn unavailable_reason(self) -> Option<&'static str> {
        match self {
            Self::MappedRead | Self::Mapped if !system::HAS_MAPPINGS => {
                Some("a file that is cut while it is mapped ends the program on this system")
            }
            Self::Direct | Self::DirectUring if !system::HAS_DIRECT => {
                Some("this system does not support direct I/O")
            }
            Self::Uring | Self::DirectUring if !system::has_io_uring() => {
                Some("this system has no io_uring, or does not allow it")
            }
            _ => None,
        }
    }

    /// Returns why the method cannot do work of this shape (`None`: a copy), if it cannot.
    pub(super) fn unsupported_reason(
        self,
        shape: Option<Shape>,
        output: OutputMode,
    ) -> Option<&'static str> {
        if let Some(why) = self.unavailable_reason() {
            return Some(why);
        }
        match (self, shape, output) {
            // Even if the result is discarded, so that a check reports the same as the real run.
            (Self::Mapped, Some(Shape::Resizing), _) => {
                Some("what is mapped to be written has its length before anything is in it")
            }
            (Self::KernelCopy, Some(_), _) => {
                Some("the kernel copies what is there, and no step sees it")
            }
            (Self::KernelCopy, None, OutputMode::Discard) => Some("there is nothing to copy to"),
            (Self::KernelCopy, None, OutputMode::InPlace) => {
                Some("a copy in place would change nothing")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_unsupported_tasks_have_reason() {
        for &method in IoMethod::ALL {
            if method.unavailable_reason().is_some() {
                continue;
            }
            for shape in [None, Some(Shape::SameSize), Some(Shape::Resizing), Some(Shape::Reduce)] {
                for to in [OutputMode::Discard, OutputMode::NewFile, OutputMode::InPlace] {
                    let impossible = match method {
                        IoMethod::KernelCopy => shape.is_some() || to != OutputMode::NewFile,
                        IoMethod::Mapped => shape == Some(Shape::Resizing),
                        _ => false,
                    };
                    let context = format!("{}, {shape:?}, {to:?}", method.as_str());
                    assert_eq!(
                        method.unsupported_reason(shape, to).is_some(),
                        impossible,
                        "{context}"
                    );
                }
            }
        }
    }
}
