//! What a walk cannot do without: device reads with cold caches, and CPU time. A process that lets another one
//! work, or remembers an earlier result, lacks them (`docs/LAB.md`, "Proof of a cache state").
//!
//! The reference is a cell of the same session and state of the caches: the floor, or the base without one. Half of
//! its cost is enough: methods read the same blocks in different orders, six programs on ext4 differed by 8 %, and a
//! method may skip inodes. What the variation of a start could explain proves and disproves nothing.

use transect_stats::Summary;
use transect_text::units::{bytes, time};

/// The share of the reference's cost that each method needs.
const SHARE: f64 = 0.5;

/// CPU time that the noise of a small process explains, in nanoseconds.
const LEAST_CPU: f64 = 1e6;

/// The share of the usual start that its own noise explains: it is measured after the rounds, when the machine may be
/// busier. A single disturbed start explains nothing.
const START_SHARE: f64 = 0.5;

/// The cost of a process and of its start without work: CPU time in nanoseconds, or bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) process: f64,
    pub(super) start: Summary,
    /// The number of runs in the process that have this cost: all have CPU time, but only the first reads
    /// from devices. A third-party program runs once where a contender runs eleven times.
    pub(super) runs: usize,
}

impl Cost {
    fn least(&self) -> f64 {
        self.of_one_run(self.process - self.start.max)
    }

    fn most(&self) -> f64 {
        self.of_one_run(self.process - self.start.min)
    }

    fn of_one_run(&self, cost: f64) -> f64 {
        cost / self.runs.max(1) as f64
    }
}

/// Returns whether a sample with this cost proves cold caches. False if the reference read nothing.
pub(super) fn proves_cold(sample: &Cost, reference: &Cost) -> bool {
    let needed = SHARE * (reference.process - reference.start.median);
    needed > 0.0 && sample.least() >= needed
}

/// Returns why the reads of a cell are too few for the work with cold caches, if they are.
pub(super) fn missing_reads(cell: &Cost, reference: &Cost, name: &str) -> Option<String> {
    let noise = cell.of_one_run(cell.start.max - cell.start.min);
    is_missing(cell, reference, noise).then(|| {
        let amount = |cost: &Cost| bytes(cost.most().max(0.0) as u64);
        format!(
            "devices read {} for its process beyond its start, and {} for {name}: it did not read the tree",
            amount(cell),
            amount(reference)
        )
    })
}

/// Returns why the CPU time of a cell is too short for the work, if it is.
pub(super) fn missing_cpu(cell: &Cost, floor: &Cost, name: &str) -> Option<String> {
    let noise = cell.of_one_run(START_SHARE * cell.start.median + LEAST_CPU);
    is_missing(cell, floor, noise).then(|| {
        let used = |cost: &Cost| time(cost.most().max(0.0));
        format!(
            "a run used {} of CPU time beyond the start of its process, and {name} {}: it did not do the work",
            used(cell),
            used(floor)
        )
    })
}

/// Returns whether a cell's cost, and that much more, is below the share of the reference's cost.
fn is_missing(cell: &Cost, reference: &Cost, noise: f64) -> bool {
    cell.most() + noise < SHARE * reference.least()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(process: f64, start: [f64; 3]) -> Cost {
        Cost { process, start: Summary::of(&start).unwrap(), runs: 1 }
    }

    const MIB: f64 = 1048576.0;
    const MS: f64 = 1e6;

    #[test]
    fn reads_of_program_prove_nothing_about_the_tree() {
        let floor = cost(3.2 * MIB, [0.1 * MIB, 0.2 * MIB, 0.2 * MIB]);
        // Python: 11 MiB to start.
        let start = [11.0 * MIB, 11.1 * MIB, 11.2 * MIB];
        let remembers = cost(11.1 * MIB, start);
        assert!(!proves_cold(&remembers, &floor));
        let said = missing_reads(&remembers, &floor, "floor").unwrap();
        assert_eq!(
            said,
            "devices read 102 KiB for its process beyond its start, and 3.10 MiB for floor: it did not \
             read the tree"
        );
        let honest = cost(13.5 * MIB, start);
        assert!(proves_cold(&honest, &floor) && missing_reads(&honest, &floor, "floor").is_none());
        // A part of the tree.
        assert!(!proves_cold(&cost(12.0 * MIB, start), &floor));
    }

    #[test]
    fn reference_without_reads_proves_nothing() {
        let nothing = cost(0.0, [0.0; 3]);
        assert!(!proves_cold(&nothing, &nothing));
        assert_eq!(missing_reads(&nothing, &nothing, "floor"), None);
        assert_eq!(missing_cpu(&nothing, &nothing, "floor"), None);
    }

    #[test]
    fn cpu_time_below_half_of_the_floor_is_missing() {
        let floor = cost(51.0 * MS, [0.8 * MS, 0.9 * MS, 1.0 * MS]);
        let start = [19.5 * MS, 20.0 * MS, 21.0 * MS];
        assert!(missing_cpu(&cost(20.5 * MS, start), &floor, "floor").is_some());
        let disturbed_once = [19.5 * MS, 20.0 * MS, 100.0 * MS];
        assert!(missing_cpu(&cost(20.5 * MS, disturbed_once), &floor, "floor").is_some());
        // Its starts were measured on a busy machine.
        for honest in [80.0, 70.0, 45.0] {
            assert_eq!(missing_cpu(&cost(honest * MS, start), &floor, "floor"), None);
        }
        // On a small tree the noise of its start is larger than the work.
        let small = cost(2.0 * MS, [0.8 * MS, 0.9 * MS, 1.0 * MS]);
        assert_eq!(missing_cpu(&cost(20.0 * MS, start), &small, "floor"), None);
    }
}
