//! How the bytes get from the input to the output.

use crate::publish::Replacement;
use crate::step::Shape;
use crate::system;

/// A way of reading and writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum IoMethod {
    /// One block, read, changed where it lies and written: nothing is copied in between.
    Buffered,
    /// The buffered readers and writers of the standard library: what most programs do.
    Streams,
    /// The kernel copies, or shares the blocks of the device: for copies only.
    KernelCopy,
    /// Three threads, for reading, the steps and writing: for steps that are slower than the device.
    Pipeline,
    /// The input is mapped into memory, the result is written. On Linux and Windows.
    MappedRead,
    /// Input and output are mapped into memory. On Linux and Windows, for results as long as the
    /// input.
    Mapped,
    /// Past the system's cache, one block at a time. On Linux and Windows, where the file system has
    /// a way.
    Direct,
    /// Several reads and writes on their way at once, by `io_uring`. On Linux.
    Uring,
    /// The same past the system's cache: what costs the processor least. On Linux, where the file
    /// system has a way.
    DirectUring,
}

/// Where the result of a pass goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputMode {
    /// Nowhere: what counts is what the steps find, and whether the result would be another.
    Discard,
    /// Into another file.
    NewFile,
    /// In the place of the input, if it differs.
    InPlace,
}

impl OutputMode {
    pub(super) fn of(out: &Replacement) -> Self {
        if out.is_in_place() { Self::InPlace } else { Self::NewFile }
    }
}

impl IoMethod {
    /// All methods.
    pub const ALL: &'static [Self] = &[
        Self::Buffered,
        Self::Streams,
        Self::KernelCopy,
        Self::Pipeline,
        Self::MappedRead,
        Self::Mapped,
        Self::Direct,
        Self::Uring,
        Self::DirectUring,
    ];

    /// Returns the name of the method, as users type it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Buffered => "buffered",
            Self::Streams => "streams",
            Self::KernelCopy => "kernel-copy",
            Self::Pipeline => "pipeline",
            Self::MappedRead => "mapped-read",
            Self::Mapped => "mapped",
            Self::Direct => "direct",
            Self::Uring => "uring",
            Self::DirectUring => "direct-uring",
        }
    }

    /// Returns why this system has no such method, if it has none.
    pub fn unavailable_reason(self) -> Option<&'static str> {
        match self {
            Self::MappedRead | Self::Mapped if !system::HAS_MAPPINGS => {
                Some("a file that is cut while it is mapped ends the program on this system")
            }
            Self::Direct | Self::DirectUring if !system::HAS_DIRECT => {
                Some("no way past the cache of this system is known")
            }
            Self::Uring | Self::DirectUring if !system::has_io_uring() => {
                Some("this system has no io_uring, or does not allow it")
            }
            _ => None,
        }
    }

    /// Returns why this method cannot do work of a shape (`None`: a copy), if it cannot.
    pub(super) fn unsupported_reason(
        self,
        shape: Option<Shape>,
        output: OutputMode,
    ) -> Option<&'static str> {
        if let Some(why) = self.unavailable_reason() {
            return Some(why);
        }
        match (self, shape, output) {
            // Also if nothing is to be written: to look what would come of it says the same.
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
    fn what_cannot_be_is_refused_and_all_else_is_not() {
        for &method in IoMethod::ALL {
            if method.unavailable_reason().is_some() {
                continue;
            }
            for shape in [None, Some(Shape::BYTES), Some(Shape::Resizing), Some(Shape::Reduce)] {
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
