//! Counts of a tree, to compare.

use std::fmt::Write as _;

/// The counts of a tree, from any walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Regular files: names, not file ids.
    pub files: u64,
    /// Directories, roots included.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Everything else.
    pub others: u64,
    /// Other names of files counted before.
    pub hard_links: u64,
    /// Bytes of everything but directories, each file id once.
    pub apparent_size: u64,
    /// Allocated bytes of everything but directories, each file id once.
    pub allocated_size: u64,
    /// Allocated bytes of directories.
    pub directories_allocated_size: u64,
    /// Allocated bytes are unknown, so the two fields above are not compared.
    pub allocation_unknown: bool,
}

impl Counts {
    fn fields(&self) -> [(&'static str, u64); 8] {
        [
            ("files", self.files),
            ("directories", self.directories),
            ("symlinks", self.symlinks),
            ("others", self.others),
            ("hard_links", self.hard_links),
            ("apparent_size", self.apparent_size),
            ("allocated_size", self.allocated_size),
            ("directories_allocated_size", self.directories_allocated_size),
        ]
    }

    /// Compares the counts with the expected ones.
    ///
    /// # Panics
    /// If anything differs; the message contains only the differences.
    #[track_caller]
    pub fn assert_are(&self, expected: &Self, context: impl std::fmt::Display) {
        let mut differences = String::new();
        let unknown = self.allocation_unknown || expected.allocation_unknown;
        for ((name, got), (_, expected)) in self.fields().into_iter().zip(expected.fields()) {
            let compared = !(unknown && name.ends_with("allocated_size"));
            if compared && got != expected {
                let by = i128::from(got) - i128::from(expected);
                let _ = write!(differences, "\n  {name}: {got}, expected {expected} ({by:+})");
            }
        }
        assert!(differences.is_empty(), "{context}:{differences}");
    }
}
