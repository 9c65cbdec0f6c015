//! Diffs: applied to the first tree, they make the second.

use std::collections::BTreeMap;
use std::path::MAIN_SEPARATOR_STR;

use proptest::prelude::*;
use proptest::sample::Index;
use transect::{Attributes, Cancel, FieldMask, FileType};
use transect_snapshot::{
    ChangeKind, Diff, DiffOptions, LiveTree, Metadata, Snapshot, Tree, diff, entry_pairs, write,
};

use crate::model::{self, Node, Own};

const COLUMNS: FieldMask = FieldMask::all();
const SEPARATOR: &[u8] = MAIN_SEPARATOR_STR.as_bytes();

fn stored(tree: &[Node], columns: FieldMask) -> Snapshot<Vec<u8>> {
    let table = model::table(tree, columns);
    let mut metadata = Metadata::default();
    metadata.set_fields(table.columns());
    let mut bytes = Vec::new();
    write(&table, &metadata, &Cancel::new(), &mut bytes).expect("memory is enough");
    Snapshot::new(bytes).expect("a snapshot")
}

fn live(tree: &[Node], columns: FieldMask) -> LiveTree {
    LiveTree::new(model::table(tree, columns), Metadata::default())
}

/// What a diff compares of each entry, by path.
type Entries = BTreeMap<Vec<u8>, Own>;

fn entries(tree: &[Node]) -> Entries {
    let mut found = Entries::new();
    let mut waiting: Vec<(Vec<u8>, &Node)> =
        tree.iter().map(|node| (node.name.clone(), node)).collect();
    while let Some((path, node)) = waiting.pop() {
        for child in &node.children {
            waiting.push(([&path[..], SEPARATOR, &child.name].concat(), child));
        }
        found.insert(path, node.own);
    }
    found
}

fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path == directory
        || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with(SEPARATOR))
}

/// Takes an entry with everything below it.
fn take(from: &mut Entries, path: &[u8]) -> Entries {
    let (taken, left) =
        std::mem::take(from).into_iter().partition(|(other, _)| is_below(other, path));
    *from = left;
    taken
}

/// Applies a diff. Of what was added, the entries come from `b`: only those that are not the target of a
/// move, or below one.
fn apply(diff: &Diff, a: &Entries, b: &Entries) -> Entries {
    let mut pieces: Vec<(Vec<u8>, Vec<u8>, Entries)> = Vec::new();
    let mut rest = a.clone();
    let mut moves: Vec<_> =
        diff.changes.iter().filter(|change| change.kind == ChangeKind::Renamed).collect();
    // The deepest first, so that a move out of a moved directory finds its entries.
    moves.sort_by_key(|change| std::cmp::Reverse(change.from.as_ref().map(Vec::len)));
    for change in &moves {
        let from = change.from.clone().expect("a move has a source");
        let taken = take(&mut rest, &from);
        assert!(!taken.is_empty(), "{} is not there", String::from_utf8_lossy(&from));
        pieces.push((from, change.path.clone(), taken));
    }
    for change in &diff.changes {
        if change.kind == ChangeKind::Removed {
            let held = pieces.iter_mut().filter(|(from, ..)| is_below(&change.path, from));
            let held = held.max_by_key(|(from, ..)| from.len());
            let gone = match held {
                Some((_, _, piece)) => take(piece, &change.path),
                None => take(&mut rest, &change.path),
            };
            let expected = change.before.as_ref().expect("it was there").entries();
            assert_eq!(gone.len() as u64 + change.moved_entries, expected, "{change:?}");
        }
    }
    for (from, to, piece) in pieces {
        for (path, own) in piece {
            let inserted = rest.insert([&to[..], &path[from.len()..]].concat(), own);
            assert!(inserted.is_none());
        }
    }
    let targets: Vec<&Vec<u8>> = moves.iter().map(|change| &change.path).collect();
    for change in &diff.changes {
        match change.kind {
            ChangeKind::Added => {
                let mut new = b.clone();
                let mut new = take(&mut new, &change.path);
                for target in targets.iter().filter(|target| is_below(target, &change.path)) {
                    take(&mut new, target);
                }
                let expected = change.after.as_ref().expect("it is there").entries();
                assert_eq!(new.len() as u64 + change.moved_entries, expected, "{change:?}");
                rest.append(&mut new);
            }
            ChangeKind::Modified | ChangeKind::TypeChanged | ChangeKind::Renamed => {
                let after = change.after.as_ref().expect("it is there").attributes;
                let own = rest.get_mut(&change.path).expect("it was there");
                own.file_type = model::TYPES
                    .iter()
                    .position(|it| *it == after.file_type())
                    .expect("it is known") as u8;
                own.size = after.size().or(own.size);
                own.mtime = after.mtime().expect("it is known");
                own.mode = after.mode().expect("it is known");
                own.uid = after.uid().expect("it is known");
                own.nlink = after.nlink().expect("it is known");
            }
            _ => {}
        }
    }
    rest
}

