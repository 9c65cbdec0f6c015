//! Random changes to a real directory. After each, the guarantee of every level is compared with
//! the oracle.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use transect_cache::{AttributeCache, CacheCosts, CacheOptions, Level};
use transect_testkit::TempDir;

use crate::support::{EAGER, NEVER, Seen, let_time_pass, oracle, oracle_exists, seen, seen_exists};

/// Few names, so that every change can affect every entry.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// The targets of links.
const TARGETS: [&str; 8] = ["a", "b", "..", "../b", "a/b", "./c/../d", "nowhere", "../../a/b"];

/// A path below the root: one to three names.
type RelativePath = Vec<usize>;

#[derive(Clone, Debug)]
enum Change {
    Write(RelativePath, u8),
    Remove(RelativePath),
    MakeDir(RelativePath),
    Rename(RelativePath, RelativePath),
    Link(RelativePath, usize),
    Chmod(RelativePath, bool),
    SetBack(RelativePath),
}

fn place() -> impl Strategy<Value = RelativePath> {
    prop::collection::vec(0..NAMES.len(), 1..4)
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (place(), any::<u8>()).prop_map(|(place, length)| Change::Write(place, length)),
        2 => place().prop_map(Change::Remove),
        4 => place().prop_map(Change::MakeDir),
        3 => (place(), place()).prop_map(|(from, to)| Change::Rename(from, to)),
        2 => (place(), 0..TARGETS.len()).prop_map(|(place, to)| Change::Link(place, to)),
        1 => (place(), any::<bool>()).prop_map(|(place, open)| Change::Chmod(place, open)),
        1 => place().prop_map(Change::SetBack),
    ]
}

fn path_of(root: &Path, place: &[usize]) -> PathBuf {
    place.iter().fold(root.to_path_buf(), |path, &name| path.join(NAMES[name]))
}

/// Makes a change, or fails and changes nothing. Nothing outside the root is modified.
fn apply(root: &Path, change: &Change) {
    // Changes happen in real directories only.
    let inside = |place: &RelativePath| {
        let path = path_of(root, place);
        let parent = path.parent().unwrap().canonicalize().ok()?;
        (parent.starts_with(root)).then_some(path)
    };
    let done: Option<std::io::Result<()>> = match change {
        Change::Write(place, length) => inside(place).map(|path| {
            if path.is_symlink() {
                Ok(())
            } else {
                std::fs::write(path, vec![b'x'; usize::from(*length)])
            }
        }),
        Change::Remove(place) => inside(place)
            .map(|path| std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path))),
        Change::MakeDir(place) => inside(place).map(std::fs::create_dir),
        Change::Rename(from, to) => {
            inside(from).zip(inside(to)).map(|(from, to)| std::fs::rename(from, to))
        }
        Change::Link(place, to) => inside(place).map(|path| symlink(TARGETS[*to], path)),
        Change::Chmod(place, open) => inside(place).map(|path| {
            if path.is_symlink() {
                return Ok(());
            }
            let mode = if *open { 0o755 } else { 0o700 };
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        }),
        Change::SetBack(place) => inside(place).map(|path| {
            if path.is_symlink() {
                return Ok(());
            }
            let back = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
            std::fs::File::open(path)?.set_modified(back)
        }),
    };
    // Impossible changes are part of the test.
    let _ = done;
}

/// Paths to look up, direct and with detours.
fn questions(root: &Path, places: &[(RelativePath, u8)]) -> Vec<PathBuf> {
    let spelt = |(place, way): &(RelativePath, u8)| {
        let path = path_of(root, place);
        match way % 8 {
            0 => path.join(".."),
            1 => path.join("../b"),
            2 => path.join("."),
            3 => path.join(""),
            4 => path_of(root, &place[..1]).join("../").join(path_of(Path::new(""), place)),
            _ => path,
        }
    };
    places.iter().map(spelt).collect()
}

/// A path as written, and whether links are followed. Not a `Path`: those compare `a/.` and `a` as
/// equal.
type Question = (OsString, bool);

