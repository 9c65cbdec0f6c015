//! Symbolic links that are followed, files with several names, roots inside each other.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use transect::internal::Order;
use transect::{ReaderKind, ScanOptions, SkipReason, Totals};
use transect_testkit::oracle::oracle;
use transect_testkit::{Counts, TempDir, in_own_process, trees, within};

use crate::support::{
    assert_complete, combinations, counts, paths, readable, readers, scan, schedules, skipped,
    totals,
};

fn tree_of(build: trees::Build) -> (TempDir, PathBuf) {
    let temp = TempDir::new();
    let root = temp.join("tree");
    std::fs::create_dir(&root).unwrap();
    build(&root);
    (temp, root)
}

fn write(root: &Path, path: &str, size: usize) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, vec![b'x'; size]).unwrap();
}

/// Runs every reader, order and number of threads; all results must be equal. Returns one of them.
fn assert_all_walks_agree(options: &ScanOptions, what: &str) -> Totals {
    let (options, what) = (options.clone(), what.to_owned());
    within(&what.clone(), move || {
        let mut first: Option<Totals> = None;
        for (reader, order, threads) in combinations() {
            let options = options.clone().reader(reader).order(order).threads(threads);
            let got = totals(options);
            let context = format!("{what}, {} in {} on {threads}", reader.as_str(), order.as_str());
            assert_complete(&got.diagnostics, &context);
            let Some(first) = &first else {
                first = Some(got);
                continue;
            };
            counts(&got).assert_are(&counts(first), &context);
            assert_eq!(got.diagnostics.skipped, first.diagnostics.skipped, "{context}");
            assert_eq!(got.largest_files(), first.largest_files(), "{context}");
            assert_eq!(got.largest_directories(), first.largest_directories(), "{context}");
        }
        first.expect("there is at least one way to walk")
    })
}

fn below(root: &Path, listed: &[Vec<u8>]) -> Vec<String> {
    let root = root.to_str().unwrap();
    readable(listed).iter().map(|path| path.strip_prefix(root).unwrap().to_owned()).collect()
}

// ---- following links ----

#[test]
fn follow_link_loops_end() {
    let (_temp, root) = tree_of(trees::loops);
    let got = assert_all_walks_agree(&scan(&root).follow_links(true), "loops");
    let real = oracle(&root).counts;
    assert_eq!((got.files, got.directories), (2, real.directories));
    // `ping` and `pong` lead to each other, and nowhere else.
    assert_eq!(got.symlinks, 2);
    assert_eq!(got.sizes.apparent, 11 + 22 + 4 + 4);
    assert_eq!(skipped(&got.diagnostics, SkipReason::Loop), 4);
    assert_eq!(skipped(&got.diagnostics, SkipReason::VisitedElsewhere), 2);
}

#[test]
fn every_link_leads_to_a_directory_as_find_lists_it() {
    let temp = TempDir::new();
    let root = temp.join("tree");
    write(&root, "a/below/file", 10);
    symlink("a", root.join("b")).unwrap();
    symlink("../a/below", root.join("a/twice")).unwrap();
    symlink("../..", root.join("a/below/up")).unwrap();
    symlink("nowhere", root.join("broken")).unwrap();
    let options = scan(&root).follow_links(true).every_link(true);
    let got = assert_all_walks_agree(&options, "every link");
    assert_eq!((got.files, got.directories), (4, 7));
    // `up` lies in four directories, each below the one it leads to.
    assert_eq!(skipped(&got.diagnostics, SkipReason::Loop), 4);
    for reader in readers() {
        let (listed, _) = paths(options.clone().reader(reader));
        let files: Vec<String> =
            below(&root, &listed).into_iter().filter(|path| path.ends_with("/file")).collect();
        let expected = ["/a/below/file", "/a/twice/file", "/b/below/file", "/b/twice/file"];
        assert_eq!(files, expected, "{}", reader.as_str());
    }
}

