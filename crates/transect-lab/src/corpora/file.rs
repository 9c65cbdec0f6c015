//! Single files with fixed content, the same on every machine: the inputs of transforms.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use transect::Cancel;
use transect_transform::publish::{Durability, Existing, ReplaceOptions, Replacement};

use super::error::CorpusError;
use super::free_space::free_space_at;
use transect_stats::SplitMix64;

/// Content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The bytes from 32 to 127 in order, restarting every [`TILE`] bytes, as in the fourth article.
    Printable96,
    /// Random bytes from a seed: incompressible.
    Random,
    /// [`EXTENT_DATA`] random bytes at the beginning of every [`EXTENT`] bytes; the rest are holes.
    Sparse,
}

/// Bytes after which the printable pattern restarts: the block size of the article's tool.
pub const TILE: usize = 4096;

/// Distance between data ranges of a sparse file, in bytes.
pub const EXTENT: u64 = 1 << 20;

/// Bytes of data in each [`EXTENT`]: a sixteenth.
pub const EXTENT_DATA: u64 = 64 << 10;

/// Bytes per write.
const BLOCK: usize = 1 << 20;

impl Pattern {
    /// All patterns.
    pub const ALL: &[Self] = &[Self::Printable96, Self::Random, Self::Sparse];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Printable96 => "printable96",
            Self::Random => "random",
            Self::Sparse => "sparse",
        }
    }

    /// Returns a short description.
    pub fn about(self) -> &'static str {
        match self {
            Self::Printable96 => {
                "the bytes from 32 to 127 in order, anew every 4 KiB, as in the article"
            }
            Self::Random => "drawn from a seed; cannot be compressed",
            Self::Sparse => "64 KiB drawn from a seed in every MiB, the rest are holes",
        }
    }

    /// Returns whether the content depends on the seed.
    pub fn uses_seed(self) -> bool {
        self != Self::Printable96
    }
}

/// Specification of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// Its content.
    pub pattern: Pattern,
    /// Its length in bytes.
    pub size: u64,
    /// Seed of random content.
    pub seed: u64,
}

impl FileSpec {
    /// Returns the number of bytes that are not holes.
    pub fn data_bytes(&self) -> u64 {
        match self.pattern {
            Pattern::Sparse => {
                self.size / EXTENT * EXTENT_DATA + (self.size % EXTENT).min(EXTENT_DATA)
            }
            _ => self.size,
        }
    }
}

/// Why a file was not created. Nothing is left of it, and an existing file is unchanged.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileError {
    /// There is not enough free space. Nothing was written.
    NotEnoughSpace {
        /// Its path.
        path: PathBuf,
        /// Bytes it needs.
        needed: u64,
        /// Free bytes.
        free: u64,
    },
    /// The free space could not be queried.
    FreeSpace(CorpusError),
    /// The file could not be written.
    Write(transect_transform::Error),
    /// The operation was cancelled.
    Cancelled,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEnoughSpace { path, needed, free } => {
                let path = path.display();
                write!(f, "no room for '{path}': it needs {needed} bytes, {free} bytes are free")
            }
            Self::FreeSpace(error) => error.fmt(f),
            Self::Write(error) => error.fmt(f),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::FreeSpace(error) => Some(error),
            Self::Write(error) => Some(error),
            Self::NotEnoughSpace { .. } | Self::Cancelled => None,
        }
    }
}

impl From<transect_transform::Error> for FileError {
    fn from(error: transect_transform::Error) -> Self {
        Self::Write(error)
    }
}

/// Creates a file and returns how long it took, including the sync to the device. The file is written
/// under a temporary name and renamed when complete. `existing` decides whether it may replace a file.
///
/// `progress` is called with the bytes written so far, after each MiB.
///
/// # Errors
/// See [`FileError`].
pub fn create_file(
    spec: &FileSpec,
    path: &Path,
    existing: Existing,
    progress: &mut dyn FnMut(u64),
    cancel: &Cancel,
) -> Result<Duration, FileError> {
    let began = Instant::now();
    let options = ReplaceOptions::default().existing(existing).durability(Durability::File);
    let mut file = Replacement::begin(path, None, options)?;
    let (needed, free) =
        (spec.data_bytes(), free_space_at(path).map_err(FileError::FreeSpace)?.bytes);
    if let Some(free) = free.filter(|free| *free < needed) {
        return Err(FileError::NotEnoughSpace { path: path.to_owned(), needed, free });
    }
    file.start()?;
    if spec.pattern != Pattern::Sparse {
        file.reserve(spec.size)?;
    }
    let mut content = DataGenerator::of(spec);
    let mut block = vec![0; BLOCK];
    while file.length() < spec.size {
        if cancel.is_cancelled() {
            return Err(FileError::Cancelled);
        }
        let left = spec.size - file.length();
        let extent = left.min(BLOCK as u64);
        let data = match spec.pattern {
            Pattern::Sparse => extent.min(EXTENT_DATA),
            _ => extent,
        };
        let part = &mut block[..data as usize];
        content.fill(part);
        file.append(part)?;
        file.skip(extent - data)?;
        progress(file.length());
    }
    file.publish()?;
    Ok(began.elapsed())
}

/// Generates the data of a file, in order, without holes.
enum DataGenerator {
    Tiles,
    Drawn(SplitMix64),
}

impl DataGenerator {
    fn of(spec: &FileSpec) -> Self {
        match spec.pattern {
            Pattern::Printable96 => Self::Tiles,
            Pattern::Random | Pattern::Sparse => Self::Drawn(SplitMix64::new(spec.seed)),
        }
    }

