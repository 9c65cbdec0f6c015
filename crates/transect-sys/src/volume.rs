//! The file system that a directory lies on.

/// What the walker must know of the file system under a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume {
    /// Device number, if it was asked for.
    pub device: Option<u64>,
    /// The files are a view of the kernel's state and occupy no storage (`/proc`, `/sys` and
    /// their like). `tmpfs` is not: its files hold bytes.
    pub pseudo: bool,
    /// A listing that leaves room in the buffer was the last one, so that the call which would
    /// only say "no more" can be saved.
    pub short_read_is_end: bool,
}
