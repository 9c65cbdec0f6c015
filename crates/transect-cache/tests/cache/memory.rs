//! The memory reported, and the memory limit.

use std::path::PathBuf;

use transect_cache::{CacheOptions, Level};
use transect_testkit::{TempDir, in_own_process};

use crate::support::{make_dir, oracle, seen, write};

/// Creates `count` directories with `files` files each.
fn tree(temp: &TempDir, count: usize, files: usize) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for dir in 0..count {
        let dir = make_dir(temp.join(format!("directory-{dir:04}")));
        for file in 0..files {
            paths.push(write(dir.join(format!("source_file_{file:03}.h")), ""));
        }
    }
    paths
}

#[test]
fn memory_limit_respected_results_correct() {
    const LIMIT: usize = 64 << 10;
    let temp = TempDir::new();
    let paths = tree(&temp, 60, 30);
    for level in [Level::Frozen, Level::Checked] {
        let cache = CacheOptions::new(level).memory(LIMIT).open().unwrap();
        for round in 0..3 {
            for path in &paths {
                assert_eq!(seen(&cache.get(path)), oracle(path, true));
                assert_eq!(cache.exists(path.with_extension("c")), Ok(false));
                assert!(cache.memory() <= LIMIT, "{} in round {round}", cache.memory());
            }
            // In turn with paths in another form, which take another route through the code.
            let turns: Vec<PathBuf> =
                paths.iter().flat_map(|path| [path.clone(), path.join("..").join(".")]).collect();
            let answers = cache.get_many(&turns);
            assert!(answers.iter().step_by(2).all(Result::is_ok));
            assert!(answers.iter().skip(1).step_by(2).all(Result::is_err));
            assert!(cache.get_many(&paths).iter().all(Result::is_ok));
            // A batch respects the limit when it ends.
            assert!(cache.memory() <= LIMIT, "{} in round {round}", cache.memory());
        }
        let counts = cache.counts();
        assert!(counts.evictions > 0, "{counts:?}");
        cache.clear();
        assert_eq!(cache.memory(), 0, "all that was counted is given back");
    }
}

#[test]
fn memory_used_directory_not_evicted() {
    let temp = TempDir::new();
    let paths = tree(&temp, 60, 30);
    let cache = CacheOptions::new(Level::Frozen).memory(64 << 10).open().unwrap();
    let favourite = &paths[..30];
    assert!(favourite.iter().all(|path| cache.get(path).is_ok()));
    let mut asked_again = 0;
    for path in &paths {
        assert!(cache.get(path).is_ok());
        let misses = cache.counts().misses;
        assert!(cache.get(&favourite[7]).is_ok());
        asked_again += cache.counts().misses - misses;
    }
    assert!(cache.counts().evictions > 30);
    assert!(asked_again <= 2, "{asked_again}");
}

/// Compares the reported size with the memory of the process, which is therefore a process of its
/// own.
#[test]
fn memory_reported_matches_process() {
    in_own_process("memory::memory_reported_matches_process", || {
        let temp = TempDir::new();
        let paths = tree(&temp, 200, 250);
        let cache = CacheOptions::new(Level::Frozen).open().unwrap();
        drop(cache.get_many(&paths[..500]));
        let (before, said_before) = (resident(), cache.memory());
        // One by one, so that only the entries are allocated.
        for path in &paths {
            let _ = cache.get(path);
        }
        let (taken, said) = (resident() - before, cache.memory() - said_before);
        let names = cache.counts().names as usize;
        assert_eq!(names, paths.len());
        // An allocator rounds up, and keeps memory that tables released when they grew.
        assert!(taken < said * 2 && said < taken * 2, "{said} said, {taken} taken");
        assert!(said / names < 200, "{} bytes a name", said / names);
    });
}

/// Returns the anonymous memory of this process in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let kibibytes: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kibibytes << 10
}
