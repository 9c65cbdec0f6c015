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

/// How far what was learnt of a directory can be relied on afterwards. What is not known to hold
/// does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reliability {
    /// A name that a listing does not hold is not there. Elsewhere it may be the same as one that
    /// is spelt otherwise: in another case, composed of other characters, or shortened.
    pub exact_names: bool,
    /// Nobody but this system changes what is in it, so that its notifications tell of everything.
    pub local: bool,
}
