//! `transect list`, compared with `find` and with `std::fs`.

use std::io::Read;
use std::os::unix::ffi::OsStrExt;

use crate::harness::{TestEnv, skip};
use crate::list_forms::objects;
use crate::terminal::on_terminal;
use crate::tree;

/// Returns paths as text, for messages.
fn readable(paths: &[Vec<u8>]) -> Vec<String> {
    paths.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect()
}

#[track_caller]
fn assert_same(listed: &[Vec<u8>], expected: &[Vec<u8>], what: &str) {
    assert!(!expected.is_empty(), "{what}: nothing is expected");
    if listed != expected {
        let (listed, expected) = (readable(listed), readable(expected));
        let missing: Vec<_> = expected.iter().filter(|path| !listed.contains(path)).collect();
        let further: Vec<_> = listed.iter().filter(|path| !expected.contains(path)).collect();
        panic!(
            "{what}: {} paths instead of {}, missing {missing:#?}, not expected {further:#?}",
            listed.len(),
            expected.len(),
        );
    }
}

#[test]
fn list_nul_terminates_hostile_names() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let expected = tree::paths(&env, "tree");
    for flag in ["-0", "--null"] {
        let listed = env.transect(["list", flag, "tree"]).exits(0).quiet().paths(b'\0');
        assert_same(&listed, &expected, flag);
    }
}

