//! `snapshot --memory`: parts in a hidden folder, which is gone at the end, whatever that was.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use transect_snapshot::{Metadata, Snapshot};
use transect_testkit::{Mount, wait_until};

use crate::harness::{TestEnv, skip};
use crate::tree;

/// Makes a tree that takes some time, of few files with many names.
fn large_tree(env: &TestEnv) {
    for directory in 0..4 {
        env.mkdir(format!("tree/{directory}/sub"));
        let file = env.write(format!("tree/{directory}/file"), directory);
        for name in 0..25_000 {
            let to = env.path(format!("tree/{directory}/sub/{name}"));
            fs::hard_link(&file, to).expect("a new name");
        }
    }
}

/// Returns the rows of a snapshot as bytes, and its metadata without what differs between two runs.
fn rows_and_metadata(path: &Path) -> (Vec<u8>, Metadata) {
    let mut bytes = fs::read(path).expect("a snapshot");
    let (_, length) = bytes.split_at(bytes.len() - 8);
    let footer = u32::from_le_bytes(length[..4].try_into().expect("four bytes")) as usize;
    bytes.truncate(bytes.len() - 8 - footer);
    let mut metadata = Snapshot::open(path).expect("a snapshot").metadata().clone();
    (metadata.started, metadata.ended) = (None, None);
    metadata.options.clear();
    (bytes, metadata)
}

/// Returns the hidden files in a folder.
fn hidden(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).expect("a folder");
    let names = names.map(|entry| entry.expect("an entry").file_name().into_string());
    names.map(|name| name.expect("a plain name")).filter(|name| name.starts_with('.')).collect()
}

#[test]
fn snapshot_in_bounded_memory_same_as_plain() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    for options in
        [&[][..], &["-x", "--all-times", "-j", "16", "-E", "*.txt"], &["--reader", "portable"]]
    {
        let plain = ["snapshot", "tree", "-o", "plain.parquet"];
        let plain = env.transect(plain.iter().chain(options)).exits(0).quiet().stdout_text();
        let bounded = ["snapshot", "tree", "-o", "bounded.parquet", "--memory", "96M"];
        let bounded = env.transect(bounded.iter().chain(options)).exits(0).quiet().stdout_text();
        let entries = |said: &str| said.split_once(" in '").expect("a summary").0.to_owned();
        assert_eq!(entries(&bounded), entries(&plain));
        let rows = |file: &str| rows_and_metadata(&env.path(file));
        let ((rows, metadata), expected) = (rows("bounded.parquet"), rows("plain.parquet"));
        assert!(rows == expected.0, "{options:?}");
        assert_eq!(metadata, expected.1, "{options:?}");
        assert_eq!(hidden(&env.path(".")), [""; 0]);
    }
    let args = ["snapshot", "tree", "-o", "bounded.parquet", "--memory", "1G", "--json"];
    let object = env.transect(args).exits(0).quiet().json();
    assert_eq!(
        (&object["schema"], &object["complete"]),
        (&"transect.snapshot/1".into(), &true.into())
    );
    assert!(object["entries"].as_u64() > Some(10), "{object}");
}

#[test]
fn snapshot_in_bounded_memory_leaves_its_own_folder_out() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    let args = ["snapshot", "tree", "--memory", "96M", "-o", "tree/sub/now.parquet"];
    let _ = env.transect(args).exits(0).quiet();
    let listed = env.transect(["list", "tree/sub/now.parquet"]).exits(0).stdout_text();
    assert!(listed.lines().count() == 2 && listed.ends_with("/tree/sub\n"), "{listed}");
}

#[test]
fn snapshot_in_bounded_memory_stopped_leaves_nothing() {
    let env = TestEnv::new();
    large_tree(&env);
    env.mkdir("to");
    env.text("to/now.parquet", "what was there");
    let to = env.path("to");
    let args = ["snapshot", "tree", "--memory", "96M", "-o", "to/now.parquet"];
    for signal in [Signal::INT, Signal::KILL] {
        // On a busy machine, it may end before it is stopped.
        loop {
            let running = env.start(args);
            wait_until("the folder of the parts, or the end", || {
                !hidden(&to).is_empty() || running.is_dead()
            });
            running.signal(signal);
            let code = running.finish().code;
            if code == Some(0) {
                env.text("to/now.parquet", "what was there");
                continue;
            }
            assert_eq!(code, (signal == Signal::INT).then_some(130));
            break;
        }
        assert_eq!(fs::read_to_string(to.join("now.parquet")).unwrap(), "what was there");
        let left = usize::from(signal == Signal::KILL);
        assert_eq!(hidden(&to).len(), left, "{:?}", hidden(&to));
    }
    // The next run removes what the killed one left, but not the folder of another one.
    let running = env.start(args);
    wait_until("a second folder, or the end", || {
        let folder = hidden(&to);
        (folder.len() == 1 && to.join(&folder[0]).join("lock").exists()) || running.is_dead()
    });
    let of_first = hidden(&to);
    env.mkdir("empty");
    let _ =
        env.transect(["snapshot", "empty", "--memory", "96M", "-o", "to/empty.parquet"]).exits(0);
    assert!(running.finish().exits(0).stdout_text().contains("stored"), "{of_first:?}");
    assert_eq!(hidden(&to), [""; 0]);
    let _ = env.transect(["snapshot", "tree", "-o", "to/plain.parquet"]).exits(0).quiet();
    let rows = |file: &str| rows_and_metadata(&env.path(file));
    assert!(rows("to/now.parquet") == rows("to/plain.parquet"));
}

