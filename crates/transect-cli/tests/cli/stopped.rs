//! Programs that are stopped and continued (Ctrl-Z and `fg`, suspend, a debugger, a paused
//! container) give the same results as without interruption, on every kind of file system.
//!
//! The kernel ends a listing early when a signal arrives, so a reader can take a part of a
//! directory for all of it. `TRANSECT_TORTURE_RUNS` sets how often each command runs on each file
//! system; `make torture` runs them 1,000 times and prints a table.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::harness::{Output, Running, TestEnv};

const DIRECTORIES: usize = 40;
const FILES: usize = 60;
const MANY: usize = 3_000;

/// Creates a tree of small directories and a large one. Every file contains a line.
fn make_tree(root: &Path) {
    let make = |directory: &Path, count: usize| {
        std::fs::create_dir_all(directory).unwrap();
        for number in 0..count {
            std::fs::write(directory.join(format!("file number {number}")), "a line\n").unwrap();
        }
    };
    (0..DIRECTORIES)
        .for_each(|number| make(&root.join(format!("d{}/s{number}", number % 7)), FILES));
    make(&root.join("many"), MANY);
}

/// The tested file systems: those whose end of a listing is detected, and some others.
fn file_systems(temp: &TempDir) -> Vec<(&'static str, Result<Vec<Mount>, String>)> {
    let image = |name: &str, make: &[&str]| {
        let (image, at) = (temp.join(format!("{name}.image")), temp.join(name));
        Mount::image(&image, 400 << 20, make, &at).map(|mount| vec![mount])
    };
    let overlay = || {
        let memory = Mount::tmpfs("256m", &temp.join("below"))?;
        let options = ["lowerdir", "upperdir", "workdir"].map(|folder| {
            let path = memory.path().join(folder);
            std::fs::create_dir(&path).unwrap();
            format!("{folder}={}", path.display())
        });
        let options = options.join(",");
        let at = temp.join("overlay");
        let mount = Mount::new(&["-t", "overlay", "-o", &options, "transect"], &at)?;
        Ok(vec![mount, memory])
    };
    vec![
        ("ext4", image("ext4", &["mkfs.ext4", "-q", "-F", "-N", "20000"])),
        (
            "ext4 ^dir_index",
            image("linear", &["mkfs.ext4", "-q", "-F", "-N", "20000", "-O", "^dir_index"]),
        ),
        ("xfs", image("xfs", &["mkfs.xfs", "-q", "-f"])),
        ("btrfs", image("btrfs", &["mkfs.btrfs", "-q", "-f"])),
        ("tmpfs", Mount::tmpfs("256m", &temp.join("tmpfs")).map(|mount| vec![mount])),
        ("overlay", overlay()),
    ]
}

/// Ends the bursts even if a test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `body` while a process is repeatedly stopped and continued; counts the stops.
fn under_bursts<T>(process: &OwnedFd, stops: &AtomicU64, body: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let send = |signal| pidfd_send_signal(process, signal).is_ok();
            while !stop.load(Ordering::Relaxed) && send(Signal::STOP) && send(Signal::CONT) {
                stops.fetch_add(1, Ordering::Relaxed);
                // Lets the process make progress between two stops.
                std::thread::sleep(Duration::from_micros(50));
            }
        });
        let _stop = Stop(&stop);
        body()
    })
}

fn handle_of(running: &Running) -> OwnedFd {
    pidfd_open(Pid::from_child(&running.child), PidfdFlags::empty()).expect("a child of our own")
}

/// Runs a command to its end under bursts.
fn run_under_bursts(env: &TestEnv, args: &[&str], stops: &AtomicU64) -> Output {
    let running = env.start(args);
    under_bursts(&handle_of(&running), stops, || running.finish())
}

fn sorted(output: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = output.split(|&byte| byte == 0).collect();
    lines.sort_unstable();
    lines.join(&0)
}

fn without_time(output: &[u8]) -> Vec<u8> {
    let mut object: serde_json::Value = serde_json::from_slice(output).expect("one object");
    let fields = object.as_object_mut().expect("an object");
    ["elapsed_ns", "threads"].into_iter().for_each(|field| drop(fields.remove(field)));
    object.to_string().into_bytes()
}

