use super::*;
use crate::experiments::transform::{Digests, Kind, Rules, SyncRule};
use crate::fixtures::with;
use crate::harness::cache_state::State;
use crate::harness::environment::{Environment, FileSystem};
use crate::harness::launch::Usage;
use crate::harness::log::{FileEvidence, Outcome, SessionData};
use crate::harness::protocol::RunLine;
use transect_program::profile::Profile;
use transect_transform::pass::{IoMethod, Load, SizeClass};

const MIB: u64 = 1 << 20;

/// Returns a session of copies of 64 MiB; each cell is its name, milliseconds, and milliseconds waited.
fn session(cells: &[(&str, u64, u64)], rounds: usize) -> SessionData {
    let times: Vec<(&str, u64)> = cells.iter().map(|&(name, time, _)| (name, time)).collect();
    let mut data = with(&times, rounds);
    let spec = &mut data.spec;
    spec.transform = Some(Rules { kind: Kind::Copy, sync: SyncRule::None });
    spec.base = "buffered".to_owned();
    spec.second_base = "buffered (again)".to_owned();
    spec.floor = Some("floor-read-write".to_owned());
    spec.datasets[0].expected.bytes = 64 * MIB;
    let digests = Digests { input: String::new(), output: String::new() };
    spec.datasets[0].digests = Some(digests);
    for cell in &mut spec.cells {
        let is_floor = cell.name.starts_with("floor-");
        cell.kind = if is_floor { "floor" } else { "engine" }.to_owned();
        cell.method = cell.name.replace(" (again)", "");
        cell.floors = (cell.name == "kernel-copy").then(Vec::new);
    }
    for sample in &mut data.samples {
        let &(_, time, waited) = cells.iter().find(|cell| cell.0 == sample.cell).unwrap();
        // A little noise, different in every cell.
        let noise = (sample.round as u64 * 7 + time * 3) % 5;
        let took = time * 1_000_000 + noise * 1000;
        let Outcome::Right { runs, usage, files, .. } = &mut sample.outcome else {
            unreachable!("all are right");
        };
        let work = runs[0].work;
        *runs = vec![RunLine::new(work, took)];
        let worked = took - waited * 1_000_000;
        *usage = Usage { wall_ns: took, user_ns: 0, system_ns: worked, ..*usage };
        *files = Some(Box::new(FileEvidence {
            bytes: 64 * MIB,
            resident: Some(64 * MIB),
            written: Some(64 * MIB),
            unwritten: Some(64 * MIB),
            primed: Some(*usage),
        }));
    }
    data
}

fn explained(data: &SessionData) -> Explanation {
    explain(data).unwrap().remove(0)
}

const FLOORS: [(&str, u64, u64); 3] =
    [("floor-read", 5, 0), ("floor-write", 30, 0), ("floor-read-write", 35, 0)];

