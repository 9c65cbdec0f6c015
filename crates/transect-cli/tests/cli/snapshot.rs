//! `transect snapshot`, and snapshots where commands take a path.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};
use transect_testkit::{Mount, python_with_packages};

use crate::harness::{Output, TestEnv, skip};
use crate::tree;

fn store(env: &TestEnv, tree: &str, file: &str) {
    let _ = env.transect(["snapshot", tree, "-o", file]).exits(0).quiet();
}

/// Returns what `usage --json` prints, without what depends on the walk.
fn usage(env: &TestEnv, path: &str, more: &[&str]) -> Value {
    let args = ["usage", "--json", "-n", "10000", path];
    without_walk(env.transect(args.iter().chain(more)).exits(0).quiet().json())
}

fn without_walk(mut shown: Value) -> Value {
    let object = shown.as_object_mut().expect("an object");
    for key in ["elapsed_ns", "reader", "order", "threads", "disk"] {
        object.remove(key);
    }
    shown
}

#[test]
fn snapshot_usage_equals_that_of_the_tree() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    store(&env, "tree", "tree.parquet");
    let root = env.path("tree");
    let root = root.to_str().unwrap();
    for more in [&["--files"][..], &["--by", "owner"], &["--by", "age"], &["--by", "ext"]] {
        assert_eq!(usage(&env, "tree.parquet", more), usage(&env, root, more), "{more:?}");
    }
}

#[test]
fn snapshot_usage_from_stored_totals_equals_that_of_the_tree() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    fs::hard_link(env.write("tree/linked", 100_000), env.path("tree/sub/linked")).unwrap();
    store(&env, "tree", "tree.parquet");
    let root = env.path("tree");
    let lines = |path: &str, options: &[&str]| {
        let args = ["usage", path];
        let shown = env.transect(args.iter().chain(options)).exits(0).quiet().stdout_text();
        // What follows depends on the time, and on the disk of a directory.
        shown.split_once("; complete in").expect("a summary").0.to_owned()
    };
    for options in [
        &[][..],
        &["-n", "3"],
        &["-n", "1000"],
        &["-d", "1"],
        &["-d", "0"],
        &["--apparent"],
        &["--entries", "-n", "7"],
        &["--min-size", "5K"],
    ] {
        let stored = lines("tree.parquet", options);
        assert_eq!(stored, lines(root.to_str().unwrap(), options), "{options:?}");
        assert!(stored.contains("disk usage"), "{stored}");
    }
    assert!(lines("tree.parquet", &["-n", "1000"]).contains(" shared"));
}

#[test]
fn snapshot_usage_for_programs_from_stored_totals_equals_that_of_the_tree() {
    let test = "snapshot_usage_for_programs_from_stored_totals_equals_that_of_the_tree";
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    env.mkdir("tree/denied");
    // `sub/linked` comes before `z` in the file, but the file is charged to `z`, whose directory comes first.
    for (name, other) in [("z", "sub/linked"), ("sub/both", "sub/again"), ("one", "hollow/two")] {
        let name = env.write(format!("tree/{name}"), 100_000);
        fs::hard_link(name, env.path(format!("tree/{other}"))).unwrap();
    }
    fs::hard_link(env.write("tree/sub/outside", 30_000), env.path("outside")).unwrap();
    let _ = env.sh("chmod 755 . tree; chmod 0 tree/denied; mkdir -m 777 to").exits(0);
    let root = env.path("tree");
    let shown = |args: &[&str]| env.transect_unprivileged(test, args);
    let Some(_) = shown(&["snapshot", "tree", "-o", "to/tree.parquet"]) else { return };
    for options in [&[][..], &["-n", "3"], &["-d0"], &["-d1"], &["--apparent"], &["--entries"]] {
        let [stored, walked] = [env.path("to/tree.parquet"), root.clone()].map(|path| {
            let path = path.to_str().expect("a path of text");
            let of = |format| {
                let args = ["usage", format, path].into_iter().chain(options.iter().copied());
                shown(&args.collect::<Vec<_>>()).expect("it ran before")
            };
            let (json, csv) = (of("--json"), of("--csv"));
            assert_eq!((json.code, csv.code), (Some(1), Some(1)));
            (without_walk(json.json()), csv.stdout_text())
        });
        assert_eq!(stored, walked, "{options:?}");
        // The tree had three before.
        assert_eq!((&stored.0["hard_links"], &stored.0["errors"]), (&json!(6), &json!(1)));
    }
}

