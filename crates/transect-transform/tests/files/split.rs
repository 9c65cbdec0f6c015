//! Splitting files, and joining them.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;

use proptest::prelude::*;
use transect::Cancel;
use transect_testkit::TempDir;
#[cfg(unix)]
use transect_testkit::loudly_skip;
use transect_transform::Error;
use transect_transform::publish::{Durability, Existing, ReplaceOptions};
use transect_transform::split::{JoinReport, SplitReport, join, split};

use crate::support::{existing, message, names, text};

fn in_parts(input: &Path, part: u64, options: ReplaceOptions) -> Result<SplitReport, Error> {
    split(input, input, NonZeroU64::new(part).unwrap(), options, &Cancel::new())
}

fn joined(manifest: &Path, target: &Path) -> Result<JoinReport, Error> {
    join(manifest, target, ReplaceOptions::default(), &Cancel::new())
}

/// Regression: ran out of memory.
#[test]
fn split_too_many_parts_rejected() {
    let temp = TempDir::new();
    let file = temp.join("file");
    std::fs::File::create_new(&file).unwrap().set_len(1 << 40).unwrap();
    let refused = message(in_parts(&file, 1, ReplaceOptions::default()));
    let expected = "it has 1099511627776 parts of that size, and 999999 are the most; choose a size \
                    of 1099513 or more";
    assert!(refused.ends_with(expected), "{refused}");
    assert_eq!(names(temp.path()), ["file"]);
}

/// Regression: was read as a whole, which took a gigabyte, or was rejected for its length.
#[test]
fn join_manifest_one_long_line_rejected_unread() {
    let ten = Ten::new();
    std::fs::File::create(ten.manifest()).unwrap().set_len(1 << 40).unwrap();
    let refused = ten.join_error();
    assert!(refused.ends_with("line 1: it is too long for a digest and a path"), "{refused}");
}

/// A file of ten bytes in parts of four.
struct Ten {
    temp: TempDir,
    target: PathBuf,
}

impl Ten {
    fn new() -> Self {
        let temp = TempDir::new();
        std::fs::write(temp.join("file"), "0123456789").unwrap();
        in_parts(&temp.join("file"), 4, ReplaceOptions::default()).unwrap();
        let target = temp.join("again");
        Self { temp, target }
    }

    fn part(&self, number: u32) -> PathBuf {
        self.temp.join(format!("file.00000{number}"))
    }

    fn manifest(&self) -> PathBuf {
        self.temp.join("file.parts")
    }

    fn whole(&self) -> PathBuf {
        self.temp.join("file.blake3")
    }

    /// Joins parts that must not be joined, and returns the error.
    fn join_error(&self) -> String {
        let before = names(self.temp.path());
        let why = message(joined(&self.manifest(), &self.target));
        assert_eq!(names(self.temp.path()), before, "nothing is left");
        why
    }
}

#[test]
fn split_join_round_trip() {
    for (size, part, count) in [
        (0, 1, 0),
        (1, 1, 1),
        (10, 4, 3),
        (8, 4, 2),
        (10, 1000, 1),
        (1_000_000, 300_000, 4),
        (600_000, 262_144, 3),
    ] {
        for durability in [Durability::None, Durability::File] {
            let temp = TempDir::new();
            let (file, again) = (temp.join("file"), temp.join("again"));
            let bytes = text(size);
            std::fs::write(&file, &bytes).unwrap();
            let options = ReplaceOptions::default().durability(durability);
            let made = in_parts(&file, part, options).unwrap();
            let expected: Vec<_> =
                (1..=count).map(|at| temp.join(format!("file.{at:06}"))).collect();
            assert_eq!(made.parts, expected);
            assert_eq!(made.manifest, temp.join("file.parts"));
            assert_eq!(made.digest, blake3::hash(&bytes).to_hex().as_str());
            let all: Vec<_> = expected.iter().map(|path| std::fs::read(path).unwrap()).collect();
            assert!(all.concat() == bytes);
            assert!(all.iter().rev().skip(1).all(|bytes| bytes.len() as u64 == part));
            let joined = joined(&made.manifest, &again).unwrap();
            assert_eq!((joined.parts, joined.size), (count, size as u64));
            assert_eq!(joined.digest, made.digest);
            assert!(std::fs::read(&again).unwrap() == bytes);
            assert_eq!(names(temp.path()).len(), count + 4, "{:?}", names(temp.path()));
        }
    }
}

