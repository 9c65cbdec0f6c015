//! The settings of walks that were measured to be fastest on a file system.
//!
//! Other crates measure and store them.

use transect_sys::{ReaderKind, StatOrder};

use crate::order::Order;

/// The fastest settings for walks on a file system, and where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkProfile {
    /// The identity of the file system (`transect_sys::host::file_system_identity`).
    pub identity: String,
    /// When the settings were measured, in seconds since 1970.
    pub tuned: u64,
    /// The settings.
    pub settings: WalkSettings,
}

/// The settings of a walk that affect only its speed; `None` is the default. More may be added: complete
/// a literal with `..Default::default()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
pub struct WalkSettings {
    /// The reader; by default the best one available on this system.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub reader: Option<ReaderKind>,
    /// The order in which directories are read, and how threads share them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub order: Option<Order>,
    /// The maximum number of threads while directories come from memory; by default one per core.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub busy_threads: Option<usize>,
    /// The maximum number of threads while directories wait for a device or the network; by default
    /// 32, and 128 where directories take milliseconds.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub waiting_threads: Option<usize>,
    /// Bytes per listing call, 4 KiB to 4 MiB; by default 64 KiB. Only for readers with a buffer
    /// ([`ReaderKind::takes_buffer_size`]).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub buffer_size: Option<usize>,
    /// The order of the attribute calls within a directory; by default the order of the listing.
    /// Only for readers that make such calls ([`ReaderKind::takes_stat_order`]).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub stat_order: Option<StatOrder>,
}

impl WalkProfile {
    /// Returns a profile from its parts.
    pub fn new(identity: impl Into<String>, tuned: u64, settings: WalkSettings) -> Self {
        Self { identity: identity.into(), tuned, settings }
    }
}

impl WalkSettings {
    /// Returns these settings, completed by `others` where they are defaults.
    pub fn or(self, others: Self) -> Self {
        let Self { reader, order, busy_threads, waiting_threads, buffer_size, stat_order } = self;
        Self {
            reader: reader.or(others.reader),
            order: order.or(others.order),
            busy_threads: busy_threads.or(others.busy_threads),
            waiting_threads: waiting_threads.or(others.waiting_threads),
            buffer_size: buffer_size.or(others.buffer_size),
            stat_order: stat_order.or(others.stat_order),
        }
    }

    /// Returns whether all settings are defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
