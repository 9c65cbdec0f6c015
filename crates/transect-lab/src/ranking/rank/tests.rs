//! Tests of the ranking.

use super::*;
use crate::fixtures::{change, disturb, own, report_cpu, start_up, with};
use crate::harness::accesses::Accesses;
use crate::harness::account::Account;
use crate::harness::log::{Counted, FileEvidence};
use crate::spec::attributes::{Asked, Scale, Task};
use transect_stats::Verdict;

/// A session in which cells leave this many bytes of 1 MiB unwritten.
fn leaving(cells: &[(&str, Option<u64>)]) -> SessionData {
    let times: Vec<(&str, u64)> = cells.iter().map(|(name, _)| (*name, 1000)).collect();
    let mut data = with(&times, 6);
    for sample in &mut data.samples {
        let (_, unwritten) = cells.iter().find(|(name, _)| *name == sample.cell).unwrap();
        let Outcome::Right { files, .. } = &mut sample.outcome else { continue };
        let primed = None;
        let (bytes, written) = (1 << 20, Some(1 << 20));
        let unwritten = *unwritten;
        *files = Some(Box::new(FileEvidence { bytes, resident: None, written, unwritten, primed }));
    }
    data
}

fn names(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| row.cell.name.as_str()).collect()
}

#[test]
fn rank_cells_that_leave_nothing_unwritten_apart() {
    let all = Some(1 << 20);
    let cells =
        [("base", all), ("base (again)", all), ("some", Some(20_000)), ("direct", Some(4096))];
    let ranking = &rank(&leaving(&cells))[0];
    assert_eq!(names(&ranking.rows), ["base", "base (again)", "some"]);
    assert_eq!(names(&ranking.apart), ["direct"]);
    let direct = &ranking.apart[0];
    assert!(direct.to_base.is_none() && direct.to_floor.is_none() && direct.judgement.is_none());
    assert_eq!(ranking.rows.iter().filter(|row| row.judgement.is_some()).count(), 1);
}

/// Once, the base took half the time of its "floor", which had fewer threads to wait with.
#[test]
fn cold_parallel_methods_measured_against_floor_with_as_many_threads() {
    let times = [("base", 500), ("base (again)", 500), ("cores", 1000), ("many", 400)];
    for (state, expected) in [(State::Cold, 1.25), (State::Warm, 0.5)] {
        let mut data = with(&times, 6);
        own(&mut data);
        data.spec.cache_states = vec![state];
        data.spec.parallel_floor = Some("cores".to_owned());
        data.spec.cold_floor = Some("many".to_owned());
        data.spec.cells.iter_mut().for_each(|cell| cell.parallel = true);
        let ranking = &rank(&data)[0];
        let found = row(ranking, "base").to_floor.as_ref().unwrap().median;
        assert!((found - expected).abs() < 0.01, "{state:?}: {found}");
        assert!(!data.spec.is_method("many"));
    }
}

/// On a small tree, false times are shorter than the noise of a start.
#[test]
fn time_shorter_than_possible_refused_after_one_round_warm_and_cold() {
    let times = [
        ("base", 1_050_000),
        ("base (again)", 1_050_000),
        ("floor", 1_000_000),
        ("honest", 1_300_000),
        ("false-clock", 15_000),
        ("outside", 60_000),
    ];
    for (state, rounds) in [(State::Warm, 6), (State::Cold, 6), (State::Warm, 1)] {
        let mut data = with(&times, rounds);
        data.spec.cache_states = vec![state];
        report_cpu(&mut data, "floor", 1_000_000);
        let ranking = &rank(&data)[0];
        assert_eq!(names(&ranking.rows), ["floor", "base", "base (again)", "honest"]);
        let refused: Vec<&str> = ranking.unranked.iter().map(|it| it.cell.as_str()).collect();
        assert_eq!(refused, ["false-clock", "outside"]);
        assert!(ranking.unranked.iter().all(|it| it.reason.starts_with("impossible: ")));
    }
}

#[test]
fn time_shorter_than_its_calls_refused_without_a_floor() {
    let times = [("base", 1_050_000), ("base (again)", 1_050_000), ("false-clock", 15_000)];
    let mut data = with(&times, 6);
    data.spec.environment.call_ns = Some(70);
    let accesses = Accesses { entries: 4, calls: 1600, ..Accesses::default() };
    for cell in ["base", "false-clock"] {
        data.counted.push(Counted { dataset: 0, cell: cell.to_owned(), accesses });
    }
    let ranking = &rank(&data)[0];
    assert_eq!(names(&ranking.rows), ["base", "base (again)"]);
    let reason = &ranking.unranked[0].reason;
    assert!(reason.starts_with("impossible: it claims 15 µs for 1600 system calls"), "{reason}");
}