/// Drops what a diff does not compare.
fn comparable(entries: Entries) -> Entries {
    let own = |own: Own| Own { inode: 0, ..own };
    entries.into_iter().map(|(path, it)| (path, own(it))).collect()
}

/// Gives every entry an id of its own, as a file system does.
fn number(tree: &mut [Node], next: &mut u64) {
    for node in tree {
        node.own.inode = *next;
        node.own.size.get_or_insert(7);
        *next += 1;
        node.is_unreadable = false;
        number(&mut node.children, next);
    }
}

/// A change to a tree.
#[derive(Clone, Debug)]
enum Mutation {
    Remove(Index),
    Touch(Index, i64),
    Grow(Index, u64),
    Rename(Index, String),
    Move(Index, Index),
    Add(Index, Vec<Node>),
    ChangeType(Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    prop_oneof![
        at().prop_map(Mutation::Remove),
        (at(), 0..1_000_000_i64).prop_map(|(at, time)| Mutation::Touch(at, time)),
        (at(), 0..1_000_000_u64).prop_map(|(at, size)| Mutation::Grow(at, size)),
        (at(), "[a-e]{1,2}").prop_map(|(at, name)| Mutation::Rename(at, name)),
        (at(), at()).prop_map(|(from, to)| Mutation::Move(from, to)),
        (at(), at()).prop_map(|(from, to)| Mutation::Move(from, to)),
        (at(), model::nodes()).prop_map(|(at, nodes)| Mutation::Add(at, nodes)),
        at().prop_map(Mutation::ChangeType),
    ]
}

/// Calls `visit` with the directory that holds the entry of a number, and its place there. Returns the
/// number of entries.
fn with_entry<T>(
    root: &mut Node,
    wanted: usize,
    visit: &mut impl FnMut(&mut Node, usize) -> T,
) -> (usize, Option<T>) {
    let mut count = 0;
    for place in 0..root.children.len() {
        if count == wanted {
            return (count + 1, Some(visit(root, place)));
        }
        count += 1;
        let (below, found) =
            with_entry(&mut root.children[place], wanted.wrapping_sub(count), visit);
        count += below;
        if found.is_some() {
            return (count, found);
        }
    }
    (count, None)
}

fn count(node: &Node) -> usize {
    node.children.iter().map(|child| 1 + count(child)).sum()
}

fn insert(directory: &mut Node, node: Node) {
    if directory.children.iter().all(|child| child.name != node.name) {
        directory.children.push(node);
        directory.children.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

fn mutate(root: &mut Node, mutation: &Mutation, next: &mut u64) {
    let total = count(root);
    if total == 0 {
        return;
    }
    let remove = |root: &mut Node, at: &Index| {
        let removed =
            with_entry(root, at.index(total), &mut |parent, place| parent.children.remove(place));
        removed.1.expect("it is there")
    };
    match mutation {
        Mutation::Remove(at) => drop(remove(root, at)),
        Mutation::Touch(at, time) => {
            with_entry(root, at.index(total), &mut |parent, place| {
                parent.children[place].own.mtime = *time;
            });
        }
        Mutation::Grow(at, size) => {
            with_entry(root, at.index(total), &mut |parent, place| {
                parent.children[place].own.size = Some(*size);
            });
        }
        Mutation::Rename(at, name) => {
            with_entry(root, at.index(total), &mut |parent, place| {
                let mut node = parent.children.remove(place);
                let old = std::mem::replace(&mut node.name, name.clone().into_bytes());
                if parent.children.iter().any(|child| child.name == node.name) {
                    node.name = old;
                }
                insert(parent, node);
            });
        }
        Mutation::Move(from, to) => {
            let node = remove(root, from);
            let left = count(root);
            let is_directory = |node: &Node| node.own.file_type() == FileType::Directory;
            let mut node = Some(node);
            if left > 0 {
                with_entry(root, to.index(left), &mut |parent, place| {
                    if is_directory(&parent.children[place])
                        && let Some(node) = node.take()
                    {
                        insert(&mut parent.children[place], node);
                    }
                });
            }
            if let Some(node) = node {
                insert(root, node);
            }
        }
        Mutation::Add(at, nodes) => {
            let mut nodes = nodes.clone();
            number(&mut nodes, next);
            with_entry(root, at.index(total), &mut |parent, _| {
                nodes.drain(..).for_each(|node| insert(parent, node));
            });
        }
        Mutation::ChangeType(at) => {
            with_entry(root, at.index(total), &mut |parent, place| {
                let node = &mut parent.children[place];
                node.children.clear();
                node.own.file_type = (node.own.file_type + 1) % 4;
                node.own.inode = *next;
                *next += 1;
            });
        }
    }
}

fn assert_applies<'t>(
    a: impl Into<Tree<'t>>,
    b: impl Into<Tree<'t>>,
    before: &Entries,
    after: &Entries,
    verify: bool,
) {
    let mut options = DiffOptions::default();
    options.verify = verify;
    let found = diff(a, b, &options).expect("two trees");
    let applied = comparable(apply(&found, before, after));
    assert_eq!(applied, comparable(after.clone()), "{:#?}", found.changes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(300)))]

