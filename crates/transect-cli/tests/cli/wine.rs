//! The program for Windows under Wine, compared with the program for Linux: both read the same
//! trees, one of them through the drive `Z:`, which is `/`.
//!
//! `TRANSECT_EXE` names the program, `TRANSECT_WINE` the command that runs it, such as `wine64`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use transect_testkit::trees;

use crate::harness::{TestEnv, skip};

const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;

/// The program for Windows.
struct Exe {
    program: OsString,
    wine: Vec<String>,
}

impl Exe {
    /// Returns the program; reports a skip if there is none.
    fn find(test: &str) -> Option<Self> {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let (Some(program), Some(wine)) = (set("TRANSECT_EXE"), set("TRANSECT_WINE")) else {
            return skip(test, "TRANSECT_EXE and TRANSECT_WINE are not set");
        };
        let wine = wine.to_str().expect("a command in plain words");
        Some(Self { program, wine: wine.split_whitespace().map(str::to_owned).collect() })
    }

    /// Runs the program to its end, and returns its output.
    #[track_caller]
    fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Vec<u8> {
        let (wine, words) = self.wine.split_first().expect("a command");
        let mut command = Command::new(wine);
        command.args(words).arg(&self.program).args(args).stdin(Stdio::null());
        let mut output = command.output().expect("Wine can be started");
        // Occasionally Wine 8 crashes while the threads of a program end (tools/windows), or its
        // server kills a client that it considers broken. A failure of the program itself is an
        // exception, never a signal.
        for _ in 0..3 {
            if matches!(output.status.signal(), Some(SIGKILL | SIGSEGV))
                || output.status.code() == Some(128 + SIGSEGV)
            {
                output = command.output().expect("Wine can be started");
            }
        }
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {}\n{complaints}", output.status);
        output.stdout
    }

    #[track_caller]
    fn json<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Value {
        serde_json::from_slice(&self.run(args)).expect("one JSON object")
    }