#[test]
fn follow_directory_with_several_links_read_once() {
    let temp = TempDir::new();
    let root = temp.join("tree");
    write(&root, "inside/file", 10);
    write(temp.path(), "outside/a/b/file", 100);
    write(temp.path(), "outside/a/c/file", 1000);
    write(temp.path(), "far/file", 10_000);
    symlink("../outside", root.join("link_1")).unwrap();
    symlink("../outside", root.join("link_2")).unwrap();
    symlink("../../outside/a", root.join("inside/link_to_part")).unwrap();
    symlink("../outside/a/b", root.join("a_link_to_the_end")).unwrap();
    symlink("../../far", temp.join("outside/a/to_far")).unwrap();
    symlink("../tree", temp.join("far/back")).unwrap();
    let got = assert_all_walks_agree(&scan(&root).follow_links(true), "overlapping links");
    assert_eq!(got.sizes.apparent, 11_110);
    // tree, inside; outside, a, b, c; far.
    assert_eq!((got.directories, got.files, got.symlinks), (7, 4, 0));
    assert_eq!(skipped(&got.diagnostics, SkipReason::Loop), 1);

    for reader in readers() {
        let (listed, _) = paths(scan(&root).follow_links(true).reader(reader));
        let files: Vec<String> =
            below(&root, &listed).into_iter().filter(|path| path.ends_with("/file")).collect();
        // Of two links to a directory, the one with the smaller path is followed.
        assert_eq!(
            files,
            [
                "/a_link_to_the_end/file",
                "/inside/file",
                "/inside/link_to_part/c/file",
                "/inside/link_to_part/to_far/file"
            ],
            "{}",
            reader.as_str()
        );
    }
}

#[test]
fn follow_file_with_several_links_counted_once() {
    let temp = TempDir::new();
    write(temp.path(), "tree/file", 100);
    write(temp.path(), "outside", 1000);
    for (target, link) in [("file", "to_file"), ("../outside", "o1"), ("o1", "o2")] {
        symlink(target, temp.join("tree").join(link)).unwrap();
    }
    let got = assert_all_walks_agree(&scan(temp.join("tree")).follow_links(true), "links to files");
    assert_eq!((got.files, got.symlinks), (4, 0));
    assert_eq!((got.sizes.apparent, got.hard_links), (1100, 2));
}

/// Entries below a followed link are opened relative to a handle. If that was closed, the path from
/// the nearest open one passes through the link.
#[test]
fn follow_below_link_few_descriptors_found() {
    let temp = TempDir::new();
    for number in 0..5 {
        write(temp.path(), &format!("outside/a{number}/b/c/file"), 100);
        write(temp.path(), &format!("tree/real{number}/x/y/file"), 1);
    }
    std::fs::create_dir_all(temp.join("tree/d")).unwrap();
    symlink("../../outside", temp.join("tree/d/link")).unwrap();
    let options = scan(temp.join("tree")).follow_links(true);
    let expected = counts(&totals(options.clone()));
    assert_eq!(expected.apparent_size, 505);
    assert_eq!(expected.directories, 2 + 15 + 16);
    for (reader, order, threads) in combinations() {
        for descriptors in [1, 4, 8, 16] {
            let options = options.clone().reader(reader).order(order).threads(threads);
            let got = totals(options.max_open(descriptors));
            let context = format!(
                "{} in {} on {threads} with {descriptors}",
                reader.as_str(),
                order.as_str()
            );
            assert_complete(&got.diagnostics, &context);
            counts(&got).assert_are(&expected, &context);
        }
    }
}

/// A link at the maximum depth is counted, not read: another link to the same directory must still
/// be able to read it.
#[test]
fn follow_link_at_max_depth_leaves_directory_to_others() {
    let temp = TempDir::new();
    write(temp.path(), "outside/file", 100);
    std::fs::create_dir_all(temp.join("tree/a")).unwrap();
    symlink("../../outside", temp.join("tree/a/link")).unwrap();
    symlink("../outside", temp.join("tree/z")).unwrap();
    let options = scan(temp.join("tree")).follow_links(true).max_depth(2);
    let got = assert_all_walks_agree(&options, "a link that is too deep");
    assert_eq!((got.files, got.sizes.apparent), (1, 100));
    assert_eq!(got.directories, 3);
}

#[test]
fn root_link_followed_only_with_follow() {
    let temp = TempDir::new();
    write(temp.path(), "real/below/file", 100);
    symlink("real", temp.join("link")).unwrap();
    let link = temp.join("link");
    let got = assert_all_walks_agree(&scan(&link), "a link as a root");
    assert_eq!((got.symlinks, got.directories, got.files), (1, 0, 0));
    let got = assert_all_walks_agree(&scan(&link).follow_links(true), "a followed link as a root");
    assert_eq!((got.symlinks, got.directories, got.files), (0, 2, 1));
    // A trailing separator resolves the link, as in every system call.
    let got = assert_all_walks_agree(&scan(temp.join("link/")), "a link with a separator");
    assert_eq!((got.symlinks, got.directories, got.files), (0, 2, 1));
}

