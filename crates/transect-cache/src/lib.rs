//! Attributes of files, asked once and answered a thousand times.
//!
//! Compilers, build tools and editors ask the same file system the same questions again and again:
//! is this file newer, which of two hundred directories holds this header. An [`AttributeCache`]
//! keeps the answers, in one of four [levels](Level) that say exactly what may have changed
//! meanwhile without being seen.
//!
//! ```
//! use transect_cache::{CacheOptions, Level};
//!
//! let here = std::env::current_dir()?;
//! let cache = CacheOptions::new(Level::Frozen).base(&here).open()?;
//! let size = cache.get("Cargo.toml")?.size();
//! assert_eq!(cache.get("Cargo.toml")?.size(), size, "from memory");
//! assert!(!cache.exists("no/such/file")?);
//!
//! let dirs = cache.search_dirs(["tests", "src"])?;
//! let found = cache.resolve("lib.rs", &dirs)?.expect("this crate has one");
//! assert_eq!(found.path, here.join("src/lib.rs"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a question is
//!
//! A question is a path as it is spelt. The system follows links, `..` and mount points when it is
//! asked, and nothing of that is done again here: so an answer is what the system said of that very
//! path, and a name that is asked for the first time costs one system call (two at
//! [`Level::Checked`] if its directory was listed, more at [`Level::Watched`] in a new directory).
//! Directories are known by their split, too: `a/../b` and `b`, or two links to one directory, are
//! asked for separately and may, at [`Level::Frozen`], be answered as they were at different times.
//! Only what cannot matter is the same: repeated separators, and `.` on the way.
//!
//! Refusals are answers. *Denied* is kept as denied and never turns into *missing*; a loop of links,
//! a file in the place of a directory and a name that is too long stay what they are.
//!
//! # Listings
//!
//! Where many names of one directory are asked for that it does not hold, it is listed, and the rest
//! is answered without asking. Whether that pays is decided by [prices](CacheCosts): a listing is
//! made when what was spent without one would have paid for it, so that a single question in a
//! directory of a hundred thousand names costs no more than asking the system. Where a name may have
//! several spellings (FAT, NTFS, directories of ext4 that fold case, network file systems) a listing
//! is no proof that a name is missing: there it is asked for, and the answer kept under the spelling
//! that was asked.
//!
//! # Threads
//!
//! A cache is used by reference from any number of threads. Nobody waits for a question about
//! another directory; two threads that want the same directory listed list it once.

mod batch;
mod cache;
mod cached_dir;
mod cost;
mod counts;
mod dir_map;
mod lookup_error;
mod name_table;
mod options;
mod order;
mod record;
mod revalidation;
mod search;
mod split_path;
mod store;
mod system;
mod watch;

pub use cache::AttributeCache;
pub use cost::CacheCosts;
pub use counts::CacheCounts;
pub use lookup_error::{LookupError, LookupResult};
pub use options::{CacheOptions, Level};
pub use order::by_directory;
pub use revalidation::Revalidation;
pub use search::{Resolved, SearchDirs};