fn beside(methods: &[(&'static str, u64, u64)], rounds: usize) -> Explanation {
    explained(&session(&[&FLOORS, methods].concat(), rounds))
}

const BASE: [(&str, u64, u64); 2] = [("buffered", 40, 0), ("buffered (again)", 40, 0)];

#[test]
fn write_floor_beyond_copying_is_new_pages() {
    let explained = beside(&BASE, 12);
    let fastest = explained.fastest.unwrap();
    assert_eq!((fastest.cell.as_str(), fastest.limit), ("buffered", Some(Bottleneck::Pages)));
    let share = |what: Bottleneck| {
        let part = fastest.parts.iter().find(|part| part.what == what);
        part.unwrap().share.median
    };
    // 5 ms copying out, 5 ms copying in, 25 ms new pages, 5 ms of its own.
    for (what, of_40) in
        [(Bottleneck::Copy, 10.0), (Bottleneck::Pages, 25.0), (Bottleneck::Method, 5.0)]
    {
        assert!((share(what) - of_40 / 40.0).abs() < 0.005, "{what:?}: {}", share(what));
    }
    assert!(share(Bottleneck::Others) < 1e-6 && share(Bottleneck::Calls) < 1e-6);
}

#[test]
fn time_off_cpu_is_waiting() {
    let waiting = [("buffered", 100, 80), ("buffered (again)", 100, 80)];
    let mut session = session(&[&FLOORS[..], &waiting].concat(), 12);
    assert_eq!(explained(&session).fastest.unwrap().limit, Some(Bottleneck::Others));
    // If the output is synced, it waits for the device.
    session.spec.transform = Some(Rules { kind: Kind::Copy, sync: SyncRule::Inside });
    assert_eq!(explained(&session).fastest.unwrap().limit, Some(Bottleneck::Device));
}

#[test]
fn extra_time_of_small_blocks_is_calls() {
    let blocks = [("buffered,block=1K", 39, 0), ("buffered,block=2K", 38, 0)];
    let slow = [("buffered", 90, 0), ("buffered (again)", 90, 0)];
    let explained = beside(&[&blocks[..], &slow].concat(), 12);
    let fastest = explained.fastest.unwrap();
    assert_eq!(fastest.cell, "buffered,block=2K");
    let calls = fastest.parts.iter().find(|part| part.what == Bottleneck::Calls).unwrap();
    // The 65,536 additional calls take 1 ms, and as many remain.
    assert!((calls.share.median - 1.0 / 38.0).abs() < 0.005, "{calls:?}");
}

#[test]
fn bottleneck_undecided_without_evidence() {
    let why = |explained: Explanation| explained.fastest.unwrap().undecided.unwrap();
    assert_eq!(why(beside(&BASE, 3)), "fewer than 5 rounds decide nothing");
    let noisy = [("buffered", 40, 0), ("buffered (again)", 60, 0)];
    assert!(why(beside(&noisy, 12)).starts_with("the base differs from itself"));
    let alone = explained(&session(&BASE, 12));
    assert_eq!(why(alone), "the floors did not run in its rounds");
    // In some rounds waiting takes longer than pages, in others less.
    let both = [("buffered", 70, 20), ("buffered (again)", 70, 20)];
    let mut session = session(&[&FLOORS[..], &both].concat(), 12);
    for sample in session.samples.iter_mut().filter(|sample| sample.round % 2 == 0) {
        if let ("buffered", Outcome::Right { usage, .. }) = (&*sample.cell, &mut sample.outcome) {
            usage.system_ns -= 20_000_000;
        }
    }
    let why = why(explained(&session));
    assert!(why.ends_with("the rounds do not show which is larger"), "{why}");
}

fn choice(methods: &[(&'static str, u64, u64)], rounds: usize) -> MethodChoice {
    beside(&[&BASE, methods].concat(), rounds).choice
}

#[test]
fn faster_and_confirmed_method_preferred() {
    let MethodChoice { load, size, by_default, chosen } =
        choice(&[("kernel-copy", 50, 0), ("buffered,block=1M", 30, 0)], 12);
    assert_eq!((load, size), (Load::Copy, Some(SizeClass::Large)));
    assert_eq!(by_default, IoMethod::KernelCopy);
    let Chosen::Preferred { method, block, evidence } = chosen else { panic!("{chosen:?}") };
    assert_eq!((method, block), (IoMethod::Buffered, Some(1 << 20)));
    assert_eq!((evidence.ratios.n, evidence.confirmed.n), (12, 6));
    assert!(evidence.ratios.high < 1.0 && evidence.confirmed.high < 1.0);
}

#[test]
fn slower_or_equal_methods_keep_default() {
    let slower = choice(&[("kernel-copy", 20, 0), ("buffered,block=1M", 30, 0)], 12);
    assert_eq!(slower.chosen, Chosen::Default);
}

#[test]
fn choice_undecided_without_evidence() {
    let faster = [("kernel-copy", 50, 0), ("buffered,block=1M", 30, 0)];
    let reason = |choice: MethodChoice| match choice.chosen {
        Chosen::Undecided { reason } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(choice(&faster, 8)), "choosing and confirming takes 10 rounds, not 8");
    assert!(reason(choice(&[], 12)).ends_with("did not run: kernel-copy"));

    // Faster in the rounds that choose, but not in those that confirm.
    let mut session = session(&[&FLOORS[..], &BASE, &faster].concat(), 24);
    for sample in &mut session.samples {
        let is_lucky = sample.round % 2 == 0 && sample.cell == "buffered,block=1M";
        if let (true, Outcome::Right { runs, .. }) = (is_lucky, &mut sample.outcome) {
            runs[0].elapsed_ns /= 10;
        }
        let is_unlucky = sample.round % 2 == 1 && sample.cell == "buffered,block=1M";
        if let (true, Outcome::Right { runs, .. }) = (is_unlucky, &mut sample.outcome) {
            runs[0].elapsed_ns *= 2;
        }
    }
    let why = reason(explained(&session).choice);
    assert!(why.contains("slower in the rounds that did not choose it"), "{why}");

    // Other processes use the processor.
    let crowd = [("floor-memory", 40, 30)];
    let crowded = beside(&[&BASE[..], &faster, &crowd].concat(), 12);
    let why = reason(crowded.choice);
    assert_eq!(why, "other processes used the processor for 75 % of the time of a copy in memory");

    session.spec.cache_states = vec![State::AsIs];
    assert!(reason(explained(&session).choice).starts_with("it is unknown"));
}

#[test]
fn decisions_applied_replace_earlier_decision() {
    let decided = |methods: &[(&'static str, u64, u64)]| {
        let session = session(&[&FLOORS[..], &BASE, methods].concat(), 12);
        decisions(&session, &explain(&session).unwrap())
    };
    let faster = decided(&[("kernel-copy", 50, 0), ("buffered,block=1M", 30, 0)]);
    let setting = faster[0].setting.clone().unwrap();
    assert_eq!((setting.method, setting.block), (IoMethod::Buffered, Some(1 << 20)));
    assert_eq!((setting.bytes.as_slice(), setting.evidence.len()), (&[64 * MIB][..], 1));
    assert_eq!(setting.by_default, IoMethod::KernelCopy);

    let file_system = crate::tune::stored(&FileSystem::default());
    let environment = crate::tune::stored(&Environment::capture(Vec::new()));
    let mut profile = Profile::new("x".to_owned(), file_system, "here".into(), environment);
    assert!(!profile.has_walks());
    apply(faster.clone(), &mut profile);
    apply(faster, &mut profile);
    assert_eq!(profile.passes, [setting]);
    // An undecided session changes nothing; another decision does.
    apply(decided(&[]), &mut profile);
    assert_eq!(profile.passes.len(), 1);
    apply(decided(&[("kernel-copy", 20, 0), ("buffered,block=1M", 30, 0)]), &mut profile);
    assert_eq!(profile.passes, []);
}

#[test]
fn inputs_of_one_size_class_have_to_agree() {
    let faster = [("kernel-copy", 50, 0), ("buffered,block=1M", 30, 0)];
    let mut session = session(&[&FLOORS[..], &BASE, &faster].concat(), 12);
    let twice: Vec<_> = session.samples.clone();
    session.spec.datasets.push(session.spec.datasets[0].clone());
    session.samples.extend(twice.into_iter().map(|mut sample| {
        sample.dataset = 1;
        sample
    }));
    let decided = |session: &SessionData| decisions(session, &explain(session).unwrap());
    let both = decided(&session);
    assert_eq!(both[0].setting.as_ref().unwrap().evidence.len(), 2);
    for sample in &mut session.samples {
        let is_it = sample.dataset == 1 && sample.cell == "buffered,block=1M";
        if let (true, Outcome::Right { runs, .. }) = (is_it, &mut sample.outcome) {
            runs[0].elapsed_ns *= 5;
        }
    }
    assert_eq!(decided(&session), []);
}

#[test]
fn explain_walk_session_is_none() {
    assert!(explain(&with(&[("base", 1000)], 12)).is_none());
}
