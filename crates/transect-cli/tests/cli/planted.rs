//! What other users can plant where a command runs: programs and modules, files that never end, and links.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use transect_sys::host::now;
use transect_testkit::wait_until;

use crate::harness::{Output, TestEnv, skip};
use crate::tree::mkfifo;

/// Plants programs and modules in the working directory; each that runs leaves a file `ran-NAME`.
fn plant(env: &TestEnv) {
    for name in ["duckdb", "python3", "sh", "xdg-open"] {
        let ran = env.path(format!("ran-{name}"));
        env.script(name, &format!("#!/bin/sh\n>'{}'\n", ran.display()));
    }
    for name in ["duckdb", "json", "csv", "os", "site", "sitecustomize", "usercustomize"] {
        let ran = env.path(format!("ran-{name}.py"));
        env.text(format!("{name}.py"), &format!("open({ran:?}, 'w')\nraise SystemExit(0)\n"));
    }
}

fn ran(env: &TestEnv) -> String {
    env.sh("/bin/ls | /bin/grep ^ran- || :").stdout_text()
}

#[test]
fn planted_programs_and_modules_do_not_run() {
    let test = "planted_programs_and_modules_do_not_run";
    let env = TestEnv::new();
    if !env.has("python3") {
        return skip(test, "there is no python3").unwrap_or_default();
    }
    env.mkdir("tree");
    let _ = env.transect(["snapshot", "tree", "-o", "a.parquet"]).exits(0);
    let outside = env.path("../bin");
    fs::create_dir(&outside).unwrap();
    let python = env.sh("python3 -Ic 'import sys; print(sys.executable)'").exits(0).stdout_text();
    std::os::unix::fs::symlink(python.trim_end(), outside.join("python3")).unwrap();
    // A script that starts a program by its name.
    env.script("../bin/outer", "#!/usr/bin/env sh\n");
    plant(&env);
    let outside = outside.display();
    for path in [
        format!(":{outside}"),
        format!(".:{outside}:"),
        format!("../work:{outside}"),
        String::new(),
    ] {
        for modules in ["", ":", ".:", "../work"] {
            let script = format!(
                r#"PATH='{path}' PYTHONPATH='{modules}' "$TRANSECT" query 'SELECT 1' a.parquet"#
            );
            let _ = env.sh(&script);
            assert_eq!(ran(&env), "", "{script}");
        }
        let script = format!(r#"PATH='{path}' "$TRANSECT" list tree -x outer"#);
        let _ = env.sh(&script);
        assert_eq!(ran(&env), "", "{script}");
    }
}

#[test]
fn planted_modules_do_not_hide_module_of_the_user_is_found() {
    let test = "planted_modules_do_not_hide_module_of_the_user_is_found";
    let env = TestEnv::new();
    if !env.has("python3") {
        return skip(test, "there is no python3").unwrap_or_default();
    }
    env.mkdir("tree");
    let _ = env.transect(["snapshot", "tree", "-o", "a.parquet"]).exits(0);
    let home = env.path("").with_file_name("home").display().to_string();
    let module = "import os\n__version__ = '2.0.0'\nprint('from', os.path.dirname(__file__), flush=True)\nos._exit(0)\n";
    let _ = env.sh("mkdir ../home").exits(0);
    let site = env
        .sh(&format!("HOME='{home}' python3 -c 'import site; print(site.getusersitepackages())'"))
        .exits(0)
        .stdout_text();
    for folder in [site.trim_end().to_owned(), format!("{home}/modules")] {
        fs::create_dir_all(&folder).unwrap();
        fs::write(Path::new(&folder).join("duckdb.py"), module).unwrap();
        let query = r#""$TRANSECT" query 'SELECT 1' a.parquet"#;
        let answer = env.sh(&format!("export HOME='{home}' PYTHONPATH='{home}/modules'; {query}"));
        assert_eq!(answer.exits(0).stdout_text().trim_end(), format!("from {folder}"));
    }
}

/// A kind of file that is not a regular one.
type Kind = (char, fn(&TestEnv, &Path));

const KINDS: [Kind; 6] = [
    ('p', |env, at| mkfifo(env, at)),
    ('s', |_, at| drop(UnixListener::bind(at).expect("a socket"))),
    ('c', |_, at| symlink("/dev/zero", at).expect("a link")),
    // A device without a driver: nothing is written to it.
    ('b', |env, at| drop(env.sh(&format!("mknod '{}' b 240 0", at.display())))),
    ('d', |_, at| fs::create_dir(at).expect("a directory")),
    ('l', |_, at| symlink("nowhere", at).expect("a link")),
];

/// Commands for which `planted` is such a file. Each fails and names it, except for the kinds in the second column.
/// `all`: commands that show, count or skip files of every kind.
const CASES: &[(&str, &str)] = &[
    // Trees.
    ("$T scan planted", "all"),
    ("$T usage planted", "all"),
    ("$T usage --shared planted", "all"),
    ("$T list planted", "all"),
    ("$T list --reader portable planted", "all"),
    ("$T map --html o.html planted", "all"),
    ("$T snapshot planted -o o.parquet", "all"),
    ("$T snapshot --memory 96M planted -o o.parquet", "all"),
    ("$T duplicates planted", "all"),
    ("$T duplicates tree --prefer planted", "all"),
    ("$T duplicates tree --digests planted", ""),
    ("$T reclaim planted", "all"),
    ("$T doctor planted", "all"),
    ("$T attributes planted", "all"),
    ("$T cache status planted", "all"),
    ("$T cache drop planted", "all"),
    ("$T keep planted", "all"),
    ("$T changes planted", "all"),
    ("$T history planted", "all"),
    ("$T find --in planted x", "all"),
    ("[ -d planted ] || $T watch planted", "d"),
    ("$T diff planted tree", "all"),
    ("$T diff tree planted", "all"),
    ("$T task --first planted", "all"),
    ("$T transform blake3 planted", "all"),
    ("$T transform trim planted --check", "all"),
    ("mv planted tree/.gitignore; $T list --gitignore tree", "all"),
    // Snapshots, parts, exports, lists.
    ("$T snapshot --since planted tree -o o.parquet", ""),
    ("$T query --print 'SELECT 1' planted", ""),
    ("$T commit planted -o o.parquet", ""),
    ("mv planted parts/part-planted.parquet; $T commit parts -o o.parquet", ""),
    ("mkdir new; mv planted new/part-planted.parquet; $T task --in task.json --out new", ""),
    ("$T task --in planted --out o", ""),
    ("$T usage --import-ncdu planted", ""),
    ("$T attributes --from planted", ""),
    ("$T verify planted", ""),
    ("sed 's/file/planted/' list >l; $T verify l", ""),
    // Files.
    ("$T transform trim file -i --journal planted", ""),
    // Outputs. Devices are written to.
    ("$T snapshot tree -o planted", "c"),
    ("$T map --html planted tree", "c"),
    ("$T usage -o planted tree", "c"),
    ("$T keep tree && $T history --html planted tree", "c"),
    ("$T commit parts -o planted", "c"),
    ("$T task --in task.json --out planted", "d"),
    ("$T transform trim file -o planted", "d"),
    ("$T man -o planted", "d"),
    // The service.
    ("$T attributes --socket=planted file", "all"),
    ("$T live --idle 1s --socket planted", "s"),
    ("mv planted planted.lock; $T live --idle 1s --socket planted", ""),
    // The lab.
    ("$T lab report planted", ""),
    ("$T lab explain planted", ""),
    ("$T lab compare planted planted", ""),
    ("$T lab run enumerate --resume planted", ""),
    ("$T lab run attributes --task build --files-from planted -o l", ""),
    ("$T lab list --contenders planted", "all"),
    ("mkdir -p c/x; mv planted c/x/contender.toml; $T lab list --contenders c", "all"),
    ("$T lab corpus create tiny planted", "d"),
    // The program's own files.
    (
        "$T keep tree; s=$(echo $XDG_DATA_HOME/transect/series/*/*); rm $s/lock; mv planted $s/lock; $T keep tree",
        "all",
    ),
    (
        "$T keep tree; f=$(echo $XDG_DATA_HOME/transect/series/*/*/*.parquet); rm $f; mv planted $f; \
         $T changes tree; $T history tree; $T find x; $T keep tree",
        "all",
    ),
];

/// Runs a script, of which each program ends within a minute even on a busy machine.
fn run(env: &TestEnv, script: &str) -> Output {
    env.sh(&format!("T=\"timeout -k 5 60 $TRANSECT\"; {script}"))
}

/// An environment with a tree, a file and what some commands need.
fn prepared() -> TestEnv {
    let env = TestEnv::new();
    env.mkdir("tree");
    env.text("tree/one", "text");
    env.text("file", "text\n");
    let made = "$T transform blake3 file >list && \
                $T task --first tree >task.json && $T task --in task.json --out parts";
    let _ = run(&env, made).exits(0);
    env
}

#[test]
fn planted_pipes_devices_and_links_end_every_command() {
    let mut wrong = Vec::new();
    for (kind, plant) in KINDS {
        for &(script, accepted) in CASES {
            let env = prepared();
            plant(&env, &env.path("planted"));
            if fs::symlink_metadata(env.path("planted")).is_err() {
                skip::<()>("planted_pipes_devices_and_links_end_every_command", "no block device");
                break;
            }
            let ended = run(&env, script);
            let code = ended.code.unwrap_or(-1);
            let is_over = (0..=2).contains(&code);
            let names = ["planted", "/dev/zero"].iter().any(|it| ended.stderr_text().contains(it));
            let fails = code != 0 && names;
            let may_succeed = accepted == "all" || accepted.contains(kind);
            if !is_over || !may_succeed && !fails {
                wrong.push(format!("{kind}: {script}\n{}", ended.text()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// What the shell has opened is read and written as before.
#[test]
fn planted_checks_accept_pipes_of_the_shell() {
    let env = prepared();
    let _ = env.transect(["usage", "-o", "export", "tree"]).exits(0);
    for script in [
        "$T attributes --from <(echo file)",
        "echo file | $T attributes --from /dev/stdin",
        "$T attributes --from /dev/null",
        "$T verify <(cat list)",
        "cat list | $T verify /dev/stdin",
        "$T verify /dev/fd/3 3<list",
        "$T usage --import-ncdu <(cat export)",
        "$T task --in <(cat task.json) --out again",
        "$T usage -o /dev/null tree",
        "$T usage -o /dev/stdout tree | grep -q transect",
        "$T usage -o >(cat >copied) tree && until grep -q one copied; do sleep 0.01; done",
        "mkfifo named; cat named >read & $T usage -o named tree && wait && grep -q one read",
    ] {
        let mut bash = env.command("bash");
        bash.args(["-c", &format!("set -o pipefail; T=$TRANSECT; {script}")]);
        let _ = crate::harness::Running::start(&mut bash).finish().exits(0);
    }
}

/// Commands that write to `$P`, the path of a new or existing output.
const OUTPUTS: &[&str] = &[
    "$T snapshot tree -o $P",
    "$T snapshot --memory 96M tree -o $P",
    "$T map --html $P tree",
    "$T usage -o $P tree",
    "$T keep tree && $T history --html $P tree",
    "$T duplicates tree --digests $P",
    "$T commit parts -o $P",
    "$T transform trim file --force -o $P",
    "$T transform trim --force -o $P <file",
    "$T transform trim file -i --journal $P",
    "$T task --in task.json --out $P",
    "$T man -o $P",
    "$T lab corpus create tiny $P",
];

/// Everything in a directory, with contents.
fn contents(env: &TestEnv, path: &str) -> String {
    env.sh(&format!("cd {path} && find . | sort && cat victim")).exits(0).stdout_text()
}

#[test]
fn planted_links_of_other_users_are_not_followed_by_outputs() {
    const NOBODY: u32 = 65534;
    let test = "planted_links_of_other_users_are_not_followed_by_outputs";
    for &script in OUTPUTS {
        // The end of the path, and what stands there.
        for (path, kind) in [
            ("shared/out", "link"),
            ("shared/out", "new"),
            ("shared/out/new", "directory"),
            ("shared/out", "file"),
        ] {
            let env = prepared();
            if !env.is_root() {
                return skip(test, "needs root, to make files of another user").unwrap_or_default();
            }
            env.mkdir("private");
            env.text("private/victim", "precious");
            env.mkdir("shared");
            env.chmod(&env.path("shared"), 0o1777);
            let out = env.path("shared/out");
            match kind {
                "link" => symlink("../private/victim", &out).unwrap(),
                "new" => symlink("../private/new", &out).unwrap(),
                "directory" => symlink("../private", &out).unwrap(),
                _ => fs::write(&out, "theirs").unwrap(),
            }
            lchown(&out, Some(NOBODY), Some(NOBODY)).unwrap();
            let before = contents(&env, "private");
            let ended = run(&env, &format!("P={path}; {script}"));
            let what = format!("{kind}: {script}\n{}", ended.text());
            assert!(matches!(ended.code, Some(1 | 2)), "{what}");
            assert_eq!(contents(&env, "private"), before, "{what}");
            if kind == "file" {
                assert_eq!(fs::read_to_string(&out).unwrap(), "theirs", "{what}");
            } else {
                let reasons = ["belongs to another user", "--memory needs a file"];
                let is_refused = reasons.iter().any(|it| ended.stderr_text().contains(it));
                assert!(is_refused, "{what}");
            }
            // The same link of our own is followed, or at least not refused for its owner.
            lchown(&out, Some(0), Some(0)).unwrap();
            let own = run(&env, &format!("P={path}; {script}"));
            assert!(
                !own.stderr_text().contains("another user"),
                "{kind}: {script}\n{}",
                own.text()
            );
        }
    }
}

#[test]
fn planted_umask_does_not_open_kept_snapshots() {
    let env = TestEnv::new();
    env.mkdir("tree");
    let _ = env.sh("umask 0; \"$TRANSECT\" keep tree").exits(0);
    let files = env.sh("find $XDG_DATA_HOME/transect/series").exits(0).stdout_text();
    assert!(files.lines().count() >= 4, "{files}");
    for file in files.lines() {
        let mode = fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file}: {mode:o}");
    }
}

#[test]
fn planted_file_size_limit_leaves_no_temporary_file() {
    let env = TestEnv::new();
    env.mkdir("tree");
    for number in 0..2000 {
        fs::write(env.path(format!("tree/a file with a long name {number}")), "").unwrap();
    }
    env.write("data", 1 << 20);
    env.mkdir("copies");
    for number in 0..200 {
        env.text(format!("copies/{number}"), "text");
    }
    wait_until("the copies are older than two seconds", || {
        let changed = fs::metadata(env.path("copies/199")).expect("a file").ctime();
        now() > (changed + 3) * 1_000_000_000
    });
    let before = env.sh("ls -A").stdout_text();
    for script in [
        "snapshot tree -o out",
        "snapshot --memory 96M tree -o out",
        "map --html out tree",
        "usage -o out tree",
        "duplicates --digests out copies",
        "transform copy data -o out",
    ] {
        let ended = env.sh(&format!("ulimit -f 8; \"$TRANSECT\" {script}"));
        assert!(matches!(ended.code, Some(1 | 2)), "{}", ended.text());
        assert!(ended.stderr_text().contains("File too large"), "{}", ended.text());
        assert_eq!(env.sh("ls -A").stdout_text(), before, "{script}");
    }
    // What it starts has the default again.
    let ended = env.sh(
        "ulimit -f 8; \"$TRANSECT\" list tree -g '* 7' -x sh -c 'head -c 99999 /dev/zero >big'",
    );
    assert!(env.path("big").metadata().unwrap().size() <= 8192, "{}", ended.text());
    assert!(env.sh("ls -A").stdout_text().contains("big"));
}
