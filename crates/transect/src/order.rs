//! The orders by name.

/// In which order, and on which threads, directories are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// A function that calls itself for every directory.
    Recursive,
    /// First in, first out: breadth first.
    Queue,
    /// Last in, first out: depth first.
    Stack,
    /// The same on memory reserved beforehand.
    StackPresized,
    /// A list that only grows, read from its beginning: breadth first, nothing is ever removed.
    Array,
    /// A future for every directory: on a thread of its own while there are threads left, when
    /// its value is asked for otherwise.
    Futures,
    /// One queue that all threads share.
    SharedQueue,
    /// A stack for every thread; whoever has nothing takes the oldest of another.
    ///
    /// The default: depth first on each thread keeps few directories open and little in memory,
    /// and taking the oldest moves the largest part at the least cost.
    #[default]
    WorkStealing,
}

impl Order {
    /// All orders.
    pub const ALL: &'static [Self] = &[
        Self::WorkStealing,
        Self::SharedQueue,
        Self::Futures,
        Self::Recursive,
        Self::Queue,
        Self::Stack,
        Self::StackPresized,
        Self::Array,
    ];

    /// Returns the name, as users type it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recursive => "recursive",
            Self::Queue => "queue",
            Self::Stack => "stack",
            Self::StackPresized => "stack-presized",
            Self::Array => "array",
            Self::Futures => "futures",
            Self::SharedQueue => "shared-queue",
            Self::WorkStealing => "work-stealing",
        }
    }

    /// Returns what the order does, in one line.
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
