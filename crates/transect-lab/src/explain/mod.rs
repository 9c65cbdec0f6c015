//! What limits the fastest method of a session, and what the planner is to do here.
//!
//! ```text
//! rounds ─► the fastest method ─► its time, in parts: floors of the same rounds, its counters ─► limit
//!      └──► every method of the engine beside what the planner does by itself ───────────────► choice
//! ```
//!
//! Undecided is an answer to both questions.

mod choice;
mod decisions;
mod explanation;
mod parts;
mod runs;

pub use choice::{Chosen, MethodChoice};
pub use decisions::{Decision, decisions};
pub use explanation::{Explanation, Fastest, explain};
pub use parts::{Bottleneck, TimePart};

#[cfg(test)]
mod tests;
