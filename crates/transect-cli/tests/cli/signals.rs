//! Ctrl-C.

use std::io::Read;

use rustix::process::Signal;
use transect_testkit::{wait_for, wait_until};

use crate::harness::{Running, TestEnv};
use crate::tree;

/// The bit of `SIGINT` in the kernel's sets of signals.
const INT: u64 = 1 << 1;

/// The length of names: long names fill a pipe fastest.
const LONG: usize = 240;

/// Starts a list that cannot end before it is read: it writes far more than a pipe holds. It has
/// one thread, so that the signal reaches the thread that writes.
fn blocked_list(env: &TestEnv) -> Running {
    tree::many_files(env, &env.path("tree"), 4000, &"x".repeat(LONG));
    let mut list = env.start(["list", "--order", "queue", "tree"]);
    // The first bytes prove that the walk has begun and that signals are handled.
    let mut first = [0; 5];
    let stdout = list.child.stdout.as_mut().expect("a pipe");
    stdout.read_exact(&mut first).expect("the first path");
    assert_eq!(&first, b"tree\n");
    // A list on one thread sleeps only on a full pipe.
    wait_until("the pipe is full", || list.is_asleep());
    list
}

#[test]
fn list_interrupted_ends_with_whole_paths() {
    let env = TestEnv::new();
    for signal in [Signal::INT, Signal::TERM] {
        let list = blocked_list(&env);
        list.signal(signal);
        let output = list.finish().exits(130).quiet();
        let all = tree::paths(&env, "tree");
        let listed = output.paths(b'\n');
        assert!(listed.len() < all.len() - 1, "{signal:?}: all {} were listed", listed.len());
        for path in listed {
            assert!(all.contains(&path), "not a path: {}", String::from_utf8_lossy(&path));
        }
    }
}

#[test]
fn interrupt_twice_ends_at_once() {
    let env = TestEnv::new();
    let mut list = blocked_list(&env);
    list.signal(Signal::INT);
    wait_until("the first signal is taken", || {
        list.signals("ShdPnd").is_some_and(|set| set & INT == 0)
    });
    // Still blocked: the pipe is full, and the first signal only requests a stop.
    assert!(list.child.try_wait().unwrap().is_none());
    list.signal(Signal::INT);
    // The output is not read before the program ends.
    let status = list.wait();
    assert_eq!(status.code(), Some(130));
}

/// Interrupts scans until one of them is still running when the signal arrives.
fn interrupted_scan(env: &TestEnv, args: &[&str]) -> crate::harness::Output {
    wait_for("a scan that is interrupted", || {
        let scan = env.start(["scan", "--order", "queue", "--threads", "1"].iter().chain(args));
        scan.wait_until_handled();
        scan.signal(Signal::INT);
        let output = scan.finish();
        match output.code {
            Some(130) => Some(output),
            // The scan ended before the signal.
            Some(0) => None,
            _ => panic!("neither complete nor interrupted\n{}", output.text()),
        }
    })
}

#[test]
fn scan_interrupted_shows_partial_result() {
    let env = TestEnv::new();
    for directory in 0..500 {
        tree::many_files(&env, &env.path(format!("tree/{directory}")), 100, "");
    }
    let output = interrupted_scan(&env, &["--json", "tree"]).quiet();
    let object = output.json();
    assert_eq!(object["interrupted"], true);
    assert_eq!(object["complete"], false);
    assert_eq!(object["errors"], 0, "an interruption is not an error of the tree");
    assert!(object["files"].as_u64() <= Some(50_000), "{}", object["files"]);

    let output = interrupted_scan(&env, &["tree"]).quiet();
    let text = output.stdout_text();
    assert!(text.contains("\n  state       interrupted in "), "{text}");
    assert!(!text.contains("complete"), "{text}");
}
