//! Mounted volumes of Windows under Wine: `\\.\X:` is an image with NTFS, and the drive `X:` is where Linux has it
//! mounted. Windows itself was never tried.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde_json::Value;
use transect_testkit::{NtfsMount, WindowsProgram, loudly_skip};

use crate::harness::TestEnv;
use crate::journal;

/// Writes to the top of a volume the number by which Wine identifies it: that in its boot sector.
fn write_serial(image: &Path, top: &Path) {
    let mut serial = [0; 4];
    File::open(image).unwrap().read_exact_at(&mut serial, 0x48).unwrap();
    let serial = u32::from_le_bytes(serial);
    fs::write(top.join(".windows-serial"), format!("{serial:08X}\n")).unwrap();
}

/// Creates what Wine shows as it is: neither links nor pipes.
fn fill(root: &Path) {
    fs::create_dir_all(root.join("Über/Deep/deeper")).unwrap();
    let named = root.join("Über/Deep/named");
    fs::write(&named, "content").unwrap();
    for number in 0..40 {
        fs::hard_link(&named, root.join(format!("Über/Deep/deeper/name {number}"))).unwrap();
    }
    for number in 0..300 {
        let directory = root.join(format!("group {}", number % 7));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("file {number}")), vec![b'x'; number * 40]).unwrap();
    }
}

/// Returns what `list --json` printed, by the paths below a root.
fn rows(printed: &[u8], root: &str) -> BTreeMap<String, Value> {
    let mut rows = BTreeMap::new();
    for line in str::from_utf8(printed).unwrap().lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let Some(path) = row.as_object_mut().unwrap().remove("path") else { continue };
        let below = path.as_str().unwrap().strip_prefix(root).unwrap().replace('\\', "/");
        rows.insert(below.trim_start_matches('/').to_owned(), row);
    }
    rows
}

