//! The cached directories by path.

use std::hash::BuildHasher;
use std::path::Path;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use crossbeam_utils::CachePadded;
use hashbrown::HashTable;

use super::cached_dir::CachedDir;
use super::name_table::Hasher;
use super::split_path;

/// Enough locks that threads seldom wait for one.
const SHARDS: usize = 64;

type Shard = HashTable<Arc<CachedDir>>;

/// All cached directories. A thread that stays in one directory does not touch the map.
#[derive(Debug)]
pub(super) struct DirMap {
    hasher: Hasher,
    shards: Box<[CachePadded<RwLock<Shard>>]>,
    next_number: AtomicU64,
    /// The size of all entries in bytes.
    memory: AtomicIsize,
    /// The shard where the next eviction begins.
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

    /// The upper bits of the hash: the table inside a shard uses the lower ones.
    fn shard(&self, hash: u64) -> &RwLock<Shard> {
        &self.shards[(hash >> 32) as usize % SHARDS]
    }

    /// Returns the directory with a key, if it is cached.
    #[inline]
    pub(super) fn get(&self, key: &[u8]) -> Option<Arc<CachedDir>> {
        self.get_hashed(self.hasher.hash_one(key), key)
    }

    #[inline]
    fn get_hashed(&self, hash: u64, key: &[u8]) -> Option<Arc<CachedDir>> {
        let shard = self.shard(hash).read().expect(POISONED);
        shard.find(hash, |cached_dir| cached_dir.key() == key).map(Arc::clone)
    }

    /// Returns the directory with this path, new or not. `inside_roots`: any name in it may be
    /// looked up.
    pub(super) fn get_or_insert(&self, directory: &Path, inside_roots: bool) -> Arc<CachedDir> {
        let key = split_path::key(directory);
        let hash = self.hasher.hash_one(key);
        if let Some(cached_dir) = self.get_hashed(hash, key) {
            return cached_dir;
        }
        let mut shard = self.shard(hash).write().expect(POISONED);
        // Another thread may have inserted it meanwhile.
        let hash_of = |cached_dir: &Arc<CachedDir>| self.hasher.hash_one(cached_dir.key());
        let entry = shard.entry(hash, |cached_dir| cached_dir.key() == key, hash_of);
        let entry = entry.or_insert_with(|| {
            let number = self.next_number.fetch_add(1, Ordering::Relaxed);
            let cached_dir = CachedDir::new(directory.to_path_buf(), number, inside_roots);
            self.add_memory(cached_dir.own_memory() as isize);
            Arc::new(cached_dir)
        });
        Arc::clone(entry.get())
    }

    /// Adds to the size of all entries; a negative number subtracts.
    pub(super) fn add_memory(&self, bytes: isize) {
        self.memory.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn memory(&self) -> usize {
        usize::try_from(self.memory.load(Ordering::Relaxed)).unwrap_or(0)
    }

    pub(super) fn for_each(&self, mut each: impl FnMut(&Arc<CachedDir>)) {
        for shard in &self.shards {
            // Not under the lock: the function may take long.
            let cached_dirs: Vec<Arc<CachedDir>> =
                shard.read().expect(POISONED).iter().map(Arc::clone).collect();
            cached_dirs.iter().for_each(&mut each);
        }
    }

    /// Evicts directories until at most `bytes` are used: in the first round those not used since
    /// the last call, in the second any. Returns how many.
    pub(super) fn evict(&self, bytes: usize) -> usize {
        let mut evicted = 0;
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
            for cached_dir in &gone {
                let mut directory = cached_dir.write();
                directory.forget();
                directory.evicted = true;
                self.add_memory(directory.growth() - cached_dir.own_memory() as isize);
            }
            evicted += gone.len();
        }
        evicted
    }
}
