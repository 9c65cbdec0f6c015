//! Runs the example on a small tree.
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs;

use transect_testkit::TempDir;

#[path = "../examples/resolve.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod resolve;

#[test]
fn resolve_prints_includes_in_search_order() {
    let temp = TempDir::new();
    for (path, text) in [
        ("main.c", "#include \"own.h\"\n # include <both.h>\n#include <missing.h>\n"),
        ("own.h", "#include \"both.h\"\n"),
        ("first/both.h", "int x;\n"),
        ("second/both.h", ""),
    ] {
        fs::create_dir_all(temp.join(path).parent().unwrap()).unwrap();
        fs::write(temp.join(path), text).unwrap();
    }
    let mut out = Vec::new();
    let args = ["main.c", "first", "second"].map(|path| temp.join(path));
    resolve::run(args.into_iter(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], temp.join("own.h").to_str().unwrap());
    assert_eq!(lines[1], temp.join("first/both.h").to_str().unwrap());
    assert_eq!(lines[2], "missing.h: not found");
    assert_eq!(lines.len(), 3, "{out}");
}
