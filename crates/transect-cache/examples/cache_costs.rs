//! Measures on this machine the costs that the attribute cache uses for its decisions: system calls
//! (`CacheCosts`), the time of a lookup in memory next to one `statx`, and the memory per entry.
//! ```text
//! cargo run --release -p transect-cache --example cache_costs [DIR]
//! ```
//!
//! Creates a tree of 20,000 files in DIR, by default the directory for temporary files, and removes
//! it.
#![expect(clippy::print_stdout, reason = "a program that prints what it measured")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use transect::internal::Reader;
use transect::{Batch, FieldMask, ReaderKind, Want};
use transect_cache::{CacheCosts, CacheOptions, Level};
use transect_sys::{ReaderSettings, SystemReader};

const DIRECTORIES: usize = 400;
const FILES: usize = 50;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let root = folder.join(format!("transect-cache-costs-{}", std::process::id()));
    let measured = make_tree(&root).map_err(Into::into).and_then(|paths| measure(&root, &paths));
    std::fs::remove_dir_all(&root)?;
    measured
}

fn make_tree(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    std::fs::create_dir_all(root.join("empty"))?;
    for directory in 0..DIRECTORIES {
        let directory = root.join(format!("some/way/down/directory-{directory:03}"));
        std::fs::create_dir_all(&directory)?;
        for file in 0..FILES {
            paths.push(directory.join(format!("source_file_{file:02}.h")));
            std::fs::write(&paths[paths.len() - 1], "content")?;
        }
    }
    Ok(paths)
}

fn measure(root: &Path, paths: &[PathBuf]) -> Result<(), Box<dyn std::error::Error>> {
    let reader = ReaderKind::best();
    let dirs: Vec<&[PathBuf]> = paths.chunks(FILES).collect();
    let costs = costs(&mut SystemReader::new(reader, ReaderSettings::default()), root, &dirs);
    println!("reader {}, tree in {}", reader.as_str(), root.display());
    println!("{costs:#?}");

    let line = |what: &str, nanoseconds: f64| {
        let ratio = nanoseconds / costs.query as f64;
        println!("{what:44} {nanoseconds:8.1} ns, {ratio:6.3} of a query");
    };
    line(
        "get, nothing known",
        of_each(&dirs, |files| {
            let cache = CacheOptions::new(Level::Frozen).open().expect("these options hold");
            timed(files.len(), || files.iter().all(|file| cache.get(file).is_ok()))
        }),
    );
    line(
        "get_many, nothing known",
        of_each(&dirs, |files| {
            let cache = CacheOptions::new(Level::Frozen).open().expect("these options hold");
            timed(files.len(), || cache.get_many(files))
        }),
    );
    let cache = CacheOptions::new(Level::Frozen).open()?;
    let _ = cache.get_many(paths);
    let all_known = |files: &&[PathBuf]| {
        let get = || files.iter().all(|file| cache.get(file).is_ok());
        timed(files.len(), get)
    };
    line("get, all known, by directory", of_each(&dirs, all_known));
    line(
        "get_many, all known, by directory",
        of_each(&paths.chunks(1000).collect::<Vec<_>>(), |paths| {
            timed(paths.len(), || cache.get_many(paths))
        }),
    );
    let scattered: Vec<&PathBuf> =
        (0..paths.len()).map(|number| &paths[number * 7919 % paths.len()]).collect();
    line(
        "a query, scattered",
        of_each(&scattered.chunks(100).collect::<Vec<_>>(), |paths| {
            let ask = |path: &&PathBuf| {
                transect_sys::file::query_attributes(path, FieldMask::MTIME, true).is_ok()
            };
            timed(paths.len(), || paths.iter().all(ask))
        }),
    );
    line(
        "get, all known, scattered",
        of_each(&scattered.chunks(100).collect::<Vec<_>>(), |paths| {
            timed(paths.len(), || paths.iter().all(|path| cache.get(path).is_ok()))
        }),
    );

    let parents = dirs.iter().filter_map(|files| files[0].parent()).take(200);
    let search = cache.search_dirs(parents)?;
    let names: Vec<PathBuf> = (0..200).map(|n| format!("missing_{n:03}.h").into()).collect();
    let resolve = |name: &PathBuf| timed(200, || cache.resolve(name, &search).is_ok());
    let _ = of_each(&names, resolve);
    line("resolve, in each directory without the name", of_each(&names, resolve));

    first_pass(paths);

    let (counts, memory) = (cache.counts(), cache.memory());
    let each = memory as f64 / counts.names as f64;
    let (names, directories) = (counts.names, counts.directories);
    println!("memory: {memory} bytes, {names} names, {directories} directories, {each:.1} a name");
    Ok(())
}

