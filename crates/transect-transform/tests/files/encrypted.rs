//! Encrypted files: a file that is not authentic to its end is not published.

use std::path::Path;

use transect_testkit::TempDir;
use transect_transform::chain::Chain;
use transect_transform::publish::{Existing, ReplaceOptions};
use transect_transform::step::Step;
use transect_transform::steps::create_key_file;

use crate::support::{existing, in_place, message, names, run, text};

/// Returns chains that encrypt and decrypt with a new key in a directory.
fn chains(temp: &TempDir) -> [Chain; 2] {
    let key = temp.join("key");
    create_key_file(&key).unwrap();
    ["encrypt", "decrypt"]
        .map(|step| Chain::parse(&[format!("{step}={}", key.to_str().unwrap())]).unwrap())
}

#[test]
fn decrypt_truncated_or_changed_not_published() {
    let temp = TempDir::new();
    let [mut encrypt, mut decrypt] = chains(&temp);
    let (input, sealed, target) = (temp.join("input"), temp.join("sealed"), temp.join("target"));
    let bytes = text(200_000);
    std::fs::write(&input, &bytes).unwrap();
    run(&input, &sealed, &mut encrypt, ReplaceOptions::default()).unwrap();
    run(&sealed, &target, &mut decrypt, ReplaceOptions::default()).unwrap();
    assert!(std::fs::read(&target).unwrap() == bytes);
    std::fs::write(&target, "old").unwrap();

    let mut error_of = |target: &Path, how| {
        decrypt.reset();
        message(run(&sealed, target, &mut decrypt, existing(how)))
    };
    let whole = std::fs::read(&sealed).unwrap();
    let chunk = 65536 + 16;
    let mut last_changed = whole.clone();
    *last_changed.last_mut().unwrap() ^= 1;
    for damaged in [&whole[..48 + chunk], &whole[..48 + 2 * chunk + 7], &last_changed] {
        std::fs::write(&sealed, damaged).unwrap();
        let why = error_of(&target, Existing::Replace);
        assert!(why.starts_with(&format!("cannot transform '{}'", sealed.display())), "{why}");
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
        assert_eq!(error_of(&temp.join("new"), Existing::Keep), why);
        assert_eq!(error_of(&sealed, Existing::InPlace), why);
        assert_eq!(std::fs::read(&sealed).unwrap(), *damaged);
    }
    assert_eq!(names(temp.path()), ["input", "key", "sealed", "target"]);
}

#[test]
fn encrypt_many_files_with_own_salts() {
    let temp = TempDir::new();
    let [mut encrypt, mut decrypt] = chains(&temp);
    let files = ["one", "two", "empty"].map(|name| temp.join(name));
    for file in &files {
        std::fs::write(file, if file.ends_with("empty") { "" } else { "the same" }).unwrap();
        encrypt.reset();
        in_place(file, &mut encrypt).unwrap();
    }
    let sealed = files.each_ref().map(|file| std::fs::read(file).unwrap());
    assert_ne!(sealed[0], sealed[1]);
    assert_ne!(sealed[1][..48], sealed[2][..48]);
    for file in &files {
        decrypt.reset();
        in_place(file, &mut decrypt).unwrap();
    }
    let opened = files.map(|file| std::fs::read(file).unwrap());
    assert_eq!(opened, [&b"the same"[..], b"the same", b""]);
}
