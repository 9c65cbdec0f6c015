//! Images of volumes where commands take a path.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::process::Command;

use transect_testkit::loudly_skip;

use crate::harness::TestEnv;
use crate::tree;

/// Makes the image `disk.img` from the directory `tree`. Returns whether that worked.
fn make_image(env: &TestEnv, test: &str) -> bool {
    let image = env.path("disk.img");
    std::fs::File::create(&image).unwrap().set_len(48 << 20).unwrap();
    let mut make = Command::new("mkfs.ext4");
    make.args(["-q", "-F", "-N", "8000", "-d"]).arg(env.path("tree")).arg(&image);
    match make.status() {
        Ok(status) => {
            assert!(status.success());
            true
        }
        Err(reason) => {
            loudly_skip(test, format!("mkfs.ext4: {reason}"));
            false
        }
    }
}

#[test]
fn image_of_ext4_read_as_a_tree() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    if !make_image(&env, "image_of_ext4_read_as_a_tree") {
        return;
    }
    let origin = env.transect(["scan", "--json", "tree"]).exits(0).json();
    let image = env.transect(["scan", "--json", "disk.img"]).exits(0).quiet().json();
    for key in ["files", "symlinks", "others", "apparent_size", "hard_links", "errors"] {
        assert_eq!(image[key], origin[key], "{key}");
    }
    // `lost+found` is not in the origin.
    assert_eq!(image["directories"].as_u64(), origin["directories"].as_u64().map(|all| all + 1));
    assert_eq!(image["reader"], "ext4");
    assert!(image["disk"].is_null(), "that of the image's file says nothing");

    let names = |root: &str| {
        let listed = env.transect(["list", "-0", root]).exits(0).quiet();
        let below = |path: &[u8]| path.strip_prefix(root.as_bytes()).unwrap().to_vec();
        let mut names: Vec<_> = listed
            .stdout
            .split(|&byte| byte == 0)
            .filter(|path| !path.is_empty())
            .map(below)
            .collect();
        names.sort();
        names
    };
    let mut found = names("disk.img");
    found.retain(|path| path != b"/lost+found");
    assert_eq!(found, names("tree"));

    let diff = env.transect(["diff", "--summary", "--json", "disk.img", "disk.img"]).exits(0);
    assert!(
        diff.json()["disk_usage_before"].as_u64() > Some(100_000),
        "a side is a tree, not a file"
    );

    // Another reader sees the file, and so does a scan of the directory with it.
    let file = env.transect(["scan", "--json", "--reader", "portable", "disk.img"]).exits(0).json();
    assert_eq!(file["files"], 1);
}

#[test]
fn image_damaged_or_of_another_kind_refused() {
    let env = TestEnv::new();
    std::fs::create_dir(env.path("tree")).unwrap();
    if !make_image(&env, "image_damaged_or_of_another_kind_refused") {
        return;
    }
    let image = std::fs::File::options().write(true).open(env.path("disk.img")).unwrap();
    image.set_len(40 << 20).unwrap();
    let cut = env.transect(["disk.img"]).exits(2);
    assert_eq!(
        cut.stderr_text(),
        "transect: cannot access 'disk.img': it is truncated: 41943040 bytes of a file system of 50331648\n"
    );
    std::fs::write(env.path("text"), vec![b'x'; 4096]).unwrap();
    let text = env.transect(["--reader", "ext4", "text"]).exits(2);
    assert!(text.stderr_text().contains("there is no ext2, ext3 or ext4 in it"));
    assert_eq!(env.transect(["--json", "text"]).exits(0).json()["files"], 1);
    let rules = env.transect(["list", "--reader", "ext4", "--gitignore", "disk.img"]).exits(2);
    assert!(rules.stderr_text().contains("it does not read .gitignore files"));
}

/// Makes the disk `disk.img` with an MBR: swap space, and the volume in `volume.img`.
fn make_disk(env: &TestEnv) {
    const SECTOR: usize = 512;
    let volume = std::fs::read(env.path("volume.img")).unwrap();
    let begin = [(0x82, 64, 64), (0x83, 2048, volume.len() / SECTOR)];
    let mut disk = vec![0; 2048 * SECTOR + volume.len()];
    for (slot, (kind, first, count)) in begin.into_iter().enumerate() {
        let entry = &mut disk[446 + slot * 16..][..16];
        entry[4] = kind;
        entry[8..12].copy_from_slice(&(first as u32).to_le_bytes());
        entry[12..16].copy_from_slice(&(count as u32).to_le_bytes());
    }
    disk[510..512].copy_from_slice(&[0x55, 0xAA]);
    disk[64 * SECTOR + 4086..][..10].copy_from_slice(b"SWAPSPACE2");
    disk[2048 * SECTOR..].copy_from_slice(&volume);
    std::fs::write(env.path("disk.img"), disk).unwrap();
}

