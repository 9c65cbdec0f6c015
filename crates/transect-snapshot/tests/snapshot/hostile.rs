//! Files that are not what they seem.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
#[cfg(unix)]
use std::ops::ControlFlow;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;

use proptest::prelude::*;
#[cfg(unix)]
use transect::Operation;
use transect::ScanError;
use transect::{Cancel, FieldMask};
use transect_snapshot::{
    DiffOptions, LargestLimits, Metadata, ReadError, Snapshot, StoredError, StoredMeasure, diff,
    write,
};
#[cfg(unix)]
use transect_snapshot::{NamePattern, Search};
use transect_testkit::TempDir;

use crate::model::{self, Node};

/// The first file of version 1, which all later programs read. It has no checksums.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/version-1.parquet");

fn golden_tree() -> Vec<Node> {
    let mut denied = Node::directory("denied", Vec::new());
    denied.is_unreadable = true;
    let mut other = Node::file("other");
    other.name = b"not \xff UTF-8".to_vec();
    let inner = vec![Node::file("a"), Node::file("b"), Node::directory("empty", Vec::new())];
    let children = vec![denied, Node::directory("inner", inner), other, Node::file("z")];
    vec![Node::directory("/golden", children)]
}

const GOLDEN_COLUMNS: FieldMask = FieldMask::all();

/// The first file of version 2.
#[cfg(unix)]
const GOLDEN_CHECKED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/version-2.parquet");

/// A file of version 1 with several pages of names, in the encodings that only version 1 has.
const GOLDEN_PAGES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/version-1-pages.parquet");

/// The first file that lists errors.
#[cfg(unix)]
const GOLDEN_ERRORS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/version-1-errors.parquet");

fn golden_bytes() -> Vec<u8> {
    golden_bytes_with(&[])
}

fn golden_bytes_with(errors: &[ScanError]) -> Vec<u8> {
    let table = model::table(&golden_tree(), GOLDEN_COLUMNS);
    let mut metadata = Metadata::default();
    metadata.tool_version = "0.1.0".to_owned();
    metadata.roots = vec!["/golden".to_owned()];
    metadata.started = Some(1_700_000_000_000_000_000);
    metadata.set_fields(table.columns());
    metadata.set_diagnostics(table.diagnostics());
    metadata.error_list = errors.iter().map(StoredError::from).collect();
    let mut bytes = Vec::new();
    write(&table, &metadata, &Cancel::new(), &mut bytes).expect("memory is enough");
    bytes
}

fn read(bytes: Vec<u8>) -> Result<u64, ReadError> {
    Ok(Snapshot::new(bytes)?.table(FieldMask::all())?.len())
}

/// Replaces the first occurrence of some bytes.
fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let at = bytes.windows(from.len()).position(|window| window == from).expect("it is there");
    bytes[at..at + to.len()].copy_from_slice(to);
}

// Names of bytes do not exist on Windows.
#[cfg(unix)]
fn facts(table: &transect::table::Table) -> Vec<String> {
    let rows = table.iter();
    rows.map(|row| {
        format!("{:?} {:?} {:?}", table.path(row), table.attributes(row), table.totals(row))
    })
    .collect()
}

#[cfg(unix)]
#[test]
fn snapshot_of_every_version_is_still_read() {
    for (golden, unverified) in [(GOLDEN, true), (GOLDEN_CHECKED, false)] {
        snapshot_is_still_read(golden, unverified);
    }
}

