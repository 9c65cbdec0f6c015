//! Causes that Linux shows: `/proc`, and the mount table.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use transect::{ScanOptions, Totals};
use transect_sys::linux::{self, DeletedFiles, Mount, UncoveredMount};
use transect_text::quote;

use super::{Covered, Deleted, NotFound};

/// Returns the known causes, without sizes of the disk; `None` if `root` is not a mount point.
pub(super) fn find(root: &Path, options: &ScanOptions) -> Option<NotFound> {
    let path = root.canonicalize().ok()?;
    let mounts = linux::mounts().ok()?;
    // A later mount at the same point hides the earlier ones.
    let mount = mounts.iter().rev().find(|mount| mount.point == path)?;
    let device = root.metadata().ok()?.dev();
    let deleted = DeletedFiles::on_device(device).unwrap_or_default();
    let largest = deleted.largest.map(|file| {
        let program = quote::for_terminal(file.program.as_ref());
        (file.size, format!("{program} (process {})", file.process))
    });
    Some(NotFound {
        deleted: Deleted {
            files: deleted.files,
            size: deleted.size,
            unreadable_processes: deleted.unreadable_processes,
            largest,
        },
        covered: covered(root, mount, &mounts, options),
        mounted_directory: (mount.directory != Path::new("/")).then(|| mount.directory.clone()),
        remark: remark(&mount.file_system),
        ..NotFound::default()
    })
}

/// Returns what the kind of file system explains.
fn remark(file_system: &str) -> Option<&'static str> {
    Some(match file_system {
        "btrfs" => {
            "other subvolumes and snapshots, which -x skips (`btrfs subvolume list` shows them)"
        }
        "zfs" => "snapshots (`zfs list -t snapshot` shows them)",
        "overlay" => "other data on the disk below the overlay, whose size and use are shown",
        _ => return None,
    })
}

/// Returns the directories of a mount that other mounts cover, without those known to be empty.
fn covered(root: &Path, mount: &Mount, mounts: &[Mount], options: &ScanOptions) -> Vec<Covered> {
    let uncovered = UncoveredMount::open(&mount.point);
    let above = mounts.iter().filter(|above| above.parent == mount.id && above.id != mount.id);
    let below = above.filter_map(|above| above.point.strip_prefix(&mount.point).ok());
    let mut covered: Vec<Covered> = below
        .filter(|below| !below.as_os_str().is_empty())
        .filter_map(|below| {
            let path = root.join(below);
            let Ok(uncovered) = &uncovered else { return Some(Covered { path, size: None }) };
            let options = ScanOptions::new([uncovered.path(below)])
                .same_file_system(true)
                .cancel(options.cancel.clone());
            let found = options.plan().and_then(|plan| plan.run(|| Totals::new(0)));
            let found = found.ok().filter(|found| !found.interrupted)?.sink;
            // A covered file is mounted on, too.
            let size = found.sizes.disk_usage();
            let is_empty = size == 0 || (found.directories == 1 && found.entries() == 1);
            (!is_empty).then_some(Covered { path, size: Some(size) })
        })
        .collect();
    covered.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.path.cmp(&b.path)));
    covered.dedup_by(|a, b| a.path == b.path);
    covered
}