#[test]
fn partition_of_image_read_as_a_tree() {
    let env = TestEnv::new();
    tree::everything(&env, "tree");
    if !make_image(&env, "partition_of_image_read_as_a_tree") {
        return;
    }
    std::fs::rename(env.path("disk.img"), env.path("volume.img")).unwrap();
    make_disk(&env);
    let whole = env.transect(["scan", "--json", "volume.img"]).exits(0).json();
    for arguments in
        [&["scan", "--json", "disk.img#2"][..], &["--json", "--reader", "auto", "disk.img#2"]]
    {
        let found = env.transect(arguments).exits(0).quiet().json();
        for key in ["files", "directories", "symlinks", "others", "disk_usage", "reader"] {
            assert_eq!(found[key], whole[key], "{arguments:?} {key}");
        }
    }
    // The disk itself is a file, unless it is to be read.
    let file = env.transect(["disk.img"]).exits(0);
    assert!(
        file.stderr_text()
            .contains("'disk.img' has partitions; 'disk.img#2' is one that can be read"),
        "{}",
        file.stderr_text()
    );
    let message = |path: &str| env.transect(["--reader", "volume", path]).exits(2).stderr_text();
    assert_eq!(
        message("disk.img"),
        "transect: cannot access 'disk.img': it has partitions: #1 (swap space), #2 (ext4, ext3 or \
         ext2); append one to the path\n"
    );
    assert_eq!(
        message("disk.img#7"),
        "transect: cannot access 'disk.img#7': there is no partition 7, but #1 (swap space), #2 (ext4, \
         ext3 or ext2)\n"
    );
    assert_eq!(
        message("disk.img#1"),
        "transect: cannot access 'disk.img#1': it holds swap space; only ext4, ext3, ext2 and NTFS are \
         supported\n"
    );
    assert!(message("volume.img#1").contains("it has no partitions"));
    // A file with such a name is that file.
    std::fs::write(env.path("disk.img#1"), "text").unwrap();
    assert_eq!(env.transect(["--json", "disk.img#1"]).exits(0).json()["files"], 1);
    // A truncated disk.
    let disk = std::fs::File::options().write(true).open(env.path("disk.img")).unwrap();
    disk.set_len(10 << 20).unwrap();
    assert!(message("disk.img#2").contains("partition 2 lies outside it"));
}

#[cfg(target_os = "linux")]
#[test]
fn image_of_ntfs_read_as_a_tree() {
    use transect_testkit::NtfsMount;

    let env = TestEnv::new();
    let (image, at) = (env.path("volume.img"), env.path("mounted"));
    let mount =
        NtfsMount::make(&image, 16 << 20, &[]).and_then(|()| NtfsMount::new(&image, "", &at));
    let mount = match mount {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("image_of_ntfs_read_as_a_tree", reason),
    };
    for number in 0..50 {
        let directory = at.join(format!("directory {}", number % 7));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(format!("file {number}")), vec![b'x'; 500 * number]).unwrap();
    }
    std::fs::hard_link(at.join("directory 0/file 49"), at.join("link")).unwrap();
    transect_testkit::set_xattr(&at.join("directory 1"), "user.stream", b"content");
    let walked = env.transect(["scan", "--json", "mounted"]).exits(0).json();
    assert_eq!(walked["alternate_streams"], serde_json::Value::Null);
    drop(mount);
    let text = env.transect(["scan", "volume.img"]).exits(0).stdout_text();
    assert!(text.contains("1 alternate stream, 7 B, in no other size"), "{text}");
    make_disk(&env);
    for arguments in [
        &["scan", "--json", "volume.img"][..],
        &["--json", "disk.img#2"],
        &["--json", "--reader", "volume", "volume.img"],
        &["--json", "--reader", "auto", "disk.img#2"],
        &["--json", "--reader", "ntfs", "volume.img"],
    ] {
        let found = env.transect(arguments).exits(0).quiet().json();
        assert_eq!(found["reader"], "ntfs", "{arguments:?}");
        let streams = &found["alternate_streams"];
        assert_eq!((&streams["count"], &streams["apparent_size"]), (&1.into(), &7.into()));
        for key in ["files", "directories", "symlinks", "apparent_size", "hard_links", "errors"] {
            assert_eq!(found[key], walked[key], "{arguments:?} {key}");
        }
    }
    let usage = env.transect(["usage", "--json", "volume.img"]).exits(0).quiet();
    assert!(usage.stdout_text().contains("directory 3"), "{}", usage.stdout_text());
    let doctor = env.transect(["doctor", "--json", "volume.img"]).exits(0).json();
    assert_eq!(doctor["volume"]["reader"], "ntfs");
    let other = env.transect(["--reader", "ext4", "volume.img"]).exits(2).stderr_text();
    assert!(other.contains("'volume.img': it holds NTFS, not ext4, ext3 or ext2"), "{other}");
    let all = env.transect(["--reader", "volume", "disk.img"]).exits(2).stderr_text();
    assert!(all.contains("#1 (swap space), #2 (NTFS)"), "{all}");
}