#[cfg(unix)]
fn snapshot_is_still_read(golden: &str, unverified: bool) {
    let snapshot = Snapshot::open(Path::new(golden)).expect("a snapshot");
    assert_eq!(snapshot.metadata().unverified, unverified);
    let table = snapshot.table(GOLDEN_COLUMNS).expect("a snapshot");
    let expected = model::table(&golden_tree(), GOLDEN_COLUMNS);
    assert_eq!(facts(&table), facts(&expected));
    assert_eq!(snapshot.metadata().roots, ["/golden"]);
    assert_eq!(table.diagnostics().errors, 1);
    assert!(table.diagnostics().kept_errors.is_empty(), "it does not list them");
    let denied: Vec<_> = table.iter().filter(|&row| table.unread_reason(row).is_some()).collect();
    assert_eq!(denied.len(), 1);
    // The rows of today's writer are the same; the bytes may change with its dependencies.
    let today = Snapshot::new(golden_bytes()).expect("a snapshot");
    let today = today.table(GOLDEN_COLUMNS).expect("a snapshot");
    assert_eq!(facts(&today), facts(&expected));
}

/// The encodings of names, paths, sizes and times are those of version 1, on several pages.
#[cfg(unix)]
#[test]
fn snapshot_of_version_1_equals_one_of_today() {
    let tree = model::tree_of_pages();
    let old = Snapshot::open(Path::new(GOLDEN_PAGES)).unwrap();
    let table = old.table(GOLDEN_COLUMNS).unwrap();
    assert_eq!(facts(&table), facts(&model::table(&tree, GOLDEN_COLUMNS)));
    let today = Snapshot::new(model::snapshot_of(&tree)).unwrap();
    let search = Search::new([NamePattern::substring(b"name 4")]).fields(FieldMask::all());
    let of_old = hits(&old, &search);
    assert_eq!((of_old.len(), &of_old), (600, &hits(&today, &search)));
    let mut options = DiffOptions::default();
    options.verify = true;
    assert!(diff(&old, &today, &options).unwrap().changes.is_empty());
}

#[cfg(unix)]
fn hits<S: transect_snapshot::ReadAt + Sync>(
    snapshot: &Snapshot<S>,
    search: &Search,
) -> Vec<String> {
    let mut hits = Vec::new();
    let found = snapshot.find(search, &Cancel::new(), |hit| {
        hits.push(format!("{hit:?}"));
        ControlFlow::Continue(())
    });
    found.expect("a snapshot");
    hits
}

/// The error of the golden tree.
#[cfg(unix)]
fn golden_errors() -> [ScanError; 1] {
    use std::os::unix::ffi::OsStrExt;
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(b"/golden/not \xff UTF-8"));
    [ScanError::new(Operation::OpenDirectory, path, 1, std::io::Error::from_raw_os_error(13))]
}

#[cfg(unix)]
#[test]
fn snapshot_with_errors_is_still_read() {
    let today = golden_bytes_with(&golden_errors());
    for snapshot in [std::fs::read(GOLDEN_ERRORS).unwrap(), today] {
        let snapshot = Snapshot::new(snapshot).unwrap();
        let table = snapshot.table(GOLDEN_COLUMNS).unwrap();
        let errors = &table.diagnostics().kept_errors;
        let shown: Vec<String> = errors.iter().map(|error| format!("{error:?}")).collect();
        assert_eq!(shown, golden_errors().each_ref().map(|error| format!("{error:?}")));
        assert_eq!(snapshot.metadata().diagnostics().kept_errors.len(), 1);
    }
}

/// A file that lists more errors than it counts: the list is not believed.
#[cfg(unix)]
#[test]
fn snapshot_listing_errors_that_it_does_not_count_lists_none() {
    let mut bytes = std::fs::read(GOLDEN_ERRORS).unwrap();
    replace(&mut bytes, b"\"errors\":1", b"\"errors\":0");
    let table = Snapshot::new(bytes).unwrap().table(GOLDEN_COLUMNS).unwrap();
    assert_eq!((table.diagnostics().errors, table.diagnostics().kept_errors.len()), (0, 0));
}

