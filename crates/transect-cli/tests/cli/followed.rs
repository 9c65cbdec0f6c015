//! What commands take from a running `transect live`.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::process::ChildStderr;

use crate::attributes::{asked, lines, list};
use crate::harness::{Output, Running, TestEnv, skip};
use crate::tree;
use rustix::process::Signal;
use transect_testkit::Mount;

/// A service that follows a tree.
pub(crate) struct Live {
    pub(crate) running: Running,
    said: BufReader<ChildStderr>,
    /// The message that it follows the tree, and those before.
    pub(crate) first: String,
    pub(crate) before: Vec<String>,
}

impl Live {
    pub(crate) fn start(env: &TestEnv, root: &str) -> Self {
        Self::start_with(env, &[root])
    }

    pub(crate) fn start_with(env: &TestEnv, args: &[&str]) -> Self {
        Self::of(env.start(["live", "--idle", "15m"].iter().chain(args)))
    }

    /// Waits until a service that was started follows its tree.
    pub(crate) fn of(mut running: Running) -> Self {
        let mut said = BufReader::new(running.child.stderr.take().expect("a pipe"));
        let mut before = Vec::new();
        loop {
            let mut line = String::new();
            assert!(said.read_line(&mut line).expect("a pipe can be read") > 0, "it ended");
            if line.contains("following '") {
                return Self { running, said, first: line, before };
            }
            before.push(line);
        }
    }

    /// Ends it, and returns its exit code and the rest of its messages.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        self.running.signal(Signal::TERM);
        let mut text = String::new();
        self.said.read_to_string(&mut text).expect("a pipe can be read");
        (self.running.finish().code, text)
    }
}

/// Whether the service was asked, by the message.
pub(crate) fn is_from_live(output: &Output) -> bool {
    output.stderr_text().contains("from `transect live`, which follows '")
}

/// Returns the lines without those that tell times or the space on the disk, sorted: a walk prints entries as it finds them.
pub(crate) fn sorted(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines: Vec<String> = text.split(['\n', '\0']).map(str::to_owned).collect();
    lines.retain(|line| {
        !line.contains("complete in") && !line.contains("partial in") && !line.starts_with("disk: ")
    });
    lines.sort();
    lines
}

fn facts(output: &Output) -> serde_json::Value {
    let mut json = output.json();
    let object = json.as_object_mut().expect("an object");
    // A tree that was not read now has no reader.
    object.retain(|key, _| !["elapsed_ns", "disk", "order", "reader", "threads"].contains(&&**key));
    json
}

#[test]
fn followed_tree_answers_as_a_walk_after_every_change() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    symlink("nowhere", env.path("tree/dangling")).unwrap();
    let live = Live::start(&env, "tree");
    let lists: &[&[&str]] = &[
        &["list", "tree"],
        &["list", "-0", "tree"],
        &["list", "--columns", "type,size,allocated,mtime,inode,path", "tree"],
        &["list", "--columns", "mode,owner,group,path", "--color", "always", "tree"],
        &["list", "--perm", "100", "tree"],
        &["list", "--csv", "tree"],
        &["list", "-t", "f", "--sort", "size", "--limit", "3", "tree"],
        &["list", "-g", "*a*", "--size", "+1", "-d", "2", "tree"],
        &["list", "--empty", "tree"],
        &["list", "--total", "tree"],
        &["usage", "-n", "100", "tree"],
        &["usage", "--by", "ext", "tree"],
        &["usage", "--by", "owner", "tree"],
        &["usage", "--files", "-n", "100", "--csv", "tree"],
    ];
    let compare = |what: &str| {
        for args in lists {
            let told = env.transect(args.iter());
            let walked = env.transect(args.iter().chain(&["--live", "no"]));
            assert!(!is_from_live(&walked), "{args:?}");
            let is_silent = ["-0", "--csv"].iter().any(|it| args.contains(it));
            assert!(is_silent || is_from_live(&told), "{args:?}: {}", told.text());
            assert_eq!(told.code, walked.code, "{what}, {args:?}: {}", told.text());
            let (told, walked) = (sorted(&told), sorted(&walked));
            let other = told.iter().zip(&walked).find(|(told, walked)| told != walked);
            assert_eq!((told.len(), other), (walked.len(), None), "{what}, {args:?}");
        }
        let usage = ["usage", "--json", "-n", "1000", "tree"];
        let told = facts(&env.transect(usage).exits(0));
        let walked = facts(&env.transect(usage.iter().chain(&["--live", "no"])).exits(0));
        assert_eq!(told, walked, "{what}");
    };
    compare("first");
    env.mkdir("tree/new/below");
    env.write("tree/new/below/file", 10_000);
    compare("a new directory");
    fs::rename(env.path("tree/new"), env.path("tree/renamed")).unwrap();
    fs::hard_link(env.path("tree/renamed/below/file"), env.path("tree/second")).unwrap();
    compare("a renamed directory and a second name");
    env.chmod(&env.path("tree/renamed/below/file"), 0o751);
    env.chmod(&env.path("tree/renamed"), 0o700);
    compare("other permissions");
    fs::remove_dir_all(env.path("tree/renamed")).unwrap();
    env.write("tree/second", 3);
    compare("a removed directory");
    assert_eq!(live.end(), (Some(0), String::new()));
    let after = env.transect(["list", "tree"]).exits(0);
    assert!(!is_from_live(&after));
}

