//! Permissions, metadata, and killed processes.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::XattrFlags;
use transect_testkit::{TempDir, loudly_skip};
use transect_transform::pass::IoMethod;
use transect_transform::publish::Existing;
use transect_transform::step::Step;
use transect_transform::{Source, transform};

use crate::support::{
    Meanwhile, Upper, copy, existing, in_place, message, names, passes, run, text, with_steps,
};

/// The unprivileged user.
const NOBODY: u32 = 65534;

/// Runs a test of this binary again as an unprivileged user, with an argument; or reports why that
/// is impossible.
pub(crate) fn as_nobody(test: &str, what: &Path) -> bool {
    if !rustix::process::geteuid().is_root() {
        loudly_skip(test, "only root can change its user");
        return false;
    }
    // An unprivileged user cannot read the build directory.
    let program = what.join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = Command::new(&program);
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(AT, what).current_dir("/").uid(NOBODY).gid(NOBODY);
    let output = loop {
        match command.output() {
            // A process that another test has started meanwhile still has it open for writing.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            output => break output.unwrap(),
        }
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{complained}");
    std::fs::remove_file(program).unwrap();
    true
}

/// The directory in which a process started by a test does its work.
pub(crate) const AT: &str = "TRANSECT_TEST_AT";

#[test]
fn read_only_directory_named_in_error() {
    if let Some(at) = std::env::var_os(AT) {
        let at = Path::new(&at);
        let file = at.join("closed/file");
        let refused = message(in_place(&file, &mut Upper));
        let expected = format!("cannot create '{}': Permission denied", file.display());
        assert_eq!(refused, expected);
        let target = at.join("closed/target");
        let refused = message(copy(&file, &target));
        assert_eq!(refused, format!("cannot create '{}': Permission denied", target.display()));
        return;
    }
    let temp = TempDir::new();
    std::fs::create_dir(temp.join("closed")).unwrap();
    std::fs::write(temp.join("closed/file"), "text").unwrap();
    std::fs::set_permissions(temp.path(), PermissionsExt::from_mode(0o755)).unwrap();
    if as_nobody("system::read_only_directory_named_in_error", temp.path()) {
        assert_eq!(names(&temp.join("closed")), ["file"]);
        assert_eq!(std::fs::read(temp.join("closed/file")).unwrap(), b"text");
    }
}

#[test]
fn lost_owner_clears_set_user_id() {
    if let Some(at) = std::env::var_os(AT) {
        let file = Path::new(&at).join("open/file");
        let published = in_place(&file, &mut Upper).unwrap().published.unwrap();
        let lost_metadata: Vec<_> = published
            .lost_metadata
            .iter()
            .map(|lost_metadata| lost_metadata.what.as_str())
            .collect();
        assert_eq!(lost_metadata, ["owner", "group"]);
        return;
    }
    let temp = TempDir::new();
    let file = temp.join("open/file");
    std::fs::create_dir(temp.join("open")).unwrap();
    std::fs::write(&file, "text").unwrap();
    for (path, mode) in [(temp.path(), 0o755), (&temp.join("open"), 0o777), (&file, 0o6755)] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    if as_nobody("system::lost_owner_clears_set_user_id", temp.path()) {
        let source = Source::open(&file).unwrap();
        assert_eq!(source.attributes().uid(), Some(NOBODY));
        assert_eq!(source.attributes().mode().unwrap() & 0o7777, 0o755);
        assert_eq!(std::fs::read(&file).unwrap(), b"TEXT");
    }
}

#[test]
fn owner_and_set_user_id_kept_with_privilege() {
    let temp = TempDir::new();
    let file = temp.join("file");
    std::fs::write(&file, "text").unwrap();
    if chown(&file, Some(NOBODY), Some(NOBODY)).is_err() {
        return loudly_skip(
            "owner_and_set_user_id_kept_with_privilege",
            "only root gives files away",
        );
    }
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o6751)).unwrap();
    let published = in_place(&file, &mut Upper).unwrap().published.unwrap();
    assert!(published.lost_metadata.is_empty(), "{:?}", published.lost_metadata);
    let attributes = *Source::open(&file).unwrap().attributes();
    assert_eq!((attributes.uid(), attributes.gid()), (Some(NOBODY), Some(NOBODY)));
    assert_eq!(attributes.mode().unwrap() & 0o7777, 0o6751);
}

