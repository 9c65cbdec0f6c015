//! Images of ext4 with one fault each: what is missing or impossible is an error, and what the kernel lists is listed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use transect::ReaderKind;
use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::support::scan;
use crate::volumes::{debugfs, image_of};

/// Options without checksums of metadata, so that a fault is not found by them.
const UNSUMMED: [&str; 4] = ["-b", "1024", "-O", "^metadata_csum"];

/// An image of a small tree: `dir` with 100 files, `file`, `link`.
struct Image {
    temp: TempDir,
    path: PathBuf,
}

impl Image {
    /// Returns `None` where `mkfs.ext4` is missing.
    fn new(test: &str, options: &[&str]) -> Option<Self> {
        let temp = TempDir::new();
        let (tree, path) = (temp.join("tree"), temp.join("image"));
        fs::create_dir_all(tree.join("dir")).unwrap();
        fs::create_dir(tree.join("empty")).unwrap();
        for number in 0..100 {
            fs::write(tree.join(format!("dir/a name of some length {number:02}")), "").unwrap();
        }
        fs::write(tree.join("file"), "content").unwrap();
        std::os::unix::fs::symlink("file", tree.join("link")).unwrap();
        image_of(test, &tree, &path, 4 << 20, options)?;
        Some(Self { temp, path })
    }

    fn debugfs(&self, requests: &[&str]) {
        requests.iter().for_each(|request| debugfs(&self.path, request));
    }

    fn patch(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(&self.path).unwrap();
        change(&mut bytes);
        fs::write(&self.path, bytes).unwrap();
    }

    /// Returns the names that are found, and the errors.
    fn read(&self) -> (BTreeSet<PathBuf>, Vec<String>) {
        names(&self.path, Some(ReaderKind::Ext4))
    }

    fn mount(&self) -> Result<Mount, String> {
        let image = self.path.to_str().unwrap();
        Mount::new(&["-t", "ext4", "-o", "ro,loop", image], &self.temp.join("mounted"))
    }

    /// Returns the names that the kernel lists; `None` if this process may not mount.
    fn read_mounted(&self, test: &str) -> Option<BTreeSet<PathBuf>> {
        match self.mount() {
            Ok(mount) => Some(names(mount.path(), None).0),
            Err(reason) => {
                loudly_skip(test, reason);
                None
            }
        }
    }
}

fn names(root: &Path, reader: Option<ReaderKind>) -> (BTreeSet<PathBuf>, Vec<String>) {
    let options = match reader {
        Some(reader) => scan(root).reader(reader),
        None => scan(root),
    };
    let mut walk = options.into_iter();
    let (mut names, mut errors) = (BTreeSet::new(), Vec::new());
    for entry in &mut walk {
        match entry {
            Ok(entry) => {
                assert!(names.insert(entry.path().strip_prefix(root).unwrap().to_owned()));
            }
            Err(error) => errors.push(error.to_string()),
        }
    }
    (names, errors)
}

/// Checks that there is one error, and that its text has these words.
fn assert_one(errors: &[String], words: &str) {
    assert!(errors.len() == 1 && errors[0].contains(words), "{words}: {errors:?}");
}

#[test]
fn ext4_root_not_a_directory_refused() {
    let Some(image) = Image::new("ext4_root_not_a_directory_refused", &UNSUMMED) else { return };
    image.debugfs(&["set_inode_field <2> mode 0100644"]);
    let (names, errors) = image.read();
    assert!(names.is_empty(), "{names:?}");
    assert_one(&errors, "its top is damaged: it is not a directory");
    assert!(image.mount().is_err());
}

/// The kernel lists such a directory, although its extent says that the blocks were never written.
#[test]
fn ext4_directory_in_unwritten_extent_listed() {
    let test = "ext4_directory_in_unwritten_extent_listed";
    let Some(image) = Image::new(test, &UNSUMMED) else { return };
    let (whole, _) = image.read();
    // The length of the first extent: 1, and not written.
    image.debugfs(&["set_inode_field empty block[4] 0x8001", "ln file empty/other"]);
    let (names, errors) = image.read();
    assert_eq!(errors, [""; 0]);
    assert_eq!(names.len(), whole.len() + 1);
    if let Some(expected) = image.read_mounted(test) {
        assert_eq!(names, expected);
    }
}

#[test]
fn ext4_impossible_inodes_reported() {
    let test = "ext4_impossible_inodes_reported";
    for request in [
        "set_inode_field file size 0xffffffff00000007",
        "set_inode_field file size 0x40000000001",
        "set_inode_field file blocks 0x7fffffff",
        "set_inode_field link size 60",
        "set_inode_field file mode 0110644",
    ] {
        let Some(image) = Image::new(test, &UNSUMMED) else { return };
        let (whole, _) = image.read();
        image.debugfs(&[request]);
        let (names, errors) = image.read();
        assert_one(&errors, "its type, its size or its number of blocks is impossible");
        assert_eq!(names, whole, "{request}");
    }
    // Nearly all of it may be a hole.
    let Some(image) = Image::new(test, &UNSUMMED) else { return };
    image.debugfs(&["set_inode_field file size 0x3ffffffffff"]);
    assert_eq!(image.read().1, [""; 0]);
}