/// Of inotify, the kernel keeps fewer notifications than there are changes here.
#[test]
fn followed_tree_answers_as_a_walk_after_the_service_was_stopped_during_changes() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let directories: Vec<_> =
        (0..20).map(|number| env.mkdir(format!("tree/many/{number}/deep"))).collect();
    let live = Live::start(&env, "tree");
    live.running.signal(Signal::STOP);
    while !live.running.is_stopped() {
        std::thread::yield_now();
    }
    for directory in directories {
        (0..1000).for_each(|file| fs::write(directory.join(format!("{file}")), "").unwrap());
    }
    fs::rename(env.path("tree/many/7"), env.path("tree/moved")).unwrap();
    fs::write(env.path("tree/moved/deep/later"), "later").unwrap();
    fs::remove_dir_all(env.path("tree/many/8")).unwrap();
    fs::remove_dir_all(env.path("tree/sub")).unwrap();
    env.mkdir("tree/sub/again");
    live.running.signal(Signal::CONT);
    let list = |from: &str| {
        env.transect(["list", "--columns=type,size,inode,mode,path", "--live", from, "tree"])
    };
    let told = list("auto").exits(0);
    assert!(is_from_live(&told), "{}", told.text());
    assert_eq!(sorted(&told), sorted(&list("no").exits(0)));
    assert_eq!(live.end(), (Some(0), String::new()));
}

#[test]
fn followed_tree_not_asked_for_what_it_does_not_know() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/file", 5);
    env.text("tree/.gitignore", "file");
    env.mkdir("other");
    symlink("tree", env.path("link")).unwrap();
    let _live = Live::start(&env, "tree");
    for args in [
        &["list", "-L", "tree"][..],
        &["list", "--gitignore", "tree"],
        &["list", "--columns", "nlink,path", "tree"],
        &["list", "--reader", "walk", "tree"],
        &["list", "-j", "1", "tree"],
        &["list", "tree", "other"],
        &["list", "other"],
        &["list", "link"],
        &["list", "tree/file"],
        &["list", "tree", "--exec", "true"],
        &["usage", "-g", "file", "tree"],
    ] {
        let output = env.transect(args).exits(0);
        assert!(!is_from_live(&output), "{args:?}");
    }
    let missing = env.transect(["list", "tree/missing"]).exits(2);
    assert!(!is_from_live(&missing));
    for args in [&["list", "./tree/../tree"][..], &["usage", "tree"]] {
        assert!(is_from_live(&env.transect(args).exits(0)), "{args:?}");
    }
}

