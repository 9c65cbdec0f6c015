//! `changes --for`: the lists for rsync, restic and rclone, and what these make of them. Programs that are not installed are
//! skipped.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use transect_testkit::{Mount, loudly_skip};

use crate::followed::Live;
use crate::harness::TestEnv;
use crate::random::Random;

/// Names that a line, a comment, an option, a pattern, blanks or a text would be.
const STRANGE: [&[u8]; 9] =
    [b"new\nline", b"#x", b";x", b"-rf", b"*", b" a ", b"\\", b"\xff", b"[a]\r"];

/// Returns all entries below a directory in tree order, and whether they are directories.
fn below(directory: &Path) -> Vec<(PathBuf, bool)> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let mut all = Vec::new();
    for path in names {
        let is_directory = path.symlink_metadata().unwrap().is_dir();
        all.push((path.clone(), is_directory));
        if is_directory {
            all.extend(below(&path));
        }
    }
    all
}

/// Returns what a copy must have of each entry: type and mode, modification time, and the content or target.
fn contents(root: &Path) -> BTreeMap<PathBuf, (u32, i128, Vec<u8>)> {
    let of = |(path, is_directory): (PathBuf, bool)| {
        let metadata = path.symlink_metadata().unwrap();
        let content = match (is_directory, metadata.is_symlink()) {
            (true, _) => Vec::new(),
            (_, true) => fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec(),
            _ => fs::read(&path).unwrap(),
        };
        let mtime =
            i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        (path.strip_prefix(root).unwrap().to_owned(), (metadata.mode(), mtime, content))
    };
    below(root).into_iter().map(of).collect()
}

fn assert_same(copy: &Path, original: &Path, are_times_copied: bool, what: &str) {
    let (found, expected) = (contents(copy), contents(original));
    for (path, (mode, mtime, content)) in &expected {
        let Some(found) = found.get(path) else { panic!("{what}: {path:?} is missing") };
        assert_eq!(found.0, *mode, "{what}: mode of {path:?}");
        assert!(found.2 == *content, "{what}: content of {path:?}");
        assert!(!are_times_copied || found.1 == *mtime, "{what}: mtime of {path:?}");
    }
    let more: Vec<_> = found.keys().filter(|path| !expected.contains_key(*path)).collect();
    assert!(more.is_empty(), "{what}: {more:?}");
}

