//! The reader of a walk: one of directories, as the system has them, or one of whole volumes.

use std::path::{Path, PathBuf};

use transect_sys::{DiskSpace, ReaderKind, ReaderSettings, SystemReader, reader_of_kinds};
#[cfg(feature = "volumes")]
use transect_volumes::{OpenVolumes, VolumeReader};

use crate::plan::ScanPlan;

reader_of_kinds! {
    /// A reader of any [`ReaderKind`].
    AnyReader(Kinds),
    /// An open directory of an [`AnyReader`].
    AnyHandle(Handles):
    Directories(SystemReader),
    #[cfg(feature = "volumes")]
    Volumes(VolumeReader),
}

/// Makes the readers of one walk. They share the volumes that they read.
#[derive(Clone, Debug)]
pub(crate) struct Readers {
    kind: ReaderKind,
    settings: ReaderSettings,
    #[cfg(feature = "volumes")]
    pub(crate) volumes: OpenVolumes,
}

impl Readers {
    pub(crate) fn new(plan: &ScanPlan) -> Self {
        // Counting the cores of a container takes nine system calls, too many for a small directory.
        #[cfg(feature = "volumes")]
        let threads = ReaderKind::VOLUMES.contains(&plan.reader).then(|| plan.threads.busy());
        Self {
            kind: plan.reader,
            settings: plan.reader_settings,
            #[cfg(feature = "volumes")]
            volumes: OpenVolumes::new(threads, plan.auto_reader, plan.options.same_file_system),
        }
    }

    pub(crate) fn reader(&self) -> AnyReader {
        #[cfg(feature = "volumes")]
        if ReaderKind::VOLUMES.contains(&self.kind) {
            let reader = VolumeReader::new(self.kind, self.volumes.clone(), self.settings);
            return AnyReader(Kinds::Volumes(reader));
        }
        AnyReader(Kinds::Directories(SystemReader::new(self.kind, self.settings)))
    }
}

/// Queries the file system that the only root of a walk is on. Returns `None` for several roots, for file systems without
/// a size, such as `/proc`, for images of volumes, and if the query fails.
pub fn disk_space_of(roots: &[PathBuf]) -> Option<DiskSpace> {
    let [root] = roots else { return None };
    #[cfg(feature = "volumes")]
    if transect_volumes::reader_of(root).is_some() {
        return None;
    }
    let parent = || root.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = if root.is_dir() { root } else { parent().unwrap_or(Path::new(".")) };
    DiskSpace::of(directory).ok().filter(|disk| disk.size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_space_only_root_directory_or_file() {
        let size = |roots: &[&str]| {
            let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
            disk_space_of(&roots).map(|disk| disk.size)
        };
        assert_eq!(size(&["Cargo.toml"]), size(&["."]));
        assert!(size(&["."]).is_some());
        assert_eq!(size(&[".", "Cargo.toml"]), None);
        assert_eq!(size(&[]), None);
    }
}
