//! The largest directories, from stored totals: as a table of the same snapshot has them.

use proptest::prelude::*;
use transect::table::{Row, Table};
use transect::{Cancel, FieldMask, FileType};
use transect_snapshot::{
    LargestDirectories, LargestLimits, Metadata, Snapshot, StoredMeasure, write,
};

use crate::model::{self, Node};

const MEASURES: [StoredMeasure; 3] =
    [StoredMeasure::DiskUsage, StoredMeasure::Apparent, StoredMeasure::Entries];

fn stored(tree: &[Node], columns: FieldMask) -> Snapshot<Vec<u8>> {
    let table = model::table(tree, columns);
    let mut metadata = Metadata::default();
    metadata.set_fields(table.columns());
    metadata.set_diagnostics(table.diagnostics());
    let mut bytes = Vec::new();
    write(&table, &metadata, &Cancel::new(), &mut bytes).expect("memory is enough");
    Snapshot::new(bytes).expect("a snapshot")
}

/// Returns what is known of each directory that is large enough, in tree order, as the table has it.
fn expected(table: &Table, measure: StoredMeasure, limits: &LargestLimits) -> Vec<String> {
    let is_candidate = |row: &Row| {
        let is_deep = limits.depth.is_some_and(|most| table.depth(*row) > most as usize);
        table.file_type(*row) == FileType::Directory && !is_deep
    };
    let mut sizes: Vec<u64> =
        table.iter().filter(is_candidate).map(|row| measure.size(&table.totals(row))).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let least = sizes.get(limits.count.max(1) - 1).copied().unwrap_or(0);
    let least = least.max(limits.min_size).max(1);
    let is_shown =
        |row: &Row| measure.size(&table.totals(*row)) >= least || table.parent(*row).is_none();
    let fact = |row: Row| {
        let numbers = (measure.size(&table.totals(row)), table.shared(row), table.errors(row));
        let totals = limits.totals.then(|| (table.totals(row), table.exclusive(row)));
        format!("{:?} {numbers:?} {totals:?} {:?}", table.path(row), table.unread_reason(row))
    };
    table.iter().filter(is_candidate).filter(is_shown).map(fact).collect()
}

fn found(snapshot: &Snapshot<Vec<u8>>, largest: &LargestDirectories) -> Vec<String> {
    let names = snapshot.names_of(&largest.directories).expect("a snapshot");
    let mut paths: Vec<std::path::PathBuf> = Vec::new();
    let fact = |(of, name): (&transect_snapshot::LargeDirectory, Vec<u8>)| {
        let name = transect_sys::name_from_bytes(name);
        let path: std::path::PathBuf = match of.parent {
            // Not `join`: a made-up name with a backslash would be a whole path on Windows.
            Some(parent) => {
                let mut path = paths[parent].clone().into_os_string();
                // As `push` does, which takes a backslash at the end for a separator there.
                if !path.as_encoded_bytes().ends_with(std::path::MAIN_SEPARATOR_STR.as_bytes()) {
                    path.push(std::path::MAIN_SEPARATOR_STR);
                }
                path.push(name);
                path.into()
            }
            None => name.into(),
        };
        paths.push(path.clone());
        let numbers = (of.size, of.shared, of.errors);
        format!("{path:?} {numbers:?} {:?} {:?}", of.totals, of.unread)
    };
    largest.directories.iter().zip(names).map(fact).collect()
}

/// Compares the answers of a snapshot and of its table; returns whether the snapshot had one.
fn assert_equal(
    snapshot: &Snapshot<Vec<u8>>,
    measure: StoredMeasure,
    limits: &LargestLimits,
) -> bool {
    let table = snapshot.table(FieldMask::empty()).expect("a snapshot");
    let answer = snapshot.largest_directories(measure, limits).expect("a snapshot");
    let total = table.grand_total();
    let Some(answer) = answer else {
        // Only the table knows what such sums contain.
        return limits.totals && total.apparent.max(total.disk_usage) == u64::MAX;
    };
    assert_eq!(
        found(snapshot, &answer),
        expected(&table, measure, limits),
        "{measure:?} {limits:?}"
    );
    assert_eq!(answer.hard_links, table.hard_links());
    assert_eq!(answer.total.entries, total.entries());
    assert_eq!((answer.total.apparent, answer.total.allocated), (total.apparent, total.disk_usage));
    true
}

/// Gives all names of a file the same attributes, as a file system does.
fn unite_links(nodes: &mut [Node]) {
    for node in nodes {
        node.own.size = Some(node.own.inode % 100_000);
        node.own.nlink = 1 + (node.own.inode % 3) as u32;
        unite_links(&mut node.children);
    }
}