/// Prints what a single pass over all names takes, from opening a cache until it is dropped.
fn first_pass(paths: &[PathBuf]) {
    let open = || CacheOptions::new(Level::Frozen).open().expect("these options hold");
    in_turn(
        21,
        [
            ("all names once: plain queries", &|| paths.iter().all(|path| is_found(path))),
            ("get_many", &|| open().get_many(paths).iter().all(Result::is_ok)),
            ("get", &|| {
                let cache = open();
                paths.iter().all(|path| cache.get(path).is_ok())
            }),
        ],
    );
}

fn is_found(path: &Path) -> bool {
    transect_sys::file::query_attributes(path, CacheOptions::default().want, true).is_ok()
}

/// Runs ways of doing the same in turn, so that whatever disturbs the machine disturbs all of them. Prints the median,
/// the range without a tenth at both ends, and the median of the ratios to the first way.
fn in_turn(rounds: usize, ways: [(&str, &dyn Fn() -> bool); 3]) {
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        ways.iter().zip(&mut times).for_each(|((_, ask), times)| times.push(timed(1000, ask)));
    }
    let first = times[0].clone();
    for ((what, _), mut times) in ways.into_iter().zip(times) {
        let mut ratios: Vec<f64> =
            times.iter().zip(&first).map(|(own, first)| own / first).collect();
        times.sort_by(f64::total_cmp);
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (times[rounds / 10], times[rounds - 1 - rounds / 10]);
        let (median, ratio) = (times[rounds / 2], ratios[rounds / 2]);
        println!("{what:44} {median:8.1} µs ({least:.1} to {most:.1}), {ratio:.2}");
    }
}

/// Measures the costs.
fn costs(reader: &mut SystemReader, root: &Path, dirs: &[&[PathBuf]]) -> CacheCosts {
    let mut batch = Batch::new();
    let want = CacheOptions::default().want;
    let ask = |path: &PathBuf| transect_sys::file::query_attributes(path, want, false).is_ok();
    let query = of_each(dirs, |files| timed(files.len(), || files.iter().all(ask)));
    let open = |reader: &mut SystemReader, dir: &Path| {
        let mut handle = reader.open_root(dir, true).expect("the tree was just made");
        let fields = FieldMask::FILE_ID | FieldMask::TIMES | FieldMask::SIZE;
        reader.stat_open(&mut handle, fields).expect("it is open");
        handle
    };
    let opening = of_each(dirs, |files| timed(1, || open(reader, parent(files))));
    let in_open = of_each(dirs, |files| {
        timed(1, || {
            let handle = open(reader, parent(files));
            files
                .iter()
                .filter_map(|file| file.file_name())
                .all(|name| reader.stat(&handle, &[name], want, false).is_ok())
        })
    });
    let empty = vec![root.join("empty"); 400];
    let nothing = of_each(&empty, |dir| {
        timed(1, || {
            let handle = open(reader, dir);
            reader.list(&handle, &mut batch, &Want::default()).is_ok()
        })
    });
    // The cache itself makes these listings, so that storing the names is included. The cost of
    // an empty listing is the fixed cost of any listing.
    let list = |dir: &Path| {
        let options = CacheOptions::new(Level::Frozen).costs(ONE_NAME_LISTS);
        let cache = options.open().expect("these options hold");
        timed(1, || cache.exists(dir.join("missing")))
    };
    let kept_nothing = of_each(&empty, |dir| list(dir));
    let kept = of_each(dirs, |files| list(parent(files)));
    let mut costs = CacheCosts::new();
    costs.query = query as u64;
    costs.open = opening as u64;
    costs.query_open = ((in_open - opening) / FILES as f64) as u64;
    // Includes the check that nothing changed meanwhile.
    costs.listing = (nothing - opening).max(kept_nothing - opening) as u64;
    costs.name = ((kept - kept_nothing) / FILES as f64) as u64;
    costs
}

fn parent(files: &[PathBuf]) -> &Path {
    files[0].parent().expect("a file lies in a directory")
}

/// Costs at which one missing name causes a listing.
const ONE_NAME_LISTS: CacheCosts = {
    let mut costs = CacheCosts::new();
    (costs.query, costs.query_open) = (1_000_000, 1_000_000);
    (costs.open, costs.listing, costs.name) = (1, 1, 1);
    costs
};

/// Runs some work, and returns nanoseconds per unit.
fn timed<T>(units: usize, work: impl FnOnce() -> T) -> f64 {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed().as_nanos() as f64 / units as f64
}

/// Returns the median time over all items, each measured several times. Each measurement is so
/// short that other processes interrupt few of them.
fn of_each<T>(things: &[T], mut measure: impl FnMut(&T) -> f64) -> f64 {
    let mut times: Vec<f64> =
        (0..ROUNDS).flat_map(|_| things.iter().map(&mut measure).collect::<Vec<_>>()).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
