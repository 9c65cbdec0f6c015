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

transect_sys::options! {
    /// How to put results in place.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct ReplaceOptions {
        /// Sets what to do with a file that exists at the target.
        existing: Existing = Existing,
        /// Sets whether targets with several names (hard links) are replaced, too. The other names keep the old
        /// content.
        break_links: bool = bool,
        /// Sets the data that must be on the device at the end.
        durability: Durability = Durability,
        /// Sets whether the result gets the times of the input.
        keep_times: bool = bool,
        /// Sets whether only the owner can use a new file, whatever the permissions of the input and the umask.
        private: bool = bool,
        ;
        /// Whether the directory of the target exists, and passed [`check_output_path`](transect_sys::check_output_path).
        pub(crate) directory_is_checked: bool,
    }
}
