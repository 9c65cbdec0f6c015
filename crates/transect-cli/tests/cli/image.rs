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