/// A process can be killed right after it made the folder, and while it removes it.
#[test]
fn snapshot_in_bounded_memory_removes_folders_without_lock() {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.mkdir(".transect-parts-begun");
    env.mkdir(".transect-parts-ended");
    env.text(".transect-parts-ended/part", "a part");
    let args = ["snapshot", "tree", "--memory", "96M", "-o", "tree.parquet"];
    let _ = env.transect(args).exits(0).quiet();
    assert_eq!(hidden(&env.path(".")), [""; 0]);
}

#[test]
fn snapshot_in_bounded_memory_partial_tree_is_marked() {
    let test = "snapshot_in_bounded_memory_partial_tree_is_marked";
    let env = TestEnv::new();
    env.mkdir("tree/denied");
    env.write("tree/file", 10);
    let _ = env.sh("chmod 755 . tree; chmod 0 tree/denied; mkdir -m 777 to").exits(0);
    let mut stored = Vec::new();
    for more in [&["-o", "to/plain.parquet"][..], &["--memory", "96M", "-o", "to/bounded.parquet"]]
    {
        for root in [&["tree"][..], &["tree", "missing"], &["missing", "tree/denied"]] {
            let args = ["snapshot"].iter().chain(root).chain(more);
            let Some(output) = env.transect_unprivileged(test, args) else { return };
            stored.push((output.code, output.stderr_text()));
        }
    }
    let (plain, bounded) = stored.split_at(3);
    assert_eq!(plain, bounded);
    assert_eq!(plain.iter().map(|it| it.0).collect::<Vec<_>>(), [Some(1), Some(2), Some(2)]);
    let rows = |file: &str| rows_and_metadata(&env.path(file));
    assert_eq!(rows("to/bounded.parquet"), rows("to/plain.parquet"));
    assert_eq!(hidden(&env.path("to")), [""; 0]);
}

#[test]
fn snapshot_in_bounded_memory_full_device_keeps_the_old_file() {
    let test = "snapshot_in_bounded_memory_full_device_keeps_the_old_file";
    let env = TestEnv::new();
    tree::many_files(&env, &env.path("tree"), 4000, "name");
    for size in ["8k", "24k"] {
        let _mount = match Mount::tmpfs(size, &env.path("small")) {
            Ok(mount) => mount,
            Err(reason) => return skip(test, &reason).unwrap_or_default(),
        };
        env.text("small/now.parquet", "what was there");
        let args = ["snapshot", "tree", "--memory", "96M", "-o", "small/now.parquet"];
        let full = env.transect(args).exits(2);
        assert!(full.stderr_text().contains("No space left"), "{}", full.text());
        assert_eq!(fs::read_to_string(env.path("small/now.parquet")).unwrap(), "what was there");
        assert_eq!(hidden(&env.path("small")), [""; 0]);
    }
}

#[test]
fn snapshot_in_bounded_memory_refuses_what_it_cannot_do() {
    let env = TestEnv::new();
    env.mkdir("tree/sub");
    for (more, word) in [
        (&["--memory", "95M"][..], "at least 96M are needed"),
        (&["--memory", "96M", "--glob", "*.c"], "cannot be used with '--glob <GLOB>'"),
        (&["--memory", "96M", "--exclude", "a/b"], "cannot exclude 'a/b'"),
        (&["--memory", "96M", "-E", "A", "--ignore-case"], "cannot be used with '--ignore-case'"),
        (&["--memory", "96M", "-t", "f"], "cannot be used with '--type <TYPE>'"),
        (&["--memory", "96M", "-L"], "cannot be used with '--follow'"),
        (&["--memory", "96M", "--since", "x"], "cannot be used with '--since <SNAPSHOT>'"),
        (&["--memory", "96M", "--newer", "2d"], "cannot be used with '--newer <TIME>'"),
        (&["--memory", "96M", "--reader", "ext4"], "--memory reads directories"),
        (&["--memory", "96M", "tree/sub"], "lies in"),
        (&["--memory", "96M", "-o", "-"], "cannot be used multiple times"),
    ] {
        let args = ["snapshot", "tree", "-o", "x.parquet"];
        let refused = env.transect(args.iter().chain(more)).exits(2);
        assert!(refused.stderr_text().contains(word), "{more:?}: {}", refused.text());
        assert!(refused.stdout.is_empty(), "{more:?}");
    }
    let to_stdout = env.transect(["snapshot", "tree", "--memory", "96M", "-o", "-"]).exits(2);
    assert!(to_stdout.stderr_text().contains("--memory needs a file"), "{}", to_stdout.text());
    let nowhere = env.transect(["snapshot", "tree", "--memory", "96M", "-o", "missing/x"]).exits(2);
    assert!(nowhere.stderr_text().contains("cannot create 'missing/"), "{}", nowhere.text());
    assert_eq!(hidden(&env.path(".")), [""; 0]);
}
