//! What all connections share: the cache, and the counters of the service.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use transect_cache::AttributeCache;

use crate::CACHED_FIELDS;
use crate::protocol::{ServerInfo, VERSION, path_from_bytes};
use crate::trees::Trees;

#[derive(Debug)]
pub(crate) struct Service {
    cache: AttributeCache,
    pub(crate) trees: Trees,
    roots: Vec<Vec<u8>>,
    began: Instant,
    /// Milliseconds after `began`, of the last request.
    last_request: AtomicU64,
    pub(crate) connections: AtomicU64,
    requests: AtomicU64,
    questions: AtomicU64,
    /// Questions that were answered from followed trees.
    followed: AtomicU64,
    pub(crate) refused: AtomicU64,
}

impl Service {
    pub(crate) fn new(cache: AttributeCache, roots: Vec<Vec<u8>>) -> Self {
        let (began, last_request) = (Instant::now(), AtomicU64::new(0));
        let [connections, requests, questions, followed, refused] = Default::default();
        let trees = Trees::default();
        Self {
            cache,
            trees,
            roots,
            began,
            last_request,
            connections,
            requests,
            questions,
            followed,
            refused,
        }
    }

    pub(crate) fn cache(&self) -> &AttributeCache {
        &self.cache
    }

    /// Returns the reply to hello.
    pub(crate) fn info(&self) -> ServerInfo {
        ServerInfo {
            version: VERSION,
            process: std::process::id(),
            level: self.cache.level().as_str().to_owned(),
            fields: CACHED_FIELDS,
            roots: self.roots.clone(),
        }
    }

    /// Returns the counters with their names.
    pub(crate) fn stats(&self) -> Vec<(&'static str, u64)> {
        let mut stats = self.cache.counts().named();
        stats.extend([
            ("memory", self.cache.memory() as u64),
            ("connections", self.connections.load(Ordering::Relaxed)),
            ("requests", self.requests.load(Ordering::Relaxed)),
            ("questions", self.questions.load(Ordering::Relaxed)),
            ("followed", self.followed.load(Ordering::Relaxed)),
            ("refused", self.refused.load(Ordering::Relaxed)),
        ]);
        stats
    }

    /// Counts a request with this number of paths or names.
    pub(crate) fn count_request(&self, questions: u64) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.questions.fetch_add(questions, Ordering::Relaxed);
        self.update_last_request();
    }

    /// Counts paths and names that were answered from followed trees.
    pub(crate) fn count_followed(&self, answers: usize) {
        self.followed.fetch_add(answers as u64, Ordering::Relaxed);
    }

    /// Returns whether the cache would answer questions about a directory.
    pub(crate) fn is_inside_roots(&self, directory: &Path) -> bool {
        let mut roots = self.roots.iter().map(|root| path_from_bytes(root));
        self.roots.is_empty() || roots.any(|root| directory.starts_with(root))
    }

    pub(crate) fn update_last_request(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_request.store(now, Ordering::Relaxed);
    }

    /// Returns the time since the last request.
    pub(crate) fn idle(&self) -> Duration {
        let last_request = Duration::from_millis(self.last_request.load(Ordering::Relaxed));
        self.began.elapsed().saturating_sub(last_request)
    }
}