fn limits() -> impl Strategy<Value = LargestLimits> {
    let min_size = prop_oneof![Just(1), 0..20_000_u64];
    (1..12_usize, prop::option::of(0..4_u32), min_size, any::<bool>()).prop_map(
        |(count, depth, min_size, totals)| {
            let mut limits = LargestLimits::new(count);
            (limits.depth, limits.min_size, limits.totals) = (depth, min_size, totals);
            limits
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(300)))]

    #[test]
    fn largest_directories_equal_those_of_the_table(
        mut tree in model::tree(),
        columns in model::columns(),
        limits in limits(),
    ) {
        unite_links(&mut tree);
        let snapshot = stored(&tree, columns);
        for measure in MEASURES {
            prop_assert!(assert_equal(&snapshot, measure, &limits));
        }
    }

    #[test]
    fn partial_table_has_totals_of_the_table(
        mut tree in model::tree(),
        columns in model::columns(),
        count in 1..12_usize,
    ) {
        unite_links(&mut tree);
        let snapshot = stored(&tree, columns);
        let table = snapshot.table(FieldMask::empty()).expect("a snapshot");
        let mut in_root = Vec::new();
        for nested in [false, true] {
            let partial = snapshot.partial_table(FieldMask::MTIME, count, nested);
            let partial = partial.expect("a snapshot").expect("a tree of one root");
            let partial = partial.table().unwrap();
            let mut pairs: Vec<(Row, Row)> = partial.roots().zip(table.roots()).collect();
            prop_assert_eq!(pairs.len(), 1);
            let mut seen = 0;
            while let Some((row, same)) = pairs.pop() {
                seen += 1;
                let (is, should) = (partial.totals(row), table.totals(same));
                prop_assert_eq!(is.entries(), should.entries());
                prop_assert_eq!((is.files, is.directories), (should.files, should.directories));
                prop_assert_eq!((is.apparent, is.disk_usage), (should.apparent, should.disk_usage));
                prop_assert_eq!(is.newest(), should.newest());
                let rest = partial.unlisted(row).newest();
                prop_assert!(rest.is_none() || rest == should.newest(), "{:?}", rest);
                let below = |row| Some((row, table.child(same, partial.name(row))?));
                pairs.extend(partial.children(row).filter_map(below));
            }
            let all = partial.len() as usize - hidden(&partial);
            prop_assert_eq!(seen, all, "all are in the table");
            let root = partial.roots().next().expect("a tree of one root");
            let names: Vec<_> =
                partial.children(root).map(|row| partial.name(row).to_owned()).collect();
            if !nested {
                prop_assert_eq!(1 + names.len(), all, "none is below these");
                let used = |row: &Row| table.totals(*row).disk_usage > 0;
                let directories = table.roots().flat_map(|root| table.children(root));
                let directories = directories.filter(|&row| table.file_type(row) == FileType::Directory);
                prop_assert!(1 + names.len() >= count.min(1 + directories.filter(used).count()));
                in_root = names;
            } else {
                prop_assert!(in_root.iter().all(|name| names.contains(name)), "none disappears");
            }
        }
    }

    #[test]
    fn largest_directories_links_that_differ_left_to_the_table(
        tree in model::tree(),
        limits in limits(),
    ) {
        let snapshot = stored(&tree, FieldMask::all());
        for measure in MEASURES {
            assert_equal(&snapshot, measure, &limits);
        }
    }
}

#[test]
fn largest_directories_across_groups_equal_those_of_the_table() {
    // Directories that reach from one row group to the next, and a page without any.
    let inner =
        |count: u32| (0..count).map(|number| Node::file(&format!("n{number:06}"))).collect();
    let small = |number: u32| Node::directory(&format!("s{number}"), inner(number % 7));
    let mut children: Vec<Node> =
        (0..5).map(|number| Node::directory(&format!("d{number}"), inner(40_000))).collect();
    children.extend((10..99).map(small));
    let root = [Node::directory("/root", children)];
    let snapshot = stored(&root, FieldMask::all());
    assert!(snapshot.len() > 131_072);
    for measure in MEASURES {
        for (count, depth) in [(1, None), (4, None), (25, None), (1000, None), (25, Some(0))] {
            let mut limits = LargestLimits::new(count);
            limits.depth = depth;
            assert!(assert_equal(&snapshot, measure, &limits), "{count}");
        }
    }
}

/// Returns the number of entries of a partial table that have no row.
fn hidden(partial: &Table) -> usize {
    partial.iter().map(|row| partial.unlisted(row).entries() as usize).sum()
}

#[test]
fn largest_directories_of_several_roots_left_to_the_table() {
    let roots = [Node::directory("/a", Vec::new()), Node::directory("/b", Vec::new())];
    let limits = LargestLimits::new(10);
    for roots in [&roots[..], &[Node::file("/file")], &[]] {
        let snapshot = stored(roots, FieldMask::all());
        let answer = snapshot.largest_directories(StoredMeasure::DiskUsage, &limits).unwrap();
        assert!(answer.is_none());
        assert!(snapshot.partial_table(FieldMask::empty(), 10, true).unwrap().is_none());
    }
}

#[test]
fn largest_directories_of_one_size_beyond_the_limit_left_to_the_table() {
    let children = (0..20_100).map(|number| Node::directory(&format!("n{number:06}"), Vec::new()));
    let snapshot = stored(&[Node::directory("/root", children.collect())], FieldMask::empty());
    let limits = LargestLimits::new(10);
    assert!(!assert_equal(&snapshot, StoredMeasure::Entries, &limits));
    // All are asked for.
    let limits = LargestLimits::new(20_101);
    assert!(assert_equal(&snapshot, StoredMeasure::Entries, &limits));
}
