//! Whether a contender's clock can be believed: it may have worked before it started that clock, or after, or its
//! clock may be slow (`docs/LAB.md`, "A contender's own clock").
//!
//! The CPU time of its process beyond its start is held against the reported time on all processors, or the reported
//! CPU time; in [`MIN_QUIET`] undisturbed samples at least, its wall time against the reported time. Twice as much is
//! explained by reading questions, printing results and tearing down a heap. At least three quarters of the rounds must
//! exceed what is explained: a busy processor makes a process use twice its CPU time, and nothing makes it use less. A
//! single disturbed one decides nothing.

use transect_text::units::time;

use crate::harness::launch::Usage;
use crate::harness::protocol::RunLine;
use crate::ranking::run_cpu::StartUp;
use transect_stats::Summary;

/// The factor by which a process may exceed the reported time of its runs.
const FACTOR: f64 = 2.0;

/// The share of the longest start that is allowed beyond it.
const START_SHARE: f64 = 0.5;

/// Time that is always allowed, in nanoseconds: the noise of a small process.
const LEAST: f64 = 1e6;

/// Fewest undisturbed samples for judging wall times.
const MIN_QUIET: usize = 3;

/// The usage of a process, and the times it reported for its runs; in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) wall: f64,
    pub(super) cpu: f64,
    /// Sum of the reported times of its runs.
    pub(super) runs: f64,
    pub(super) number: usize,
    /// Sum of their reported CPU times, if all were reported.
    pub(super) runs_cpu: Option<f64>,
    pub(super) is_disturbed: bool,
}

impl Claim {
    pub(super) fn of(runs: &[RunLine], usage: &Usage, is_disturbed: bool) -> Self {
        Self {
            wall: usage.wall_ns as f64,
            cpu: usage.cpu_ns() as f64,
            runs: runs.iter().map(|run| run.elapsed_ns as f64).sum(),
            number: runs.len(),
            runs_cpu: runs.iter().map(|run| Some(run.cpu_ns? as f64)).sum(),
            is_disturbed,
        }
    }
}

/// Returns why the reported times of a cell are implausible, if they are.
pub(super) fn objection(claims: &[Claim], start: StartUp, processors: usize) -> Option<String> {
    if matches!(claims, [Claim { is_disturbed: true, .. }]) {
        return None;
    }
    let runs = lower_quartile(claims.iter().map(|claim| claim.runs))?;
    let reported = |used: String| {
        format!("its runs report {}, but its process {used} beyond its start", time(runs))
    };
    let cpu = start.cpu.and_then(|start| {
        // CPU times beyond all processors are as false as a clock that is too slow.
        let explained = |claim: &Claim| {
            let most = claim.runs * processors as f64;
            claim.runs_cpu.map_or(most, |cpu| cpu.min(most))
        };
        excess(claims.iter().map(|claim| (claim.cpu, explained(claim))), &start)
    });
    if let Some(beyond) = cpu {
        return Some(reported(format!("used {} of CPU time", time(beyond))));
    }
    let quiet: Vec<&Claim> = claims.iter().filter(|claim| !claim.is_disturbed).collect();
    if quiet.len() < MIN_QUIET {
        return None;
    }
    let wall = excess(quiet.iter().map(|claim| (claim.wall, claim.runs)), &start.wall)?;
    Some(reported(format!("ran for {}", time(wall))))
}

/// Returns how much a process used beyond its start, if that is more than its runs explain: pairs of what
/// was used and what is explained.
fn excess(used: impl Iterator<Item = (f64, f64)> + Clone, start: &Summary) -> Option<f64> {
    let unexplained =
        lower_quartile(used.clone().map(|(used, explained)| used - FACTOR * explained))?;
    let beyond = lower_quartile(used.map(|(used, _)| used))? - start.median;
    (unexplained > allowance(start)).then_some(beyond)
}

/// Returns the usage that the start of a process explains.
fn allowance(start: &Summary) -> f64 {
    (1.0 + START_SHARE) * start.max + (start.max - start.min) + LEAST
}

