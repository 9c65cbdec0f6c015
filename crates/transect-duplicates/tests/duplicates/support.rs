//! Trees, searches, and what they found as text.

use std::path::{Path, PathBuf};

use transect::table::{Table, TableBuilder};
use transect::{Cancel, ScanOptions};
use transect_duplicates::{
    Action, ActionReport, COLUMNS, Duplicates, FindOptions, KeepRule, apply, find,
};

/// Scans a tree with default options.
pub(crate) fn scan(root: &Path) -> Table {
    scan_with(ScanOptions::new([root]))
}

/// Scans a tree.
pub(crate) fn scan_with(options: ScanOptions) -> Table {
    let builder = TableBuilder::new(COLUMNS);
    let outcome = options.plan().unwrap().run(|| builder.sink()).unwrap();
    outcome.sink.into_table().unwrap()
}

/// Returns the options of a search with changes.
pub(crate) fn options(change: impl FnOnce(&mut FindOptions)) -> FindOptions {
    let mut options = FindOptions::default();
    change(&mut options);
    options
}

/// Returns the options of a search that keeps by a rule.
pub(crate) fn keeping(rule: KeepRule) -> FindOptions {
    options(|options| options.keep.rule = rule)
}

/// Returns the groups of a tree: for each file, its names.
pub(crate) fn groups_of(table: &Table, found: &Duplicates) -> Vec<Vec<Vec<PathBuf>>> {
    let paths = |rows: &[transect::table::Row]| rows.iter().map(|&row| table.path(row)).collect();
    let groups = found.groups.iter();
    groups.map(|group| group.copies.iter().map(|copy| paths(&copy.names)).collect()).collect()
}

/// Returns the groups of a tree as lines: the files of a group, each with its names.
pub(crate) fn lines(root: &Path, table: &Table, found: &Duplicates) -> Vec<String> {
    let name = |path: &PathBuf| {
        let below = path.strip_prefix(root).unwrap();
        below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
    };
    let file = |names: &Vec<PathBuf>| names.iter().map(name).collect::<Vec<_>>().join(" = ");
    let groups = groups_of(table, found);
    groups.iter().map(|group| group.iter().map(file).collect::<Vec<_>>().join(", ")).collect()
}

/// Finds the duplicates of a tree, keeps the first of each group, and acts on the others after
/// `between`.
pub(crate) fn act_after(root: &Path, action: Action, between: impl FnOnce()) -> ActionReport {
    let table = scan(root);
    let found = find(&table, &FindOptions::default());
    assert!(found.diagnostics.is_complete(), "{:?}", found.diagnostics);
    between();
    apply(&table, &found.groups, action, &Cancel::new(), &mut |_, _| {}).unwrap()
}

/// Acts on the duplicates of a tree.
pub(crate) fn act(root: &Path, action: Action) -> ActionReport {
    act_after(root, action, || {})
}

/// Returns the reasons why names were kept.
pub(crate) fn kept(report: &ActionReport) -> Vec<String> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let kept = report.report.kept.iter();
    let mut kept: Vec<String> =
        kept.map(|kept| format!("{} {}", name(&kept.path), kept.reason.as_str())).collect();
    kept.sort();
    kept
}
