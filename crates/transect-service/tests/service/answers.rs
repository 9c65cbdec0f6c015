//! Answers equal those of the system.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use transect::{FaultKind, FieldMask};
use transect_cache::{CacheOptions, Level, LookupError};
use transect_service::{CACHED_FIELDS, ServeOptions};
use transect_testkit::{TempDir, trees};

use crate::support::{Served, of_system, told};

/// Collects the paths below a directory, and some that do not exist.
#[expect(clippy::disallowed_methods, reason = "what the service says is compared with plain std")]
pub(crate) fn paths_below(directory: &Path, paths: &mut Vec<PathBuf>) {
    paths.push(directory.join("no such name"));
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        paths.push(entry.path());
        if entry.file_type().unwrap().is_dir() {
            paths_below(&entry.path(), paths);
        } else {
            paths.push(entry.path().join("below a file"));
        }
    }
}

/// Trees with very many entries.
const LARGE: &[&str] = &["wide", "deep", "many_small_dirs"];

#[test]
fn answers_named_trees_equal_system_at_every_level() {
    let temp = TempDir::new();
    for (name, build) in trees::ALL {
        fs::create_dir(temp.join(name)).unwrap();
        build(&temp.join(name));
    }
    for &level in Level::ALL {
        let served = Served::new(level);
        let mut client = served.client();
        for (name, _) in trees::ALL {
            // Under Wine each query takes a request to another process: thousands prove no more than a few.
            if cfg!(windows) && LARGE.contains(name) {
                continue;
            }
            let mut paths = Vec::new();
            paths_below(&temp.join(name), &mut paths);
            // The second time from memory, as far as the level permits.
            for (follow, time) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
                let what = format!("{name}, {level:?}, follow {follow}, time {time}");
                let answers = client.attributes(&paths, CACHED_FIELDS, follow).unwrap();
                assert_eq!(answers.len(), paths.len());
                for (path, answer) in paths.iter().zip(&answers) {
                    let expected = of_system(path, follow);
                    let path = path.display();
                    assert_eq!(
                        told(answer),
                        told(&expected),
                        "{what}: {path}\n{answer:?}\n{expected:?}"
                    );
                }
            }
            let exist = client.exists(&paths).unwrap();
            for (path, exists) in paths.iter().zip(exist) {
                let expected = match of_system(path, true) {
                    Ok(_) => Ok(true),
                    Err(refusal) if refusal.is_missing() => Ok(false),
                    Err(refusal) => Err(refusal),
                };
                assert_eq!(exists, expected, "{name}, {level:?}: {}", path.display());
            }
        }
    }
}

#[test]
fn answers_hundred_thousand_paths_in_order() {
    let served = Served::new(Level::Frozen);
    for directory in 0..10 {
        let directory = served.temp.join(directory.to_string());
        fs::create_dir(&directory).unwrap();
        for file in 0..100 {
            fs::write(directory.join(file.to_string()), vec![b'x'; file]).unwrap();
        }
    }
    // Neither sorted nor grouped by directory; a tenth is missing.
    let path = |number: usize| {
        let (directory, file) = (number * 7 % 11, number * 13 % 100);
        served.temp.join(format!("{directory}/{file}"))
    };
    let paths: Vec<PathBuf> = (0..100_000).map(path).collect();
    let answers = served.client().attributes(&paths, FieldMask::SIZE, false).unwrap();
    assert_eq!(answers.len(), paths.len());
    for (number, answer) in answers.iter().enumerate() {
        if number * 7 % 11 == 10 {
            assert!(answer.is_err_and(|refusal| refusal.is_missing()), "{number}");
        } else {
            assert_eq!(answer.unwrap().size(), Some(number as u64 * 13 % 100), "{number}");
        }
    }
}

#[test]
fn answers_only_requested_fields() {
    let served = Served::new(Level::Frozen);
    let mut client = served.client();
    for want in [FieldMask::empty(), FieldMask::SIZE | FieldMask::UID, CACHED_FIELDS] {
        let answers = client.attributes(&[served.temp.path()], want, false).unwrap();
        // Windows has no UID.
        let expected = of_system(served.temp.path(), false).unwrap().known() & want;
        assert_eq!(answers[0].unwrap().known(), expected);
        assert_eq!(expected.contains(FieldMask::SIZE), want.contains(FieldMask::SIZE));
    }
    let answers = client.attributes(&[served.temp.path()], FieldMask::ATIME, false).unwrap();
    assert_eq!(answers[0].unwrap().known(), FieldMask::empty(), "it is not kept");
}

/// Returns a name that is not Unicode.
fn not_unicode() -> OsString {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStringExt::from_vec(vec![0xFF, 0xFE]);
    #[cfg(windows)]
    std::os::windows::ffi::OsStringExt::from_wide(&[0xD800])
}

#[test]
fn answers_invalid_paths_distinguished() {
    let served = Served::new(Level::Frozen);
    let long_name = served.temp.join("x".repeat(300));
    let long_path = served.temp.join(std::iter::repeat_n("x", 50_000).collect::<PathBuf>());
    let paths = [
        Path::new(""),
        Path::new("relative"),
        &Path::new("relative").join("path"),
        &served.temp.join("with\0nul"),
        &long_name,
        &long_path,
        served.temp.path().ancestors().last().unwrap(),
        &served.temp.join(not_unicode()),
    ];
    let answers = served.client().attributes(&paths, CACHED_FIELDS, true).unwrap();
    let kinds = answers.iter().map(|answer| answer.err().and_then(LookupError::kind));
    // On Windows, the protocol has no such paths.
    let or_invalid = |kind| if cfg!(windows) { FaultKind::InvalidName } else { kind };
    let expected = [
        Some(FaultKind::NotFound),
        None,
        None,
        Some(FaultKind::InvalidName),
        of_system(&long_name, true).unwrap_err().kind(),
        Some(or_invalid(FaultKind::NameTooLong)),
        None,
        Some(or_invalid(FaultKind::NotFound)),
    ];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    assert_eq!(answers[1].unwrap_err(), LookupError::NoBase);
    assert_eq!(answers[2].unwrap_err(), LookupError::NoBase);
    assert!(answers[6].is_ok());
}

