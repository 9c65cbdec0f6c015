//! Scans as many tasks: however a tree is cut, the parts hold every entry once, and make the same snapshot.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use transect::table::{Table, TableBuilder};
use transect::{Cancel, FileType, Filters, ScanOptions};
use transect_snapshot::tasks::{
    Commit, CommitLimits, DEFAULT_FIELDS, Part, StoredPath, Task, TaskError, TaskOptions,
    remove_unfinished,
};
use transect_snapshot::{Metadata, Snapshot, write};
use transect_testkit::{TempDir, trees};

/// How a scan is cut into tasks, and which of them runs next.
#[derive(Clone, Debug)]
struct Cut {
    entries: Vec<u64>,
    entries_of_directory: u64,
    split: usize,
    newest_first: bool,
}

impl Cut {
    fn into_single_directories() -> Self {
        Self { entries: vec![1], entries_of_directory: 100_000, split: 3, newest_first: true }
    }
}

fn cuts() -> impl Strategy<Value = Cut> {
    (prop::collection::vec(100..600_u64, 1..5), 30..300_u64, 1..6_usize, any::<bool>()).prop_map(
        |(entries, entries_of_directory, split, newest_first)| Cut {
            entries,
            entries_of_directory,
            split,
            newest_first,
        },
    )
}

fn first(roots: &[PathBuf]) -> Task {
    Task::first(roots, TaskOptions::default()).expect("absolute roots")
}

/// Runs a task and all that follow from it; returns their number.
fn run_all(task: Task, folder: &Path, cut: &Cut) -> usize {
    let mut waiting = vec![task];
    let mut done = 0;
    while !waiting.is_empty() {
        let next = if cut.newest_first { waiting.len() - 1 } else { 0 };
        let mut task = waiting.remove(next);
        task.entries = cut.entries[done % cut.entries.len()];
        (task.seconds, task.split) = (None, cut.split);
        task.entries_of_directory = cut.entries_of_directory;
        waiting.extend(task.run(folder, &Cancel::new()).expect("it runs").tasks);
        done += 1;
    }
    done
}

fn walked(roots: &[PathBuf]) -> Table {
    walked_without(roots, &[])
}

/// Walks without the names that match one of the globs.
fn walked_without(roots: &[PathBuf], exclude: &[&str]) -> Table {
    let builder = TableBuilder::new(DEFAULT_FIELDS);
    let filters = Filters::new().globs(exclude.iter().map(|glob| format!("!{glob}")));
    let options = ScanOptions::new(roots.to_vec()).filters(filters);
    let plan = options.plan().expect("options that fit together");
    plan.run(|| builder.sink()).expect("it begins").sink.into_table().expect("a small tree")
}

fn bytes(table: &Table) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(table, &Metadata::default(), &Cancel::new(), &mut bytes).expect("memory");
    bytes
}

/// Returns the snapshot of parts, which must not depend on the memory.
fn committed(commit: &Commit) -> Result<Vec<u8>, TaskError> {
    let folder = TempDir::new();
    let limits = CommitLimits { memory: 0, folder: folder.path().to_owned() };
    let outlined = commit.outline(&limits, &Cancel::new())?;
    let mut bytes = Vec::new();
    outlined.write(&Metadata::default(), &Cancel::new(), &mut bytes)?;
    Ok(bytes)
}

/// The paths of all rows that are not read elsewhere, by the rule for programs that read parts.
#[expect(clippy::disallowed_methods, reason = "a folder of the test itself")]
fn paths_of_parts(folder: &Path) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let snapshot = Snapshot::open(&entry.expect("an entry").path()).expect("a part");
        let mut rows = snapshot.rows();
        let mut path: Vec<Vec<u8>> = Vec::new();
        while rows.advance(true).expect("a row") {
            path.truncate(rows.depth() as usize);
            path.push(rows.name().to_vec());
            if rows.unread() != Some("left_over") {
                paths.push(path.join(&b'/'));
            }
        }
    }
    paths
}

#[track_caller]
fn assert_same_as_walk(roots: &[PathBuf], cut: &Cut) {
    let parts = TempDir::new();
    let tasks = run_all(first(roots), parts.path(), cut);
    let walked = walked(roots);
    let commit = Commit::open(parts.path()).expect("all parts");
    assert!(committed(&commit).expect("a tree") == bytes(&walked), "{tasks} tasks: {cut:?}");
    assert_eq!(commit.metadata().errors, walked.diagnostics().errors);

    let paths = paths_of_parts(parts.path());
    let distinct: HashSet<&Vec<u8>> = paths.iter().collect();
    assert_eq!((paths.len(), distinct.len()), (walked.len() as usize, walked.len() as usize));
}

