//! Volumes read from their tables show what a walk of the mounted file system shows. Mounting needs
//! privileges; without them the tests print that they are skipped.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use transect::{FieldMask, ReaderKind, ScanOptions};
use transect_testkit::{Mount, TempDir, loudly_skip, trees};
use transect_volumes::count_entries;

use crate::support::{THREADS, scan, totals};

/// Everything that identifies an entry: by its path below the root, all attributes as text.
pub(crate) type Entries = BTreeMap<Vec<u8>, String>;

/// Returns the entries and the number of errors.
pub(crate) fn entries(options: ScanOptions, root: &Path) -> (Entries, u64) {
    let mut walk = options.want(FieldMask::all()).into_iter();
    let mut all = Entries::new();
    for entry in &mut walk {
        let entry = entry.unwrap_or_else(|error| panic!("{error}"));
        let path = entry.path();
        let below = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
        let it = entry.attributes();
        let text = format!(
            "{:?} size {:?} allocated {:?} mode {:o} links {:?} inode {:?} owner {:?}:{:?} \
             times {:?} {:?} {:?} {:?}",
            it.file_type(),
            it.size().unwrap(),
            it.allocated().unwrap(),
            it.mode().unwrap(),
            it.nlink(),
            it.inode(),
            it.uid(),
            it.gid(),
            it.mtime(),
            it.ctime(),
            it.atime(),
            it.btime(),
        );
        assert_eq!(all.insert(below, text), None, "{} is there twice", path.display());
    }
    (all, walk.diagnostics().errors)
}

/// Creates what has ever been read wrong: names, times, links, holes, large and changed directories.
pub(crate) fn populate(root: &Path) {
    let at = |name: &str| root.join(name);
    for number in 0..60 {
        let directory = at(&format!("group {}/of {number}", number % 7));
        std::fs::create_dir_all(&directory).unwrap();
        for file in 0..20 {
            std::fs::write(directory.join(format!("{file}.txt")), vec![b'x'; file * 700]).unwrap();
        }
    }
    // Its entries need a tree of blocks; most are deleted, so that records are merged.
    std::fs::create_dir(at("many")).unwrap();
    for number in 0..3000 {
        File::create(at(&format!("many/an entry with a name of some length {number}"))).unwrap();
    }
    for number in (0..3000).filter(|number| number % 5 != 0) {
        std::fs::remove_file(at(&format!("many/an entry with a name of some length {number}")))
            .unwrap();
    }
    for name in ["\u{fe}\n", "a\\b", "-n", " ", &"n".repeat(255), "ä", "tiny"] {
        std::fs::write(at(name), name).unwrap();
    }
    std::fs::write(root.join(std::ffi::OsStr::from_bytes(b"\xFF\xC0raw")), "").unwrap();
    symlink("tiny", at("short link")).unwrap();
    symlink("x".repeat(900), at("long link")).unwrap();
    for number in 0..30 {
        std::fs::hard_link(at("tiny"), at(&format!("group 0/name {number}"))).unwrap();
    }
    run(&["mkfifo"], at("pipe"));
    let holes = File::create(at("holes")).unwrap();
    holes.set_len((1 << 30) + 1).unwrap();
    holes.write_all_at(b"here", 500 << 20).unwrap();
    std::fs::set_permissions(at("holes"), PermissionsExt::from_mode(0o6751)).unwrap();
    std::os::unix::fs::chown(at("holes"), Some(70_000), Some(4_000_000_000)).unwrap();
    let times =
        [("-n", -3600_i64), (" ", 3_000_000_000), ("ä", 0), ("tiny", 1), ("a\\b", 10_413_792_000)];
    for (name, seconds) in times {
        let file = File::options().write(true).open(at(name)).unwrap();
        let distance = Duration::new(seconds.unsigned_abs(), 123_456_789);
        let time = match seconds < 0 {
            true => SystemTime::UNIX_EPOCH - distance,
            false => SystemTime::UNIX_EPOCH + distance,
        };
        file.set_modified(time).unwrap();
    }
    std::fs::remove_dir_all(at("group 3")).unwrap();
    std::fs::rename(at("group 4/of 4"), at("group 5/was of 4")).unwrap();
}