fn mode_of(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

/// Makes a tree in which many files look the same.
fn fill(root: &Path) {
    for directory in ["a", "b", "a/deep", "b/deep", "a/deep/er", "c", "#c", "empty"] {
        fs::create_dir_all(root.join(directory)).unwrap();
        if directory != "empty" {
            for name in ["one", "two"] {
                fs::write(root.join(directory).join(name), directory.repeat(9)).unwrap();
            }
        }
    }
    for name in STRANGE {
        fs::write(root.join("c").join(OsStr::from_bytes(name)), "strange").unwrap();
        fs::create_dir_all(root.join(OsStr::from_bytes(&[name, b"directory"].concat()))).unwrap();
    }
    symlink("one", root.join("a/link")).unwrap();
    symlink("a", root.join("link to directory")).unwrap();
    fs::hard_link(root.join("b/one"), root.join("b/other name")).unwrap();
}

/// Makes a random change: of content, attributes, names or types.
fn change(root: &Path, random: &mut Random, number: usize) {
    let (directories, others): (Vec<_>, Vec<_>) =
        below(root).into_iter().partition(|(_, is_directory)| *is_directory);
    let paths = |of: Vec<(PathBuf, bool)>| of.into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    let (directories, others) = (paths(directories), paths(others));
    let files: Vec<_> = others.iter().filter(|it| !it.is_symlink()).cloned().collect();
    let (file, directory) = (random.one_of(&files), random.one_of(&directories));
    let mut new = STRANGE[random.below(STRANGE.len())].to_vec();
    new.extend_from_slice(number.to_string().as_bytes());
    let new = if random.below(4) == 0 { root } else { &directory }.join(OsStr::from_bytes(&new));
    let aside = root.join("aside");
    match random.below(13) {
        0 => fs::write(&file, vec![b'y'; random.below(20_000)]).unwrap(),
        1 => {
            // The same length, and the time of before.
            let open = File::options().write(true).open(&file).unwrap();
            let modified = open.metadata().unwrap().modified().unwrap();
            open.write_all_at(b"z", 0).unwrap();
            open.set_modified(modified).unwrap();
        }
        2 => fs::write(&new, "new").unwrap(),
        3 => fs::remove_file(random.one_of(&others)).unwrap(),
        4 => fs::rename(&file, &new).unwrap(),
        5 => fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap(),
        6 => fs::set_permissions(&directory, PermissionsExt::from_mode(0o750)).unwrap(),
        7 => fs::create_dir_all(new.join("deep")).unwrap(),
        // Into itself is refused.
        8 => fs::rename(&directory, &new).unwrap_or_default(),
        9 if directories.len() > 5 => fs::remove_dir_all(&directory).unwrap(),
        10 if directories.len() > 5 => {
            // Another type, with the same name.
            fs::remove_dir_all(&directory).unwrap();
            match random.below(2) {
                0 => fs::write(&directory, "was a directory").unwrap(),
                _ => symlink("a", &directory).unwrap(),
            }
        }
        11 => {
            fs::remove_file(&file).unwrap();
            fs::create_dir(&file).unwrap();
            fs::write(file.join("in it"), "was a file").unwrap();
        }
        _ => {
            // Two entries swap their names.
            let all = if random.below(2) == 0 { &directories } else { &files };
            let (a, b) = (random.one_of(all), random.one_of(all));
            if !a.starts_with(&b) && !b.starts_with(&a) {
                fs::rename(&a, &aside).unwrap();
                fs::rename(&b, &a).and_then(|()| fs::rename(&aside, &b)).unwrap();
            }
        }
    }
}

/// Makes random changes, but keeps some files.
fn change_often(root: &Path, random: &mut Random) {
    for number in 0..1 + random.below(30) {
        change(root, random, number);
        if contents(root).values().filter(|(mode, ..)| mode & 0o170_000 == 0o100_000).count() < 8 {
            break;
        }
    }
}

/// Runs another program, which must succeed.
fn run(env: &TestEnv, program: &str, directory: &str, args: &[&OsStr]) {
    let mut command = Command::new(program);
    command.args(args).current_dir(env.path(directory)).env("RESTIC_PASSWORD", "secret");
    let output = command.env("XDG_CACHE_HOME", env.path("cache")).output().unwrap();
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
}

fn is_installed(env: &TestEnv, test: &str, program: &str) -> bool {
    let is_installed = env.has(program);
    if !is_installed {
        loudly_skip(test, format_args!("there is no {program}"));
    }
    is_installed
}

/// Brings a copy up to date with the file `list`.
fn update_copy(env: &TestEnv) {
    // Times of directories are compared in nanoseconds: all changes of a test are made in one second.
    let args =
        "-aI0 --files-from=list --delete-missing-args --force --modify-window=-1 tree/ copy/";
    run(env, "rsync", ".", &args.split(' ').map(OsStr::new).collect::<Vec<_>>());
}

/// What a list begins with: the last snapshot, or a place in the changes that a service follows.
enum Since {
    Snapshot,
    Cursor { of: String, live: Option<Live> },
}

impl Since {
    fn all(env: &TestEnv) -> [Self; 2] {
        let _ = env.transect(["keep", "tree"]).exits(0);
        let live = Live::start(env, "tree");
        let cursor = env.transect(["changes", "--cursor", "tree"]).exits(0).stdout_text();
        [Self::Snapshot, Self::Cursor { of: cursor.trim_end().to_owned(), live: Some(live) }]
    }

    /// Ends the service while `change` runs.
    fn without_service(&mut self, env: &TestEnv, change: impl FnOnce()) {
        let Self::Cursor { live, .. } = self else { return change() };
        assert_eq!(live.take().unwrap().end(), (Some(0), String::new()));
        change();
        *live = Some(Live::start(env, "tree"));
    }

    fn name(&self) -> &str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Cursor { .. } => "cursor",
        }
    }
}

/// Returns the paths of a list, which is stored in the file `list`.
fn listed(env: &TestEnv, since: &Since, program: &str, end: u8) -> Vec<String> {
    let args = match since {
        Since::Snapshot => vec!["changes", "--for", program, "tree"],
        Since::Cursor { of, .. } => vec!["changes", "--since", of, "--for", program, "tree"],
    };
    let output = env.transect(args).exits(0);
    fs::write(env.path("list"), &output.stdout).unwrap();
    output.paths(end).iter().map(|path| String::from_utf8_lossy(path).into()).collect()
}

/// Returns whether the changes since a cursor do not tell what was in a directory.
fn has_lost_names(env: &TestEnv, since: &Since) -> bool {
    let Since::Cursor { of, .. } = since else { return false };
    let output = env.transect(["changes", "--since", of, "--for", "rsync", "tree"]);
    let is_refused = output.stderr_text().contains("is another directory now");
    assert_eq!(is_refused, output.code == Some(2), "{}", output.text());
    is_refused
}