const TREES: [fn(&Path); 10] = [
    trees::empty,
    trees::single,
    trees::basic,
    trees::deep,
    trees::links,
    trees::hardlinks,
    trees::loops,
    trees::sparse,
    trees::weirdnames,
    trees::special,
];

#[test]
fn tasks_of_single_directories_same_as_walk() {
    for build in TREES {
        let temp = TempDir::new();
        let tree = temp.join("tree");
        fs::create_dir(&tree).unwrap();
        build(&tree);
        assert_same_as_walk(&[tree], &Cut::into_single_directories());
    }
}

/// Directories with more names than one task may read are divided, down to single names.
#[test]
fn tasks_of_divided_directories_same_as_walk() {
    for build in TREES {
        let temp = TempDir::new();
        let tree = temp.join("tree");
        fs::create_dir(&tree).unwrap();
        build(&tree);
        for (entries, entries_of_directory, split) in [(1, 1, 3), (1000, 2, 1), (1000, 5, 100)] {
            let cut =
                Cut { entries: vec![entries], entries_of_directory, split, newest_first: false };
            assert_same_as_walk(std::slice::from_ref(&tree), &cut);
        }
    }
}

#[test]
fn tasks_of_paths_too_long_for_a_system_call_same_as_walk() {
    let temp = TempDir::new();
    trees::beyond_path_max(temp.path());
    assert_same_as_walk(&[temp.path().to_owned()], &Cut::into_single_directories());
}

#[test]
fn tasks_of_several_roots_same_as_walk() {
    let temp = TempDir::new();
    let roots: Vec<PathBuf> = ["a", "b", "file"].map(|name| temp.join(name)).into();
    roots[..2].iter().for_each(|root| fs::create_dir(root).unwrap());
    fs::write(&roots[2], "content").unwrap();
    trees::basic(&roots[0]);
    trees::hardlinks(&roots[1]);
    fs::hard_link(&roots[2], roots[0].join("other name")).unwrap();
    assert_same_as_walk(&roots, &Cut::into_single_directories());
}

#[test]
fn tasks_of_one_process_same_as_walk() {
    let (temp, parts) = (TempDir::new(), TempDir::new());
    trees::many_small_dirs(temp.path());
    let roots = [temp.path().to_owned()];
    // In no memory, each directory is a task.
    first(&roots).run_all(parts.path(), 0, &ScanOptions::default().threads(3)).unwrap();
    let commit = Commit::open(parts.path()).unwrap();
    assert!(committed(&commit).unwrap() == bytes(&walked(&roots)));
    assert!(parts.path().read_dir().unwrap().count() > 10);
    assert_eq!(commit.metadata().skipped, Metadata::default().skipped);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5, ..ProptestConfig::default() })]

    #[test]
    fn tasks_cut_anyhow_same_as_walk(cut in cuts()) {
        let temp = TempDir::new();
        for (name, build) in [("many", trees::many_small_dirs as fn(&Path)), ("links", trees::hardlinks)] {
            fs::create_dir(temp.join(name)).unwrap();
            build(&temp.join(name));
        }
        assert_same_as_walk(&[temp.path().to_owned()], &cut);
    }
}

