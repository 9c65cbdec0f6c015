//! Digests kept between searches: which files are read again, and files of digests that cannot be used.
//!
//! Each search is one of a walk that began in the future, so that no file is too young.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use transect::table::{Table, TableBuilder};
use transect::{FieldMask, ScanOptions};
use transect_duplicates::{COLUMNS, DigestStore, DigestStoreError, Duplicates, FindOptions, find};
use transect_sys::host::{now, proves_changes};
use transect_testkit::{TempDir, skip, wait_until};

use crate::support::{groups_of, lines, options};

/// The length of a file that is read at both ends first.
const LARGE: usize = 40_000;

const MINUTE: i64 = 60_000_000_000;

fn scan(root: &Path) -> Table {
    let builder = TableBuilder::new(COLUMNS | FieldMask::CTIME);
    let plan = ScanOptions::new([root]).plan().unwrap();
    plan.run(|| builder.sink()).unwrap().sink.into_table().unwrap()
}

/// Creates a directory on a file system that proves changes.
fn directory(test: &str) -> Option<TempDir> {
    let temp = TempDir::new();
    match proves_changes(temp.path()) {
        true => Some(temp),
        false => skip(test, "the directory for temporary files does not prove changes"),
    }
}

/// Writes files of the same length: a byte of content each, and the place of another byte.
fn write(root: &Path, files: &[(&str, u8)]) {
    for (name, byte) in files {
        fs::write(root.join(name), vec![*byte; LARGE]).unwrap();
    }
}

fn known(store: DigestStore) -> FindOptions {
    options(|options| options.digests = Some(Arc::new(store)))
}

/// Searches with these digests.
fn search(root: &Path, store: DigestStore) -> (Table, Duplicates) {
    let table = scan(root);
    let found = find(&table, &known(store));
    assert!(found.diagnostics.is_complete(), "{:?}", found.diagnostics);
    (table, found)
}

/// Searches without digests, and returns those to keep.
fn first(root: &Path) -> DigestStore {
    search(root, DigestStore::new(now() + MINUTE)).1.digests.unwrap()
}

/// Stores digests, and reads them again.
fn stored(store: &DigestStore) -> DigestStore {
    DigestStore::read(&bytes(store)[..], now() + 2 * MINUTE).unwrap()
}

fn bytes(store: &DigestStore) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.write(&mut bytes).unwrap();
    bytes
}

/// Waits until a change gets another time than all changes before.
fn wait_for_tick(root: &Path) {
    let probe = root.join("../probe");
    let touched = || {
        fs::write(&probe, "").unwrap();
        fs::metadata(&probe).unwrap().ctime_nsec()
    };
    let before = touched();
    wait_until("the clock of the file system ticks", || touched() != before);
}

#[test]
fn digests_of_unchanged_files_are_not_read_again() {
    let Some(temp) = directory("digests_of_unchanged_files_are_not_read_again") else { return };
    write(temp.path(), &[("a", 1), ("b", 1), ("c", 2)]);
    fs::write(temp.join("small"), "text").unwrap();
    fs::write(temp.join("same"), "text").unwrap();
    let store = stored(&first(temp.path()));
    // The ends of five files, and the whole of two.
    assert_eq!(store.len(), 7);
    let (table, found) = search(temp.path(), store);
    assert_eq!(found.bytes_read, 0);
    assert_eq!(lines(temp.path(), &table, &found), ["a, b", "same, small"]);
    assert_eq!(found.groups[0].digest, *blake3::hash(&[1; LARGE]).as_bytes());
    assert_eq!(found.digests.unwrap().len(), 7);
    assert!(found.unproven.is_empty());
}