#[test]
fn join_missing_or_changed_part_named() {
    let ten = Ten::new();
    std::fs::remove_file(ten.part(2)).unwrap();
    let why = ten.join_error();
    assert!(why.starts_with(&format!("cannot read '{}': ", ten.part(2).display())), "{why}");
    for (bytes, expected) in [
        ("456", "it has 3 bytes, and should have 4"),
        ("45678", "it has 5 bytes, and should have 4"),
        ("", "it has 0 bytes, and should have 4"),
        ("4568", "its BLAKE3 digest differs from the manifest"),
    ] {
        std::fs::write(ten.part(2), bytes).unwrap();
        let path = ten.part(2);
        assert_eq!(ten.join_error(), format!("cannot join '{}': {expected}", path.display()));
    }
    // Two parts are exchanged.
    std::fs::write(ten.part(2), "0123").unwrap();
    std::fs::write(ten.part(1), "4567").unwrap();
    let why = ten.join_error();
    assert!(why.contains("file.000001': its BLAKE3 digest differs"), "{why}");
    std::fs::write(ten.part(1), "0123").unwrap();
    std::fs::write(ten.part(2), "4567").unwrap();
    joined(&ten.manifest(), &ten.target).unwrap();
    assert_eq!(std::fs::read(&ten.target).unwrap(), b"0123456789");
}

#[test]
fn join_reordered_or_foreign_manifest_rejected() {
    let ten = Ten::new();
    let right = std::fs::read_to_string(ten.manifest()).unwrap();
    let mut lines: Vec<_> = right.lines().collect();
    lines.swap(0, 1);
    std::fs::write(ten.manifest(), lines.join("\n")).unwrap();
    let expected = format!(
        "cannot join '{}': its parts match their digests, but not the digest of the whole file",
        ten.manifest().display()
    );
    assert_eq!(ten.join_error(), expected);
    // Without the last line, the new last part is as long as the others.
    let (before, _last) = right.rsplit_once(lines[2]).unwrap();
    std::fs::write(ten.manifest(), before).unwrap();
    assert_eq!(ten.join_error(), expected);
    std::fs::write(ten.manifest(), &right).unwrap();
    let whole = std::fs::read_to_string(ten.whole()).unwrap();
    let digest = blake3::hash(b"0123456789").to_hex();
    let other = whole.replace(digest.as_str(), &"0".repeat(64));
    std::fs::write(ten.whole(), &other).unwrap();
    assert_eq!(ten.join_error(), expected);
    std::fs::write(ten.whole(), other.repeat(2)).unwrap();
    assert!(ten.join_error().ends_with("it has 2 lines of a digest, and should have one"));
    std::fs::write(ten.whole(), whole).unwrap();
    let elsewhere = right.replace("file.000002", "../file.000002");
    std::fs::write(ten.manifest(), elsewhere).unwrap();
    assert!(ten.join_error().ends_with("'../file.000002' is a path, not a file name"));
    // Other line endings do not change the manifest.
    std::fs::write(ten.manifest(), right.replace('\n', "\r\n")).unwrap();
    joined(&ten.manifest(), &ten.target).unwrap();
}

#[test]
fn split_existing_target_rejected_before_writing() {
    let ten = Ten::new();
    let before = names(ten.temp.path());
    let file = ten.temp.join("file");
    std::fs::write(&file, "abcdefghij").unwrap();
    for there in [Some(ten.part(3)), Some(ten.manifest()), Some(ten.whole()), None] {
        for number in 1..=3 {
            let _ = std::fs::remove_file(ten.part(number));
        }
        let _ = std::fs::remove_file(ten.manifest());
        let _ = std::fs::remove_file(ten.whole());
        if let Some(there) = &there {
            std::fs::write(there, "mine").unwrap();
        }
        let made = in_parts(&file, 4, ReplaceOptions::default());
        match there {
            Some(there) => {
                let expected = format!("cannot replace '{}': it already exists", there.display());
                assert_eq!(message(made), expected);
                assert_eq!(std::fs::read(&there).unwrap(), b"mine");
                assert_eq!(names(ten.temp.path()).len(), 2);
            }
            None => assert_eq!(made.unwrap().parts.len(), 3),
        }
    }
    // Replaced if allowed: by a split into the same parts, then into fewer.
    std::fs::write(&file, "ABCDEFGHIJ").unwrap();
    in_parts(&file, 4, existing(Existing::Replace)).unwrap();
    assert_eq!(names(ten.temp.path()), before);
    in_parts(&file, 5, existing(Existing::Replace)).unwrap();
    assert_eq!(joined(&ten.manifest(), &ten.target).unwrap().parts, 2);
    assert_eq!(std::fs::read(&ten.target).unwrap(), b"ABCDEFGHIJ");
    // An existing target, and one that is a part.
    assert!(ten.join_error().ends_with("it already exists"));
    let replace = existing(Existing::Replace);
    for target in [ten.part(2), ten.manifest(), ten.whole()] {
        let refused = message(join(&ten.manifest(), &target, replace, &Cancel::new()));
        assert!(refused.ends_with("it is the input itself"), "{refused}");
    }
    join(&ten.manifest(), &ten.target, replace, &Cancel::new()).unwrap();
}

#[test]
fn split_join_cancelled_leave_nothing() {
    let ten = Ten::new();
    let stopped = Cancel::new();
    stopped.cancel();
    let before = names(ten.temp.path());
    let options = ReplaceOptions::default();
    let target = ten.temp.join("other");
    let part = NonZeroU64::new(3).unwrap();
    let why = message(split(&ten.temp.join("file"), &target, part, options, &stopped));
    assert!(why.ends_with("stopped"), "{why}");
    let why = message(join(&ten.manifest(), &ten.target, options, &stopped));
    assert!(why.ends_with("stopped"), "{why}");
    assert_eq!(names(ten.temp.path()), before);
}