#[test]
fn snapshot_by_every_reader_and_thread_count_is_the_same() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let readers = ["getdents-statx", "getdents-fstatat", "portable"];
    let mut first = None;
    for reader in readers {
        for threads in ["1", "2", "16"] {
            let args = ["snapshot", "tree", "-o", "now.parquet", "--reader", reader, "-j", threads];
            let _ = env.transect(args).exits(0).quiet();
            let shown = usage(&env, "now.parquet", &["--files"]);
            assert_eq!(*first.get_or_insert_with(|| shown.clone()), shown, "{reader} {threads}");
        }
    }
}

#[test]
fn snapshot_map_shows_the_stored_tree() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.write("tree/sub/stored-name", 100_000);
    store(&env, "tree", "tree.parquet");
    let page = env.transect(["map", "--html", "-", "tree.parquet"]).exits(0).quiet();
    let walked = env.transect(["map", "--html", "-", "tree"]).exits(0).quiet();
    // The names of the page are packed; pages of the same tree have the same length, but for times.
    let (stored, walked) = (page.stdout.len() as i64, walked.stdout.len() as i64);
    assert!((stored - walked).abs() < 400, "{stored} {walked}");
}

/// What `list` prints, of a snapshot or of the tree itself.
#[test]
fn snapshot_list_equals_that_of_the_tree() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    env.mkdir("tree/hollow/.hidden");
    env.write("tree/sub/deep.tar.gz", 70_000);
    let _ = env.sh("chmod 2711 tree/sub; touch -d 2001-02-03 tree/sub/deep.tar.gz").exits(0);
    store(&env, "tree", "tree.parquet");
    let root = env.path("tree");
    let root = root.to_str().unwrap();
    let all = "name,path,owner,group,type,size,allocated,mtime,mode,uid,gid,nlink,inode,device";
    for options in [
        "",
        "-0",
        "--json",
        "--csv",
        "--total",
        &format!("--csv --columns {all}"),
        &format!("--json --columns {all}"),
        "--bytes --columns mode,nlink,owner,group,size,mtime,path",
        "-g s* -g !*.gz",
        "--glob=sub/** --exclude=**/deep*",
        "-e tar.gz",
        "--regex [aeiou]$ -i",
        "--no-hidden",
        "--type d,l",
        "--type p --type s",
        "--empty",
        "-S +1K",
        "--newer 2002-01-01 -t f",
        "--older 2002-01-01",
        "--owner 0",
        "--perm -2000",
        "--depth 1",
        "--min-depth 2",
        "--read-depth 1 --total",
        "--sort size --reverse --limit 3 --columns size,name",
        "--sort path --color always",
    ] {
        let list = |path: &str| {
            let args = ["list"].into_iter().chain(options.split_whitespace()).chain([path]);
            let output = env.transect(args).exits(0).quiet();
            let mut lines: Vec<Vec<u8>> =
                output.stdout.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            if options == "-0" {
                lines = output.paths(b'\0');
            } else if !options.contains("--sort") {
                lines.sort_unstable();
            }
            lines
        };
        let (stored, walked) = (list("tree.parquet"), list(root));
        assert!(!walked.is_empty());
        let text = |lines: &[Vec<u8>]| String::from_utf8_lossy(&lines.join(&b'\n')).into_owned();
        assert!(stored == walked, "{options}:\n{}\n--\n{}", text(&stored), text(&walked));
    }
    // The targets of links are not stored.
    let long = env.transect(["list", "--long", "tree.parquet"]).exits(0).quiet().stdout_text();
    assert!(long.contains("/tree/sub") && !long.contains(" -> "), "{long}");
}