// ---- files with several names ----

#[test]
fn hard_links_directory_totals_equal_separate_walk() {
    let (_temp, root) = tree_of(trees::hardlinks);
    for (order, threads) in schedules() {
        let got = totals(scan(&root).order(order).threads(threads));
        assert_eq!(got.largest_directories().len(), 6);
        for largest in got.largest_directories() {
            let alone = oracle(&largest.path).counts;
            let context = format!("'{}' in {}", largest.path.display(), order.as_str());
            assert_eq!(largest.sizes.apparent, alone.apparent_size, "{context}");
            assert_eq!(largest.sizes.allocated, alone.allocated_size, "{context}");
            assert_eq!(
                largest.sizes.directories_allocated, alone.directories_allocated_size,
                "{context}"
            );
        }
    }
}

#[test]
fn hard_links_below_two_roots_counted_once() {
    let (_temp, root) = tree_of(trees::hardlinks);
    let roots = ["a", "b", "c"].map(|name| root.join(name));
    let got = assert_all_walks_agree(&ScanOptions::new(roots), "several roots");
    let whole = oracle(&root).counts;
    // The tree also holds one name each of a file, a link and a pipe.
    assert_eq!(got.sizes.apparent, whole.apparent_size);
    assert_eq!(got.hard_links, whole.hard_links - 3);
    assert_eq!(got.files, whole.files - 1);
}

// ---- several roots ----

/// Walks several roots inside the first tree; everything must count once.
fn assert_counted_once(roots: &[PathBuf], expected: &Counts) -> Totals {
    let what = format!("{roots:?}");
    let got = assert_all_walks_agree(&ScanOptions::new(roots), &what);
    counts(&got).assert_are(expected, what);
    got
}

#[test]
fn roots_nested_counted_once() {
    let (_temp, root) = tree_of(trees::basic);
    let expected = oracle(&root).counts;
    let at = |path: &str| root.join(path);
    let with = |suffix: &str| PathBuf::from(format!("{}{suffix}", root.display()));
    for roots in [
        vec![root.clone(), root.clone()],
        vec![root.clone(), root.clone(), root.clone()],
        vec![root.clone(), at("src")],
        vec![at("src"), root.clone()],
        vec![at("src/b/c"), root.clone(), at("src/b")],
        vec![root.clone(), at("top")],
        vec![at("top"), root.clone()],
        vec![at("src/a/block"), at("src"), root.clone()],
        vec![at("link"), root.clone()],
        vec![with("/"), root.clone()],
        vec![root.clone(), with("//")],
        vec![root.clone(), with("/.")],
        vec![with("/src/"), root.clone()],
        vec![with("/src/../src"), root.clone()],
        vec![with("/src/.."), root.clone()],
        vec![with("/src/a/.."), root.clone()],
        vec![at("empty"), at("src"), root.clone()],
    ] {
        let got = assert_counted_once(&roots, &expected);
        assert_eq!(
            skipped(&got.diagnostics, SkipReason::OverlappingRoot),
            roots.len() as u64 - 1,
            "{roots:?}"
        );
    }
}

#[test]
fn roots_nested_read_apart_on_request() {
    let (_temp, root) = tree_of(trees::basic);
    let inner = root.join("src");
    let (outer_counts, inner_counts) = (oracle(&root).counts, oracle(&inner).counts);
    for roots in [[&root, &inner, &inner], [&inner, &root, &inner]] {
        let options = ScanOptions::new(roots).every_root(true);
        let got = assert_all_walks_agree(&options, "read apart");
        assert_eq!(got.files, outer_counts.files + 2 * inner_counts.files, "{roots:?}");
        let directories = outer_counts.directories + 2 * inner_counts.directories;
        assert_eq!(got.directories, directories, "{roots:?}");
        assert_eq!(skipped(&got.diagnostics, SkipReason::OverlappingRoot), 0, "{roots:?}");
    }
}

