//! Tests of corpora: the same tree everywhere, created completely or not at all.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs;
use std::path::{Path, PathBuf};

use transect::Cancel;
use transect_lab::corpora::{self, CORPORA, Corpus, MAX_DEPTH, Step, TreeCounts, find};
use transect_testkit::TempDir;
use transect_testkit::oracle::oracle;

/// Corpora small enough to create in a test: under Wine, creating a file takes long.
const SMALL: &[&str] = if cfg!(windows) {
    &["single", "tiny", "flat-1000", "music"]
} else {
    &["single", "tiny", "flat-1000", "flat-2000", "flat-5000", "music"]
};

fn corpus(name: &str) -> &'static Corpus {
    find(name).unwrap_or_else(|| panic!("{name} is a corpus"))
}

fn create(name: &str, dir: &Path) -> Result<(), String> {
    corpora::create(corpus(name), dir, &mut |_| {}, &Cancel::new())
}

/// Asserts that a corpus is refused because of its target, before anything is written.
#[track_caller]
fn assert_unusable(dir: &Path, problem: &str) {
    let error = create("tiny", dir).unwrap_err();
    assert!(error.starts_with("cannot create a corpus in '") && error.contains(problem), "{error}");
}

/// Returns all entries below a directory, sorted: paths, and lengths and modification times of files.
fn listing(root: &Path) -> Vec<(PathBuf, Option<(u64, std::time::SystemTime)>)> {
    let mut listing = Vec::new();
    let mut due = vec![root.to_owned()];
    while let Some(dir) = due.pop() {
        for entry in dir.read_dir().unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let file = metadata.is_file().then(|| (metadata.len(), metadata.modified().unwrap()));
            listing.push((path.strip_prefix(root).unwrap().to_owned(), file));
            if metadata.is_dir() {
                due.push(path);
            }
        }
    }
    listing.sort();
    listing
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = dir
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// FNV-1a digest of all steps of a plan.
struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn add_step(&mut self, step: &Step) {
        match step {
            Step::Directory { path } => {
                for name in path {
                    self.add(b"/");
                    self.add(name.as_encoded_bytes());
                }
            }
            Step::File { name, length, modified, text } => {
                self.add(name.as_bytes());
                self.add(&length.to_le_bytes());
                self.add(&modified.as_nanos().to_le_bytes());
                self.add(&text.unwrap_or(0).to_le_bytes());
            }
        }
    }
}

/// A changed digest means a different corpus, which needs a new name, as its results are not comparable.
#[test]
fn every_corpus_matches_its_pinned_digest() {
    for (name, digest) in [
        ("single", 0x7020_8b43_622d_3f76),
        ("tiny", 0x6da6_f0cc_0c0b_ad9f),
        ("flat-1000", 0xba75_170b_95d9_cb64),
        ("flat-2000", 0xbe4d_81c9_b339_f4b2),
        ("flat-5000", 0x12ac_4f5e_956a_1450),
        ("music", 0xe943_bbca_9f40_b357),
        ("data", 0xe0c9_a803_02dc_1ce8),
        ("drive", 0x9520_502b_71c5_ba12),
        ("users", 0x55ca_4c98_8c28_1ff0),
    ] {
        let corpus = corpus(name);
        let mut planned = (0, 0, 0);
        let mut hash = Digest(0xcbf2_9ce4_8422_2325);
        for step in corpus.plan() {
            hash.add_step(&step);
            match step {
                Step::File { length, .. } => {
                    planned.0 += 1;
                    planned.2 += length;
                }
                _ => planned.1 += 1,
            }
        }
        let Corpus { files, directories, bytes, .. } = *corpus;
        assert_eq!(planned, (files, directories, bytes), "{name}");
        assert_eq!(hash.0, digest, "{name}: {:#018x}", hash.0);
    }
}

