//! Commands that are programs of their own: which program is started, and with what.

use std::path::{Path, PathBuf};

use crate::harness::{Output, Running, TestEnv};

/// Copies the program to a directory of its own, and returns the copy.
fn copied(env: &TestEnv) -> PathBuf {
    env.mkdir("alone");
    // Copied by another process: a file that a child process has open for writing cannot be executed.
    let _ = env.sh(r#"cp "$TRANSECT" alone/transect"#).exits(0);
    env.path("alone/transect")
}

/// Writes a part that prints its place and its arguments, one a line, and ends with code 7.
fn part(env: &TestEnv, dir: &str) {
    env.mkdir(dir);
    let file = format!("{dir}/transect-lab");
    env.script(&file, "#!/bin/sh\nprintf '%s\\n' \"${0%/*}\" \"$@\"\nexit 7\n");
}

/// Runs `lab` with these arguments and directories of programs.
fn lab(env: &TestEnv, program: &Path, path: &str, args: &[&str]) -> Output {
    Running::start(env.command(program).env("PATH", path).arg("lab").args(args)).finish()
}

#[test]
fn part_gets_all_arguments_and_its_exit_code_is_kept() {
    let env = TestEnv::new();
    let program = copied(&env);
    part(&env, "alone");
    part(&env, "path");
    let path = format!("/usr/bin:/bin:{}", env.path("path").display());
    for args in [&[][..], &["--help"], &["-h"], &["run", "--", "-x", "--version", "two words", ""]]
    {
        let output = lab(&env, &program, &path, args).exits(7).quiet();
        let expected: Vec<String> = std::iter::once(env.path("alone").display().to_string())
            .chain(args.iter().map(|&arg| arg.to_owned()))
            .collect();
        assert_eq!(output.stdout_text(), expected.join("\n") + "\n", "beside, before PATH");
    }
}

#[test]
fn part_found_on_path_but_not_in_the_current_directory() {
    let env = TestEnv::new();
    let program = copied(&env);
    part(&env, "");
    part(&env, "relative");
    for path in ["", ".", "relative:.", "/usr/bin:/bin::relative"] {
        let refused = lab(&env, &program, path, &["list"]).exits(2);
        let why = "transect: 'transect-lab' is neither beside this program nor on PATH; in a \
                   checkout, `cargo build --release -p transect-lab` builds it\n";
        assert_eq!((refused.stdout_text(), refused.stderr_text()), (String::new(), why.to_owned()));
    }
    part(&env, "path");
    let place = env.path("path").display().to_string();
    let found = lab(&env, &program, &format!(".:relative:/usr/bin:/bin:{place}"), &[]).exits(7);
    assert_eq!(found.stdout_text(), format!("{place}\n"));
}
