//! The samples that the library for Rust has as examples, too: both print the same for the same tree.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use transect_testkit::TempDir;

use crate::compiled::{build, program};
use crate::kit::{self, has, run};

#[path = "../../../transect/examples/du.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod du;
#[path = "../../../transect/examples/find.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod find;
#[path = "../../../transect-snapshot/examples/index.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod index;
#[path = "../../../transect-cache/examples/resolve.rs"]
#[expect(dead_code, reason = "the test calls `run`, not `main`")]
mod resolve;

/// Creates a tree with a file of two names, ignored files, a name with a newline and a nested directory.
fn tree() -> TempDir {
    let temp = TempDir::new();
    for (path, length) in [
        (".gitignore", 0),
        (".git/config", 3),
        ("build/out.o", 70_000),
        ("src/large.c", 100_000),
        ("src/deep/er/b.c", 1),
        ("two\nlines.c", 5),
    ] {
        fs::create_dir_all(temp.join(path).parent().unwrap()).unwrap();
        fs::write(temp.join(path), vec![b'x'; length]).unwrap();
    }
    fs::write(temp.join(".gitignore"), "build\n").unwrap();
    fs::hard_link(temp.join("src/large.c"), temp.join("second-name")).unwrap();
    temp
}

/// Returns what a sample prints for these arguments.
fn output(sample: &str, args: &[&str]) -> String {
    let temp = TempDir::new();
    let built = build("cc", "-std=c11", &format!("samples/{sample}.c"), temp.path());
    String::from_utf8(run(program(&built).args(args)).stdout).unwrap()
}

/// Returns the lines in an order that does not depend on the walk.
fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn du_prints_what_the_example_in_rust_prints() {
    if !has("du_prints_what_the_example_in_rust_prints", "cc") {
        return;
    }
    let tree = tree();
    let mut expected = Vec::new();
    du::run([OsString::from(tree.path())].into_iter(), &mut expected).unwrap();
    let printed = output("du", &[text(tree.path())]);
    assert_eq!(printed, String::from_utf8(expected).unwrap());
    let ends: Vec<&str> = printed.lines().map(|line| line.rsplit('/').next().unwrap()).collect();
    assert_eq!(ends[..3], [".git", "build", "src"], "{printed}");
}

#[test]
fn find_prints_what_the_example_in_rust_prints() {
    if !has("find_prints_what_the_example_in_rust_prints", "cc") {
        return;
    }
    let tree = tree();
    let args = [text(tree.path()), "*.c", "*.o"];
    let mut expected = Vec::new();
    find::run(args.map(str::to_owned).into_iter(), &mut expected).unwrap();
    let printed = output("find", &args);
    assert_eq!(sorted(&printed), sorted(std::str::from_utf8(&expected).unwrap()));
    assert!(printed.contains("          5 ") && printed.contains("/two\nlines.c\n"), "{printed}");
    assert!(!printed.contains("out.o") && printed.ends_with("\n3 files\n"), "{printed}");
}

#[test]
fn index_prints_what_the_example_in_rust_prints() {
    if !has("index_prints_what_the_example_in_rust_prints", "cc") {
        return;
    }
    let (tree, temp) = (tree(), TempDir::new());
    let built = build("cc", "-std=c11", "samples/index.c", temp.path());
    let files = [temp.join("of-c"), temp.join("of-rust")];
    let call = |file: &Path, root: &Path| {
        let output = run(program(&built).arg(file).arg(root));
        String::from_utf8(output.stdout).unwrap()
    };
    let expected = |file: &Path| {
        let mut expected = Vec::new();
        index::run(file, tree.path(), &mut expected).unwrap();
        String::from_utf8(expected).unwrap()
    };
    for round in 0..3 {
        // In the second round, each continues with the snapshot of the other.
        let [ours, theirs] = files.each_ref().map(|file| file.as_path());
        let (ours, theirs) = if round == 1 { (theirs, ours) } else { (ours, theirs) };
        let printed = call(ours, tree.path());
        assert_eq!(printed, expected(theirs));
        assert_eq!(printed.is_empty(), round == 1, "{printed}");
        if round == 1 {
            fs::write(tree.join("src/deep/er/b.c"), "longer").unwrap();
            fs::write(tree.join("new\nname"), "").unwrap();
            fs::remove_dir_all(tree.join("build")).unwrap();
        } else if round == 2 {
            assert_eq!(printed.lines().count(), 4, "{printed}");
        }
    }

    let failed = program(&built).arg(&files[0]).arg(tree.join("none")).output().unwrap();
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(!failed.status.success() && said.starts_with("index: cannot access '"), "{said}");
}

#[test]
fn resolve_prints_what_the_example_in_rust_prints() {
    if !has("resolve_prints_what_the_example_in_rust_prints", "cc") {
        return;
    }
    let temp = TempDir::new();
    let (project, system, _) = kit::project(temp.path());
    let args = [project.join("main.cpp"), project.join("include"), system];
    let mut expected = Vec::new();
    resolve::run(args.clone().into_iter(), &mut expected).unwrap();
    let printed = output("resolve", &args.each_ref().map(|path| text(path)));
    assert_eq!(sorted(&printed), sorted(std::str::from_utf8(&expected).unwrap()));
    assert_eq!(printed.lines().count(), 4, "{printed}");
}
