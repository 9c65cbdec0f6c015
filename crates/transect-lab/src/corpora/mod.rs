//! Trees with a fixed content, to measure on.
//!
//! A corpus is made from a pinned [`Corpus`]: same name, same tree on every machine, in names,
//! shape, lengths, modification times and order of creation. Whatever is drawn is drawn with
//! integers; nothing passes through a mathematics library, so that even the sum of the lengths is
//! the same everywhere.
//!
//! * **Shape.** The parent of a directory is one of the twelve directories before it (60 of 100) or
//!   any; none lies more than [`MAX_DEPTH`] levels below the root. One directory in five has no files;
//!   the others have at least one, and share the rest by a distribution with a long tail.
//! * **Lengths.** Small text files have 200 to 7,999 random characters. All other trees are of
//!   *sparse* files, which have a length and no data, so that two million of them cost directory
//!   blocks and inodes, but no gigabytes. One file in 25 is empty; the other lengths have a median
//!   of 4 KiB, a mean of about 80 KiB, and a tail that ends at 4 GB.
//! * **Names.** One to five syllables, a number, and mostly an extension; 4 to 27 ASCII characters,
//!   all in lower case, so that every file system keeps them.
//! * **Times.** Files were modified, and read, at a fixed time between July 2017 and November 2023.
//!   Directories have the time at which they were made.
//!
//! What such a tree does not show: it is written in one go, so its inodes and directory blocks lie
//! close together, and a cold scan is kinder than on an aged disk. Where a length
//! takes its space all the same (Windows, where a program has to ask for sparse files, and FAT
//! everywhere) the larger corpora hardly have room.
//!
//! Transforms are measured on single files ([`create_file`]), whose content is stated as well.

mod corpus;
mod counts;
mod create;
mod error;
mod file;
mod free_space;
mod plan;
mod random;
mod space;
mod target;
mod verify;

pub use corpus::{CORPORA, Content, Corpus, find};
pub use counts::TreeCounts;
pub use create::{CreateReport, Created, create};
pub use error::{CorpusError, Operation, TargetProblem};
pub use file::{EXTENT, EXTENT_DATA, FileError, FileSpec, Pattern, TILE, create_file};
pub use free_space::{check_free_space, free_space, free_space_at};
pub use plan::{MAX_DEPTH, Plan, Step};
pub use space::{FreeSpace, SpaceNeeded};
pub use verify::verify;
