//! A cache of file attributes that is queried like the file system.
//!
//! Compilers, build tools and editors query the same attributes again and again: is this file
//! newer, which of two hundred directories contains this header. An [`AttributeCache`] stores the
//! results. Its [level](Level) defines which changes it may miss.
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
//! # Paths are keys
//!
//! A lookup is keyed by the path as it is written. The cache does not resolve links, `..` or mount
//! points; the system does that whenever it is queried. A result is therefore what the system
//! returned for that very path, and the first lookup of a name costs one system call (two at
//! [`Level::Checked`] if its directory was listed).
//! Directories are keyed by path, too: `a/../b` and `b`, or two links to one directory, are queried
//! separately, and at [`Level::Frozen`] may be answered as of different times. Only repeated
//! separators, and `.` inside a path, make no difference.
//!
//! Errors are cached like attributes. *Denied* stays denied and never becomes *missing*; a loop of
//! links, a file in place of a directory and a name that is too long stay what they are.
//!
//! # Listings
//!
//! If many names are looked up that a directory does not contain, the cache lists the directory and
//! answers the other lookups from that listing. [Costs](CacheCosts) decide when: a listing is made
//! once single queries have cost as much as it would have. A single lookup in a directory of a
//! hundred thousand names thus costs no more than a query. Where a name may have several spellings
//! (FAT, NTFS, ext4 directories that fold case, network file systems), a listing does not prove
//! that a name is missing: the name is queried, and the result stored under the spelling looked up.
//!
//! # Threads
//!
//! Any number of threads share a cache by reference. A thread never waits for a lookup in another
//! directory; if two threads need the same listing, one of them makes it.

mod batch;
mod cache;
mod cached_dir;
mod cost;
mod counts;
mod dir_map;
mod listing;
mod lookup;
mod lookup_error;
mod name_table;
mod options;
mod order;
mod query;
mod record;
mod revalidation;
mod search;
mod split_path;
mod store;
mod system;

pub use cache::AttributeCache;
pub use cost::CacheCosts;
pub use counts::CacheCounts;
pub use lookup_error::{LookupError, LookupResult};
pub use options::{CacheOptions, Level};
pub use order::by_directory;
pub use revalidation::Revalidation;
pub use search::{Resolved, SearchDirs};
