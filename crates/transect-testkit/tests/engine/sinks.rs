//! What sinks receive besides entries.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use transect::{
    Dir, Entering, Filters, Flow, Omission, ScanOptions, Sink, SkipReason, Tag, Verdict, Visit,
    Want,
};
use transect_testkit::TempDir;

use crate::support::schedules;

/// Everything that is skipped: the directory, the name of the entry in it, and the reason.
#[derive(Default)]
struct Skipped(BTreeSet<(PathBuf, Option<PathBuf>, SkipReason)>);

impl Sink for Skipped {
    fn want(&self) -> Want {
        Want::nothing()
    }

    fn visit(&mut self, _: Visit<'_>) -> Flow {
        Flow::Continue
    }

    fn omit(&mut self, dir: &Dir, omission: Omission<'_>) -> Flow {
        match omission {
            Omission::Skipped { reason, name, .. } => {
                self.0.insert((dir.path(), name.map(PathBuf::from), reason));
            }
            other => panic!("{other:?}"),
        }
        Flow::Continue
    }

    fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// Returns what a walk skips: the path of the directory below `root`, the name, and the reason.
fn skipped(root: &Path, options: ScanOptions) -> Vec<(String, Option<String>, SkipReason)> {
    let skipped = options.plan().unwrap().run(Skipped::default).unwrap().sink.0;
    let below = |path: &Path| {
        path.strip_prefix(root).unwrap_or(path).display().to_string().replace('\\', "/")
    };
    skipped
        .into_iter()
        .map(|(dir, name, why)| (below(&dir), name.map(|it| below(&it)), why))
        .collect()
}

fn tree() -> TempDir {
    let temp = TempDir::new();
    for path in ["a/b/c/file", "a/.hidden", "a/ignored", "a/b/x.o"] {
        let path = temp.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    temp
}

#[test]
fn omissions_of_entries_have_their_names() {
    use SkipReason::{Excluded, MaxDepth, OverlappingRoot};
    let temp = tree();
    let root = temp.path();
    let entry = |dir: &str, name: &str, reason| (dir.to_owned(), Some(name.to_owned()), reason);
    for (order, threads) in schedules() {
        let scan = |roots: &[&Path]| ScanOptions::new(roots).order(order).threads(threads);
        let filters = Filters::new().exclude_hidden(true).globs(["!*.o"]);
        assert_eq!(
            skipped(root, scan(&[root]).filters(filters).max_depth(3)),
            [
                entry("a", ".hidden", Excluded),
                entry("a/b", "c", MaxDepth),
                entry("a/b", "x.o", Excluded)
            ]
        );
        let b = temp.join("a/b");
        assert_eq!(
            skipped(root, scan(&[root, &b, &b])),
            [entry("", "a/b", OverlappingRoot), entry("a", "b", OverlappingRoot)]
        );
    }
}

#[test]
#[cfg(unix)]
fn omissions_of_links_have_their_names() {
    use SkipReason::{Loop, VisitedElsewhere};
    let temp = tree();
    std::os::unix::fs::symlink("..", temp.join("a/b/up")).unwrap();
    std::os::unix::fs::symlink("b/c", temp.join("a/to-c")).unwrap();
    let expected = [("a", "to-c", VisitedElsewhere), ("a/b", "up", Loop)];
    let expected = expected.map(|(dir, name, why)| (dir.to_owned(), Some(name.to_owned()), why));
    for (order, threads) in schedules() {
        let options = ScanOptions::new([temp.path()]).order(order).threads(threads);
        let options = options.follow_links(true);
        assert_eq!(skipped(temp.path(), options.clone()), expected);
        assert_eq!(skipped(temp.path(), options.every_link(true)), expected[1..]);
    }
}

#[test]
fn omission_of_the_directory_itself_has_no_name() {
    let temp = tree();
    let options = ScanOptions::new([temp.path()]).threads(1);
    let options = options.work_limit(transect::internal::WorkLimit::entries(1));
    assert_eq!(skipped(temp.path(), options), [("a".to_owned(), None, SkipReason::LeftOver)]);
}

/// Skips what is in directories of the name `prune`, and keeps which directories were entered, visited, and left.
#[derive(Default)]
struct Entered {
    entered: BTreeSet<PathBuf>,
    visited: BTreeSet<PathBuf>,
    left: BTreeSet<PathBuf>,
}

impl Sink for Entered {
    fn want(&self) -> Want {
        Want::nothing()
    }

    fn enter(&mut self, entering: Entering<'_>) -> Tag {
        let path = entering.parent.map(|parent| parent.path_of(entering.name)).unwrap_or_default();
        assert!(self.entered.insert(path));
        Tag::None
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        self.visited.insert(visit.dir.path());
        match visit.entries().any(|entry| entry.name == "prune") {
            true => Flow::Skip,
            false => Flow::Continue,
        }
    }

    fn leave(&mut self, dir: &Dir) {
        self.left.insert(dir.path());
    }

    fn omit(&mut self, _: &Dir, _: Omission<'_>) -> Flow {
        Flow::Continue
    }

    fn merge(&mut self, other: Self) {
        self.entered.extend(other.entered);
        self.visited.extend(other.visited);
        self.left.extend(other.left);
    }
}

#[test]
fn directories_not_read_entered_and_left_without_visit() {
    let temp = TempDir::new();
    for path in ["p/prune/in", "deep/a/b/c", "out/x", "by-filter/x", "empty"] {
        std::fs::create_dir_all(temp.join(path)).unwrap();
    }
    for (order, threads) in schedules() {
        let options = ScanOptions::new([temp.path()]).order(order).threads(threads);
        let options = options.max_depth(3).filters(Filters::new().globs(["!out"]));
        let options = options.filter_entry(|entry| match entry.file_name() == "by-filter" {
            true => Verdict::Prune,
            false => Verdict::Keep,
        });
        let Entered { entered, visited, left } =
            options.plan().unwrap().run(Entered::default).unwrap().sink;
        assert_eq!(left, entered);
        let closed: Vec<_> = entered.difference(&visited).collect();
        assert_eq!(
            closed,
            [&temp.join("by-filter"), &temp.join("deep/a/b"), &temp.join("p/prune")]
        );
        assert_eq!(entered.len(), 9, "not what the glob excludes: {entered:?}");
        assert!(visited.contains(&temp.join("empty")), "{visited:?}");
    }
}
