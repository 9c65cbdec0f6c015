//! The settings of walks that were measured to be fastest on a file system.
//!
//! Other crates measure and store them.

use transect_sys::{ReaderKind, StatOrder};

use crate::options::ScanOptions;
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

/// The settings of a walk that affect only its speed; `None` is the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct WalkSettings {
    /// The reader of directories.
    pub reader: Option<ReaderKind>,
    /// The order of the walk, which includes whether it uses threads.
    pub order: Option<Order>,
    /// Maximum number of threads while directories are in the cache.
    pub busy_threads: Option<usize>,
    /// Maximum number of threads while directories wait for a device.
    pub waiting_threads: Option<usize>,
    /// Buffer size of a listing call, in bytes.
    pub buffer_size: Option<usize>,
    /// The order in which attributes are queried.
    pub stat_order: Option<StatOrder>,
}

impl WalkProfile {
    /// Returns a profile from its parts.
    pub fn new(identity: impl Into<String>, tuned: u64, settings: WalkSettings) -> Self {
        Self { identity: identity.into(), tuned, settings }
    }
}

/// Each method sets the field of the same name.
impl WalkSettings {
    /// Sets the reader.
    pub fn reader(mut self, reader: ReaderKind) -> Self {
        self.reader = Some(reader);
        self
    }

    /// Sets the order of the walk.
    pub fn order(mut self, order: Order) -> Self {
        self.order = Some(order);
        self
    }

    /// Sets the maximum number of threads while directories are in the cache.
    pub fn busy_threads(mut self, threads: usize) -> Self {
        self.busy_threads = Some(threads);
        self
    }

    /// Sets the maximum number of threads while directories wait for a device.
    pub fn waiting_threads(mut self, threads: usize) -> Self {
        self.waiting_threads = Some(threads);
        self
    }

    /// Sets the buffer size of a listing call.
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.buffer_size = Some(bytes);
        self
    }

    /// Sets the order in which attributes are queried.
    pub fn stat_order(mut self, order: StatOrder) -> Self {
        self.stat_order = Some(order);
        self
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

    /// Returns whether the reader is available on this system, and supports the buffer size and the
    /// stat order.
    pub fn is_supported(&self) -> bool {
        let Self { reader, buffer_size, stat_order, .. } = *self;
        let options = ScanOptions { reader, buffer_size, stat_order, ..ScanOptions::new(["."]) };
        options.plan().is_ok()
    }

    /// Applies them to options that set none of them. A reader that is not available any more is
    /// left out, with its buffer size and stat order: a profile must never make a walk fail.
    pub fn apply(&self, options: &mut ScanOptions) {
        options.order = self.order.unwrap_or_default();
        options.busy_threads = self.busy_threads;
        options.waiting_threads = self.waiting_threads;
        if self.is_supported() {
            options.reader = self.reader;
            options.buffer_size = self.buffer_size;
            options.stat_order = self.stat_order;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_apply_to_options() {
        let settings = WalkSettings {
            reader: Some(ReaderKind::Portable),
            busy_threads: Some(3),
            ..WalkSettings::default()
        };
        assert!(settings.is_supported() && !settings.is_default());
        let mut options = ScanOptions::new(["."]);
        settings.apply(&mut options);
        assert_eq!((options.reader, options.busy_threads), (Some(ReaderKind::Portable), Some(3)));

        // The portable reader has no buffer size, so it is left out.
        let impossible = WalkSettings { buffer_size: Some(1 << 16), ..settings };
        assert!(!impossible.is_supported());
        let mut options = ScanOptions::new(["."]);
        impossible.apply(&mut options);
        assert_eq!((options.reader, options.buffer_size), (None, None));
        assert_eq!(options.busy_threads, Some(3));
        assert!(options.plan().is_ok());
    }
}