#[test]
fn list_matches_find() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    if !env.has("find") {
        return skip("list_matches_find", "there is no find").unwrap_or_default();
    }
    for (arguments, find) in [
        ("tree", "find tree"),
        ("tree/", "find tree/"),
        ("./tree", "find ./tree"),
        ("../work/tree/sub", "find ../work/tree/sub"),
        ("'to file' plain fifo", "find 'to file' plain fifo"),
        ("--min-depth 1 tree", "find tree -mindepth 1"),
        ("--min-depth 3 tree", "find tree -mindepth 3"),
        ("--depth 0 tree", "find tree -maxdepth 0"),
        ("-d 1 tree", "find tree -maxdepth 1"),
        ("-d 9 --read-depth 1 tree", "find tree -maxdepth 1"),
        ("--read-depth 2 tree", "find tree -maxdepth 2"),
        ("--min-depth 2 --depth 2 tree", "find tree -mindepth 2 -maxdepth 2"),
        ("--one-file-system tree", "find tree -xdev"),
    ] {
        let links = "cd tree && ln -s plain '../to file' && cp plain .. && mkfifo ../fifo";
        if !env.path("fifo").exists() {
            let _ = env.sh(links).exits(0);
        }
        let listed = env.sh(&format!(r#""$TRANSECT" list {arguments}"#)).exits(0).quiet();
        let found = env.sh(find).exits(0).quiet();
        assert_same(&listed.paths(b'\n'), &found.paths(b'\n'), arguments);
    }
}

#[test]
fn list_filters_by_name_and_mode_match_find() {
    let env = TestEnv::new();
    if !env.has("find") {
        return skip("list_filters_by_name_and_mode_match_find", "there is no find")
            .unwrap_or_default();
    }
    env.mkdir("tree/.hidden/sub.c");
    env.mkdir("tree/Dir.C");
    for (name, mode) in [
        ("tree/a.c", 0o644),
        ("tree/B.C", 0o755),
        ("tree/.c", 0o600),
        ("tree/c", 0o4750),
        ("tree/x.tar.gz", 0o666),
        ("tree/.hidden/test.c", 0o644),
        ("tree/Dir.C/Test.h", 0o622),
    ] {
        env.write(name, 1);
        env.chmod(&env.path(name), mode);
    }
    std::os::unix::fs::symlink("a.c", env.path("tree/link.c")).unwrap();
    for (arguments, find) in [
        ("-e c tree", "find tree -name '?*.c'"),
        ("-e .c -t f tree", "find tree -name '?*.c' -type f"),
        ("-e c,h tree", "find tree -name '?*.c' -o -name '?*.h'"),
        ("-i -e c -e tar.gz tree", "find tree -iname '?*.c' -o -name '*.tar.gz'"),
        ("-i -g 'test*' tree", "find tree -iname 'test*'"),
        ("--regex '^[a-z]*[.]' tree", "find tree -regextype egrep -regex '.*/[a-z]*[.][^/]*'"),
        ("-i --regex TEST --regex dir tree", "find tree -iname '*test*' -o -iname '*dir*'"),
        ("--no-hidden tree", "find tree -name '.?*' -prune -o -print"),
        ("--no-hidden tree/.hidden", "find tree/.hidden"),
        ("--no-hidden --hidden tree", "find tree"),
        ("--perm 644 tree", "find tree -perm 644"),
        ("--perm -4000 tree", "find tree -perm -4000"),
        ("--perm /22 tree", "find tree -perm /22"),
        ("--perm -111 -t f tree", "find tree -perm -111 -type f"),
        ("-t x tree", "find tree -type f -perm /111"),
        ("-t d,executable tree", "find tree -type d -o -type f -perm /111"),
        ("-t x --perm -4000 tree", "find tree -type f -perm /111 -perm -4000"),
        ("-e c tree/a.c tree/c", "find tree/a.c"),
    ] {
        let listed = env.sh(&format!(r#""$TRANSECT" list {arguments}"#)).exits(0).quiet();
        let found = env.sh(find).exits(0).quiet();
        assert_same(&listed.paths(b'\n'), &found.paths(b'\n'), arguments);
    }
    let invalid = env.transect(["list", "--regex", "a(b", "tree"]).exits(2);
    assert_eq!(invalid.stderr_text(), "transect: cannot parse pattern 'a(b': unclosed group\n");
    let _ = env.transect(["list", "--perm", "u+x", "tree"]).exits(2);
}

#[test]
fn list_without_path_lists_current_directory() {
    let env = TestEnv::new();
    env.mkdir("a/b");
    let listed = env.transect(["list"]).exits(0).quiet();
    assert_eq!(readable(&listed.paths(b'\n')), [".", "./a", "./a/b"]);
}

#[test]
fn list_same_for_every_reader_and_order() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let expected = tree::paths(&env, "tree");
    for (option, values) in crate::scan::readers_and_orders(&env) {
        for value in values {
            let listed = env.transect(["list", "-0", "tree", option, &value]).exits(0).quiet();
            assert_same(&listed.paths(b'\0'), &expected, &value);
        }
    }
}

#[test]
fn list_overlapping_roots_once() {
    let env = TestEnv::new();
    env.mkdir("tree/sub/inner");
    let listed = env.transect(["list", "tree/sub", "tree"]).exits(0).quiet();
    let expected = ["tree", "tree/sub", "tree/sub/inner"];
    assert_eq!(readable(&listed.paths(b'\n')), expected);
}

#[test]
fn list_follow_reads_link_targets() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    env.mkdir("elsewhere");
    env.write("elsewhere/file", 1);
    std::os::unix::fs::symlink("../elsewhere", env.path("tree/link")).unwrap();
    std::os::unix::fs::symlink("..", env.path("tree/sub/up")).unwrap();
    let plain = env.transect(["list", "tree"]).exits(0).quiet();
    let expected = ["tree", "tree/link", "tree/sub", "tree/sub/up"];
    assert_eq!(readable(&plain.paths(b'\n')), expected);
    let followed = env.transect(["list", "--follow", "tree"]).exits(0).quiet();
    let expected = ["tree", "tree/link", "tree/link/file", "tree/sub", "tree/sub/up"];
    assert_eq!(readable(&followed.paths(b'\n')), expected);
}

#[test]
fn list_globs_match_names_or_paths() {
    let env = TestEnv::new();
    for directory in ["tree/src/deep", "tree/docs"] {
        env.mkdir(directory);
    }
    for file in ["src/main.rs", "src/notes.md", "src/deep/lib.rs", "docs/guide.md", "README.md"] {
        env.text(format!("tree/{file}"), "");
    }
    let all = ["README.md", "docs", "docs/guide.md", "src", "src/deep", "src/deep/lib.rs"];
    let all = [&all[..], &["src/main.rs", "src/notes.md"]].concat();
    for (arguments, expected) in [
        (&[][..], &all[..]),
        (&["--glob", "*.rs"], &["src/deep/lib.rs", "src/main.rs"]),
        (&["-g", "*.rs", "-g", "guide.*"], &["docs/guide.md", "src/deep/lib.rs", "src/main.rs"]),
        (&["-g", "/src/*.rs"], &["src/main.rs"]),
        (&["-g", "src/*.md"], &["src/notes.md"]),
        (&["-g", "*.md", "-g", "!guide.md"], &["README.md", "src/notes.md"]),
        (&["-g", "!*.md"], &["docs", "src", "src/deep", "src/deep/lib.rs", "src/main.rs"]),
        (&["--exclude", "src"], &["README.md", "docs", "docs/guide.md"]),
        (
            &["-E", "deep", "-E", "docs", "-g", "*.{rs,md}"],
            &["README.md", "src/main.rs", "src/notes.md"],
        ),
        (&["-E", "*"], &[]),
    ] {
        let fixed = ["list", "--min-depth", "1", "tree"];
        let output = env.transect(fixed.iter().chain(arguments)).exits(0).quiet();
        let listed =
            readable(&if output.stdout.is_empty() { Vec::new() } else { output.paths(b'\n') });
        let expected: Vec<_> = expected.iter().map(|path| format!("tree/{path}")).collect();
        assert_eq!(listed, expected, "{arguments:?}");
    }
}

/// Regression: the root was printed whatever the filters were, and `xargs rm -rf` removed all of
/// it.
#[test]
fn list_root_not_matching_filters_not_printed() {
    let env = TestEnv::new();
    env.mkdir("victim/sub");
    for file in ["victim/a.tmp", "victim/b", "victim/sub/c.tmp", "other.tmp", "other"] {
        env.text(file, "content");
    }
    let find = env.has("find");
    for (arguments, roots, tests, expected) in [
        ("-g '*.tmp'", "victim", "-name '*.tmp'", "victim/a.tmp victim/sub/c.tmp"),
        ("-g 'vic*'", "victim", "-name 'vic*'", "victim"),
        ("-g 'vic*'", "victim/", "-name 'vic*'", "victim/"),
        ("-td -g zzz", "victim", "-type d -name zzz", ""),
        ("-tf -g 'vic*'", "victim", "-type f -name 'vic*'", ""),
        (
            "-g '*.tmp' -tf",
            "other.tmp other victim",
            "-name '*.tmp' -type f",
            "other.tmp victim/a.tmp victim/sub/c.tmp",
        ),
        ("-g 'b' --min-depth 2", "victim", "-mindepth 2 -name b", ""),
        ("-E '*'", "victim", "-name ''", ""),
        ("-E '*' -tf", "victim other", "-name ''", ""),
        ("-E '*.tmp'", "victim other.tmp", "-not -name '*.tmp'", "victim victim/b victim/sub"),
        ("-E victim", "victim other", "-name other", "other"),
        ("-g b", "victim", "-name b", "victim/b"),
    ] {
        let listed = env.sh(&format!(r#""$TRANSECT" list {arguments} {roots}"#)).exits(0).quiet();
        let mut lines: Vec<_> = listed.stdout_text().lines().map(str::to_owned).collect();
        lines.sort();
        let expected: Vec<_> = expected.split_whitespace().collect();
        assert_eq!(lines, expected, "{arguments} {roots}");
        if find {
            let found = env.sh(&format!("find {roots} {tests}")).exits(0).quiet();
            let mut found: Vec<_> = found.stdout_text().lines().map(str::to_owned).collect();
            found.sort();
            assert_eq!(lines, found, "find {roots} {tests}");
        }
    }
    let removed = r#""$TRANSECT" list -0 -g '*.tmp' victim | xargs -0 rm -rf"#;
    let _ = env.sh(removed).exits(0).quiet();
    assert!(env.path("victim/b").exists() && env.path("victim/sub").is_dir());
    assert!(!env.path("victim/a.tmp").exists() && !env.path("victim/sub/c.tmp").exists());
}

/// A root without a name, such as `.`, is read whatever the globs are, and is not printed because a
/// glob matches it.
#[test]
fn list_current_directory_read_despite_globs() {
    let env = TestEnv::new();
    env.mkdir("dir/.hidden");
    env.text("dir/.hidden/x", "");
    env.text("dir/y", "");
    for (arguments, expected) in [
        ("-g '*'", "./.hidden ./.hidden/x ./y"),
        ("-g '.*'", "./.hidden"),
        ("-E '.*'", "./y"),
        ("-E '*'", ""),
        ("-E y", ". ./.hidden ./.hidden/x"),
        ("-td", ". ./.hidden"),
    ] {
        let listed = env.sh(&format!(r#"cd dir && "$TRANSECT" list {arguments}"#)).exits(0).quiet();
        let mut lines: Vec<_> = listed.stdout_text().lines().map(str::to_owned).collect();
        lines.sort();
        let expected: Vec<_> = expected.split_whitespace().collect();
        assert_eq!(lines, expected, "{arguments}");
    }
}

#[test]
fn list_gitignore_excludes_files() {
    let env = TestEnv::new();
    for directory in ["tree/.git", "tree/target/debug", "tree/src/gen"] {
        env.mkdir(directory);
    }
    for file in [".git/HEAD", "target/debug/out", "src/gen/a.o", "src/gen/keep.o", "src/a.o"] {
        env.text(format!("tree/{file}"), "");
    }
    env.text("tree/.gitignore", "/target\n*.o\n");
    env.text("tree/src/gen/.gitignore", "!keep.o\n");
    let args = ["list", "--min-depth", "1", "tree"];
    let all = env.transect(args).exits(0).quiet().paths(b'\n');
    assert_same(&all, &tree::paths(&env, "tree")[1..], "without --gitignore");

    let listed = env.transect(args.iter().chain(&["--gitignore"])).exits(0).quiet();
    let expected = [".gitignore", "src", "src/gen", "src/gen/.gitignore", "src/gen/keep.o"]
        .map(|path| format!("tree/{path}"));
    assert_eq!(readable(&listed.paths(b'\n')), expected);

    // The rules of the repository apply to a root inside it, too.
    let inside = env.transect(["list", "--gitignore", "tree/src/gen"]).exits(0).quiet();
    let expected = ["tree/src/gen", "tree/src/gen/.gitignore", "tree/src/gen/keep.o"];
    assert_eq!(readable(&inside.paths(b'\n')), expected);
}

#[test]
fn list_gitignore_named_pipe_ignored() {
    let env = TestEnv::new();
    env.mkdir("tree");
    tree::mkfifo(&env, &env.path("tree/.gitignore"));
    let listed = env.transect(["list", "--gitignore", "tree"]);
    assert_eq!(readable(&listed.paths(b'\n')), ["tree", "tree/.gitignore"]);
}

#[test]
fn list_closed_pipe_ends_quietly() {
    let env = TestEnv::new();
    // Far more than a pipe holds, so that the closed pipe is noticed.
    tree::many_files(&env, &env.path("tree"), 4000, &"x".repeat(240));
    let script = r#"{ "$TRANSECT" list tree; echo $? >code; } | head -n 1"#;
    let first = env.sh(script).exits(0).quiet();
    assert_eq!(first.stdout_text(), "tree\n");
    assert_eq!(std::fs::read_to_string(env.path("code")).unwrap(), "0\n");
}

#[test]
fn list_slow_reader_gets_everything() {
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 2000, &"x".repeat(240));
    let mut running = env.start(["list", "tree"]);
    let mut first = [0; 5];
    let mut stdout = running.child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    // The pipe is full long before the last path; ending now would lose paths.
    assert!(running.child.try_wait().unwrap().is_none(), "the list did not wait");
    let mut rest = first.to_vec();
    stdout.read_to_end(&mut rest).unwrap();
    let mut output = running.finish().exits(0).quiet();
    output.stdout = rest;
    assert_same(&output.paths(b'\n'), &tree::paths(&env, "tree"), "through a slow pipe");
}

#[test]
fn list_full_device_is_error() {
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 2000, &"x".repeat(240));
    let output = env.sh(r#""$TRANSECT" list tree >/dev/full"#).exits(2);
    let message = output.stderr_text();
    let expected = "transect: cannot write output: No space left on device";
    assert!(message.starts_with(expected), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn list_unreadable_directory_listed_and_partial() {
    let env = TestEnv::new();
    let locked = env.mkdir("tree/locked");
    env.write("tree/locked/hidden", 1);
    env.write("tree/file", 1);
    env.chmod(&locked, 0o000);
    let test = "list_unreadable_directory_listed_and_partial";
    let Some(output) = env.transect_unprivileged(test, ["list", "tree"]) else {
        return;
    };
    let output = output.exits(1);
    assert_eq!(readable(&output.paths(b'\n')), ["tree", "tree/file", "tree/locked"]);
    let message = "transect: cannot open directory 'tree/locked': Permission denied\n";
    assert_eq!(output.stderr_text(), message);
}

#[test]
fn list_roots_keep_their_spelling() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    let absolute = env.path("tree");
    let listed = env.transect([&absolute]).exits(0);
    assert!(listed.stdout_text().starts_with(absolute.to_str().unwrap()));
    let strange = tree::raw(b"tree/in\xffvalid");
    env.mkdir(&strange);
    let listed = env.transect(["list".as_ref(), strange.as_os_str()]).exits(0).quiet();
    assert_eq!(listed.paths(b'\n'), [strange.as_bytes()]);
    let dashed = env.mkdir("-x");
    env.mkdir(dashed.join("y"));
    let listed = env.transect(["list", "--", "-x"]).exits(0).quiet();
    assert_eq!(readable(&listed.paths(b'\n')), ["-x", "-x/y"]);
}

// ---- columns, filters, order ----

#[test]
fn list_link_targets_are_raw_bytes() {
    use std::os::unix::fs::symlink;

    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let strange = tree::raw(b"no/such\n\x1b[31m\xff");
    symlink(&strange, env.path("tree/dangling")).unwrap();
    symlink("dangling", env.path("tree/to a link")).unwrap();
    let mut links = 0;
    for object in objects(&env, &["-c", "path,type,target", "tree"]) {
        if !object["path_raw"].is_null() || object["type"] != "symlink" {
            assert!(object["type"] == "symlink" || object["target"].is_null(), "{object}");
            continue;
        }
        links += 1;
        let leads_to = env.path(object["path"].as_str().unwrap()).read_link().unwrap();
        assert_eq!(object["target"], *leads_to.to_string_lossy(), "{object}");
        assert_eq!(!object["target_raw"].is_null(), leads_to.to_str().is_none(), "{object}");
    }
    assert!(links > 3, "only {links} links");

    let shown =
        |arguments: &[&str]| env.transect(["list"].iter().chain(arguments)).exits(0).quiet().stdout;
    let dangling = [b"tree/dangling -> ".as_slice(), strange.as_bytes(), b"\n"].concat();
    assert_eq!(shown(&["-c", "path,target", "tree/dangling"]), dangling);
    assert_eq!(shown(&["-c", "path,target", "tree/plain"]), b"tree/plain\n");
    assert_eq!(shown(&["-c", "target", "tree/plain"]), b"-\n");
    let csv = shown(&["--csv", "-c", "target,name", "-g", "to a link", "--min-depth", "1", "tree"]);
    assert_eq!(csv, b"target,name\n\"dangling\",\"to a link\"\n");
    // A followed link has no target; a dangling one stays a link.
    symlink("plain", env.path("tree/to a file")).unwrap();
    let followed = |path| objects(&env, &["-L", "-c", "target", path]).remove(0)["target"].take();
    assert_eq!(followed("tree/to a file"), serde_json::Value::Null);
    assert_eq!(followed("tree/to a link"), "dangling");

    let run = r#"stty cols 200 rows 30; "$TRANSECT" list -c path,target tree/dangling"#;
    let test = "list_link_targets_are_raw_bytes";
    let Some(shown) = on_terminal(&env, test, "NO_COLOR=1", run) else { return };
    let text = shown.exits(0).stdout_text();
    assert!(text.contains("tree/dangling -> no/such\\n\\e[31m\u{fffd}"), "{text:?}");
}

#[test]
fn list_filters_match_find() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    if !env.has("find") {
        return skip("list_filters_match_find", "there is no find").unwrap_or_default();
    }
    let _ = env.sh("touch -d '2001-09-09 01:46:40.5 UTC' tree/plain tree/sub").exits(0);
    for (arguments, find) in [
        ("-t f tree", "find tree -type f"),
        ("-t d tree", "find tree -type d"),
        ("--type symlink,fifo tree", "find tree -type l,p"),
        ("-t l -t p tree", "find tree -type l,p"),
        ("-S +5000 tree", "find tree -type f -size +4999c"),
        ("-S -10 tree", "find tree -type f -size -11c"),
        ("--size +10 --size -300 tree", "find tree -type f -size +9c -size -301c"),
        ("-S 100 tree", "find tree -type f -size 100c"),
        ("--newer 2001-09-09T01:46:41Z tree", "find tree -newermt '2001-09-09 01:46:41 UTC'"),
        ("--older 2001-09-09T01:46:41Z tree", "find tree ! -newermt '2001-09-09 01:46:41 UTC'"),
        ("--newer tree/plain tree", "find tree -newer tree/plain"),
        ("--newer 1d tree", "find tree -newermt '1 day ago'"),
        ("--owner $(id -u) tree", "find tree -uid $(id -u)"),
        ("--owner $(id -un):$(id -g) -t f tree", "find tree -user $(id -un) -gid $(id -g) -type f"),
        ("--empty tree", "find tree -empty"),
        ("--empty -t d tree", "find tree -empty -type d"),
        ("--empty -d 1 tree", "find tree -maxdepth 1 -empty"),
        ("--empty tree/empty tree/plain", "find tree/empty tree/plain -empty"),
        // `-xtype l` reports loops as errors.
        ("--broken-links tree", "find tree -type l ! -exec test -e {} ';'"),
        ("-t f -S +100 -g '*a*' tree", "find tree -type f -size +99c -name '*a*'"),
    ] {
        let listed = env.sh(&format!(r#""$TRANSECT" list -0 {arguments}"#)).exits(0).quiet();
        let found = env.sh(&format!("{find} -print0")).exits(0).quiet();
        assert_same(&listed.paths(b'\0'), &found.paths(b'\0'), arguments);
    }
    let nobodys = env.transect(["list", "--owner", ":4000000", "tree"]).exits(0).quiet();
    assert!(nobodys.stdout.is_empty(), "{}", nobodys.text());
}

#[test]
fn list_invalid_filters_rejected() {
    let env = TestEnv::new();
    for (arguments, word) in [
        (["--size", "much"], "a size is a whole number"),
        (["--newer", "nowhere"], "not a time"),
        (["--owner", "nobody has this name"], "no such user"),
        (["--type", "y"], "invalid value"),
        (["--columns", "colour"], "invalid value"),
        (["--limit", "0"], "must be at least 1"),
        (["--sort", "beauty"], "invalid value"),
    ] {
        let refused = env.transect(["list"].iter().chain(&arguments)).exits(2);
        assert!(refused.stderr_text().contains(word), "{}", refused.text());
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn list_quiet_exits_with_answer() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.write("tree/part-2.rs", 1);
    env.write("tree/part-10.rs", 1);
    for (filter, code) in [("rs", 0), ("c", 1)] {
        let output = env.transect(["list", "-q", "-e", filter, "tree"]).exits(code).quiet();
        assert_eq!(output.stdout_text(), "");
    }
    let error = env.transect(["list", "--quiet", "tree", "none"]).exits(2).stderr_text();
    assert!(error.contains("'none'"), "{error}");
    let _ = env.transect(["snapshot", "-o", "tree.parquet", "tree"]).exits(0);
    let _ = env.transect(["list", "-q", "-e", "rs", "tree.parquet"]).exits(0).quiet();
    let _ = env.transect(["list", "-q", "-e", "c", "tree.parquet"]).exits(1).quiet();
    let natural = env.transect(["list", "-t", "f", "--sort", "natural", "tree"]).exits(0).quiet();
    assert_eq!(natural.stdout_text(), "tree/part-2.rs\ntree/part-10.rs\n");
}

#[test]
fn list_sort_same_for_any_threads() {
    let env = TestEnv::new();
    env.mkdir("tree/z");
    for (name, size) in [("tree/b", 30), ("tree/z/a", 20), ("tree/c", 10), ("tree/z/d", 30)] {
        env.write(name, size);
    }
    let list = |args: &[&str]| {
        let listed = env.transect(["list", "-t", "f", "tree"].iter().chain(args)).exits(0).quiet();
        listed.stdout_text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    for threads in ["1", "4"] {
        let sorted = |args: &[&str]| list(&[&["-j", threads], args].concat());
        assert_eq!(sorted(&["--sort", "size"]), ["tree/b", "tree/z/d", "tree/z/a", "tree/c"]);
        assert_eq!(sorted(&["--sort", "size", "-n", "2"]), ["tree/b", "tree/z/d"]);
        assert_eq!(sorted(&["--sort", "size", "--reverse", "-n", "1"]), ["tree/c"]);
        assert_eq!(sorted(&["--sort", "name"]), ["tree/z/a", "tree/b", "tree/c", "tree/z/d"]);
        assert_eq!(sorted(&["--sort", "path"]), ["tree/b", "tree/c", "tree/z/a", "tree/z/d"]);
        let with_columns = sorted(&["--sort", "size", "-n", "1", "--csv", "-c", "size,path"]);
        assert_eq!(with_columns, ["size,path", "30,\"tree/b\""]);
    }
}

/// Returns the entries, the apparent bytes and the disk usage of the last line.
fn total_of(listed: &str) -> [u64; 3] {
    let line = listed.lines().next_back().expect("a last line");
    let numbers = line.strip_prefix("total: ").expect("the totals").replace(',', "");
    let numbers: Vec<u64> =
        numbers.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    [numbers[0], numbers[1], numbers[2]]
}

#[test]
fn list_total_matches_scan_and_du() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    for filter in
        [&[][..], &["-t", "f"], &["-g", "sub"], &["--empty"], &["-L"], &["--sort", "size"]]
    {
        let list = ["list", "--total", "--bytes", "tree"];
        let listed = env.transect(list.iter().chain(filter)).exits(0).quiet().stdout_text();
        let filter: &[&str] = if filter == ["--sort", "size"] { &[] } else { filter };
        let scan = env.transect(["--json", "tree"].iter().chain(filter)).exits(0).quiet().json();
        let number = |key: &str| scan[key].as_u64().expect("a number");
        let entries: u64 = ["files", "directories", "symlinks", "others"].map(number).iter().sum();
        let usage = number("allocated_size") + number("directories_allocated_size");
        let [listed_entries, sizes @ ..] = total_of(&listed);
        assert_eq!(sizes, [number("apparent_size"), usage], "{filter:?}");
        // A link to a directory that is read elsewhere is an entry of the list only.
        assert!(listed_entries == entries || filter == ["-L"], "{filter:?}");
    }
    let du = env.sh("du -s --block-size=1 tree | cut -f 1");
    if du.code == Some(0) {
        let listed = env.transect(["list", "--total", "--bytes", "tree"]).exits(0).stdout_text();
        assert_eq!(du.stdout_text().trim(), total_of(&listed)[2].to_string());
    }
}

#[test]
fn list_total_counts_only_printed_entries() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for (name, size) in [("tree/b", 30), ("tree/a", 20), ("tree/c", 10)] {
        env.write(name, size);
    }
    std::fs::hard_link(env.path("tree/b"), env.path("tree/d")).unwrap();
    let list = ["list", "-tf", "tree", "--total", "--bytes"];
    let totals = |args: &[&str]| {
        let listed = env.transect(list.iter().chain(args)).exits(0).quiet().stdout_text();
        let [entries, apparent, _] = total_of(&listed);
        (listed.lines().count() - 1, entries, apparent)
    };
    assert_eq!(totals(&["--sort", "size", "-n", "3"]), (3, 3, 50));
    assert_eq!(totals(&["--sort", "size", "-r", "-n", "2"]), (2, 2, 30));
    assert_eq!(totals(&["-j", "1"]), (4, 4, 60));
    assert_eq!(totals(&["-n", "1", "-g", "c"]), (1, 1, 10));
    assert_eq!(totals(&["-g", "none"]), (0, 0, 0));
    let text = env.transect(list).exits(0).stdout_text();
    assert!(text.ends_with(", 1 further name of files counted once\n"), "{text}");
    let plain = env.transect(["list", "-g", "c", "tree", "--total"]).exits(0).stdout_text();
    assert!(plain.contains("total: 1 entry, apparent 10 B, disk usage "), "{plain}");
    let _ = env.transect(["list", "--json", "--total", "tree"]).exits(2);
}

#[test]
fn list_limit_ends_walk() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    let all = tree::paths(&env, "tree");
    for limit in [1, 3, all.len() - 1, all.len(), all.len() + 7] {
        let listed = env.transect(["list", "-0", "tree", "-n", &limit.to_string()]);
        let listed = listed.exits(0).quiet().paths(b'\0');
        assert_eq!(listed.len(), limit.min(all.len()));
        assert!(listed.iter().all(|path| all.contains(path)));
    }
}
