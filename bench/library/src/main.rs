//! Times loops over a tree: the library's iterator, closure and replacements of `ignore` and `walkdir` against
//! `ignore`, `jwalk` and `walkdir`.
//!
//! Each measurement is a process of its own, which times its loop with its own clock and prints what
//! it counted. The rounds are interleaved, in an order that rotates. All contenders of a task must
//! count the same.

use std::collections::BTreeMap;
use std::env;
use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use wait4::Wait4;

use transect::{FieldMask, FileType, Flow, VisitEntry};

/// What a loop counted: entries, directories, and bytes or hits.
type Counts = (u64, u64, u64);

const TASKS: &[(&str, &str)] = &[
    ("loop", "names and types of all entries"),
    ("sizes", "the length of every file"),
    ("stop", "stop after three files named *.h"),
    ("first", "stop after three entries"),
];

const CONTENDERS: &[&str] = &[
    "iterator",
    "visit_parallel",
    "ignore",
    "transect::ignore",
    "jwalk",
    "walkdir",
    "transect::walkdir",
];

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", task, contender, root] => run_one(task, contender, root),
        [root, rounds, ref tasks @ ..] => {
            compare(root, rounds.parse().expect("a number of rounds"), tasks);
        }
        [root] => compare(root, 21, &[]),
        _ => panic!("usage: transect-library-bench PATH [ROUNDS [TASK...]]"),
    }
}

fn run_one(task: &str, contender: &str, root: &str) {
    let began = Instant::now();
    let (entries, directories, more) = match contender {
        "iterator" => iterator(task, root),
        "visit_parallel" => visit_parallel(task, root),
        "ignore" => ignored(task, root),
        "jwalk" => jwalked(task, root),
        "walkdir" => walkdired(task, root),
        "transect::ignore" => ignored_here(task, root),
        "transect::walkdir" => walkdired_here(task, root),
        _ => panic!("no such contender"),
    };
    println!("{} {entries} {directories} {more}", began.elapsed().as_nanos());
}

/// What one process did: milliseconds on the clock, milliseconds of processor time with start and
/// end of the process, and what it counted.
struct Sample {
    wall: f64,
    cpu: f64,
    counted: String,
}

fn sample(task: &str, contender: &str, root: &str) -> Sample {
    let program = env::current_exe().expect("this program has a path");
    let mut child = Command::new(program)
        .args(["run", task, contender, root])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut text = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut text).expect("text");
    let usage = child.wait4().expect("it ends").rusage;
    let (nanoseconds, counted) = text.trim().split_once(' ').expect("a result");
    Sample {
        wall: nanoseconds.parse::<f64>().expect("a number") / 1e6,
        cpu: (usage.utime + usage.stime).as_secs_f64() * 1e3,
        counted: counted.to_owned(),
    }
}

fn median(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[values.len() / 2], values[0], values[values.len() - 1])
}

fn compare(root: &str, rounds: usize, tasks: &[&str]) {
    let chosen = |task: &str| tasks.is_empty() || tasks.contains(&task);
    for (task, about) in TASKS.iter().filter(|(task, _)| chosen(task)) {
        let mut samples: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
        // The first round fills the caches.
        for round in 0..=rounds {
            for offset in 0..CONTENDERS.len() {
                let contender = CONTENDERS[(round + offset) % CONTENDERS.len()];
                let sample = sample(task, contender, root);
                if round > 0 {
                    samples.entry(contender).or_default().push(sample);
                }
            }
        }
        println!(
            "{task}: {about}; {rounds} rounds; milliseconds: median (least, most), processor time"
        );
        for contender in CONTENDERS {
            let samples = &samples[contender];
            let (wall, least, most) = median(samples.iter().map(|sample| sample.wall).collect());
            let (cpu, ..) = median(samples.iter().map(|sample| sample.cpu).collect());
            let counted = &samples[0].counted;
            println!("  {contender:<17} {wall:9.3} ({least:.3}, {most:.3}) {cpu:9.3}  {counted}");
        }
        for (own, rival) in [
            ("iterator", "ignore"),
            ("iterator", "jwalk"),
            ("iterator", "walkdir"),
            ("transect::ignore", "ignore"),
            ("transect::walkdir", "walkdir"),
        ] {
            let pairs = || samples[own].iter().zip(&samples[rival]);
            let (wall, ..) = median(pairs().map(|(own, rival)| own.wall / rival.wall).collect());
            let (cpu, ..) = median(pairs().map(|(own, rival)| own.cpu / rival.cpu).collect());
            println!(
                "  {own} / {rival}: {wall:.2}, processor time {cpu:.2} (medians of ratios within rounds)"
            );
        }
        if matches!(*task, "loop" | "sizes") {
            let mut counted = samples.values().flatten().map(|sample| &sample.counted);
            let expected = counted.next().expect("a sample");
            assert!(
                counted.all(|other| other == expected),
                "the work is not equal, or the tree changed"
            );
        }
    }
}