/// Returns the largest of the values that at least three quarters of them reach: of three, the smallest.
fn lower_quartile(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 4).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e6;

    fn start(wall: f64, cpu: f64) -> StartUp {
        let of = |ms: f64| Summary::of(&[0.9, 1.0, 1.1].map(|it| it * ms * MS)).unwrap();
        StartUp { wall: of(wall), cpu: Some(of(cpu)), read_bytes: None }
    }

    /// Six processes; times in milliseconds.
    fn claims(wall: f64, cpu: f64, runs: f64, runs_cpu: Option<f64>) -> Vec<Claim> {
        let noise = [0.95, 1.0, 1.05, 0.97, 1.03, 1.0];
        let claim = |noise: f64| Claim {
            wall: wall * noise * MS,
            cpu: cpu * noise * MS,
            runs: runs * noise * MS,
            number: 1,
            runs_cpu: runs_cpu.map(|cpu| cpu * noise * MS),
            is_disturbed: false,
        };
        noise.map(claim).to_vec()
    }

    fn disturbed(mut claims: Vec<Claim>) -> Vec<Claim> {
        claims.iter_mut().for_each(|claim| claim.is_disturbed = true);
        claims
    }

    #[test]
    fn work_before_the_clock_implausible_warm_cold_and_busy() {
        // Python: 20 ms to start, 110 ms of work, 17 µs reported.
        let warm = claims(130.0, 130.0, 0.017, None);
        let said = objection(&warm, start(20.0, 20.0), 2).unwrap();
        assert_eq!(
            said,
            "its runs report 16 µs, but its process used 106 ms of CPU time beyond its start"
        );
        assert!(objection(&disturbed(warm), start(20.0, 20.0), 2).is_some());
        // Cold, it mostly waits for the device; its start does, too.
        let cold = claims(900.0, 40.0, 0.022, None);
        let said = objection(&cold, start(300.0, 35.0), 2).unwrap();
        assert!(said.ends_with("its process ran for 573 ms beyond its start"), "{said}");
        assert!(objection(&claims(900.0, 120.0, 0.022, None), start(300.0, 35.0), 2).is_some());
    }

    #[test]
    fn one_cold_process_with_work_before_the_clock_implausible() {
        let one = &claims(900.0, 120.0, 0.022, None)[..1];
        assert!(objection(one, start(300.0, 35.0), 2).is_some());
    }

    /// On a busy machine some processes need several times the usual CPU time.
    #[test]
    fn slow_processes_decide_nothing_beside_a_usual_one() {
        let honest = claims(9.0, 8.5, 7.7, None).remove(0);
        let slow = Claim { wall: 144.0 * MS, cpu: 36.0 * MS, is_disturbed: true, ..honest };
        assert_eq!(objection(&[slow], start(1.0, 1.0), 2), None);
        assert_eq!(objection(&[slow, honest], start(1.0, 1.0), 2), None);
        assert_eq!(objection(&[slow, honest, slow], start(1.0, 1.0), 2), None);
        assert!(objection(&[slow, slow], start(1.0, 1.0), 2).is_some());
    }

    #[test]
    fn slow_clock_implausible() {
        // Runs of 60 ms, by a clock that runs at a fifth, or a third, of its speed.
        for reported in [12.0, 20.0] {
            let slow = claims(61.0, 61.0, reported, None);
            assert!(objection(&slow, start(1.0, 1.0), 2).is_some(), "{reported}");
        }
        // Both clocks are slow: their CPU time is held against that of the process.
        let both = disturbed(claims(61.0, 61.0, 12.0, Some(12.0)));
        assert!(objection(&both, start(1.0, 1.0), 64).is_some());
    }

    #[test]
    fn cpu_beyond_all_processors_explains_nothing() {
        let early = claims(130.0, 130.0, 0.017, Some(130.0));
        assert!(objection(&early, start(20.0, 20.0), 2).is_some());
    }

    #[test]
    fn honest_contenders_plausible() {
        for (what, claims, start) in [
            ("C", claims(5.0, 4.8, 4.0, Some(3.9)), start(0.9, 0.9)),
            ("Python", claims(35.0, 34.0, 14.0, Some(13.0)), start(20.0, 19.0)),
            // Its compiler works on other processors, during the run and a little longer.
            ("Java", claims(420.0, 700.0, 220.0, None), start(190.0, 260.0)),
            // On a tree of ten files hardly anything but its start is left.
            ("Java, tiny", claims(230.0, 330.0, 6.0, None), start(190.0, 260.0)),
            // It reads its questions before its clock starts.
            ("questions", claims(33.0, 32.0, 20.0, None), start(1.0, 1.0)),
            ("threads", claims(20.0, 70.0, 18.0, Some(66.0)), start(1.0, 1.0)),
            ("eleven runs", claims(225.0, 190.0, 220.0, Some(185.0)), start(1.0, 1.0)),
        ] {
            assert_eq!(objection(&claims, start, 4), None, "{what}");
            assert_eq!(objection(&claims[..1], start, 4), None, "{what}, once");
        }
    }

    #[test]
    fn busy_machine_wall_time_not_judged() {
        let slowed = disturbed(claims(300.0, 5.0, 4.0, None));
        assert_eq!(objection(&slowed, start(1.0, 0.9), 2), None);
        assert_eq!(objection(&claims(300.0, 5.0, 4.0, None)[..2], start(1.0, 0.9), 2), None);
    }
}
