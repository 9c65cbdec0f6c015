//! Exports of ncdu: what is written is read again, and what comes from elsewhere is not trusted.

use std::path::Path;

use proptest::prelude::*;
use transect::table::{Row, Table, TableBuilder, Unread};
use transect::{FieldMask, FileType, SkipReason, ncdu};
use transect_testkit::{TempDir, trees};

use crate::support::scan;

/// What ncdu exports when it is asked for more.
const EXTENDED: FieldMask =
    FieldMask::UID.union(FieldMask::GID).union(FieldMask::MODE).union(FieldMask::MTIME);

fn table_of(root: &Path) -> Table {
    let builder = TableBuilder::new(FieldMask::FILE_ID | FieldMask::NLINK | EXTENDED);
    let outcome = scan(root).plan().unwrap().run(|| builder.sink()).unwrap();
    outcome.sink.into_table().unwrap()
}

fn written(table: &Table) -> Vec<u8> {
    let root = table.roots().next().unwrap();
    let mut out = Vec::new();
    ncdu::write(table, root, &table.path(root), 0, &mut out).unwrap();
    out
}

fn read(text: &[u8]) -> Result<Table, ncdu::Error> {
    ncdu::read(text, EXTENDED)
}

/// Wraps what is in a directory.
fn tree(inside: &str) -> Vec<u8> {
    format!(r#"[1,2,{{"progname":"x"}},[{{"name":"/t","dev":7}}{inside}]]"#).into_bytes()
}

/// Returns why a text is no export, and where.
#[track_caller]
fn refused(text: &[u8]) -> (u64, String) {
    match read(text) {
        Err(ncdu::Error::Format { offset, what }) => (offset, what),
        other => panic!("{:?}: {}", other.map(|_| ()), String::from_utf8_lossy(text)),
    }
}

#[test]
fn what_is_written_is_read_again() {
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
    let again = read(&written(&ours)).unwrap();
    assert_eq!(again.len(), ours.len());
    assert_eq!(again.hard_links(), ours.hard_links());
    let sums = |table: &Table, row: Row| {
        let sums = table.sums(row);
        (sums.files, sums.directories, sums.others, sums.apparent, sums.disk_usage)
    };
    let (mut ours_left, mut again_left) =
        (ours.roots().collect::<Vec<_>>(), again.roots().collect::<Vec<_>>());
    while let (Some(one), Some(other)) = (ours_left.pop(), again_left.pop()) {
        assert_eq!(ours.name(one), again.name(other));
        let what = ours.path(one);
        assert_eq!(sums(&ours, one), sums(&again, other), "{what:?}");
        assert_eq!(ours.shared(one), again.shared(other), "{what:?}");
        assert_eq!(ours.alone(one), again.alone(other), "{what:?}");
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
fn nothing_is_too_deep() {
    let depth = 10_000;
    let inside = format!("{}{}", r#",[{"name":"d","dsize":1}"#.repeat(depth), "]".repeat(depth));
    let table = read(&tree(&inside)).unwrap();
    assert_eq!(table.len(), depth as u64 + 1);
    assert_eq!(table.total().disk_usage, depth as u64);
    assert_eq!(written(&table).iter().filter(|&&byte| byte == b'[').count(), depth + 2);
}

#[test]
fn what_ncdu_and_gdu_write_is_understood() {
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
    assert_eq!(table.unread(child("other")), Some(Unread::Skipped(SkipReason::MountBoundary)));
    assert_eq!(table.unread(child("proc")), Some(Unread::Skipped(SkipReason::PseudoFileSystem)));
    assert!(matches!(table.unread(child("denied")), Some(Unread::Failed(_))));
    assert_eq!(table.child(root, "left".as_ref()), None);
    assert_eq!(table.file_type(child("n\u{e9}\"\n")), FileType::File);
    let total = table.total();
    assert_eq!((total.files, total.directories, total.others), (4, 4, 2));
    assert_eq!((total.apparent, total.disk_usage), (3 + 2 + 1, 4096 + 512 + 64));
    assert_eq!(table.hard_links(), 1);
    // A third name lies elsewhere.
    assert_eq!(table.shared(root), 512);
    assert_eq!(table.tally().errors, 1);
    assert_eq!(table.tally().skipped[&SkipReason::Excluded], 1);
}

#[test]
fn what_is_no_export_is_refused_with_its_place() {
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
        let (at, what) = refused(text.as_bytes());
        assert_eq!(at, offset, "{text}: {what}");
        assert!(what.contains(word), "{text}: {what}");
    }
    for (inside, word) in [
        (r#",{"name":"a/b"}"#, "'/'"),
        (r#",{"name":"a\u0000b"}"#, "no system allows"),
        (r#",{"name":"a"},[{"name":"a"}]"#, "two entries"),
        (r#",{"name":"a","mtime":"now"}"#, "a time in seconds"),
        (r#"{"name":"a"}"#, "','"),
        (r#",17"#, "'{'"),
    ] {
        let (_, what) = refused(&tree(inside));
        assert!(what.contains(word), "{inside}: {what}");
    }
}

#[test]
fn who_owns_what_and_since_when_is_read_as_ncdu_and_gdu_write_it() {
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
fn sums_of_absurd_sizes_stay_at_the_most_that_can_be_told() {
    let most = i64::MAX as u64;
    let file =
        |name: &str, size: u64| format!(r#",{{"name":"{name}","asize":{size},"dsize":{size}}}"#);
    let sums = |inside: &str| {
        let total = read(&tree(inside)).unwrap().total();
        (total.apparent, total.disk_usage)
    };
    let two = file("a", most) + &file("b", most);
    assert_eq!(sums(&file("a", most)), (most, most));
    assert_eq!(sums(&two), (2 * most, 2 * most));
    assert_eq!(sums(&(two + &file("c", most))), (u64::MAX, u64::MAX));
    assert_eq!(sums(&(file("a", u64::MAX) + &file("b", u64::MAX))), (u64::MAX, u64::MAX));
}

#[test]
fn a_file_counts_once_however_absurd_its_size_is() {
    let most = i64::MAX as u64;
    let link = |name: &str, names: u32| {
        format!(
            r#",{{"name":"{name}","asize":{most},"dsize":{most},"ino":1,"hlnkc":true,"nlink":{names}}}"#
        )
    };
    let here = link("a", 6) + &link("b", 6) + &link("c", 6) + &link("d", 6);
    let inside =
        format!(r#",[{{"name":"sub","dsize":8}}{here}],[{{"name":"too"}}{}]"#, link("e", 6));
    let table = read(&tree(&inside)).unwrap();
    let root = table.roots().next().unwrap();
    let child = |name: &str| table.child(root, name.as_ref()).unwrap();
    let sums = |row: Row| (table.sums(row).apparent, table.sums(row).disk_usage, table.shared(row));
    assert_eq!(sums(root), (most, most + 8, most));
    assert_eq!(sums(child("sub")), (most, most + 8, most));
    assert_eq!(sums(child("too")), (0, 0, most));
    assert_eq!(table.alone(child("too")), most);
    assert_eq!(table.total().files, 5);
    assert_eq!(table.hard_links(), 4);
}

proptest! {
    /// Whatever was changed in an export, it is read or refused, and nothing breaks.
    #[test]
    fn an_export_that_was_tampered_with_breaks_nothing(
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
            let again = read(&written(&table)).unwrap();
            prop_assert_eq!(again.len(), table.len());
            prop_assert_eq!(again.total().disk_usage, table.total().disk_usage);
        }
    }
}