/// The other entries are listed.
#[test]
fn ext4_hole_in_directory_reported() {
    let test = "ext4_hole_in_directory_reported";
    for (options, request) in [
        // The second block of a map, and the length of an extent.
        (["-b", "1024", "-O", "^metadata_csum,^extent,^64bit"], "set_inode_field dir block[1] 0"),
        (UNSUMMED, "set_inode_field dir block[4] 2"),
        (UNSUMMED, "set_inode_field dir size 100000"),
        (UNSUMMED, "set_inode_field dir size 0"),
    ] {
        let Some(image) = Image::new(test, &options) else { return };
        let (whole, _) = image.read();
        image.debugfs(&[request]);
        let (names, errors) = image.read();
        assert_one(&errors, "a part of the directory has no blocks");
        assert!(names.is_subset(&whole) && names.contains(Path::new("file")), "{request}");
        if let Some(expected) = image.read_mounted(test) {
            assert!(expected.is_subset(&names), "{request}");
        }
    }
}

/// An entry with another name in the place of `..` is listed, as the kernel does.
#[test]
fn ext4_directory_without_dots_reported() {
    let test = "ext4_directory_without_dots_reported";
    let dots = b"\x0C\0\x01\x02.\0\0\0";
    for (name, listed) in [(&b".."[..], None), (b"XX", Some("empty/XX"))] {
        let Some(image) = Image::new(test, &UNSUMMED) else { return };
        let (mut expected, _) = image.read();
        image.patch(|bytes| {
            // The last directory that was made: nothing but dots is in it.
            let at = (0..bytes.len()).step_by(1024).rfind(|&at| {
                bytes[at + 4..].starts_with(dots)
                    && bytes[at + 16..at + 18] == 1012_u16.to_le_bytes()
            });
            let at = at.expect("an empty directory");
            bytes[at + 20..at + 22].copy_from_slice(name);
            // `.` leads elsewhere, where `..` is right.
            bytes[at] ^= if listed.is_none() { 1 } else { 0 };
        });
        let (names, errors) = image.read();
        let missing = errors.iter().filter(|error| error.contains("`.` or `..` is missing"));
        assert_eq!(missing.count(), 1, "{errors:?}");
        expected.extend(listed.map(PathBuf::from));
        assert_eq!(names, expected);
        if let Some(mounted) = image.read_mounted(test) {
            assert_eq!(names, mounted);
        }
    }
}

/// All names are in other blocks.
#[test]
fn ext4_wrong_checksum_of_hash_tree_reported() {
    let test = "ext4_wrong_checksum_of_hash_tree_reported";
    let Some(image) = Image::new(test, &["-b", "1024", "-O", "metadata_csum"]) else { return };
    // Makes trees of directories that have none.
    let mut check = Command::new("e2fsck");
    let output = check.args(["-fyD"]).arg(&image.path).output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 4), "{output:?}");
    let (whole, errors) = image.read();
    assert_eq!(errors, [""; 0]);
    image.patch(|bytes| {
        let root = (0..bytes.len()).step_by(1024).find(|&at| {
            let second = &bytes[at + 16..at + 22];
            second == [&1012_u16.to_le_bytes()[..], b"\x02\x02.."].concat()
        });
        // The hash where the second block of names begins.
        bytes[root.expect("a tree") + 40] ^= 1;
    });
    let (names, errors) = image.read();
    assert_one(&errors, "the checksum of a block of the directory is wrong");
    assert_eq!(names, whole);
}

/// The mark before a checksum, behind the names of a directory.
#[test]
fn ext4_directory_without_checksum_reported() {
    let test = "ext4_directory_without_checksum_reported";
    let Some(image) = Image::new(test, &["-b", "1024", "-O", "metadata_csum"]) else { return };
    let (whole, _) = image.read();
    image.patch(|bytes| {
        let at = bytes.windows(6).position(|it| it == b"\x0C\0\x01\x02.\0").expect("a directory");
        assert_eq!(bytes[at - 4 + 1012..][..8], *b"\0\0\0\0\x0C\0\0\xDE");
        bytes[at - 4 + 1019] ^= 1;
    });
    let (names, errors) = image.read();
    assert_one(&errors, "the checksum of a block of the directory is wrong");
    assert!(names.is_subset(&whole));
}

/// The kernel mounts such a volume, if nothing is to be written.
#[test]
fn ext4_wrong_checksum_of_group_reported_and_all_listed() {
    let test = "ext4_wrong_checksum_of_group_reported_and_all_listed";
    for features in ["metadata_csum", "^metadata_csum,uninit_bg"] {
        let Some(image) = Image::new(test, &["-b", "1024", "-O", features]) else { return };
        let (whole, errors) = image.read();
        assert_eq!(errors, [""; 0]);
        // The descriptors are behind the superblock. Their checksum, and the number of inodes never used.
        for at in [0x1E, 0x1C] {
            image.patch(|bytes| bytes[2048 + at] ^= 4);
            let (names, errors) = image.read();
            assert_one(&errors, "the checksum of block group 0 is wrong");
            assert_eq!(names, whole);
            if let Some(expected) = image.read_mounted(test) {
                assert_eq!(names, expected);
            }
            image.patch(|bytes| bytes[2048 + at] ^= 4);
        }
    }
}
