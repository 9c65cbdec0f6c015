//! The trees that a service follows.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use transect::Cancel;
use transect_live::{LiveTree, SharedTree};

use crate::serving::Event;

#[derive(Debug, Default)]
pub(crate) struct Trees(Mutex<Vec<Arc<Tree>>>);

#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    /// Set once the tree was read, or why it cannot be.
    shared: OnceLock<Result<Arc<SharedTree>, String>>,
    /// Ends the thread that follows it.
    end: Cancel,
}

impl Tree {
    fn new(root: PathBuf) -> Arc<Self> {
        Arc::new(Self { root, shared: OnceLock::new(), end: Cancel::new() })
    }

    /// Returns once the tree was ended.
    ///
    /// # Errors
    /// The reason why it is not followed, or not any more.
    fn follow(&self, on_event: &impl Fn(Event)) -> Result<(), String> {
        let shared = self.shared.get_or_init(|| {
            let live = LiveTree::open(&self.root, &self.end).map_err(|error| error.to_string())?;
            Ok(Arc::new(SharedTree::new(live)))
        });
        let shared = shared.as_ref().map_err(Clone::clone)?;
        if self.end.is_cancelled() {
            return Ok(());
        }
        on_event(Event::Followed { root: self.root.clone(), counts: shared.counts() });
        match shared.follow(&self.end) {
            Ok(()) if self.end.is_cancelled() => Ok(()),
            Ok(()) => Err("it is not there any more".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn end(&self) {
        self.end.cancel();
        if let Some(Ok(shared)) = self.shared.get() {
            shared.wake();
        }
    }
}

impl Trees {
    pub(crate) fn new(roots: Vec<PathBuf>) -> Self {
        let trees = roots.into_iter().map(Tree::new);
        Self(Mutex::new(trees.collect()))
    }

    pub(crate) fn all(&self) -> Vec<Arc<Tree>> {
        self.lock().clone()
    }

    /// Returns the tree with an absolute path, the one that begins lowest.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn with(&self, path: &Path) -> Result<Arc<SharedTree>, &'static str> {
        let lowest = lowest(&self.lock(), path).ok_or("not followed")?;
        let shared = lowest.shared.get().and_then(|shared| shared.as_ref().ok());
        shared.cloned().ok_or("still being read, or it cannot be read")
    }

    /// Follows a tree, until it is ended. Reports when it was read, and why it is not followed any more.
    pub(crate) fn follow(&self, tree: &Tree, on_event: &impl Fn(Event)) {
        if let Err(why) = tree.follow(on_event) {
            on_event(Event::NotFollowed { root: tree.root.clone(), why });
        }
    }

    pub(crate) fn end(&self) {
        self.lock().iter().for_each(|tree| tree.end());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Tree>>> {
        self.0.lock().expect("BUG: a thread panicked while it looked for a tree")
    }
}

fn lowest(all: &[Arc<Tree>], path: &Path) -> Option<Arc<Tree>> {
    let with = all.iter().filter(|tree| path.starts_with(&tree.root));
    with.max_by_key(|tree| tree.root.as_os_str().len()).cloned()
}
