//! Runs the example on a small tree.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs;

use transect_testkit::TempDir;

#[path = "../examples/index.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod index;

#[test]
fn index_prints_what_changed_since_the_last_call() {
    let temp = TempDir::new();
    let (tree, file) = (temp.join("tree"), temp.join("index.parquet"));
    for path in ["tree/kept", "tree/src/a.c", "tree/old/deep/gone"] {
        fs::create_dir_all(temp.join(path).parent().unwrap()).unwrap();
        fs::write(temp.join(path), "1").unwrap();
    }
    let call = || {
        let mut out = Vec::new();
        index::run(&file, &tree, &mut out).unwrap();
        String::from_utf8(out).unwrap().replace(tree.to_str().unwrap(), "").replace('\\', "/")
    };
    assert_eq!(call(), "7 entries\n");
    assert_eq!(call(), "");
    fs::write(tree.join("src/a.c"), "123").unwrap();
    fs::create_dir(tree.join("new")).unwrap();
    fs::write(tree.join("new/file"), "1").unwrap();
    fs::remove_dir_all(tree.join("old")).unwrap();
    assert_eq!(call(), "added /new\nremoved /old\nmodified /src/a.c\n");
    assert_eq!(call(), "");

    fs::rename(&tree, temp.join("elsewhere")).unwrap();
    assert!(index::run(&file, &tree, &mut Vec::new()).is_err());
}
