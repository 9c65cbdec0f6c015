//! The oracle, and caches that list always or never.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use transect_cache::{AttributeCache, CacheCosts, CacheOptions, Level, LookupResult};

/// The compared fields: type and permissions, size, times, identity; or the system's error number.
pub(crate) type Seen = Result<(u32, u64, i64, i64, u64, u64), Option<i32>>;

/// Queries the standard library.
#[expect(clippy::disallowed_methods, reason = "the oracle shares nothing with the cache")]
pub(crate) fn oracle(path: &Path, follow: bool) -> Seen {
    let metadata = if follow { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) };
    let metadata = metadata.map_err(|error| error.raw_os_error())?;
    let nanoseconds = |seconds: i64, rest: i64| seconds * 1_000_000_000 + rest;
    Ok((
        metadata.mode(),
        metadata.size(),
        nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        metadata.ino(),
        metadata.dev(),
    ))
}

/// Returns the same fields of a lookup.
pub(crate) fn seen(answer: &LookupResult) -> Seen {
    match answer {
        Ok(attributes) => Ok((
            u32::from(attributes.mode().unwrap()),
            attributes.size().unwrap(),
            attributes.mtime().unwrap(),
            attributes.ctime().unwrap(),
            attributes.inode().unwrap(),
            attributes.device().unwrap(),
        )),
        Err(refusal) => Err(std::io::Error::from(*refusal).raw_os_error()),
    }
}

/// Returns whether a path exists, by the oracle.
pub(crate) fn oracle_exists(path: &Path) -> Result<bool, Option<i32>> {
    match oracle(path, true) {
        Ok(_) => Ok(true),
        // ENOENT, ENOTDIR.
        Err(Some(2 | 20)) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Returns whether a path exists, by the cache.
pub(crate) fn seen_exists(cache: &AttributeCache, path: &Path) -> Result<bool, Option<i32>> {
    cache.exists(path).map_err(|refusal| std::io::Error::from(refusal).raw_os_error())
}

/// Returns the costs of a query, and of the calls of a listing.
pub(crate) const fn costs(query: u64, listing: u64) -> CacheCosts {
    let mut costs = CacheCosts::new();
    (costs.query, costs.query_open, costs.open, costs.name) = (query, query, 1, 1);
    costs.listing = listing;
    costs
}

/// Costs at which the first lookup in a directory lists it.
pub(crate) const EAGER: CacheCosts = costs(1_000_000, 1);

/// Costs at which no directory is ever listed.
pub(crate) const NEVER: CacheCosts = costs(1, u64::MAX / 4);

pub(crate) fn cache(level: Level) -> AttributeCache {
    CacheOptions::new(level).open().unwrap()
}

/// Opens a cache that lists at the first lookup.
pub(crate) fn eager(level: Level) -> AttributeCache {
    CacheOptions::new(level).costs(EAGER).open().unwrap()
}

/// Waits until a listing is not racy: twice the time that the cache requires.
pub(crate) fn let_time_pass() {
    std::thread::sleep(Duration::from_millis(50));
}

pub(crate) fn write(path: PathBuf, content: &str) -> PathBuf {
    std::fs::write(&path, content).unwrap();
    path
}

pub(crate) fn make_dir(path: PathBuf) -> PathBuf {
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The directory of a test that runs again as user `nobody`.
pub(crate) const AT: &str = "TRANSECT_CACHE_AT";

/// Runs a test of this binary again as a user for whom permissions apply, or skips it.
pub(crate) fn as_nobody(test: &str, at: &Path) {
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    // User `nobody` may not read the build folder.
    let program = at.join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(AT, at).current_dir("/").uid(NOBODY).gid(NOBODY);
    let output = loop {
        match command.output() {
            // Another test has just started a process that still holds it open for writing.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => {
                return transect_testkit::loudly_skip(
                    test,
                    format!("cannot become nobody: {error}"),
                );
            }
            Ok(output) => break output,
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{complained}");
}