#[test]
fn snapshot_refuses_what_it_cannot_do() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/file", 10);
    store(&env, "tree", "good.parquet");
    let bytes = fs::read(env.path("good.parquet")).unwrap();
    fs::write(env.path("cut.parquet"), &bytes[..bytes.len() / 2]).unwrap();
    let mut newer = fs::read(UNVERIFIED).unwrap();
    let key = b"transect.schema_version\x18\x01";
    let at = newer.windows(key.len()).position(|window| window == key).unwrap() + key.len();
    newer[at] = b'7';
    fs::write(env.path("newer.parquet"), &newer).unwrap();
    let mut damaged = bytes.clone();
    damaged[300..900].fill(0xff);
    fs::write(env.path("damaged.parquet"), &damaged).unwrap();
    for (args, word) in [
        (&["usage", "cut.parquet"][..], "not a snapshot: not a Parquet file, or truncated"),
        (&["usage", "newer.parquet"], "version 7 of the format"),
        (&["usage", "damaged.parquet"], "damaged"),
        (&["usage", "-t", "f", "good.parquet"], "filters apply only to directories"),
        (&["list", "cut.parquet"], "truncated"),
        (
            &["list", "--csv", "-c", "atime", "good.parquet"],
            "have atime; store it with --all-times",
        ),
        (&["list", "--sort", "btime", "good.parquet"], "have btime; store it with --all-times"),
        (&["list", "-c", "path,target", "good.parquet"], "no targets of links"),
        (&["list", "--exec", "rm", "{}", ";", "good.parquet"], "--exec needs a directory"),
        (&["list", "--exec-batch", "rm", ";", "good.parquet"], "--exec needs a directory"),
        (&["list", "--gitignore", "good.parquet"], "--gitignore applies only to directories"),
        (&["list", "--broken-links", "good.parquet"], "--broken-links applies only to"),
        (&["list", "--follow", "good.parquet"], "--follow applies only to directories"),
        (&["list", "--one-file-system", "good.parquet"], "--one-file-system applies only to"),
        (&["map", "--html", "-", "cut.parquet"], "truncated"),
        (&["map", "--allow-removal", "good.parquet"], "needs a directory"),
        (&["snapshot", "tree"], "--output"),
        (&["snapshot", "missing", "-o", "x.parquet"], "cannot access"),
        (&["snapshot", "tree", "-o", "missing/x.parquet"], "cannot create 'missing/x.parquet'"),
    ] {
        let refused = env.transect(args).exits(2);
        assert!(refused.stderr_text().contains(word), "{args:?}: {}", refused.text());
        assert!(refused.stdout.is_empty(), "{args:?}");
    }
    assert!(!env.path("x.parquet").exists());
    // Entries before the damage may be printed.
    let cut_short = env.transect(["list", "--csv", "damaged.parquet"]).exits(2);
    assert!(cut_short.stderr_text().contains("damaged"), "{}", cut_short.text());
    // One bit of a key does not make it another file.
    let mut flipped = bytes;
    let key = b"transect.schema_version";
    let at = flipped.windows(key.len()).position(|window| window == key).unwrap();
    for at in [at, 0] {
        flipped[at] ^= 1;
        fs::write(env.path("flipped.parquet"), &flipped).unwrap();
        for args in [
            &["list", "flipped.parquet"][..],
            &["usage", "flipped.parquet"],
            &["find", "--in", "flipped.parquet", "x"],
            &["diff", "good.parquet", "flipped.parquet"],
        ] {
            let refused = env.transect(args).exits(2);
            assert!(refused.stderr_text().contains("cannot read"), "{}", refused.text());
        }
        flipped[at] ^= 1;
    }
    // A Parquet file that is not a snapshot is a file like any other, with a hint.
    let mut foreign = fs::read(UNVERIFIED).unwrap();
    let at = foreign.windows(8).position(|window| window == b"transect").unwrap();
    let all: Vec<usize> =
        (0..foreign.len() - 8).filter(|&at| &foreign[at..at + 8] == b"transect").collect();
    assert!(all.contains(&at));
    all.iter().for_each(|&at| foreign[at..at + 8].copy_from_slice(b"whatever"));
    fs::write(env.path("foreign.parquet"), &foreign).unwrap();
    let shown = env.transect(["usage", "--json", "foreign.parquet"]).exits(0);
    let hint = "hint: 'foreign.parquet' is a Parquet file, but not a snapshot";
    assert_eq!(shown.stderr_text().matches(hint).count(), 1, "{}", shown.text());
    assert_eq!(shown.json()["files"], 1);
}

