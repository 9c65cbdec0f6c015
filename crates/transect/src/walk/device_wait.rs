//! Whether directories wait for a device.

use std::time::Duration;

/// A directory that takes longer than this, plus [`SLOW_ENTRY`] per entry, has waited for a device.
/// Warm, a directory takes 5 µs and 2 µs per entry (peers-scan: the floor); the fastest devices
/// take some 60 µs per request.
const SLOW_DIRECTORY: Duration = Duration::from_micros(60);
const SLOW_ENTRY: Duration = Duration::from_micros(8);

/// How many of its last eight directories must be slow before a thread counts as waiting.
const SLOW_OF_EIGHT: u32 = 3;

/// Which of the last eight directories, or batches of a large one, of a thread were slow: one bit
/// each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceWait(u8);

impl DeviceWait {
    pub(super) fn add(&mut self, entries: u32, took: Duration) {
        self.0 = self.0 << 1 | u8::from(took > SLOW_DIRECTORY + SLOW_ENTRY * entries);
    }

    pub(super) fn is_proved(self) -> bool {
        self.0.count_ones() >= SLOW_OF_EIGHT
    }

    /// As [`Self::is_proved`]. If so, requires new evidence for the next thread: one stall of the
    /// machine must not start them all.
    pub(super) fn take_proof(&mut self) -> bool {
        let is_proved = self.is_proved();
        if is_proved {
            *self = Self::default();
        }
        is_proved
    }
}
