//! What the file of a session stores of questions about attributes: what is asked, and words.

use serde::{Deserialize, Serialize};

use super::sources::Source;
use crate::experiments::words::Words;
use crate::harness::work::Work;

/// The words of reports.
pub const WORDS: Words = Words {
    command: "attributes",
    plural: "questions about attributes",
    kind: "attributes",
    states: ["caches warm", "caches cold", "caches cold", "caches as they are"],
    state_was: "caches were",
    as_it: "Caches were as they",
    dataset: ["task", "tasks"],
    is_path: false,
    has_rates: false,
};

/// A kind of questions, each a ranking of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// The attributes of all files of one directory.
    Article,
    /// Which of many directories holds a name: most do not.
    Includes,
    /// The attributes of the files of a tree, in no order.
    Uptodate,
    /// The same of a cache that knows them all, on several threads.
    ThreadsHits,
    /// The same of a cache that knows nothing.
    ThreadsMisses,
    /// The attributes of one file in a huge directory of which nothing is known.
    OneCold,
    /// The attributes of the files that a real build would look at.
    CompileDatabase,
}

impl Task {
    /// All tasks.
    pub const ALL: &'static [Self] = &[
        Self::Article,
        Self::Includes,
        Self::Uptodate,
        Self::ThreadsHits,
        Self::ThreadsMisses,
        Self::OneCold,
        Self::CompileDatabase,
    ];

    /// Returns the word for the task.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Includes => "includes",
            Self::Uptodate => "uptodate",
            Self::ThreadsHits => "threads-hits",
            Self::ThreadsMisses => "threads-misses",
            Self::OneCold => "one-cold",
            Self::CompileDatabase => "compile-database",
        }
    }

    /// Returns what is asked, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Article => "sizes and times of all files of one directory",
            Self::Includes => "which of many directories holds a name; most do not",
            Self::Uptodate => "sizes and times of the files of a tree, in no order",
            Self::ThreadsHits => "files in the cache, on 1, 2 and 4 threads",
            Self::ThreadsMisses => "files not in the cache, on 1, 2 and 4 threads",
            Self::OneCold => "one file in a huge directory, with an empty cache",
            Self::CompileDatabase => "the files that a real build looks at",
        }
    }

    /// Returns whether the task asks about the user's own files: no tree is made for it.
    pub fn needs_a_source(self) -> bool {
        self == Self::CompileDatabase
    }
}

/// What is asked in a dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The kind of questions.
    pub task: Task,
    /// How many.
    pub questions: u64,
    /// Number of files that were made for the questions; 0 for the user's own files.
    pub made: u64,
    /// Directories in which names are looked for; none where paths are asked about.
    pub search_dirs: u64,
    /// In how many directories a plain look looked, all names together.
    pub probes: u64,
    /// The sum of the last write times of all that was found, in nanoseconds since 1970, as far as it
    /// fits into 64 bits: what everybody has to find.
    pub changed: u64,
    /// How much is made to be asked about, if anything is.
    pub scale: Scale,
    /// The source of the questions, for the user's own files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

impl Asked {
    /// Returns the questions and the answers expected, in words.
    pub fn work(&self, expected: Work) -> String {
        let Asked { task, questions, made, search_dirs, probes, .. } = self;
        let Work { files, bytes, errors, .. } = expected;
        let what = match search_dirs {
            0 if *made > *questions => format!("{questions} of {made} files in a directory"),
            0 => format!("{questions} paths"),
            dirs => {
                let mean = *probes as f64 / (*questions).max(1) as f64;
                format!("{questions} names in {dirs} directories, {mean:.1} probes each on average")
            }
        };
        format!("{}; {what}: {files} found, {errors} not, {bytes} bytes", task.about())
    }
}

/// How much a task asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scale {
    /// Files that are asked about, or includes.
    pub files: usize,
    /// Directories in which includes are looked for.
    pub search_dirs: usize,
    /// Headers in each of them.
    pub headers: usize,
}
