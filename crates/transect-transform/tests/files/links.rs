//! Links, and permissions of results.

use std::os::unix::fs::{PermissionsExt, symlink};

use transect_testkit::TempDir;
use transect_transform::Source;
use transect_transform::publish::Existing;

use crate::support::{Upper, copy, existing, in_place, message, names, run};

#[test]
fn target_other_name_of_input_rejected() {
    let temp = TempDir::new();
    let input = temp.join("input");
    std::fs::write(&input, "text").unwrap();
    std::fs::hard_link(&input, temp.join("hard")).unwrap();
    symlink("input", temp.join("soft")).unwrap();
    for target in ["hard", "soft"] {
        for how in [Existing::Keep, Existing::Replace] {
            let refused = message(run(&input, &temp.join(target), &mut Upper, existing(how)));
            assert!(refused.ends_with("it is the input itself"), "{refused}");
        }
        assert_eq!(std::fs::read(&input).unwrap(), b"text");
    }
    assert_eq!(names(temp.path()), ["hard", "input", "soft"]);
}

#[test]
fn hard_links_broken_only_on_request() {
    let temp = TempDir::new();
    let path = temp.join("file");
    std::fs::write(&path, "text").unwrap();
    std::fs::hard_link(&path, temp.join("name")).unwrap();
    let refused = message(in_place(&path, &mut Upper));
    assert!(refused.contains("it has 2 names (hard links)"), "{refused}");
    let options = existing(Existing::InPlace).break_links(true);
    run(&path, &path, &mut Upper, options).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"TEXT");
    assert_eq!(std::fs::read(temp.join("name")).unwrap(), b"text");
    assert_eq!(names(temp.path()), ["file", "name"]);
}

#[test]
fn symlink_kept_and_its_file_replaced() {
    let temp = TempDir::new();
    std::fs::create_dir(temp.join("folder")).unwrap();
    let file = temp.join("folder/file");
    std::fs::write(&file, "text").unwrap();
    symlink("folder/file", temp.join("one")).unwrap();
    symlink("one", temp.join("two")).unwrap();
    let report = in_place(&temp.join("two"), &mut Upper).unwrap();
    assert_eq!(report.published.unwrap().path, file);
    assert_eq!(std::fs::read(&file).unwrap(), b"TEXT");
    assert_eq!(std::fs::read_link(temp.join("two")).unwrap().to_str(), Some("one"));
    assert_eq!(names(temp.path()), ["folder", "one", "two"]);
    assert_eq!(names(&temp.join("folder")), ["file"]);
}

#[test]
fn dangling_symlink_target_rejected() {
    let temp = TempDir::new();
    std::fs::write(temp.join("input"), "text").unwrap();
    symlink("nowhere", temp.join("link")).unwrap();
    let refused = message(run(
        &temp.join("input"),
        &temp.join("link"),
        &mut Upper,
        existing(Existing::Replace),
    ));
    assert!(refused.ends_with("it is a dangling link"), "{refused}");
    assert_eq!(names(temp.path()), ["input", "link"]);
}

#[test]
fn devices_and_pipes_rejected() {
    let temp = TempDir::new();
    let (input, pipe) = (temp.join("input"), temp.join("pipe"));
    std::fs::write(&input, "text").unwrap();
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for (path, what) in
        [(pipe.as_path(), "a named pipe"), ("/dev/null".as_ref(), "a character device")]
    {
        let target = run(&input, path, &mut Upper, existing(Existing::Replace));
        assert!(message(target).ends_with(&format!("it is {what}")));
        assert!(message(copy(path, &temp.join("output"))).ends_with(&format!("it is {what}")));
    }
    assert_eq!(names(temp.path()), ["input", "pipe"]);
}

#[test]
fn permissions_of_replaced_file_or_input_kept() {
    let temp = TempDir::new();
    let mode =
        |name: &str| Source::open(temp.join(name)).unwrap().attributes().mode().unwrap() & 0o7777;
    for bits in [0o644, 0o600, 0o755, 0o4755, 0o400] {
        let file = temp.join("file");
        std::fs::write(&file, "text").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(bits)).unwrap();
        let report = in_place(&file, &mut Upper).unwrap();
        assert!(report.published.unwrap().lost_metadata.is_empty());
        assert_eq!(mode("file"), bits as u16);
        copy(&file, &temp.join("copy")).unwrap();
        // The umask is unknown, but takes nothing from the owner here. Set-user-ID is not copied to
        // a new file.
        assert_eq!(mode("copy") & 0o7700, bits as u16 & 0o700);
        std::fs::remove_file(temp.join("copy")).unwrap();
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn hard_links_unchanged_accepted() {
    let temp = TempDir::new();
    let path = temp.join("file");
    std::fs::write(&path, "TEXT").unwrap();
    std::fs::hard_link(&path, temp.join("other")).unwrap();
    let report = in_place(&path, &mut Upper).unwrap();
    assert!(!report.published.unwrap().written);
    assert_eq!(report.pass.changed, Some(false));
}
