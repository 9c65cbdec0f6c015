//! One attribute cache for several programs.
//!
//! A [`Server`] holds an [`AttributeCache`](transect_cache::AttributeCache) and answers on a local
//! socket; a [`Client`] queries it. The messages are in [`protocol`]; for clients in other
//! languages, `docs/SERVICE.md` specifies them.
//!
//! ```
//! # #[cfg(target_os = "linux")] {
//! use transect::Cancel;
//! use transect::FieldMask;
//! use transect_cache::{CacheOptions, Level};
//! use transect_service::{Client, ServeOptions, Server};
//!
//! let folder = std::env::temp_dir().join(format!("transect-doc-{}", std::process::id()));
//! transect_service::create_private_dir(&folder)?;
//! let socket = folder.join("cache.sock");
//! let server = Server::bind(&socket, CacheOptions::new(Level::Frozen))?;
//! let end = Cancel::new();
//! std::thread::scope(|scope| {
//!     let serving = scope.spawn(|| server.run(&ServeOptions::default(), &end, |_| {}));
//!     let mut client = Client::connect(&socket)?;
//!     let answers = client.attributes(&["/", "/no/such/path"], FieldMask::MODE, false)?;
//!     assert!(answers[0].is_ok());
//!     assert!(answers[1].is_err_and(|error| error.is_missing()));
//!     end.cancel();
//!     serving.join().expect("a server does not panic")
//! })?;
//! # drop(server);
//! # std::fs::remove_dir_all(&folder).map_err(transect_service::Error::from)?;
//! # }
//! # Ok::<(), transect_service::Error>(())
//! ```
//!
//! The service answers its own user only, and a client queries a service of its own user only. The
//! service exists on Linux only so far.

mod error;
pub mod protocol;
mod serving;

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod endpoint;
#[cfg(target_os = "linux")]
mod open_connections;
#[cfg(target_os = "linux")]
mod server;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use transect::FieldMask;

#[cfg(target_os = "linux")]
pub use client::Client;
#[cfg(target_os = "linux")]
pub use endpoint::{create_private_dir, default_socket_dir};
pub use error::Error;
#[cfg(target_os = "linux")]
pub use server::Server;
pub use serving::{Event, ServeOptions, StopReason};
#[cfg(not(target_os = "linux"))]
pub use unsupported::{Client, Server, create_private_dir, default_socket_dir};

/// The attributes that a service caches. The time of the last access is not among them: reading a
/// file changes it without a notification.
pub const CACHED_FIELDS: FieldMask = FieldMask::MODE
    .union(FieldMask::NLINK)
    .union(FieldMask::UID)
    .union(FieldMask::GID)
    .union(FieldMask::MTIME)
    .union(FieldMask::CTIME)
    .union(FieldMask::BTIME)
    .union(FieldMask::SIZE)
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::FILE_ID);
