//! Searches answer as a search of all rows would.

use std::ops::ControlFlow;

use proptest::prelude::*;
use transect::internal::AttributeFilter;
use transect::table::{Row, Table};
use transect::{Attributes, Cancel, Conditions, FieldMask, FileType};
use transect_snapshot::{Metadata, NamePattern, ReadError, Search, Snapshot, write};

use crate::model::{self, Node};

const FIELDS: FieldMask = FieldMask::SIZE.union(FieldMask::MTIME).union(FieldMask::MODE);

fn stored(table: &Table) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut metadata = Metadata::default();
    metadata.set_fields(table.columns());
    write(table, &metadata, &Cancel::new(), &mut bytes).expect("memory");
    bytes
}

/// An entry that was found: path and attributes.
type Entry = (Vec<u8>, Option<u64>, Option<i64>, FileType);

fn entry(path: Vec<u8>, of: &Attributes) -> Entry {
    (path, of.size(), of.mtime(), of.file_type())
}

/// Returns what a search finds, after a check that the count is the same.
fn found(snapshot: &Snapshot<Vec<u8>>, search: &Search) -> Result<Vec<Entry>, ReadError> {
    let mut found = Vec::new();
    let mut last = None;
    let cancel = Cancel::new();
    let count = snapshot.find(search, &cancel, |hit| {
        assert!(last < Some(hit.row), "in tree order");
        last = Some(hit.row);
        found.push(entry([hit.directory, hit.name].concat(), hit.attributes));
        ControlFlow::Continue(())
    })?;
    assert_eq!(count, found.len() as u64);
    assert_eq!(snapshot.count(search, &cancel)?, count);
    Ok(found)
}

/// Returns all entries, in tree order.
fn all(table: &Table) -> Vec<Entry> {
    let mut all = Vec::new();
    let mut waiting: Vec<Row> = table.roots().collect();
    waiting.reverse();
    while let Some(row) = waiting.pop() {
        let path = table.path(row).into_os_string().into_encoded_bytes();
        all.push(entry(path, &table.attributes(row)));
        let begin = waiting.len();
        waiting.extend(table.children(row));
        waiting[begin..].reverse();
    }
    all
}

fn selected(all: &[Entry], test: impl Fn(&Entry) -> bool) -> Vec<Entry> {
    all.iter().filter(|entry| test(entry)).cloned().collect()
}

fn name_of(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|&byte| std::path::is_separator(byte.into()));
    &path[slash.map_or(0, |slash| slash + 1)..]
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

fn search(words: &[&[u8]]) -> Search {
    Search::new(words.iter().map(|word| NamePattern::substring(word))).fields(FIELDS)
}

/// Checks a search for names that contain all words, with and without case.
fn assert_finds_all(snapshot: &Snapshot<Vec<u8>>, all: &[Entry], words: &[&[u8]]) -> usize {
    let has = |name: &[u8], words: &[&[u8]]| words.iter().all(|word| contains(name, word));
    let by_case = found(snapshot, &search(words)).expect("a snapshot");
    assert_eq!(by_case, selected(all, |it| has(name_of(&it.0), words)), "{words:?}");
    let lower: Vec<Vec<u8>> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let lower: Vec<&[u8]> = lower.iter().map(Vec::as_slice).collect();
    let any_case = found(snapshot, &search(words).ignore_case(true)).expect("a snapshot");
    let test = |it: &Entry| has(&name_of(&it.0).to_ascii_lowercase(), &lower);
    assert_eq!(any_case, selected(all, test), "{words:?}");
    by_case.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(100)))]

    #[test]
    fn find_in_any_tree_equals_a_search_of_all_rows(
        tree in model::tree(),
        words in prop::collection::vec("[a-dA-D.\u{e9}\u{fffd}]{1,3}", 1..3),
        (least, kind) in (0..20_u64, 0..model::TYPES.len()),
    ) {
        let table = model::table(&tree, FIELDS);
        let snapshot = Snapshot::new(stored(&table)).unwrap();
        let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        let all = all(&table);
        assert_finds_all(&snapshot, &all, &words);
        let kind = model::TYPES[kind];
        let any = Search::new([NamePattern::name([], |_| true)]).fields(FIELDS);
        let of_kind = found(&snapshot, &any.clone().filter(AttributeFilter::new(&[kind], Conditions::new()))).unwrap();
        prop_assert_eq!(of_kind, selected(&all, |it| it.3 == kind));
        let filter = AttributeFilter::new(&[], Conditions::new().min_size(least));
        let large = found(&snapshot, &any.filter(filter)).unwrap();
        let is_large = |it: &Entry| it.3 == FileType::File && it.1 >= Some(least);
        prop_assert_eq!(large, selected(&all, is_large));
    }
}

