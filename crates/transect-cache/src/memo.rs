//! The directories that something is known of, by their spelling.

use std::hash::BuildHasher;
use std::path::Path;
use std::sync::atomic::{AtomicIsize, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};

use crossbeam_utils::CachePadded;
use hashbrown::HashTable;

use super::place::Place;
use super::spelling;
use super::table::Hasher;

/// So many locks that threads seldom meet at one.
const SHARDS: usize = 64;

type Shard = HashTable<Arc<Place>>;

/// All places. The map is only asked when the directory changes from one question to the next.
#[derive(Debug)]
pub(super) struct Memo {
    hasher: Hasher,
    shards: Box<[CachePadded<RwLock<Shard>>]>,
    next_number: AtomicU64,
    /// Bytes of all that is known.
    memory: AtomicIsize,
    /// The shard at which the next search for something to evict begins.
    hand: AtomicUsize,
}

const POISONED: &str = "BUG: a thread panicked while it changed the map";

impl Memo {
    pub(super) fn new(hasher: Hasher) -> Self {
        Self {
            hasher,
            shards: (0..SHARDS).map(|_| CachePadded::default()).collect(),
            next_number: AtomicU64::new(0),
            memory: AtomicIsize::new(0),
            hand: AtomicUsize::new(0),
        }
    }

    /// The upper bits: the table within a shard goes by the lower ones.
    fn shard(&self, hash: u64) -> &RwLock<Shard> {
        &self.shards[(hash >> 32) as usize % SHARDS]
    }

    /// Returns the directory that is kept under a key, if it is known.
    #[inline]
    pub(super) fn find(&self, key: &[u8]) -> Option<Arc<Place>> {
        self.find_hashed(self.hasher.hash_one(key), key)
    }

    #[inline]
    fn find_hashed(&self, hash: u64, key: &[u8]) -> Option<Arc<Place>> {
        let shard = self.shard(hash).read().expect(POISONED);
        shard.find(hash, |place| place.key() == key).map(Arc::clone)
    }

    /// Returns the directory of that spelling, known or not; `inside` says whether all names in it
    /// may be asked about.
    pub(super) fn place(&self, directory: &Path, inside: bool) -> Arc<Place> {
        let key = spelling::key(directory);
        let hash = self.hasher.hash_one(key);
        if let Some(place) = self.find_hashed(hash, key) {
            return place;
        }
        let mut shard = self.shard(hash).write().expect(POISONED);
        // Somebody may have been faster.
        if let Some(place) = shard.find(hash, |place| place.key() == key) {
            return Arc::clone(place);
        }
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let place = Arc::new(Place::new(directory.to_path_buf(), number, inside));
        self.grow(place.own_memory() as isize);
        let hasher = &self.hasher;
        shard.insert_unique(hash, Arc::clone(&place), |place| hasher.hash_one(place.key()));
        place
    }

    /// Counts bytes that were taken, or given back.
    pub(super) fn grow(&self, bytes: isize) {
        self.memory.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns how many bytes all that is known takes.
    pub(super) fn memory(&self) -> usize {
        usize::try_from(self.memory.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Calls a function for every place.
    pub(super) fn each(&self, mut each: impl FnMut(&Arc<Place>)) {
        for shard in &self.shards {
            // Not under the lock: what is done may take its time.
            let places: Vec<Arc<Place>> =
                shard.read().expect(POISONED).iter().map(Arc::clone).collect();
            places.iter().for_each(&mut each);
        }
    }

    /// Evicts directories that nobody asked about since it was last tried, until at most `bytes`
    /// are taken; with the second turn all that there are. Returns those evicted.
    pub(super) fn evict(&self, bytes: usize) -> Vec<Arc<Place>> {
        let mut evicted = Vec::new();
        for _ in 0..2 * SHARDS {
            if self.memory() <= bytes {
                break;
            }
            let hand = self.hand.fetch_add(1, Ordering::Relaxed) % SHARDS;
            let mut shard = self.shards[hand].write().expect(POISONED);
            let gone = shard.extract_if(|place| !place.was_used());
            let gone: Vec<Arc<Place>> = gone.collect();
            let hasher = &self.hasher;
            shard.shrink_to_fit(|place| hasher.hash_one(place.key()));
            drop(shard);
            gone.iter().for_each(|place| self.retire(place));
            evicted.extend(gone);
        }
        evicted
    }

    fn retire(&self, place: &Place) {
        let mut directory = place.change();
        directory.retire();
        self.grow(directory.growth() - place.own_memory() as isize);
    }
}