    /// Fills a block with the next bytes. Every block but the last must be a multiple of [`TILE`].
    fn fill(&mut self, block: &mut [u8]) {
        match self {
            Self::Tiles => {
                for tile in block.chunks_mut(TILE) {
                    for (byte, printable) in tile.iter_mut().zip((32..128).cycle()) {
                        *byte = printable;
                    }
                }
            }
            Self::Drawn(random) => {
                for eight in block.chunks_mut(8) {
                    eight.copy_from_slice(&random.bits().to_le_bytes()[..eight.len()]);
                }
            }
        }
    }
}

// A block holds whole tiles, and is one extent.
const _: () = assert!(BLOCK.is_multiple_of(TILE) && BLOCK as u64 == EXTENT);

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use transect_testkit::TempDir;

    fn definition(pattern: Pattern, size: u64) -> FileSpec {
        FileSpec { pattern, size, seed: 7 }
    }

    fn create(spec: &FileSpec, path: &Path) -> Result<Duration, FileError> {
        create_file(spec, path, Existing::Keep, &mut |_| {}, &Cancel::new())
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = folder
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn printable_pattern_matches_article() {
        let temp = TempDir::new();
        for size in [0, 1, 95, 97, 4095, 4097, (1 << 20) + 4097] {
            let path = temp.join(size.to_string());
            create(&definition(Pattern::Printable96, size), &path).unwrap();
            let content = fs::read(&path).unwrap();
            assert_eq!(content.len() as u64, size);
            for (at, &byte) in content.iter().enumerate() {
                assert_eq!(usize::from(byte), 32 + at % 4096 % 96, "byte {at} of {size}");
            }
        }
    }

    #[test]
    fn seeded_content_depends_on_seed_only() {
        let temp = TempDir::new();
        let size = (3 << 20) + 5;
        let make = |name: &str, size, seed| {
            let definition = FileSpec { pattern: Pattern::Random, size, seed };
            create(&definition, &temp.join(name)).unwrap();
            fs::read(temp.join(name)).unwrap()
        };
        let one = make("one", size, 7);
        assert_eq!(one, make("again", size, 7));
        assert_ne!(one, make("other", size, 8));
        assert_eq!(one[..100], make("short", 100, 7), "a longer file begins as a shorter one");
        // The first draw of the published generator: the same on every machine.
        assert_eq!(one[..8], SplitMix64::new(7).bits().to_le_bytes());
        // Every byte value is about equally frequent: 12,288 times, with a standard deviation of 111.
        let mut counts = [0_u32; 256];
        one.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        assert!(counts.iter().all(|&count| count.abs_diff(12_288) < 111 * 6), "{counts:?}");
    }

    #[test]
    fn sparse_file_has_data_at_extents_and_zeros_elsewhere() {
        let temp = TempDir::new();
        for size in [0, 1, 64 << 10, (64 << 10) + 1, 1 << 20, (3 << 20) + 70_000] {
            let (path, definition) =
                (temp.join(size.to_string()), definition(Pattern::Sparse, size));
            create(&definition, &path).unwrap();
            let content = fs::read(&path).unwrap();
            assert_eq!(content.len() as u64, size);
            let mut data = 0;
            for extent in content.chunks(EXTENT as usize) {
                let (drawn, hole) = extent.split_at(extent.len().min(EXTENT_DATA as usize));
                assert!(hole.iter().all(|&byte| byte == 0), "{size}");
                assert!(drawn.len() < 64 || drawn.iter().any(|&byte| byte != 0), "{size}");
                data += drawn.len() as u64;
            }
            assert_eq!(definition.data_bytes(), data);
        }
    }

    #[cfg(unix)]
    #[test]
    fn sparse_file_holes_take_no_blocks() {
        use std::os::unix::fs::MetadataExt;
        let temp = TempDir::new();
        let path = temp.join("file");
        create(&definition(Pattern::Sparse, 64 << 20), &path).unwrap();
        let occupied = fs::File::open(&path).unwrap().metadata().unwrap().blocks() * 512;
        assert!(occupied < 8 << 20, "{occupied} bytes are occupied");
    }

    #[test]
    fn existing_file_kept_unless_replace() {
        let temp = TempDir::new();
        let path = temp.join("file");
        fs::write(&path, "precious").unwrap();
        let definition = definition(Pattern::Printable96, 10);
        let refused = create(&definition, &path).unwrap_err();
        assert!(refused.to_string().contains("it already exists"), "{refused}");
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        let replaced =
            create_file(&definition, &path, Existing::Replace, &mut |_| {}, &Cancel::new());
        replaced.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b" !\"#$%&'()");
        assert!(create(&definition, &temp.join("missing/file")).is_err());
        assert!(create(&definition, &temp.join("..")).is_err());
        assert_eq!(names(temp.path()), ["file"]);
    }

    #[test]
    fn cancelled_creation_leaves_nothing() {
        let temp = TempDir::new();
        let (path, cancel) = (temp.join("file"), Cancel::new());
        let mut told = Vec::new();
        let mut stop = |bytes| {
            told.push(bytes);
            cancel.cancel();
        };
        let definition = definition(Pattern::Random, 5 << 20);
        let stopped = create_file(&definition, &path, Existing::Keep, &mut stop, &cancel);
        assert!(matches!(stopped, Err(FileError::Cancelled)));
        assert_eq!(told, [1 << 20]);
        assert!(names(temp.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn creation_without_space_writes_nothing() {
        let temp = TempDir::new();
        // Larger than any device, but a valid file size.
        let definition = definition(Pattern::Random, 1 << 60);
        let refused = create(&definition, &temp.join("file")).unwrap_err();
        assert!(
            matches!(refused, FileError::NotEnoughSpace { needed, .. } if needed == 1 << 60),
            "{refused}"
        );
        assert!(names(temp.path()).is_empty());
    }
}