pub(crate) fn run(command: &[&str], path: impl AsRef<Path>) {
    let status = Command::new(command[0]).args(&command[1..]).arg(path.as_ref()).status();
    assert!(status.unwrap().success(), "{command:?}");
}

/// Makes a file system with these options, fills it, and compares its tables with a walk.
fn compare(test: &str, options: &[&str]) {
    let temp = TempDir::new();
    let options = [&["-N", "20000"], options].concat();
    match compare_filled(test, &temp.join("image"), 96 << 20, &options, populate) {
        Ok(entries) => assert!(entries > 1700, "{test}: the tree is there"),
        Err(reason) => loudly_skip(test, reason),
    }
}

/// Makes a file system of this size with these options of `mkfs.ext4`, fills it, and compares its tables with a
/// walk. Returns the number of entries.
///
/// # Errors
/// Why it could not be made or mounted.
pub(crate) fn compare_filled(
    test: &str,
    image: &Path,
    size: u64,
    options: &[&str],
    fill: impl FnOnce(&Path),
) -> Result<usize, String> {
    let at = image.with_extension("mounted");
    let make = [&["mkfs.ext4", "-q", "-F"], options].concat();
    let mount = Mount::image(image, size, &make, &at)?;
    fill(&at);
    // The first walk changes times of access.
    entries(scan(&at), &at);
    run(&["sync", "-f"], &at);
    let (expected, _) = entries(scan(&at), &at);
    drop(mount);
    for &threads in THREADS {
        let options = scan(image).reader(ReaderKind::Ext4).threads(threads);
        let (found, errors) = entries(options, image);
        assert_eq!(errors, 0, "{test}");
        assert_same(&found, &expected, test);
    }
    Ok(expected.len())
}

pub(crate) fn assert_same(found: &Entries, expected: &Entries, test: &str) {
    for (path, expected) in expected {
        let shown = String::from_utf8_lossy(path);
        assert_eq!(found.get(path), Some(expected), "{test}: {shown}");
    }
    let additional = found.keys().find(|path| !expected.contains_key(*path));
    assert_eq!(additional.map(|path| String::from_utf8_lossy(path)), None, "{test}");
}

/// Defines a test for each geometry.
macro_rules! geometries {
    ($($name:ident: $options:expr;)*) => {
        $(#[test]
        fn $name() {
            compare(stringify!($name), &$options);
        })*
    };
}

geometries! {
    ext4_blocks_of_4_kib_same_as_walk: ["-b", "4096"];
    ext4_blocks_of_1_kib_same_as_walk: ["-b", "1024"];
    ext4_blocks_of_2_kib_small_inodes_same_as_walk: ["-b", "2048", "-I", "128"];
    ext4_no_checksums_32_bits_same_as_walk: ["-O", "^metadata_csum,^64bit,uninit_bg"];
    ext4_no_extents_same_as_walk: ["-O", "^extent,^64bit", "-b", "1024"];
    ext4_meta_block_groups_same_as_walk: ["-O", "meta_bg,^resize_inode,^flex_bg", "-b", "1024"];
    ext4_inline_data_same_as_walk: ["-O", "inline_data", "-I", "512"];
    ext4_clusters_same_as_walk: ["-O", "bigalloc", "-C", "16384", "-b", "4096", "-N", "8192"];
    ext4_clusters_and_blocks_of_1_kib_same_as_walk: ["-O", "bigalloc", "-C", "16384", "-N", "8192"];
    ext4_no_index_no_types_same_as_walk: ["-O", "^dir_index,^filetype"];
    ext4_second_sparse_superblock_same_as_walk: ["-O", "sparse_super2,metadata_csum_seed"];
    ext4_large_directories_same_as_walk: ["-O", "large_dir"];
    ext2_same_as_walk: ["-t", "ext2", "-b", "1024"];
    ext3_same_as_walk: ["-t", "ext3"];
}

/// Makes an image of this size from a directory, without mounting it. Returns `None` where `mkfs.ext4` is
/// missing.
pub(crate) fn image_of(
    test: &str,
    tree: &Path,
    image: &Path,
    size: u64,
    options: &[&str],
) -> Option<()> {
    File::create(image).unwrap().set_len(size).unwrap();
    let mut make = Command::new("mkfs.ext4");
    make.args(["-q", "-F", "-d"]).arg(tree).args(options).arg(image);
    match make.output() {
        Ok(output) if output.status.success() => Some(()),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(reason) => {
            loudly_skip(test, format!("mkfs.ext4: {reason}"));
            None
        }
    }
}