#[test]
fn extended_attributes_and_acls_kept() {
    let temp = TempDir::new();
    let file = temp.join("file");
    std::fs::write(&file, "text").unwrap();
    // Version 2; owner rw, user 1000 r, group r, mask r, others nothing.
    let entry = |tag: u16, bits: u16, id: u32| {
        [&tag.to_le_bytes()[..], &bits.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let any = u32::MAX;
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, bits, id) in [(1, 6, any), (2, 4, 1000), (4, 4, any), (0x10, 4, any), (0x20, 0, any)]
    {
        list.extend(entry(tag, bits, id));
    }
    let set =
        |name: &str, value: &[u8]| rustix::fs::setxattr(&file, name, value, XattrFlags::empty());
    let large = vec![b'v'; 3000];
    if set("user.large", &large).is_err() || set("system.posix_acl_access", &list).is_err() {
        return loudly_skip("extended_attributes_and_acls_kept", "this file system has none");
    }
    let get = |name: &str| {
        let mut value = vec![0; 1 << 16];
        let length = rustix::fs::getxattr(&file, name, value.as_mut_slice());
        length.map(|length| value[..length].to_vec())
    };
    let published = in_place(&file, &mut Upper).unwrap().published.unwrap();
    assert!(published.lost_metadata.is_empty(), "{:?}", published.lost_metadata);
    assert_eq!(std::fs::read(&file).unwrap(), b"TEXT");
    assert_eq!(get("user.large").unwrap(), large);
    assert_eq!(get("system.posix_acl_access").unwrap(), list);

    // A default ACL of the directory is not applied to a file that had no ACL.
    let directory = temp.join("folder");
    std::fs::create_dir(&directory).unwrap();
    rustix::fs::setxattr(&directory, "system.posix_acl_default", &list, XattrFlags::empty())
        .unwrap();
    let plain = directory.join("plain");
    std::fs::write(&plain, "text").unwrap();
    rustix::fs::removexattr(&plain, "system.posix_acl_access").unwrap();
    std::fs::set_permissions(&plain, PermissionsExt::from_mode(0o640)).unwrap();
    in_place(&plain, &mut Upper).unwrap();
    let mut value = [0; 64];
    let none = rustix::fs::getxattr(&plain, "system.posix_acl_access", value.as_mut_slice());
    assert_eq!(none, Err(rustix::io::Errno::NODATA));
    assert_eq!(Source::open(&plain).unwrap().attributes().mode().unwrap() & 0o777, 0o640);
}

#[test]
fn killed_process_leaves_old_file_and_second_run_works() {
    const TEST: &str = "system::killed_process_leaves_old_file_and_second_run_works";
    if let Some(at) = std::env::var_os(AT) {
        let at = Path::new(&at);
        let mut blocks = 0;
        // Reports that half is written, and waits to be killed.
        let mut step = Meanwhile(move || {
            blocks += 1;
            if blocks == 50 {
                println!("half");
                loop {
                    std::thread::park();
                }
            }
        });
        let method = std::env::var("TRANSECT_TEST_METHOD").unwrap();
        let method = IoMethod::ALL.iter().copied().find(|known| known.as_str() == method);
        let (input, target) = (at.join("input"), at.join("target"));
        let options = existing(Existing::Replace);
        let step: Option<&mut dyn Step> = Some(&mut step);
        let _ = transform(&input, Some(&target), step, &mut passes(method, Some(4096)), options);
        return;
    }
    for (method, there) in with_steps().into_iter().flat_map(|m| [(m, true), (m, false)]) {
        let temp = TempDir::new();
        let (input, target) = (temp.join("input"), temp.join("target"));
        let bytes = text(400_000);
        std::fs::write(&input, &bytes).unwrap();
        if there {
            std::fs::write(&target, "old").unwrap();
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([TEST, "--exact", "--nocapture", "--test-threads=1"])
            .env(AT, temp.path())
            .env("TRANSECT_TEST_METHOD", method.as_str())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = std::io::BufReader::new(child.stdout.take().unwrap());
        let half = std::io::BufRead::lines(said).any(|line| line.unwrap().ends_with("half"));
        assert!(half, "the other process ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        let left = names(temp.path());
        if there {
            assert_eq!(std::fs::read(&target).unwrap(), b"old");
            assert_eq!(left.len(), 3, "{left:?}");
            assert!(left[0].starts_with(".target.") && left[0].ends_with(".transect"), "{left:?}");
        } else {
            // An unnamed file is gone, where there are such files.
            assert!(!target.exists() && left.len() <= 2, "{left:?}");
        }
        run(&input, &target, &mut Upper, existing(Existing::Replace)).unwrap();
        assert!(std::fs::read(&target).unwrap() == bytes.to_ascii_uppercase());
    }
}

#[test]
fn leftover_of_same_process_id_not_in_the_way() {
    let temp = TempDir::new();
    let file = temp.join("file");
    std::fs::write(&file, "text").unwrap();
    for number in 0..2000 {
        let name = format!(".file.{}.{number}.transect", std::process::id());
        std::fs::write(temp.join(name), "left behind").unwrap();
    }
    in_place(&file, &mut Upper).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"TEXT");
    assert_eq!(names(temp.path()).len(), 2001);
}
