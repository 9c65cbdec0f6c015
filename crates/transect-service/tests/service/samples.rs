//! The sample in C++: it speaks the protocol without the library.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::{Command, Stdio};

use transect_cache::Level;
use transect_testkit::{TempDir, loudly_skip};

use crate::support::Served;

#[test]
fn sample_mtimes_equals_system() {
    if Command::new("g++").arg("--version").output().is_err() {
        return loudly_skip("samples::sample_mtimes_equals_system", "there is no g++");
    }
    let (served, built) = (Served::new(Level::Checked), TempDir::new());
    let root = served.temp.path();
    let (mut paths, mut expected) = (Vec::new(), String::new());
    for directory in 0..3 {
        fs::create_dir(root.join(format!("d{directory}"))).unwrap();
        // More than one request has room for.
        for file in 0..2_000 {
            paths.push(root.join(format!("d{directory}/{file}")));
            File::create(&paths[paths.len() - 1]).unwrap();
        }
    }
    symlink("d1/7", root.join("link")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    paths.extend(
        ["link", "loop", "missing", "d1", "missing/below", "d1/7/below"]
            .map(|name| root.join(name)),
    );
    paths.push("/".into());
    for path in &paths {
        let mtime = File::open(path)
            .and_then(|file| file.metadata())
            .map(|found| found.mtime() * 1_000_000_000 + found.mtime_nsec());
        writeln!(expected, "{} {}", mtime.unwrap_or(0), path.display()).unwrap();
    }

    let (source, program) =
        (concat!(env!("CARGO_MANIFEST_DIR"), "/samples/mtimes.cpp"), built.join("mtimes"));
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++11", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(source);
    assert!(compiler.status().unwrap().success());
    let mut sample = Command::new(&program);
    sample.arg(served.socket()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = sample.spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    for path in &paths {
        writeln!(input, "{}", path.display()).unwrap();
    }
    drop(input);
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);

    let without_service =
        Command::new(&program).arg(root.join("no socket")).stdin(Stdio::null()).output();
    assert_eq!(without_service.unwrap().status.code(), Some(1));
}