/// A file of version 1, which has no checksums, of a tree with the root `/golden`.
const UNVERIFIED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../transect-snapshot/tests/golden/version-1.parquet");

#[test]
fn snapshot_without_checksums_is_reported_as_unverified() {
    let env = TestEnv::new();
    let hinted = |args: &[&str], what: &str, code: i32| {
        let output = env.transect(args).exits(code);
        let hint = format!("{what}: files of earlier versions have no checksums");
        assert_eq!(output.stderr_text().matches(&hint).count(), 1, "{args:?}: {}", output.text());
        output
    };
    let last_line = |output: Output| -> Value {
        let text = output.stdout_text();
        serde_json::from_str(text.lines().next_back().expect("an object")).expect("JSON")
    };
    let named = format!("hint: '{UNVERIFIED}' is unverified");
    let _ = hinted(&["list", UNVERIFIED], &named, 1);
    assert_eq!(hinted(&["usage", "--json", UNVERIFIED], &named, 1).json()["unverified"], true);
    let found = hinted(&["find", "--json", "--in", UNVERIFIED, "inner"], &named, 0);
    assert_eq!(last_line(found)["snapshots"][0]["unverified"], true);
    env.mkdir("tree");
    store(&env, "tree", "verified.parquet");
    let differ = hinted(&["diff", "--json", "verified.parquet", UNVERIFIED], &named, 1);
    let sides = last_line(differ);
    assert_eq!(
        (&sides["before"]["unverified"], &sides["after"]["unverified"]),
        (&json!(false), &json!(true))
    );

    // Two snapshots of a series; `docs/SERIES.md` describes the names of its directory and files.
    let bytes = fs::read(UNVERIFIED).unwrap();
    let time = b"\"started\":1700000000000000000";
    let at = bytes.windows(time.len()).position(|window| window == time).expect("its metadata");
    for second in [0, 1] {
        let mut kept = bytes.clone();
        kept[at + 19] = b'0' + second;
        fs::write(env.path(format!("2023-11-14T22-13-2{second}.000Z.parquet")), kept).unwrap();
    }
    let place = "series=$XDG_DATA_HOME/transect/series/host/golden-be9bf274fb767866 \
        && mkdir -p $series && mv 2023-* $series";
    let _ = env.sh(place).exits(0).quiet();
    let series = "golden-be9bf274fb767866' has unverified snapshots";
    let _ = hinted(&["history"], series, 1);
    let history = hinted(&["history", "--json", "--host", "host", "/golden"], series, 1).json();
    let snapshots = history["snapshots"].as_array().expect("snapshots");
    assert!(
        snapshots.len() == 2 && snapshots.iter().all(|it| it["unverified"] == true),
        "{history}"
    );
    let _ = hinted(&["history", "--html", "-", "--host", "host", "/golden"], series, 1);
}

#[test]
fn snapshot_that_claims_gigabytes_needs_little_memory() {
    let env = TestEnv::new();
    // A sparse file of 100 GB, whose description claims 285 MB.
    let script = "printf PAR1 >huge.parquet && truncate -s 100G huge.parquet \
        && printf '\\377\\377\\377\\020PAR1' >>huge.parquet \
        && ulimit -v 1000000 && \"$TRANSECT\" usage huge.parquet";
    let refused = env.sh(script).exits(2);
    assert!(refused.stderr_text().contains("cannot read 'huge.parquet'"), "{}", refused.text());
}