#[test]
fn wine_mounted_ntfs_tables_same_as_image_and_walk() {
    let test = "wine_mounted_ntfs_tables_same_as_image_and_walk";
    let Some(exe) = WindowsProgram::find(test) else { return };
    let env = TestEnv::new();
    let (image, at) = (env.path("disk.img"), env.path("mounted"));
    let mounted = NtfsMount::make(&image, 32 << 20, &[]).and_then(|()| {
        let mount = NtfsMount::new(&image, "", &at)?;
        fill(&at);
        write_serial(&image, &at);
        drop(mount);
        // Read only, so that the image does not change.
        NtfsMount::new(&image, "ro", &at)
    });
    let _mounted = match mounted {
        Ok(mounted) => mounted,
        Err(reason) => return loudly_skip(test, reason),
    };
    let exe = exe.with_drives(&env.path("prefix"), &[("x:", &at), ("x::", &image)]);

    let all = ["list", "--json", "--columns", "path,type,size,allocated,mtime,ctime,nlink,inode"];
    let here = env.transect(all.iter().chain(&["disk.img"])).exits(0).quiet();
    let expected = rows(&here.stdout, "disk.img");
    assert!(expected.len() > 310, "{}", expected.len());
    let found = rows(&exe.run(all.iter().chain(&[r"\\.\X:"])), r"\\.\X:");
    assert_eq!(found, expected, "the device");
    let tables = ["--reader", "ntfs"];
    let found = rows(&exe.run(all.iter().chain(&tables).chain(&[r"X:\"])), r"X:\");
    assert_eq!(found, expected, "the top of the drive");
    let found = exe.run(all.iter().chain(&["--reader", "volume", r"x:\über\DEEP"]));
    let below: BTreeMap<_, _> = expected
        .iter()
        .filter_map(|(path, row)| Some((path.strip_prefix("Über/Deep")?, row)))
        .map(|(path, row)| (path.trim_start_matches('/').to_owned(), row.clone()))
        .collect();
    assert!(below.len() > 40, "{below:?}");
    assert_eq!(rows(&found, r"x:\über\DEEP"), below, "a directory, in another spelling");

    // Wine shows no sizes of directories.
    let files = ["list", "--json", "--type", "f", "--columns", "path,type,size,allocated,mtime"];
    let walked = rows(&exe.run(files.iter().chain(&[r"X:\"])), r"X:\");
    let read = rows(&exe.run(files.iter().chain(&tables).chain(&[r"X:\"])), r"X:\");
    assert!(walked.len() > 300, "{}", walked.len());
    assert_eq!(read, walked, "a walk");

    let doctor = &exe.json(["doctor", "--json", r"X:\"])["volume"];
    assert_eq!((&doctor["reader"], &doctor["is_whole"]), (&"ntfs".into(), &true.into()));
    assert!(doctor["why_walked"].as_str().unwrap().contains("not verified on Windows"));
    let auto = exe.json(["scan", "--json", "--reader", "auto", r"X:\"]);
    assert_eq!(auto["reader"], "nt-query");
    assert!(auto["reader_reason"].as_str().unwrap().contains("not verified on Windows"), "{auto}");
    let scan = exe.json(["scan", "--json", r"\\.\X:"]);
    assert_eq!((&scan["reader"], &scan["errors"]), (&"ntfs".into(), &0.into()), "{scan}");
}

/// What is not the volume of the directory is refused, and so is what has no NTFS.
#[test]
fn wine_mounted_volume_other_or_damaged_refused() {
    let test = "wine_mounted_volume_other_or_damaged_refused";
    let Some(exe) = WindowsProgram::find(test) else { return };
    let env = TestEnv::new();
    let (image, tree) = (env.path("disk.img"), env.mkdir("tree"));
    if let Err(reason) = NtfsMount::make(&image, 8 << 20, &[]) {
        return loudly_skip(test, reason);
    }
    env.mkdir("tree/only here");
    let mut bytes = fs::read(&image).unwrap();
    // The table begins at the fifth cluster.
    bytes.truncate((4 * 4096) + 2048);
    fs::write(env.path("truncated"), &bytes).unwrap();
    bytes[3..11].copy_from_slice(b"ReFS\0\0\0\0");
    fs::write(env.path("refs"), &bytes).unwrap();
    let (truncated, refs) = (env.path("truncated"), env.path("refs"));
    let without_device = env.mkdir("without device");
    let drives: [(&str, &Path); 5] = [
        ("x:", &tree),
        ("x::", &image),
        ("t::", &truncated),
        ("r::", &refs),
        ("w:", &without_device),
    ];
    let exe = exe.with_drives(&env.path("prefix"), &drives);
    let message = |path: &str| exe.fail(["scan", "--reader", "ntfs", path]);
    for (path, expected) in [
        (r"X:\", "its number or that of its volume is another one"),
        (r"X:\only here", "the file table of its volume does not have it"),
        (r"\\.\R:", "it holds ReFS; of mounted volumes, only NTFS is supported"),
        (r"\\.\T:", "unexpected end of file"),
        (r"\\.\V:", "os error 2"),
        // Without a device, Wine has one that cannot be read.
        (r"W:\", "os error 1"),
    ] {
        let message = message(path);
        assert!(message.contains(expected), "{path}: {message}");
    }
}

#[test]
fn wine_journal_of_mounted_ntfs_same_as_of_image() {
    let test = "wine_journal_of_mounted_ntfs_same_as_of_image";
    let Some(exe) = WindowsProgram::find(test) else { return };
    let env = TestEnv::new();
    let image = env.path("disk.img");
    if let Err(reason) = journal::make(&image, &env.path("mounted"), journal::all_records) {
        return loudly_skip(test, reason);
    }
    let tree = env.mkdir("tree");
    let exe = exe.with_drives(&env.path("prefix"), &[("x:", &tree), ("x::", &image)]);
    let read = ["changes", "--journal", "--json"];
    let here = env.transect(read.iter().chain(&["disk.img"])).exits(0).quiet().stdout_text();
    let there = String::from_utf8(exe.run(read.iter().chain(&[r"\\.\X:"]))).unwrap();
    assert_eq!(there.replace(r"\\", "/").replace("\r\n", "\n"), here);
    assert!(here.contains("projects/report/text.txt"), "{here}");
    let directory = exe.fail(["changes", "--journal", r"X:\"]);
    assert!(directory.contains(r"use the device of its volume, such as \\.\C:"), "{directory}");
}