#[test]
fn roots_siblings_add_up() {
    let (temp, root) = tree_of(trees::basic);
    let other = temp.join("other");
    write(&other, "src/main", 1);
    let (a, b) = (oracle(&root).counts, oracle(&other).counts);
    let got = assert_all_walks_agree(&ScanOptions::new([root, other]), "two trees");
    assert_eq!(got.files, a.files + b.files);
    assert_eq!(got.sizes.apparent, a.apparent_size + b.apparent_size);
    // An entry elsewhere with the name of a root is not that root.
    assert_eq!(skipped(&got.diagnostics, SkipReason::OverlappingRoot), 0);
}

#[test]
fn roots_link_and_target_are_two() {
    let temp = TempDir::new();
    write(temp.path(), "tree/real/file", 100);
    symlink("real", temp.join("tree/link")).unwrap();
    let expected = oracle(temp.join("tree")).counts;
    let at = |path: &str| PathBuf::from(format!("{}/{path}", temp.path().display()));
    for roots in [
        vec![at("tree"), at("tree/link")],
        vec![at("tree/link"), at("tree/real"), at("tree")],
        vec![at("tree/link/"), at("tree")],
        vec![at("tree"), at("tree/link/")],
    ] {
        assert_counted_once(&roots, &expected);
    }
}

/// The system resolves `link/.` to the target of the link.
#[test]
fn root_link_with_trailing_dot_is_target() {
    let temp = TempDir::new();
    write(temp.path(), "tree/real/file", 100);
    symlink("real", temp.join("tree/link")).unwrap();
    let expected = oracle(temp.join("tree")).counts;
    let dotted = PathBuf::from(format!("{}/tree/link/.", temp.path().display()));
    assert_counted_once(&[temp.join("tree"), dotted.clone()], &expected);
    assert_counted_once(&[dotted, temp.join("tree")], &expected);
}

#[test]
fn roots_followed_links_into_each_other_counted_once() {
    let temp = TempDir::new();
    write(temp.path(), "tree/real/below/file", 100);
    write(temp.path(), "tree/file", 1000);
    symlink("tree/real", temp.join("link")).unwrap();
    symlink("../real/below", temp.join("tree/real/in")).unwrap();
    for roots in [[temp.join("tree"), temp.join("link")], [temp.join("link"), temp.join("tree")]] {
        let what = format!("{roots:?}");
        let got = assert_all_walks_agree(&ScanOptions::new(roots).follow_links(true), &what);
        assert_eq!((got.directories, got.files), (3, 2), "{what}");
        assert_eq!(got.sizes.apparent, 1100, "{what}");
    }
}

#[test]
fn roots_one_missing_others_complete() {
    let (_temp, root) = tree_of(trees::basic);
    let expected = oracle(&root).counts;
    for (order, threads) in schedules() {
        let roots = [root.join("missing"), root.clone(), root.join("missing")];
        let got = totals(ScanOptions::new(roots).order(order).threads(threads));
        counts(&got).assert_are(&expected, order.as_str());
        assert_eq!((got.diagnostics.errors, got.diagnostics.failed_roots), (1, 1));
    }
}

#[test]
fn root_dot_is_current_directory() {
    in_own_process("links::root_dot_is_current_directory", || {
        let (_temp, root) = tree_of(trees::basic);
        let expected = oracle(&root).counts;
        std::env::set_current_dir(root.join("src")).unwrap();
        for reader in readers() {
            for &order in Order::ALL {
                let walk = |roots: &[&str]| {
                    totals(ScanOptions::new(roots).reader(reader).order(order).threads(2))
                };
                let context = format!("{} in {}", reader.as_str(), order.as_str());
                let src = oracle(".").counts;
                for roots in [&["."][..], &[".", "./"], &["a", "."], &[".", "../src"], &["./."]] {
                    counts(&walk(roots)).assert_are(&src, format!("{roots:?}: {context}"));
                }
                for roots in [&[".."][..], &["..", "."], &[".", ".."], &["main", "..", "a"]] {
                    counts(&walk(roots)).assert_are(&expected, format!("{roots:?}: {context}"));
                }
            }
        }
        let (listed, _) = paths(scan(".").reader(ReaderKind::best()));
        assert!(listed.contains(&b"./main".to_vec()), "{:?}", readable(&listed));
    });
}