    /// Returns the available readers, determined once: every start under Wine is slow.
    fn readers(&self) -> &'static [String] {
        static READERS: OnceLock<Vec<String>> = OnceLock::new();
        READERS.get_or_init(|| {
            let doctor = self.json(["doctor", "--json", r"C:\"]);
            let rows = doctor["readers"].as_array().expect("a list").iter();
            let available = rows.filter(|row| row["available"] == true);
            available.map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
        })
    }
}

/// Returns a path as Wine spells it.
fn on_drive(path: &Path) -> String {
    format!("Z:{}", path.to_str().expect("a plain path").replace('/', r"\"))
}

/// Returns the counts that both systems agree on. (Directories have no size on Windows.)
fn counts(object: &Value, keys: &[&str]) -> Vec<(String, Value)> {
    assert_eq!(object["errors"], 0, "{object}");
    keys.iter().map(|&key| (key.to_owned(), object[key].clone())).collect()
}

/// Returns the listed paths, sorted.
fn listed(bytes: &[u8]) -> Vec<String> {
    let text = str::from_utf8(bytes).expect("names that are text");
    let mut paths: Vec<String> = text.split_terminator('\0').map(str::to_owned).collect();
    paths.sort();
    paths
}

/// Asserts that both programs find the same entries in a tree, with every reader under Wine.
fn assert_same(env: &TestEnv, exe: &Exe, tree: &Path, keys: &[&str], options: &[&str]) {
    let root = tree.to_str().expect("a plain path");
    let drive = on_drive(tree);
    let here = env.transect(["--json", root].iter().chain(options)).exits(0).quiet().json();
    let here_counts = counts(&here, keys);
    let list = env.transect(["list", "-0", root].iter().chain(options)).exits(0).quiet();
    let mut here_paths: Vec<String> =
        listed(&list.stdout).iter().map(|path| on_drive(path.as_ref())).collect();
    here_paths.sort();
    let mut wrong = Vec::new();
    for reader in exe.readers() {
        let reader = ["--reader", reader.as_str()];
        let scan = exe.json(["--json", &drive].iter().chain(options).chain(&reader));
        let list = exe.run(["list", "-0", &drive].iter().chain(options).chain(&reader));
        for ((key, here), (_, there)) in here_counts.iter().zip(counts(&scan, keys)) {
            if *here != there {
                wrong.push(format!("{}: {key} is {there} instead of {here}", reader[1]));
            }
        }
        let there_paths = listed(&list);
        if there_paths != here_paths {
            let missing: Vec<_> = here_paths.iter().filter(|p| !there_paths.contains(p)).collect();
            let further: Vec<_> = there_paths.iter().filter(|p| !here_paths.contains(p)).collect();
            wrong.push(format!("{}: missing {missing:?}, not expected {further:?}", reader[1]));
        }
    }
    assert!(wrong.is_empty(), "{root}:\n{}", wrong.join("\n"));
}

const SIZES: [&str; 7] =
    ["files", "directories", "symlinks", "others", "apparent_size", "allocated_size", "hard_links"];

/// Creates a tree without links, pipes, and names that Wine spells differently.
fn built(env: &TestEnv, name: &str) -> PathBuf {
    let build = trees::ALL.iter().find(|(tree, _)| *tree == name).expect("a tree of that name").1;
    // Some trees create names in their parent directory.
    let tree = env.mkdir(format!("{name}/tree"));
    build(&tree);
    for path in below(&tree) {
        let file_type = path.symlink_metadata().expect("an entry of our own tree").file_type();
        if !file_type.is_file() && !file_type.is_dir() {
            std::fs::remove_file(&path).expect("an entry of our own tree");
        }
    }
    tree
}

/// Returns the paths below a directory.
fn below(tree: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(tree).expect("a directory of our own tree") {
        let entry = entry.expect("an entry of our own tree");
        if entry.file_type().expect("its type").is_dir() {
            paths.extend(below(&entry.path()));
        }
        paths.push(entry.path());
    }
    paths
}

#[test]
fn wine_and_linux_agree_without_links() {
    let test = "wine_and_linux_agree_without_links";
    let Some(exe) = Exe::find(test) else {
        return;
    };
    let env = TestEnv::new();
    for name in ["basic", "wide", "deep", "many_small_dirs", "hardlinks"] {
        assert_same(&env, &exe, &built(&env, name), &SIZES, &[]);
    }
}

#[test]
fn wine_and_linux_agree_on_weird_names() {
    let test = "wine_and_linux_agree_on_weird_names";
    let Some(exe) = Exe::find(test) else {
        return;
    };
    let env = TestEnv::new();
    let tree = env.mkdir("tree");
    for bytes in trees::WEIRD_NAMES.iter().filter(|bytes| is_valid_on_windows(bytes)) {
        let name = OsStr::from_bytes(bytes);
        env.write(tree.join(name), bytes.len());
        let directory = env.mkdir(tree.join("directories").join(name));
        env.write(directory.join(name), bytes.len());
    }
    assert_same(&env, &exe, &tree, &SIZES, &[]);
}

/// Returns whether Windows allows such names. Wine shows others by generated short names.
fn is_valid_on_windows(name: &[u8]) -> bool {
    str::from_utf8(name).is_ok_and(|name| {
        !name.contains(['<', '>', ':', '"', '/', '\\', '|', '?', '*'])
            && !name.chars().any(|character| character < ' ')
            && !name.ends_with(['.', ' '])
    })
}

#[test]
fn wine_and_linux_agree_following_links() {
    let test = "wine_and_linux_agree_following_links";
    let Some(exe) = Exe::find(test) else {
        return;
    };
    let env = TestEnv::new();
    let tree = env.mkdir("tree");
    for directory in ["tree/real/below", "tree/other", "elsewhere/deeper"] {
        env.mkdir(directory);
    }
    for (file, bytes) in [
        ("tree/real/file", 100),
        ("tree/real/below/leaf", 5000),
        ("elsewhere/one", 1),
        ("elsewhere/deeper/two", 20_000),
    ] {
        env.write(file, bytes);
    }
    for (target, link) in [
        // Out of the tree, to a directory inside it, to its parent, and to files inside and
        // outside.
        ("../elsewhere", "tree/to_elsewhere"),
        ("../real", "tree/other/to_real"),
        ("..", "tree/real/below/up"),
        ("real/file", "tree/to_file"),
        ("../../elsewhere/one", "tree/other/to_one"),
    ] {
        std::os::unix::fs::symlink(target, env.path(link)).expect("a symbolic link");
    }
    assert_same(&env, &exe, &tree, &["files", "directories", "apparent_size"], &["--follow"]);
}

/// Wine gives each mounted file system its own serial number.
#[test]
fn wine_link_to_other_volume_respects_one_file_system() {
    let test = "wine_link_to_other_volume_respects_one_file_system";
    let Some(exe) = Exe::find(test) else {
        return;
    };
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return transect_testkit::loudly_skip(test, "no /dev/shm here");
    }
    let elsewhere = transect_testkit::TempDir::below(memory);
    std::fs::create_dir(elsewhere.join("below")).expect("a directory");
    std::fs::write(elsewhere.join("below/file"), "12345").expect("a file");
    let env = TestEnv::new();
    env.mkdir("tree/here");
    env.write("tree/here/file", 1);
    std::os::unix::fs::symlink(elsewhere.path(), env.path("tree/link")).expect("a symbolic link");
    let drive = on_drive(&env.path("tree"));
    for reader in exe.readers() {
        let scan = |options: &[&str]| {
            let scan = exe.json(["--json", &drive, "--reader", reader].iter().chain(options));
            let number = |key: &str| scan[key].as_u64().expect("a number");
            let skipped = scan["skipped"]["mount_boundary"].as_u64().unwrap_or(0);
            (number("files"), number("directories"), number("symlinks"), skipped)
        };
        assert_eq!(scan(&[]), (1, 2, 1, 0), "{reader}");
        assert_eq!(scan(&["--follow"]), (2, 4, 0, 0), "{reader}");
        assert_eq!(scan(&["--follow", "-x"]), (1, 3, 0, 1), "{reader}");
    }
}
