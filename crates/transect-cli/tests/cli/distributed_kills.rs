//! `task` and `commit` with processes that are killed, race each other, or run where the tree is elsewhere.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use transect_testkit::{trees, wait_until};

use crate::distributed::{assert_parts_equal_walk, documented_loop};
use crate::harness::{Running, TestEnv};
use crate::random::Random;
use crate::tree;

/// How many processes are killed. `bench/distributed/kills` takes the number as an argument.
const KILLS: usize = 60;

/// Begins a scan with an empty folder of parts.
fn begin(env: &TestEnv) {
    let _ = fs::remove_dir_all(env.path("parts"));
    let _ = env.sh("\"$TRANSECT\" task --first tree >tasks").exits(0);
}

/// Kills tasks, and the loop that drives them with its task, at random moments. Nothing is there twice or missing, and
/// nothing is left in the folder.
#[test]
fn loop_and_tasks_killed_60_times_same_as_snapshot() {
    let env = TestEnv::new();
    trees::many_small_dirs(&env.mkdir("tree"));
    let script = documented_loop(300);
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    let (mut killed, mut scans) = (0, 0);
    begin(&env);
    while killed < KILLS || scans == 0 {
        let mut command = env.command("sh");
        command.args(["-c", &script]);
        let running = Running::start(&mut command);
        let lasts = Duration::from_micros(random.below(40_000) as u64);
        // Long enough for some task to end on a busy machine, too.
        std::thread::sleep(lasts);
        match random.below(2) {
            0 => running.kill_group(),
            _ => running.kill_child("transect"),
        }
        let output = running.finish();
        killed += usize::from(output.code != Some(0));
        if output.code == Some(0) {
            scans += 1;
            assert_parts_equal_walk(&env);
            begin(&env);
        }
    }
    let _ = env.sh(&script).exits(0);
    assert_parts_equal_walk(&env);
}

/// The script for a batch system runs as three processes, all of which are killed once.
#[test]
fn batch_script_of_several_processes_killed_same_as_snapshot() {
    let env = TestEnv::new();
    trees::many_small_dirs(&env.mkdir("tree"));
    let guide = include_str!("../../../../docs/DISTRIBUTED.md");
    let script = guide.split_once("#SBATCH").expect("the script").1.split_once('\n').unwrap().1;
    let script = script.split_once("```").expect("its end").0;
    let script = script.replace("--next", "--entries 300 --next");
    env.text("script", &script.replace("transect task", "\"$TRANSECT\" task"));
    let _ = env
        .sh("mkdir todo running next new && \"$TRANSECT\" task --first tree > todo/first")
        .exits(0);
    let mut command = env.command("sh");
    command.args(["-c", "sh script & sh script & sh script & wait"]);
    let running = Running::start(&mut command);
    wait_until("parts", || fs::read_dir(env.path("parts")).is_ok_and(|parts| parts.count() > 4));
    running.kill_group();
    let _ = running.finish();
    let again = "rm -f new/*; mv running/* todo/ 2>/dev/null
        while [ -n \"$(ls todo; ls running)\" ]; do sh script & sh script & sh script & wait; done";
    let _ = env.sh(again).exits(0);
    assert_parts_equal_walk(&env);
}

/// The slower process is stopped while it writes, and goes on when the other one has published.
#[test]
fn two_writers_of_one_part_second_adopts_it() {
    let env = TestEnv::new();
    for directory in 0..20 {
        tree::many_files(&env, &env.path(format!("tree/{directory}")), 500, "name");
    }
    let task = ["task", "--in", "task", "--out", "parts"];
    let hidden = || {
        let names = fs::read_dir(env.path("parts")).into_iter().flatten().flatten();
        names.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b".part-")).count()
    };
    // It may publish before it is stopped.
    let slower = loop {
        let _ = fs::remove_dir_all(env.path("parts"));
        let _ = env.sh("\"$TRANSECT\" task --first tree >task").exits(0);
        let mut slower = env.start(task);
        wait_until("the file of the part, or the end", || hidden() > 0 || slower.is_dead());
        slower.signal(Signal::STOP);
        wait_until("it is stopped, or dead", || slower.is_stopped() || slower.is_dead());
        let published = fs::read_dir(env.path("parts")).into_iter().flatten().count() > hidden();
        if hidden() > 0 && !published {
            break slower;
        }
        slower.signal(Signal::CONT);
        let _ = slower.wait();
    };
    let faster = env.transect(task).exits(0).json();
    assert_eq!((hidden(), &faster["adopted"]), (1, &false.into()));
    slower.signal(Signal::CONT);
    let slower = slower.finish().exits(0).json();
    assert_eq!((hidden(), &slower["adopted"]), (0, &true.into()));
    assert_eq!((&slower["rows"], &slower["tasks"]), (&faster["rows"], &faster["tasks"]));
    assert_parts_equal_walk(&env);
}

/// The folder of the parts can move. A machine that has the tree elsewhere must not take it for deleted.
#[test]
fn scan_continued_on_another_machine_needs_the_same_root() {
    let env = TestEnv::new();
    trees::many_small_dirs(&env.mkdir("tree"));
    begin(&env);
    let first =
        "head -n 1 tasks | \"$TRANSECT\" task --in - --out parts --entries 300 --next >next";
    let _ = env.sh(first).exits(0);
    let _ = env.sh("mv next tasks; mv parts moved; mv tree elsewhere").exits(0);
    let there = documented_loop(300).replace("--out parts", "--out moved");
    let refused = env.sh(&there).exits(1);
    let said = refused.stderr_text();
    assert!(said.contains("cannot access '") && said.contains("/tree'"), "{said}");
    assert_eq!(fs::read_dir(env.path("moved")).unwrap().count(), 1, "nothing was published");
    // A task of the other path belongs to another scan.
    let other = "\"$TRANSECT\" task --first elsewhere | \"$TRANSECT\" task --in - --out moved";
    let _ = env.sh(other).exits(0);
    let mixed = env.transect(["commit", "moved", "-o", "x"]).exits(2);
    assert!(mixed.stderr_text().contains("parts of several scans"), "{}", mixed.text());
    let _ = env
        .sh("\"$TRANSECT\" task --first elsewhere | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/' >id
        rm moved/part-$(cat id).parquet")
        .exits(0);
    // With the tree at its path, as a mount or a link can bring it there, the scan goes on.
    let _ = env.sh("mv elsewhere tree").exits(0);
    let _ = env.sh(&there).exits(0);
    let _ = env.sh("mv moved parts").exits(0);
    assert_parts_equal_walk(&env);
}
