//! Times loops over a tree: the library's iterator and closure against `ignore`, `jwalk` and `walkdir`.
//!
//! Each measurement is a process of its own, which times its loop with its own clock and prints what
//! it counted. The rounds are interleaved, in an order that rotates. All contenders of a task must
//! count the same.

use std::collections::BTreeMap;
use std::env;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use transect::{FieldMask, Flow, ScanOptions};

/// What a loop counted: entries, directories, and bytes or hits.
type Counts = (u64, u64, u64);

const TASKS: &[(&str, &str, &[&str])] = &[
    ("loop", "names and types of all entries", &["iterator", "for_each", "ignore", "jwalk", "walkdir"]),
    ("sizes", "the length of every file", &["iterator", "for_each", "ignore", "jwalk", "walkdir"]),
    ("stop", "stop after three files named *.h", &["iterator", "for_each", "ignore", "jwalk", "walkdir"]),
    ("first", "stop after three entries", &["iterator", "for_each", "ignore", "jwalk", "walkdir"]),
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
        "for_each" => for_each(task, root),
        "ignore" => ignored(task, root),
        "jwalk" => jwalked(task, root),
        "walkdir" => walkdired(task, root),
        _ => panic!("no such contender"),
    };
    println!("{} {entries} {directories} {more}", began.elapsed().as_nanos());
}

fn compare(root: &str, rounds: usize, tasks: &[&str]) {
    let program = env::current_exe().expect("this program has a path");
    let chosen = |task: &str| tasks.is_empty() || tasks.contains(&task);
    for (task, about, contenders) in TASKS.iter().filter(|(task, ..)| chosen(task)) {
        let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let mut counts: BTreeMap<&str, String> = BTreeMap::new();
        // The first round fills the caches.
        for round in 0..=rounds {
            for offset in 0..contenders.len() {
                let contender = contenders[(round + offset) % contenders.len()];
                let output = Command::new(&program).args(["run", task, contender, root]).output();
                let text = String::from_utf8(output.expect("it runs").stdout).expect("text");
                let (nanoseconds, counted) = text.trim().split_once(' ').expect("a result");
                counts.insert(contender, counted.to_owned());
                if round > 0 {
                    let milliseconds = nanoseconds.parse::<f64>().expect("a number") / 1e6;
                    times.entry(contender).or_default().push(milliseconds);
                }
            }
        }
        println!("{task}: {about}; median (minimum, maximum) of {rounds} rounds, ms");
        let mut medians = BTreeMap::new();
        for contender in *contenders {
            let times = times.get_mut(contender).expect("it ran");
            times.sort_by(f64::total_cmp);
            let median = times[times.len() / 2];
            medians.insert(*contender, median);
            let (min, max) = (times[0], times[times.len() - 1]);
            let counted = &counts[contender];
            println!("  {contender:<9} {median:9.3} ({min:.3}, {max:.3})  counted {counted}");
        }
        for rival in ["ignore", "jwalk", "walkdir"] {
            println!("  iterator / {rival}: {:.2}", medians["iterator"] / medians[rival]);
        }
        if matches!(*task, "loop" | "sizes") {
            let expected = &counts["iterator"];
            assert!(counts.values().all(|counted| counted == expected), "the work is not equal");
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
    for entry in transect::walk(root).want(want).flatten() {
        counts.0 += 1;
        counts.1 += u64::from(entry.is_dir());
        if task == "sizes" && entry.is_file() {
            counts.2 += entry.attributes().size().unwrap_or(0);
        }
        counts.2 += u64::from(is_hit(task, entry.is_file(), entry.name()));
        if task != "sizes" && counts.2 == 3 {
            break;
        }
    }
    counts
}

fn for_each(task: &str, root: &str) -> Counts {
    let shared = [const { AtomicU64::new(0) }; 3];
    let add = |index: usize, more| shared[index].fetch_add(more, Ordering::Relaxed) + more;
    let want = if task == "sizes" { FieldMask::SIZE } else { FieldMask::empty() };
    let plan = ScanOptions::new([root]).plan().expect("a plan");
    plan.for_each(want, |_, entry| {
        use transect::FileType;
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
    })
    .expect("a walk");
    shared.map(|counter| counter.into_inner()).into()
}

fn ignored(task: &str, root: &str) -> Counts {
    use ignore::{WalkBuilder, WalkState};
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

fn walkdired(task: &str, root: &str) -> Counts {
    let mut counts = (0, 0, 0);
    for entry in walkdir::WalkDir::new(root).into_iter().flatten() {
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
