//! The entries chosen, the summary, and the result.

use transect::table::TableBuilder;
use transect::{FieldMask, ScanOptions};
use transect_remove::{Removal, RemovalError};
use transect_testkit::{TempDir, trees};

use crate::support::{
    chosen, delete, delete_at, gone, is_there, kept, paths, row, rows, scanned, write,
};

#[test]
fn delete_selection_removed_rest_kept() {
    let temp = TempDir::new();
    write(temp.join("a/b/file"), "12345");
    write(temp.join("a/stays"), "12345");
    write(temp.join("other"), "12345");
    let table = scanned(temp.path());
    let removal = chosen(&table, ["a/b", "a/b/file", "other", "other"]);
    assert_eq!(removal.rows().len(), 2, "what lies below goes with it, and nothing twice");
    let summary = removal.summary();
    assert_eq!((summary.files, summary.directories, summary.others), (2, 1, 0));
    let mut met = Vec::new();
    let report = removal.delete(&Default::default(), &mut |counts, row| {
        met.push((counts.removed, table.name(row).to_owned()));
    });
    assert!(report.is_complete(), "{report:?}");
    assert_eq!((report.counts.removed, report.counts.vanished), (3, 0));
    assert_eq!(report.counts.freed, summary.freed);
    assert_eq!(gone(&table, &report, temp.path()), paths(["a/b", "other"]));
    assert!(!is_there(temp.join("a/b")) && !is_there(temp.join("other")));
    assert!(is_there(temp.join("a/stays")));
    met.sort();
    let told: Vec<u64> = met.iter().map(|&(removed, _)| removed).collect();
    assert_eq!(told, [1, 2, 3]);
}

#[test]
fn delete_root_removed() {
    let temp = TempDir::new();
    write(temp.join("root/file"), "12345");
    write(temp.join("stays"), "12345");
    let table = scanned(temp.join("root"));
    let report = delete(&Removal::new(&table, table.roots()).unwrap());
    assert!(report.is_complete(), "{report:?}");
    assert!(!is_there(temp.join("root")) && is_there(temp.join("stays")));
}

#[test]
fn removal_root_without_name_refused() {
    let temp = TempDir::new();
    for nameless in ["/", ".", "..", "./.."] {
        let options = ScanOptions::new([nameless]).max_depth(0);
        let builder = TableBuilder::new(Removal::COLUMNS);
        let outcome = options.plan().unwrap().run(|| builder.sink()).unwrap();
        let table = outcome.sink.into_table().unwrap();
        let refused = Removal::new(&table, table.roots()).unwrap_err();
        assert_eq!(refused, RemovalError::Nameless(nameless.into()));
    }
    let builder = TableBuilder::new(FieldMask::FILE_ID);
    let plan = ScanOptions::new([temp.path()]).plan().unwrap();
    let table = plan.run(|| builder.sink()).unwrap().sink.into_table().unwrap();
    assert_eq!(Removal::new(&table, table.roots()).unwrap_err(), RemovalError::Columns);
}

#[test]
fn summary_hard_links_counted_once() {
    let temp = TempDir::new();
    for folder in ["a", "b", "c"] {
        std::fs::create_dir(temp.join(folder)).unwrap();
    }
    write(temp.join("a/both"), vec![1; 10_000]);
    std::fs::hard_link(temp.join("a/both"), temp.join("b/both")).unwrap();
    write(temp.join("a/outside"), vec![1; 20_000]);
    std::fs::hard_link(temp.join("a/outside"), temp.join("c/outside")).unwrap();
    let table = scanned(temp.path());
    let own = |path: &str| table.allocated(row(&table, path)).unwrap();
    let (both, outside) = (own("a/both"), own("a/outside"));
    let directories = own("a") + own("b");

    let alone: u64 = rows(&table, ["a", "b"]).map(|row| table.exclusive(row)).iter().sum();
    assert_eq!(alone, directories, "neither frees anything alone but itself");
    let removal = chosen(&table, ["a", "b"]);
    let summary = removal.summary();
    assert_eq!(summary.disk_usage, directories + both + outside);
    assert_eq!((summary.shared, summary.shared_files), (outside, 1));
    assert_eq!(summary.freed, directories + both);
    let report = delete(&removal);
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(report.counts.freed, summary.freed);
    assert!(is_there(temp.join("c/outside")));
}

#[test]
fn delete_named_trees_removed() {
    for &(name, build) in trees::ALL {
        let temp = TempDir::new();
        std::fs::create_dir(temp.join("tree")).unwrap();
        build(&temp.join("tree"));
        let table = scanned(temp.path());
        let removal = chosen(&table, ["tree"]);
        let summary = removal.summary();
        let report = delete(&removal);
        assert!(report.is_complete(), "{name}: {report:?}");
        assert!(!is_there(temp.join("tree")), "{name}");
        assert_eq!(report.gone, rows(&table, ["tree"]), "{name}");
        let entries = summary.files + summary.directories + summary.others;
        assert_eq!(report.counts.removed, entries, "{name}");
        assert_eq!(report.counts.freed, summary.freed, "{name}");
    }
}

#[test]
fn delete_file_as_root() {
    let temp = TempDir::new();
    write(temp.join("file"), "12345");
    let table = scanned(temp.join("file"));
    let report = delete_at(&table, [""]);
    assert_eq!(kept(&report, temp.path()), []);
    assert!(!is_there(temp.join("file")));
}