    #[test]
    fn diff_applied_to_the_first_tree_makes_the_second(
        tree in model::tree(),
        mutations in prop::collection::vec(mutation(), 0..8),
        has_btime in any::<bool>(),
    ) {
        let mut next = 1;
        let mut a = tree;
        number(&mut a, &mut next);
        let mut b = a.clone();
        mutations.iter().for_each(|mutation| mutate(&mut b[0], mutation, &mut next));
        // Times of creation are made of times of change here, so they are no evidence.
        let columns = if has_btime { COLUMNS } else { COLUMNS - FieldMask::BTIME };
        let (before, after) = (entries(&a), entries(&b));
        let stored = (stored(&a, columns), stored(&b, columns));
        let live = (live(&a, columns), live(&b, columns));
        assert_applies(&stored.0, &stored.1, &before, &after, false);
        assert_applies(&stored.0, &stored.1, &before, &after, true);
        assert_applies(&live.0, &live.1, &before, &after, false);
        assert_applies(&stored.0, &live.1, &before, &after, false);
        assert_applies(&stored.1, &live.0, &after, &before, false);
    }

    #[test]
    fn diff_of_a_tree_with_itself_is_empty(tree in model::tree()) {
        let (stored, live) = (stored(&tree, COLUMNS), live(&tree, COLUMNS));
        let options = DiffOptions::default();
        prop_assert!(diff(&stored, &stored, &options).unwrap().is_empty());
        prop_assert!(diff(&stored, &live, &options).unwrap().is_empty());
        prop_assert!(diff(&live, &live, &options).unwrap().is_empty());
    }
}

/// Returns a path as text with slashes.
fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).replace(MAIN_SEPARATOR_STR, "/")
}

/// Returns the changes as lines.
fn lines(a: &[Node], b: &[Node]) -> Vec<String> {
    let found =
        diff(&stored(a, COLUMNS), &stored(b, COLUMNS), &DiffOptions::default()).expect("two trees");
    let line = |change: &transect_snapshot::Change| {
        let from = change.from.as_deref().map(|from| format!(" from {}", text(from)));
        format!("{} {}{}", change.kind.as_str(), text(&change.path), from.unwrap_or_default())
    };
    found.changes.iter().map(line).collect()
}

fn numbered(mut root: Node) -> Vec<Node> {
    number(std::slice::from_mut(&mut root), &mut 1);
    vec![root]
}