/// On a busy machine, CPU times are ranked.
#[test]
fn cpu_time_shorter_than_possible_refused() {
    let cells = [("base", 1050), ("base (again)", 1050), ("floor", 1000), ("no-cpu", 100)];
    let ranking = &rank(&busy(&cells.map(|(name, cpu)| (name, Some(cpu)))))[0];
    assert_eq!(names(&ranking.rows), ["floor", "base", "base (again)"]);
}

#[test]
fn contender_without_digest_listed_apart() {
    let names_and_checks = [
        ("base", CheckedBy::Digest),
        ("base (again)", CheckedBy::Digest),
        ("proved", CheckedBy::Digest),
        ("sums", CheckedBy::Sums),
        ("program", CheckedBy::Sums),
    ];
    let mut data = with(&names_and_checks.map(|(name, _)| (name, 1000)), 6);
    for (cell, (_, checked)) in data.spec.cells.iter_mut().zip(names_and_checks) {
        cell.checked = Some(checked);
    }
    // Programs that do not know the protocol are timed from outside.
    data.spec.cells[4].command = Some(vec!["du".to_owned()]);
    let ranking = &rank(&data)[0];
    assert_eq!(names(&ranking.rows), ["base", "base (again)", "proved", "program"]);
    assert_eq!(names(&ranking.apart), ["sums"]);
    assert!(ranking.apart[0].judgement.is_none());
    // Where not even the base is checked by its digest, sums are all there is.
    data.spec.cells.iter_mut().for_each(|cell| cell.checked = Some(CheckedBy::Sums));
    assert!(rank(&data)[0].apart.is_empty());
}

#[test]
fn rank_together_if_all_synced_or_unknown() {
    for cells in [
        [
            ("base", Some(0)),
            ("base (again)", Some(0)),
            ("direct", Some(0)),
            ("late", Some(1 << 20)),
        ],
        [("base", None), ("base (again)", None), ("direct", Some(0)), ("other", None)],
    ] {
        let ranking = &rank(&leaving(&cells))[0];
        assert_eq!((ranking.rows.len(), ranking.apart.len()), (4, 0), "{cells:?}");
    }
}

/// A busy session. Cells report this CPU time, if any; all processes used 300 ns.
fn busy(cells: &[(&str, Option<u64>)]) -> SessionData {
    let times: Vec<(&str, u64)> = cells.iter().map(|(name, _)| (*name, 1000)).collect();
    let mut data = with(&times, 12);
    for (name, cpu) in cells {
        if let Some(cpu) = cpu {
            report_cpu(&mut data, name, *cpu);
        }
    }
    let samples = data.samples.len();
    disturb(&mut data, samples);
    data
}

fn row<'r>(ranking: &'r Ranking, name: &str) -> &'r Row {
    ranking.rows.iter().find(|row| row.cell.name == name).unwrap()
}

fn reason<'r>(ranking: &'r Ranking, name: &str) -> &'r str {
    &ranking.unranked.iter().find(|unranked| unranked.cell == name).unwrap().reason
}

/// A session in which `early` does its work before it starts its clock: 110 ms of CPU time, by its
/// process, and 17 µs reported. Its start takes 20 ms.
fn early() -> SessionData {
    let mut data = with(&[("base", 4_000_000), ("base (again)", 4_000_000), ("early", 17_000)], 12);
    change(&mut data, "early", |_, usage| {
        (usage.wall_ns, usage.user_ns) = (130_000_000, 130_000_000);
    });
    start_up(&mut data, "early", 20_000_000, 20_000_000);
    data
}

/// Returns why the clock or the cost of a cell is implausible, if it is.
fn implausible<'r>(ranking: &'r Ranking, cell: &str) -> Option<&'r str> {
    let unranked = ranking.unranked.iter().find(|unranked| unranked.cell == cell)?;
    unranked.reason.strip_prefix("implausible: ")
}

#[test]
fn implausible_clock_never_ranked_in_any_state_and_kind() {
    let attributes = || {
        let mut data = early();
        let scale = Scale { files: 1, search_dirs: 0, headers: 0 };
        let asked = Asked {
            task: Task::Article,
            questions: 1,
            made: 1,
            search_dirs: 0,
            probes: 0,
            changed: 0,
            scale,
            source: None,
        };
        data.spec.datasets[0].asked = Some(asked);
        data
    };
    let of_state = |state: State| {
        let mut data = early();
        data.spec.cache_states = vec![state];
        data
    };
    let mut busy = early();
    disturb(&mut busy, 36);
    for data in [early(), attributes(), of_state(State::Cold), of_state(State::AsIs), busy] {
        let ranking = &rank(&data)[0];
        assert_eq!(names(&ranking.rows), ["base", "base (again)"]);
        let reason = implausible(ranking, "early").unwrap();
        assert!(reason.starts_with("its runs report 17 µs, but its process used"), "{reason}");
    }
}

