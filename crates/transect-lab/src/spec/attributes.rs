//! The part of a session's file that belongs to attribute queries: tasks and questions, and the words of
//! reports.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::harness::work::Work;
use crate::spec::walk;
use crate::spec::words::Words;

pub const WORDS: Words = Words {
    command: "attributes",
    plural: "questions about attributes",
    kind: "attributes",
    dataset: ["task", "tasks"],
    is_path: false,
    item: "question",
    ..walk::WORDS
};

transect_sys::words! {
    /// A kind of questions. Each has its own ranking.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Task {
        Article = "article" => "sizes and times of all files of one directory",
        Includes = "includes" => "which of many directories holds a name; most do not",
        Uptodate = "uptodate" => "sizes and times of the files of a tree, in no order",
        ThreadsHits = "threads-hits" => "files in the cache, on 1, 2 and 4 threads",
        ThreadsMisses = "threads-misses" => "files not in the cache, on 1, 2 and 4 threads",
        OneCold = "one-cold" => "one file in a huge directory, with an empty cache",
        #[serde(alias = "compile-database")]
        Build = "build" => "the files that a real build looks at",
    }
}

impl Task {
    /// Returns whether the task queries the user's own files instead of a generated tree.
    pub fn needs_a_source(self) -> bool {
        self == Self::Build
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub task: Task,
    pub questions: u64,
    /// Number of files created for the questions; 0 for the user's own files.
    pub made: u64,
    /// Number of directories to search for names; 0 if the questions are paths.
    pub search_dirs: u64,
    /// Number of probes in a plain search for all names: one for each directory until a name is found.
    pub probes: u64,
    /// The expected sum of the last write times of all existing files, in nanoseconds since 1970, modulo
    /// 2^64.
    pub changed: u64,
    pub scale: Scale,
    /// The source of the questions, for the user's own files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

impl Asked {
    /// Describes the questions and the expected answers.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scale {
    /// Number of files to query, or of includes.
    pub files: usize,
    /// Number of directories to search for includes.
    pub search_dirs: usize,
    /// Number of headers in each of these directories.
    pub headers: usize,
}

/// A file that lists the user's own files, one a line; in sessions of older versions, what else named them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    #[serde(alias = "compile_database", alias = "dep_info")]
    Paths(PathBuf),
}
