//! The interface of the crate `ignore`, on the walks of this library.
//!
//! `use transect::ignore::WalkBuilder` in place of `use ignore::WalkBuilder`, for a program that leaves out what
//! `.gitignore` and `.ignore` files exclude, and reads on several threads.
//!
//! ```
//! use transect::ignore::{WalkBuilder, WalkState};
//!
//! WalkBuilder::new("src").hidden(false).add_custom_ignore_filename(".fdignore").build_parallel().run(|| {
//!     Box::new(|entry| {
//!         if let Ok(entry) = entry {
//!             println!("{}", entry.path().display());
//!         }
//!         WalkState::Continue
//!     })
//! });
//! ```
//!
//! What differs:
//!
//! | in `ignore` | here |
//! |---|---|
//! | the loop of `build` reads on one thread, depth first | on several threads, in no particular order, unless it is sorted |
//! | `git_global` also applies outside of repositories after `require_git(false)` | only in repositories |
//! | without `git_ignore`, `git_exclude` does not apply if the repository begins above the root; `git_global` never applies alone | each applies by itself |
//! | in a repository inside another, the outer one's rules do not apply | they do, if the walk begins outside |
//! | a rule with `!` shows a hidden entry | `hidden` comes first |
//! | an `Override` and `Types` also judge single paths, and list what they have | only in a walk |
//! | `TypesBuilder` has `add_def`, `clear` and `definitions` | missing |
//! | entries that a comparison does not tell apart are sorted in any order | by name |
//! | `ignore_case_insensitive`, `current_dir`, standard input as `-` | missing |
//! | a followed link that leads back or nowhere is an error, even one that rules leave out | not one that filters leave out |
//! | the closure of `run` is called on the caller's thread | on each thread, as soon as it starts |
//! | a root that is a link to a directory is a link as an entry | the directory, with a separator at the end |
//! | filters do not apply to directories above `min_depth` | they do |
//! | `filter_entry` sees entries that other filters leave out | only the others |
//! | `DirEntry::file_type` is `std::fs::FileType` | [`FileType`](crate::FileType) |
//! | an `Error` is one of ten | [`Error`], with `path`, `depth` and `into_io_error` |

mod builder;
mod entry;
pub mod overrides;
pub mod types;

pub use builder::{FnVisitor, Walk, WalkBuilder, WalkParallel, WalkState};
pub use entry::DirEntry;

pub use crate::Error;