#[test]
fn changes_for_lists_what_each_program_needs() {
    let env = TestEnv::new();
    for directory in ["tree/same/deep", "tree/gone/deep", "tree/old", "tree/mode", "tree/type/x"] {
        let _ = env.mkdir(directory);
        env.write(format!("{directory}/file"), 10);
    }
    env.text("tree/#written", "before");
    env.text("tree/removed", "");
    let [kept, cursor] = Since::all(&env);
    let root = env.path("tree");
    // Neither the size nor the time of the content tells.
    let file = File::options().write(true).open(root.join("#written")).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.write_all_at(b"again!", 0).unwrap();
    file.set_modified(modified).unwrap();
    fs::remove_file(root.join("removed")).unwrap();
    fs::remove_dir_all(root.join("gone")).unwrap();
    fs::rename(root.join("old"), root.join("new")).unwrap();
    fs::set_permissions(root.join("mode"), PermissionsExt::from_mode(0o700)).unwrap();
    fs::remove_dir_all(root.join("type")).unwrap();
    fs::write(root.join("type"), "").unwrap();
    fs::create_dir(root.join("empty")).unwrap();

    let expected =
        ["./#written", "empty", "gone", "mode", "new", "new/file", "old", "removed", "type"];
    assert_eq!(listed(&env, &kept, "rsync", 0), expected);
    assert_eq!(listed(&env, &cursor, "rsync", 0), expected);
    // One file in the directory whose mode changed.
    let expected = ["#written", "empty", "mode/file", "new/file", "type"];
    assert_eq!(listed(&env, &kept, "restic", 0), expected);
    assert_eq!(listed(&env, &cursor, "restic", 0), expected);
    let expected =
        ["#written", "gone/deep/file", "new/file", "old/file", "removed", "type", "type/x/file"];
    assert_eq!(listed(&env, &kept, "rclone", b'\n'), expected);

    let output = env.transect(["changes", "--for", "rsync", "tree"]).exits(0);
    assert!(
        output.stderr_text().contains("not exact, as only a whole subvolume of Btrfs"),
        "{}",
        output.text()
    );
    let refused = env.transect(["changes", "--for", "rsync", "--exact", "tree"]).exits(2);
    assert!(refused.stdout.is_empty());
    assert!(refused.stderr_text().contains("cannot list exactly what changed: only a whole"));

    for name in ["new\nline", "tab\t", "q\u{201b}"] {
        fs::write(root.join("same").join(name), "").unwrap();
    }
    let refused = env.transect(["changes", "--for", "rclone", "tree"]).exits(2);
    assert!(refused.stdout.is_empty());
    let message = "cannot write 'same/new\\nline' and 2 other paths for rclone";
    assert!(refused.stderr_text().contains(message), "{}", refused.text());
}

/// What could not be read is not reported as gone.
#[test]
fn changes_for_unreadable_directory_partial() {
    let env = TestEnv::new();
    let _ = env.mkdir("tree/closed/deep");
    env.write("tree/closed/deep/file", 10);
    let data = env.mkdir("../data");
    env.chmod(&data, 0o777);
    let test = "changes_for_unreadable_directory_partial";
    let Some(kept) = env.transect_unprivileged(test, ["keep", "tree"]) else { return };
    let _ = kept.exits(0);
    let closed = env.path("tree/closed");
    env.chmod(&closed, 0);
    let list = env.transect_unprivileged(test, ["changes", "--for", "rsync", "tree"]);
    let exact = env.transect_unprivileged(test, ["changes", "--for", "rsync", "--exact", "tree"]);
    env.chmod(&closed, 0o755);
    let (Some(list), Some(exact)) = (list, exact) else { return };
    assert_eq!(list.exits(1).stdout_text(), "closed\0");
    let exact = exact.exits(2).stderr_text();
    assert!(exact.contains("something could not be read"), "{exact}");
}

#[test]
fn changes_for_rsync_copy_same_as_full_copy() {
    let test = "changes_for_rsync_copy_same_as_full_copy";
    if !is_installed(&TestEnv::new(), test, "rsync") {
        return;
    }
    let mut lists = 0;
    for seed in 1..=20 {
        let env = TestEnv::new();
        let root = env.mkdir("tree");
        fill(&root);
        let mut random = Random(0x1234_5678_9ABC_DEF1_u64.wrapping_mul(seed));
        let mut all = Since::all(&env);
        let copy = ["-a", "--delete", "--modify-window=-1", "tree/", "copy/"].map(OsStr::new);
        run(&env, "rsync", ".", &copy);
        run(&env, "cp", ".", &["-a", "copy", "before"].map(OsStr::new));
        let mut change = || {
            change_often(&root, &mut random);
            fs::set_permissions(&root, PermissionsExt::from_mode(0o750)).unwrap();
        };
        // A service that starts again knows what changed only if the file system proves it.
        match seed % 2 == 0 && transect_sys::host::proves_changes(&root) {
            true => all[1].without_service(&env, change),
            false => change(),
        }
        assert_ne!(mode_of(&env.path("before")), 0o750);
        for since in all {
            if has_lost_names(&env, &since) {
                continue;
            }
            lists += usize::from(matches!(since, Since::Cursor { .. }));
            let _ = listed(&env, &since, "rsync", 0);
            fs::remove_dir_all(env.path("copy")).unwrap();
            run(&env, "cp", ".", &["-a", "before", "copy"].map(OsStr::new));
            update_copy(&env);
            let what = format!("seed {seed}, {}", since.name());
            assert_same(&env.path("copy"), &root, true, &what);
            assert_eq!(mode_of(&env.path("copy")), 0o750, "{what}: mode of the root");
        }
    }
    assert!(lists >= 5, "only {lists} lists since a cursor");
}