#[test]
fn corpora_have_pinned_sizes() {
    let sizes: Vec<_> = CORPORA.iter().map(|d| (&*d.name, d.files, d.directories)).collect();
    assert_eq!(
        sizes,
        [
            ("single", 1, 0),
            ("tiny", 10, 0),
            ("flat-1000", 1000, 0),
            ("flat-2000", 2000, 0),
            ("flat-5000", 5000, 0),
            ("music", 3315, 467),
            ("data", 56_393, 7858),
            ("drive", 554_648, 45_590),
            ("users", 2_000_000, 200_000),
        ]
    );
    assert_eq!(find("Music"), None);
}

#[test]
fn created_corpus_equals_its_definition() {
    let temp = TempDir::new();
    for &name in SMALL {
        let Corpus { files, directories, bytes, .. } = *corpus(name);
        let dir = temp.join(name);
        create(name, &dir).unwrap();
        corpora::verify(corpus(name), &dir).unwrap();
        // The oracle counts the root, too.
        let counts = oracle(&dir).counts;
        let found = (counts.files, counts.directories - 1, counts.apparent_size);
        assert_eq!(found, (files, directories, bytes), "{name}");
        assert_eq!((counts.symlinks, counts.others, counts.hard_links), (0, 0, 0), "{name}");
    }
    let mut created: Vec<String> = SMALL.iter().map(|&name| name.to_owned()).collect();
    created.sort();
    assert_eq!(names(temp.path()), created, "nothing is left beside them");
}