#[test]
fn snapshot_partial_tree_is_marked() {
    let test = "snapshot_partial_tree_is_marked";
    let env = TestEnv::new();
    env.mkdir("tree/denied");
    env.write("tree/file", 10);
    let _ = env.sh("chmod 755 . tree; chmod 0 tree/denied; mkdir -m 777 to").exits(0);
    let stored = env.transect_unprivileged(test, ["snapshot", "tree", "-o", "to/now.parquet"]);
    let Some(stored) = stored else { return };
    let stored = stored.exits(1);
    assert!(stored.stderr_text().contains("cannot open directory"), "{}", stored.text());
    let shown = env.transect(["usage", "--json", "to/now.parquet"]).exits(1).json();
    assert_eq!(shown["complete"], false, "{shown}");
    assert_eq!(shown["errors"], 1, "{shown}");
    let listed = env.transect(["list", "to/now.parquet"]).exits(1);
    assert!(listed.stdout_text().contains("/tree/denied\n"), "{}", listed.text());
    // The error is stored with its path, and named by all commands that show the snapshot.
    for args in [&["list"][..], &["usage"], &["map", "--html", "to/map.html"]] {
        let shown = env.transect(args.iter().chain(&["to/now.parquet"])).exits(1).stderr_text();
        assert!(shown.contains("the snapshot: 1 error when it was read:"), "{args:?}: {shown}");
        let is_named = |line: &str| {
            line.contains("cannot open directory '")
                && line.contains("/tree/denied': Permission denied")
        };
        assert!(shown.lines().any(is_named), "{args:?}: {shown}");
    }
    let entries = shown["entries"].as_array().unwrap();
    let denied = entries.iter().find(|entry| entry["unread"] == "denied");
    assert!(denied.is_some_and(|it| it["path"].as_str().unwrap().ends_with("denied")), "{shown}");
}

#[test]
fn snapshot_killed_or_interrupted_keeps_the_old_file() {
    let env = TestEnv::new();
    for directory in 0..60 {
        tree::many_files(&env, &env.path(format!("tree/{directory}")), 200, "name");
    }
    env.mkdir("to");
    store(&env, "tree", "to/out.parquet");
    let whole = fs::read(env.path("to/out.parquet")).unwrap();
    let whole_usage = usage(&env, "to/out.parquet", &[]);
    let mut stopped = 0;
    // Delays that hit the walk, the writing and the end, depending on the speed of the machine; then
    // again until one was stopped.
    let delays = (0..30).chain(std::iter::repeat(0)).map(Duration::from_millis);
    for (number, delay) in delays.enumerate() {
        if number >= 30 && stopped > 0 {
            break;
        }
        let signal = if number % 2 == 0 { Signal::INT } else { Signal::KILL };
        let running = env.start(["snapshot", "tree", "-o", "to/out.parquet"]);
        running.wait_until_handled();
        std::thread::sleep(delay);
        running.signal(signal);
        let output = running.finish();
        if output.code != Some(0) {
            stopped += 1;
        }
        assert_eq!(usage(&env, "to/out.parquet", &[]), whole_usage, "after {delay:?}");
        // A killed process may leave a temporary file where the file system needs one.
        if signal == Signal::INT {
            let names = fs::read_dir(env.path("to")).unwrap();
            let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
            let parquet = names.iter().filter(|name| name.as_bytes().ends_with(b".parquet"));
            assert_eq!(parquet.count(), 1, "{names:?}");
        }
    }
    assert!(!whole.is_empty());
}

#[test]
fn snapshot_full_device_keeps_the_old_file() {
    let test = "snapshot_full_device_keeps_the_old_file";
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 4000, "name");
    let _mount = match Mount::tmpfs("8k", &env.path("small")) {
        Ok(mount) => mount,
        Err(reason) => return skip(test, &reason).unwrap_or_default(),
    };
    for before in [None, Some("what was there")] {
        if let Some(text) = before {
            env.text("small/out.parquet", text);
        }
        let full = env.transect(["snapshot", "tree", "-o", "small/out.parquet"]).exits(2);
        let said = full.stderr_text();
        assert!(said.contains("cannot write 'small/out.parquet': No space left"), "{said}");
        assert_eq!(fs::read_to_string(env.path("small/out.parquet")).ok().as_deref(), before);
        let there = fs::read_dir(env.path("small")).unwrap().count();
        assert_eq!(there, usize::from(before.is_some()), "nothing is left beside it");
    }
}