/// The guarantee of a level, and the data to verify it.
struct Promise {
    cache: AttributeCache,
    /// Frozen: the first result of each lookup, and every result that was correct since the last
    /// clear.
    first: HashMap<Question, Seen>,
    truths: HashMap<Question, Vec<Seen>>,
}

impl Promise {
    fn new(level: Level, costs: CacheCosts) -> Self {
        let cache = CacheOptions::new(level).costs(costs).open().unwrap();
        Self { cache, first: HashMap::new(), truths: HashMap::new() }
    }

    fn hold(&mut self, asked: &[PathBuf]) {
        match self.cache.level() {
            Level::Frozen => self.hold_frozen(asked),
            _ => self.hold_current(asked),
        }
    }

    fn hold_current(&self, asked: &[PathBuf]) {
        let level = self.cache.level().as_str();
        for path in asked {
            let exists = seen_exists(&self.cache, path);
            assert_eq!(exists, oracle_exists(path), "{level}: {}", path.display());
            let link = seen(&self.cache.get_link(path));
            assert_eq!(link, oracle(path, false), "{level}: link {}", path.display());
        }
        for (path, answer) in asked.iter().zip(self.cache.get_many(asked)) {
            assert_eq!(seen(&answer), oracle(path, true), "{level}: {}", path.display());
        }
    }

    /// Records the current results for all paths: a listing or an error of a directory may store
    /// them now, for a later lookup.
    fn witness(&mut self, all: &[PathBuf]) {
        if self.cache.level() == Level::Frozen {
            for path in all {
                for follow in [false, true] {
                    let truths =
                        self.truths.entry((path.clone().into_os_string(), follow)).or_default();
                    let truth = oracle(path, follow);
                    if !truths.contains(&truth) {
                        truths.push(truth);
                    }
                }
            }
        }
    }

    fn hold_frozen(&mut self, asked: &[PathBuf]) {
        for path in asked {
            for follow in [false, true] {
                let answer = if follow { self.cache.get(path) } else { self.cache.get_link(path) };
                let (answer, question) = (seen(&answer), (path.clone().into_os_string(), follow));
                if let Some(first) = self.first.get(&question) {
                    assert_eq!(&answer, first, "frozen: {} {follow}", path.display());
                }
                // A name created after its directory was listed is missing.
                let truths = &self.truths[&question];
                assert!(
                    truths.contains(&answer) || answer == Err(Some(2)),
                    "frozen: {} {follow}: {answer:?}, but it was {truths:?}",
                    path.display()
                );
                self.first.insert(question, answer);
            }
        }
    }

    fn clear(&mut self) {
        self.cache.clear();
        self.first.clear();
        self.truths.clear();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn levels_random_changes_guarantee_holds(
        steps in prop::collection::vec(
            (change(), prop::collection::vec((place(), any::<u8>()), 1..8), any::<u8>()), 1..40,
        ),
        tail in prop::sample::select(vec![EAGER, NEVER, CacheCosts::default()]),
    ) {
        let temp = TempDir::new();
        // Links and detours lead up to two levels above the root, where other tests change entries
        // that are compared here.
        let root = &temp.path().join("above/above/root");
        std::fs::create_dir_all(root).unwrap();
        let mut promises: Vec<Promise> = Level::ALL
            .iter()
            .filter(|&&level| CacheOptions::new(level).open().is_ok())
            .map(|&level| Promise::new(level, tail))
            .collect();
        let places: Vec<(RelativePath, u8)> =
            steps.iter().flat_map(|(_, places, _)| places.clone()).collect();
        let all = questions(root, &places);
        promises.iter_mut().for_each(|promise| promise.witness(&all));
        for (change, places, chance) in steps {
            let asked = questions(root, &places);
            promises.iter_mut().for_each(|promise| promise.hold(&asked));
            // Sometimes listings are not racy.
            if chance % 16 == 0 {
                let_time_pass();
                promises.iter_mut().for_each(|promise| promise.hold(&asked));
            }
            apply(root, &change);
            for promise in &mut promises {
                if chance % 16 == 1 {
                    promise.clear();
                }
                promise.witness(&all);
                promise.hold(&asked);
            }
        }
    }
}
