//! Tests of whole sessions, with correct and with faulty contenders.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use transect::Cancel;
use transect_lab::experiments::method::Origin;
use transect_lab::experiments::walk::measure::{WalkExperiment, dataset};
use transect_lab::experiments::walk::method::{Method, cells};
use transect_lab::harness::cache_state::State;
use transect_lab::harness::experiment::{Job, Launcher, Measure};
use transect_lab::harness::interference::{Beside, Disturbance};
use transect_lab::harness::launch::{Failure, Usage};
use transect_lab::harness::log::End;
use transect_lab::harness::log::{Ended, Outcome, Sample, Session};
use transect_lab::harness::protocol::RunLine;
use transect_lab::ranking::stopping;
use transect_lab::rivals::contender::Contender;
use transect_lab::spec::SessionSpec;
use transect_testkit::TempDir;

const RIGHT: &str = r#"{"files":2,"directories":2,"bytes":7,"errors":0,"elapsed_ns":1000}"#;

/// A folder of contenders, each a shell script.
fn contenders(folder: &Path, scripts: &[(&str, &str)]) {
    for (name, script) in scripts {
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("walk.sh"), script).unwrap();
        let text = format!(
            "name = '{name}'\nlanguage = 'shell'\nabout = 'a test'\nneeds = ['sh']\ninstall = ''\n\
             build = [['cp', 'walk.sh', '{{out}}/walk']]\n\
             run = ['sh', '{{out}}/walk', '{{method}}', '{{root}}', '{{runs}}']\n\
             [[method]]\nname = '{name}'\nabout = 'a test'\n"
        );
        std::fs::write(folder.join("contender.toml"), text).unwrap();
    }
}

struct Lab {
    temp: TempDir,
    methods: Vec<Method>,
    launcher: Launcher,
}

impl Lab {
    /// Creates a tree of two files and seven bytes, and builds the contenders.
    fn new(scripts: &[(&str, &str)]) -> Self {
        let temp = TempDir::new();
        std::fs::create_dir_all(temp.join("tree/below")).unwrap();
        std::fs::write(temp.join("tree/a"), "1234").unwrap();
        std::fs::write(temp.join("tree/below/b"), "123").unwrap();
        contenders(&temp.join("contenders"), scripts);
        let (all, wrong) = Contender::load_all(&temp.join("contenders"), false);
        assert!(wrong.is_empty(), "{wrong:?}");
        let (mut methods, _) = Method::all(&all);
        methods.retain(|method| matches!(method.origin, Origin::Contender(_)));
        let mut built = BTreeMap::new();
        for method in &methods {
            let Origin::Contender(contender) = &method.origin else { unreachable!() };
            built.insert(contender.name.clone(), contender.build(&temp.join("built")).unwrap());
        }
        // The reported times are invented, so other processes cannot disturb them.
        let disturbable = false;
        let launcher = Launcher { program: PathBuf::from("/nowhere"), built, disturbable };
        Self { temp, methods, launcher }
    }

    fn spec(&self, rounds: usize) -> SessionSpec {
        let root = self.temp.join("tree");
        let methods: Vec<&Method> = self.methods.iter().collect();
        let base = self.methods[0].name.clone();
        let datasets = vec![dataset("tree".to_owned(), root)];
        SessionSpec {
            cache_states: vec![State::AsIs],
            rounds,
            seed: 7,
            // Far more than a shell needs, even on a slow machine.
            limit: 1200,
            ..SessionSpec::new("test", datasets, cells(&methods, &base), &base)
        }
    }

    fn file(&self) -> PathBuf {
        self.temp.join("session.jsonl")
    }

    fn run(&self, session: &mut Session) -> usize {
        let mut told = 0;
        let mut count = |_: &Sample, _: usize| told += 1;
        session
            .run(
                &mut WalkExperiment::new(&self.methods, &self.launcher),
                &stopping::end,
                &Cancel::new(),
                &mut count,
            )
            .unwrap();
        told
    }
}

fn outcomes(session: &Session, cell: &str) -> Vec<Outcome> {
    let of = session.data().samples.iter().filter(|sample| sample.cell == cell);
    of.map(|sample| sample.outcome.clone()).collect()
}

/// Returns a script that reports the correct counts and this time.
fn says(elapsed_ns: &str) -> String {
    format!("echo '{}'", RIGHT.replace("1000", elapsed_ns))
}

