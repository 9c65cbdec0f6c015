//! Tests of corpora on disk, installed peers, and whole sessions, in one binary.

mod corpus;
#[cfg(target_os = "linux")]
mod faults;
mod peers;
mod session;
mod tune;