/// A tree of several row groups, with an index: names with numbers, words, and bytes that are not UTF-8.
fn large_tree() -> Table {
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let words = ["alpha", "Beta", "gamma", "d\u{e9}lta", "x"];
    let mut directories = Vec::new();
    for directory in 0..1500 {
        let mut files = Vec::new();
        for file in 0..100 {
            let word = words[random(5) as usize];
            let mut node = Node::file(&format!("{file:03}{word}-{:07}.txt", random(10_000_000)));
            if cfg!(unix) && random(500) == 0 {
                node.name.extend_from_slice(b"\xffraw");
            }
            files.push(node);
        }
        let mut node = Node::directory(&format!("dir{directory:04}"), files);
        if cfg!(unix) && directory % 300 == 7 {
            node.name.push(0xe9);
        }
        directories.push(node);
    }
    directories.push(Node::directory("zz", vec![Node::file("a needle in it"), Node::file("b")]));
    model::table(&[Node::directory("/some/root", directories)], FIELDS)
}

#[test]
fn find_with_index_equals_a_search_of_all_rows() {
    let table = large_tree();
    let bytes = stored(&table);
    assert!(contains(&bytes, b"transect.name_index"), "there is an index");
    let snapshot = Snapshot::new(bytes).unwrap();
    let all = all(&table);
    let find = |words: &[&[u8]]| assert_finds_all(&snapshot, &all, words);
    assert_eq!(find(&[b"needle"]), 1);
    assert_eq!(find(&[b"NEEDLE"]), 0);
    assert_eq!(find(&[b"nowhere to be found"]), 0);
    assert!(find(&[b"Beta"]) > 10_000 && find(&[b"a"]) > 10_000);
    assert!(find(&["d\u{e9}lta".as_bytes(), b"123"]) > 10);
    // The root by its name, not by its path.
    assert_eq!((find(&[b"root"]), find(&[b"some"])), (1, 0));
    if cfg!(unix) {
        assert!(find(&[b"\xffraw"]) > 100 && find(&[b"dir0007"]) == 1);
        assert_eq!(find(&["\u{fffd}raw".as_bytes()]), 0, "names are bytes");
    }
    for number in [0, 4_123_456, 9_999_999] {
        find(&[format!("-{number:07}").as_bytes()]);
    }
}