/// What the kernel here cannot mount is compared with the directory that it was made from.
#[test]
fn ext4_not_mountable_here_names_and_sizes_of_origin() {
    let temp = TempDir::new();
    let (tree, image) = (temp.join("tree"), temp.join("image"));
    std::fs::create_dir(&tree).unwrap();
    for (name, build) in [("basic", trees::basic as fn(&Path)), ("links", trees::hardlinks)] {
        std::fs::create_dir(tree.join(name)).unwrap();
        build(&tree.join(name));
    }
    for number in 0..400 {
        std::fs::write(tree.join(format!("file {number}")), vec![b'x'; number]).unwrap();
    }
    let kept = |entries: Entries| -> Entries {
        let no_times = |text: String| text.split(" allocated ").next().unwrap().to_owned();
        let is_own = |path: &[u8]| !path.is_empty() && path != b"lost+found";
        let files = entries.into_iter().filter(|(path, _)| is_own(path));
        // File systems have different sizes of directories.
        let files = files.map(|(path, text)| match text.starts_with("Directory") {
            true => (path, "Directory".to_owned()),
            false => (path, no_times(text)),
        });
        files.collect()
    };
    let expected = kept(entries(scan(&tree), &tree).0);
    assert!(expected.len() > 400);
    for options in [["-b", "65536"], ["-O", "casefold"]] {
        let test = "ext4_not_mountable_here_names_and_sizes_of_origin";
        if image_of(test, &tree, &image, 64 << 20, &options).is_none() {
            return;
        }
        let (found, errors) = entries(scan(&image).reader(ReaderKind::Ext4), &image);
        assert_eq!(errors, 0, "{options:?}");
        assert_same(&kept(found), &expected, test);
    }
}

