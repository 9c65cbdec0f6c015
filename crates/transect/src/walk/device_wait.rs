//! Whether directories wait for a device.

use std::time::Duration;

/// A directory that takes longer than this, plus [`SLOW_ENTRY`] per entry, has waited for a device.
/// Warm, a directory takes 5 µs and 2 µs per entry (peers-scan: the floor); the fastest devices
/// take some 60 µs per request.
const SLOW_DIRECTORY: Duration = Duration::from_micros(60);
const SLOW_ENTRY: Duration = Duration::from_micros(8);

/// How many times as long takes a directory on a network, or another device with milliseconds for each request.
const FAR_SLOWER: u32 = 32;

/// How many of its last eight directories must be slow before a thread counts as waiting.
const SLOW_OF_EIGHT: u32 = 3;

/// The number of threads that two directories on a network start: each of these directories may take as long as a
/// whole tree on a disk.
const NETWORK_THREADS: usize = 4;

/// Which of the last eight directories, or batches of a large one, of a thread were slow: one bit
/// each, two for those that were far slower.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceWait(u8);

impl DeviceWait {
    pub(super) fn add(&mut self, entries: u32, took: Duration) {
        let limit = SLOW_DIRECTORY + SLOW_ENTRY * entries;
        self.0 = match () {
            () if took > limit * FAR_SLOWER => self.0 << 2 | 0b11,
            () => self.0 << 1 | u8::from(took > limit),
        };
    }

    pub(super) fn is_proved(self) -> bool {
        self.0.count_ones() >= SLOW_OF_EIGHT
    }

    /// Returns how many threads it is worth to start for the device: none unless [proved](Self::is_proved). If so,
    /// requires new evidence for the next ones: one stall of the machine must not start them all.
    pub(super) fn take_proof(&mut self) -> usize {
        let threads = match self.0.count_ones() {
            0..SLOW_OF_EIGHT => return 0,
            SLOW_OF_EIGHT => 1,
            _ => NETWORK_THREADS,
        };
        *self = Self::default();
        threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_for_the_device_by_the_time_of_directories() {
        let after = |times: &[u64]| {
            let mut waits = DeviceWait::default();
            times.iter().for_each(|&micros| waits.add(10, Duration::from_micros(micros)));
            waits.take_proof()
        };
        // A stall of the machine may make one directory as slow as a network.
        for few in [&[][..], &[20; 100], &[200, 200], &[90_000], &[90_000, 20, 20, 20, 20, 20, 20]]
        {
            assert_eq!(after(few), 0, "{few:?}");
        }
        for disk in [&[200; 3][..], &[200, 20, 200, 20, 200], &[90_000, 20, 200]] {
            assert_eq!(after(disk), 1, "{disk:?}");
        }
        assert_eq!(after(&[90_000; 2]), NETWORK_THREADS);
        let mut waits = DeviceWait::default();
        (0..4).for_each(|_| waits.add(10, Duration::from_secs(1)));
        assert_eq!([waits.take_proof(), waits.take_proof()], [NETWORK_THREADS, 0]);
    }
}
