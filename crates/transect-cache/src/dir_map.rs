//! The directories that something is known of, by their split.

use std::hash::BuildHasher;
use std::path::Path;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use crossbeam_utils::CachePadded;
use hashbrown::HashTable;

use super::cached_dir::CachedDir;
use super::name_table::Hasher;
use super::split_path;

/// So many locks that threads seldom meet at one.
const SHARDS: usize = 64;

type Shard = HashTable<Arc<CachedDir>>;

/// All places. The map is only asked when the directory changes from one question to the next.
#[derive(Debug)]
pub(super) struct DirMap {
    hasher: Hasher,
    shards: Box<[CachePadded<RwLock<Shard>>]>,
    next_number: AtomicU64,
    /// Bytes of all that is known.
    memory: AtomicIsize,
    /// The shard at which the next search for something to evict begins.
    clock_hand: AtomicUsize,
}

const POISONED: &str = "BUG: a thread panicked while it changed the map";

impl DirMap {
    pub(super) fn new(hasher: Hasher) -> Self {
        Self {
            hasher,
            shards: (0..SHARDS).map(|_| CachePadded::default()).collect(),
            next_number: AtomicU64::new(0),
            memory: AtomicIsize::new(0),
            clock_hand: AtomicUsize::new(0),
        }
    }

    /// The upper bits: the table within a shard goes by the lower ones.
    fn shard(&self, hash: u64) -> &RwLock<Shard> {
        &self.shards[(hash >> 32) as usize % SHARDS]
    }

    /// Returns the directory that is kept under a key, if it is known.
    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Option<Arc<CachedDir>> {
        self.get_hashed(self.hasher.hash_one(key), key)
    }

    #[inline]
    fn get_hashed(&self, hash: u64, key: &[u8]) -> Option<Arc<CachedDir>> {
        let shard = self.shard(hash).read().expect(POISONED);
        shard.find(hash, |cached_dir| cached_dir.key() == key).map(Arc::clone)
    }

    /// Returns the directory of that split, known or not; `inside` says whether all names in it
    /// may be asked about.
    pub(super) fn get_or_insert(&self, directory: &Path, inside_roots: bool) -> Arc<CachedDir> {
        let key = split_path::key(directory);
        let hash = self.hasher.hash_one(key);
        if let Some(cached_dir) = self.get_hashed(hash, key) {
            return cached_dir;
        }
        let mut shard = self.shard(hash).write().expect(POISONED);
        // Somebody may have been faster.
        if let Some(cached_dir) = shard.find(hash, |cached_dir| cached_dir.key() == key) {
            return Arc::clone(cached_dir);
        }
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let cached_dir = Arc::new(CachedDir::new(directory.to_path_buf(), number, inside_roots));
        self.add_memory(cached_dir.own_memory() as isize);
        let hasher = &self.hasher;
        shard.insert_unique(hash, Arc::clone(&cached_dir), |cached_dir| {
            hasher.hash_one(cached_dir.key())
        });
        cached_dir
    }

    /// Counts bytes that were taken, or given back.
    pub(super) fn add_memory(&self, bytes: isize) {
        self.memory.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns how many bytes all that is known takes.
    pub(super) fn memory(&self) -> usize {
        usize::try_from(self.memory.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Calls a function for every place.
    pub(super) fn for_each(&self, mut each: impl FnMut(&Arc<CachedDir>)) {
        for shard in &self.shards {
            // Not under the lock: what is done may take its time.
            let cached_dirs: Vec<Arc<CachedDir>> =
                shard.read().expect(POISONED).iter().map(Arc::clone).collect();
            cached_dirs.iter().for_each(&mut each);
        }
    }

    /// Evicts directories that nobody asked about since it was last tried, until at most `bytes`
    /// are taken; with the second turn all that there are. Returns those evicted.
    pub(super) fn evict(&self, bytes: usize) -> Vec<Arc<CachedDir>> {
        let mut evicted = Vec::new();
        for _ in 0..2 * SHARDS {
            if self.memory() <= bytes {
                break;
            }
            let clock_hand = self.clock_hand.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let mut shard = self.shards[clock_hand].write().expect(POISONED);
            let gone = shard.extract_if(|cached_dir| !cached_dir.take_used());
            let gone: Vec<Arc<CachedDir>> = gone.collect();
            let hasher = &self.hasher;
            shard.shrink_to_fit(|cached_dir| hasher.hash_one(cached_dir.key()));
            drop(shard);
            gone.iter().for_each(|cached_dir| self.evict_dir(cached_dir));
            evicted.extend(gone);
        }
        evicted
    }

    fn evict_dir(&self, cached_dir: &CachedDir) {
        let mut directory = cached_dir.write();
        directory.evict();
        self.add_memory(directory.growth() - cached_dir.own_memory() as isize);
    }
}
