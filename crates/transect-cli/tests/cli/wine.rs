//! The program for Windows under Wine, compared with the program for Linux: both read the same
//! trees, one of them through the drive `Z:`, which is `/`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use transect_testkit::{CROSS_COMPILER, WindowsProgram, on_drive, trees};

use crate::harness::{TestEnv, skip};

/// Returns the available readers, determined once: every start under Wine is slow.
fn readers(exe: &WindowsProgram) -> &'static [String] {
    static READERS: OnceLock<Vec<String>> = OnceLock::new();
    READERS.get_or_init(|| {
        // It looks for leftovers below the path. Other tests write to drive C:, but not there.
        let doctor = exe.json(["doctor", "--json", r"C:\windows\inf"]);
        let rows = doctor["readers"].as_array().expect("a list").iter();
        let available = rows.filter(|row| row["available"] == true);
        available.map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
    })
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
fn assert_same(env: &TestEnv, exe: &WindowsProgram, tree: &Path, keys: &[&str], options: &[&str]) {
    let root = tree.to_str().expect("a plain path");
    let drive = on_drive(tree);
    let here = env.transect(["--json", root].iter().chain(options)).exits(0).quiet().json();
    let here_counts = counts(&here, keys);
    let list = env.transect(["list", "-0", root].iter().chain(options)).exits(0).quiet();
    let mut here_paths: Vec<String> =
        listed(&list.stdout).iter().map(|path| on_drive(path.as_ref())).collect();
    here_paths.sort();
    let mut wrong = Vec::new();
    for reader in readers(exe) {
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
    let Some(exe) = WindowsProgram::find(test) else {
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
    let Some(exe) = WindowsProgram::find(test) else {
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
    let Some(exe) = WindowsProgram::find(test) else {
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

/// Wine gives the file system of `/`, which is drive Z:, a serial number, and all that it does not know as
/// a drive the same one. So the tree must be on that of `/`, which that of temporary files may not be.
#[test]
fn wine_link_to_other_volume_respects_one_file_system() {
    let test = "wine_link_to_other_volume_respects_one_file_system";
    let Some(exe) = WindowsProgram::find(test) else {
        return;
    };
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return transect_testkit::loudly_skip(test, "no /dev/shm here");
    }
    let device = |path: &Path| std::fs::metadata(path).map(|it| it.dev()).ok();
    let places = [std::env::temp_dir(), "/var/tmp".into(), env!("CARGO_TARGET_TMPDIR").into()];
    let Some(place) = places.iter().find(|it| device(it) == device(Path::new("/"))) else {
        return transect_testkit::loudly_skip(test, "no directory for temporary files on /");
    };
    let elsewhere = transect_testkit::TempDir::below(memory);
    std::fs::create_dir(elsewhere.join("below")).expect("a directory");
    std::fs::write(elsewhere.join("below/file"), "12345").expect("a file");
    let tree = transect_testkit::TempDir::below(place);
    std::fs::create_dir(tree.join("here")).expect("a directory");
    std::fs::write(tree.join("here/file"), "1").expect("a file");
    std::os::unix::fs::symlink(elsewhere.path(), tree.join("link")).expect("a symbolic link");
    let drive = on_drive(tree.path());
    for reader in readers(&exe) {
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

/// The contenders of Windows, with the programs that the cross compiler built from them.
struct CrossBuilt {
    /// A folder for `--contenders`: the shipped manifests, in which copying the programs takes the
    /// place of compiling them.
    contenders: PathBuf,
    /// The folder with the programs.
    programs: PathBuf,
}

impl CrossBuilt {
    /// Builds them as their manifests say.
    fn new(env: &TestEnv, names: &[&str]) -> Self {
        let (contenders, programs) = (env.mkdir("contenders"), env.mkdir("programs"));
        for name in names {
            let shipped =
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../transect-lab/contenders").join(name);
            let manifest = std::fs::read_to_string(shipped.join("contender.toml"));
            let manifest = manifest.expect("a contender that ships");
            let mut copies = Vec::new();
            for line in manifest.lines().filter(|line| line.contains("[\"gcc\", \"")) {
                let from = line.find("[\"gcc\"").expect("the command");
                let to = line.find(']').expect("its end") + 1;
                let words: Vec<String> =
                    serde_json::from_str(&line[from..to]).expect("a list of words");
                let out = words.iter().find_map(|word| word.strip_prefix("{out}/"));
                let program = out.expect("a program to build");
                let into = programs.to_str().expect("a plain path");
                let mut compiler = Command::new(CROSS_COMPILER);
                compiler.arg("-Werror").current_dir(&shipped);
                compiler.args(words[1..].iter().map(|word| word.replace("{out}", into)));
                assert!(compiler.status().expect("the compiler").success(), "{compiler:?}");
                let made = on_drive(&programs.join(program));
                copies.push(format!(r"['cmd', '/c', 'copy', '{made}', '{{out}}\{program}']"));
            }
            let (head, rest) = manifest.split_once("[[windows]]").expect("a toolchain");
            let (_, methods) = rest.split_once("[[method]]").expect("a method");
            let toolchain = format!("needs = ['cmd']\nbuild = [{}]", copies.join(", "));
            let copied = format!("{head}[[windows]]\n{toolchain}\n[[method]]{methods}");
            env.mkdir(format!("contenders/{name}"));
            std::fs::write(contenders.join(name).join("contender.toml"), copied)
                .expect("a new file");
        }
        Self { contenders, programs }
    }

    /// Runs one of the programs, and returns the line that it prints.
    #[track_caller]
    fn run(&self, exe: &WindowsProgram, program: &str, args: &[&str]) -> Value {
        exe.other(self.programs.join(program)).json(args)
    }
}

#[test]
fn wine_contenders_of_windows_do_equal_work() {
    let test = "wine_contenders_of_windows_do_equal_work";
    let Some(exe) = WindowsProgram::find(test) else { return };
    if Command::new(CROSS_COMPILER).arg("--version").output().is_err() {
        return skip(test, "no cross compiler for Windows").unwrap_or_default();
    }
    let env = TestEnv::new();
    let built = CrossBuilt::new(&env, &["c-win32", "c-win32-files"]);
    let tree = env.mkdir("tree");
    for (path, bytes) in [("a/é/deep/leaf", 5), ("a/empty", 0), ("b/c", 70_000), (".hidden", 1)] {
        let path = tree.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a new directory");
        std::fs::write(path, vec![b'x'; bytes]).expect("a new file");
    }
    let root = tree.to_str().expect("a plain path");
    let check = ["lab", "method", "portable/recursive", root, "1", "--check"];
    let expected = env.transect(check).exits(0).quiet().json();
    let drive = on_drive(&tree);
    for method in [
        "c-find-first-file",
        "c-find-first-file-ex-standard",
        "c-find-first-file-ex-basic-large",
        "c-file-attributes-ex",
        "c-runtime-findfirst",
        "c-nt-query",
    ] {
        let found = built.run(&exe, "check.exe", &[method, &drive, "1"]);
        for key in ["files", "directories", "bytes", "errors", "digest"] {
            assert_eq!(found[key], expected[key], "{method}: {key}");
        }
    }
    let (input, output) = (tree.join("b/c"), env.path("output"));
    let content = std::fs::read(&input).expect("a file of our own");
    for method in ["c-stdio", "c-mmap", "win32-read-write", "win32-overlapped"] {
        let files = [on_drive(&input), on_drive(&output)];
        let args = [method, &files[0], &files[1], "1000", "case", "inside", "sequential"];
        let line = built.run(&exe, "pass.exe", &args);
        assert_eq!(line["bytes"], 70_000, "{method}");
        let changed = std::fs::read(&output).expect("the output");
        assert_eq!(changed, content.to_ascii_uppercase(), "{method}");
        std::fs::remove_file(&output).expect("the output");
    }
}

/// A session of walks builds a contender of Windows, starts it without a shell, and proves its work.
#[test]
fn wine_session_ranks_contender_built_there() {
    let test = "wine_session_ranks_contender_built_there";
    let Some(exe) = WindowsProgram::find(test) else { return };
    if Command::new(CROSS_COMPILER).arg("--version").output().is_err() {
        return skip(test, "no cross compiler for Windows").unwrap_or_default();
    }
    let env = TestEnv::new();
    let built = CrossBuilt::new(&env, &["c-win32"]);
    let tree = env.mkdir("tree");
    std::fs::write(tree.join("file"), "12345").expect("a new file");
    let folder = |path: PathBuf| on_drive(&path);
    // Without a cache in the prefix of Wine.
    let set = format!(
        "set LOCALAPPDATA={}&& {} lab run enumerate --contenders {} --path {} --state as-is --rounds 1 \
         --no-calls --methods c-nt-query -o {}",
        folder(env.mkdir("cache")),
        on_drive(exe.path()),
        on_drive(&built.contenders),
        folder(tree),
        folder(env.path("session.jsonl")),
    );
    let report = exe.other("cmd").run(["/c", &set]);
    let report = String::from_utf8_lossy(&report);
    let row = report.lines().find(|line| line.starts_with("c-nt-query "));
    let row = row.unwrap_or_else(|| panic!("not ranked: {report}"));
    assert!(row.contains("(under Wine)"), "{report}");
    let proof = "Equal work: verified by a digest of all paths, types and lengths.";
    assert!(report.contains(proof), "{report}");
}
