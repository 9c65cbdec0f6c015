//! How long a session will take, found out before it begins.
//!
//! The base is measured once in every place and state, with all that belongs to a sample, and thrown
//! away. A large file is stood for by a smaller one, as what a sample takes grows with its bytes: that
//! shows what the device is able to, and costs little beside the session. Methods that are slower than
//! the base take longer, so it is a lower bound more than a mean, and said to be one.

use std::time::{Duration, Instant};

use transect::Cancel;

use crate::experiments::transform::Digests;
use crate::harness::log::{Header, Outcome, Place};
use crate::harness::scheduler::{Error, Measure};

/// The largest file that stands for others, in bytes.
const LARGEST: u64 = 64 << 20;

/// A session of one cell and one round, which stands for another one.
#[derive(Debug)]
pub struct Pilot {
    /// What is measured.
    pub header: Header,
    /// How many of its samples in a place a round of the other takes, all cells together.
    samples: f64,
    rounds: u32,
}

impl Pilot {
    /// Returns what stands for a session.
    pub fn of(header: &Header) -> Self {
        let places = header.places.len();
        let runs: usize = (0..places).map(|place| header.cells_in(place).count()).sum();
        let cells = runs as f64 / places.max(1) as f64;
        let mut pilot = header.clone();
        let mut samples = cells;
        if let (Some(size), Some(rules)) = (size(header), header.transform) {
            let mut place: Place = header.places[0].clone();
            place.expected.bytes = size;
            place.digests = Some(Digests::expected(size, rules.kind));
            let all: u64 = header.places.iter().map(|place| place.expected.bytes).sum();
            samples *= all as f64 / size.max(1) as f64;
            pilot.places = vec![place];
        }
        Self { header: pilot, samples, rounds: u32::try_from(header.rounds).unwrap_or(u32::MAX) }
    }

    /// Measures the base once in every place and state; returns how long the session will take at
    /// least, or nothing if the base could not be measured, or somebody interrupts.
    ///
    /// # Errors
    /// A state cannot be made.
    pub fn run(
        &self,
        measure: &mut dyn Measure,
        cancel: &Cancel,
    ) -> Result<Option<Duration>, Error> {
        let header = &self.header;
        let Some(base) = header.cells.iter().find(|cell| cell.name == header.base) else {
            return Ok(None);
        };
        let began = Instant::now();
        for place in 0..header.places.len() {
            for pass in 0..header.passes.len() {
                let outcome = measure.measure(header, base, place, pass)?;
                if cancel.is_cancelled() || !matches!(outcome, Outcome::Right { .. }) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(self.time(began.elapsed())))
    }

    /// Returns how long a session takes of which one round of one cell took so long.
    fn time(&self, once: Duration) -> Duration {
        let time = once.as_secs_f64() * self.samples * f64::from(self.rounds);
        Duration::try_from_secs_f64(time).unwrap_or(Duration::MAX)
    }
}

/// Returns the length of the file that stands for those of a session, in bytes, if it is one of files.
pub fn size(header: &Header) -> Option<u64> {
    let of_files = header.transform.is_some() && header.places.iter().all(|it| it.phase.is_none());
    let largest = header.places.iter().map(|place| place.expected.bytes).max();
    largest.filter(|_| of_files).map(|largest| largest.min(LARGEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::transform::{Kind, Rules, Sync};
    use crate::harness::log::Cell;
    use crate::report::tests::with;

    #[test]
    fn a_large_file_is_stood_for_by_a_smaller_one() {
        let mut header = with(&[("base", 1), ("base (again)", 1), ("slow", 1)], 10).header;
        header.rounds = 10;
        assert_eq!(size(&header), None, "a tree stands for itself");
        let walks = Pilot::of(&header);
        assert_eq!(walks.header.places, header.places);
        // Three cells, ten rounds.
        assert_eq!(walks.time(Duration::from_secs(1)), Duration::from_secs(30));

        header.transform = Some(Rules { kind: Kind::Copy, sync: Sync::None });
        header.places.push(header.places[0].clone());
        header.places[0].expected.bytes = 64 << 20;
        header.places[1].expected.bytes = 128 << 20;
        let files = Pilot::of(&header);
        assert_eq!(files.header.places.len(), 1);
        assert_eq!(files.header.places[0].expected.bytes, 64 << 20);
        assert_eq!(files.time(Duration::from_secs(1)), Duration::from_secs(90));
    }

    #[test]
    fn where_the_base_fails_nothing_is_said() {
        struct Fails;
        impl Measure for Fails {
            fn measure(
                &mut self,
                _: &Header,
                cell: &Cell,
                _: usize,
                _: usize,
            ) -> Result<Outcome, Error> {
                assert_eq!(cell.name, "base");
                Ok(Outcome::Wrong { found: "nothing".to_owned() })
            }
        }
        let pilot = Pilot::of(&with(&[("base", 1), ("base (again)", 1)], 2).header);
        assert_eq!(pilot.run(&mut Fails, &Cancel::new()).unwrap(), None);
    }
}
