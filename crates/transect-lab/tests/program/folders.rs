//! The directories of the programs, and which existing directories it rejects.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::harness::{TestEnv, skip, transect};

/// A user id without an account, and so without a home.
const UNKNOWN: u32 = 54_321;

/// Returns a command without the variables that set directories.
fn bare(env: &TestEnv, program: &Path) -> Command {
    let mut command = env.command(program);
    for variable in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] {
        command.env_remove(variable);
    }
    command
}

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_transect-lab"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Asserts that nothing is built, and returns the error message.
#[track_caller]
fn refusal(command: &mut Command) -> String {
    let output = command.arg("list").output().expect("a program that starts");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
    stderr(&output)
}

#[test]
fn cache_dir_without_home_rejected() {
    let env = TestEnv::new();
    env.write("file", 1);
    let expected = "transect-lab: no cache directory: neither XDG_CACHE_HOME nor HOME is an \
                    absolute path; set one of them\n";
    let relative = |program: &Path, variable: &str| {
        let mut command = bare(&env, program);
        command.env("HOME", "relative").env(variable, "relative");
        command
    };
    assert_eq!(refusal(&mut relative(program(), "XDG_CACHE_HOME")), expected);
    // A scan needs neither.
    let scan = relative(&transect(), "XDG_CONFIG_HOME").arg("file").output().unwrap();
    assert!(scan.status.success() && scan.stderr.is_empty(), "{}", stderr(&scan));
    assert!(!env.path("relative").exists());
    assert_eq!(fs::read_dir(env.temporary()).unwrap().count(), 0);
}

#[test]
fn cache_dir_of_user_without_home_not_shared() {
    let test = "cache_dir_of_user_without_home_not_shared";
    let env = TestEnv::new();
    if !env.is_root() {
        return skip(test, "only root can change its user").unwrap_or_default();
    }
    // Copied by another process: a file that a child process has open for writing cannot be
    // executed.
    let _ = env.sh(r#"cp "$LAB" transect-lab"#).exits(0);
    let copy = env.path("transect-lab");
    env.chmod(&copy, 0o755);
    let as_unknown = || {
        let mut command = bare(&env, &copy);
        command.uid(UNKNOWN).gid(UNKNOWN);
        command
    };
    match as_unknown().arg("--version").output() {
        Ok(output) if output.status.success() => {}
        _ => return skip(test, "others cannot run a program here").unwrap_or_default(),
    }
    let why = refusal(&mut as_unknown());
    assert!(why.starts_with("transect-lab: no cache directory: "), "{why}");
    assert_eq!(fs::read_dir(env.temporary()).unwrap().count(), 0);
}

#[test]
fn relative_xdg_dir_ignored() {
    let env = TestEnv::new();
    let home = env.mkdir("home");
    let mut command = bare(&env, program());
    command.env("HOME", &home).env("XDG_CACHE_HOME", "relative").arg("list");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!env.path("relative").exists());
    for made in ["home/.cache", "home/.cache/transect", "home/.cache/transect/contenders"] {
        let mode = env.path(made).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{made}");
    }
}

#[test]
fn planted_cache_dir_rejected() {
    let env = TestEnv::new();
    let in_cache = |cache: &str| {
        let mut command = bare(&env, program());
        command.env("XDG_CACHE_HOME", env.path(cache));
        command
    };
    // Both the program's own directory and the subdirectory with the contenders.
    for (kind, below) in [("own", ""), ("part", "/contenders")] {
        let folder = env.mkdir(format!("open-{kind}/transect{below}"));
        env.chmod(&folder, 0o775);
        let why = refusal(&mut in_cache(&format!("open-{kind}")));
        assert!(why.contains("other users can write to '"), "{why}");
        assert!(
            why.contains(&format!("transect{below}'; set XDG_CACHE_HOME to a directory")),
            "{why}"
        );

        let planted = env.mkdir(format!("elsewhere-{kind}"));
        let link = env.path(format!("link-{kind}/transect{below}"));
        env.mkdir(link.parent().unwrap());
        symlink(planted, link).unwrap();
        let why = refusal(&mut in_cache(&format!("link-{kind}")));
        assert!(why.contains("' is not a directory; set XDG_CACHE_HOME"), "{why}");
        assert_eq!(fs::read_dir(env.path(format!("elsewhere-{kind}"))).unwrap().count(), 0);
    }
    if !env.is_root() {
        return skip("planted_cache_dir_rejected", "only root can give a directory away")
            .unwrap_or_default();
    }
    for (kind, below) in [("own", ""), ("part", "/contenders")] {
        let folder = env.mkdir(format!("foreign-{kind}/transect{below}"));
        chown(folder, Some(UNKNOWN), None).unwrap();
        let why = refusal(&mut in_cache(&format!("foreign-{kind}")));
        assert!(why.contains("' belongs to another user; set XDG_CACHE_HOME"), "{why}");
    }
}

#[test]
fn profiles_writable_by_others_ignored() {
    let env = TestEnv::new();
    env.write("file", 1);
    let folder = env.mkdir("config/transect/profiles");
    let scan = || {
        let mut command = bare(&env, &transect());
        command.env("XDG_CONFIG_HOME", env.path("config")).arg("file");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        stderr(&output)
    };
    assert_eq!(scan(), "");
    env.chmod(&folder, 0o777);
    let hint = scan();
    assert!(hint.contains("ignores it: other users can write to '"), "{hint}");
}
