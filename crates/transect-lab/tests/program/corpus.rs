//! Tests of `transect lab corpus create-file`.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::process::Signal;
use transect_testkit::wait_until;

use crate::harness::TestEnv;

fn create<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["corpus", "create-file"], more].concat()
}

#[test]
fn created_file_has_requested_size_and_content() {
    let env = TestEnv::new();
    let made = env.lab(create(&["--size", "300K", "file"])).exits(0).quiet().stdout_text();
    assert!(made.starts_with("file: 300 KiB, printable96, written and synced in "), "{made}");
    let content = fs::read(env.path("file")).unwrap();
    assert_eq!(content.len(), 300 << 10);
    assert_eq!((content[0], content[95], content[96], content[4096]), (b' ', 127, b' ', b' '));

    let random = ["--size", "1MiB", "--pattern", "random", "--seed", "7"];
    for name in ["one", "two"] {
        let made = env.lab(create(&[&random[..], &[name]].concat())).exits(0).quiet();
        assert!(made.stdout_text().contains("1.00 MiB, random from seed 7, written"));
    }
    assert_eq!(fs::read(env.path("one")).unwrap(), fs::read(env.path("two")).unwrap());

    let sparse = create(&["--size", "1G", "--pattern", "sparse", "hole"]);
    let made = env.lab(sparse).exits(0).quiet().stdout_text();
    assert!(made.starts_with("hole: 1.00 GiB (64.0 MiB of data), sparse from seed 1, "), "{made}");
    let occupied = fs::metadata(env.path("hole")).unwrap().blocks() * 512;
    assert!(occupied < 256 << 20, "{occupied} bytes are occupied");
}

#[test]
fn existing_file_kept_unless_force() {
    let env = TestEnv::new();
    env.text("file", "precious");
    let small = create(&["--size", "3", "file"]);
    let refused = env.lab(&small).exits(2).stderr_text();
    assert!(refused.contains("'file': it already exists"), "{refused}");
    assert_eq!(fs::read(env.path("file")).unwrap(), b"precious");
    let _ = env.lab([&small[..], &["--force"]].concat()).exits(0).quiet();
    assert_eq!(fs::read(env.path("file")).unwrap(), b" !\"");

    env.mkdir("folder");
    for (args, reason) in [
        (create(&["--size", "3", "folder", "--force"]), "it is a directory"),
        (create(&["--size", "3", "missing/file"]), "No such file or directory"),
        (create(&["--size", "3X", "new"]), "a size is a whole number of bytes"),
        (create(&["--size", "1G", "--pattern", "prose", "new"]), "printable96, random, sparse"),
        (create(&["--size", "20000000T", "new"]), "more bytes than can be counted"),
        (create(&["--size", "8000000T", "new"]), "no room for 'new'"),
        (create(&["new"]), "--size <SIZE>"),
    ] {
        let refused = env.lab(&args).exits(2).stderr_text();
        assert!(refused.contains(reason), "{args:?}: {refused}");
    }
    assert_eq!(fs::read_dir(env.path("")).unwrap().count(), 2);
}

#[test]
fn interrupted_creation_leaves_nothing() {
    let env = TestEnv::new();
    wait_until("a run that is interrupted", || {
        let running = env.start(create(&["--size", "2G", "--pattern", "random", "file"]));
        running.wait_until_handled();
        running.signal(Signal::INT);
        let output = running.finish();
        if output.code == Some(0) {
            // The program finished before the signal.
            fs::remove_file(env.path("file")).expect("a whole file");
            return false;
        }
        let _ = output.exits(130).quiet();
        true
    });
    assert_eq!(fs::read_dir(env.path("")).unwrap().count(), 0);
}
