//! Explains sessions of transforms: what limits the fastest method, and which method the planner should
//! use on this machine.
//!
//! ```text
//! rounds ─► the fastest method ─► parts of its time: floors of the same rounds, counters ─► bottleneck
//!      └──► every method of the engine compared with the planner's default ───────────────► choice
//! ```
//!
//! Both answers may be "undecided".

mod choice;
mod decisions;
mod explanation;
mod parts;
mod runs;

pub use choice::{Chosen, MethodChoice};
pub use decisions::{Decision, apply, decisions};
pub use explanation::{Explanation, FastestMethod, explain};
pub use parts::{Bottleneck, TimePart};

#[cfg(test)]
mod tests;
