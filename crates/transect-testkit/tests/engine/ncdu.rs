//! Exports of ncdu: written ones can be read again, and foreign ones are not trusted.

use std::path::Path;

use proptest::prelude::*;
use transect::table::{Row, Table, TableBuilder, UnreadReason};
use transect::{FieldMask, FileType, SkipReason, ncdu};
use transect_testkit::{TempDir, trees, within};

use crate::support::scan;

/// The columns of an extended export.
const EXTENDED: FieldMask =
    FieldMask::UID.union(FieldMask::GID).union(FieldMask::MODE).union(FieldMask::MTIME);

/// The columns that an export needs.
const COLUMNS: FieldMask = FieldMask::FILE_ID.union(FieldMask::NLINK).union(EXTENDED);

fn table_of(root: &Path) -> Table {
    let builder = TableBuilder::new(COLUMNS);
    let outcome = scan(root).plan().unwrap().run(|| builder.sink()).unwrap();
    outcome.sink.into_table().unwrap()
}

fn export(table: &Table) -> Vec<u8> {
    let root = table.roots().next().unwrap();
    let mut out = Vec::new();
    ncdu::write(table, root, &table.path(root), 0, &mut out).unwrap();
    out
}

fn read(text: &[u8]) -> Result<Table, ncdu::Error> {
    ncdu::read(text, EXTENDED)
}

