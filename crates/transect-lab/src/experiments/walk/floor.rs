//! The floor of walks on Windows: the fewest calls that do the work, and nothing else.
//!
//! On Linux, a contender in C is the floor. On Windows, where few machines have a compiler, it is part of
//! this program, and has the same names. It shares the declarations of the system's calls with the readers, and
//! nothing else.

use std::io;
use std::path::Path;

use crate::harness::protocol::RunLine;

transect_sys::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Floor {
        OneThread = "floor" =>
            "NtQueryDirectoryFile with 256 KiB, directories opened in their parents, and nothing else",
        EveryCore = "floor-threads" =>
            "the floor on every core, with a shared stack of open directories",
        ThirtyTwoThreads = "floor-32-threads" => "the floor on 32 threads, for cold caches",
    }
}

impl Floor {
    /// The floors that this program has on this system.
    pub const HERE: &[Self] = if cfg!(windows) { Self::ALL } else { &[] };

    pub fn find(name: &str) -> Option<Self> {
        Self::HERE.iter().copied().find(|floor| floor.as_str() == name)
    }

    pub fn is_parallel(self) -> bool {
        self != Self::OneThread
    }

    /// Walks a tree once. With `check`, also computes the digest; the time then means nothing.
    pub fn walk(self, root: &Path, check: bool) -> io::Result<RunLine> {
        #[cfg(windows)]
        return windows::walk(self, root, check);
        #[cfg(not(windows))]
        {
            let _ = (root, check);
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::ffi::OsString;
    use std::os::windows::ffi::OsStringExt;
    use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
    use std::thread::{available_parallelism, scope};

    use transect::FileType;
    use transect_sys::windows::{BareDirectory, BareEntry};

    use super::*;
    use crate::harness::stopwatch::Stopwatch;
    use crate::harness::tree_digest::{PathPrefix, TreeDigest};
    use crate::harness::work::Work;

    /// The buffer of one call, in bytes.
    const BUFFER: usize = 256 << 10;

    /// The open directories that wait for a thread. The finder reads what does not fit at once.
    const MOST_WAITING: usize = 256;

    /// The stack of a thread, for deep trees.
    const STACK: usize = 64 << 20;

    /// Walks on a thread of its own, which is started before the clock.
    pub(super) fn walk(floor: Floor, root: &Path, check: bool) -> io::Result<RunLine> {
        scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK);
            let walking = thread.spawn_scoped(scope, || timed(floor, root, check))?;
            walking.join().map_err(|_| panicked())?
        })
    }

    fn panicked() -> io::Error {
        io::Error::other("a thread panicked")
    }

    fn timed(floor: Floor, root: &Path, check: bool) -> io::Result<RunLine> {
        let threads = match floor {
            Floor::OneThread => 1,
            Floor::EveryCore => available_parallelism().map_or(1, usize::from),
            Floor::ThirtyTwoThreads => 32,
        };
        let watch = Stopwatch::start();
        let (work, digest) = match check {
            true => walk_on::<true>(threads, root)?,
            false => walk_on::<false>(threads, root)?,
        };
        let line = RunLine::measured(work, watch.stop());
        Ok(RunLine { digest: check.then(|| digest.to_string()), ..line })
    }

    fn walk_on<const CHECK: bool>(threads: usize, root: &Path) -> io::Result<(Work, TreeDigest)> {
        let root = BareDirectory::open(root)?;
        let mut digest = TreeDigest::default();
        let prefix = digest.add_root();
        let pool = Pool::new((root, prefix));
        let found = scope(|scope| {
            let start = |_| {
                let thread = std::thread::Builder::new().stack_size(STACK);
                thread.spawn_scoped(scope, || pool.work::<CHECK>(threads > 1))
            };
            // The calling thread is one of them.
            let started: io::Result<Vec<_>> = (1..threads).map(start).collect();
            let mut walkers = vec![pool.work::<CHECK>(threads > 1)];
            for thread in started? {
                walkers.push(thread.join().map_err(|_| panicked())?);
            }
            io::Result::Ok(walkers)
        })?;
        let mut work = Work { directories: 1, ..Work::default() };
        for walker in found {
            work.files += walker.work.files;
            work.directories += walker.work.directories;
            work.bytes += walker.work.bytes;
            work.errors += walker.work.errors;
            digest.merge(walker.digest);
        }
        Ok((work, digest))
    }

    /// The open directories that wait for a thread.
    struct Pool {
        shared: Mutex<Shared>,
        more: Condvar,
    }

    struct Shared {
        waiting: Vec<(BareDirectory, PathPrefix)>,
        busy: usize,
    }

    impl Pool {
        fn new(root: (BareDirectory, PathPrefix)) -> Self {
            let shared = Shared { waiting: vec![root], busy: 0 };
            Self { shared: Mutex::new(shared), more: Condvar::new() }
        }

        fn lock(&self) -> MutexGuard<'_, Shared> {
            self.shared.lock().unwrap_or_else(PoisonError::into_inner)
        }

        fn work<const CHECK: bool>(&self, is_shared: bool) -> Walker<'_, CHECK> {
            let mut walker = Walker {
                work: Work::default(),
                digest: TreeDigest::default(),
                buffers: Vec::new(),
                pool: is_shared.then_some(self),
            };
            let mut shared = self.lock();
            loop {
                while shared.waiting.is_empty() && shared.busy > 0 {
                    shared = self.more.wait(shared).unwrap_or_else(PoisonError::into_inner);
                }
                let Some((directory, prefix)) = shared.waiting.pop() else { break };
                shared.busy += 1;
                drop(shared);
                walker.read(directory, prefix, 0);
                shared = self.lock();
                shared.busy -= 1;
            }
            self.more.notify_all();
            walker
        }

        /// Gives an open directory to the threads; returns it if there is no room.
        fn give(&self, directory: BareDirectory, prefix: PathPrefix) -> Option<BareDirectory> {
            let mut shared = self.lock();
            if shared.waiting.len() == MOST_WAITING {
                return Some(directory);
            }
            shared.waiting.push((directory, prefix));
            drop(shared);
            self.more.notify_one();
            None
        }
    }

    struct Walker<'p, const CHECK: bool> {
        work: Work,
        digest: TreeDigest,
        /// One buffer per level.
        buffers: Vec<Vec<u64>>,
        /// `None` if there is only one thread.
        pool: Option<&'p Pool>,
    }

    impl<const CHECK: bool> Walker<'_, CHECK> {
        fn read(&mut self, directory: BareDirectory, prefix: PathPrefix, level: usize) {
            if level == self.buffers.len() {
                self.buffers.push(vec![0; BUFFER / size_of::<u64>()]);
            }
            let mut buffer = std::mem::take(&mut self.buffers[level]);
            let listed = directory.list(&mut buffer, |entry| {
                self.add(&directory, prefix, level, entry);
            });
            self.buffers[level] = buffer;
            self.work.errors += u64::from(listed.is_err());
        }

        fn add(
            &mut self,
            parent: &BareDirectory,
            prefix: PathPrefix,
            level: usize,
            BareEntry { name, file_type, size }: BareEntry<'_>,
        ) {
            match file_type {
                FileType::File => {
                    self.work.files += 1;
                    self.work.bytes += size;
                    if CHECK {
                        self.digest.add_file(prefix, &encoded(name), size);
                    }
                }
                FileType::Directory => {
                    self.work.directories += 1;
                    let below = match CHECK {
                        true => self.digest.add_directory(prefix, &encoded(name)),
                        false => prefix,
                    };
                    let Ok(directory) = parent.open_in(name) else {
                        self.work.errors += 1;
                        return;
                    };
                    let kept = match self.pool {
                        Some(pool) => pool.give(directory, below),
                        None => Some(directory),
                    };
                    if let Some(directory) = kept {
                        self.read(directory, below, level + 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns a name as WTF-8, as the digest has it.
    fn encoded(name: &[u8]) -> Vec<u8> {
        let units: Vec<u16> =
            name.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        OsString::from_wide(&units).into_encoded_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(windows)]
    #[test]
    fn floors_find_what_the_reference_walk_finds() {
        use crate::harness::inventory::Inventory;
        use transect_testkit::{TempDir, trees};

        let temp = TempDir::new();
        trees::many_small_dirs(temp.path());
        let inventory = Inventory::of(temp.path());
        let digest = inventory.digest.map(|digest| digest.to_string());
        for floor in Floor::HERE {
            let line = floor.walk(temp.path(), false).unwrap();
            assert_eq!((line.work, &line.digest), (inventory.work(), &None), "{floor:?}");
            assert!(line.elapsed_ns > 0);
            let line = floor.walk(temp.path(), true).unwrap();
            assert_eq!((line.work, &line.digest), (inventory.work(), &digest), "{floor:?}");
        }
        assert!(Floor::OneThread.walk(&temp.join("nowhere"), false).is_err());
    }

    #[test]
    fn floor_of_this_program_on_windows_only() {
        assert_eq!(Floor::find("floor").is_some(), cfg!(windows));
        assert_eq!(Floor::find("floor-of-glass"), None);
    }
}
