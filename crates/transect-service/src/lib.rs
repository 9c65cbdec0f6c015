//! One attribute cache for several programs.
//!
//! A [`Server`] holds an [`AttributeCache`](transect_cache::AttributeCache) and answers on a local
//! socket, or on Windows on a named pipe; a [`Client`] queries it. The messages are in [`protocol`];
//! for clients in other languages, `docs/SERVICE.md` specifies them.
//!
//! ```
//! use transect::Cancel;
//! use transect::FieldMask;
//! use transect_cache::{CacheOptions, Level};
//! use transect_service::{Client, ServeOptions, Server};
//!
//! let directory = std::env::temp_dir().join(format!("transect-doc-{}", std::process::id()));
//! let socket = match cfg!(windows) {
//!     true => format!(r"\\.\pipe\transect-doc-{}", std::process::id()).into(),
//!     false => directory.join("cache.sock"),
//! };
//! transect_service::create_socket_dir(&socket)?;
//! let server = Server::bind(&socket, CacheOptions::new(Level::Frozen))?;
//! let end = Cancel::new();
//! std::thread::scope(|scope| {
//!     let serving = scope.spawn(|| server.run(&ServeOptions::default(), &end, |_| {}));
//!     let mut client = Client::connect(&socket)?;
//!     let paths = [std::env::temp_dir(), directory.join("no such file")];
//!     let answers = client.attributes(&paths, FieldMask::MTIME, false)?;
//!     assert!(answers[0].is_ok());
//!     assert!(answers[1].is_err_and(|error| error.is_missing()));
//!     end.cancel();
//!     server.waker().wake();
//!     serving.join().expect("a server does not panic")
//! })?;
//! # drop(server);
//! # let _ = std::fs::remove_dir_all(&directory);
//! # Ok::<(), transect_service::Error>(())
//! ```
//!
//! The service answers its own user only, and a client queries a service of its own user only. The
//! service exists on Linux and Windows only so far; elsewhere, [`Error::Unsupported`] is returned.

mod client;
mod connection;
mod entries;
mod error;
pub mod git;
mod live_answers;
mod lookups;
mod open_connections;
pub mod protocol;
mod server;
mod service;
mod serving;
mod stored;
mod transport;
mod trees;
mod watch_helper;
pub mod watchman;
mod words;

use transect::FieldMask;

pub use client::{Client, Closer, TreeChanges};
pub use entries::Entries;
pub use error::Error;
pub use server::Server;
pub use serving::{Event, ServeOptions, StopReason};
pub use transport::{Waker, create_socket_dir, default_socket};
pub use watch_helper::{HelperLimits, WatchHelper};

/// The attributes that a service caches: those that the system has. The time of the last access is not
/// among them: reading a file changes it without a notification.
pub const CACHED_FIELDS: FieldMask = OF_SYSTEM
    .union(FieldMask::NLINK)
    .union(FieldMask::MTIME)
    .union(FieldMask::CTIME)
    .union(FieldMask::BTIME)
    .union(FieldMask::SIZE)
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::FILE_ID);

#[cfg(windows)]
const OF_SYSTEM: FieldMask = FieldMask::ATTRIBUTES.union(FieldMask::REPARSE_TAG);
#[cfg(not(windows))]
const OF_SYSTEM: FieldMask = FieldMask::MODE.union(FieldMask::UID).union(FieldMask::GID);
