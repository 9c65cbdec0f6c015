//! A validated walk: checked options, compiled filters, thread and descriptor limits.
//!
//! Builder pair with `options.rs`; see there.

mod auto;

use std::cell::LazyCell;
use std::sync::Arc;

use transect_sys::{ReaderKind, ReaderSettings, host};

use crate::error::Error;
use crate::filter::CompiledFilters;
use crate::options::ScanOptions;
use crate::order::Order;
use crate::profile::WalkSettings;
use crate::progress::Progress;

/// The default number of threads while directories wait for a device.
///
/// A waiting thread costs no processor time, and a device serves many requests at once. With a cold
/// cache 32 threads are 1.9 times as fast as 2 (peers-scan: `floor -t32`); more threads gained
/// nothing.
const DEFAULT_DEVICE_THREADS: usize = 32;

/// The default number of threads on a network: each answer takes milliseconds, however many are under way. More gained
/// nothing (`bench/slow/compare`).
const DEFAULT_NETWORK_THREADS: usize = 192;

/// The largest default number of threads while directories come from memory or wait for a device, on any number of cores: the
/// largest that was measured.
const MAX_DEFAULT_THREADS: usize = 64;

/// Descriptors left for the standard streams, the output and the caller.
const RESERVED_DESCRIPTORS: usize = 16;

/// Descriptors that a thread needs to read a directory: the directory itself, and two on the path
/// to it if its parent was closed.
pub(crate) const DESCRIPTORS_PER_THREAD: usize = 3;

/// A validated walk, ready to run any number of times.
#[derive(Clone, Debug)]
pub struct ScanPlan {
    pub(crate) options: ScanOptions,
    pub(crate) reader: ReaderKind,
    pub(crate) reader_settings: ReaderSettings,
    /// The reader was not given: if it fails, another one is used.
    #[cfg_attr(not(feature = "volumes"), expect(dead_code, reason = "there is nothing to choose"))]
    pub(crate) auto_reader: bool,
    pub(crate) reader_reason: Option<String>,
    pub(crate) order: Order,
    pub(crate) threads: ThreadLimits,
    pub(crate) max_depth: u32,
    pub(crate) filter: Option<Arc<CompiledFilters>>,
    /// Directories that may stay open for the subdirectories to be opened from them.
    pub(crate) keep_open: usize,
    /// `None` if it was not requested: then nothing is counted for it.
    pub(crate) progress: Option<Arc<Progress>>,
}

/// The numbers of threads that a walk may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadLimits {
    busy: Option<usize>,
    waiting: Option<usize>,
    /// Whether the number of threads was given, instead of limits.
    requested: bool,
    /// The maximum that the descriptor limit allows.
    max: usize,
}

/// How many threads to use at most, by where directories come from: each number is at least the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxThreads {
    pub(crate) memory: usize,
    pub(crate) device: usize,
    pub(crate) network: usize,
}

impl ScanPlan {
    pub(crate) fn new(options: ScanOptions) -> Result<Self, Error> {
        if options.roots.is_empty() {
            return Err(Error::NoRoots);
        }
        let auto_reader = options.auto_reader && options.settings.reader.is_none();
        let (chosen, reader_reason) = match auto_reader {
            true => auto::choose(&options),
            false => (options.settings.reader, None),
        };
        let reader = chosen.unwrap_or_else(ReaderKind::best);
        if let Some(why) = reader.unavailable_reason() {
            return Err(Error::ReaderUnavailable(reader.as_str(), why));
        }
        if ReaderKind::VOLUMES.contains(&reader)
            && let Some(why) = auto::unavailable_on_volumes(&options)
        {
            return Err(Error::ReaderUnavailable(reader.as_str(), why));
        }
        let reader_settings = reader_settings(reader, &options.settings)?;
        if let Some(max) = options.max_depth.filter(|&max| max < options.min_depth) {
            return Err(Error::InvalidDepths { min: options.min_depth, max });
        }
        let filter = options.filters.compile(options.min_depth)?.map(Arc::new);
        let descriptors = options.max_open.unwrap_or_else(descriptors_left).max(1);
        let threads = ThreadLimits::new(&options, descriptors);
        Ok(Self {
            reader,
            reader_settings,
            auto_reader,
            reader_reason,
            order: options.settings.order.unwrap_or_default(),
            threads,
            max_depth: options.max_depth.unwrap_or(u32::MAX),
            filter,
            keep_open: descriptors.saturating_sub(threads.descriptors()),
            progress: options.progress.clone(),
            options,
        })
    }
}

impl WalkSettings {
    /// Returns the settings that work on this system. A reader that is not available any more is left
    /// out, with its buffer size and stat order: a profile must never make a walk fail.
    pub fn supported(self) -> Self {
        let options = ScanOptions { settings: self, ..ScanOptions::new(["."]) };
        if options.plan().is_ok() {
            return self;
        }
        Self { reader: None, buffer_size: None, stat_order: None, ..self }
    }
}

