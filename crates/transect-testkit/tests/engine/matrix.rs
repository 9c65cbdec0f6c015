//! Every named tree, with every reader, in every order, on 1, 2 and 16 threads (a selection on
//! Windows: see [`combinations`]).

use std::time::Duration;

use transect::internal::StatOrder;
use transect::{DirEntry, FieldMask, ScanOptions};
use transect_testkit::oracle::oracle;
use transect_testkit::{TempDir, trees};

use crate::support::{
    assert_complete, combinations, counts, paths, readable, readers, scan, totals,
};

fn assert_equals_oracle(tree: &str) {
    let build = trees::ALL
        .iter()
        .find(|(name, _)| *name == tree)
        .unwrap_or_else(|| panic!("no tree is named {tree}"))
        .1;
    let temp = TempDir::new();
    let root = temp.join("tree");
    std::fs::create_dir(&root).unwrap();
    build(&root);
    let expected = oracle(&root);
    let (mut first, mut first_table) = (None, None);
    let mut walks = 0;
    let mut walk = |options: ScanOptions, context: String| {
        let got = totals(options.clone());
        assert_complete(&got.diagnostics, &context);
        counts(&got).assert_are(&expected.counts, &context);
        assert!(got.diagnostics.skipped.is_empty(), "{context}: skips");

        let (listed, diagnostics) = paths(options.clone());
        assert_complete(&diagnostics, &context);
        assert!(
            listed == expected.paths,
            "{context}: the paths differ: {:?}",
            first_difference(&listed, &expected.paths)
        );

        for threads_after in [Duration::ZERO, Duration::MAX] {
            let walk =
                options.clone().want(FieldMask::SIZE).into_iter().threads_after(threads_after);
            let mut listed: Vec<Vec<u8>> = walk.map(|entry| bytes(&entry.unwrap())).collect();
            listed.sort_unstable();
            assert!(listed == expected.paths, "{context}: the iterator after {threads_after:?}");
        }

        // All walks must also agree on values that the oracle does not provide everywhere, such as
        // allocated sizes.
        let same = (got.sizes, got.largest_files().to_vec(), got.largest_directories().to_vec());
        assert_eq!(first.get_or_insert_with(|| same.clone()), &same, "{context}");

        let table = crate::table::assert_agrees(options, &got, &listed, &context);
        assert!(
            first_table.is_none() || first_table.as_ref() == Some(&table),
            "{context}: the table"
        );
        first_table = Some(table);
        walks += 1;
    };
    for (reader, order, threads) in combinations() {
        let context = format!("{tree} with {} in {} on {threads}", reader.as_str(), order.as_str());
        walk(scan(&root).reader(reader).order(order).threads(threads), context);
    }
    // No need to combine the stat order with orders and threads: it concerns one directory at a
    // time. With the smallest buffer, a wide directory takes several listing calls.
    for reader in readers().into_iter().filter(|reader| reader.takes_stat_order()) {
        let context = format!("{tree} with {} by inode number", reader.as_str());
        let options = scan(&root).reader(reader).threads(2).buffer_size(4096);
        walk(options.stat_order(StatOrder::Inode), context);
    }
    let least = if cfg!(windows) { 2 * (8 + 2) } else { 2 * 8 * 3 };
    assert!(walks >= least, "only {walks} combinations");
}

/// Returns the path of an entry. A file has a length.
fn bytes(entry: &DirEntry) -> Vec<u8> {
    assert!(!entry.file_type().is_file() || entry.attributes().size().is_some());
    entry.path().into_os_string().into_encoded_bytes()
}

/// Returns the elements that are in only one of two lists.
fn first_difference(got: &[Vec<u8>], expected: &[Vec<u8>]) -> (Vec<String>, Vec<String>) {
    let only = |a: &[Vec<u8>], b: &[Vec<u8>]| {
        let lost = a.iter().filter(|path| !b.contains(path)).take(3).cloned();
        readable(&lost.collect::<Vec<_>>())
    };
    (only(got, expected), only(expected, got))
}

/// One test per tree, so that they run in parallel. Some trees exist on one system only.
macro_rules! trees {
    ($($(#[$system:meta])? $test:ident: $tree:ident;)*) => {
        $(
            $(#[$system])?
            #[test]
            fn $test() {
                assert_equals_oracle(stringify!($tree));
            }
        )*

        #[test]
        fn named_trees_all_tested() {
            let tested = [$($(#[$system])? stringify!($tree)),*];
            let named: Vec<&str> = trees::ALL.iter().map(|(name, _)| *name).collect();
            assert_eq!(tested.as_slice(), named);
        }
    };
}

trees! {
    empty_tree_equals_oracle: empty;
    single_file_tree_equals_oracle: single;
    basic_tree_equals_oracle: basic;
    wide_tree_equals_oracle: wide;
    deep_tree_equals_oracle: deep;
    #[cfg(unix)]
    links_equal_oracle: links;
    hard_links_equal_oracle: hardlinks;
    #[cfg(unix)]
    loops_equal_oracle: loops;
    sparse_files_equal_oracle: sparse;
    weird_names_equal_oracle: weirdnames;
    times_equal_oracle: times;
    #[cfg(unix)]
    special_files_equal_oracle: special;
    many_small_directories_equal_oracle: many_small_dirs;
}

#[test]
fn root_file_equals_oracle() {
    let temp = TempDir::new();
    trees::hardlinks(&{
        let tree = temp.join("tree");
        std::fs::create_dir(&tree).unwrap();
        tree
    });
    for name in ["tree/a/across", "tree/link", "tree/pipe"] {
        let root = temp.join(name);
        if cfg!(windows) && !root.exists() {
            // The tree has links and pipes on Linux only.
            continue;
        }
        let expected = oracle(&root);
        for (reader, order, threads) in combinations() {
            let options = scan(&root).reader(reader).order(order).threads(threads);
            let context = format!("{name} with {} in {}", reader.as_str(), order.as_str());
            counts(&totals(options.clone())).assert_are(&expected.counts, &context);
            assert_eq!(paths(options).0, expected.paths, "{context}");
        }
    }
}