#[test]
fn faulty_methods_run_once_and_are_never_ranked() {
    let right = format!("echo '{RIGHT}'");
    let drops = "echo '{\"files\":1,\"directories\":2,\"bytes\":7,\"errors\":0,\"elapsed_ns\":1}'";
    let lab = Lab::new(&[
        ("a-right", &right),
        ("drops-the-last", drops),
        ("prints-garbage", "echo 42 files"),
        ("dies", "kill -SEGV $$"),
        ("clock-too-fast", &says("999999999999999999")),
        ("clock-stands", &says("0")),
        ("clock-backwards", &says("-5")),
        ("says-nothing", "true"),
        ("says-too-much", &format!("{right}; {right}")),
    ]);
    let mut session = Session::begin(lab.spec(3), &lab.file()).unwrap();
    // Two correct cells in each of three rounds; each of the eight others once.
    assert_eq!(lab.run(&mut session), 2 * 3 + 8);
    assert_eq!(session.left(), 0);
    for cell in ["a-right", "a-right (again)"] {
        let right = outcomes(&session, cell);
        assert_eq!(right.len(), 3, "{cell}");
        assert!(right.iter().all(|outcome| matches!(outcome, Outcome::Right { .. })), "{right:?}");
    }
    let only = |cell: &str| {
        let mut outcomes = outcomes(&session, cell);
        assert_eq!(outcomes.len(), 1, "{cell}");
        outcomes.remove(0)
    };
    let found = "1 files, 2 directories, 7 bytes, 0 errors".to_owned();
    assert_eq!(only("drops-the-last"), Outcome::Wrong { found });
    assert!(matches!(only("prints-garbage"), Outcome::Failed(Failure::ProtocolError { .. })));
    assert!(matches!(only("dies"), Outcome::Failed(Failure::Died { .. })));
    for cell in ["clock-too-fast", "clock-stands"] {
        assert!(matches!(only(cell), Outcome::Failed(Failure::Clock { .. })), "{cell}");
    }
    assert!(matches!(only("clock-backwards"), Outcome::Failed(Failure::ProtocolError { .. })));
    for cell in ["says-nothing", "says-too-much"] {
        assert!(matches!(only(cell), Outcome::Failed(Failure::WrongNumber { .. })), "{cell}");
    }
    // The file contains the same data.
    assert_eq!(Session::read(&lab.file()).unwrap(), *session.data());
}

#[test]
fn hanging_method_killed_at_limit_and_never_ranked() {
    let lab = Lab::new(&[("hangs", "sleep 1000000")]);
    let mut session = Session::begin(SessionSpec { limit: 1, ..lab.spec(3) }, &lab.file()).unwrap();
    // The method has both cells of the base; each runs once.
    assert_eq!(lab.run(&mut session), 2);
    assert_eq!(session.left(), 0);
    for cell in ["hangs", "hangs (again)"] {
        let hung = Outcome::Failed(Failure::TimedOut { seconds: 1 });
        assert_eq!(outcomes(&session, cell), [hung], "{cell}");
    }
}

#[test]
fn killed_session_resumes_without_losing_samples() {
    let lab = Lab::new(&[("a", &format!("echo '{RIGHT}'")), ("b", &format!("echo '{RIGHT}'"))]);
    let mut whole = Session::begin(lab.spec(4), &lab.file()).unwrap();
    assert_eq!(lab.run(&mut whole), 12);
    let text = std::fs::read(lab.file()).unwrap();
    let cells = |session: &Session| {
        session.data().samples.iter().map(|s| (s.round, s.cell.clone())).collect::<Vec<_>>()
    };
    let first = text.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    // Killed anywhere after the first line: within a line, or between two.
    for kept in (first..=text.len()).step_by(97).chain([first, text.len() - 1, text.len()]) {
        std::fs::write(lab.file(), &text[..kept]).unwrap();
        let mut session = Session::resume(&lab.file()).unwrap();
        let kept_samples = text[first..kept].iter().filter(|&&byte| byte == b'\n').count();
        assert_eq!(session.data().samples.len(), kept_samples, "{kept}");
        assert_eq!(lab.run(&mut session), 12 - kept_samples, "{kept}");
        // The cells and their order are those of an uninterrupted session.
        assert_eq!(cells(&session), cells(&whole), "{kept}");
        let read = Session::read(&lab.file()).unwrap();
        assert_eq!(read.spec, whole.data().spec, "{kept}");
        assert_eq!(read.samples.len(), 12, "{kept}");
    }
}

