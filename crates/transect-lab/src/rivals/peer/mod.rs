//! Peers: the programs that people use today for what this engine does, as they come.
//!
//! ```text
//! peer ─► command, its root in place ─► a process ─► what it prints ─► what it claims to have found
//!                                          │                              │ compared, exactly, with
//!                                          └─ its time, from outside      └ the inventory of the tree
//! ```
//!
//! A peer walks once in a process and has no clock of ours: its time is that of the process, from
//! its start to its end, so starting it is counted and so is printing. What it prints is parsed into
//! what it claims, by its own definition, and held against an [`Inventory`]: no time before that.
//!
//! * A peer that prints one sum is read in every run ([`Peer::is_parsed_in_every_run`]): a claim comes
//!   with every time.
//! * A peer that can only prove its work by a listing is read in a run of its own. In the runs that
//!   are timed the same command writes to the null device: parsing would take a core of the machine
//!   from it, and a pipe makes it wait for us. It is the same command because cheaper ones do less:
//!   `find -printf ''` asks for no length at all, and `bfs -size -0c`, which nothing can match, is
//!   seen through and asks nothing either (by `strace`). `find -size -0c` does ask and saves about
//!   a tenth, but goes another way through the program than the one that was proved.
//! * Every peer asks for the length of every file. What merely lists names is no peer here: the
//!   other methods of the lab would be measured with more work.
//! * What cannot be read makes `find`, `bfs`, `du` and `dua` end with an error, which is a failure to
//!   the lab; the others say nothing of it and are compared as ever.

mod list;
mod parse;
mod reported;
mod run;
mod spec;

pub use crate::harness::inventory::{Inventory, Part};
pub use list::PEERS;
pub use parse::OutputFormat;
pub use reported::ReportedCounts;
pub use run::{PeerRun, Purpose};
pub use spec::{Peer, ROOT};

#[cfg(test)]
mod tests;
