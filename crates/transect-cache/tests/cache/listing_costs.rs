//! The choice between one listing and single queries with the default costs, observed by the
//! counters.

use std::path::PathBuf;

use transect_cache::Level;
use transect_testkit::TempDir;

use crate::support::{cache, make_dir, write};

fn many(dir: &TempDir, prefix: &str, number: usize) -> Vec<PathBuf> {
    (0..number).map(|number| dir.join(format!("{prefix}{number}"))).collect()
}

#[test]
fn huge_directory_one_lookup_one_query() {
    let temp = TempDir::new();
    let files = many(&temp, "file", 20_000);
    files.iter().for_each(|file| drop(write(file.clone(), "")));
    for level in [Level::Frozen, Level::Checked] {
        let cache = cache(level);
        assert!(cache.get(&files[7]).is_ok());
        let counts = cache.counts();
        assert_eq!((counts.queries, counts.listings, counts.listings_given_up), (1, 0, 0));
        assert_eq!(cache.get_many(&files[10..20]).len(), 10);
        assert_eq!(cache.counts().listings, 0, "{:?}", cache.counts());
        // A few missing names are not enough for a listing.
        for path in many(&temp, "missing", 50) {
            assert_eq!(cache.exists(path), Ok(false));
        }
        assert_eq!(cache.counts().listings, 0, "{:?}", cache.counts());
        assert!(cache.counts().listings_given_up <= 2, "{:?}", cache.counts());
        // A listing would not spare the queries of names that exist, however many they are.
        assert!(cache.get_many(&files).iter().all(Result::is_ok));
        assert_eq!(cache.counts().listings, 0, "{:?}", cache.counts());
        // As many missing names as the directory contains are enough for a listing.
        assert!(cache.get_many(&many(&temp, "absent", 20_000)).iter().all(Result::is_err));
        let counts = cache.counts();
        assert_eq!(counts.listings, 1, "{counts:?}");
    }
}

#[test]
fn small_directory_missing_names_listed() {
    let temp = TempDir::new();
    many(&temp, "file", 10).into_iter().for_each(|file| drop(write(file, "")));
    let cache = cache(Level::Frozen);
    for path in many(&temp, "missing", 1000) {
        assert_eq!(cache.exists(path), Ok(false));
    }
    let counts = cache.counts();
    assert_eq!(counts.listings, 1);
    assert!(counts.queries < 20, "{counts:?}");
    assert_eq!(counts.hits + counts.misses, 1000);
    assert_eq!(counts.misses, counts.queries);
}

#[test]
fn existing_names_not_listed() {
    let temp = TempDir::new();
    let files = many(&temp, "file", 100);
    files.iter().for_each(|file| drop(write(file.clone(), "")));
    let cache = cache(Level::Frozen);
    assert!(files.iter().all(|file| cache.get(file).is_ok()));
    let counts = cache.counts();
    assert_eq!((counts.queries, counts.listings, counts.listings_given_up), (100, 0, 0));
}

#[test]
fn batch_any_order_each_name_queried_once() {
    let temp = TempDir::new();
    let mut paths = Vec::new();
    for dir in 0..10 {
        let dir = make_dir(temp.join(format!("dir{dir}")));
        for file in 0..30 {
            paths.push(write(dir.join(format!("file{file}")), &"x".repeat(file)));
        }
        paths.push(dir.join("missing"));
    }
    // Directories in turn, and everything twice.
    let mut shuffled: Vec<_> = (0..31)
        .flat_map(|file| (0..10).map(move |dir| dir * 31 + file))
        .map(|index| paths[index].clone())
        .collect();
    shuffled.extend(paths.iter().cloned());
    let cache = cache(Level::Frozen);
    let answers = cache.get_many(&shuffled);
    for (path, answer) in shuffled.iter().zip(&answers) {
        match path.file_name().unwrap().to_str().unwrap().strip_prefix("file") {
            Some(size) => assert_eq!(answer.unwrap().size(), Some(size.parse().unwrap())),
            None => assert!(answer.unwrap_err().is_missing()),
        }
    }
    let counts = cache.counts();
    assert!(counts.queries <= 310, "{counts:?}");
    assert_eq!(counts.hits + counts.misses, 620, "{counts:?}");
    let again = cache.get_many(&shuffled);
    assert_eq!(again.len(), 620);
    assert_eq!(cache.counts().queries, counts.queries);
    assert_eq!(cache.counts().hits, counts.hits + 620);
}

/// One query tells a batch that names are missing.
#[test]
fn batch_missing_names_listed_after_one_query() {
    let temp = TempDir::new();
    for names in [10, 20] {
        let dir = make_dir(temp.join(format!("dir{names}")));
        (0..10).for_each(|file| drop(write(dir.join(format!("file{file}")), "")));
        let paths: Vec<_> = (0..names).map(|name| dir.join(format!("missing{name}"))).collect();
        let cache = cache(Level::Frozen);
        assert!(cache.get_many(&paths).iter().all(|it| it.is_err_and(|error| error.is_missing())));
        let counts = cache.counts();
        assert_eq!((counts.queries, counts.listings), (1, 1), "{names}: {counts:?}");
        assert_eq!((counts.hits, counts.misses), (names - 1, 1), "{names}: {counts:?}");
    }
}
