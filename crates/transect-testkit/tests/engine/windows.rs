//! Windows specifics: spellings of paths, names with a special meaning, sharing.
//!
//! The tests also run under Wine. Where Windows and Wine can create different files, a test checks
//! something else instead, and a comment describes it.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use transect::{FaultKind, Operation, ReaderKind, ScanOptions, SkipReason};
use transect_testkit::oracle::oracle;
use transect_testkit::{
    TempDir, has_unix_shell, in_own_process, loudly_skip, trees, unix_shell, within,
};

use crate::support::{
    assert_complete, counts, native_readers, paths, readable, readers, scan, skipped, totals,
};

/// The flag that opens directories (`FILE_FLAG_BACKUP_SEMANTICS`).
const BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// Returns a path without its verbatim prefix.
fn plain(path: &Path) -> String {
    let path = path.to_str().expect("temporary directories have readable names");
    path.strip_prefix(r"\\?\").expect("temporary directories have verbatim paths").to_owned()
}

fn tree_of(build: trees::Build) -> (TempDir, PathBuf) {
    let temp = TempDir::new();
    let root = temp.join("Tree");
    std::fs::create_dir(&root).unwrap();
    build(&root);
    (temp, root)
}

fn verbatim(root: &Path, name: &str) -> PathBuf {
    PathBuf::from(format!(r"{}\{name}", root.display()))
}

// ---- spellings of a root ----

#[test]
fn root_every_spelling_read() {
    let (_temp, root) = tree_of(trees::basic);
    let expected = oracle(&root);
    let verbatim = root.to_str().unwrap().to_owned();
    let plain = plain(&root);
    for written in [
        verbatim.clone(),
        format!(r"{verbatim}\"),
        plain.clone(),
        format!(r"{plain}\"),
        format!(r"{plain}\\"),
        format!("{plain}/"),
        plain.replace('\\', "/"),
        plain.replace('\\', r"\\").replacen(r"\\", r"\", 1),
        plain.replace("Tree", r".\Tree\.\src\.."),
        plain.to_lowercase(),
        plain.to_uppercase(),
        format!(r"\\.\{plain}"),
    ] {
        for reader in readers() {
            let context = format!("{written} with {}", reader.as_str());
            let got = totals(scan(&written).reader(reader));
            assert_complete(&got.diagnostics, &context);
            counts(&got).assert_are(&expected.counts, &context);
            let (listed, diagnostics) = paths(scan(&written).reader(reader));
            assert_complete(&diagnostics, &context);
            assert_eq!(listed.len(), expected.paths.len(), "{context}");
            assert_eq!(listed[0], written.as_bytes(), "{context}");
            for path in &listed {
                assert!(path.starts_with(written.as_bytes()), "{context}: {path:?}");
            }
        }
    }
}

#[test]
fn root_relative_to_current_directory() {
    in_own_process("windows::root_relative_to_current_directory", || {
        let (_temp, root) = tree_of(trees::basic);
        let whole = oracle(&root).counts;
        let src = oracle(root.join("src")).counts;
        let plain = plain(&root);
        std::env::set_current_dir(&plain).unwrap();
        let (drive, without_drive) = plain.split_at(2);
        for (written, expected) in [
            (".", &whole),
            (r".\", &whole),
            ("./", &whole),
            (r"..\tree", &whole),
            (r"src\..", &whole),
            ("src", &src),
            ("src/", &src),
            (r".\src", &src),
            (drive, &whole),
            (&format!("{drive}src"), &src),
            (without_drive, &whole),
        ] {
            for reader in readers() {
                let context = format!("{written} with {}", reader.as_str());
                let got = totals(scan(written).reader(reader));
                assert_complete(&got.diagnostics, &context);
                counts(&got).assert_are(expected, &context);
            }
        }
    });
}

#[test]
fn root_file_counted() {
    let (_temp, root) = tree_of(trees::basic);
    let file = root.join("src").join("main");
    for written in
        [file.to_str().unwrap().to_owned(), plain(&file), plain(&file).replace('\\', "/")]
    {
        for reader in readers() {
            let context = format!("{written} with {}", reader.as_str());
            let got = totals(scan(&written).reader(reader));
            assert_complete(&got.diagnostics, &context);
            assert_eq!((got.files, got.directories), (1, 0), "{context}");
            assert_eq!(got.sizes.apparent, 5000, "{context}");
            assert_eq!(paths(scan(&written).reader(reader)).0, [written.as_bytes()], "{context}");
        }
    }
}

#[test]
fn root_missing_is_single_error() {
    let temp = TempDir::new();
    std::fs::write(temp.join("file"), "").unwrap();
    let missing_drive = ('D'..='Y')
        .map(|letter| format!(r"{letter}:\"))
        .find(|drive| !Path::new(drive).exists())
        .expect("not all letters are drives");
    let at = |path: &str| format!(r"{}\{path}", plain(temp.path()));
    for (root, kind) in [
        (missing_drive.clone(), FaultKind::NotFound),
        (format!("{missing_drive}missing"), FaultKind::NotFound),
        (at("missing"), FaultKind::NotFound),
        (at(r"missing\below"), FaultKind::NotFound),
        (temp.join("missing").to_str().unwrap().to_owned(), FaultKind::NotFound),
    ] {
        for reader in readers() {
            let context = format!("{root} with {}", reader.as_str());
            let got = totals(scan(&root).reader(reader));
            assert_eq!((got.entries(), got.diagnostics.vanished), (0, 0), "{context}");
            assert_eq!((got.diagnostics.errors, got.diagnostics.failed_roots), (1, 1), "{context}");
            assert_eq!(
                got.diagnostics.kept_errors[0].kind(),
                kind,
                "{context}: {:?}",
                got.diagnostics.kept_errors
            );
        }
    }
}

/// Some system calls treat a name as a pattern. A path from a user never is one.
#[test]
fn root_with_asterisk_matches_nothing() {
    let temp = TempDir::new();
    std::fs::create_dir(temp.join("directory")).unwrap();
    std::fs::write(temp.join("directory").join("file"), "").unwrap();
    for below in ["*", "dir*", r"*\file", r"directory\*", r"directory\fil?", r"directory\<"] {
        for root in [
            format!(r"{}\{below}", plain(temp.path())),
            format!(r"{}\{below}", temp.path().display()),
        ] {
            for reader in readers() {
                let context = format!("{root} with {}", reader.as_str());
                let got = totals(scan(&root).reader(reader));
                assert_eq!(got.entries(), 0, "{context}");
                assert_eq!(
                    (got.diagnostics.errors, got.diagnostics.failed_roots),
                    (1, 1),
                    "{context}"
                );
                let kind = got.diagnostics.kept_errors[0].kind();
                assert_eq!(
                    kind,
                    FaultKind::InvalidName,
                    "{context}: {:?}",
                    got.diagnostics.kept_errors
                );
            }
        }
    }
}

#[test]
fn root_verbatim_taken_literally() {
    let temp = TempDir::new();
    let roots = ["x", "x.", "x ", "NUL", "aux.txt"];
    for (files, root) in roots.iter().enumerate() {
        let root = verbatim(temp.path(), root);
        std::fs::create_dir(&root).unwrap();
        for file in 0..=files {
            std::fs::write(verbatim(&root, &format!("{file}.")), "").unwrap();
        }
    }
    for (files, root) in roots.iter().enumerate() {
        for reader in readers() {
            let got = totals(scan(verbatim(temp.path(), root)).reader(reader));
            let context = format!("'{root}' with {}", reader.as_str());
            assert_complete(&got.diagnostics, &context);
            assert_eq!(got.files, files as u64 + 1, "{context}");
        }
    }
}

#[test]
fn roots_different_spellings_counted_once() {
    let (_temp, root) = tree_of(trees::basic);
    let expected = oracle(&root).counts;
    let verbatim = root.to_str().unwrap().to_owned();
    let plain = plain(&root);
    for roots in [
        [plain.clone(), plain.clone()],
        [plain.clone(), verbatim.clone()],
        [verbatim.clone(), plain.clone()],
        [plain.clone(), format!(r"{plain}\")],
        [plain.clone(), plain.replace('\\', "/")],
        [plain.clone(), plain.to_uppercase()],
        [plain.to_lowercase(), plain.clone()],
        [plain.to_lowercase(), plain.to_uppercase()],
        [format!(r"{plain}\SRC\A"), plain.clone()],
        [plain.to_lowercase(), format!(r"{plain}\src\MAIN")],
    ] {
        for reader in readers() {
            let context = format!("{roots:?} with {}", reader.as_str());
            let got = totals(ScanOptions::new(&roots).reader(reader));
            assert_complete(&got.diagnostics, &context);
            counts(&got).assert_are(&expected, &context);
            assert_eq!(skipped(&got.diagnostics, SkipReason::OverlappingRoot), 1, "{context}");
        }
    }
}

// ---- names and paths ----

#[test]
fn path_over_260_characters_from_plain_root_read() {
    let (_temp, root) = tree_of(trees::deep);
    let expected = oracle(&root).counts;
    for reader in readers() {
        let got = totals(scan(plain(&root)).reader(reader));
        assert_complete(&got.diagnostics, reader.as_str());
        counts(&got).assert_are(&expected, reader.as_str());
    }
}

/// Native readers only. For `std`, and so for the portable reader, `x.` is `x` unless the root is a
/// verbatim path.
#[test]
fn names_with_special_meaning_from_plain_root_read() {
    let (_temp, root) = tree_of(trees::weirdnames);
    let expected = oracle(&root);
    for reader in native_readers() {
        let options = scan(plain(&root)).reader(reader);
        let got = totals(options.clone());
        assert_complete(&got.diagnostics, reader.as_str());
        counts(&got).assert_are(&expected.counts, reader.as_str());
        let (listed, diagnostics) = paths(options);
        assert_complete(&diagnostics, reader.as_str());
        let below = |paths: &[Vec<u8>], root: &str| -> Vec<Vec<u8>> {
            paths.iter().map(|path| path.strip_prefix(root.as_bytes()).unwrap().to_vec()).collect()
        };
        let expected = below(&expected.paths, root.to_str().unwrap());
        assert!(below(&listed, &plain(&root)) == expected, "{}", reader.as_str());
    }
}

/// Windows accepts 32,767 characters. Under Wine a path ends after 4,096 bytes: readers that open
/// relative to handles get further, all others report the path and continue.
#[test]
fn path_nine_thousand_characters_read_or_reported_too_long() {
    let temp = TempDir::new();
    let expected = trees::beyond_path_max(temp.path());
    assert_eq!((expected.directories, expected.files), (151, 15));
    std::fs::write(temp.join("beside"), "").unwrap();
    for reader in readers() {
        let got = totals(scan(temp.path()).reader(reader));
        let context = reader.as_str();
        let relative = matches!(reader, ReaderKind::NtQuery | ReaderKind::ByHandle);
        if relative || !has_unix_shell() {
            assert_complete(&got.diagnostics, context);
            assert_eq!((got.directories, got.files), (151, 16), "{context}");
            assert_eq!(got.sizes.apparent, expected.apparent_size, "{context}");
        } else {
            let mut operations = got.diagnostics.errors_by.keys().map(|(operation, _)| *operation);
            assert!(
                operations.any(|operation| operation == Operation::OpenDirectory),
                "{context}: {:?}",
                got.diagnostics.kept_errors
            );
            assert!((60..80).contains(&got.directories), "{context}: {}", got.directories);
            assert!((6..9).contains(&got.files), "{context}: {}", got.files);
            assert_eq!(got.diagnostics.vanished, 0, "{context}");
        }
    }
}

/// Names of every length make records end at every offset of the buffer.
#[test]
fn names_every_length_at_buffer_end_listed() {
    let temp = TempDir::new();
    let mut expected = BTreeSet::from([temp.path().to_path_buf()]);
    for number in 0..1500_usize {
        let path = temp.join(format!("{number:04}{}", "n".repeat(number * 7 % 252)));
        std::fs::write(&path, "").unwrap();
        expected.insert(path);
        let count = number + 1;
        // Few enough for one buffer, and more.
        if !matches!(count, 1 | 20 | 150 | 1500) {
            continue;
        }
        for reader in readers() {
            let buffer_sizes: &[Option<usize>] =
                if reader.takes_buffer_size() { &[None, Some(4096)] } else { &[None] };
            for &buffer_size in buffer_sizes {
                let context = format!("{count} with {} and {buffer_size:?}", reader.as_str());
                let mut options = scan(temp.path()).reader(reader);
                options.settings.buffer_size = buffer_size;
                let (listed, diagnostics) = paths(options.clone());
                assert_complete(&diagnostics, &context);
                let listed: BTreeSet<PathBuf> =
                    readable(&listed).into_iter().map(PathBuf::from).collect();
                assert!(listed == expected, "{context}: {} of {}", listed.len(), expected.len());
                // Other records are used with attributes. Not all of them: some readers open each
                // file.
                if count < 1500 || buffer_size.is_some() {
                    assert_eq!(totals(options).files, count as u64, "{context}");
                }
            }
        }
    }
}

#[test]
fn short_names_not_listed() {
    let temp = TempDir::new();
    for name in ["a long name.extension", "another long name.extension", "short.txt", "real~1.txt"]
    {
        std::fs::write(temp.join(name), "").unwrap();
    }
    std::fs::create_dir(temp.join("a long directory name")).unwrap();
    std::fs::write(temp.join("a long directory name").join("a long name.extension"), "").unwrap();
    for reader in readers() {
        let (listed, diagnostics) = paths(scan(temp.path()).reader(reader));
        assert_complete(&diagnostics, reader.as_str());
        assert_eq!(listed, oracle(temp.path()).paths, "{}", reader.as_str());
        assert_eq!(listed.len(), 7, "{}", reader.as_str());
    }
}

/// On Windows, names may differ in case only inside a directory with that setting; under Wine, Unix
/// programs create them.
#[test]
fn names_differing_in_case_are_two() {
    let temp = TempDir::new();
    let told = Command::new("fsutil")
        .args(["file", "setCaseSensitiveInfo"])
        .arg(plain(temp.path()))
        .arg("enable")
        .output();
    if unix_shell(temp.path(), "echo 1 > name; echo 12345 > Name; mkdir D d; touch D/x d/X")
        .is_none()
    {
        if !told.is_ok_and(|output| output.status.success()) {
            return loudly_skip("names_differing_in_case_are_two", "not on this volume");
        }
        std::fs::write(temp.join("name"), "1\n").unwrap();
        std::fs::write(temp.join("Name"), "12345\n").unwrap();
        for (directory, file) in [("D", "x"), ("d", "X")] {
            std::fs::create_dir(temp.join(directory)).unwrap();
            std::fs::write(temp.join(directory).join(file), "").unwrap();
        }
    }
    for reader in readers() {
        let got = totals(scan(temp.path()).reader(reader));
        assert_complete(&got.diagnostics, reader.as_str());
        assert_eq!((got.files, got.directories), (4, 3), "{}", reader.as_str());
        assert_eq!(got.sizes.apparent, 2 + 6, "{}", reader.as_str());
        assert_eq!(got.hard_links, 0, "{}", reader.as_str());
    }
}

/// Names that Wine lists and rejects: they are listed, and match only themselves.
#[test]
fn names_only_unix_can_create_listed() {
    let temp = TempDir::new();
    let names = ["a*b", "a?b", "a<b", "a|b", "a\"b", "new\nline", "aXb"];
    let script: String = names.iter().map(|name| format!("touch '{name}'; ")).collect();
    if unix_shell(temp.path(), &script).is_none() {
        // Windows has no such names: nothing to test.
        return;
    }
    for reader in readers() {
        let (listed, diagnostics) = paths(scan(temp.path()).reader(reader));
        assert_complete(&diagnostics, reader.as_str());
        let listed: BTreeSet<String> = readable(&listed).into_iter().collect();
        for name in names {
            let path = format!(r"{}\{name}", temp.path().display());
            assert!(listed.contains(&path), "{name:?} with {}: {listed:?}", reader.as_str());
        }
        assert_eq!(listed.len(), 1 + names.len(), "{}", reader.as_str());
    }
}

/// Wine has no streams: there the name of the stream is that of another file.
#[test]
fn streams_not_counted_as_files() {
    let temp = TempDir::new();
    std::fs::write(temp.join("file"), "12345").unwrap();
    std::fs::write(verbatim(temp.path(), "file:stream"), "1234567").unwrap();
    let (files, bytes) = if has_unix_shell() { (2, 12) } else { (1, 5) };
    for reader in readers() {
        let got = totals(scan(temp.path()).reader(reader));
        assert_complete(&got.diagnostics, reader.as_str());
        assert_eq!((got.files, got.sizes.apparent), (files, bytes), "{}", reader.as_str());
    }
}

// ---- attributes ----

#[test]
fn hidden_system_and_read_only_files_counted() {
    let temp = TempDir::new();
    for (name, attributes) in [("hidden", 0x2), ("system", 0x4), ("both", 0x6), ("read-only", 0x1)]
    {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).attributes(attributes).open(temp.join(name)).unwrap();
    }
    for reader in readers() {
        let got = totals(scan(temp.path()).reader(reader));
        assert_complete(&got.diagnostics, reader.as_str());
        assert_eq!(got.files, 4, "{}", reader.as_str());
    }
}

/// A junction; under Wine, which cannot create one, a link made by a Unix program, shown as a
/// reparse point of unknown kind.
#[test]
fn link_to_directory_counted_not_entered() {
    let temp = TempDir::new();
    let tree = temp.join("tree");
    std::fs::create_dir_all(tree.join("real")).unwrap();
    std::fs::create_dir(temp.join("outside")).unwrap();
    std::fs::write(tree.join("real").join("file"), "12345").unwrap();
    std::fs::write(temp.join("outside").join("file"), "1234567").unwrap();
    let script = "ln -s ../outside out; ln -s real in; ln -s .. real/up";
    if unix_shell(&tree, script).is_none() {
        let root = plain(temp.path());
        for (link, target) in [("out", "outside"), ("in", r"tree\real"), (r"real\up", "tree")] {
            let made = Command::new("cmd")
                .args(["/c", "mklink", "/J"])
                .arg(format!(r"{root}\tree\{link}"))
                .arg(format!(r"{root}\{target}"))
                .output()
                .unwrap();
            assert!(made.status.success(), "{made:?}");
        }
    }
    let expected = oracle(&tree);
    assert_eq!((expected.counts.symlinks, expected.counts.files), (3, 1));
    within("a walk of a tree with links", move || {
        for reader in readers() {
            let got = totals(scan(&tree).reader(reader));
            assert_complete(&got.diagnostics, reader.as_str());
            counts(&got).assert_are(&expected.counts, reader.as_str());
            let (listed, _) = paths(scan(&tree).reader(reader));
            assert_eq!(readable(&listed), readable(&expected.paths), "{}", reader.as_str());
        }
    });
}

#[test]
fn hard_links_below_two_roots_counted_once() {
    let (_temp, root) = tree_of(trees::hardlinks);
    let whole = oracle(&root).counts;
    // The tree also holds one name of a file.
    let roots = ["a", "b", "c"].map(|name| root.join(name));
    for reader in readers() {
        let got = totals(ScanOptions::new(&roots).reader(reader));
        assert_complete(&got.diagnostics, reader.as_str());
        assert_eq!(got.sizes.apparent, whole.apparent_size, "{}", reader.as_str());
        assert_eq!(got.hard_links, whole.hard_links - 1, "{}", reader.as_str());
        assert_eq!(got.files, whole.files - 1, "{}", reader.as_str());
    }
}

// ---- files opened by other programs ----

#[test]
fn directory_opened_exclusively_is_error_walk_continues() {
    let (_temp, root) = tree_of(trees::basic);
    let whole = oracle(&root).counts;
    let lost = oracle(root.join("src").join("a")).counts;
    let _kept = OpenOptions::new()
        .read(true)
        .share_mode(0)
        .custom_flags(BACKUP_SEMANTICS)
        .open(root.join("src").join("a"))
        .unwrap();
    for reader in readers() {
        let got = totals(scan(&root).reader(reader));
        let context = format!("{}: {:?}", reader.as_str(), got.diagnostics.kept_errors);
        assert_eq!((got.diagnostics.errors, got.diagnostics.vanished), (1, 0), "{context}");
        let error = &got.diagnostics.kept_errors[0];
        assert_eq!(error.operation(), Operation::OpenDirectory, "{context}");
        assert_eq!(error.kind(), FaultKind::SharingViolation, "{context}");
        assert_eq!(error.path(), root.join("src").join("a"), "{context}");
        assert_eq!(got.directories, whole.directories, "{context}");
        assert_eq!(got.files, whole.files - lost.files, "{context}");
        assert_eq!(got.sizes.apparent, whole.apparent_size - lost.apparent_size, "{context}");
    }
}

#[test]
fn file_opened_exclusively_counted_with_size() {
    let (_temp, root) = tree_of(trees::basic);
    let expected = oracle(&root).counts;
    let file = root.join("src").join("main");
    let _kept = OpenOptions::new().read(true).write(true).share_mode(0).open(file).unwrap();
    for reader in readers() {
        let got = totals(scan(&root).reader(reader));
        assert_complete(&got.diagnostics, reader.as_str());
        counts(&got).assert_are(&expected, reader.as_str());
    }
}