#[test]
fn digests_of_changed_and_replaced_files_are_read_again() {
    let test = "digests_of_changed_and_replaced_files_are_read_again";
    let Some(temp) = directory(test) else { return };
    let root = temp.join("tree");
    fs::create_dir(&root).unwrap();
    write(&root, &[("a", 1), ("b", 1), ("c", 1), ("d", 1)]);
    let store = stored(&first(&root));
    wait_for_tick(&root);
    let mtime = |name: &str| fs::metadata(root.join(name)).unwrap().modified().unwrap();
    let set = |name: &str, time| {
        fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(time).unwrap();
    };
    // The same length and mtime, but other content in the middle.
    let (changed, replaced) = (mtime("b"), mtime("c"));
    let mut content = vec![1; LARGE];
    content[LARGE / 2] = 2;
    fs::write(root.join("b"), &content).unwrap();
    set("b", changed);
    fs::write(temp.join("new"), &content).unwrap();
    fs::rename(temp.join("new"), root.join("c")).unwrap();
    set("c", replaced);
    let (table, found) = search(&root, store);
    assert_eq!(lines(&root, &table, &found), ["a, d", "b, c"]);
    assert_eq!(found.bytes_read, 2 * (8192 + LARGE as u64));
    // Only what is there now is kept.
    let store = stored(&found.digests.unwrap());
    assert_eq!(store.len(), 8);
    assert_eq!(search(&root, store).1.bytes_read, 0);
}

#[test]
fn digests_of_young_files_are_not_kept() {
    let Some(temp) = directory("digests_of_young_files_are_not_kept") else { return };
    write(temp.path(), &[("a", 1), ("b", 1)]);
    for age in [-MINUTE, 0, 1_900_000_000, 2_100_000_000] {
        let newest = ["a", "b"].map(|name| {
            let there = fs::metadata(temp.join(name)).unwrap();
            there.ctime() * 1_000_000_000 + there.ctime_nsec()
        });
        let began = newest.into_iter().max().unwrap() + age;
        let kept = search(temp.path(), DigestStore::new(began)).1.digests.unwrap();
        assert_eq!(kept.is_empty(), age < 2_000_000_000, "{age}");
    }
    // Its content is as old as the other one's, but its time is not.
    let ahead = std::time::SystemTime::now() + Duration::from_secs(3600);
    fs::File::options().write(true).open(temp.join("a")).unwrap().set_modified(ahead).unwrap();
    assert_eq!(first(temp.path()).len(), 2);
}

#[test]
fn digests_of_files_changed_since_the_walk_are_not_kept() {
    let test = "digests_of_files_changed_since_the_walk_are_not_kept";
    let Some(temp) = directory(test) else { return };
    let root = temp.join("tree");
    fs::create_dir(&root).unwrap();
    write(&root, &[("a", 1), ("b", 1)]);
    let table = scan(&root);
    wait_for_tick(&root);
    // As far as the walk and mtime show, it did not change.
    fs::set_permissions(root.join("b"), PermissionsExt::from_mode(0o600)).unwrap();
    let found = find(&table, &known(DigestStore::new(now() + MINUTE)));
    assert_eq!(lines(&root, &table, &found), ["a, b"]);
    assert_eq!(found.digests.unwrap().len(), 2);
}

#[test]
fn digests_from_the_future_are_not_used() {
    let Some(temp) = directory("digests_from_the_future_are_not_used") else { return };
    write(temp.path(), &[("a", 1), ("b", 1)]);
    let kept = first(temp.path());
    assert_eq!(kept.len(), 4);
    assert!(DigestStore::read(&bytes(&kept)[..], now()).unwrap().is_empty());
}

#[test]
fn digests_known_before_are_kept_by_interrupted_search() {
    let test = "digests_known_before_are_kept_by_interrupted_search";
    let Some(temp) = directory(test) else { return };
    write(temp.path(), &[("a", 1), ("b", 1)]);
    let table = scan(temp.path());
    let options = known(first(temp.path()));
    options.cancel.cancel();
    let found = find(&table, &options);
    assert!(found.interrupted);
    assert_eq!(found.digests.unwrap().len(), 4);
    // A complete search keeps those of its own files.
    let other = temp.join("other");
    fs::create_dir(&other).unwrap();
    write(&other, &[("a", 3), ("b", 4)]);
    let found = search(&other, first(temp.path())).1;
    assert_eq!(found.digests.unwrap().len(), 2);
}

#[test]
fn digests_on_other_file_systems_are_not_kept() {
    let test = "digests_on_other_file_systems_are_not_kept";
    let root = Path::new("/sys/kernel/mm");
    if !root.is_dir() {
        return skip(test, "there is no /sys/kernel/mm").unwrap_or_default();
    }
    let table = scan(root);
    let found = find(&table, &known(DigestStore::new(now() + MINUTE)));
    assert!(found.digests.unwrap().is_empty());
    assert_eq!(found.unproven, [root]);
}

