//! The lab tests itself: how often its verdicts are false, how often it finds a true difference, and whether
//! it catches contenders that are wrong on purpose.
//!
//! ```text
//! one method under several names ─► sessions, really measured ─► rank
//! samples drawn with known noise ─► sessions ──────────────────► rank
//! contenders with planted faults ─► a session, warm and cold ──► rank
//! ```
//!
//! Everything is measured, ranked and judged by the code of all sessions. By default, the tests are small, and
//! no measured time decides whether they pass. With `TRANSECT_SELF_TEST=full` they have the sizes and the
//! targets of docs/LAB.md, and store their results.

#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a full self-test prints its results with --nocapture")]

mod equal;
mod faults;
mod made_up;
mod rate;
mod result;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use transect_lab::experiments::walk::preset::PRESETS;
use transect_lab::harness::cache_state::State;
use transect_lab::harness::log::SessionData;
use transect_testkit::loudly_skip;

use rate::{Length, VerdictRates};
use result::SelfTest;

/// The program that walks.
const PROGRAM: &str = env!("CARGO_BIN_EXE_transect-lab");

/// Fixed numbers of rounds, as of `--rounds`: they show what each finds.
const FIXED_ROUNDS: [usize; 4] = [12, 20, 30, 45];

/// Faults of caches and of CPU times. On a small tree, or beside other programs, the work that they hide is less
/// than the start of Python varies; `plausibility` has tests with known times.
const HIDDEN_ON_SMALL_TREES: [&str; 3] = ["wrong-remembers", "wrong-server", "wrong-no-cpu"];

/// Held while processes are measured: a session must not disturb another one.
static MEASURING: Mutex<()> = Mutex::new(());

/// Returns whether the tests have their full sizes and judge what they measure.
fn is_full() -> bool {
    std::env::var_os("TRANSECT_SELF_TEST").is_some_and(|size| size == "full")
}

/// A folder beside the built tests, on a real file system, which the test removes.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        Self::create(&format!("{name}-{}", std::process::id()))
    }

    /// Returns a new folder, or the one of an earlier run of the same kind that was stopped.
    fn create(name: &str) -> Self {
        let tests = Path::new(env!("CARGO_TARGET_TMPDIR")).canonicalize().expect("a folder");
        let folder = tests.join(format!("self-test-{name}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    /// Stores a full result beside the folder.
    fn store(&self, result: &SelfTest, name: &str) {
        let file = self.0.with_file_name(name);
        let text = serde_json::to_string_pretty(result).expect("JSON");
        std::fs::write(&file, text + "\n").expect("a file");
        println!("the result is '{}'", file.display());
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn verdicts_on_equal_methods_and_a_delayed_one_meet_targets() {
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let began = Instant::now();
    let (folder, sessions, files, max_time) = match is_full() {
        // An hour: what was measured before the test was stopped is not measured again.
        true => (Folder::create("verdicts"), 200, 2000, None),
        false => (Folder::new("verdicts"), 2, 100, Some(0)),
    };
    let measured = equal::measure(&folder.0, files, sessions, max_time);
    let verdicts = measured_rates(&measured);
    let samples = equal::measured(&measured);
    assert_eq!((measured.len(), samples.files), (sessions, files as u64));
    assert_eq!(samples.times_ns.len(), 6);
    assert!(samples.times_ns.values().all(|times| !times.is_empty()), "{samples:?}");
    if !is_full() {
        assert_eq!(samples.rounds, [12, 12]);
        let sessions: Vec<(usize, usize)> =
            verdicts.iter().map(|it| (it.rounds, it.found.sessions)).collect();
        assert_eq!(sessions, [(12, 2), (12, 2), (20, 1), (30, 0), (45, 0)]);
        assert_eq!(verdicts[0].mean_rounds, Some(12.0));
        return;
    }
    let mut result = SelfTest::new(began);
    result.measured = Some(samples);
    result.verdicts = verdicts;
    result.verdicts.extend(made_up::rates(&measured[0].spec, sessions));
    result.finish();
    folder.store(&result, "self-test.json");
    for rates in &result.verdicts {
        println!("{rates:?}");
        assert!(rates.passed, "{}, {} rounds", rates.source, rates.rounds);
    }
}

#[test]
fn planted_faults_caught_and_correct_methods_ranked() {
    if let Some(missing) = ["gcc", "python3"].into_iter().find(|program| !has(program)) {
        return loudly_skip("planted_faults", format_args!("needs {missing}"));
    }
    let _alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let (folder, began) = (Folder::new("faults"), Instant::now());
    let (states, files) = match is_full() {
        true => (&[State::Warm, State::Cold][..], 100_000),
        false => (&[State::Warm][..], 1000),
    };
    let mut result = SelfTest::new(began);
    for &state in states {
        let (faults, controls) = faults::run(&folder.0, state, files);
        assert_eq!((faults.len(), controls.len()), (13, 3));
        result.faults.extend(faults);
        result.controls.extend(controls);
    }
    result.finish();
    if is_full() {
        folder.store(&result, "self-test-faults.json");
    }
    for fault in &result.faults {
        let may_hide = !is_full() && HIDDEN_ON_SMALL_TREES.contains(&fault.method.as_str());
        assert!(fault.reason.is_some() && fault.caught || may_hide, "{fault:?}");
    }
    assert!(result.controls.iter().all(|control| control.ranked), "{:?}", result.controls);
}

/// Returns the rates of the measured sessions, and of fixed numbers of their rounds, which have no target for
/// the true difference.
fn measured_rates(sessions: &[SessionData]) -> Vec<VerdictRates> {
    let length = Length::UntilPrecise { min: PRESETS[0].rounds, max: usize::MAX };
    let as_measured = equal::rates_of("measured".to_owned(), length, sessions, true);
    let fixed = FIXED_ROUNDS.map(|rounds| equal::rates_of_fixed(sessions, rounds));
    std::iter::once(as_measured).chain(fixed).collect()
}

fn has(program: &str) -> bool {
    std::process::Command::new(program).arg("--version").output().is_ok()
}
