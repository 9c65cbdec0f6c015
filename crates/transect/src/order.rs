//! The walk orders.

transect_sys::words! {
    /// The order in which directories are read, and how threads share them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    #[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
    #[non_exhaustive]
    pub enum Order {
        /// The default. Depth first on each thread keeps few directories open and little in memory, and
        /// the oldest directory, which the idle take, is likely to have the largest subtree.
        #[default]
        WorkStealing = "work-stealing" => "a stack per thread, the idle take from the others",
        SharedQueue = "shared-queue" => "one queue shared by all threads",
        /// On a thread of its own while there are threads left, otherwise evaluated when its value is
        /// needed.
        Futures = "futures" => "a future per directory",
        Recursive = "recursive" => "a function that calls itself, one thread",
        Queue = "queue" => "breadth first, one thread",
        Stack = "stack" => "depth first, one thread",
        StackPresized = "stack-presized" => "depth first on memory reserved beforehand, one thread",
        Array = "array" => "breadth first on a list that only grows, one thread",
    }
}

impl Order {
    /// Returns whether the order can use more than one thread.
    pub fn is_parallel(self) -> bool {
        matches!(self, Self::Futures | Self::SharedQueue | Self::WorkStealing)
    }
}
