//! Actions on duplicates: no content is lost, whatever fails.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use transect_testkit::{Mount, TempDir, loudly_skip};

use crate::snapshot::Content;
use crate::torture::{Ended, PLAIN, Program, Scenario, torture};

/// Creates three groups: small files, large files, and files of which one has two names.
fn tree(work: &Path) {
    for directory in ["tree/a/inner", "tree/b"] {
        std::fs::create_dir_all(work.join(directory)).unwrap();
    }
    let large = "large\n".repeat(30_000);
    for (file, text) in [
        ("a/1", "small"),
        ("b/1", "small"),
        ("a/inner/2", large.as_str()),
        ("b/2", &large),
        ("b/3", &large),
        ("a/4", "linked"),
        ("b/4", "linked"),
        ("b/alone", "alone"),
    ] {
        let path = work.join("tree").join(file);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    }
    std::fs::hard_link(work.join("tree/b/4"), work.join("tree/b/5")).unwrap();
}

/// Checks that each content from before is still in a file, complete.
fn has_every_content(ended: &Ended<'_>) -> Result<(), String> {
    for (path, node) in ended.before {
        let is_file = matches!(node.content, Content::File(_));
        if is_file && !ended.found.values().any(|other| other.has_content_of(node)) {
            return Err(format!("the content of '{}' is lost", path.display()));
        }
    }
    Ok(())
}

/// Removes the time, at the end of the last line.
fn without_time(text: String) -> String {
    let lines: Vec<&str> =
        text.lines().map(|line| line.split("complete in").next().unwrap_or("")).collect();
    lines.join("\n")
}

fn scenario(
    name: &'static str,
    arguments: &'static [&'static str],
    again: &'static str,
) -> Scenario {
    Scenario {
        name,
        build: tree,
        program: Program::Transect(arguments),
        inside_only: true,
        normalize: without_time,
        also: has_every_content,
        again: Some(again),
        ..PLAIN
    }
}

#[test]
fn duplicates_removed_keep_one_file_of_each_content() {
    torture(&scenario(
        "duplicates --remove",
        &["duplicates", "--remove", "--keep", "first", "--yes", "--threads", "1", "tree"],
        "$TRANSECT duplicates --remove --keep first --yes tree",
    ));
}

/// Creates a Btrfs, where files can share blocks.
fn btrfs(at: &Path, image: &Path) -> Result<Mount, String> {
    Mount::image(image, 128 << 20, &["mkfs.btrfs", "-q"], at)
}

#[test]
fn duplicates_cloned_keep_every_name_and_content() {
    let name = "duplicates --clone";
    let temp = TempDir::new();
    if let Err(reason) = btrfs(&temp.join("try"), &temp.join("image")) {
        return loudly_skip(name, reason);
    }
    torture(&Scenario {
        mount: Some(btrfs),
        // Each run makes a file system.
        sample: 24,
        ..scenario(
            name,
            &["duplicates", "--clone", "--keep", "first", "--yes", "--threads", "1", "tree"],
            "$TRANSECT duplicates --clone --keep first --yes tree",
        )
    });
}

#[test]
fn duplicates_linked_keep_every_name_and_content() {
    torture(&scenario(
        "duplicates --link",
        &["duplicates", "--link", "--keep", "first", "--yes", "--threads", "1", "tree"],
        "$TRANSECT duplicates --link --keep first --yes tree",
    ));
}