#[test]
#[cfg(unix)]
fn split_parts_checked_by_b3sum() {
    const TEST: &str = "split_parts_checked_by_b3sum";
    let temp = TempDir::new();
    // A name that must be escaped.
    let file = temp.join("a\\file\nof two lines");
    std::fs::write(&file, text(1000)).unwrap();
    let made = in_parts(&file, 300, ReplaceOptions::default()).unwrap();
    assert_eq!(std::fs::read_to_string(&made.manifest).unwrap().lines().count(), 4);
    let check = |lines: &Path| {
        let mut command = Command::new("b3sum");
        command.arg("--check").arg(lines).current_dir(temp.path()).output()
    };
    let whole = made.manifest.with_extension("blake3");
    for lines in [&made.manifest, &whole] {
        let Ok(checked) = check(lines) else {
            return loudly_skip(TEST, "there is no b3sum");
        };
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
    std::fs::write(&made.parts[2], "changed").unwrap();
    assert!(!check(&made.manifest).unwrap().status.success());
    std::fs::write(&file, "changed").unwrap();
    assert!(!check(&whole).unwrap().status.success());
}

#[test]
fn join_first_form_manifest() {
    let ten = Ten::new();
    let digest = std::fs::read_to_string(ten.whole()).unwrap();
    let digest = digest.split(' ').next().unwrap();
    let head = format!("# transect split 1\n# size: 10\n# part: 4\n# blake3: {digest}\n");
    let lines = std::fs::read_to_string(ten.manifest()).unwrap();
    std::fs::remove_file(ten.whole()).unwrap();
    // The name of the manifest does not matter.
    let manifest = ten.temp.join("manifest");
    std::fs::write(&manifest, head + &lines).unwrap();
    assert_eq!(joined(&manifest, &ten.target).unwrap().digest, digest);
    assert_eq!(std::fs::read(&ten.target).unwrap(), b"0123456789");
    // The current form does not contain the digest of the whole.
    std::fs::write(&manifest, &lines).unwrap();
    assert!(message(joined(&manifest, &ten.temp.join("other"))).contains("does not end with"));
    let why = message(joined(&ten.manifest(), &ten.temp.join("other")));
    assert!(why.starts_with(&format!("cannot read '{}': ", ten.whole().display())), "{why}");
}

#[cfg(target_os = "linux")]
#[test]
fn split_join_keep_holes() {
    let temp = TempDir::new();
    let (file, again) = (temp.join("file"), temp.join("again"));
    let allocated = |path: &Path| {
        transect_transform::Source::open(path).unwrap().attributes().allocated().unwrap()
    };
    std::fs::write(&file, "at the beginning").unwrap();
    std::fs::File::options().write(true).open(&file).unwrap().set_len(8 << 20).unwrap();
    if allocated(&file) > 1 << 20 {
        return loudly_skip("split_join_keep_holes", "this file system has no holes");
    }
    let made = in_parts(&file, 3 << 20, ReplaceOptions::default()).unwrap();
    assert_eq!(made.parts.len(), 3);
    assert!(made.parts.iter().all(|part| allocated(part) <= 8192));
    joined(&made.manifest, &again).unwrap();
    assert!(allocated(&again) <= 8192, "{}", allocated(&again));
    assert!(std::fs::read(&again).unwrap() == std::fs::read(&file).unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn split_pseudo_file_rejected() {
    let temp = TempDir::new();
    let part = NonZeroU64::new(10).unwrap();
    let options = ReplaceOptions::default();
    let version = Path::new("/proc/version");
    message(split(version, &temp.join("file"), part, options, &Cancel::new()));
    assert_eq!(names(temp.path()).len(), 0);
}

/// A split that is killed after publishing the parts, before the manifest.
#[test]
fn join_parts_without_manifest_rejected() {
    let ten = Ten::new();
    std::fs::remove_file(ten.manifest()).unwrap();
    let why = ten.join_error();
    assert!(why.starts_with(&format!("cannot read '{}': ", ten.manifest().display())), "{why}");
    std::fs::write(ten.manifest(), "").unwrap();
    assert!(ten.join_error().ends_with("but not the digest of the whole file"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn join_any_change_detected(
        at in any::<prop::sample::Index>(),
        which in 0..5_usize,
        bit in 0..8_u32,
    ) {
        let ten = Ten::new();
        let paths = [ten.part(1), ten.part(2), ten.part(3), ten.manifest(), ten.whole()];
        let path = &paths[which];
        let mut bytes = std::fs::read(path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        std::fs::write(path, &bytes).unwrap();
        // A manifest may have another spelling, such as capital letters in a digest.
        if joined(&ten.manifest(), &ten.target).is_ok() {
            prop_assert!(which >= 3);
            prop_assert_eq!(std::fs::read(&ten.target).unwrap(), b"0123456789");
        }
    }
}
