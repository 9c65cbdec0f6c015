//! What other users can plant where a command runs: programs and modules.

use std::fs;
use std::path::Path;

use crate::harness::TestEnv;

/// Plants programs and modules in the working directory; each that runs leaves a file `ran-NAME`.
fn plant(env: &TestEnv) {
    for name in ["duckdb", "python3", "sh", "xdg-open"] {
        env.text(name, &format!("#!/bin/sh\n>'{}'\n", env.path(format!("ran-{name}")).display()));
        env.chmod(&env.path(name), 0o755);
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
    let env = TestEnv::new();
    env.mkdir("tree");
    let _ = env.transect(["snapshot", "tree", "-o", "a.parquet"]).exits(0);
    let outside = env.path("../bin");
    fs::create_dir(&outside).unwrap();
    let python = env.sh("python3 -Ic 'import sys; print(sys.executable)'").exits(0).stdout_text();
    std::os::unix::fs::symlink(python.trim_end(), outside.join("python3")).unwrap();
    // A script that starts a program by its name.
    fs::write(outside.join("outer"), "#!/usr/bin/env sh\n").unwrap();
    env.chmod(&outside.join("outer"), 0o755);
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
    let env = TestEnv::new();
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
