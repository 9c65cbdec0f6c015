//! The verdict that comes before all other filters.

/// What the globs and types of callers of `ignore` decide on an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overruling {
    /// Nothing: other filters decide.
    None,
    Exclude,
    /// It passes even if it is hidden.
    #[cfg(feature = "filters")]
    ShowHidden,
    /// It passes even if it is hidden or rules exclude it.
    Show,
}