fn is_hit(task: &str, is_file: bool, name: &std::ffi::OsStr) -> bool {
    match task {
        "stop" => is_file && name.as_encoded_bytes().ends_with(b".h"),
        _ => task == "first",
    }
}

fn iterator(task: &str, root: &str) -> Counts {
    let mut counts = (0, 0, 0);
    let want = if task == "sizes" { FieldMask::SIZE } else { FieldMask::empty() };
    for entry in transect::walk(root).want(want).into_iter().flatten() {
        counts.0 += 1;
        counts.1 += u64::from(entry.file_type().is_dir());
        if task == "sizes" && entry.file_type().is_file() {
            counts.2 += entry.attributes().size().unwrap_or(0);
        }
        counts.2 += u64::from(is_hit(task, entry.file_type().is_file(), entry.file_name()));
        if task != "sizes" && counts.2 == 3 {
            break;
        }
    }
    counts
}

fn visit_parallel(task: &str, root: &str) -> Counts {
    let shared = [const { AtomicU64::new(0) }; 3];
    let add = |index: usize, more| shared[index].fetch_add(more, Ordering::Relaxed) + more;
    let want = if task == "sizes" { FieldMask::SIZE } else { FieldMask::empty() };
    let count = |entry: Result<VisitEntry<'_>, _>| {
        let Ok(entry) = entry else { return Flow::Continue };
        add(0, 1);
        let file_type = entry.file_type();
        if file_type == FileType::Directory {
            add(1, 1);
        }
        if task == "sizes" && file_type == FileType::File {
            add(2, entry.attributes.size().unwrap_or(0));
        }
        if is_hit(task, file_type == FileType::File, entry.name) && add(2, 1) == 3 {
            return Flow::Quit;
        }
        Flow::Continue
    };
    transect::walk(root).want(want).visit_parallel(|| count).expect("a walk");
    shared.map(|counter| counter.into_inner()).into()
}

/// The same closure with `ignore` and with what replaces it.
macro_rules! with_ignore {
    ($name:ident, $($ignore:ident)::+) => {
        fn $name(task: &str, root: &str) -> Counts {
            use $($ignore)::+::{WalkBuilder, WalkState};
            let shared = [const { AtomicU64::new(0) }; 3];
            let add = |index: usize, more| shared[index].fetch_add(more, Ordering::Relaxed) + more;
            WalkBuilder::new(root).standard_filters(false).build_parallel().run(|| {
                Box::new(|entry| {
                    let Ok(entry) = entry else { return WalkState::Continue };
                    add(0, 1);
                    let Some(file_type) = entry.file_type() else { return WalkState::Continue };
                    if file_type.is_dir() {
                        add(1, 1);
                    }
                    if task == "sizes" && file_type.is_file() {
                        add(2, entry.metadata().map_or(0, |metadata| metadata.len()));
                    }
                    if is_hit(task, file_type.is_file(), entry.file_name()) && add(2, 1) == 3 {
                        return WalkState::Quit;
                    }
                    WalkState::Continue
                })
            });
            shared.map(|counter| counter.into_inner()).into()
        }
    };
}

with_ignore!(ignored, ignore);
with_ignore!(ignored_here, transect::ignore);

fn jwalked(task: &str, root: &str) -> Counts {
    let mut counts = (0, 0, 0);
    let walk: jwalk::WalkDir = jwalk::WalkDir::new(root).skip_hidden(false);
    for entry in walk.into_iter().flatten() {
        counts.0 += 1;
        counts.1 += u64::from(entry.file_type().is_dir());
        if task == "sizes" && entry.file_type().is_file() {
            counts.2 += entry.metadata().map_or(0, |metadata| metadata.len());
        }
        counts.2 += u64::from(is_hit(task, entry.file_type().is_file(), entry.file_name()));
        if task != "sizes" && counts.2 == 3 {
            break;
        }
    }
    counts
}

/// The same loop with `walkdir` and with what replaces it.
macro_rules! with_walkdir {
    ($name:ident, $walkdir:ty) => {
        fn $name(task: &str, root: &str) -> Counts {
            let mut counts = (0, 0, 0);
            for entry in <$walkdir>::new(root).into_iter().flatten() {
                counts.0 += 1;
                counts.1 += u64::from(entry.file_type().is_dir());
                if task == "sizes" && entry.file_type().is_file() {
                    counts.2 += entry.metadata().map_or(0, |metadata| metadata.len());
                }
                counts.2 += u64::from(is_hit(task, entry.file_type().is_file(), entry.file_name()));
                if task != "sizes" && counts.2 == 3 {
                    break;
                }
            }
            counts
        }
    };
}

with_walkdir!(walkdired, walkdir::WalkDir);
with_walkdir!(walkdired_here, transect::walkdir::WalkDir);
