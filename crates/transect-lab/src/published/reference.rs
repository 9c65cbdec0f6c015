//! The numbers in the published tables of the seed articles.
//!
//! **These are others' numbers.** They were measured on other machines, systems and trees, under protocols
//! that this lab would not accept: one run per value (S0, S2), no proof of the cache state, no count of
//! the entries found. Reports show them beside ours; they are never ranked with ours or used as a base.
//! If our reading of a table differs from its article, the note of the row and the tests document that.
//!
//! The sources: **S0** attributes 50 times faster (2024), **S1** recursive against iterative,
//! **S2** large fetch on a hard disk, **S3** file transforms under cold-cache rules, with the raw
//! results of its companion repository, **S4** the `FindFirstFileEx` matrix with `std::async`. [`tables`](super::tables)
//! has them.

use serde::{Deserialize, Serialize};

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TimeKind {
        Real = "real",
        User = "user",
        /// Kernel time.
        Sys = "sys",
        /// Time inside `FindFirstFileEx`, summed over all threads.
        InFindFirstFile = "in FindFirstFileEx",
        /// Time inside `FindNextFile`, summed over all threads.
        InFindNextFile = "in FindNextFile",
    }
}

transect_sys::words! {
    /// The cache state that the article states, without proof.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum StatedCacheState {
        /// Stated as cold, or the first of two executions.
        Cold = "cold",
        /// Stated as warm, or after a run that only filled the cache.
        Warm = "warm",
    }
}

/// A published value. All times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PublishedValue {
    Once {
        value_ns: f64,
    },
    /// A mean, without the spread.
    Mean {
        n: u32,
        value_ns: f64,
    },
    Median {
        n: u32,
        value_ns: f64,
    },
    /// Our statistics of all runs, which were published.
    Statistics {
        n: u32,
        min_ns: f64,
        median_ns: f64,
        mean_ns: f64,
        max_ns: f64,
    },
}

impl PublishedValue {
    /// Returns one representative number in nanoseconds: the median where there is one.
    pub fn value_ns(&self) -> f64 {
        match *self {
            Self::Once { value_ns }
            | Self::Mean { value_ns, .. }
            | Self::Median { value_ns, .. }
            | Self::Statistics { median_ns: value_ns, .. } => value_ns,
        }
    }

    /// Returns how many times longer than the median the worst run took, if the article printed its runs.
    pub fn worst(&self) -> Option<f64> {
        match *self {
            Self::Statistics { median_ns, max_ns, .. } => Some(max_ns / median_ns),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReferenceRow {
    /// The article: `S0` to `S4`.
    pub source: String,
    /// Its subject.
    #[serde(skip)]
    pub article: String,
    /// The method, as in the article's table.
    pub method: String,
    /// The names of the cells that may stand for it, the best first; empty if nothing does.
    #[serde(skip)]
    pub ours: Vec<String>,
    /// The rows of the seed contract it belongs to: method, traversal, protocol.
    pub contract: Vec<String>,
    /// The tree or file.
    pub corpus: String,
    /// The name of the dataset that stands for it; empty if there is none.
    #[serde(skip)]
    pub dataset: String,
    pub state: StatedCacheState,
    pub quantity: TimeKind,
    pub published: PublishedValue,
    /// The article's speed-up over the slowest method of the same run, where it prints one.
    pub speedup: Option<f64>,
    /// Caveats; may be empty.
    pub note: String,
}
