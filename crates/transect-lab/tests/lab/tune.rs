//! Tests of tuning with a program whose times are known.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::collections::BTreeMap;
use std::time::Duration;

use transect::Cancel;
use transect::internal::{StatOrder, WalkSettings};
use transect_lab::harness::cache_state::State;
use transect_lab::harness::experiment::Launcher;
use transect_lab::harness::inventory::Inventory;
use transect_lab::tune::{TuneProgress, TuneRequest, TuneResult, tune};
use transect_testkit::{TempDir, write_script};
use transect_text::settings;

/// Calls [`tuned_within`] with more than enough time: the number of rounds is limited.
fn tuned(script: &str) -> Result<(TuneResult, Vec<String>), String> {
    tuned_within(script, 1_000_000)
}

/// Tunes with a shell script as the program: `$2` is the method (`--check` in runs that verify it), `ns` the
/// time it reports.
fn tuned_within(script: &str, seconds: u64) -> Result<(TuneResult, Vec<String>), String> {
    let temp = TempDir::new();
    std::fs::create_dir(temp.join("tree")).unwrap();
    std::fs::write(temp.join("tree/a"), "1234567").unwrap();
    let program = temp.join("program");
    let digest = Inventory::of(&temp.join("tree")).digest.unwrap();
    let line = format!(
        r#"{{"digest":"{digest}","files":1,"directories":1,"bytes":7,"errors":0,"elapsed_ns":'$ns'}}"#
    );
    write_script(&program, &format!("#!/bin/sh\nns=50000\n{script}\necho '{line}'\n"));
    let request = TuneRequest {
        path: &temp.join("tree"),
        states: &[State::AsIs],
        time: Duration::from_secs(seconds),
        launcher: Launcher { program, built: BTreeMap::new(), disturbable: false },
        files: [temp.join("1"), temp.join("2")],
    };
    let mut steps = Vec::new();
    let tuned = tune(&request, &Cancel::new(), &mut |step| match step {
        TuneProgress::Started { sample_tree, .. } => {
            steps.push(format!("reads {} entries", sample_tree.entries))
        }
        TuneProgress::Confirming(settings) => steps.push(settings::describe(settings)),
        TuneProgress::WalksLeft(_) => {}
    })?;
    Ok((tuned.unwrap(), steps))
}

#[test]
fn setting_that_wins_alone_and_together_is_result() {
    let faster = "case $2 in *buffer=16K*) ns=30000;; *stat-order=inode*) ns=40000;; esac";
    let (tuned, steps) = tuned(faster).unwrap();
    let expected = WalkSettings {
        buffer_size: Some(16 << 10),
        stat_order: Some(StatOrder::Inode),
        ..Default::default()
    };
    assert_eq!(tuned.settings, expected);
    assert_eq!(steps, ["reads 2 entries", "buffer 16K, stat order inode"]);
    let last = tuned.evidence.last().unwrap();
    assert_eq!((last.setting.as_str(), last.verdict.as_str()), ("all", "faster"));
}

#[test]
fn setting_that_wins_only_alone_changes_nothing() {
    let lucky = "case $2 in *buffer=16K,stat-order=inode) ;; *buffer=16K*|*inode*) ns=30000;; esac";
    let (tuned, _) = tuned(lucky).unwrap();
    assert!(tuned.settings.is_default(), "{:?}", tuned.settings);
    let last = tuned.evidence.last().unwrap();
    assert_eq!((last.setting.as_str(), last.verdict.as_str()), ("all", "no_difference"));
}

#[test]
fn defaults_kept_if_nothing_is_faster() {
    let (tuned, steps) = tuned("").unwrap();
    assert!(tuned.settings.is_default());
    assert_eq!(steps.len(), 1, "nothing was confirmed: {steps:?}");
    assert!(tuned.evidence.iter().all(|seen| seen.verdict == "no_difference"));
}

#[test]
fn candidate_with_other_counts_never_wins() {
    let wrong = "case $2 in *buffer=16K*) echo '{}'; exit;; esac";
    let (tuned, _) = tuned(wrong).unwrap();
    assert!(tuned.settings.is_default());
    let seen = tuned.evidence.iter().find(|seen| seen.value == "16K").unwrap();
    assert_eq!((seen.verdict.as_str(), seen.ratios), ("undecided", None));
}

#[test]
fn too_slow_tree_refused_with_needed_time() {
    let told = tuned_within("sleep 0.3", 1).unwrap_err();
    assert!(told.contains("often enough takes about ") && told.contains("--seconds"), "{told}");
}