#[test]
fn answers_scattered_paths_in_order() {
    let temp = TempDir::new();
    let mut paths = Vec::new();
    for number in 0..3000 {
        let dir = temp.join(format!("{}", number % 53));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join(format!("file-{number}"));
        // Every seventh is missing; the others differ in length.
        if number % 7 > 0 {
            fs::write(&path, vec![b'x'; number]).unwrap();
        }
        paths.push(path);
    }
    let served = Served::with(CacheOptions::new(Level::Frozen), ServeOptions::default(), temp);
    let mut client = served.client();
    for _ in 0..2 {
        let answers = client.attributes(&paths, FieldMask::SIZE, true).unwrap();
        for (number, answer) in answers.iter().enumerate() {
            let size = answer.ok().and_then(|attributes| attributes.size());
            assert_eq!(size, (number % 7 > 0).then_some(number as u64));
        }
        let there = client.exists(&paths).unwrap();
        assert!(there.iter().enumerate().all(|(number, there)| *there == Ok(number % 7 > 0)));
    }
}

#[test]
fn answers_outside_roots_refused() {
    let temp = TempDir::new();
    fs::create_dir(temp.join("in")).unwrap();
    fs::write(temp.join("in/file"), "x").unwrap();
    fs::write(temp.join("out"), "x").unwrap();
    let options = CacheOptions::new(Level::Frozen).root(temp.join("in"));
    let served = Served::with(options, ServeOptions::default(), temp);
    let mut client = served.client();
    let roots = &client.server_info().roots;
    assert_eq!(*roots, [served.temp.join("in").as_os_str().as_encoded_bytes().to_vec()]);
    let paths = ["in/file", "out", "in/../out"].map(|path| served.temp.join(path));
    let answers = client.attributes(&paths, CACHED_FIELDS, false).unwrap();
    assert!(answers[0].is_ok());
    assert_eq!(answers[1].unwrap_err(), LookupError::OutsideRoots);
    assert_eq!(answers[2].unwrap_err(), LookupError::OutsideRoots);
}

#[test]
fn resolve_first_directory_wins() {
    let served = Served::new(Level::Frozen);
    for directory in 0..20 {
        let directory = served.temp.join(directory.to_string());
        fs::create_dir_all(directory.join("sub")).unwrap();
    }
    fs::write(served.temp.join("17/late.h"), "12345").unwrap();
    fs::write(served.temp.join("3/sub/early.h"), "1").unwrap();
    fs::write(served.temp.join("4/sub/early.h"), "22").unwrap();
    let directories: Vec<PathBuf> =
        (0..20).map(|directory| served.temp.join(directory.to_string())).collect();
    let names = ["late.h", "sub/early.h", "nowhere.h", "sub"].map(PathBuf::from);
    let mut client = served.client();
    for _ in 0..2 {
        let found = client.resolve(&names, &directories, FieldMask::SIZE).unwrap();
        let found = found.into_iter().map(|holder| {
            holder.unwrap().map(|holder| (holder.index, holder.attributes.size().unwrap()))
        });
        // A directory is not a match.
        assert_eq!(found.collect::<Vec<_>>(), [Some((17, 5)), Some((3, 1)), None, None]);
    }
    let nowhere: &[PathBuf] = &[];
    assert!(client.resolve(&names[..1], nowhere, CACHED_FIELDS).unwrap()[0].unwrap().is_none());
    assert!(client.resolve(nowhere, &directories, CACHED_FIELDS).unwrap().is_empty());
    let absolute = [served.temp.path().to_owned()];
    let absolute = client.resolve(&absolute, &directories, CACHED_FIELDS).unwrap();
    assert!(absolute[0].is_err());
}

#[test]
fn resolve_more_names_than_one_frame() {
    let served = Served::new(Level::Frozen);
    let name = |number: usize| PathBuf::from(format!("{number}{}", "x".repeat(200)));
    fs::write(served.temp.join(name(4321)), "x").unwrap();
    let names: Vec<PathBuf> = (0..6000).map(name).collect();
    let directories = [served.temp.join("nowhere"), served.temp.path().to_owned()];
    let found = served.client().resolve(&names, &directories, FieldMask::empty()).unwrap();
    assert_eq!(found.len(), names.len());
    for (number, holder) in found.iter().enumerate() {
        let index = holder.unwrap().map(|holder| holder.index);
        assert_eq!(index, (number == 4321).then_some(1), "{number}");
    }
}

#[test]
fn stats_requests_counted() {
    let served = Served::new(Level::Frozen);
    let mut client = served.client();
    let paths = [served.temp.join("a"), served.temp.join("b"), served.temp.join("a")];
    client.attributes(&paths, CACHED_FIELDS, false).unwrap();
    client.attributes(&paths, CACHED_FIELDS, false).unwrap();
    let stats = client.stats().unwrap();
    let number = |name: &str| stats.iter().find(|(it, _)| it == name).unwrap().1;
    assert_eq!((number("requests"), number("questions")), (2, 6));
    assert_eq!((number("connections"), number("refused")), (1, 0));
    assert_eq!(number("hits") + number("misses"), 6);
    assert!(number("hits") >= 3 && number("memory") > 0);
    assert_eq!(served.server.cache().counts().hits, number("hits"));
}
