//! Whether directories wait for a device.

use std::time::Duration;

use crate::plan::MaxThreads;

/// A directory that takes longer than this, plus [`SLOW_ENTRY`] per entry, has waited for a device.
/// Warm, a directory takes 5 µs and 2 µs per entry (peers-scan: the floor); the fastest devices
/// take some 60 µs per request.
const SLOW_DIRECTORY: Duration = Duration::from_micros(60);
const SLOW_ENTRY: Duration = Duration::from_micros(8);

/// If two directories wait this many times [`SLOW_DIRECTORY`] or longer, the device is slow, as a network is.
const FAR_SLOWER: u8 = 16;

/// Each time there are so many threads more, a directory must wait longer by as much again: it waits for the others, too.
const CROWD: u32 = 32;

/// How many times [`SLOW_DIRECTORY`] directories wait; 0 if they come from memory. Each time is worth one thread
/// (`bench/slow/compare`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Latency {
    times: u8,
    /// The most that was proved so far.
    most: u8,
}

impl Latency {
    pub(super) fn is_memory(self) -> bool {
        self.times == 0
    }

    pub(super) fn max_threads(self, max: MaxThreads) -> usize {
        match self.is_memory() {
            true => max.memory,
            false => usize::from(self.most).clamp(max.device, max.network),
        }
    }

    /// Returns how many threads to start at once if so many directories wait for one.
    pub(super) fn threads_for(self, waiting: usize) -> usize {
        usize::from(self.times).min(waiting).max(1)
    }
}

/// How many times [`SLOW_DIRECTORY`] the last eight directories of a thread waited, or batches of a large one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceWait {
    /// The last one first; 0 for a fast one.
    recent: [u8; 8],
    most: u8,
}

impl DeviceWait {
    /// The state of a thread that was started for a device with this latency. If that is far slower, the first directory
    /// repeats the proof.
    pub(super) fn expecting(latency: Latency) -> Self {
        let Latency { times, most } = latency;
        let known = if times >= FAR_SLOWER { times } else { 0 };
        Self { recent: [0, known, known, 0, 0, 0, 0, 0], most }
    }

    /// Adds a directory that was read while there were so many threads.
    pub(super) fn add(&mut self, entries: u32, took: Duration, threads: usize) {
        let wait = took.saturating_sub(SLOW_ENTRY * entries);
        let times = wait.as_micros() / (SLOW_DIRECTORY * (1 + threads as u32 / CROWD)).as_micros();
        self.recent.rotate_right(1);
        self.recent[0] = u8::try_from(times).unwrap_or(u8::MAX);
    }

    /// Returns whether the directories wait for a device.
    pub(super) fn is_proved(self) -> bool {
        self.proved_times() > 0
    }

    /// The scheduler delays single directories, so two or three must have been slow.
    fn proved_times(mut self) -> u8 {
        self.recent.sort_unstable();
        let [.., third, second, _] = self.recent;
        if second >= FAR_SLOWER { second } else { third }
    }

    /// Returns what the directories prove. Requires new evidence for the next proof: one stall of the machine must not
    /// start all threads.
    pub(super) fn take_proof(&mut self) -> Latency {
        if self.recent[0] == 0 || !self.is_proved() {
            return Latency::default();
        }
        let times = self.proved_times();
        let latency = Latency { times, most: times.max(self.most) };
        *self = Self::expecting(latency);
        latency
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a proof is worth after directories of ten entries that took so many microseconds.
    fn proof_after(waits: &mut DeviceWait, micros: &[u64], threads: usize) -> (u8, u8) {
        micros.iter().for_each(|&it| waits.add(10, Duration::from_micros(it), threads));
        let Latency { times, most } = waits.take_proof();
        (times, most)
    }

    #[test]
    fn latency_judged_by_the_times_of_directories() {
        let after = |micros: &[u64]| proof_after(&mut DeviceWait::default(), micros, 1).0;
        // A stall of the machine may make one directory as slow as a network.
        let stall = 90_000;
        for few in [
            &[][..],
            &[20; 100],
            &[200, 200],
            &[stall],
            &[stall, 20, 200],
            &[stall, 20, 20, 20, 20, 20, 20],
        ] {
            assert_eq!(after(few), 0, "{few:?}");
        }
        for disk in [&[200; 3][..], &[200, 20, 200, 20, 200], &[stall, 20, 200, 200]] {
            assert_eq!(after(disk), 2, "{disk:?}");
        }
        assert_eq!(after(&[1_400, 1_400, 1_400]), 22);
        assert_eq!(after(&[1_400, 14_000]), 22);
        assert_eq!(after(&[1_400, 1_400, 14_000, 20]), 0);
    }

    #[test]
    fn proof_repeated_by_one_directory_only_if_far_slower() {
        let mut disk = DeviceWait::default();
        assert_eq!(proof_after(&mut disk, &[280; 3], 1), (3, 3));
        assert_eq!(proof_after(&mut disk, &[280; 2], 1), (0, 0));
        assert_eq!(proof_after(&mut disk, &[280], 1), (3, 3));
        let mut network = DeviceWait::default();
        assert_eq!(proof_after(&mut network, &[6_080; 2], 1), (100, 100));
        let mut started = DeviceWait::expecting(Latency { times: 100, most: 100 });
        for waits in [&mut network, &mut started] {
            assert_eq!(proof_after(waits, &[], 1), (0, 0));
            assert_eq!(proof_after(waits, &[20, 6_080], 1), (100, 100));
        }
    }

    #[test]
    fn threads_follow_from_the_longest_wait_without_other_threads() {
        let max = MaxThreads { memory: 2, device: 32, network: 128 };
        let most = |times, most| Latency { times, most }.max_threads(max);
        assert_eq!([most(0, 0), most(1, 1), most(80, 80), most(255, 255)], [2, 32, 80, 128]);
        assert_eq!(most(20, 80), 80);
        // Directories that take twice as long with twice as many threads are worth no more of these.
        let most_after = |micros, threads| {
            let mut waits = DeviceWait::expecting(Latency { times: 20, most: 20 });
            proof_after(&mut waits, &[micros; 8], threads).1
        };
        assert_eq!([most_after(2_480, 32), most_after(3_720, 64)], [20, 20]);
        assert_eq!([most_after(26_000, 1), most_after(26_000, 58)], [255, 216]);
    }
}
