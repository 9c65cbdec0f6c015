//! How to publish a result.

/// What to do with a file that exists at the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Keep it: the target must not exist, even at the end.
    #[default]
    Keep,
    /// Replace it, unless it is the input.
    Replace,
    /// It is the input: replace it if the result differs.
    InPlace,
}

/// The data that must be on the device before a result counts as published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Nothing: after a system crash the target may be old, new, or on some file systems empty.
    #[default]
    None,
    /// Each file, before it is renamed, and then its name.
    File,
    /// All files of a [`Batch`](super::Batch) at once, before the first is renamed. Outside a
    /// batch, the same as [`Durability::File`].
    Batch,
}

/// How to put results in place.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ReplaceOptions {
    /// What to do with a file that exists at the target.
    pub existing: Existing,
    /// Replace targets with several names (hard links), too. The other names keep the old content.
    pub break_links: bool,
    /// The data that must be on the device at the end.
    pub durability: Durability,
    /// Give the result the times of the input.
    pub keep_times: bool,
    /// Let only the owner use a new file, whatever the permissions of the input and the umask.
    pub private: bool,
}

/// Each method sets the field of the same name.
impl ReplaceOptions {
    /// Sets what to do with a file that exists at the target.
    pub fn existing(mut self, existing: Existing) -> Self {
        self.existing = existing;
        self
    }

    /// Sets whether targets with several names are replaced, too.
    pub fn break_links(mut self, break_links: bool) -> Self {
        self.break_links = break_links;
        self
    }

    /// Sets the data that must be on the device at the end.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets whether only the owner can use a new file.
    pub fn private(mut self, private: bool) -> Self {
        self.private = private;
        self
    }

    /// Sets whether the result gets the times of the input.
    pub fn keep_times(mut self, keep_times: bool) -> Self {
        self.keep_times = keep_times;
        self
    }
}