#[cfg(target_os = "linux")]
#[test]
fn mounted_volume_reader_shown() {
    let env = TestEnv::new();
    let mount = match transect_testkit::Mount::ext4(&env.path("image"), &[], &env.path("mounted")) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("mounted_volume_reader_shown", reason),
    };
    std::fs::create_dir(mount.path().join("directory")).unwrap();
    std::fs::write(mount.path().join("directory/file"), "content").unwrap();
    let scan = |reader: &str, path: &str| {
        env.transect(["--json", "--reader", reader, path]).exits(0).quiet().json()
    };
    let walked = scan("walk", "mounted");
    assert_eq!((&walked["files"], &walked["reader_reason"]), (&1.into(), &serde_json::Value::Null));
    for reader in ["volume", "ext4", "auto"] {
        let tables = scan(reader, "mounted");
        assert_eq!(tables["reader"], "ext4");
        for key in ["files", "directories", "apparent_size", "allocated_size", "errors", "disk"] {
            assert_eq!(tables[key], walked[key], "{reader} {key}");
        }
    }
    assert_eq!(scan("auto", "mounted")["reader_reason"], "everything on the volume is wanted");
    let part = scan("auto", "mounted/directory");
    assert_eq!(part["reader"], walked["reader"]);
    assert_eq!(part["reader_reason"], "only a part of the volume is wanted");
    let text = env.transect(["--reader", "auto", "mounted/directory"]).exits(0).stdout_text();
    assert!(text.contains("directories walked: only a part of the volume is wanted"), "{text}");

    let doctor = env.transect(["doctor", "--json", "mounted"]).exits(0).json();
    assert_eq!(doctor["volume"]["reader"], "ext4");
    assert_eq!(
        (&doctor["volume"]["is_whole"], &doctor["volume"]["why_not"]),
        (&true.into(), &serde_json::Value::Null)
    );
    let doctor = env.transect(["doctor", "mounted/directory"]).exits(0).stdout_text();
    assert!(doctor.contains("can be read with --reader ext4; --reader auto walks"), "{doctor}");
}

#[cfg(target_os = "linux")]
#[test]
fn mounted_btrfs_read_from_its_tree() {
    let env = TestEnv::new();
    let (image, at) = (env.path("image"), env.path("mounted"));
    let make = ["mkfs.btrfs", "-q", "-f"];
    let mount = match transect_testkit::Mount::image(&image, 256 << 20, &make, &at) {
        Ok(mount) => mount,
        Err(reason) => return loudly_skip("mounted_btrfs_read_from_its_tree", reason),
    };
    std::fs::create_dir(mount.path().join("directory")).unwrap();
    std::fs::write(mount.path().join("directory/file"), "content").unwrap();
    let scan = |reader: &str, path: &str| {
        env.transect(["--json", "--reader", reader, path]).exits(0).quiet().json()
    };
    let walked = scan("walk", "mounted");
    for reader in ["volume", "btrfs", "auto"] {
        let tables = scan(reader, "mounted");
        assert_eq!(tables["reader"], "btrfs");
        for key in ["files", "directories", "apparent_size", "allocated_size", "errors", "disk"] {
            assert_eq!(tables[key], walked[key], "{reader} {key}");
        }
    }
    let doctor = env.transect(["doctor", "mounted"]).exits(0).stdout_text();
    assert!(doctor.contains("can be read with --reader btrfs; --reader auto does so"), "{doctor}");
    // Not an image or a device: only the kernel reads it.
    let text = env.transect(["--reader", "btrfs", "image"]).exits(2).stderr_text();
    assert!(text.contains("it holds Btrfs; only"), "{text}");
}