#[test]
fn snapshot_truncated_anywhere_is_an_error() {
    let bytes = golden_bytes();
    for length in 0..bytes.len() {
        assert!(read(bytes[..length].to_vec()).is_err(), "{length}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(2000)))]

    #[test]
    fn snapshot_with_changed_bytes_ends_without_panic(
        which in prop_oneof![19 => Just(0_usize), 1 => Just(1)],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)
    ) {
        // Files with checksums are refused before anything is decoded.
        thread_local! {
            static FILES: [Vec<u8>; 2] =
                [GOLDEN, GOLDEN_PAGES].map(|file| std::fs::read(file).expect("a snapshot"));
        }
        let mut bytes = FILES.with(|files| files[which].clone());
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(damaged) = Snapshot::new(bytes.clone()) {
            thread_local! {
                static WHOLE: [Snapshot<Vec<u8>>; 2] = [
                    Snapshot::new(golden_bytes()).expect("a snapshot"),
                    Snapshot::new(model::snapshot_of(&model::tree_of_pages())).expect("a snapshot"),
                ];
            }
            let limits = LargestLimits::new(3);
            if let Ok(Some(largest)) = damaged.largest_directories(StoredMeasure::DiskUsage, &limits) {
                let _ = damaged.names_of(&largest.directories);
            }
            let _ = damaged.partial_table(FieldMask::MTIME, 3, true);
            let mut options = DiffOptions::default();
            options.verify = true;
            WHOLE.with(|whole| {
                let whole = &whole[which];
                let _ = (diff(whole, &damaged, &options), diff(&damaged, whole, &options));
            });
        }
        let _ = read(bytes);
    }
}

#[test]
fn snapshot_foreign_newer_and_other_files_named_as_such() {
    let golden = || std::fs::read(GOLDEN).unwrap();
    let mut newer = golden();
    replace(&mut newer, b"transect.schema_version\x18\x011", b"transect.schema_version\x18\x019");
    let error = Snapshot::new(newer).unwrap_err();
    assert!(matches!(error, ReadError::Newer(9)), "{error}");
    let mut foreign = golden();
    replace(&mut foreign, b"transect.schema_version", b"another.schema_version_");
    assert!(matches!(Snapshot::new(foreign), Err(ReadError::NotSnapshot(_))));
    let mut other_column = golden();
    replace(&mut other_column, b"\x05inode", b"\x05imode");
    assert!(matches!(Snapshot::new(other_column), Err(ReadError::NotSnapshot(_))));
    for bytes in [&b""[..], b"PAR1", b"some text, longer than a mark", &[0; 100]] {
        assert!(matches!(Snapshot::new(bytes.to_vec()), Err(ReadError::NotParquet)));
    }
}

/// Returns a file whose last bytes claim that its description has `length` bytes.
fn claiming(temp: &TempDir, size: u64, length: u32) -> PathBuf {
    let path = temp.join("claims");
    let mut file = File::create(&path).expect("a file");
    file.write_all(b"PAR1").expect("a file");
    file.set_len(size).expect("a file");
    file.seek(SeekFrom::Start(size - 8)).expect("a file");
    file.write_all(&length.to_le_bytes()).expect("a file");
    file.write_all(b"PAR1").expect("a file");
    path
}

#[test]
fn snapshot_that_claims_much_is_an_error() {
    let temp = TempDir::new();
    // A hundred gigabytes of zeros, which occupy nothing.
    for length in [u32::MAX, 1 << 31, 300 << 20, 1000] {
        let path = claiming(&temp, 100 << 30, length);
        let error = Snapshot::open(&path).unwrap_err();
        assert!(!matches!(error, ReadError::Io(_)), "{error}");
    }
}

#[test]
fn file_with_one_damaged_mark_is_likely_a_snapshot() {
    let temp = TempDir::new();
    let path = temp.join("file");
    let good = golden_bytes();
    for at in [0, 3, good.len() - 4, good.len() - 1] {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&path, bytes).unwrap();
        assert!(Snapshot::is_likely(&path), "{at}");
        assert!(matches!(Snapshot::open(&path), Err(ReadError::NotParquet)), "{at}");
    }
    for other in [&b""[..], b"PAR", b"a text that names PAR1 in it"] {
        std::fs::write(&path, other).unwrap();
        assert!(!Snapshot::is_likely(&path));
    }
}