#[test]
fn followed_tree_with_closed_directories_answers_as_a_walk() {
    let test = "followed_tree_with_closed_directories_answers_as_a_walk";
    let env = TestEnv::new();
    env.mkdir("tree/open/inner");
    env.write("tree/open/inner/file", 3000);
    env.mkdir("tree/closed/inner");
    env.write("tree/closed/inner/file", 5000);
    env.chmod(&env.path("tree/closed"), 0o000);
    let Some(running) = env.start_unprivileged(test, ["live", "--idle", "15m", "tree"]) else {
        return;
    };
    let live = Live::of(running);
    let compare = |what: &str, code: i32, live_code: i32| {
        for args in [
            &["list", "tree"][..],
            &["list", "-d", "1", "tree"],
            &["list", "tree/open"],
            &["list", "tree/closed/inner"],
            &["list", "--empty", "tree"],
            &["usage", "-n", "100", "tree"],
        ] {
            let run = |args: Vec<&str>| env.transect_unprivileged(test, args).expect("as before");
            let walked = run([args, &["--live", "no"]].concat());
            let told = run(args.to_vec());
            assert_eq!(told.code, walked.code, "{what}, {args:?}: {}", told.text());
            assert_eq!(sorted(&told), sorted(&walked), "{what}, {args:?}");
            let errors = |output: &Output| {
                let text = output.stderr_text();
                text.lines()
                    .filter(|line| line.contains("cannot"))
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            assert_eq!(errors(&told), errors(&walked), "{what}, {args:?}");
            if args == ["list", "tree"] {
                assert_eq!(
                    (told.code, is_from_live(&told)),
                    (Some(code), true),
                    "{what}: {}",
                    told.text()
                );
            }
        }
        let find = ["find", "--in", "tree", "file"];
        let found = env.transect_unprivileged(test, find).expect("as before");
        assert_eq!(found.code, Some(live_code), "{what}: {}", found.text());
        found.stdout_text().lines().count()
    };
    assert_eq!(compare("one is closed", 1, 1), 1);
    env.chmod(&env.path("tree/closed"), 0o755);
    assert_eq!(compare("it is open again", 0, 0), 2);
    env.chmod(&env.path("tree/open"), 0o000);
    assert_eq!(compare("another one was closed", 1, 1), 1);
    fs::rename(env.path("tree/open"), env.path("tree/renamed")).unwrap();
    env.write("tree/renamed/inner/new", 1);
    assert_eq!(compare("it was renamed and changed meanwhile", 1, 1), 1);
    env.chmod(&env.path("tree/renamed"), 0o755);
    assert_eq!(compare("all are open", 0, 0), 2);
    env.mkdir("tree/renamed/inner/last");
    env.write("tree/renamed/inner/last/file", 1);
    assert_eq!(compare("they are followed again", 0, 0), 3);
    assert_eq!(live.end().0, Some(0));
}

#[test]
fn followed_tree_without_watches_left_answers_as_a_walk() {
    let test = "followed_tree_without_watches_left_answers_as_a_walk";
    let env = TestEnv::new();
    for number in 0..8 {
        env.mkdir(format!("tree/{number}/below"));
        env.write(format!("tree/{number}/below/file"), number);
    }
    // The limit of a user namespace is its own.
    let limited = r#"echo 6 > /proc/sys/user/max_inotify_watches && exec "$TRANSECT" live tree"#;
    if env.sh("unshare --user --map-root-user true").code != Some(0) {
        return skip(test, "needs user namespaces").unwrap_or_default();
    }
    let script = ["--user", "--map-root-user", "sh", "-c", limited];
    let live = Live::of(Running::start(env.command("unshare").args(script)));
    assert!(live.first.contains("directories are not watched, and read again"));
    let cursor = env.transect(["changes", "--cursor", "tree"]).exits(0).stdout_text();
    let compare = |what: &str| {
        let told = env.transect(["list", "--columns", "type,size,mtime,path", "tree"]).exits(0);
        let walked = ["list", "--columns", "type,size,mtime,path", "--live", "no", "tree"];
        assert!(is_from_live(&told), "{what}: {}", told.text());
        assert_eq!(sorted(&told), sorted(&env.transect(walked).exits(0)), "{what}");
    };
    compare("first");
    for number in 0..8 {
        env.write(format!("tree/{number}/below/file"), 100 + number);
        env.write(format!("tree/{number}/new"), 1);
    }
    compare("files were written");
    fs::rename(env.path("tree/0"), env.path("tree/7/renamed")).unwrap();
    fs::rename(env.path("tree/6/below"), env.path("tree/below")).unwrap();
    env.mkdir("tree/6/below/again");
    compare("directories were renamed");
    fs::remove_dir_all(env.path("tree/5")).unwrap();
    fs::remove_dir_all(env.path("tree/1")).unwrap();
    compare("directories are gone");
    let since = env.transect(["changes", "--since", cursor.trim_end(), "-0", "tree"]).exits(0);
    for number in [2, 3, 4] {
        let path = format!("tree/{number}/new\0");
        assert!(since.stdout_text().contains(&path), "{path}: {}", since.text());
    }
    assert_eq!(live.end().0, Some(0));
}

#[test]
fn followed_tree_with_a_mount_in_it_read_from_the_disk() {
    let env = TestEnv::new();
    env.mkdir("tree/mounted");
    env.mkdir("tree/other");
    let _live = Live::start(&env, "tree");
    let list = |path: &str| env.transect(["list", path]).exits(0);
    assert!(is_from_live(&list("tree")));
    let mount = match Mount::tmpfs("1M", &env.path("tree/mounted")) {
        Ok(mount) => mount,
        Err(reason) => {
            let test = "followed_tree_with_a_mount_in_it_read_from_the_disk";
            return skip(test, &reason).unwrap_or_default();
        }
    };
    env.write("tree/mounted/file", 1);
    for args in [&["list", "tree"][..], &["list", "-d", "1", "tree"], &["usage", "tree"]] {
        assert!(!is_from_live(&env.transect(args).exits(0)), "{args:?}");
    }
    assert!(list("tree").stdout_text().contains("tree/mounted/file"));
    assert!(is_from_live(&list("tree/other")), "nothing is mounted there");
    drop(mount);
    assert!(is_from_live(&list("tree")));
}

/// A directory that is mounted in itself, and snapshots, in which inode numbers repeat.
#[test]
fn followed_tree_with_subvolumes_and_bind_mounts_answers_as_a_walk() {
    let env = TestEnv::new();
    let make = ["mkfs.btrfs", "-q", "-f"];
    let test = "followed_tree_with_subvolumes_and_bind_mounts_answers_as_a_walk";
    let mount = match Mount::image(&env.path("image"), 200 << 20, &make, &env.path("tree")) {
        Ok(mount) => mount,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    env.mkdir("tree/bound");
    env.mkdir("tree/dir");
    env.write("tree/dir/file", 1);
    let live = Live::start(&env, "tree");
    let compare = |what: &str, is_followed: bool| {
        let columns = ["list", "--columns", "type,size,mtime,ctime,inode,path", "tree"];
        let told = env.transect(columns).exits(0);
        assert_eq!(is_from_live(&told), is_followed, "{what}: {}", told.text());
        let walked = env.transect(columns.iter().chain(&["--live", "no"])).exits(0);
        assert_eq!(sorted(&told), sorted(&walked), "{what}");
    };
    compare("nothing changed", true);
    let btrfs = |args: &str| env.sh(&format!("btrfs subvolume {args} >/dev/null")).exits(0);
    let _ = btrfs("snapshot tree tree/snapshot");
    compare("a snapshot of the tree in itself", true);
    env.write("tree/snapshot/dir/file", 10);
    env.mkdir("tree/snapshot/dir/new");
    compare("changes in the snapshot", true);
    let _ = btrfs("create tree/dir/volume");
    env.write("tree/dir/volume/file", 10);
    compare("a subvolume", true);
    for source in ["tree/dir", "tree"] {
        let source = env.path(source);
        let bound = Mount::new(&["--bind", source.to_str().unwrap()], &env.path("tree/bound"));
        compare("mounted", false);
        env.write("tree/bound/new", 10);
        drop(bound.unwrap());
        compare("not mounted any more", true);
    }
    let _ = btrfs("delete tree/snapshot");
    compare("the snapshot was deleted", true);
    assert_eq!(live.end().0, Some(0));
    drop(mount);
}

#[test]
fn attributes_in_followed_tree_equal_those_of_the_disk_after_every_change() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let live = Live::start(&env, "tree");
    let columns = ["-0", "--json", "--columns=type,size,allocated,mtime,ctime,mode,inode"];
    let mut from_table = 0;
    let mut compare = |what: &str| {
        let mut paths = tree::paths(&env, "tree");
        paths.extend(["tree/missing", "tree/link/leaf", "tree/sub/../plain"].map(Vec::from));
        for follow in [&[][..], &["--follow"]] {
            let ask = |more: &[&str]| {
                let output = asked(&env, &[&columns, follow, more].concat(), &list(&paths));
                let lines = lines(&output);
                assert_eq!(lines.len(), paths.len(), "{}", output.text());
                lines
            };
            let (told, expected) = (ask(&["--service"]), ask(&[]));
            let other = told.iter().zip(&expected).find(|(told, expected)| told != expected);
            assert_eq!(other, None, "{what}, {follow:?}");
        }
        let stats = env.transect(["service", "stats", "--json"]).exits(0).json();
        let before = std::mem::replace(&mut from_table, stats["followed"].as_u64().expect("it"));
        assert!(from_table - before > paths.len() as u64, "{what}: {}", from_table - before);
    };
    compare("first");
    fs::rename(env.path("tree/sub"), env.path("tree/renamed")).unwrap();
    symlink("renamed/inner", env.path("tree/link")).unwrap();
    fs::write(env.path("tree/renamed/inner/third"), "a file with several names").unwrap();
    compare("a renamed directory and a link");
    fs::rename(env.path("tree/wide"), env.path("tree/renamed/wide")).unwrap();
    fs::rename(env.path("tree/renamed"), env.path("tree/hollow/sub")).unwrap();
    fs::remove_file(env.path("tree/link")).unwrap();
    symlink("hollow", env.path("tree/link")).unwrap();
    env.chmod(&env.path("tree/hollow/sub/inner"), 0o600);
    compare("directories renamed into each other, and another link");
    assert_eq!(live.end(), (Some(0), String::new()));
}

#[test]
fn find_searches_followed_tree_as_it_is_now() {
    let env = TestEnv::new();
    env.mkdir("tree/src");
    env.write("tree/src/main.rs", 5);
    env.write("tree/src/Main.txt", 5);
    let live = Live::start(&env, "tree");
    let found = |args: &[&str]| {
        let output = env.transect(["find", "--in", "tree"].iter().chain(args));
        assert!(is_from_live(&output), "{}", output.text());
        let below = env.path("tree").display().to_string();
        output.stdout_text().replace(&below, "").lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found(&["main"]), ["/src/main.rs"]);
    assert_eq!(found(&["-i", "main"]), ["/src/Main.txt", "/src/main.rs"]);
    assert_eq!(found(&["src/ma"]), ["/src/main.rs"]);
    assert_eq!(found(&["--glob", "src/*.rs"]), ["/src/main.rs"]);
    assert_eq!(found(&["--regex", "^.ain"]).len(), 2);
    assert_eq!(found(&["-t", "d", "src"]), ["/src"]);
    assert_eq!(found(&["--count", "ain"]), ["2"]);
    assert_eq!(found(&["none"]), [] as [&str; 0]);
    env.write("tree/src/domain", 1);
    fs::remove_file(env.path("tree/src/main.rs")).unwrap();
    assert_eq!(found(&["main"]), ["/src/domain"]);
    let json = env.transect(["find", "--in", "tree/src", "--json", "main"]).exits(0);
    let last = json.stdout_text().lines().last().map(str::to_owned).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!(summary["followed"]["path"], env.path("tree/src").to_str().unwrap());
    assert_eq!(summary["found"], 1);
    assert_eq!(live.end().0, Some(0));
    let none = env.transect(["find", "--in", "tree", "main"]).exits(2);
    assert!(none.stderr_text().contains("no snapshot"), "{}", none.text());
}

#[test]
fn changes_since_cursor_printed_and_lost_cursors_reported() {
    let env = TestEnv::new();
    env.mkdir("tree/a");
    let live = Live::start(&env, "tree");
    let cursor = env.transect(["changes", "--cursor", "tree"]).exits(0).quiet().stdout_text();
    let cursor = cursor.trim_end();
    let since = |more: &[&str]| {
        env.transect(["changes", "--since", cursor].iter().chain(more).chain(&["tree"]))
    };
    // What is new may be noticed more than once while it is made.
    let names = |output: &Output| {
        let text = output.stdout_text();
        text.lines().filter(|line| !line.starts_with('~')).map(str::to_owned).collect::<Vec<_>>()
    };
    env.mkdir("tree/a/new");
    assert_eq!(names(&since(&[]).exits(0)), ["+ tree/a/new/"]);
    fs::rename(env.path("tree/a"), env.path("tree/b")).unwrap();
    let text = since(&[]).exits(0);
    assert_eq!(names(&text), ["+ tree/a/new/", "> tree/a/ → tree/b/"]);
    let next = text.stderr_text();
    let next = next.trim_end().strip_prefix("transect: cursor ").expect("the next cursor");
    let paths = since(&["-0"]).exits(0).stdout_text();
    assert!(paths.starts_with("tree/a/new\0") && paths.ends_with("tree/b\0"), "{paths}");
    let json = since(&["--json"]).exits(0).quiet().stdout_text();
    let lines: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().any(|line| line["from"] == "tree/a"));
    let end = &lines[lines.len() - 1];
    assert_eq!((&end["event"], &end["cursor"]), (&"end".into(), &next.into()));
    let nothing = env.transect(["changes", "--since", next, "tree"]).exits(0);
    assert_eq!(nothing.stdout_text(), "");
    let other = env.transect(["changes", "--since", "1:1", "tree"]).exits(1);
    assert!(other.stderr_text().contains("anything may have changed"), "{}", other.text());
    let below = env.transect(["changes", "--cursor", "tree/b"]).exits(2);
    assert!(below.stderr_text().contains("is not followed, so it has no cursors"));
    fs::rename(env.path("tree"), env.path("gone")).unwrap();
    let (code, said) = live.end();
    // It may have ended before it noticed that.
    assert!(code == Some(1) || said.is_empty(), "{said}");
    let unknown = env.transect(["changes", "--since", next, "gone"]).exits(2);
    assert!(unknown.stderr_text().contains("transect live"), "{}", unknown.text());
}