#[test]
fn digests_damaged_anywhere_are_refused() {
    let Some(temp) = directory("digests_damaged_anywhere_are_refused") else { return };
    write(temp.path(), &[("a", 1), ("b", 1)]);
    let whole = bytes(&first(temp.path()));
    let read = |bytes: &[u8]| DigestStore::read(bytes, now() + 2 * MINUTE);
    assert_eq!(read(&whole).unwrap().len(), 4);
    for at in 0..whole.len() {
        for bit in [1, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= bit;
            assert!(read(&bytes).is_err(), "{at}");
        }
        assert!(read(&whole[..at]).is_err(), "{at}");
    }
    assert!(matches!(read(&[&whole[..], b"\n"].concat()), Err(DigestStoreError::Damaged)));
    for foreign in [&b""[..], b"\n", b"transect", &[0; 4096], &[b'x'; 4096]] {
        assert!(matches!(read(foreign), Err(DigestStoreError::Foreign)));
    }
    let line = whole.iter().position(|&byte| byte == b'\n').unwrap();
    let other = [b"transect digests 2: BLAKE3", &whole[line..]].concat();
    assert!(matches!(read(&other), Err(DigestStoreError::OtherVersion)));
    // A number of records that no memory would be enough for.
    let mut many = whole;
    many[line + 9..line + 17].fill(0xff);
    assert!(matches!(read(&many), Err(DigestStoreError::Damaged)));
}

/// A change of a tree.
#[derive(Clone, Debug)]
enum Change {
    /// Writes a file: a length, the place of a byte that is not zero, and whether the old mtime is set again.
    Write {
        name: usize,
        length: usize,
        place: usize,
        keeps_mtime: bool,
    },
    Rename {
        from: usize,
        to: usize,
    },
    Link {
        from: usize,
        to: usize,
    },
    Remove {
        name: usize,
    },
}

const NAMES: usize = 4;

fn change() -> impl Strategy<Value = Change> {
    let name = || 0..NAMES;
    prop_oneof![
        4 => (name(), prop::sample::select(vec![9, 24_576]), 0..3_usize, prop::bool::weighted(0.8)).prop_map(
            |(name, length, place, keeps_mtime)| Change::Write { name, length, place, keeps_mtime }
        ),
        1 => (name(), name()).prop_map(|(from, to)| Change::Rename { from, to }),
        1 => (name(), name()).prop_map(|(from, to)| Change::Link { from, to }),
        1 => name().prop_map(|name| Change::Remove { name }),
    ]
}

fn apply_change(root: &Path, change: &Change) {
    let path = |name: usize| root.join(format!("file{name}"));
    match *change {
        Change::Write { name, length, place, keeps_mtime } => {
            let before = fs::metadata(path(name)).and_then(|there| there.modified());
            let mut content = vec![0; length];
            if let Some(byte) = content.get_mut(place * length / 3) {
                *byte = 1;
            }
            fs::write(path(name), content).unwrap();
            if let Some(before) = before.ok().filter(|_| keeps_mtime) {
                let file = fs::File::options().write(true).open(path(name)).unwrap();
                file.set_modified(before).unwrap();
            }
        }
        // What is not there, or there already, is left alone.
        Change::Rename { from, to } => drop(fs::rename(path(from), path(to))),
        Change::Link { from, to } => drop(fs::hard_link(path(from), path(to))),
        Change::Remove { name } => drop(fs::remove_file(path(name))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn digests_kept_same_groups_as_without(
        steps in prop::collection::vec(prop::collection::vec(change(), 0..8), 1..6),
    ) {
        let Some(temp) = directory("digests_kept_same_groups_as_without") else { return Ok(()) };
        let root = temp.join("tree");
        fs::create_dir(&root).unwrap();
        let mut store = DigestStore::new(now() + MINUTE);
        for changes in &steps {
            changes.iter().for_each(|change| apply_change(&root, change));
            let table = scan(&root);
            let with = find(&table, &known(store));
            let without = find(&table, &FindOptions::default());
            let digests = |of: &Duplicates| of.groups.iter().map(|it| it.digest).collect::<Vec<_>>();
            prop_assert_eq!(groups_of(&table, &with), groups_of(&table, &without));
            prop_assert_eq!(digests(&with), digests(&without));
            prop_assert!(with.bytes_read <= without.bytes_read);
            store = stored(&with.digests.unwrap());
            wait_for_tick(&root);
        }
    }
}