/// Sets what devices read for each process of a cell, and for its start.
fn read(data: &mut SessionData, cell: &str, process: u64, start: u64) {
    change(data, cell, |_, usage| {
        let account = Account { read_bytes: Some(process), ..Account::default() };
        usage.account = Some(account);
    });
    if data.started.iter().all(|started| started.cell != cell) {
        start_up(data, cell, 1000, 100);
    }
    let started = data.started.iter_mut().find(|started| started.cell == cell).unwrap();
    started.read_bytes = vec![start; 3];
}

/// A cold session in which `remembers` reads only its program, a larger one.
fn cold() -> SessionData {
    let mut data =
        with(&[("base", 1000), ("base (again)", 1000), ("floor", 900), ("remembers", 500)], 6);
    data.spec.cache_states = vec![State::Cold];
    for (cell, process, start) in [
        ("base", 13_000_000, 7_000_000),
        ("base (again)", 13_000_000, 7_000_000),
        ("floor", 7_000_000, 1_500_000),
        ("remembers", 24_800_000, 24_700_000),
    ] {
        read(&mut data, cell, process, start);
    }
    data
}

/// Its reads of its own program, and reads of others, once proved it cold.
#[test]
fn remembered_result_cold_is_implausible() {
    let ranking = &rank(&cold())[0];
    let reason = implausible(ranking, "remembers").unwrap();
    assert!(reason.starts_with("devices read 97.7 KiB for its process"), "{reason}");
    assert!(ranking.proved && ranking.unproved.is_empty());
}

#[test]
fn method_of_this_program_without_cold_reads_is_unproved() {
    let mut data = cold();
    data.spec.cells.iter_mut().find(|cell| cell.name == "remembers").unwrap().kind =
        "engine".to_owned();
    let ranking = &rank(&data)[0];
    assert!(ranking.unranked.is_empty() && !ranking.proved);
    assert_eq!(ranking.unproved, ["remembers"]);
}

/// Sessions of older versions know what each process read, and not what its start did.
#[test]
fn cold_without_reads_of_starts_is_unproved() {
    let mut data = cold();
    data.started.iter_mut().for_each(|started| started.read_bytes.clear());
    let ranking = &rank(&data)[0];
    assert!(!ranking.proved && ranking.unproved.len() == 4);
    assert!(ranking.unranked.is_empty());
}

/// Reads of others once made these samples void.
#[test]
fn warm_proved_although_others_read() {
    let mut data = with(&[("base", 1000), ("base (again)", 1000), ("other", 2000)], 6);
    for sample in &mut data.samples {
        let Outcome::Right { read_kib, .. } = &mut sample.outcome else { continue };
        *read_kib = Some(100_000);
    }
    assert_eq!(rank(&data)[0].unproved.len(), 3, "who read is unknown");
    for cell in ["base", "base (again)", "other"] {
        read(&mut data, cell, 0, 0);
    }
    assert!(rank(&data)[0].proved);
    read(&mut data, "other", 4096, 0);
    assert_eq!(rank(&data)[0].unproved, ["other"]);
}

/// A server does the work, which is not a child of the process.
#[test]
fn less_cpu_than_the_calls_need_is_implausible_in_any_state() {
    for state in [State::Warm, State::Cold, State::AsIs] {
        let times = ["base", "base (again)", "floor", "server"].map(|name| (name, 20_000_000));
        let mut data = with(&times, 6);
        data.spec.cache_states = vec![state];
        for (cell, cpu) in [("floor", 51_000_000), ("server", 20_500_000)] {
            change(&mut data, cell, |_, usage| (usage.user_ns, usage.system_ns) = (cpu, 0));
        }
        start_up(&mut data, "floor", 1_000_000, 1_000_000);
        start_up(&mut data, "server", 20_000_000, 20_000_000);
        let ranking = &rank(&data)[0];
        let reason = implausible(ranking, "server").unwrap();
        assert!(reason.starts_with("a run used 500 µs of CPU time"), "{reason}");
    }
}