#[test]
fn watch_prints_what_the_service_reports_until_interrupted() {
    let env = TestEnv::new();
    env.mkdir("tree/a");
    let live = Live::start(&env, "tree");
    let begin = || {
        let mut watching = env.start(["watch", "--json", "tree"]);
        let mut out = BufReader::new(watching.child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        out.read_line(&mut line).expect("a pipe can be read");
        let ready: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!((&ready["event"], &ready["entries"]), (&"ready".into(), &2.into()));
        assert!(ready["cursor"].is_string());
        (watching, out)
    };
    let (watching, mut out) = begin();
    env.write("tree/a/file", 1);
    let mut line = String::new();
    out.read_line(&mut line).expect("a pipe can be read");
    assert!(line.starts_with(r#"{"change":"added","path":"tree/a/file","#), "{line}");
    watching.signal(Signal::INT);
    assert_eq!(watching.finish().code, Some(130));

    fs::remove_file(env.path("tree/a/file")).unwrap();
    let (watching, _out) = begin();
    assert_eq!(live.end().0, Some(0));
    let ended = watching.finish().exits(2);
    assert!(ended.stderr_text().contains("the service has ended"), "{}", ended.text());
}

#[test]
fn live_same_tree_twice_followed_once_nested_trees_both() {
    let env = TestEnv::new();
    env.mkdir("tree/below");
    symlink("tree", env.path("link")).unwrap();
    let mut running = env.start(["live", "tree", "link", "tree/below", "./tree"]);
    let mut said = BufReader::new(running.child.stderr.take().expect("a pipe"));
    let mut lines = Vec::new();
    while lines.len() < 3 {
        let mut line = String::new();
        assert!(said.read_line(&mut line).expect("a pipe can be read") > 0, "it ended");
        lines.push(line);
    }
    let below = env.transect(["list", "tree/below"]).exits(0);
    assert!(below.stderr_text().contains("tree/below'"), "{}", below.text());
    running.signal(Signal::TERM);
    said.read_to_string(&mut lines[0]).expect("a pipe can be read");
    assert!(!lines[0].contains("following"), "{lines:?}");
    assert_eq!(running.finish().code, Some(0));
}

#[test]
fn live_root_that_is_no_directory_refused_and_one_that_goes_reported() {
    let env = TestEnv::new();
    env.write("file", 1);
    for (root, why) in [("file", "is not a directory"), ("none", "cannot follow 'none': ")] {
        let refused = env.transect(["live", root]).exits(2);
        assert!(refused.stderr_text().contains(why), "{}", refused.text());
    }
    env.mkdir("tree");
    let mut live = Live::start(&env, "tree");
    fs::remove_dir(env.path("tree")).unwrap();
    let mut line = String::new();
    live.said.read_line(&mut line).expect("a pipe can be read");
    assert!(line.contains("it is not there any more"), "{line}");
    // What is there now is not followed.
    env.mkdir("tree");
    let mut watching = env.start(["watch", "tree"]);
    let mut said = BufReader::new(watching.child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a pipe can be read");
    assert_eq!(line, "transect: watching 'tree', 1 entry\n");
    watching.signal(Signal::INT);
    assert_eq!(watching.finish().code, Some(130));
    assert_eq!(live.end().0, Some(1));
}

#[test]
fn git_status_equal_with_and_without_hook() {
    let env = TestEnv::new();
    if env.sh("git --version").code != Some(0) {
        return skip("git_status_equal_with_and_without_hook", "needs git").unwrap_or_default();
    }
    let hook = r#"'"$TRANSECT" service git-hook'"#;
    assert_git_status_equal(&env, &["."], hook, "git-hook' returned success");
}

/// Before git 2.55, git on Linux asks no socket. The tests of `git_socket` speak its protocol instead, so this is no skip.
#[test]
fn git_status_equal_with_and_without_socket() {
    let env = TestEnv::new();
    let options = env.sh("git version --build-options").stdout_text();
    if options.contains("feature: fsmonitor--daemon") {
        assert_git_status_equal(&env, &["--git", "tree"], "true", "fsmonitor extension successful");
    }
}

/// Compares the answers of git, which asks a service, with those of git that looks itself.
#[expect(clippy::unwrap_used, reason = "the tests call it")]
fn assert_git_status_equal(env: &TestEnv, live: &[&str], fsmonitor: &str, asked: &str) {
    let git = |args: &str| {
        let identity = "-c user.name=a -c user.email=a@b.c -c init.defaultBranch=main";
        env.sh(&format!("cd tree && git {identity} {args}"))
    };
    env.mkdir("tree/src/deep/er");
    for number in 0..50 {
        env.write(format!("tree/src/deep/file{number}"), number);
        env.write(format!("tree/src/deep/er/file{number}"), number);
    }
    let _ = git("init -q").exits(0);
    let _ = git("add .").exits(0);
    let _ = git("commit -qm begin").exits(0);
    let _live = Live::start_with(env, live);
    let is_asked = || {
        let traced = env.sh("cd tree && GIT_TRACE_FSMONITOR=1 git status --porcelain").exits(0);
        traced.stderr_text().contains(asked)
    };
    let _ = git("config core.untrackedCache true").exits(0);
    let _ = git(&format!("config core.fsmonitor {fsmonitor}")).exits(0);
    assert!((0..2).any(|_| is_asked()), "git does not ask");
    let mut step = 0;
    let mut compare = |what: &str| {
        step += 1;
        // The second time, only what changed is looked at.
        let told = [(); 2].map(|()| git("status --porcelain").exits(0).quiet().stdout_text());
        // Without writing the index, which would then forget the token.
        let walked = "--no-optional-locks -c core.fsmonitor= -c core.untrackedCache=false";
        let walked = git(&format!("{walked} status --porcelain"));
        let walked = walked.exits(0).stdout_text();
        assert_eq!(told, [walked.clone(), walked], "step {step}: {what}");
    };
    compare("nothing changed");
    env.write("tree/src/deep/file7", 700);
    compare("a file was written");
    fs::remove_file(env.path("tree/src/deep/er/file3")).unwrap();
    env.write("tree/src/new file", 1);
    compare("a file is gone, another one is new");
    fs::rename(env.path("tree/src/deep"), env.path("tree/src/other")).unwrap();
    compare("a directory was renamed");
    env.write("tree/src/other/er/file9", 900);
    env.mkdir("tree/src/other/er/new");
    env.write("tree/src/other/er/new/file", 1);
    compare("changes below a renamed directory");
    fs::rename(env.path("tree/src/other"), env.path("outside")).unwrap();
    compare("a directory has left the working tree");
    env.write("outside/file1", 100);
    fs::rename(env.path("outside"), env.path("tree/src/deep")).unwrap();
    compare("it has returned");
    let _ = git("checkout -q -f HEAD").exits(0);
    compare("all files were restored");
    fs::remove_dir_all(env.path("tree/src/deep/er")).unwrap();
    compare("a directory was removed");
    let asked = git("status --porcelain");
    assert_eq!(asked.exits(0).stdout_text().lines().count(), 51, "50 are gone, one is new");
}