/// Runs a command without bursts, then often under bursts. Returns how many of these runs differed.
fn wrong_answers(
    env: &TestEnv,
    args: &[&str],
    normalize: fn(&[u8]) -> Vec<u8>,
    runs: usize,
    stops: &AtomicU64,
) -> usize {
    let expected = normalize(&env.transect(args).exits(0).quiet().stdout);
    let differs = |_: &usize| {
        let output = run_under_bursts(env, args, stops).exits(0);
        normalize(&output.stdout) != expected
    };
    (0..runs).filter(differs).count()
}

/// Changes the line ends of all files under bursts. Returns how many runs left files unchanged.
fn wrong_transforms(env: &TestEnv, root: &Path, runs: usize, stops: &AtomicU64) -> usize {
    let files: Vec<PathBuf> = files_below(root);
    let wrong = |run: &usize| {
        let (step, line) = match run % 2 {
            0 => ("eol=crlf", "a line\r\n"),
            _ => ("eol=lf", "a line\n"),
        };
        let args = ["transform", step, "-i", root.to_str().unwrap()];
        let _ = run_under_bursts(env, &args, stops).exits(0);
        files.iter().any(|file| std::fs::read(file).unwrap() != line.as_bytes())
    };
    (0..runs).filter(wrong).count()
}

fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// Queries a cache service that is stopped and continued about existing files. Returns how many
/// runs got wrong answers. Every run has a new service, which lists the directories anew.
fn wrong_services(env: &TestEnv, root: &Path, runs: usize, stops: &AtomicU64) -> usize {
    let list: Vec<u8> = files_below(root)
        .iter()
        .flat_map(|file| [file.as_os_str().as_bytes(), b"\0"].concat())
        .collect();
    std::fs::write(env.path("asked"), list).unwrap();
    let columns = "type,size,mtime,inode";
    let ask = ["attributes", "--json", "--columns", columns, "-0", "--from", "asked"];
    let expected = env.transect(ask).exits(0).quiet().stdout;
    let wrong = |_: &usize| {
        let mut service = env.start(["live", "--level", "frozen", "--idle", "15m"]);
        let mut first = [0];
        service.child.stderr.as_mut().unwrap().read_exact(&mut first).expect("it answers");
        let ask = [&ask[..], &["--service"]].concat();
        let answered = under_bursts(&handle_of(&service), stops, || env.transect(&ask));
        service.signal(Signal::TERM);
        let _ = service.finish().exits(0);
        answered.exits(0).quiet().stdout != expected
    };
    (0..runs).filter(wrong).count()
}

#[test]
fn stopped_and_continued_programs_lose_no_entry() {
    let test = "stopped_and_continued_programs_lose_no_entry";
    let runs = std::env::var("TRANSECT_TORTURE_RUNS").ok().and_then(|runs| runs.parse().ok());
    let runs: usize = runs.unwrap_or(2);
    let temp = TempDir::new();
    let mut table = String::new();
    let mut wrong_in_all = 0;
    for (name, mounts) in file_systems(&temp) {
        let mounts = match mounts {
            Ok(mounts) => mounts,
            Err(why_not) => {
                loudly_skip(test, format!("{name}: {why_not}"));
                continue;
            }
        };
        let env = TestEnv::new();
        let root = mounts[0].path().join("tree");
        make_tree(&root);
        let path = root.to_str().unwrap();
        let stops = AtomicU64::new(0);
        let answers = |args: &[&str], normalize| wrong_answers(&env, args, normalize, runs, &stops);
        let wrong = [
            ("scan", answers(&["scan", "--json", path], without_time)),
            ("list", answers(&["list", "-0", path], sorted)),
            ("list --one-file-system", answers(&["list", "-0", "--one-file-system", path], sorted)),
            ("usage", answers(&["usage", "--json", path], without_time)),
            ("transform", wrong_transforms(&env, &root, runs, &stops)),
            ("live", wrong_services(&env, &root, runs, &stops)),
        ];
        let counts = wrong.map(|(_, wrong)| wrong.to_string()).join(" | ");
        table += &format!("STOPPED | {name} | {runs} | {} | {counts} |\n", stops.into_inner());
        wrong_in_all += wrong.iter().map(|(_, wrong)| wrong).sum::<usize>();
    }
    let _ = std::io::stdout().write_all(table.as_bytes());
    assert_eq!(wrong_in_all, 0, "{table}");
}
