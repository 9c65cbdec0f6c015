//! Properties of every tree.

use std::sync::Arc;

use proptest::prelude::*;
use transect::internal::Order;
use transect::{FileType, Sink, Totals};
use transect_sys::fake::FakeTree;
use transect_testkit::Counts;

use crate::support::{assert_complete, counts, fake_paths, fake_totals, run_fake, scan};

#[derive(Clone, Debug)]
pub(crate) enum Node {
    File(u64),
    Symlink(u64),
    Socket,
    /// Another name of an existing file, if there is one.
    Name(prop::sample::Index),
    Directory(Vec<Node>),
}

fn node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        5 => (0..10_000_u64).prop_map(Node::File),
        1 => (1..50_u64).prop_map(Node::Symlink),
        1 => Just(Node::Socket),
        2 => any::<prop::sample::Index>().prop_map(Node::Name),
        1 => Just(Node::Directory(Vec::new())),
    ];
    leaf.prop_recursive(6, 120, 8, |inner| {
        prop::collection::vec(inner, 0..8).prop_map(Node::Directory)
    })
}

pub(crate) fn forest() -> impl Strategy<Value = Vec<Node>> {
    prop::collection::vec(node(), 0..10)
}

/// Builds a tree and counts its entries.
struct Builder {
    tree: FakeTree,
    files: Vec<String>,
    counts: Counts,
    paths: Vec<Vec<u8>>,
}

pub(crate) fn build(nodes: &[Node], device: u64) -> (FakeTree, Counts, Vec<Vec<u8>>) {
    let mut builder = Builder {
        tree: FakeTree::new(),
        files: Vec::new(),
        counts: Counts::default(),
        paths: vec![b"/".to_vec()],
    };
    builder.counts.directories = 1;
    builder.add("", nodes);
    // Each tree has its own device, so that they share no files.
    for path in &builder.paths {
        let path = str::from_utf8(path).unwrap();
        builder.tree.change(path, |attributes| attributes.set_device(device));
    }
    builder.paths.sort_unstable();
    (builder.tree, builder.counts, builder.paths)
}

impl Builder {
    fn add(&mut self, at: &str, nodes: &[Node]) {
        for (number, node) in nodes.iter().enumerate() {
            let path = format!("{at}/{number}");
            let counts = &mut self.counts;
            match node {
                Node::File(size) => {
                    self.tree.add(&path, FileType::File, *size);
                    counts.files += 1;
                    counts.apparent_size += size;
                    counts.allocated_size += size.next_multiple_of(512);
                    self.files.push(path.clone());
                }
                Node::Symlink(size) => {
                    self.tree.add(&path, FileType::Symlink, *size);
                    counts.symlinks += 1;
                    counts.apparent_size += size;
                    counts.allocated_size += 512;
                }
                Node::Socket => {
                    self.tree.add(&path, FileType::Socket, 0);
                    counts.others += 1;
                }
                Node::Name(index) => {
                    if self.files.is_empty() {
                        continue;
                    }
                    let of = index.get(&self.files).clone();
                    self.tree.link(&path, &of);
                    counts.files += 1;
                    counts.hard_links += 1;
                }
                Node::Directory(nodes) => {
                    self.tree.add(&path, FileType::Directory, 4096);
                    counts.directories += 1;
                    counts.directories_allocated_size += 4096;
                    self.paths.push(path.clone().into_bytes());
                    self.add(&path, nodes);
                    continue;
                }
            }
            self.paths.push(path.into_bytes());
        }
    }
}

fn all_of(totals: &Totals) -> impl PartialEq + std::fmt::Debug {
    (
        counts(totals),
        totals.sizes,
        totals.diagnostics.errors,
        totals.diagnostics.errors_by.clone(),
        totals.diagnostics.vanished,
        totals.diagnostics.skipped.clone(),
        totals.largest_files().to_vec(),
        totals.largest_directories().to_vec(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn totals_independent_of_order_threads_and_batches(
        nodes in forest(),
        order in prop::sample::select(Order::ALL),
        threads in 1_usize..6,
        batch in 1_usize..9,
        hide_types in any::<bool>(),
        max_open in prop::option::of(1_usize..40),
    ) {
        let (mut tree, expected, paths) = build(&nodes, 1);
        let plain = fake_totals(&Arc::new(build(&nodes, 1).0), scan("/").order(Order::Recursive));
        tree.batch = batch;
        tree.hide_types = hide_types;
        let tree = Arc::new(tree);
        let mut options = scan("/").order(order).threads(threads);
        options.max_open = max_open;
        let got = fake_totals(&tree, options.clone());
        assert_complete(&got.diagnostics, "a tree without faults");
        counts(&got).assert_are(&expected, "counted while it was built");
        prop_assert_eq!(all_of(&got), all_of(&plain));
        let (listed, _) = fake_paths(&tree, options);
        prop_assert_eq!(listed, paths);
    }

    #[test]
    fn depth_limits_select_paths_between(
        nodes in forest(),
        depth in 0_u32..6,
        least in 0_u32..4,
        order in prop::sample::select(Order::ALL),
    ) {
        let (tree, _, mut paths) = build(&nodes, 1);
        prop_assume!(least <= depth);
        paths.retain(|path| {
            let steps = path.iter().filter(|&&byte| byte == b'/').count() as u32;
            let steps = if path == b"/" { 0 } else { steps };
            (least..=depth).contains(&steps)
        });
        let options = scan("/").order(order).threads(3).max_depth(depth).min_depth(least);
        let tree = Arc::new(tree);
        let (listed, _) = fake_paths(&tree, options.clone());
        prop_assert_eq!(listed.len() as u64, fake_totals(&tree, options).entries());
        prop_assert_eq!(listed, paths);
    }

    #[test]
    fn totals_merge_associative_and_commutative(
        forests in [forest(), forest(), forest()],
    ) {
        let trees: Vec<_> = forests
            .iter()
            .enumerate()
            .map(|(number, nodes)| Arc::new(build(nodes, number as u64).0))
            .collect();
        let walk = |number: usize| {
            run_fake(&trees[number], scan("/"), || Totals::new(4)).sink
        };
        let merged = |mut a: Totals, b: Totals| {
            a.merge(b);
            a
        };
        let left = merged(merged(walk(0), walk(1)), walk(2));
        let right = merged(walk(0), merged(walk(1), walk(2)));
        let turned = merged(merged(walk(2), walk(0)), walk(1));
        let with_nothing = merged(Totals::new(4), merged(left, Totals::new(4)));
        prop_assert_eq!(all_of(&with_nothing), all_of(&right));
        prop_assert_eq!(all_of(&turned), all_of(&right));
        let alone: u64 = (0..3).map(|number| walk(number).sizes.apparent).sum();
        prop_assert_eq!(right.sizes.apparent, alone);
    }
}
