//! Many threads, while another one changes the files.

use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use transect_cache::{CacheOptions, Level};
use transect_testkit::{TempDir, within};

use crate::support::{eager, make_dir, write};

#[test]
fn threads_same_directory_listed_once() {
    let temp = TempDir::new();
    for number in 0..500 {
        write(temp.join(format!("file{number}")), "1");
    }
    let cache = eager(Level::Frozen);
    let barrier = Barrier::new(16);
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (cache, barrier, temp) = (&cache, &barrier, &temp);
            scope.spawn(move || {
                barrier.wait();
                for number in 0..500 {
                    let missing = temp.join(format!("missing{thread}-{number}"));
                    assert_eq!(cache.exists(missing), Ok(false));
                    assert_eq!(cache.exists(temp.join(format!("file{number}"))), Ok(true));
                }
            });
        }
    });
    let counts = cache.counts();
    assert_eq!((counts.listings, counts.queries), (1, 0), "{counts:?}");
    assert_eq!(counts.hits, 16 * 1000);
}

/// Files that never change, among others that are created, renamed and removed: they are never
/// missing or different.
#[test]
fn threads_unchanged_files_never_differ() {
    for &level in Level::ALL.iter().filter(|&&level| CacheOptions::new(level).open().is_ok()) {
        within("threads that ask while files change", move || mutate_and_ask(level));
    }
}

fn mutate_and_ask(level: Level) {
    let temp = TempDir::new();
    let dirs: Vec<PathBuf> = (0..4).map(|dir| make_dir(temp.join(format!("dir{dir}")))).collect();
    let stable: Vec<PathBuf> = dirs.iter().map(|dir| write(dir.join("stable"), "12345")).collect();
    let cache = CacheOptions::new(level).memory(64 << 10).open().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3_usize {
            let (cache, done, dirs, stable) = (&cache, &done, &dirs, &stable);
            scope.spawn(move || {
                let mut round = 0_usize;
                while !done.load(Ordering::Relaxed) {
                    let index = (thread + round) % 4;
                    round += 1;
                    assert_eq!(cache.get(&stable[index]).unwrap().size(), Some(5));
                    assert_eq!(cache.exists(&stable[index]), Ok(true));
                    assert_eq!(cache.exists(dirs[index].join("never")), Ok(false));
                    let _ = cache.get(dirs[index].join(format!("moving{}", round % 50)));
                    let mut asked = stable.clone();
                    asked.push(dirs[index].join("never"));
                    let answers = cache.get_many(&asked);
                    assert!(answers[..4].iter().all(|answer| answer.unwrap().size() == Some(5)));
                    assert!(answers[4].unwrap_err().is_missing());
                    if round.is_multiple_of(64) && thread == 0 {
                        cache.freeze();
                        cache.thaw();
                    }
                    if round.is_multiple_of(200) && thread == 1 {
                        cache.clear();
                    }
                }
            });
        }
        for round in 0..3000 {
            let dir = &dirs[round % 4];
            let (one, two) = (
                dir.join(format!("moving{}", round % 50)),
                dir.join(format!("moving{}", round % 7)),
            );
            let _ = match round % 3 {
                0 => std::fs::write(one, "x"),
                1 => std::fs::rename(one, two),
                _ => std::fs::remove_file(two),
            };
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(cache.level(), level);
}
