//! Corpora: trees with fixed content, to measure on.
//!
//! A corpus is generated from a pinned [`Corpus`] definition. The same name gives the same tree on every
//! machine: names, shape, lengths, modification times and order of creation. All draws use integers
//! only, no floating-point library, so even the sum of the lengths is the same everywhere.
//!
//! * **Shape.** The parent of a directory is one of the twelve directories before it (60 %) or any
//!   (40 %), at most [`MAX_DEPTH`] levels below the root. One directory in five has no files; the others
//!   have at least one and share the rest by a long-tailed distribution.
//! * **Lengths.** Small text files have 200 to 7,999 random characters. All other trees use *sparse*
//!   files, which have a length but no data: two million of them take directory blocks and inodes, but
//!   not gigabytes. One file in 25 is empty; the other lengths have a median of 4 KiB, a mean of about
//!   80 KiB, and a tail up to 4 GB.
//! * **Names.** One to five syllables, a number, and usually an extension: 4 to 27 lowercase ASCII
//!   characters, which every file system preserves.
//! * **Times.** Modification and access times of files are fixed, between July 2017 and November 2023.
//!   Directories have the time at which they were created.
//!
//! Limits: a corpus is written in one go, so its inodes and directory blocks are close together, and a
//! cold scan is faster than on an aged disk. Where sparse files take their full length (Windows, where
//! a program has to request sparse files, and FAT everywhere), the larger corpora hardly fit.

mod corpus;
mod counts;
mod create;
mod free_space;
mod plan;
mod random;
mod target;
mod verify;

pub use corpus::{CORPORA, Content, Corpus, find};
pub use counts::{FreeSpace, SpaceNeeded, TreeCounts};
pub use create::create;
pub use free_space::{check_free_space, free_space};
pub use plan::{MAX_DEPTH, Plan, Step};
pub use verify::verify;