#[test]
fn changes_for_restic_restored_same_as_full_backup() {
    let test = "changes_for_restic_restored_same_as_full_backup";
    if !is_installed(&TestEnv::new(), test, "restic") {
        return;
    }
    for seed in 1..=4 {
        let env = TestEnv::new();
        let root = env.mkdir("tree");
        fill(&root);
        let mut random = Random(0x1234_5678_9ABC_DEF1_u64.wrapping_mul(seed));
        let restic = |args: &str| {
            let args: Vec<&OsStr> = args.split(' ').map(OsStr::new).collect();
            run(&env, "restic", "tree", &args);
        };
        let since = &Since::all(&env)[seed as usize % 2];
        restic("init -q -r ../repository");
        restic("backup -q -r ../repository .");
        restic("restore -q -r ../repository latest --target ../restored");
        change_often(&root, &mut random);
        let is_empty = listed(&env, since, "restic", 0).is_empty();
        // What is gone, or has another type, is not in a snapshot of restic.
        let now = contents(&root);
        for (path, is_directory) in below(&env.path("restored")).into_iter().rev() {
            let mode = path.symlink_metadata().unwrap().mode();
            let now = now.get(path.strip_prefix(env.path("restored")).unwrap());
            let is_same_type = now.is_some_and(|(now, ..)| now >> 12 == mode >> 12);
            match (is_same_type, is_directory) {
                (true, _) => {}
                (false, true) => fs::remove_dir(&path).unwrap(),
                (false, false) => fs::remove_file(&path).unwrap(),
            }
        }
        if !is_empty {
            restic("backup -q --force -r ../repository --files-from-raw ../list");
            // Restored over other files, names of hard links would be lost.
            restic("restore -q -r ../repository latest --target ../part");
            run(
                &env,
                "cp",
                ".",
                &["-a", "--remove-destination", "part/.", "restored"].map(OsStr::new),
            );
        }
        restic("backup -q --force -r ../repository .");
        restic("restore -q -r ../repository latest --target ../full");
        // Removing an entry changed the time of its directory.
        let what = format!("seed {seed}, {}", since.name());
        assert_same(&env.path("restored"), &env.path("full"), false, &what);
    }
}

#[test]
fn changes_for_exact_on_btrfs() {
    let env = TestEnv::new();
    let make = ["mkfs.btrfs", "-q", "-f"];
    let mount = match Mount::image(&env.path("image"), 200 << 20, &make, &env.path("tree")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("changes_for_exact_on_btrfs", reason),
    };
    fill(mount.path());
    let _ = env.transect(["keep", "tree"]).exits(0);
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    let has_rsync = is_installed(&env, "changes_for_exact_on_btrfs", "rsync");
    if has_rsync {
        run(&env, "rsync", ".", &["-a", "--modify-window=-1", "tree/", "copy/"].map(OsStr::new));
    }
    change_often(mount.path(), &mut random);
    let args = ["changes", "--for", "rsync", "--exact", "tree"];
    let list = env.transect(args).exits(0);
    assert!(list.stderr_text().contains("exact: Btrfs reports every change"), "{}", list.text());
    let rescanned = env.transect(args.iter().chain(&["--rescan", "names"])).exits(0);
    assert_eq!(rescanned.stdout, list.stdout);
    if has_rsync {
        fs::write(env.path("list"), &list.stdout).unwrap();
        update_copy(&env);
        assert_same(&env.path("copy"), mount.path(), true, "Btrfs");
    }
    // Files below another subvolume are compared by times.
    let sub = mount.path().join("sub");
    run(&env, "btrfs", ".", &["subvolume".as_ref(), "create".as_ref(), sub.as_os_str()]);
    let refused = env.transect(args).exits(2).stderr_text();
    assert!(refused.contains("other subvolumes"), "{refused}");
}