/// Wraps the entries of a directory in an export.
fn tree(content: &str) -> Vec<u8> {
    format!(r#"[1,2,{{"progname":"x"}},[{{"name":"/t","dev":7}}{content}]]"#).into_bytes()
}

/// Returns the error of an invalid export: its offset and message.
#[track_caller]
fn import_error(text: &[u8]) -> (u64, String) {
    match read(text) {
        Err(ncdu::Error::Format { offset, what }) => (offset, what),
        other => panic!("{:?}: {}", other.map(|_| ()), String::from_utf8_lossy(text)),
    }
}

#[test]
fn export_written_then_read_is_equal() {
    let temp = TempDir::new();
    let make: [fn(&Path); 6] = [
        trees::basic,
        trees::deep,
        trees::hardlinks,
        trees::special,
        trees::times,
        trees::weirdnames,
    ];
    for (number, make) in make.into_iter().enumerate() {
        let at = temp.path().join(number.to_string());
        std::fs::create_dir(&at).unwrap();
        make(&at);
    }
    let ours = table_of(temp.path());
    let again = read(&export(&ours)).unwrap();
    assert_eq!(again.len(), ours.len());
    assert_eq!(again.hard_links(), ours.hard_links());
    let sums = |table: &Table, row: Row| {
        let sums = table.totals(row);
        (sums.files, sums.directories, sums.others, sums.apparent, sums.disk_usage)
    };
    let (mut ours_left, mut again_left) =
        (ours.roots().collect::<Vec<_>>(), again.roots().collect::<Vec<_>>());
    while let (Some(one), Some(other)) = (ours_left.pop(), again_left.pop()) {
        assert_eq!(ours.name(one), again.name(other));
        let what = ours.path(one);
        assert_eq!(sums(&ours, one), sums(&again, other), "{what:?}");
        assert_eq!(ours.shared(one), again.shared(other), "{what:?}");
        assert_eq!(ours.standalone_usage(one), again.standalone_usage(other), "{what:?}");
        let extended = |table: &Table, row: Row| {
            let of = table.attributes(row);
            (of.uid(), of.gid(), of.mode(), of.mtime(), of.file_type())
        };
        assert_eq!(extended(&ours, one), extended(&again, other), "{what:?}");
        ours_left.extend(ours.children(one));
        again_left.extend(again.children(other));
    }
    assert!(ours_left.is_empty() && again_left.is_empty());
}

#[test]
fn export_and_import_any_depth() {
    let depth = 10_000;
    let content = format!("{}{}", r#",[{"name":"d","dsize":1}"#.repeat(depth), "]".repeat(depth));
    let table = read(&tree(&content)).unwrap();
    assert_eq!(table.len(), depth as u64 + 1);
    assert_eq!(table.grand_total().disk_usage, depth as u64);
    assert_eq!(export(&table).iter().filter(|&&byte| byte == b'[').count(), depth + 2);
}

#[test]
fn import_ncdu_and_gdu_exports_read() {
    let table = read(&tree(
        r#",
        {"name":"file","asize":3,"dsize":4096,"mtime":5},
        {"name":"one","asize":2,"dsize":512,"ino":9,"hlnkc":true,"nlink":3},
        {"name":"two","asize":2,"dsize":512,"ino":9,"hlnkc":true,"nlink":3},
        {"name":"link","asize":1,"notreg":true},
        {"name":"pipe","mode":4516,"notreg":true},
        {"name":"other","dev":8,"excluded":"otherfs"},
        {"name":"proc","excluded":"kernfs"},
        {"name":"left","excluded":"pattern"},
        [{"name":"denied","read_error":true,"dsize":64}],
        {"later":[{"word":null}],"name":"n\u00e9\"\n"}"#,
    ))
    .unwrap();
    let root = table.roots().next().unwrap();
    let child = |name: &str| table.child(root, name.as_ref()).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(table.path(root), Path::new("/t"));
    assert_eq!(table.size(child("file")), Some(3));
    assert_eq!(table.file_type(child("file")), FileType::File);
    assert_eq!(table.file_type(child("link")), FileType::Unknown);
    assert_eq!(table.file_type(child("pipe")), FileType::Fifo);
    assert_eq!(
        table.unread_reason(child("other")),
        Some(UnreadReason::Skipped(SkipReason::MountBoundary))
    );
    assert_eq!(
        table.unread_reason(child("proc")),
        Some(UnreadReason::Skipped(SkipReason::PseudoFileSystem))
    );
    assert!(matches!(table.unread_reason(child("denied")), Some(UnreadReason::Failed(_))));
    assert_eq!(table.child(root, "left".as_ref()), None);
    assert_eq!(table.file_type(child("n\u{e9}\"\n")), FileType::File);
    let total = table.grand_total();
    assert_eq!((total.files, total.directories, total.others), (4, 4, 2));
    assert_eq!((total.apparent, total.disk_usage), (3 + 2 + 1, 4096 + 512 + 64));
    assert_eq!(table.hard_links(), 1);
    // The third name is outside the tree.
    assert_eq!(table.shared(root), 512);
    assert_eq!(table.diagnostics().errors, 1);
    assert_eq!(table.diagnostics().skipped[&SkipReason::Excluded], 1);
}

#[test]
fn import_invalid_export_rejected_with_offset() {
    for (text, offset, word) in [
        ("", 0, "too early"),
        ("[2,0,{},[]]", 2, "version 2"),
        ("[1,2,{},{\"name\":\"x\"}]", 8, "'['"),
        ("[1,2,{},[{\"name\":\"x\"}", 21, "too early"),
        ("[1,2,{},[{\"name\":\"x\"}]]x", 23, "behind the end"),
        ("[1,2,{},[{\"asize\":1}]]", 10, "without a name"),
        ("[1,2,{},[{\"name\":\"x\",\"asize\":-1}]]", 29, "whole number"),
        ("[1,2,{},[{\"name\":\"x\",\"notreg\":1}]]", 30, "true or false"),
    ] {
        let (at, what) = import_error(text.as_bytes());
        assert_eq!(at, offset, "{text}: {what}");
        assert!(what.contains(word), "{text}: {what}");
    }
    for (content, word) in [
        (r#",{"name":"a/b"}"#, "'/'"),
        (r#",{"name":"a\u0000b"}"#, "no system allows"),
        (r#",{"name":"a"},[{"name":"a"}]"#, "two entries"),
        (r#",{"name":"a","mtime":"now"}"#, "a time in seconds"),
        (r#",{"name":""}"#, "without a name"),
        (r#"{"name":"a"}"#, "','"),
        (r#",17"#, "'{'"),
    ] {
        let (_, what) = import_error(&tree(content));
        assert!(what.contains(word), "{content}: {what}");
    }
}

#[test]
fn import_binary_export_named_in_error() {
    let error = ncdu::read(&b"\xbfncduEX1\0\0\0\x10"[..], FieldMask::empty()).unwrap_err();
    assert!(error.to_string().starts_with("at byte 0: a binary export (ncdu -O)"), "{error}");
}

#[test]
fn import_invalid_name_rejected() {
    for name in [".", "..", "/", "../a", "a/", r"\u002e\u002e", r"\u002f"] {
        for content in [format!(r#",{{"name":"{name}"}}"#), format!(r#",[{{"name":"{name}"}}]"#)] {
            let (offset, what) = import_error(&tree(&content));
            assert!(what.starts_with("a name that"), "{content}: {what}");
            assert_eq!(offset, 45 + u64::from(content.contains('[')), "{content}");
        }
        for word in ["otherfs", "kernfs", "pattern"] {
            let (_, what) =
                import_error(&tree(&format!(r#",{{"name":"{name}","excluded":"{word}"}}"#)));
            assert!(what.starts_with("a name that"), "{name}: {what}");
        }
    }
    for name in ["...", ".a", "..a", "a..", "-", " "] {
        assert_eq!(read(&tree(&format!(r#",{{"name":"{name}"}}"#))).unwrap().len(), 2, "{name}");
    }
}

#[test]
fn import_duplicate_key_rejected() {
    for (key, value) in [
        ("name", r#""b""#),
        ("asize", "1"),
        ("dsize", "1"),
        ("dev", "1"),
        ("ino", "1"),
        ("hlnkc", "true"),
        ("nlink", "1"),
        ("notreg", "true"),
        ("read_error", "true"),
        ("excluded", r#""pattern""#),
        ("uid", "1"),
        ("gid", "1"),
        ("mode", "1"),
        ("mtime", "1"),
    ] {
        let once = format!(r#""{key}":{value}"#);
        let name = if key == "name" { "" } else { r#""name":"a","# };
        assert!(read(&tree(&format!(",[{{{name}{once}}}]"))).is_ok(), "{key}");
        let (_, what) = import_error(&tree(&format!(",[{{{name}{once},{once}}}]")));
        assert_eq!(what, format!("a second \"{key}\" of the same entry"));
        let escaped = format!(r#""\u{:04x}{}":{value}"#, key.as_bytes()[0], &key[1..]);
        let (_, what) = import_error(&tree(&format!(",[{{{name}{once},{escaped}}}]")));
        assert_eq!(what, format!("a second \"{key}\" of the same entry"));
    }
    // Unknown keys are ignored, however often they come.
    assert!(read(&tree(r#",{"name":"a","later":1,"later":2}"#)).is_ok());
}

#[test]
fn import_errors_in_deep_tree_kept_paths_bounded() {
    let name = "n".repeat(250);
    let (depth, errors) = (4000, 500);
    let mut content = format!(r#",[{{"name":"{name}"}}"#).repeat(depth);
    for number in 0..errors {
        content += &format!(r#",[{{"name":"{number}","read_error":true}}]"#);
    }
    content += &"]".repeat(depth);
    let table = read(&tree(&content)).unwrap();
    let kept: usize =
        table.diagnostics().kept_errors.iter().map(|error| error.path().as_os_str().len()).sum();
    assert_eq!(table.diagnostics().errors, errors);
    assert!(
        table.diagnostics().kept_errors[0].path().ends_with("0"),
        "the first is kept with its path"
    );
    assert!((1 << 20..=16 << 20).contains(&kept), "{kept} bytes");
}

#[test]
fn import_errors_at_every_level_counted_in_linear_time() {
    // Walking to the top from each error would take an hour.
    let depth = 300_000;
    let level = r#",[{"name":"d","read_error":true}"#;
    let content = level.repeat(depth) + &"]".repeat(depth);
    let table = within("an import", move || read(&tree(&content)).unwrap());
    let root = table.roots().next().unwrap();
    assert_eq!(table.errors(root), depth as u64);
    let first = table.children(root).next().unwrap();
    assert_eq!(table.errors(first), depth as u64);
    assert_eq!(table.errors(table.children(first).next().unwrap()), depth as u64 - 1);
}

/// Fragments with a meaning in exports.
const WORDS: [&[u8]; 24] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\n",
    b"\0",
    b"\xff",
    b"-1",
    b"18446744073709551615",
    b"1e9",
    b"\"name\":",
    b"\"name\":\"..\"",
    b"\"ino\":1,\"hlnkc\":true",
    b"\"nlink\":4294967296",
    b"\"excluded\":\"otherfs\"",
    b"\"read_error\":true",
    b",[{\"name\":\"x\"}",
    b",{\"name\":\"x\"}",
];

/// A change to an export; positions are taken modulo its length.
#[derive(Clone, Debug)]
enum Change {
    Replace(usize, u8),
    Insert(usize, usize),
    Remove(usize, usize),
    /// Copies a range to another position.
    Copy(usize, usize, usize),
    Truncate(usize),
}

impl Change {
    fn any() -> impl Strategy<Value = Self> {
        let place = || 0_usize..1 << 16;
        prop_oneof![
            (place(), any::<u8>()).prop_map(|(at, byte)| Self::Replace(at, byte)),
            (place(), 0..WORDS.len()).prop_map(|(at, word)| Self::Insert(at, word)),
            (place(), 1_usize..80).prop_map(|(at, length)| Self::Remove(at, length)),
            (place(), 1_usize..200, place())
                .prop_map(|(at, length, to)| Self::Copy(at, length, to)),
            place().prop_map(Self::Truncate),
        ]
    }

    fn apply(&self, text: &mut Vec<u8>) {
        let length = text.len().max(1);
        let part = |at: usize, count: usize| {
            (at % length).min(text.len())..(at % length + count).min(text.len())
        };
        match *self {
            _ if text.is_empty() => {}
            Self::Replace(at, byte) => text[at % length] = byte,
            Self::Insert(at, word) => drop(text.splice(part(at, 0), WORDS[word].iter().copied())),
            Self::Remove(at, count) => drop(text.drain(part(at, count))),
            Self::Copy(at, count, to) => {
                let copy = text[part(at, count)].to_vec();
                drop(text.splice(part(to, 0), copy));
            }
            Self::Truncate(at) => text.truncate(at % length),
        }
    }
}

/// Returns an export of a tree with every kind of entry.
fn real_export() -> &'static [u8] {
    static EXPORT: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    EXPORT.get_or_init(|| {
        let temp = TempDir::new();
        let make: [fn(&Path); 4] =
            [trees::basic, trees::hardlinks, trees::special, trees::weirdnames];
        for (number, make) in make.into_iter().enumerate() {
            let at = temp.path().join(number.to_string());
            std::fs::create_dir(&at).unwrap();
            make(&at);
        }
        export(&table_of(temp.path()))
    })
}

#[test]
fn import_owners_and_times_of_ncdu_and_gdu_read() {
    let table = read(&tree(
        r#",
        {"name":"a","uid":1000,"gid":65534,"mode":33188,"mtime":1700000000.5},
        {"name":"b","uid":18446744073709551614,"mtime":18446744071562067968},
        {"name":"c","uid":4294967295,"gid":4294967296,"mode":65536,"mtime":-2147483648},
        {"name":"d","mtime":9223372036854775807}"#,
    ))
    .unwrap();
    let root = table.roots().next().unwrap();
    let of = |name: &str| table.attributes(table.child(root, name.as_ref()).unwrap());
    let people = |name: &str| (of(name).uid(), of(name).gid(), of(name).mode());
    assert_eq!(people("a"), (Some(1000), Some(65534), Some(0o100_644)));
    assert_eq!(people("b"), (Some(u32::MAX - 1), None, None));
    assert_eq!(people("c"), (Some(u32::MAX), None, None), "what cannot be is not known");
    assert_eq!(of("a").mtime(), Some(1_700_000_000_500_000_000));
    for name in ["b", "c"] {
        assert_eq!(of(name).mtime(), Some(i64::from(i32::MIN) * 1_000_000_000), "{name}");
    }
    assert_eq!(of("d").mtime(), Some(i64::MAX), "292 years are as far as nanoseconds reach");
}

#[test]
fn import_huge_sizes_totals_saturate() {
    let most = i64::MAX as u64;
    let file =
        |name: &str, size: u64| format!(r#",{{"name":"{name}","asize":{size},"dsize":{size}}}"#);
    let sums = |content: &str| {
        let total = read(&tree(content)).unwrap().grand_total();
        (total.apparent, total.disk_usage)
    };
    let two = file("a", most) + &file("b", most);
    assert_eq!(sums(&file("a", most)), (most, most));
    assert_eq!(sums(&two), (2 * most, 2 * most));
    assert_eq!(sums(&(two + &file("c", most))), (u64::MAX, u64::MAX));
    assert_eq!(sums(&(file("a", u64::MAX) + &file("b", u64::MAX))), (u64::MAX, u64::MAX));
}

#[test]
fn import_huge_hard_link_counted_once() {
    let most = i64::MAX as u64;
    let link = |name: &str, names: u32| {
        format!(
            r#",{{"name":"{name}","asize":{most},"dsize":{most},"ino":1,"hlnkc":true,"nlink":{names}}}"#
        )
    };
    let here = link("a", 6) + &link("b", 6) + &link("c", 6) + &link("d", 6);
    let content =
        format!(r#",[{{"name":"sub","dsize":8}}{here}],[{{"name":"too"}}{}]"#, link("e", 6));
    let table = read(&tree(&content)).unwrap();
    let root = table.roots().next().unwrap();
    let child = |name: &str| table.child(root, name.as_ref()).unwrap();
    let sums =
        |row: Row| (table.totals(row).apparent, table.totals(row).disk_usage, table.shared(row));
    assert_eq!(sums(root), (most, most + 8, most));
    assert_eq!(sums(child("sub")), (most, most + 8, most));
    assert_eq!(sums(child("too")), (0, 0, most));
    assert_eq!(table.standalone_usage(child("too")), most);
    assert_eq!(table.grand_total().files, 5);
    assert_eq!(table.hard_links(), 4);
}

proptest! {
    /// A changed export is read or rejected. If it is read, it has valid names, and stays the same
    /// when it is written and read again.
    #[test]
    fn import_changed_export_valid_or_rejected(changes in prop::collection::vec(Change::any(), 1..12)) {
        let mut text = real_export().to_vec();
        changes.iter().for_each(|change| change.apply(&mut text));
        let read = |text: &[u8]| ncdu::read(text, COLUMNS);
        if let Ok(table) = read(&text) {
            let mut left = table.roots().flat_map(|root| table.children(root)).collect::<Vec<_>>();
            while let Some(row) = left.pop() {
                let name = table.name(row).as_encoded_bytes();
                prop_assert!(!matches!(name, b"" | b"." | b".."));
                prop_assert!(!name.contains(&b'/') && !name.contains(&0));
                left.extend(table.children(row));
            }
            let again = read(&export(&table)).unwrap();
            prop_assert_eq!(again.len(), table.len());
            // A hard link without a link count is written once, as a separate file.
            let twice = read(&export(&again)).unwrap();
            prop_assert_eq!(twice.len(), again.len());
            prop_assert_eq!(twice.grand_total(), again.grand_total());
        }
    }

    /// A changed export is read or rejected, without panics.
    #[test]
    fn import_tampered_export_never_panics(
        cut in 0_usize..400,
        changes in prop::collection::vec((0_usize..400, any::<u8>()), 0..4),
    ) {
        let mut text = tree(
            r#",[{"name":"d","asize":1,"dsize":2,"dev":1},{"name":"f","ino":1,"hlnkc":true,"nlink":2}],
            {"name":"g","notreg":true,"x":[1,{"y":null}]},{"name":"h","excluded":"otherfs"}"#,
        );
        for (place, byte) in changes {
            let place = place % text.len();
            text[place] = byte;
        }
        text.truncate(text.len().saturating_sub(cut.saturating_sub(200)));
        if let Ok(table) = read(&text) {
            let again = read(&export(&table)).unwrap();
            prop_assert_eq!(again.len(), table.len());
            prop_assert_eq!(again.grand_total().disk_usage, table.grand_total().disk_usage);
        }
    }
}
