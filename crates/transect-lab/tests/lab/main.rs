//! Tests of corpora on disk, installed peers, and whole sessions, in one binary.

mod corpus;
mod peers;
mod session;
mod tune;
