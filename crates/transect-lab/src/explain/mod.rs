//! What limits the fastest method of a session, and what the planner is to do here.
//!
//! ```text
//! rounds ─► the fastest method ─► its time, in parts: floors of the same rounds, its counters ─► limit
//!      └──► every method of the engine beside what the planner does by itself ───────────────► choice
//! ```
//!
//! Undecided is an answer to both questions.

mod choice;
mod explanation;
mod parts;
mod runs;
mod settle;

pub use choice::{Choice, Chosen};
pub use explanation::{Explained, Fastest, explain};
pub use parts::{Limit, Part};
pub use settle::{Decision, decisions};

#[cfg(test)]
mod tests;
