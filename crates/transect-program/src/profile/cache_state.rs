//! The state of the caches before a run.

use serde::{Deserialize, Serialize};

transect_sys::words! {
    /// The state of the caches before a run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CacheState {
        /// Everything that the run reads is in memory.
        Warm = "warm",
        /// Nothing that the run reads is in memory.
        Cold = "cold",
        /// Unchanged: neither made nor proved.
        #[default]
        AsIs = "as_is",
    }
}

impl CacheState {
    /// Returns the name of the state in reports.
    pub fn label(self) -> &'static str {
        match self {
            Self::AsIs => "as they are",
            other => other.as_str(),
        }
    }
}