/// `article-s1`: contenders walk eleven times in a process, and `find` once.
#[test]
fn cpu_of_one_run_compared_with_that_of_the_floor() {
    let times = ["base", "base (again)", "floor", "find"].map(|name| (name, 10_000_000));
    let mut data = with(&times, 6);
    for cell in ["base", "base (again)", "floor"] {
        change(&mut data, cell, |runs, usage| {
            let one = runs[0].clone();
            runs.resize(11, one);
            (usage.user_ns, usage.system_ns) = (101_000_000, 0);
        });
    }
    change(&mut data, "find", |_, usage| (usage.user_ns, usage.system_ns) = (11_000_000, 0));
    start_up(&mut data, "floor", 1_000_000, 1_000_000);
    start_up(&mut data, "find", 1_000_000, 1_000_000);
    let ranking = &rank(&data)[0];
    assert!(ranking.unranked.is_empty());
    change(&mut data, "find", |_, usage| (usage.user_ns, usage.system_ns) = (2_000_000, 0));
    assert!(implausible(&rank(&data)[0], "find").is_some());
}

#[test]
fn clock_of_unknown_start_not_judged() {
    let mut data = early();
    data.started.clear();
    let ranking = &rank(&data)[0];
    assert_eq!(names(&ranking.rows), ["early", "base", "base (again)"]);
}

#[test]
fn own_clocks_and_process_times_not_judged() {
    for kind in ["engine", "peer"] {
        let mut data = early();
        data.spec.cells.iter_mut().for_each(|cell| cell.kind = kind.to_owned());
        assert!(rank(&data)[0].unranked.is_empty(), "{kind}");
    }
    let mut whole = early();
    whole.spec.whole_processes = true;
    assert!(rank(&whole)[0].unranked.is_empty());
}

#[test]
fn implausible_base_and_floor_compare_nothing() {
    let mut data = early();
    (data.spec.base, data.spec.second_base) = ("early".to_owned(), "early (again)".to_owned());
    data.spec.floor = Some("early".to_owned());
    let ranking = &rank(&data)[0];
    assert!(implausible(ranking, "early").is_some());
    for row in &ranking.rows {
        assert!(row.to_base.is_none() && row.to_floor.is_none() && !row.below_the_floor);
    }
}

#[test]
fn busy_session_compares_cpu_of_one_run() {
    let cells = [
        ("base", Some(200)),
        ("base (again)", Some(200)),
        ("frugal", Some(100)),
        ("service", None),
    ];
    let mut data = busy(&cells);
    // What a process does before its run, such as filling a cache, does not count.
    change(&mut data, "frugal", |_, usage| usage.user_ns = 1_000_000);
    let ranking = &rank(&data)[0];
    assert_eq!((ranking.by, &ranking.uncompared), (Metric::Processor, &None));
    let frugal = row(ranking, "frugal");
    assert_eq!(frugal.to_base.unwrap().median, 0.5);
    assert_eq!(frugal.judgement.unwrap().verdict, Verdict::LessCpu);
    assert_eq!(row(ranking, "base").run_cpu_ns, Some(200.0));
    assert!(reason(ranking, "service").starts_with("CPU time of a run unknown: "));
}

#[test]
fn busy_session_peer_compared_by_cpu_beyond_its_start() {
    let mut data = busy(&[("base", Some(200)), ("base (again)", Some(200)), ("find", None)]);
    assert!(rank(&data)[0].uncompared.is_some(), "its start is unknown");
    start_up(&mut data, "find", 5000, 200);
    let ranking = &rank(&data)[0];
    assert_eq!(row(ranking, "find").to_base.unwrap().median, 0.5);
    // Eleven walks in a process, of which none reports its CPU time.
    change(&mut data, "find", |runs, _| *runs = vec![runs[0].clone(); 11]);
    assert!(rank(&data)[0].uncompared.is_some());
}

#[test]
fn busy_session_of_whole_processes_compares_their_cpu() {
    let mut data = busy(&[("base", None), ("base (again)", None), ("other", None)]);
    data.spec.whole_processes = true;
    change(&mut data, "other", |_, usage| usage.user_ns = 400);
    let ranking = &rank(&data)[0];
    let other = row(ranking, "other");
    assert_eq!((ranking.by, other.to_base.unwrap().median), (Metric::Processor, 2.0));
    assert_eq!(other.judgement.unwrap().verdict, Verdict::MoreCpu);
}

#[test]
fn busy_session_without_cpu_of_runs_compares_nothing() {
    let cells = [("slow", None), ("base", None), ("base (again)", None), ("floor", Some(100))];
    let mut data = busy(&cells);
    change(&mut data, "slow", |runs, _| runs[0].elapsed_ns *= 9);
    let ranking = &rank(&data)[0];
    assert!(ranking.uncompared.as_ref().unwrap().starts_with("other processes disturbed 48 of 48"));
    assert_eq!(ranking.by, Metric::Time);
    assert_eq!(names(&ranking.rows), ["slow", "base", "base (again)", "floor"], "not sorted");
    for row in &ranking.rows {
        assert!(row.to_base.is_none() && row.to_floor.is_none() && row.judgement.is_none());
    }
}