/// Changes an image as `debugfs` does, which asks no questions.
pub(crate) fn debugfs(image: &Path, request: &str) {
    let output = Command::new("debugfs").args(["-w", "-R", request]).arg(image).output().unwrap();
    assert!(output.status.success(), "{request}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A directory that a second name leads to, here one below itself, is entered by its first name only.
#[test]
fn ext4_loop_of_directories_entered_once() {
    let temp = TempDir::new();
    let (tree, image) = (temp.join("tree"), temp.join("image"));
    std::fs::create_dir_all(tree.join("a/b/c")).unwrap();
    std::fs::write(tree.join("a/b/c/file"), "content").unwrap();
    let test = "ext4_loop_of_directories_entered_once";
    if image_of(test, &tree, &image, 4 << 20, &["-b", "1024"]).is_none() {
        return;
    }
    debugfs(&image, "link a a/b/c/loop");
    debugfs(&image, "link / a/b/top");
    for &threads in THREADS {
        let found = totals(scan(&image).reader(ReaderKind::Ext4).threads(threads));
        assert_eq!(found.files, 1);
        // The top, `lost+found`, a, b, c and the two names.
        assert_eq!(found.directories, 7);
        let errors: Vec<_> =
            found.diagnostics.kept_errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        for error in errors {
            assert!(error.contains("another name leads to the same directory"), "{error}");
        }
    }
}

/// Names of encrypted directories are any bytes: here those of `mkfs`, in a directory that is marked as encrypted.
#[test]
fn ext4_encrypted_names_shown_as_digits() {
    let temp = TempDir::new();
    let (tree, image) = (temp.join("tree"), temp.join("image"));
    let long = "n".repeat(200);
    std::fs::create_dir_all(tree.join("secret/below")).unwrap();
    std::fs::write(tree.join("secret").join(&long), "content").unwrap();
    let test = "ext4_encrypted_names_shown_as_digits";
    let options = ["-b", "1024", "-O", "encrypt,^metadata_csum"];
    if image_of(test, &tree, &image, 4 << 20, &options).is_none() {
        return;
    }
    // Extents, and encrypted.
    debugfs(&image, "set_inode_field secret flags 0x80800");
    let (found, errors) = entries(scan(&image).reader(ReaderKind::Ext4), &image);
    assert_eq!(errors, 0);
    let digits = |name: &str| name.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert!(found.contains_key(format!("secret/{}", digits("below")).as_bytes()), "{found:?}");
    let shown = format!("secret/{}~", digits(&long[..120]));
    assert!(found.keys().any(|path| path.starts_with(shown.as_bytes())), "{found:?}");
    assert!(!found.contains_key(b"secret/below".as_slice()));
}

/// Images with wrong bytes, wherever tables may be: an error or entries, and always an end.
#[test]
fn ext4_hostile_images_no_panic_and_an_end() {
    let temp = TempDir::new();
    let (tree, image) = (temp.join("tree"), temp.join("image"));
    std::fs::create_dir(&tree).unwrap();
    trees::basic(&tree);
    for number in 0..100 {
        std::fs::write(tree.join(format!("file {number}")), "content").unwrap();
    }
    let test = "ext4_hostile_images_no_panic_and_an_end";
    // Without checksums, so that wrong numbers are used.
    let options = ["-O", "^metadata_csum,^has_journal,inline_data", "-b", "1024", "-N", "256"];
    if image_of(test, &tree, &image, 1 << 20, &options).is_none() {
        return;
    }
    let mut bytes = std::fs::read(&image).unwrap();
    let whole = count_entries(&bytes).unwrap();
    assert!(whole > 100);
    assert!(
        count_entries(&bytes[..bytes.len() - 1]).unwrap_err().to_string().contains("truncated")
    );
    assert!(count_entries(&[]).is_err());
    let used: Vec<usize> = (1024..bytes.len()).filter(|&at| bytes[at] != 0).collect();
    let mut random = 0x1234_5678_9ABC_DEF0_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as usize % below
    };
    let (mut failed, mut read) = (0, 0);
    for _ in 0..3000 {
        let changes: Vec<(usize, u8)> = (0..1 + next(4))
            .map(|_| {
                // Mostly what is in use; often the superblock's geometry and the descriptors.
                let at = match next(4) {
                    0 => 1024 + next(0x110),
                    1 => 2048 + next(64),
                    _ => used[next(used.len())],
                };
                (at, std::mem::replace(&mut bytes[at], [0, 0xFF, 1, next(256) as u8][next(4)]))
            })
            .collect();
        match count_entries(&bytes) {
            Ok(entries) => {
                read += 1;
                assert!(entries <= 2 * bytes.len() / 12, "{entries} entries, {changes:?}");
            }
            Err(_) => failed += 1,
        }
        for (at, byte) in changes.into_iter().rev() {
            bytes[at] = byte;
        }
    }
    assert_eq!(count_entries(&bytes).unwrap(), whole, "all changes were undone");
    assert!(failed > 100 && read > 100, "{failed} failed, {read} were read");
}

/// A volume that was not unmounted: what the kernel shows after it has applied the journal.
#[test]
fn ext4_journal_not_applied_same_as_after_mount() {
    let test = "ext4_journal_not_applied_same_as_after_mount";
    for options in [
        &["-b", "1024", "-J", "size=4"][..],
        &["-O", "^metadata_csum,^64bit", "-b", "4096"],
        &["-O", "^64bit", "-b", "2048"],
    ] {
        let temp = TempDir::new();
        let (image, at) = (temp.join("image"), temp.join("mounted"));
        let mount = match Mount::ext4(&image, options, &at) {
            Ok(mount) => mount,
            Err(reason) => return loudly_skip(test, reason),
        };
        populate(&at);
        run(&["sync", "-f"], &at);
        // Now blocks of directories are used for others, and names, sizes and links change.
        fs::remove_dir_all(at.join("many")).unwrap();
        fs::rename(at.join("group 2"), at.join("moved")).unwrap();
        for number in 0..300 {
            fs::create_dir(at.join(format!("new {number}"))).unwrap();
            fs::write(at.join(format!("new {number}/file")), vec![b'x'; number]).unwrap();
        }
        // Only the journal has this.
        let file = File::create(at.join("last")).unwrap();
        file.set_len(12_345).unwrap();
        file.sync_all().unwrap();
        let copy = temp.join("copy");
        fs::copy(&image, &copy).unwrap();
        drop(mount);

        let bytes = fs::read(&copy).unwrap();
        let incompat = u32::from_le_bytes(*bytes[1024 + 0x60..].first_chunk().unwrap());
        assert!(incompat & 4 != 0, "{options:?}: it needs recovery");
        let (found, errors) = entries(scan(&copy).reader(ReaderKind::Ext4), &copy);
        assert_eq!(errors, 0, "{options:?}");
        assert!(found.contains_key(&b"last"[..]) && found.contains_key(&b"new 299/file"[..]));
        let again = temp.join("again");
        let _mount = Mount::new(&["-o", "loop", copy.to_str().unwrap()], &again).unwrap();
        let (expected, _) = entries(scan(&again), &again);
        assert_same(&found, &expected, test);

        // Wrong bytes in the journal: an error or entries, and always an end.
        let Some(journal) = bytes.windows(8).position(|it| it == b"\xC0\x3B\x39\x98\0\0\0\x04")
        else {
            panic!("{options:?}: no journal")
        };
        let mut bytes = bytes;
        for number in 0_usize..150 {
            let at = journal + 12 + number * 37 % 90 + (number % 3) * 1024;
            let before = std::mem::replace(&mut bytes[at], number as u8);
            let _ = count_entries(&bytes);
            bytes[at] = before;
        }
    }
}

/// A damaged block costs its own entries, and no others.
#[test]
fn ext4_directory_with_damaged_block_keeps_its_other_entries() {
    let temp = TempDir::new();
    let (tree, image) = (temp.join("tree"), temp.join("image"));
    std::fs::create_dir(&tree).unwrap();
    for number in 0..200 {
        std::fs::write(tree.join(format!("a file with the number {number}")), "").unwrap();
    }
    let test = "ext4_directory_with_damaged_block_keeps_its_other_entries";
    if image_of(test, &tree, &image, 20 << 20, &["-b", "1024"]).is_none() {
        return;
    }
    let mut bytes = std::fs::read(&image).unwrap();
    let name = b"a file with the number 100";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at] = b'A';
    std::fs::write(&image, &bytes).unwrap();
    let found = totals(scan(&image).reader(ReaderKind::Ext4));
    assert_eq!(found.diagnostics.errors, 1);
    assert!((100..200).contains(&found.files), "{} of 200", found.files);
}

