//! Runs the examples on a small tree.
#![cfg(feature = "filters")]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs;

use transect_testkit::TempDir;

#[path = "../examples/browse.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod browse;
#[path = "../examples/du.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod du;
#[path = "../examples/find.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod find;

fn tree() -> TempDir {
    let temp = TempDir::new();
    fs::create_dir_all(temp.join("src/deep")).unwrap();
    fs::create_dir_all(temp.join("build")).unwrap();
    fs::create_dir_all(temp.join(".git")).unwrap();
    for (path, text) in [
        ("src/a.rs", "12345"),
        ("src/deep/b.rs", "1"),
        ("build/c.rs", ""),
        (".gitignore", "build\n"),
    ] {
        fs::write(temp.join(path), text).unwrap();
    }
    temp
}

#[test]
fn du_prints_directories_and_root() {
    let temp = tree();
    let mut out = Vec::new();
    du::run([temp.path().as_os_str().to_owned()].into_iter(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 4, "{out}");
    assert!(lines[2].ends_with("src") && lines[3].ends_with(temp.path().to_str().unwrap()));
    let missing = [temp.join("missing").into_os_string()].into_iter();
    assert!(du::run(missing, &mut Vec::new()).is_err());
}

#[test]
fn du_file_with_two_names_counted_once() {
    let temp = tree();
    fs::write(temp.join("src/large"), [1; 100_000]).unwrap();
    fs::hard_link(temp.join("src/large"), temp.join("build/second-name")).unwrap();
    let mut out = Vec::new();
    du::run([temp.path().as_os_str().to_owned()].into_iter(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let number = |line: &str| line.split_whitespace().next().unwrap().parse::<u64>().unwrap();
    let usage: Vec<u64> = out.lines().map(number).collect();
    assert!(usage[3] >= usage[..3].iter().sum() && usage[3] < 200_000, "{out}");
}

#[test]
fn find_leaves_out_ignored_files() {
    let temp = tree();
    let mut out = Vec::new();
    let args = [temp.path().to_str().unwrap().to_owned(), "*.rs".to_owned()];
    find::run(args.into_iter(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("a.rs") && out.contains("b.rs") && !out.contains("c.rs"), "{out}");
    assert!(out.contains("          5 ") && out.ends_with("2 files\n"), "{out}");
}

#[test]
fn browse_goes_down_and_up() {
    let temp = tree();
    fs::write(temp.join("src/large"), [1; 100_000]).unwrap();
    let mut out = Vec::new();
    let input = "0\n99\n..\n..\nq\n";
    browse::run(temp.path().as_os_str().to_owned(), input.as_bytes(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let heads: Vec<&str> = out.lines().filter(|line| line.contains(" files, ")).collect();
    assert_eq!(heads.len(), 5, "{out}");
    assert!(heads[1].contains("src: 3 files"), "{out}");
    assert!(out.contains("'99' is not the number of a directory"), "{out}");
}