#[test]
fn rounds_added_until_enough_and_reason_logged() {
    let right = format!("echo '{RIGHT}'");
    let lab = Lab::new(&[("a", &right), ("b", &says("2000"))]);
    let begin = |spec: SessionSpec| {
        let _ = std::fs::remove_file(lab.file());
        Session::begin(spec, &lab.file()).unwrap()
    };
    let ended = |session: &Session| Session::read(session.file()).unwrap().ended;

    // Constant times are precise enough after the minimum of rounds.
    let mut session = begin(SessionSpec { max_time: Some(3600), ..lab.spec(2) });
    assert_eq!(lab.run(&mut session), 3 * 5);
    assert_eq!(ended(&session), Some(Ended { rounds: 5, by: End::Precision }));
    // Killed before the end was logged, or in a later round: the result is the same.
    let text = std::fs::read_to_string(lab.file()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for kept in [lines.len() - 1, lines.len() - 2, 1 + 3 * 3 + 1] {
        std::fs::write(lab.file(), lines[..kept].concat()).unwrap();
        let mut session = Session::resume(&lab.file()).unwrap();
        assert_eq!(lab.run(&mut session), lines.len() - 1 - kept, "{kept}");
        assert_eq!(ended(&session), Some(Ended { rounds: 5, by: End::Precision }), "{kept}");
        assert_eq!(lab.run(&mut session), 0, "it is over");
    }

    // Without remaining methods, the session ends.
    let dies = Lab::new(&[("a", "exit 1")]);
    let mut session =
        Session::begin(SessionSpec { max_time: Some(3600), ..dies.spec(1) }, &dies.file()).unwrap();
    assert_eq!(dies.run(&mut session), 2);
    assert_eq!(ended(&session), Some(Ended { rounds: 5, by: End::Precision }));

    let mut session = begin(SessionSpec { max_time: Some(0), ..lab.spec(2) });
    assert_eq!(lab.run(&mut session), 3 * 2, "two rounds, whatever they take");
    assert_eq!(ended(&session), Some(Ended { rounds: 2, by: End::Time }));
    let mut session = begin(lab.spec(2));
    lab.run(&mut session);
    assert_eq!(ended(&session), None, "nothing was open");
}

#[test]
fn session_of_older_version_readable() {
    let lab = Lab::new(&[("a", &format!("echo '{RIGHT}'"))]);
    let mut session = Session::begin(lab.spec(2), &lab.file()).unwrap();
    lab.run(&mut session);
    /// Removes the keys that older versions did not write.
    fn strip(value: &mut serde_json::Value) {
        if let Some(object) = value.as_object_mut() {
            let new =
                ["took_ns", "repeated", "beside", "machine", "tools", "commit", "device", "source"];
            object.retain(|key, _| !new.contains(&key.as_str()));
            object.values_mut().for_each(strip);
        }
        value.as_array_mut().into_iter().flatten().for_each(strip);
    }
    let text = std::fs::read_to_string(lab.file()).unwrap();
    let old = text.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        strip(&mut line);
        format!("{line}\n")
    });
    std::fs::write(lab.file(), old.collect::<String>()).unwrap();
    let read = Session::read(&lab.file()).unwrap();
    assert_eq!(read.samples.len(), 4);
    assert!(read.samples.iter().all(|sample| sample.took_ns.is_none()));
    let ranking = &transect_lab::ranking::rank(&read)[0];
    assert_eq!((ranking.rows.len(), ranking.disturbed, ranking.harness), (2, 0, None));
}

/// Disturbs this number of runs, from the first.
struct DisturbedRuns(usize);

impl Measure for DisturbedRuns {
    fn measure(&mut self, job: &Job<'_>) -> Result<Outcome, String> {
        let disturbed = if self.0 > 0 { vec![Disturbance::Foreign] } else { vec![] };
        self.0 = self.0.saturating_sub(1);
        let work = job.dataset.expected;
        Ok(Outcome::Right {
            runs: vec![RunLine::new(work, 1000)],
            usage: Usage { wall_ns: 2000, ..Usage::default() },
            read_kib: None,
            beside: Some(Box::new(Beside { disturbed, ..Beside::default() })),
            files: None,
        })
    }
}

