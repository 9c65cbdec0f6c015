//! Peers: programs that people use for the same work, run unmodified.
//!
//! ```text
//! peer ─► command with its root ─► a process ─► its output ─► the counts it reports
//!                                     │                          │ compared exactly with
//!                                     └─ its wall time           └ the inventory of the tree
//! ```
//!
//! A peer walks once per process and has no clock of the lab: its time is that of the process, start-up
//! and output included. Its output is parsed into [`ReportedCounts`], by the peer's own definition, and
//! compared with an [`Inventory`]. No time is shown before that comparison.
//!
//! * The output of a peer that prints one sum is parsed in every run
//!   ([`Peer::is_parsed_in_every_run`]): every time comes with its counts.
//! * A peer that can only prove its work by a listing is checked in a run of its own. In timed runs, the
//!   same command writes to the null device: parsing would take a core from it, and a pipe would make it
//!   wait. Cheaper commands do less: `find -printf ''` never queries lengths, and `bfs` recognizes that
//!   `-size -0c` matches nothing and does not query either (by `strace`). `find -size -0c` does query
//!   and is about a tenth faster, but takes another path through the program than the one checked.
//! * Every peer queries the length of every file. Programs that only list names are not peers: the
//!   other methods of the lab do more work.
//! * Unreadable entries make `find`, `bfs`, `du` and `dua` exit with an error, which the lab counts as a
//!   failure; the other peers do not report them and are compared as usual.

mod claim;
mod parse;
mod reported;
mod spec;

pub use crate::harness::inventory::{Inventory, TypeTotals};
pub use claim::Claim;
pub use parse::OutputFormat;
pub use reported::ReportedCounts;
pub use spec::{PEERS, Peer, ROOT};

#[cfg(test)]
mod tests;