#[test]
fn corpus_created_twice_is_the_same_tree() {
    let temp = TempDir::new();
    for name in ["flat-1000", "music"] {
        let [first, second] = ["first", "second"].map(|place| temp.join(format!("{name}-{place}")));
        create(name, &first).unwrap();
        create(name, &second).unwrap();
        assert_eq!(listing(&first), listing(&second), "{name}");
        let deepest = listing(&first).iter().map(|(path, _)| path.components().count()).max();
        assert!(deepest.unwrap() <= MAX_DEPTH as usize + 1, "{name}: {deepest:?}");
    }
    let texts = ["first", "second"].map(|place| {
        let dir = temp.join(format!("flat-1000-{place}"));
        names(&dir).iter().map(|name| fs::read(dir.join(name)).unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(texts[0], texts[1]);
}

#[cfg(unix)]
#[test]
fn sparse_files_take_almost_no_space() {
    let temp = TempDir::new();
    create("music", &temp.join("music")).unwrap();
    let counts = oracle(temp.join("music")).counts;
    assert!(counts.allocated_size < counts.apparent_size / 100, "{counts:?}");
}

#[test]
fn progress_rises_to_the_total() {
    let temp = TempDir::new();
    let mut heard: Vec<TreeCounts> = Vec::new();
    let mut progress = |created| heard.push(created);
    let music = corpus("music");
    corpora::create(music, &temp.join("music"), &mut progress, &Cancel::new()).unwrap();
    let entries = |created: &TreeCounts| created.files + created.directories;
    assert!(heard.len() > 10, "{}", heard.len());
    assert!(heard.is_sorted_by_key(entries));
    assert_eq!(heard.last().map(entries), Some(music.files + music.directories));
}

#[test]
fn trailing_separator_ignored() {
    let temp = TempDir::new();
    let mut path = temp.join("tiny").into_os_string();
    path.push(std::path::MAIN_SEPARATOR_STR);
    create("tiny", Path::new(&path)).unwrap();
    assert_eq!(names(temp.path()), ["tiny"]);
}

#[test]
fn occupied_target_refused_and_unchanged() {
    let temp = TempDir::new();
    fs::write(temp.join("file"), "mine").unwrap();
    fs::create_dir(temp.join("full")).unwrap();
    fs::write(temp.join("full/file"), "mine").unwrap();
    let before = listing(temp.path());
    assert_unusable(&temp.join("file"), "it already exists");
    assert_eq!(listing(temp.path()), before);
    let message = create("tiny", &temp.join("full")).unwrap_err();
    let full = temp.join("full");
    let expected = format!("cannot create a corpus in '{}': it already exists", full.display());
    assert_eq!(message, expected);
}

#[test]
fn path_without_file_name_refused() {
    for path in ["/", "", ".", "..", "a/.."] {
        assert_unusable(Path::new(path), "does not end in the name");
    }
}

#[test]
fn missing_parent_not_created() {
    let temp = TempDir::new();
    let error = create("tiny", &temp.join("missing/tiny")).unwrap_err();
    let missing = temp.join("missing");
    assert!(error.starts_with(&format!("cannot access '{}': ", missing.display())), "{error}");
    assert!(names(temp.path()).is_empty());
}

#[test]
fn target_below_a_file_refused() {
    let temp = TempDir::new();
    fs::write(temp.join("file"), "mine").unwrap();
    let error = create("tiny", &temp.join("file/tiny")).unwrap_err();
    assert!(error.starts_with("cannot "), "{error}");
    assert!(!error.contains('\n'), "{error}");
    assert_eq!(names(temp.path()), ["file"]);
}

#[cfg(unix)]
#[test]
fn link_as_target_not_followed() {
    let temp = TempDir::new();
    fs::create_dir(temp.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", temp.join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", temp.join("dangling")).unwrap();
    for link in ["link", "link/", "dangling"] {
        assert_unusable(&temp.join(link), "it already exists");
    }
    assert!(names(&temp.join("elsewhere")).is_empty());
    assert_eq!(names(temp.path()), ["dangling", "elsewhere", "link"]);
}

#[test]
fn leftover_of_killed_run_reported_and_kept() {
    let temp = TempDir::new();
    fs::create_dir(temp.join("tiny.partial")).unwrap();
    fs::write(temp.join("tiny.partial/ba-0.c"), "").unwrap();
    assert_unusable(&temp.join("tiny"), "left over from a run");
    let error = create("tiny", &temp.join("tiny")).unwrap_err();
    assert!(error.contains("tiny.partial") && error.contains("remove it"), "{error}");
    assert_eq!(names(&temp.join("tiny.partial")), ["ba-0.c"]);
}

#[test]
fn cancelled_creation_leaves_nothing() {
    let temp = TempDir::new();
    let cancel = Cancel::new();
    let partial = temp.join("music.partial");
    let mut calls = 0;
    let mut progress = |_| {
        calls += 1;
        assert!(partial.is_dir(), "it was begun");
        cancel.cancel();
    };
    let error =
        corpora::create(corpus("music"), &temp.join("music"), &mut progress, &cancel).unwrap_err();
    assert!(error.starts_with("cancelled: nothing is left in '"), "{error}");
    assert_eq!(calls, 1);
    assert!(names(temp.path()).is_empty());
}

#[test]
fn creation_cancelled_at_last_file_leaves_nothing() {
    let temp = TempDir::new();
    let cancel = Cancel::new();
    let mut progress = |created: TreeCounts| {
        if created.files == corpus("music").files {
            cancel.cancel();
        }
    };
    let dir = temp.join("music");
    let error = corpora::create(corpus("music"), &dir, &mut progress, &cancel).unwrap_err();
    assert!(error.starts_with("cancelled: nothing is left in '"), "{error}");
    assert!(names(temp.path()).is_empty());
}

#[test]
fn panic_in_progress_leaves_nothing() {
    let temp = TempDir::new();
    let dir = temp.join("music");
    let panicked = std::panic::catch_unwind(|| {
        let mut progress = |_| panic!("on purpose");
        let _ = corpora::create(corpus("music"), &dir, &mut progress, &Cancel::new());
    });
    assert!(panicked.is_err());
    assert!(names(temp.path()).is_empty());
}

#[test]
fn verify_changed_tree_reports_both_counts() {
    let temp = TempDir::new();
    let dir = temp.join("tiny");
    fs::create_dir_all(dir.join("more")).unwrap();
    fs::write(dir.join("file"), "four").unwrap();
    let error = corpora::verify(corpus("tiny"), &dir).unwrap_err();
    let expected = format!(
        "'{}' is not corpus 'tiny': 1 files, 1 directories, 4 bytes, \
         expected 10 files, 0 directories, 43095 bytes",
        dir.display()
    );
    assert_eq!(error, expected);
}

#[test]
fn verify_finds_extra_file_or_byte() {
    let temp = TempDir::new();
    let dir = temp.join("tiny");
    create("tiny", &dir).unwrap();
    let file = dir.join(&names(&dir)[0]);
    let text = fs::read(&file).unwrap();
    fs::write(&file, &text[1..]).unwrap();
    assert!(corpora::verify(corpus("tiny"), &dir).is_err());
    fs::write(&file, &text).unwrap();
    corpora::verify(corpus("tiny"), &dir).unwrap();
    fs::write(dir.join("more"), "").unwrap();
    assert!(corpora::verify(corpus("tiny"), &dir).is_err());
}

#[test]
fn error_half_way_leaves_nothing() {
    let temp = TempDir::new();
    let flat = corpus("flat-1000");
    let Some(Step::File { name, .. }) = flat.plan().nth(300) else { panic!("a flat tree") };
    let obstacle = temp.join("flat.partial").join(name);
    let mut progress = |_| drop(fs::write(&obstacle, ""));
    let error = corpora::create(flat, &temp.join("flat"), &mut progress, &Cancel::new());
    let error = error.unwrap_err();
    let expected = format!("cannot create file '{}': ", obstacle.display());
    assert!(error.starts_with(&expected), "{error}");
    assert!(names(temp.path()).is_empty());
}

#[test]
fn tree_with_other_counts_not_published() {
    let temp = TempDir::new();
    let stranger = temp.join("tiny.partial/stranger");
    let mut progress = |_| fs::write(&stranger, "").unwrap();
    let made = corpora::create(corpus("tiny"), &temp.join("tiny"), &mut progress, &Cancel::new());
    let error = made.unwrap_err();
    assert!(error.contains("11 files") && error.contains("expected 10 files"), "{error}");
    assert!(names(temp.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn free_space_of_missing_target_is_that_of_its_file_system() {
    let temp = TempDir::new();
    let free = corpora::free_space(temp.path()).unwrap();
    assert!(free.bytes.is_some_and(|bytes| bytes > 0), "{free:?}");
    corpora::check_free_space(corpus("tiny"), &temp.join("not-there-yet")).unwrap();
    assert!(names(temp.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn unwritable_parent_reported_before_writing() {
    use std::os::unix::fs::PermissionsExt;
    let temp = TempDir::new();
    let locked = temp.join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::create_dir(locked.join("probe")).is_ok() {
        let test = "unwritable_parent_reported_before_writing";
        return run_as_nobody(test);
    }
    let error = create("tiny", &locked.join("tiny")).unwrap_err();
    let expected = format!("cannot create directory '{}': ", locked.join("tiny.partial").display());
    assert!(error.starts_with(&expected), "{error}");
    assert!(names(&locked).is_empty());
}

/// Runs a test again in a process of an unprivileged user, for which permissions are checked.
#[cfg(unix)]
fn run_as_nobody(test: &str) {
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;
    const ASKED: &str = "TRANSECT_LAB_NOBODY";
    assert!(std::env::var_os(ASKED).is_none(), "permissions hold for nobody");
    let ran = std::process::Command::new(std::env::current_exe().unwrap())
        .args([&format!("corpus::{test}"), "--exact", "--nocapture"])
        .env(ASKED, "")
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    match ran {
        Ok(ran) => assert_passed(test, &ran),
        Err(error) => {
            transect_testkit::loudly_skip(test, format!("nobody cannot run the tests: {error}"));
        }
    }
}

#[cfg(unix)]
#[track_caller]
fn assert_passed(test: &str, ran: &std::process::Output) {
    let stdout = String::from_utf8_lossy(&ran.stdout);
    let stderr = String::from_utf8_lossy(&ran.stderr);
    // A misspelt name would run no test and succeed.
    let passed = ran.status.success() && stdout.contains("1 passed");
    assert!(passed, "{test}: {}\n{stdout}\n{stderr}", ran.status);
}

/// Tests on temporary file systems in their own mount namespaces, so nothing stays mounted.
#[cfg(target_os = "linux")]
mod mounted {
    use std::process::Command;

    use transect_testkit::loudly_skip;

    use super::*;

    /// Set to the mount point in the process that has the file system.
    const MOUNTED: &str = "TRANSECT_LAB_MOUNTED";

    /// Mounts a tmpfs and runs `body` with its path, in another process that runs this test again.
    fn with_tmpfs(test: &str, options: &str, body: impl FnOnce(&Path)) {
        if let Some(path) = std::env::var_os(MOUNTED) {
            return body(Path::new(&path));
        }
        let temp = TempDir::new();
        let shell = |namespace: &str, script: &str| {
            Command::new("unshare")
                .args([namespace, "sh", "-c", script, "sh", options])
                .arg(temp.path())
                .arg(std::env::current_exe().unwrap())
                .args([&format!("corpus::mounted::{test}"), "--exact", "--nocapture"])
                .env(MOUNTED, temp.path())
                .output()
        };
        let mount = r#"mount -t tmpfs -o "$1" tmpfs "$2""#;
        // Root can create a mount namespace; other users need a user namespace, if the system allows it.
        let can =
            |namespace: &&str| shell(namespace, mount).is_ok_and(|output| output.status.success());
        let Some(namespace) = ["-m", "-rm"].iter().find(|namespace| can(namespace)) else {
            return loudly_skip(test, "nothing can be mounted");
        };
        let ran = shell(namespace, &format!(r#"{mount} && shift 2 && exec "$@""#)).unwrap();
        assert_passed(test, &ran);
    }

    #[test]
    fn missing_space_reported_before_writing() {
        let test = "missing_space_reported_before_writing";
        with_tmpfs(test, "size=4m", |root| {
            let needs = corpus("flat-1000").space_needed();
            let error = create("flat-1000", &root.join("flat")).unwrap_err();
            let needs = needs.to_string();
            assert!(error.contains(&needs) && error.contains("4194304 bytes"), "{error}");
            assert!(names(root).is_empty());
        });
    }

    #[test]
    fn missing_inodes_reported_before_writing() {
        let test = "missing_inodes_reported_before_writing";
        with_tmpfs(test, "size=64m,nr_inodes=500", |root| {
            let error = create("flat-1000", &root.join("flat")).unwrap_err();
            assert!(error.contains("it needs") && error.contains("1001 inodes"), "{error}");
            assert!(names(root).is_empty());
        });
    }

    #[test]
    fn unlimited_inodes_accepted() {
        let test = "unlimited_inodes_accepted";
        with_tmpfs(test, "size=64m,nr_inodes=0", |root| {
            assert_eq!(corpora::free_space(root).unwrap().inodes, None);
            create("flat-1000", &root.join("flat")).unwrap();
        });
    }

    #[test]
    fn space_exhausted_during_creation_leaves_nothing() {
        let test = "space_exhausted_during_creation_leaves_nothing";
        with_tmpfs(test, "size=8m", |root| {
            let other = root.join("other");
            let mut progress = |_| {
                // Fills the remaining space, and fails at its end.
                let _ = fs::write(&other, vec![1; 8 << 20]);
            };
            let flat = corpus("flat-1000");
            let made = corpora::create(flat, &root.join("flat"), &mut progress, &Cancel::new());
            let error = made.unwrap_err();
            assert!(error.starts_with("cannot create file '"), "{error}");
            assert!(error.ends_with(": No space left on device"), "{error}");
            assert_eq!(names(root), ["other"]);
        });
    }

    #[test]
    fn read_only_file_system_reported_before_writing() {
        let test = "read_only_file_system_reported_before_writing";
        with_tmpfs(test, "ro", |root| {
            let error = create("tiny", &root.join("tiny")).unwrap_err();
            let partial = root.join("tiny.partial");
            let partial = partial.display();
            let expected = format!("cannot create directory '{partial}': Read-only file system");
            assert_eq!(error, expected);
        });
    }
}
