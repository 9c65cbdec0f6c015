//! The corpora, by name.

/// A corpus: a pinned definition of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Corpus {
    /// Its name on the command line and in results.
    pub name: &'static str,
    /// Number of regular files.
    pub files: u64,
    /// Number of directories below the root.
    pub directories: u64,
    pub seed: u64,
    pub content: Content,
    /// The sum of the lengths of all files, in bytes.
    pub bytes: u64,
    pub about: &'static str,
}

/// Content of the files of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    Text,
    /// Sparse files: a length, but no blocks.
    Sparse,
    /// What methods skip, follow or hide by mistake. The plan is empty, as it has no links.
    #[cfg(target_os = "linux")]
    Odd,
}

impl Corpus {
    /// Returns the number of links and pipes.
    pub(super) fn others(&self) -> u64 {
        match self.content {
            Content::Text | Content::Sparse => 0,
            #[cfg(target_os = "linux")]
            Content::Odd => 14,
        }
    }

    /// Returns whether a directory of it may be unreadable.
    pub(super) fn has_denied(&self) -> bool {
        !matches!(self.content, Content::Text | Content::Sparse)
    }
}

/// All corpora, from the smallest to the largest.
pub const CORPORA: &[Corpus] = &[
    Corpus {
        name: "single",
        files: 1,
        directories: 0,
        seed: 9,
        content: Content::Text,
        bytes: 1489,
        about: "one small text file",
    },
    #[cfg(target_os = "linux")]
    Corpus {
        name: "odd",
        files: 66,
        directories: 322,
        seed: 0,
        content: Content::Odd,
        bytes: 112_623,
        about: "links, loops, hidden and non-UTF-8 names, hard links, a path too long for the system",
    },
    Corpus {
        name: "tiny",
        files: 10,
        directories: 0,
        seed: 8,
        content: Content::Text,
        bytes: 43_095,
        about: "small text files in one directory",
    },
    Corpus {
        name: "flat-1000",
        files: 1000,
        directories: 0,
        seed: 1,
        content: Content::Text,
        bytes: 4_112_700,
        about: "small text files in one directory",
    },
    Corpus {
        name: "flat-2000",
        files: 2000,
        directories: 0,
        seed: 2,
        content: Content::Text,
        bytes: 8_235_443,
        about: "small text files in one directory",
    },
    Corpus {
        name: "flat-5000",
        files: 5000,
        directories: 0,
        seed: 3,
        content: Content::Text,
        bytes: 20_779_402,
        about: "small text files in one directory",
    },
    Corpus {
        name: "music",
        files: 3315,
        directories: 467,
        seed: 4,
        content: Content::Sparse,
        bytes: 174_559_706,
        about: "as many files and directories as a collection of music; sparse files",
    },
    Corpus {
        name: "data",
        files: 56_393,
        directories: 7858,
        seed: 5,
        content: Content::Sparse,
        bytes: 5_343_943_131,
        about: "as many files and directories as a directory of projects has; sparse files",
    },
    Corpus {
        name: "drive",
        files: 554_648,
        directories: 45_590,
        seed: 6,
        content: Content::Sparse,
        bytes: 42_351_381_519,
        about: "as many files and directories as a computer's drive; sparse files",
    },
    Corpus {
        name: "users",
        files: 2_000_000,
        directories: 200_000,
        seed: 7,
        content: Content::Sparse,
        bytes: 157_824_280_712,
        about: "as many files and directories as the homes of many users; sparse files",
    },
];

pub fn find(name: &str) -> Option<&'static Corpus> {
    CORPORA.iter().find(|definition| definition.name == name)
}
