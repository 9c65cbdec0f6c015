//! Corpora on disk, peers that are installed, and whole sessions, in one program.

mod corpus;
mod peers;
mod session;
mod tune;