/// What is excluded is in no part: not where a directory is divided, nor where it is a root of a task.
#[test]
fn tasks_without_some_names_same_as_walk() {
    let temp = TempDir::new();
    let tree = temp.join("tree");
    for directory in ["a/sub", "b/.snapshot/sub", ".snapshot", "tmp.d"] {
        fs::create_dir_all(tree.join(directory)).unwrap();
        for name in 0..10 {
            fs::write(tree.join(directory).join(format!("{name}.tmp")), "content").unwrap();
            fs::write(tree.join(directory).join(format!("{name}.c")), "content").unwrap();
        }
    }
    let exclude = ["*.tmp", ".snapshot"];
    let (roots, mut options) = ([tree], TaskOptions::default());
    options.exclude = exclude.map(str::to_owned).into();
    let expected = bytes(&walked_without(&roots, &exclude));
    for entries_of_directory in [1, 4, 1000] {
        let parts = TempDir::new();
        let task = Task::first(&roots, options.clone()).unwrap();
        let cut = Cut { entries_of_directory, ..Cut::into_single_directories() };
        run_all(task, parts.path(), &cut);
        let commit = Commit::open(parts.path()).unwrap();
        assert!(committed(&commit).unwrap() == expected, "{entries_of_directory}");
        assert!(commit.metadata().scope.unwrap().filtered);
        assert!(paths_of_parts(parts.path()).iter().all(|path| !path.ends_with(b".tmp")));
    }
    for (glob, why) in [("a/*.tmp", "tasks match names, not paths"), ("[", "[")] {
        options.exclude = vec![glob.to_owned()];
        let refused = Task::first(&roots, options.clone()).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn task_that_ran_before_adopts_its_part() {
    let (temp, parts) = (TempDir::new(), TempDir::new());
    trees::basic(temp.path());
    let mut task = first(&[temp.path().to_owned()]);
    (task.entries, task.seconds) = (1, None);
    let earlier = task.run(parts.path(), &Cancel::new()).unwrap();
    // A later run would not leave anything over.
    task.entries = 1_000_000;
    let later = task.run(parts.path(), &Cancel::new()).unwrap();
    assert!(later.adopted && !earlier.adopted);
    let items =
        |tasks: &[Task]| -> Vec<_> { tasks.iter().map(|task| task.items.clone()).collect() };
    assert_eq!(items(&later.tasks), items(&earlier.tasks));
    assert!(!earlier.tasks.is_empty());
}

/// A part that no commit accepts is refused before the trees are read.
#[cfg(unix)]
#[test]
fn task_refuses_parts_that_are_not_regular_files() {
    type Plant = fn(&Path);
    let plants: [Plant; 4] = [
        |at| fs::create_dir(at).unwrap(),
        |at| std::os::unix::fs::symlink("nowhere", at).unwrap(),
        |at| std::os::unix::fs::symlink("/dev/zero", at).unwrap(),
        |at| {
            let made = std::process::Command::new("mkfifo").arg(at).status();
            assert!(made.expect("mkfifo, which POSIX demands").success());
        },
    ];
    let temp = TempDir::new();
    let task = first(&[temp.path().to_owned()]);
    // A walk would be interrupted.
    let cancel = Cancel::new();
    cancel.cancel();
    let other = "0".repeat(32);
    for plant in plants {
        for id in [&task.id, &other] {
            let parts = TempDir::new();
            let planted = parts.join(format!("part-{id}.parquet"));
            plant(&planted);
            for ran in [task.run(parts.path(), &cancel), task.give_up(parts.path())] {
                let refused = ran.unwrap_err().to_string();
                let path = planted.display();
                assert_eq!(refused, format!("'{path}' is not a regular file"));
            }
            assert_eq!(parts.path().read_dir().unwrap().count(), 1, "nothing was published");
        }
    }
}

#[test]
fn commit_names_what_is_missing() {
    let (temp, parts) = (TempDir::new(), TempDir::new());
    trees::basic(temp.path());
    let why = |parts: &Path| Commit::open(parts).err().expect("it is refused");
    assert!(why(parts.path()).to_string().contains("has no parts of a scan"));
    let mut task = first(&[temp.path().to_owned()]);
    task.entries = 1;
    let tasks = task.run(parts.path(), &Cancel::new()).unwrap().tasks;
    assert!(matches!(why(parts.path()), TaskError::Pending(pending, _) if pending == tasks.len()));

    fs::write(parts.join(".part-x.parquet.1.tmp"), "half").unwrap();
    assert_eq!(remove_unfinished(parts.path()).unwrap(), 1);
    let other = TempDir::new();
    first(&[other.path().to_owned()]).run(parts.path(), &Cancel::new()).unwrap();
    assert!(why(parts.path()).to_string().contains("parts of several scans"));
}

/// Between two tasks a directory is deleted, one becomes a file, and one a link that leads out of the tree.
#[test]
fn tasks_of_changing_tree_have_what_was_there() {
    let (temp, parts) = (TempDir::new(), TempDir::new());
    for name in ["a", "b", "c", "d"] {
        fs::create_dir(temp.join(name)).unwrap();
        fs::write(temp.join(name).join("file"), "content").unwrap();
    }
    let mut task = first(&[temp.path().to_owned()]);
    (task.entries, task.seconds) = (1, None);
    let tasks = task.run(parts.path(), &Cancel::new()).unwrap().tasks;
    for name in ["a", "b", "c"] {
        fs::remove_dir_all(temp.join(name)).unwrap();
    }
    fs::write(temp.join("b"), "a file now").unwrap();
    std::os::unix::fs::symlink("/", temp.join("c")).unwrap();
    for task in tasks {
        run_all(task, parts.path(), &Cut::into_single_directories());
    }
    let commit = Commit::open(parts.path()).unwrap();
    let table = Snapshot::new(committed(&commit).unwrap()).unwrap().table(DEFAULT_FIELDS).unwrap();
    let root = table.roots().next().unwrap();
    let found: Vec<_> = table
        .children(root)
        .map(|row| (table.name(row).to_str().unwrap(), table.file_type(row)))
        .collect();
    let expected = [("b", FileType::File), ("c", FileType::Symlink), ("d", FileType::Directory)];
    assert_eq!(found, expected);
    assert_eq!((commit.metadata().vanished, commit.metadata().errors), (1, 0));
}

#[test]
fn task_refuses_what_it_cannot_be() {
    let wrong = |text: &str| Task::from_json(text.as_bytes()).unwrap_err().to_string();
    assert!(wrong("{}").contains("not a task"));
    let good = serde_json::to_value(first(&[PathBuf::from("/a")])).unwrap();
    assert!(Task::from_json(good.to_string().as_bytes()).is_ok());
    for (key, value, why) in [
        ("schema", serde_json::json!("transect.task/9"), "its schema is"),
        ("id", serde_json::json!("../../x"), "32 hexadecimal digits"),
        ("items", serde_json::json!([{"root": 0, "path": "../b"}]), "outside of the roots"),
        ("items", serde_json::json!([{"root": 1, "path": "b"}]), "outside of the roots"),
        ("seconds", serde_json::json!(-1), "a limit is out of range"),
    ] {
        let mut changed = good.clone();
        changed[key] = value;
        assert!(wrong(&changed.to_string()).contains(why), "{key}");
    }
    let roots = [PathBuf::from("/a"), PathBuf::from("/a/b")];
    let nested = Task::first(&roots, TaskOptions::default()).unwrap_err();
    assert_eq!(nested.to_string(), "'/a/b' lies in '/a'");
}

/// Changes what a part says, and if `roots` are given also its rows.
fn rewrite(path: &Path, roots: Option<&[PathBuf]>, change: impl FnOnce(&mut Metadata)) {
    let snapshot = Snapshot::open(path).expect("a part");
    let mut metadata = snapshot.metadata().clone();
    change(&mut metadata);
    let stored = || snapshot.table(metadata.fields()).expect("rows");
    let table = roots.map_or_else(stored, walked);
    let mut bytes = Vec::new();
    write(&table, &metadata, &Cancel::new(), &mut bytes).expect("memory");
    fs::write(path, bytes).expect("a file");
}

/// Parts that do not fit together are refused: no entry is lost, or there twice.
#[test]
fn commit_refuses_parts_that_do_not_fit_together() {
    let (temp, parts) = (TempDir::new(), TempDir::new());
    for name in ["a/x", "b/x", "c/x"] {
        fs::create_dir_all(temp.join(name)).unwrap();
    }
    let mut task = first(&[temp.path().to_owned()]);
    (task.entries, task.seconds, task.split) = (1, None, 1);
    let result = task.run(parts.path(), &Cancel::new()).unwrap();
    let first_part = parts.join(&result.part);
    let mut next = result.tasks[0].clone();
    next.entries = 1000;
    let second_part = parts.join(&next.run(parts.path(), &Cancel::new()).unwrap().part);
    let good = [fs::read(&first_part).unwrap(), fs::read(&second_part).unwrap()];
    let refused = |change: &dyn Fn()| {
        change();
        let refused = Commit::open(parts.path()).and_then(|commit| committed(&commit));
        fs::write(&first_part, &good[0]).unwrap();
        fs::write(&second_part, &good[1]).unwrap();
        refused.err().map(|error| error.to_string())
    };
    let [a, b, c] = ["a", "b", "c"].map(|name| temp.join(name));
    let ghost = || {
        let mut ghost = next.items[0].clone();
        ghost.path = StoredPath::new(Path::new("ghost"));
        ghost
    };
    let own = |metadata: &mut Metadata, change: &dyn Fn(&mut Part)| {
        change(metadata.part.as_mut().unwrap());
    };
    let cases: [(&str, &dyn Fn()); 5] = [
        ("has not what was left over for it", &|| {
            rewrite(&second_part, None, |it| own(it, &|part| drop(part.items.pop())));
        }),
        ("is the part of another scan", &|| {
            rewrite(&second_part, None, |it| own(it, &|part| part.options.all_times = true));
        }),
        ("has no rows of directories that were there", &|| {
            rewrite(&second_part, Some(&[a.clone(), b.clone()]), |_| ());
        }),
        ("has rows that its task did not read", &|| {
            let more = [a.clone(), b.clone(), c.clone(), parts.path().to_owned()];
            rewrite(&second_part, Some(&more), |_| ());
        }),
        ("1 directories that were left over are in no part", &|| {
            rewrite(&first_part, None, |it| own(it, &|part| part.leftover[0].push(ghost())));
            rewrite(&second_part, None, |it| {
                own(it, &|part| part.items.push(ghost()));
                it.vanished = 1;
            });
        }),
    ];
    for (word, change) in cases {
        let why = refused(change);
        assert!(why.as_ref().is_some_and(|why| why.contains(word)), "{word}: {why:?}");
    }
    let bytes_of_all = committed(&Commit::open(parts.path()).unwrap()).unwrap();
    assert!(bytes_of_all == bytes(&walked(&[temp.path().to_owned()])));
}
