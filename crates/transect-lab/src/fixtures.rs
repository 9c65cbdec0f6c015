//! Synthetic sessions for tests.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::harness::environment::{Environment, FileSystem};
use crate::harness::interference::{Beside, Disturbance};
use crate::harness::launch::Usage;
use crate::harness::log::{Outcome, Sample, SessionData, Started};
use crate::harness::protocol::RunLine;
use crate::harness::work::Work;
use crate::spec::{Cell, Dataset, ENGINE, SessionSpec};

/// Hostile names: markup, separators, control characters.
pub(crate) const NAMES: &[&str] = &[
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "\"&'",
    "a,b\r\n\"c\"",
    "pipe | `tick` *star*",
    "\u{202e}txt.exe",
    "{{script}}",
];

/// Returns a session on one dataset. Each cell takes the given time in round 0, and a nanosecond more in each
/// further round. The cell `base` is the base, `floor` the floor.
pub(crate) fn with(times: &[(&str, u64)], rounds: usize) -> SessionData {
    let work = Work { files: 3, directories: 1, bytes: 15, errors: 0 };
    let cell = |&(name, _): &(&str, u64)| Cell {
        name: name.to_owned(),
        method: name.to_owned(),
        contract: vec!["A29".to_owned()],
        language: "C".to_owned(),
        kind: "contender".to_owned(),
        ..Cell::default()
    };
    let usage =
        Usage { wall_ns: 9000, user_ns: 100, system_ns: 200, peak_memory: 4096, account: None };
    let sample = |round: usize, &(name, time): &(&str, u64)| Sample {
        round,
        dataset: 0,
        cache_state: 0,
        cell: name.to_owned(),
        took_ns: None,
        repeated: 0,
        outcome: Outcome::Right {
            runs: vec![RunLine::new(work, time + round as u64)],
            usage,
            read_kib: Some(0),
            beside: None,
            files: None,
        },
    };
    let samples = (0..rounds).flat_map(|round| times.iter().map(move |time| sample(round, time)));
    let datasets = vec![Dataset {
        name: "tree".to_owned(),
        root: PathBuf::from("/tree"),
        file_system: FileSystem::default(),
        expected: work,
        ..Dataset::default()
    }];
    let cells = times.iter().map(cell).collect();
    let spec = SessionSpec { datasets, cells, rounds, ..empty_spec().clone() };
    SessionData { samples: samples.collect(), ..SessionData::begin(spec) }
}

/// Returns a spec without cells. What it records of the machine is looked up once: some tests make hundreds of
/// sessions.
fn empty_spec() -> &'static SessionSpec {
    static SPEC: OnceLock<SessionSpec> = OnceLock::new();
    SPEC.get_or_init(|| {
        let environment = Environment {
            // Noon of 15 November 2023.
            began: 1_700_049_600,
            // Tests may run under Wine.
            wine: None,
            ..Environment::capture(vec!["transect".to_owned(), "lab".to_owned()])
        };
        SessionSpec {
            environment,
            seed: 7,
            limit: 5,
            floor: Some("floor".to_owned()),
            ..SessionSpec::new("quick", Vec::new(), Vec::new(), "base")
        }
    })
}

/// Makes all cells methods of this program.
pub(crate) fn own(data: &mut SessionData) {
    data.spec.cells.iter_mut().for_each(|cell| cell.kind = ENGINE.to_owned());
}

/// Marks the first so many samples of a session as disturbed, the others as quiet.
pub(crate) fn disturb(data: &mut SessionData, samples: usize) {
    for (at, sample) in data.samples.iter_mut().enumerate() {
        let Outcome::Right { beside, .. } = &mut sample.outcome else { continue };
        let disturbed = if at < samples { vec![Disturbance::Foreign] } else { Vec::new() };
        *beside = Some(Box::new(Beside { disturbed, ..Beside::default() }));
    }
}

pub(crate) fn change(
    data: &mut SessionData,
    cell: &str,
    change: impl Fn(&mut Vec<RunLine>, &mut Usage),
) {
    for sample in data.samples.iter_mut().filter(|sample| sample.cell == cell) {
        let Outcome::Right { runs, usage, .. } = &mut sample.outcome else { continue };
        change(runs, usage);
    }
}

pub(crate) fn report_cpu(data: &mut SessionData, cell: &str, cpu_ns: u64) {
    change(data, cell, |runs, _| runs.iter_mut().for_each(|run| run.cpu_ns = Some(cpu_ns)));
}

/// Adds the start-up of a cell in the first cache state: three equal starts.
pub(crate) fn start_up(data: &mut SessionData, cell: &str, wall_ns: u64, cpu_ns: u64) {
    let (times_ns, cpu_ns) = (vec![wall_ns; 3], vec![cpu_ns; 3]);
    let (cell, read_bytes) = (cell.to_owned(), Vec::new());
    data.started.push(Started { cell, cache_state: 0, times_ns, cpu_ns, read_bytes });
}

/// Returns a session with a cell for each of [`NAMES`], one wrong cell, and a second dataset with a hostile
/// name and no samples.
pub(crate) fn data() -> SessionData {
    let cells = ["base", "base (again)", "floor", "wrong"];
    let times: Vec<(&str, u64)> =
        cells.into_iter().chain(NAMES.iter().copied()).map(|name| (name, 1000)).collect();
    let mut data = with(&times, 1);
    for sample in &mut data.samples {
        if sample.cell == "wrong" {
            sample.outcome = Outcome::Wrong { found: "\"2\", not 3".to_owned() };
        }
    }
    let mut second = data.spec.datasets[0].clone();
    second.name = NAMES[0].to_owned();
    data.spec.datasets.push(second);
    data
}
