//! Whether directories wait for a device.

use std::time::Duration;

use crate::plan::MaxThreads;

/// A directory that takes longer than this, plus [`SLOW_ENTRY`] per entry, has waited for a device.
/// Warm, a directory takes 5 µs and 2 µs per entry (peers-scan: the floor); the fastest devices
/// take some 60 µs per request.
const SLOW_DIRECTORY: Duration = Duration::from_micros(60);
const SLOW_ENTRY: Duration = Duration::from_micros(8);

/// How many times as long takes a directory on a network, or another device with milliseconds for each request.
const FAR_SLOWER: u32 = 32;

/// Each time there are so many threads more, a directory must be far slower by as much again: it waits for the others,
/// too.
const CROWD: usize = 8;

/// How many of its last eight directories must be slow before a thread counts as waiting.
const SLOW_OF_EIGHT: u32 = 3;

/// Where directories come from, to judge by their times. A walk may use more threads in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Latency {
    Memory,
    Device,
    /// Perhaps a network: each directory takes as long as dozens on a disk.
    FarSlower,
    /// Every directory that waits is worth a thread.
    Network,
}

impl Latency {
    pub(super) fn max_threads(self, max: MaxThreads) -> usize {
        match self {
            Self::Memory => max.memory,
            Self::Device | Self::FarSlower => max.device,
            Self::Network => max.network,
        }
    }

    /// Returns how many threads to start at once if so many directories wait for one.
    pub(super) fn threads_for(self, waiting: usize) -> usize {
        match self {
            Self::Memory | Self::Device => 1,
            Self::FarSlower => 4,
            Self::Network => waiting,
        }
    }
}

/// Which of the last eight directories, or batches of a large one, of a thread were slow, and which far slower: one
/// bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceWait {
    slow: u8,
    far_slower: u8,
}

impl DeviceWait {
    /// Four in a row.
    const NETWORK: u8 = 0b1111;

    /// The state of a thread that was started for a device with this latency. It repeats the proof of a network with its
    /// first directory.
    pub(super) fn expecting(latency: Latency) -> Self {
        let far_slower = if latency == Latency::Network { Self::NETWORK >> 1 } else { 0 };
        Self { slow: 0, far_slower }
    }

    /// Adds a directory that was read while there were so many threads.
    pub(super) fn add(&mut self, entries: u32, took: Duration, threads: usize) {
        let limit = SLOW_DIRECTORY + SLOW_ENTRY * entries;
        let far = limit * FAR_SLOWER * (1 + (threads / CROWD) as u32);
        self.slow = self.slow << 1 | u8::from(took > limit);
        self.far_slower = self.far_slower << 1 | u8::from(took > far);
    }

    /// Returns whether the directories wait for a device: one that was far slower counts twice.
    pub(super) fn is_proved(self) -> bool {
        self.slow.count_ones() + self.far_slower.count_ones() >= SLOW_OF_EIGHT
    }

    /// Returns what the directories prove. Requires new evidence for the next proof: one stall of the machine must not
    /// start all threads.
    pub(super) fn take_proof(&mut self) -> Latency {
        if self.far_slower & Self::NETWORK == Self::NETWORK {
            *self = Self::expecting(Latency::Network);
            return Latency::Network;
        }
        if !self.is_proved() || self.slow & 1 == 0 {
            return Latency::Memory;
        }
        self.slow = 0;
        match self.far_slower & 1 != 0 && self.far_slower.count_ones() > 1 {
            true => Latency::FarSlower,
            false => Latency::Device,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latency_judged_by_the_times_of_directories() {
        let after = |times: &[u64]| {
            let mut waits = DeviceWait::default();
            times.iter().for_each(|&micros| waits.add(10, Duration::from_micros(micros), 1));
            waits.take_proof()
        };
        // A stall of the machine may make one directory as slow as a network.
        for few in [&[][..], &[20; 100], &[200, 200], &[90_000], &[90_000, 20, 20, 20, 20, 20, 20]]
        {
            assert_eq!(after(few), Latency::Memory, "{few:?}");
        }
        for disk in [&[200; 3][..], &[200, 20, 200, 20, 200], &[90_000, 20, 200]] {
            assert_eq!(after(disk), Latency::Device, "{disk:?}");
        }
        for perhaps in [&[90_000; 2][..], &[90_000; 3], &[90_000, 90_000, 90_000, 20, 90_000]] {
            assert_eq!(after(perhaps), Latency::FarSlower, "{perhaps:?}");
        }
        let mut waits = DeviceWait::default();
        let mut proof_after = |micros: &[u64], threads| {
            micros.iter().for_each(|&micros| waits.add(10, Duration::from_micros(micros), threads));
            waits.take_proof()
        };
        assert_eq!(proof_after(&[90_000; 4], 1), Latency::Network);
        assert_eq!(proof_after(&[], 1), Latency::Memory);
        assert_eq!(proof_after(&[90_000], 1), Latency::Network);
        assert_eq!(proof_after(&[20, 90_000], 1), Latency::FarSlower);
        assert_eq!(proof_after(&[20, 20, 20, 20, 20, 20, 20, 90_000], 1), Latency::Memory);
        // With many threads, a disk takes as long.
        assert_eq!(proof_after(&[20_000; 8], 32), Latency::Device);
        assert_eq!(proof_after(&[90_000; 8], 32), Latency::Network);
    }
}