#[test]
fn ext4_errors_say_what_is_wrong() {
    let temp = TempDir::new();
    let (tree, image) = (temp.join("tree"), temp.join("image"));
    std::fs::create_dir(&tree).unwrap();
    std::fs::write(tree.join("file"), "content").unwrap();
    let test = "ext4_errors_say_what_is_wrong";
    if image_of(test, &tree, &image, 20 << 20, &["-b", "1024"]).is_none() {
        return;
    }
    let good = std::fs::read(&image).unwrap();
    let message = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        count_entries(&bytes).unwrap_err().to_string()
    };
    let zeroed = message(&|bytes| bytes[1024..2048].fill(0));
    assert!(zeroed.contains("`e2fsck -b 8193 -B 1024`"), "{zeroed}");
    let wrong = message(&|bytes| bytes[1024 + 4] ^= 1);
    assert!(wrong.contains("checksum of its superblock"), "{wrong}");
    let unknown = message(&|bytes| bytes[1024 + 0x60 + 3] = 0x80);
    assert!(unknown.contains("not supported: 0x80000000"), "{unknown}");
    let compressed = message(&|bytes| bytes[1024 + 0x60] |= 1);
    assert!(compressed.contains("not supported: compression"), "{compressed}");
    let none = message(&|bytes| bytes.fill(7));
    assert!(none.contains("no ext2, ext3 or ext4"), "{none}");

    let process = scan("/proc").reader(ReaderKind::Ext4);
    let refused = process.into_iter().find_map(Result::err).unwrap().to_string();
    assert!(refused.contains("it is not on a volume with ext4, ext3, ext2 or Btrfs"), "{refused}");
    let follow = scan(&image).reader(ReaderKind::Ext4).follow_links(true).plan().unwrap_err();
    assert!(follow.to_string().contains("does not read the targets of links"), "{follow}");
}