#[test]
fn find_with_slash_matches_the_end_of_the_directory() {
    let inner = vec![
        Node::file("main.rs"),
        Node::file("xmain"),
        Node::directory("main", vec![Node::file("inner")]),
    ];
    let tree = [Node::directory(
        "/a",
        vec![Node::directory("Src", inner.clone()), Node::directory("mySrc", inner)],
    )];
    let table = model::table(&tree, FIELDS);
    let snapshot = Snapshot::new(stored(&table)).unwrap();
    let paths = |search: &Search| -> Vec<String> {
        let found = found(&snapshot, search).unwrap().into_iter();
        found.map(|(path, ..)| String::from_utf8(path).unwrap().replace('\\', "/")).collect()
    };
    let one = |text: &str| search(&[text.as_bytes()]);
    assert_eq!(paths(&one("/Src/main")), ["/a/Src/main", "/a/Src/main.rs"]);
    assert_eq!(
        paths(&one("Src/main")),
        ["/a/Src/main", "/a/Src/main.rs", "/a/mySrc/main", "/a/mySrc/main.rs"]
    );
    assert_eq!(paths(&one("src/MAIN.")), Vec::<String>::new());
    assert_eq!(paths(&one("/src/MAIN.").ignore_case(true)), ["/a/Src/main.rs"]);
    assert_eq!(paths(&one("/a")), ["/a"]);
    assert_eq!(paths(&one("/a/")), ["/a/Src", "/a/mySrc"]);
    let by_path =
        NamePattern::path([b"inner".to_vec()], |path| path.ends_with(b"/mySrc/main/inner"));
    assert_eq!(paths(&Search::new([by_path])), ["/a/mySrc/main/inner"]);
}

#[test]
fn find_ends_at_a_break_and_when_cancelled() {
    let table = large_tree();
    let snapshot = Snapshot::new(stored(&table)).unwrap();
    let mut calls = 0;
    let count = snapshot.find(&search(&[b"a"]), &Cancel::new(), |_| {
        calls += 1;
        if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!((count.unwrap(), calls), (3, 3));
    let cancel = Cancel::new();
    cancel.cancel();
    assert_eq!(snapshot.count(&search(&[b"a"]), &cancel).unwrap(), 0);
}

#[test]
fn find_ignores_an_index_of_another_file_and_refuses_a_damaged_one() {
    let table = large_tree();
    let bytes = stored(&table);
    let at = |text: &[u8]| bytes.windows(text.len()).position(|window| window == text).unwrap();
    let header = at(b"TRNAMES3");
    let read = |bytes: Vec<u8>| found(&Snapshot::new(bytes).unwrap(), &search(&[b"needle"]));
    let expected = read(bytes.clone()).unwrap();
    assert_eq!(expected.len(), 1);
    // Another header: everything is read.
    for byte in [0, 8, 16, 20, 31] {
        let mut other = bytes.clone();
        other[header + byte] ^= 1;
        assert_eq!(read(other).unwrap(), expected);
    }
    let place = at(b"transect.name_index") + b"transect.name_index".len() + 2;
    for text in ["9", "99999999999", "-", "x", "0 "] {
        let mut other = bytes.clone();
        other[place..place + text.len()].copy_from_slice(text.as_bytes());
        let error = Snapshot::new(other).unwrap_err();
        assert!(error.to_string().contains("checksum"), "{text}: {error}");
    }
    // Damaged slices are an error, or the search needs none of them: never fewer entries.
    let text = &bytes[place..place + usize::from(bytes[place - 1])];
    let (offset, length) = std::str::from_utf8(text).unwrap().split_once(' ').unwrap();
    let (offset, length): (usize, usize) = (offset.parse().unwrap(), length.parse().unwrap());
    assert_eq!(offset, header);
    let mut damaged = bytes.clone();
    damaged[header + 32..header + length].iter_mut().for_each(|byte| *byte = !*byte);
    assert!(read(damaged).unwrap_err().to_string().contains("checksum"));
    for at in (header + 32..header + length).step_by(length / 20) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        match read(damaged) {
            Ok(found) => assert_eq!(found, expected),
            Err(error) => assert!(error.to_string().contains("checksum"), "{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(300)))]

    #[test]
    fn find_in_damaged_files_ends_without_panic(
        tree in model::tree(),
        (at, byte) in (any::<prop::sample::Index>(), any::<u8>()),
        word in "[a-d]{1,2}",
    ) {
        let table = model::table(&tree, FIELDS);
        let mut bytes = stored(&table);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(snapshot) = Snapshot::new(bytes) {
            let all = snapshot.find(&search(&[word.as_bytes()]), &Cancel::new(), |_| ControlFlow::Continue(()));
            prop_assert!(all.is_err() || all.unwrap() <= table.len());
        }
    }
}