#[test]
fn disturbed_sample_repeated_until_machine_stays_busy() {
    let lab = Lab::new(&[("a", "true"), ("b", "true")]);
    for (runs, expected) in [
        (0, vec![(0, false), (0, false), (0, false)]),
        (2, vec![(2, false), (0, false), (0, false)]),
        // The first sample stays disturbed after all repetitions, so the second is not repeated.
        (5, vec![(3, true), (0, true), (0, false)]),
        (100, vec![(3, true), (0, true), (0, true)]),
    ] {
        let _ = std::fs::remove_file(lab.file());
        let mut session = Session::begin(lab.spec(1), &lab.file()).unwrap();
        session
            .run(&mut DisturbedRuns(runs), &stopping::end, &Cancel::new(), &mut |_, _| {})
            .unwrap();
        let kept = Session::read(&lab.file()).unwrap().samples;
        let kept: Vec<(usize, bool)> =
            kept.iter().map(|it| (it.repeated, !it.outcome.disturbed().is_empty())).collect();
        assert_eq!(kept, expected, "{runs}");
    }
}

/// A repetition would find what the disturbed run left, not what the state before left.
#[test]
fn disturbed_sample_as_is_after_other_state_kept() {
    let lab = Lab::new(&[("a", "true")]);
    let spec = SessionSpec { cache_states: vec![State::AsIs, State::Warm], ..lab.spec(1) };
    let mut session = Session::begin(spec, &lab.file()).unwrap();
    session.run(&mut DisturbedRuns(1), &stopping::end, &Cancel::new(), &mut |_, _| {}).unwrap();
    let first = &session.data().samples[0];
    assert_eq!((first.repeated, first.outcome.disturbed().len()), (0, 1));
}

#[test]
fn session_refuses_existing_and_foreign_files() {
    let lab = Lab::new(&[("a", "true")]);
    std::fs::write(lab.file(), "precious\n").unwrap();
    let told = Session::begin(lab.spec(1), &lab.file()).unwrap_err().to_string();
    assert!(told.starts_with("cannot create '"), "{told}");
    let told = Session::resume(&lab.file()).unwrap_err().to_string();
    assert!(told.contains("is not a session of the lab: line 1"), "{told}");
    assert_eq!(std::fs::read_to_string(lab.file()).unwrap(), "precious\n");
    std::fs::write(lab.file(), "").unwrap();
    assert!(Session::resume(&lab.file()).is_err());
    assert!(Session::resume(&lab.temp.join("missing")).is_err());
}

#[test]
fn order_differs_between_rounds_and_is_fixed_by_seed() {
    let right = format!("echo '{RIGHT}'");
    let names = ["m0", "m1", "m2", "m3", "m4", "m5"];
    let lab = Lab::new(&names.map(|name| (name, right.as_str())));
    let run = |file: &str| {
        let mut session = Session::begin(lab.spec(4), &lab.temp.join(file)).unwrap();
        lab.run(&mut session);
        session.data().samples.iter().map(|sample| sample.cell.clone()).collect::<Vec<_>>()
    };
    let (first, second) = (run("1"), run("2"));
    assert_eq!(first, second);
    let rounds: HashSet<&[String]> = first.chunks(7).collect();
    assert!(rounds.len() > 1, "every round in the same order");
}

#[test]
fn failed_contender_build_reports_reason_and_leaves_nothing() {
    let temp = TempDir::new();
    contenders(&temp.join("contenders"), &[("a", "true")]);
    let toml = temp.join("contenders/a/contender.toml");
    let text = std::fs::read_to_string(&toml).unwrap();
    let text = text.replace("['cp', 'walk.sh'", "['sh', '-c', 'echo wrong here >&2; exit 1'");
    std::fs::write(&toml, text).unwrap();
    let (all, _) = Contender::load_all(&temp.join("contenders"), false);
    let told = all[0].build(&temp.join("built")).unwrap_err();
    assert!(told.contains("wrong here"), "{told}");
    // The folder is empty: no final and no temporary output.
    assert!(std::fs::remove_dir(temp.join("built")).is_ok());
}

#[test]
fn invalid_manifest_reported_and_other_contenders_loaded() {
    let temp = TempDir::new();
    contenders(&temp.join("contenders"), &[("a", "true"), ("b", "true")]);
    std::fs::write(temp.join("contenders/a/contender.toml"), "name = 7").unwrap();
    let (all, wrong) = Contender::load_all(&temp.join("contenders"), false);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(all.iter().any(|contender| contender.name == "b"));
}
