//! File systems mounted below a root. Mounting needs privileges; without them the tests print that
//! they are skipped.

use std::path::PathBuf;
use std::process::Command;

use transect::{ScanOptions, SkipReason};
use transect_testkit::oracle::{oracle, oracle_on_one_device};
use transect_testkit::{Mount, TempDir, loudly_skip, trees, within};

use crate::support::{
    assert_complete, combinations, counts, paths, readable, scan, skipped, totals,
};

/// A tree with a tmpfs and an ext4 mounted below it, each with files.
struct Mounted {
    // Dropped in this order: inner mounts first.
    _mounts: [Mount; 3],
    root: PathBuf,
    _temp: TempDir,
}

fn mounted(test: &str) -> Option<Mounted> {
    let temp = TempDir::new();
    let root = temp.join("tree");
    std::fs::create_dir(&root).unwrap();
    trees::basic(&root);
    let mount = || -> Result<[Mount; 3], String> {
        let memory = Mount::tmpfs("64m", &root.join("src/memory"))?;
        trees::hardlinks(&{
            let tree = root.join("src/memory/tree");
            std::fs::create_dir(&tree).unwrap();
            tree
        });
        // The mount table writes this name with octal escapes.
        let disk = Mount::ext4(&temp.join("image"), &[], &root.join("a disk\n\\ here"))?;
        trees::basic(&root.join("a disk\n\\ here"));
        let nested = Mount::tmpfs("64m", &root.join("a disk\n\\ here/src/nested"))?;
        std::fs::write(nested.path().join("file"), "nested").unwrap();
        Ok([nested, memory, disk])
    };
    match mount() {
        Ok(mounts) => Some(Mounted { _mounts: mounts, root, _temp: temp }),
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

#[test]
fn one_file_system_mount_points_not_crossed() {
    let Some(tree) = mounted("one_file_system_mount_points_not_crossed") else {
        return;
    };
    let expected = oracle_on_one_device(&tree.root);
    assert!(expected.paths.len() < oracle(&tree.root).paths.len());
    for (reader, order, threads) in combinations() {
        let options = scan(&tree.root).reader(reader).order(order).threads(threads);
        let options = options.same_file_system(true);
        let context = format!("{} in {}", reader.as_str(), order.as_str());
        let got = totals(options.clone());
        assert_complete(&got.diagnostics, &context);
        counts(&got).assert_are(&expected.counts, &context);
        assert_eq!(skipped(&got.diagnostics, SkipReason::MountBoundary), 2, "{context}");

        let (listed, diagnostics) = paths(options);
        assert_eq!(readable(&listed), readable(&expected.paths), "{context}");
        assert_eq!(skipped(&diagnostics, SkipReason::MountBoundary), 2, "{context}");
    }
}

#[test]
fn one_file_system_list_equals_find() {
    let Some(tree) = mounted("one_file_system_list_equals_find") else {
        return;
    };
    let found = Command::new("find").arg(&tree.root).args(["-xdev", "-print0"]).output();
    let Ok(found) = found else {
        return loudly_skip("a_listing_of_one_file_system", "no find here");
    };
    let mut expected: Vec<Vec<u8>> = found
        .stdout
        .split(|&byte| byte == 0)
        .filter(|path| !path.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    expected.sort_unstable();
    let (listed, _) = paths(scan(&tree.root).same_file_system(true));
    assert_eq!(readable(&listed), readable(&expected));
    assert!(expected.len() > 10);
}

#[test]
fn mounted_storage_read_by_default() {
    let Some(tree) = mounted("mounted_storage_read_by_default") else {
        return;
    };
    let expected = oracle(&tree.root);
    for (reader, order, threads) in combinations() {
        let options = scan(&tree.root).reader(reader).order(order).threads(threads);
        let context = format!("{} in {}", reader.as_str(), order.as_str());
        let got = totals(options.clone());
        assert_complete(&got.diagnostics, &context);
        assert!(got.diagnostics.skipped.is_empty(), "{context}");
        counts(&got).assert_are(&expected.counts, &context);
        assert_eq!(readable(&paths(options).0), readable(&expected.paths), "{context}");
    }
}

#[test]
fn one_file_system_each_root_stays_on_its_own() {
    let Some(tree) = mounted("one_file_system_each_root_stays_on_its_own") else {
        return;
    };
    let memory = tree.root.join("src/memory");
    let outer = oracle_on_one_device(&tree.root).counts;
    let inner = oracle_on_one_device(&memory).counts;
    for roots in [[&tree.root, &memory], [&memory, &tree.root]] {
        for (reader, order, threads) in combinations() {
            let options = ScanOptions::new(roots).reader(reader).order(order).threads(threads);
            let got = totals(options.same_file_system(true));
            let context = format!("{roots:?}, {} in {}", reader.as_str(), order.as_str());
            assert_complete(&got.diagnostics, &context);
            assert_eq!(got.files, outer.files + inner.files, "{context}");
            // The mount point is the root, and counted once.
            assert_eq!(got.directories, outer.directories + inner.directories - 1, "{context}");
            assert_eq!(got.hard_links, inner.hard_links, "{context}");
            assert_eq!(skipped(&got.diagnostics, SkipReason::OverlappingRoot), 1, "{context}");
        }
    }
}

/// A btrfs subvolume is another file system with its own device number, but no mount table lists
/// it.
#[test]
fn one_file_system_btrfs_subvolume_not_entered() {
    let test = "one_file_system_btrfs_subvolume_not_entered";
    let temp = TempDir::new();
    let make = ["mkfs.btrfs", "-q", "-f"];
    let mount = Mount::image(&temp.join("image"), 200 << 20, &make, &temp.join("tree"));
    let mount = match mount {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip(test, reason),
    };
    let root = mount.path();
    trees::basic(root);
    for subvolume in ["subvolume", "src/nested"] {
        let path = root.join(subvolume);
        let made = Command::new("btrfs").args(["subvolume", "create"]).arg(&path).output();
        assert!(made.unwrap().status.success(), "{subvolume}");
        trees::basic(&path);
    }
    let expected = oracle_on_one_device(root);
    assert!(expected.paths.len() < oracle(root).paths.len());
    for (reader, order, threads) in combinations() {
        let options = scan(root).reader(reader).order(order).threads(threads);
        let options = options.same_file_system(true);
        let context = format!("{} in {}", reader.as_str(), order.as_str());
        counts(&totals(options.clone())).assert_are(&expected.counts, &context);
        let (listed, diagnostics) = paths(options);
        assert_eq!(readable(&listed), readable(&expected.paths), "{context}");
        assert_eq!(skipped(&diagnostics, SkipReason::MountBoundary), 2, "{context}");
    }
}

/// `du` and `find` read it once, too.
#[test]
fn bind_mount_of_ancestor_read_once() {
    let test = "bind_mount_of_ancestor_read_once";
    let temp = TempDir::new();
    let root = temp.join("tree");
    std::fs::create_dir(&root).unwrap();
    trees::basic(&root);
    let memory = match Mount::tmpfs("64m", &root.join("memory")) {
        Ok(memory) => memory,
        Err(reason) => return loudly_skip(test, reason),
    };
    std::fs::create_dir_all(memory.path().join("deep/er")).unwrap();
    std::fs::write(memory.path().join("deep/file"), "1234").unwrap();
    let points = ["src/again", "memory/deep/again", "memory/deep/er"].map(|name| root.join(name));
    points.iter().for_each(|point| std::fs::create_dir_all(point).unwrap());
    let expected = oracle(&root);
    let bind = |source: &std::path::Path, at: &std::path::Path| {
        Mount::new(&["--bind", source.to_str().unwrap()], at).unwrap()
    };
    // The same file system, another one, and the parent directory.
    let _mounts = [
        bind(&root, &points[0]),
        bind(&root, &points[1]),
        bind(&root.join("memory/deep"), &points[2]),
    ];
    for (reader, order, threads) in combinations() {
        let options = scan(&root).reader(reader).order(order).threads(threads);
        let context = format!("{} in {}", reader.as_str(), order.as_str());
        let got = totals(options.clone());
        assert_complete(&got.diagnostics, &context);
        assert_eq!(skipped(&got.diagnostics, SkipReason::Loop), 3, "{context}");
        assert_eq!(got.files, expected.counts.files, "{context}");
        // The directories below the mounts are hidden.
        assert_eq!(got.directories, expected.counts.directories - 3, "{context}");
        let (listed, diagnostics) = paths(options);
        assert_eq!(readable(&listed), readable(&expected.paths), "{context}");
        assert_eq!(skipped(&diagnostics, SkipReason::Loop), 3, "{context}");
    }
}

/// ext4 without a directory index, and with small directories inside the inode: other code of the
/// file system lists these.
#[test]
fn ext4_other_directory_layouts_listed_completely() {
    for layout in ["^dir_index", "inline_data", "^extents,^64bit"] {
        let temp = TempDir::new();
        let root = temp.join("tree");
        let disk = match Mount::ext4(&temp.join("image"), &["-O", layout], &root) {
            Ok(disk) => disk,
            Err(reason) => return loudly_skip("directories_of_other_layouts", reason),
        };
        let many = root.join("many");
        std::fs::create_dir(&many).unwrap();
        for number in 0..5000 {
            std::fs::write(many.join(format!("name of middling length {number}")), "").unwrap();
        }
        for few in 0..40 {
            let few_in = root.join(format!("{few}"));
            std::fs::create_dir(&few_in).unwrap();
            for number in 0..few {
                std::fs::write(few_in.join(number.to_string()), "").unwrap();
            }
        }
        // Make holes in the directory: remove every other name.
        for number in (0..5000).step_by(2) {
            std::fs::remove_file(many.join(format!("name of middling length {number}"))).unwrap();
        }
        let expected = oracle(&root);
        assert_eq!(expected.counts.files, 2500 + 39 * 40 / 2);
        for (reader, order, threads) in combinations() {
            let options = scan(&root).reader(reader).order(order).threads(threads);
            let context = format!("{layout}, {} in {}", reader.as_str(), order.as_str());
            counts(&totals(options.clone())).assert_are(&expected.counts, &context);
            assert!(paths(options).0 == expected.paths, "{context}");
        }
        drop(disk);
    }
}

// ---- file systems that occupy no storage ----

#[test]
fn pseudo_file_system_below_storage_skipped() {
    let temp = TempDir::new();
    std::fs::write(temp.join("file"), "1234").unwrap();
    let _proc = match Mount::new(&["-t", "proc", "transect"], &temp.join("kernel")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("a_pseudo_file_system_below_storage", reason),
    };
    for (reader, order, threads) in combinations() {
        let options = scan(temp.path()).reader(reader).order(order).threads(threads);
        let context = format!("{} in {}", reader.as_str(), order.as_str());
        let got = totals(options.clone());
        assert_complete(&got.diagnostics, &context);
        assert_eq!((got.files, got.directories), (1, 2), "{context}");
        assert_eq!(skipped(&got.diagnostics, SkipReason::PseudoFileSystem), 1, "{context}");
        let (listed, diagnostics) = paths(options);
        assert_eq!(listed.len(), 3, "{context}: {:?}", readable(&listed));
        assert_eq!(skipped(&diagnostics, SkipReason::PseudoFileSystem), 1, "{context}");
    }
}

#[test]
fn pseudo_file_system_on_request_read() {
    let temp = TempDir::new();
    let _proc = match Mount::new(&["-t", "proc", "transect"], &temp.join("kernel")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("a_pseudo_file_system_is_read_when_asked", reason),
    };
    let root = temp.path().to_owned();
    within("a walk through the kernel's state", move || {
        for (reader, order, threads) in combinations() {
            // Deeper levels hold threads and descriptors; their number varies with the processes of
            // the machine.
            let options = scan(&root).reader(reader).order(order).threads(threads);
            let got = totals(options.pseudo_file_systems(true).max_depth(3));
            let context = format!("{} in {}", reader.as_str(), order.as_str());
            assert!(got.directories > 10 && got.files > 100, "{context}");
            assert_eq!(skipped(&got.diagnostics, SkipReason::PseudoFileSystem), 0, "{context}");
            assert_eq!(got.diagnostics.failed_roots, 0, "{context}");
        }
    });
}

#[test]
fn pseudo_file_system_root_proc_self_read() {
    within("a walk through a process", || {
        for (reader, order, threads) in combinations() {
            let context = format!("{} in {}", reader.as_str(), order.as_str());
            let walk = |root: &str| totals(scan(root).reader(reader).order(order).threads(threads));
            let got = walk("/proc/self/");
            assert!(got.directories > 5 && got.files > 20, "{context}");
            // Threads come and go while the process reads itself; the remains of one answer with
            // errors.
            let mut errors = got.diagnostics.kept_errors.iter().map(|error| error.path());
            assert!(
                errors.all(|path| path.starts_with("/proc/self/task")),
                "{context}: {:?}",
                got.diagnostics.kept_errors
            );
            let got = walk("/proc/sys/kernel");
            assert!(got.files > 10, "{context}");
            assert_eq!(got.diagnostics.failed_roots, 0, "{context}");
        }
    });
}