#[test]
fn diff_moved_directory_is_one_line() {
    let inner =
        |count: u32| (0..count).map(|number| Node::file(&format!("n{number:03}"))).collect();
    let big = Node::directory("big", inner(500));
    let children = vec![big, Node::directory("to", Vec::new()), Node::file("z")];
    let a = numbered(Node::directory("/r", children));
    let mut b = a.clone();
    let mut big = b[0].children.remove(0);
    big.name = b"large".to_vec();
    big.children[7].own.size = Some(123_456_789);
    b[0].children[0].children.push(big);
    assert_eq!(
        lines(&a, &b),
        ["renamed /r/to/large from /r/big", "modified /r/to/large/n007 from /r/big/n007"]
    );
    assert_eq!(
        lines(&b, &a),
        ["renamed /r/big from /r/to/large", "modified /r/big/n007 from /r/to/large/n007"]
    );
}

#[test]
fn diff_reused_file_id_is_not_a_move() {
    let a = numbered(Node::directory("/r", vec![Node::file("a")]));
    let mut b = a.clone();
    b[0].children[0].name = b"b".to_vec();
    b[0].children[0].own.mtime += 10;
    assert_eq!(lines(&a, &b), ["removed /r/a", "added /r/b"]);
}

#[test]
fn diff_unreadable_directory_is_not_removed() {
    let inner = vec![Node::file("a"), Node::file("b")];
    let a = numbered(Node::directory("/r", vec![Node::directory("d", inner), Node::file("z")]));
    let mut b = a.clone();
    b[0].children[0].children.clear();
    b[0].children[0].is_unreadable = true;
    assert_eq!(lines(&a, &b), ["unreadable /r/d"]);
    assert_eq!(lines(&b, &a), ["readable /r/d"]);
    assert_eq!(lines(&b, &b), [""; 0]);
}

#[test]
fn diff_grown_directories_named_at_the_level_that_explains_it() {
    let leaf = Node::directory("leaf", vec![Node::file("f")]);
    let other = Node::directory("other", vec![Node::file("g")]);
    let middle = Node::directory("middle", vec![leaf]);
    let a = numbered(Node::directory("/r", vec![middle, other]));
    let mut b = a.clone();
    b[0].children[0].children[0].children[0].own.size = Some(50_000_000);
    let found = diff(&stored(&a, COLUMNS), &live(&b, COLUMNS), &DiffOptions::default()).unwrap();
    let grown: Vec<_> = found.growth.iter().map(|it| text(&it.path)).collect();
    assert_eq!(grown, ["/r/middle/leaf"]);
    assert!(found.summary.allocated_after > found.summary.allocated_before + 40_000_000);
}

/// Returns the entries of one root, by their paths below it.
fn below_root(tree: &[Node], of: Entries) -> BTreeMap<Vec<u8>, (FileType, u64)> {
    let relative = |path: Vec<u8>| {
        let below = path[tree[0].name.len()..].strip_prefix(SEPARATOR).unwrap_or_default();
        below
            .iter()
            .map(|byte| if SEPARATOR == [*byte] { b'/' } else { *byte })
            .collect::<Vec<u8>>()
    };
    of.into_iter().map(|(path, own)| (relative(path), (own.file_type(), own.inode))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(256)))]

    /// Every entry of both trees, each path once, also with other entries below the same names.
    #[test]
    fn entry_pairs_have_every_entry_of_both_trees(
        mut a in model::tree(),
        mutations in prop::collection::vec(mutation(), 0..12),
    ) {
        let mut next = 1;
        number(&mut a, &mut next);
        let mut b = a.clone();
        mutations.iter().for_each(|mutation| mutate(&mut b[0], mutation, &mut next));
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        let mut paths = 0;
        entry_pairs(&stored(&a, COLUMNS), &live(&b, COLUMNS), |pair| {
            paths += 1;
            let facts = |of: &Attributes| (of.file_type(), of.inode().expect("it is stored"));
            before.extend(pair.before.as_ref().map(|of| (pair.path.to_vec(), facts(of))));
            after.extend(pair.after.as_ref().map(|of| (pair.path.to_vec(), facts(of))));
        })
        .expect("two trees of one root");
        let all: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
        prop_assert_eq!(paths, all.len());
        prop_assert_eq!(before, below_root(&a, entries(&a)));
        prop_assert_eq!(after, below_root(&b, entries(&b)));
    }
}
