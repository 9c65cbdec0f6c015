//! The contenders that ship with the program: their sources are unpacked into the cache to be built.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use transect_sys::private_dir::{self, OtherUsers};

/// Expands each path to a pair of path and content.
macro_rules! sources {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../contenders/", $path)))),*]
    };
}

/// All sources except the test doubles of transforms.
const SOURCES: &[(&str, &str)] = sources![
    "c-attributes/ask.c",
    "c-attributes/contender.toml",
    "c-files/contender.toml",
    "c-files/pass.c",
    "c-posix/contender.toml",
    "c-posix/walk.c",
    "c-win32-files/contender.toml",
    "c-win32-files/pass.c",
    "c-win32/contender.toml",
    "c-win32/walk.c",
    "cpp-files/contender.toml",
    "cpp-files/pass.cpp",
    "cpp-std/contender.toml",
    "cpp-std/walk.cpp",
    "csharp/Walk.cs",
    "csharp/contender.toml",
    "dotnet/build.sh",
    "dotnet/contender.toml",
    "go/contender.toml",
    "go/cpu_unix.go",
    "go/cpu_windows.go",
    "go/go.mod",
    "go/walk.go",
    "groovy/contender.toml",
    "groovy/run.sh",
    "groovy/walk.groovy",
    "java/CpuTime.java",
    "java/Walk.java",
    "java/contender.toml",
    "node/contender.toml",
    "node/walk.js",
    "python-attributes/ask.py",
    "python-attributes/contender.toml",
    "python/contender.toml",
    "python/walk.py",
    "qt/build.sh",
    "qt/contender.toml",
    "qt/walk.cpp",
    // Wrong on purpose: sessions leave it out, and the self-test needs it.
    "test-double/contender.toml",
    "test-double/walk.py",
];

/// Returns the paths and the texts of the sources.
pub(super) fn sources() -> &'static [(&'static str, &'static str)] {
    SOURCES
}

/// Unpacks the sources below `cache`, unless the same version is there, and returns their directory.
///
/// # Errors
/// `cache` is not private, or a system call fails.
pub fn unpack(cache: &Path) -> std::io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    SOURCES.hash(&mut hasher);
    directory_in(cache, &format!("sources-{:016x}", hasher.finish()), |new| {
        SOURCES.iter().try_for_each(|(path, content)| {
            let file = new.join(path);
            std::fs::create_dir_all(file.parent().unwrap_or(new))?;
            std::fs::write(file, content)
        })
    })
}

/// Returns a directory below `cache`, which `fill` fills if it does not exist: it has its name when it is complete.
/// `cache` has to be a private directory, as programs run from there; it is created if missing.
pub(super) fn directory_in(
    cache: &Path,
    name: &str,
    fill: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<PathBuf> {
    private_dir::create_all(cache, OtherUsers::ReadOnly)?;
    let complete = cache.join(name);
    if complete.is_dir() {
        return Ok(complete);
    }
    let new = cache.join(format!("{name}.{}.new", std::process::id()));
    let filled = std::fs::create_dir_all(&new).and_then(|()| fill(&new));
    if let Err(error) = filled.and_then(|()| std::fs::rename(&new, &complete)) {
        let _ = std::fs::remove_dir_all(&new);
        // Another process may have been faster.
        return if complete.is_dir() { Ok(complete) } else { Err(error) };
    }
    Ok(complete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a directory of sources, not a tree to be measured"
    )]
    fn unpack_writes_every_source_unchanged() {
        let contenders = Path::new(env!("CARGO_MANIFEST_DIR")).join("contenders");
        let mut expected = Vec::new();
        for folder in std::fs::read_dir(&contenders).expect("the contenders") {
            let folder = folder.expect("an entry").path();
            let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
            if !folder.is_dir() || name == "test-double-files" {
                continue;
            }
            for file in std::fs::read_dir(&folder).expect("a contender") {
                let file = file.expect("an entry").file_name().to_string_lossy().into_owned();
                expected.push(format!("{name}/{file}"));
            }
        }
        expected.sort();
        let paths: Vec<&str> = SOURCES.iter().map(|(path, _)| *path).collect();
        assert_eq!(paths, expected);

        let temp = TempDir::new();
        let cache = temp.join("cache");
        let folder = unpack(&cache).expect("a directory that can be written");
        assert_eq!(unpack(&cache).expect("it is there"), folder);
        for path in paths {
            let written = std::fs::read(folder.join(path)).expect("a source");
            assert_eq!(written, std::fs::read(contenders.join(path)).expect("a source"), "{path}");
        }
        assert_eq!(std::fs::read_dir(&cache).expect("the cache").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn unpack_refuses_folder_writable_by_others() {
        use std::os::unix::fs::PermissionsExt;
        let temp = TempDir::new();
        let planted = unpack(&temp.join("planted")).expect("a directory that can be written");
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(temp.join("planted"), open).expect("a directory of our own");
        assert!(planted.is_dir());
        let refused = unpack(&temp.join("planted")).expect_err("others can write to it");
        assert!(refused.to_string().starts_with("other users can write to '"), "{refused}");
        std::os::unix::fs::symlink("elsewhere", temp.join("link")).expect("a new name");
        let refused = unpack(&temp.join("link")).expect_err("it is a link");
        assert!(refused.to_string().ends_with("link' is not a directory"), "{refused}");
    }
}
