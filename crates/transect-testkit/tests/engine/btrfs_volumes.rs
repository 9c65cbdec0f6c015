//! Mounted Btrfs, read from the trees of its subvolumes: what a walk shows. Mounting needs privileges; without
//! them the tests print that they are skipped.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use transect::{ReaderKind, ScanOptions, Totals};
use transect_sys::linux::mount_of;
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::mounted_volumes::{check_while_changing, compare, let_clock_go_on};
use crate::support::scan;
use crate::volumes::{populate, run};

/// Mounts a Btrfs made with these options.
fn mounted(test: &str, temp: &TempDir, options: &[&str]) -> Option<Mount> {
    let make = [&["mkfs.btrfs", "-q", "-f"], options].concat();
    match Mount::image(&temp.join("image"), 512 << 20, &make, &temp.join("mounted")) {
        Ok(mount) => Some(mount),
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

fn btrfs(arguments: &[&str], at: &Path) {
    let output = Command::new("btrfs").args(arguments).current_dir(at).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Creates what only Btrfs has: content in the tree, clones, compressed content, holes of both kinds.
fn populate_content(at: &Path) {
    let text = "compressible ".repeat(20_000);
    fs::write(at.join("long"), &text).unwrap();
    fs::write(at.join("inline"), &text[..1000]).unwrap();
    run(&["cp", "--reflink=always", at.join("long").to_str().unwrap()], at.join("clone"));
    let file = File::create(at.join("ends with a hole")).unwrap();
    file.write_all_at(text.as_bytes(), 1 << 20).unwrap();
    file.set_len(5 << 20).unwrap();
    run(&["fallocate", "--length", "3000000"], at.join("reserved"));
    let file = File::options().write(true).open(at.join("clone")).unwrap();
    file.write_all_at(b"changed", 50_000).unwrap();
    file.set_len(100_001).unwrap();
}

#[test]
fn btrfs_volume_same_as_walk() {
    for (name, options, mount_options) in [
        ("as usual", &[][..], "defaults"),
        ("small nodes", &["--nodesize", "4096"], "defaults"),
        ("large nodes, compressed", &["--nodesize", "65536"], "compress-force=zstd"),
        ("mixed block groups", &["--mixed"], "defaults"),
        ("with extents for holes", &["-O", "^no-holes"], "max_inline=0"),
    ] {
        let test = format!("btrfs_volume_same_as_walk: {name}");
        let temp = TempDir::new();
        let Some(mount) = mounted(&test, &temp, options) else { return };
        let at = mount.path();
        run(&["mount", "-o", &format!("remount,{mount_options}")], at);
        populate(at);
        populate_content(at);
        let all = compare(&test, at, |it| it);
        assert!(all.len() > 1700, "the tree is there");
        compare(&test, &at.join("group 0"), |it| it);
    }
}

#[test]
fn btrfs_many_links_and_entries_same_as_walk() {
    let test = "btrfs_many_links_and_entries_same_as_walk";
    let temp = TempDir::new();
    let Some(mount) = mounted(test, &temp, &[]) else { return };
    let at = mount.path();
    fs::create_dir(at.join("links")).unwrap();
    fs::create_dir(at.join("many")).unwrap();
    let first = at.join("links/a name that many others lead to as well");
    fs::write(&first, "content").unwrap();
    // Their names do not fit into one item.
    for number in 1..10_000 {
        fs::hard_link(&first, at.join(format!("links/another name, the one with number {number}")))
            .unwrap();
    }
    for number in 0..100_000 {
        File::create(at.join(format!("many/{number}"))).unwrap();
    }
    for number in (0..100_000).step_by(3) {
        fs::remove_file(at.join(format!("many/{number}"))).unwrap();
    }
    let all = compare(test, at, |it| it);
    assert_eq!(all.len(), 1 + 2 + 10_000 + 66_666);
}

#[test]
fn btrfs_subvolumes_same_as_walk() {
    let test = "btrfs_subvolumes_same_as_walk";
    let temp = TempDir::new();
    let Some(mount) = mounted(test, &temp, &[]) else { return };
    let at = mount.path();
    btrfs(&["subvolume", "create", "sub"], at);
    fs::create_dir(at.join("sub/directory")).unwrap();
    btrfs(&["subvolume", "create", "sub/directory/nested"], at);
    populate(&at.join("sub"));
    fs::write(at.join("sub/directory/nested/file"), "content").unwrap();
    fs::write(at.join("beside"), "content").unwrap();
    // The nested subvolume is an empty directory in these.
    btrfs(&["subvolume", "snapshot", "sub", "copy"], at);
    btrfs(&["subvolume", "snapshot", "-r", "sub", "sub/copy of itself"], at);
    fs::write(at.join("copy/later"), "content").unwrap();
    btrfs(&["subvolume", "create", "deleted"], at);
    btrfs(&["subvolume", "delete", "deleted"], at);
    // Otherwise the kernel makes another one for each lookup, with the current time.
    let _kept = ["copy", "sub/copy of itself"]
        .map(|copy| File::open(at.join(copy).join("directory/nested")).unwrap());
    let all = compare(test, at, |it| it);
    let has = |path: &str| all.contains_key(path.as_bytes());
    assert!(has("sub/directory/nested/file") && has("copy/later") && has("beside"));
    assert!(has("sub/copy of itself/group 0") && !has("sub/copy of itself/directory/nested/file"));
    assert!(all["copy/directory/nested".as_bytes()].contains("inode Some(2)"));
    assert!(all["sub".as_bytes()].contains("inode Some(256)"));
    let all = compare(test, at, |it| it.same_file_system(true));
    assert!(all.contains_key(&b"sub"[..]) && !all.contains_key(&b"sub/directory"[..]));
    // Few descriptors: directories are opened from far above.
    compare(test, at, |it| it.max_open(16));
    compare(test, &at.join("sub"), |it| it);
    compare(test, &at.join("sub/directory"), |it| it);

    // A subvolume that is mounted itself; below the mount, another one.
    let device = mount_of(&at.canonicalize().unwrap()).unwrap().source;
    let own = Mount::new(&["-o", "subvol=sub", &device], &temp.join("own")).unwrap();
    let all = compare(test, own.path(), |it| it);
    assert!(all.contains_key(&b"directory/nested/file"[..]));
    // Mounted in the other mount: over a directory, over a subvolume, and below itself.
    let _over = Mount::new(&["-o", "subvol=copy", &device], &at.join("sub/group 0")).unwrap();
    let _hidden = Mount::tmpfs("1m", &at.join("copy/directory")).unwrap();
    let _loop = Mount::new(&["-o", "subvol=/", &device], &at.join("sub/group 1")).unwrap();
    let all = compare(test, at, |it| it);
    assert!(all.contains_key(&b"sub/group 0/later"[..]));
    assert!(!all.contains_key(&b"copy/directory/nested"[..]));
    let bind = at.join("sub/directory");
    let bind = Mount::new(&["--bind", bind.to_str().unwrap()], &temp.join("bind")).unwrap();
    compare(test, bind.path(), |it| it);
}

#[test]
fn btrfs_volume_changing_untouched_entries_right() {
    let test = "btrfs_volume_changing_untouched_entries_right";
    let temp = TempDir::new();
    let Some(mount) = mounted(test, &temp, &[]) else { return };
    populate(mount.path());
    let_clock_go_on();
    check_while_changing(test, mount.path());
}

#[test]
fn btrfs_volume_chosen_for_whole_subvolumes() {
    let test = "btrfs_volume_chosen_for_whole_subvolumes";
    let temp = TempDir::new();
    let Some(mount) = mounted(test, &temp, &[]) else { return };
    let at = mount.path();
    btrfs(&["subvolume", "create", "sub"], at);
    fs::create_dir_all(at.join("sub/directory")).unwrap();
    let choose = |options: ScanOptions| {
        let outcome = options.auto_reader(true).plan().unwrap().run(|| Totals::new(0)).unwrap();
        (outcome.reader, outcome.reader_reason.unwrap())
    };
    let all = "everything on the volume is wanted".to_owned();
    assert_eq!(choose(scan(at)), (ReaderKind::Btrfs, all.clone()));
    assert_eq!(choose(scan(at.join("sub"))), (ReaderKind::Btrfs, all));
    let part = "only a part of the volume is wanted".to_owned();
    assert_eq!(choose(scan(at.join("sub/directory"))), (ReaderKind::best(), part));
    // Any reader of volumes reads it; the result shows which.
    let options = scan(at.join("sub/directory")).reader(ReaderKind::Ext4);
    let outcome = options.plan().unwrap().run(|| Totals::new(0)).unwrap();
    assert_eq!((outcome.reader, outcome.sink.directories), (ReaderKind::Btrfs, 1));
}
