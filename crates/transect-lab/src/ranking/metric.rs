//! The metric by which the cells of a ranking are compared.

use serde::{Deserialize, Serialize};

use transect_stats::Judgement;

transect_sys::words! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Metric {
        /// Wall time, by each cell's own clock.
        #[default]
        Time = "time",
        /// Wall time of the whole process, from its start to its exit.
        Process = "process",
        /// CPU time of one run, or of the whole process in sessions of those: used if too many samples were
        /// disturbed, as wall time then depends on other processes.
        Processor = "processor",
    }
}

impl Metric {
    pub(crate) fn judgement(self, judgement: Judgement) -> Judgement {
        match self {
            Self::Processor => Judgement { verdict: judgement.verdict.on_cpu(), ..judgement },
            Self::Time | Self::Process => judgement,
        }
    }

    /// Returns what reports add to a title; empty for wall time by a cell's own clock.
    pub fn about(self) -> &'static str {
        match self {
            Self::Time => "",
            Self::Process => "; whole processes",
            Self::Processor => "; by CPU time",
        }
    }
}
