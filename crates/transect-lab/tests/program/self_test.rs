//! Tests of `transect lab self-test`.

use serde_json::Value;

use crate::harness::{TestEnv, skip};

/// Faults of clocks and caches. On a small tree, or beside other programs, the work that they hide is less
/// than the start of Python varies; `plausibility` has tests with known times.
const HIDDEN_ON_SMALL_TREES: [&str; 6] = [
    "wrong-early",
    "wrong-stops-early",
    "wrong-slow-clock",
    "wrong-remembers",
    "wrong-server",
    "wrong-no-cpu",
];

#[test]
fn self_test_catches_planted_faults_and_ranks_correct_methods() {
    let env = TestEnv::new();
    if let Some(missing) = ["gcc", "python3"].into_iter().find(|program| !env.has(program)) {
        return skip("planted faults", &format!("needs {missing}")).unwrap_or_default();
    }
    let args = ["self-test", "--part", "faults", "--state", "warm", "--files", "1000"];
    let output = env.lab(args.iter().chain(&["--json", "-o", "result.json"]));
    let result = output.json();
    assert_eq!(result["schema"], "transect.lab.self_test/2");
    let stored = std::fs::read_to_string(env.path("result.json")).expect("the stored result");
    assert_eq!(serde_json::from_str::<Value>(&stored).expect("an object"), result);

    let list = |key: &str| result[key].as_array().expect("a list").clone();
    let faults = list("faults");
    assert_eq!(faults.len(), 13);
    for fault in &faults {
        let name = fault["method"].as_str().expect("a name");
        let is_caught = fault["caught"] == true && fault["reason"].is_string();
        assert!(is_caught || HIDDEN_ON_SMALL_TREES.contains(&name), "{fault}");
    }
    let controls = list("controls");
    assert_eq!(controls.len(), 3);
    assert!(controls.iter().all(|control| control["ranked"] == true), "{controls:?}");

    let all_caught = faults.iter().all(|fault| fault["caught"] == true);
    assert_eq!(result["passed"], all_caught);
    let _ = output.exits(if all_caught { 0 } else { 1 });
}

#[test]
fn self_test_reports_rates_of_measured_sessions() {
    let env = TestEnv::new();
    let args = ["self-test", "--part", "verdicts", "--sessions", "2", "--max-time", "0s"];
    let output = env.lab(args.iter().chain(&["--files", "1000", "--json"]));
    let result = output.json();
    let measured = &result["measured"];
    assert_eq!((&measured["rounds"], &measured["files"]), (&vec![12, 12].into(), &100.into()));
    let times = measured["times_ns"].as_object().expect("times by cell");
    assert_eq!(times.len(), 6);
    assert!(times.values().all(|it| it.as_array().is_some_and(|it| !it.is_empty())), "{times:?}");
    let verdicts = result["verdicts"].as_array().expect("a list");
    let measured = verdicts.iter().filter(|rates| rates["source"] == "measured");
    let sessions: Vec<(u64, u64)> = measured
        .map(|it| (it["rounds"].as_u64(), it["found"]["sessions"].as_u64()))
        .map(|(rounds, sessions)| (rounds.expect("a number"), sessions.expect("a number")))
        .collect();
    assert_eq!(sessions, [(12, 2), (12, 2), (20, 1), (30, 0), (45, 0)]);
    assert_eq!(verdicts[0]["mean_rounds"], 12.0);
    assert!(verdicts.iter().any(|rates| rates["source"] == "made up, noise 2 %"));
}

#[test]
fn self_test_refuses_existing_file_before_it_measures() {
    let env = TestEnv::new();
    env.text("result.json", "precious\n");
    let refused = env.lab(["self-test", "-o", "result.json"]).exits(2);
    assert!(refused.stderr_text().contains("'result.json' already exists"));
    assert_eq!(std::fs::read_to_string(env.path("result.json")).expect("a file"), "precious\n");
}
