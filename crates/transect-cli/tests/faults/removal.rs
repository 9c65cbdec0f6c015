//! Removals by the library: kept entries are reported, and no other entry is touched.

use std::path::{Path, PathBuf};

use transect::table::TableBuilder;
use transect::{Cancel, FieldMask, ScanOptions};
use transect_remove::{Removal, Trash};
use transect_testkit::Mount;

use crate::snapshot::Content;
use crate::torture::{Ended, PLAIN, Program, Scenario, torture};

/// Creates entries to remove, among others to keep.
fn tree(work: &Path) {
    for directory in ["tree/a/inner/deep", "tree/b", "tree/stays"] {
        std::fs::create_dir_all(work.join(directory)).unwrap();
    }
    for file in ["a/1", "a/inner/2", "a/inner/deep/3", "b/4", "b/stays", "stays/5", "6"] {
        std::fs::write(work.join("tree").join(file), file).unwrap();
    }
    std::os::unix::fs::symlink("stays", work.join("tree/link")).unwrap();
}

/// The selected entries.
const CHOSEN: [&str; 4] = ["a", "b/4", "6", "link"];

/// Removes the selected entries, and prints the result. Exits with 1 if anything was kept.
pub(crate) fn remove(to_trash: bool) -> i32 {
    let root = Path::new("tree");
    let builder = TableBuilder::new(Removal::COLUMNS | FieldMask::FILE_ID);
    let outcome = ScanOptions::new([root]).plan().unwrap().run(|| builder.sink()).unwrap();
    let table = outcome.sink.into_table().unwrap();
    let top = table.roots().next().unwrap();
    let rows =
        CHOSEN.map(|path| Path::new(path).iter().try_fold(top, |row, name| table.child(row, name)));
    let removal = Removal::new(&table, rows.into_iter().flatten()).unwrap();
    // Calls count from this one on.
    let _ = std::fs::metadata("begin");
    let cancel = Cancel::new();
    let report = match to_trash {
        true => {
            let trash = Trash::new(
                std::env::current_dir().unwrap().join("home/Trash"),
                "2026-11-21T19:07:37",
            );
            removal.trash(&trash.unwrap(), &cancel, &mut |_, _| {})
        }
        false => removal.delete(&cancel, &mut |_, _| {}),
    };
    for row in &report.gone {
        println!("gone {}", table.path(*row).display());
    }
    for kept in &report.kept {
        eprintln!("kept {}", kept.path.display());
        eprintln!("{kept}");
    }
    i32::from(!report.is_complete())
}

/// Checks that entries reported as removed are gone, and that all others are reported as kept.
fn is_reported(ended: &Ended<'_>) -> Result<(), String> {
    let paths = |text: &str, word: &str| -> Vec<PathBuf> {
        text.lines().filter_map(|line| line.strip_prefix(word)).map(PathBuf::from).collect()
    };
    let (gone, kept) = (paths(ended.stdout, "gone "), paths(ended.stderr, "kept "));
    for path in &gone {
        if ended.found.contains_key(path) {
            return Err(format!("'{}' is reported as removed, but exists", path.display()));
        }
    }
    for path in CHOSEN.map(|chosen| Path::new("tree").join(chosen)) {
        let is_near = |kept: &PathBuf| kept.starts_with(&path);
        if ended.found.contains_key(&path) && !kept.iter().any(is_near) {
            return Err(format!("'{}' exists, but is not reported as kept", path.display()));
        }
        if !ended.found.contains_key(&path) && !gone.contains(&path) {
            return Err(format!("'{}' is gone, but not reported as removed", path.display()));
        }
    }
    Ok(())
}

#[test]
fn delete_touches_only_chosen_entries_reports_kept() {
    torture(&Scenario {
        name: "delete",
        build: tree,
        program: Program::Library("delete"),
        begins_at: Some("begin"),
        inside_only: true,
        normalize: said,
        also: is_reported,
        again: Some("TRANSECT_FAULTS_ROLE=delete $LIBRARY library --exact --nocapture -q"),
        ..PLAIN
    });
}

/// Removes the lines of the test harness, which contain the time.
fn said(text: String) -> String {
    let mut gone: Vec<&str> = text.lines().filter(|line| line.starts_with("gone ")).collect();
    gone.sort_unstable();
    gone.join("\n")
}

/// Checks that every chosen entry exists once, and has an info file if it is in the trash.
fn is_in_one_place(ended: &Ended<'_>) -> Result<(), String> {
    is_reported(ended)?;
    for chosen in CHOSEN {
        let name = Path::new(chosen).file_name().unwrap();
        let old = Path::new("tree").join(chosen);
        let trashes = ["home/Trash", ".Trash-0"].map(Path::new);
        let new: Vec<&Path> = trashes
            .into_iter()
            .filter(|trash| ended.found.contains_key(&trash.join("files").join(name)))
            .collect();
        let places = new.len() + usize::from(ended.found.contains_key(&old));
        if places != 1 {
            return Err(format!("'{chosen}' is at {places} places"));
        }
        for trash in new {
            let mut note = trash.join("info").join(name).into_os_string();
            note.push(".trashinfo");
            match ended.found.get(Path::new(&note)).map(|node| &node.content) {
                Some(Content::File(text))
                    if text.ends_with(b"\nDeletionDate=2026-11-21T19:07:37\n") => {}
                other => return Err(format!("'{chosen}' has no complete info file: {other:?}")),
            }
        }
    }
    Ok(())
}

#[test]
fn trash_leaves_every_entry_in_one_place() {
    let name = "trash";
    let temp = transect_testkit::TempDir::new();
    // The trash at the top of its own file system, not the one in the home.
    if let Err(reason) = Mount::tmpfs("4M", &temp.join("try")) {
        return transect_testkit::loudly_skip(name, reason);
    }
    torture(&Scenario {
        name,
        build: |work| {
            std::fs::create_dir_all(work.join("home")).unwrap();
            tree(work);
        },
        mount: Some(|at, _| Mount::tmpfs("4M", at)),
        program: Program::Library("trash"),
        begins_at: Some("begin"),
        inside_only: true,
        ignored: &[".Trash-0", "home/Trash"],
        normalize: said,
        also: is_in_one_place,
        again: Some("TRANSECT_FAULTS_ROLE=trash $LIBRARY library --exact --nocapture -q"),
        ..PLAIN
    });
}