impl Default for ThreadLimits {
    fn default() -> Self {
        Self::new(&ScanOptions::default(), descriptors_left())
    }
}

impl ThreadLimits {
    fn new(options: &ScanOptions, descriptors: usize) -> Self {
        let requested = if options.settings.order.unwrap_or_default().is_parallel() {
            options.threads
        } else {
            Some(1)
        };
        Self {
            busy: requested.or(options.settings.busy_threads),
            waiting: requested.or(options.settings.waiting_threads),
            requested: requested.is_some(),
            max: (descriptors / (DESCRIPTORS_PER_THREAD + 1)).max(1),
        }
    }

    /// Returns whether the number of threads was given. Otherwise, walks start them when they pay.
    pub(crate) fn are_requested(self) -> bool {
        self.requested
    }

    /// Returns the number of threads to use while directories come from memory.
    pub(crate) fn busy(self) -> usize {
        self.limits().memory
    }

    /// Returns the numbers of threads to use.
    ///
    /// Called only when a walk needs a second thread: counting the available cores of a container
    /// takes twenty system calls, more than a small directory.
    pub(crate) fn limits(self) -> MaxThreads {
        let cores = LazyCell::new(cores);
        let memory = self.busy.unwrap_or_else(|| cores.min(MAX_DEFAULT_THREADS)).clamp(1, self.max);
        let device = || cores.clamp(DEFAULT_DEVICE_THREADS, MAX_DEFAULT_THREADS);
        let device = self.waiting.unwrap_or_else(device).max(memory).min(self.max);
        let network = self.waiting.unwrap_or(DEFAULT_NETWORK_THREADS).max(device).min(self.max);
        MaxThreads { memory, device, network }
    }

    /// Returns the maximum number of descriptors that the threads use at once.
    fn descriptors(self) -> usize {
        let max = |requested: Option<usize>| requested.unwrap_or(DEFAULT_NETWORK_THREADS);
        max(self.busy).max(max(self.waiting)).min(self.max) * DESCRIPTORS_PER_THREAD
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the number of descriptors that a walk may use in this process.
fn descriptors_left() -> usize {
    host::handle_limit().saturating_sub(RESERVED_DESCRIPTORS)
}

/// Checks that the reader supports its settings.
fn reader_settings(reader: ReaderKind, given: &WalkSettings) -> Result<ReaderSettings, Error> {
    let mut settings = ReaderSettings::default();
    let without = |setting| {
        Error::InvalidSetting(format!("reader '{}' does not use a {setting}", reader.as_str()))
    };
    if let Some(size) = given.buffer_size {
        if !reader.takes_buffer_size() {
            return Err(without("buffer size"));
        }
        let sizes = ReaderSettings::BUFFER_SIZES;
        if !sizes.contains(&size) {
            let (min, max) = (sizes.start(), sizes.end());
            let why = format!("buffer size {size} is not between {min} and {max} bytes");
            return Err(Error::InvalidSetting(why));
        }
        settings.buffer_size = size;
    }
    if let Some(order) = given.stat_order {
        if !reader.takes_stat_order() {
            return Err(without("stat order"));
        }
        settings.stat_order = order;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(options: ScanOptions) -> [usize; 3] {
        let plan = options.plan().expect("options that can be");
        let MaxThreads { memory, device, network } = plan.threads.limits();
        [memory, device, network]
    }

    #[test]
    fn settings_without_support_left_out() {
        let settings = WalkSettings {
            reader: Some(ReaderKind::Portable),
            busy_threads: Some(3),
            ..WalkSettings::default()
        };
        assert!(settings.supported() == settings && !settings.is_default());
        // The portable reader has no buffer size.
        let impossible = WalkSettings { buffer_size: Some(1 << 16), ..settings };
        let possible = WalkSettings { reader: None, ..settings };
        assert_eq!(impossible.supported(), possible);
    }

    #[test]
    fn threads_busy_and_waiting_limited_separately() {
        let options = || ScanOptions::new(["."]);
        let [memory, device, network] = threads(options());
        assert!(memory <= cores() && device >= DEFAULT_DEVICE_THREADS && network > device);
        assert_eq!(threads(options().busy_threads(3)), [3, device.max(3), network]);
        assert_eq!(threads(options().busy_threads(1).waiting_threads(5)), [1, 5, 5]);
        // Waiting threads come on top of the busy ones.
        assert_eq!(threads(options().busy_threads(4).waiting_threads(2)), [4; 3]);
        assert_eq!(threads(options().threads(2).busy_threads(7)), [2; 3]);
        assert_eq!(threads(options().order(Order::Queue).busy_threads(7)), [1; 3]);
        let few = threads(options().waiting_threads(500).max_open(40));
        assert_eq!(few, [memory.min(10), 10, 10]);
    }
}