/// What the programs below print: rows, files, bytes of files, and the sum of the totals of the root.
const COUNTS: [(&str, &str); 3] = [
    (
        "duckdb",
        "import duckdb
q = \"SELECT count(*), count(*) FILTER (type = 'file'), sum(size) FILTER (type = 'file'), \"
q += \"max(entries) FILTER (depth = 0), count(name_raw), count(digest), \"
q += \"count(*) FILTER (mtime > TIMESTAMP '2000-01-01') FROM 'tree.parquet'\"
print(*(int(value) for value in duckdb.connect().execute(q).fetchone()))",
    ),
    (
        "polars",
        "import polars as pl
t = pl.read_parquet('tree.parquet')
f = t.filter(pl.col('type') == 'file')
late = t.filter(pl.col('mtime') > pl.datetime(2000, 1, 1, time_zone='UTC')).height
print(t.height, f.height, f['size'].sum(), t.filter(pl.col('depth') == 0)['entries'].max(),
      t['name_raw'].count(), t['digest'].count(), late)",
    ),
    (
        "pyarrow",
        "import datetime
import pyarrow.compute as pc, pyarrow.parquet as pq
t = pq.read_table('tree.parquet')
f = t.filter(pc.equal(t['type'], 'file'))
late = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
print(t.num_rows, f.num_rows, pc.sum(f['size']).as_py(),
      pc.max(t.filter(pc.equal(t['depth'], 0))['entries']).as_py(),
      pc.count(t['name_raw']).as_py(), pc.count(t['digest']).as_py(),
      t.filter(pc.greater(t['mtime'], late)).num_rows)",
    ),
];

#[test]
fn snapshot_read_by_duckdb_polars_and_pyarrow() {
    let test = "snapshot_read_by_duckdb_polars_and_pyarrow";
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let not_utf8 = std::ffi::OsStr::from_bytes(b"not \xff UTF-8");
    fs::write(env.path("tree").join(not_utf8), "text").unwrap();
    tree::many_files(&env, &env.path("tree/many"), 9000, "name");
    store(&env, "tree", "tree.parquet");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(python) = python_with_packages(test, target) else { return };
    let mut answers: Vec<(&str, String)> = Vec::new();
    for (name, script) in COUNTS {
        env.text("ask.py", script);
        let output = env.sh(&format!("'{}' ask.py", python.join("python3").display())).exits(0);
        answers.push((name, output.stdout_text()));
    }
    let shown = usage(&env, "tree.parquet", &[]);
    let number = |key: &str| shown[key].as_u64().unwrap();
    let rows = number("files") + number("directories") + number("others");
    for (name, answer) in &answers {
        let numbers: Vec<u64> =
            answer.split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(numbers[0], rows, "{name}: {answer}");
        assert_eq!(numbers[1], number("files"), "{name}");
        assert_eq!(numbers[3], rows, "{name}");
        assert!(numbers[4] >= 1, "{name}: a name that is not UTF-8");
        assert_eq!(numbers[5], number("directories"), "{name}");
        assert_eq!(*answer, answers[0].1, "{name}");
    }
    // The examples of the documentation.
    let documented = include_str!("../../../../docs/FORMAT.md").split("```python\n").skip(1);
    let examples: Vec<&str> = documented.map(|it| it.split_once("```").unwrap().0).collect();
    assert_eq!(examples.len(), 3);
    env.text("ask.py", &examples.concat().replace("usr.parquet", "tree.parquet"));
    let output = env.sh(&format!("'{}' ask.py", python.join("python3").display())).exits(0);
    assert!(output.stdout_text().contains("alloc"), "{}", output.text());
}
