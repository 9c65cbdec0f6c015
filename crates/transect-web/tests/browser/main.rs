//! Pages in a real browser, and what they request of the program.

mod live;
mod million;
mod removal;
mod requests;
mod served;
