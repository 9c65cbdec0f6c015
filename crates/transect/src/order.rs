//! The walk orders.

transect_sys::words! {
    /// The order in which directories are read, and how threads share them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
    #[non_exhaustive]
    pub enum Order {
        /// A stack per thread; an idle thread steals the oldest directory of another.
        ///
        /// The default. Depth first on each thread keeps few directories open and little in memory, and
        /// the oldest directory is likely to have the largest subtree.
        #[default]
        WorkStealing = "work-stealing",
        /// One queue shared by all threads.
        SharedQueue = "shared-queue",
        /// A future per directory: on a thread of its own while there are threads left, otherwise
        /// evaluated when its value is needed.
        Futures = "futures",
        /// A recursive function: depth first, one thread.
        Recursive = "recursive",
        /// A queue: breadth first, one thread.
        Queue = "queue",
        /// A stack: depth first, one thread.
        Stack = "stack",
        /// A stack in memory reserved beforehand, one thread.
        StackPresized = "stack-presized",
        /// A growing array, read from its start: breadth first, nothing is removed, one thread.
        Array = "array",
    }
}

impl Order {
    /// Returns a description in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Recursive => "a function that calls itself, one thread",
            Self::Queue => "breadth first, one thread",
            Self::Stack => "depth first, one thread",
            Self::StackPresized => "depth first on memory reserved beforehand, one thread",
            Self::Array => "breadth first on a list that only grows, one thread",
            Self::Futures => "a future per directory",
            Self::SharedQueue => "one queue shared by all threads",
            Self::WorkStealing => "a stack per thread, the idle take from the others",
        }
    }

    /// Returns whether the order can use more than one thread.
    pub fn is_parallel(self) -> bool {
        matches!(self, Self::Futures | Self::SharedQueue | Self::WorkStealing)
    }
}
