//! The trees that a service follows.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use transect::{Cancel, Error};
use transect_live::{LiveTree, SharedTree};

use crate::serving::Event;
use crate::stored::{self, Storing};

#[derive(Debug, Default)]
pub(crate) struct Trees(Mutex<Vec<Arc<Tree>>>);

#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    /// The file that its table is stored in.
    file: Option<PathBuf>,
    /// A client requested it: it is forgotten when it ends.
    is_requested: bool,
    /// Set once the tree was read, or why it cannot be.
    shared: OnceLock<Result<Arc<SharedTree>, String>>,
    /// Ends the thread that follows it.
    end: Cancel,
    has_ended: AtomicBool,
}

impl Tree {
    fn new(root: PathBuf, file: Option<PathBuf>, is_requested: bool) -> Arc<Self> {
        let (shared, end, has_ended) = Default::default();
        Arc::new(Self { root, file, is_requested, shared, end, has_ended })
    }

    /// Waits until the tree was read.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn wait(&self) -> Result<&Arc<SharedTree>, String> {
        self.shared.wait().as_ref().map_err(Clone::clone)
    }

    fn is_live(&self) -> bool {
        let has_gone = |shared: &Arc<SharedTree>| shared.is_root_gone();
        let has_gone = self.shared.get().and_then(|it| it.as_ref().ok()).is_some_and(has_gone);
        !has_gone && !self.has_ended.load(Ordering::Relaxed)
    }

    /// Returns once the tree was ended. Meanwhile, stores its table `every` so often, and at the end.
    ///
    /// # Errors
    /// The reason why it is not followed, or not any more.
    fn follow(&self, every: Duration, on_event: &(impl Fn(Event) + Sync)) -> Result<(), String> {
        let not_stored = |why| on_event(Event::NotStored { root: self.root.clone(), why });
        // Without proofs, one thread would list everything.
        let file = self.file.as_ref().filter(|_| transect_sys::host::proves_changes(&self.root));
        let stored = file.and_then(|file| {
            stored::resume(file, &self.root, &self.end).map_err(not_stored).ok().flatten()
        });
        let is_stored = stored.is_some();
        let shared = self.shared.get_or_init(|| {
            let (live, before) = match stored {
                Some(stored) => stored,
                None => {
                    let live = LiveTree::open(&self.root, &self.end);
                    (live.map_err(|error| error.to_string())?, None)
                }
            };
            Ok(Arc::new(SharedTree::new(live, before)))
        });
        let shared = shared.as_ref().map_err(Clone::clone)?;
        if self.end.is_cancelled() {
            return Ok(());
        }
        if is_stored {
            shared.changes_since(None).map_err(|error| error.to_string())?;
        }
        let (root, counts) = (self.root.clone(), shared.counts());
        on_event(Event::Followed { root, counts, is_stored });
        let followed = match file {
            None => shared.follow(&self.end),
            Some(file) => {
                let storing = Storing { tree: shared, file: file.clone(), last: None };
                self.follow_and_store(storing, every, &not_stored)
            }
        };
        match followed {
            Ok(()) if self.end.is_cancelled() => Ok(()),
            Ok(()) => Err("it is not there any more".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Follows a tree while another thread stores it.
    fn follow_and_store(
        &self,
        mut storing: Storing<'_>,
        every: Duration,
        on_failure: &(impl Fn(String) + Sync),
    ) -> Result<(), Error> {
        let shared = storing.tree;
        let (ended, has_ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let store = move || {
                let mut last_failure = String::new();
                loop {
                    let waited = has_ended.recv_timeout(every);
                    if let Err(why) = storing.store()
                        && why != last_failure
                    {
                        on_failure(why.clone());
                        last_failure = why;
                    }
                    if waited != Err(RecvTimeoutError::Timeout) {
                        break;
                    }
                }
            };
            if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, store) {
                on_failure(transect::reason(&error));
            }
            let followed = shared.follow(&self.end);
            drop(ended);
            followed
        })
    }

    fn end(&self) {
        self.end.cancel();
        if let Some(Ok(shared)) = self.shared.get() {
            shared.wake();
        }
    }
}

impl Trees {
    pub(crate) fn new(roots: Vec<(PathBuf, Option<PathBuf>)>) -> Self {
        let trees = roots.into_iter().map(|(root, file)| Tree::new(root, file, false));
        Self(Mutex::new(trees.collect()))
    }

    pub(crate) fn all(&self) -> Vec<Arc<Tree>> {
        self.lock().clone()
    }

    /// Returns the roots of the trees that are followed.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        let trees = self.all().into_iter().filter(|tree| tree.is_live());
        trees.map(|tree| tree.root.clone()).collect()
    }

    /// Returns the trees that were read.
    pub(crate) fn read(&self) -> Vec<Arc<SharedTree>> {
        let shared = |tree: &Arc<Tree>| tree.shared.get()?.as_ref().ok().cloned();
        self.lock().iter().filter_map(shared).collect()
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

    /// Returns the tree with an absolute path once it was read; `None` if none is followed there.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub(crate) fn wait_for(&self, path: &Path) -> Result<Option<Arc<SharedTree>>, String> {
        let tree = lowest(&self.lock(), path).filter(|tree| tree.is_live());
        tree.map(|tree| tree.wait().cloned()).transpose()
    }

    /// Adds a tree for a client. `start` makes another thread [`follow`](Trees::follow) it.
    ///
    /// # Errors
    /// The thread cannot be started, or the tree cannot be read.
    pub(crate) fn request(
        &self,
        root: PathBuf,
        start: &dyn Fn(Arc<Tree>) -> std::io::Result<()>,
    ) -> Result<Arc<SharedTree>, String> {
        let tree = {
            let mut all = self.lock();
            let same = |tree: &&Arc<Tree>| tree.root == root && tree.is_live();
            match all.iter().find(same) {
                Some(tree) => Arc::clone(tree),
                None => {
                    let tree = Tree::new(root, None, true);
                    start(Arc::clone(&tree)).map_err(|error| transect::reason(&error))?;
                    all.push(Arc::clone(&tree));
                    tree
                }
            }
        };
        tree.wait().cloned()
    }

    /// Ends a tree that a client requested. Returns whether there was one with this root.
    pub(crate) fn release(&self, root: &Path) -> bool {
        let mut all = self.lock();
        let found = all.iter().position(|tree| tree.is_requested && tree.root == root);
        found.map(|place| all.remove(place).end()).is_some()
    }

    /// Follows a tree, until it is ended, and stores it `every` so often. Reports when it was read, and why it is not followed any
    /// more.
    pub(crate) fn follow(&self, tree: &Tree, every: Duration, on_event: &(impl Fn(Event) + Sync)) {
        let followed = tree.follow(every, on_event);
        // Clients that wait for changes of it would wait forever. At the end of the service, their connections are closed.
        if let (true, Some(Ok(shared))) =
            (followed.is_err() || tree.is_requested, tree.shared.get())
        {
            shared.end();
        }
        if let Err(why) = followed {
            on_event(Event::NotFollowed { root: tree.root.clone(), why });
        }
        tree.has_ended.store(true, Ordering::Relaxed);
        self.lock().retain(|it| !it.is_requested || !it.has_ended.load(Ordering::Relaxed));
    }

    pub(crate) fn end(&self) {
        self.lock().iter().for_each(|tree| tree.end());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Tree>>> {
        self.0.lock().expect("BUG: a thread panicked while it looked for a tree")
    }
}

/// Of trees with the same root, the last one: those before have ended.
fn lowest(all: &[Arc<Tree>], path: &Path) -> Option<Arc<Tree>> {
    let with = all.iter().filter(|tree| path.starts_with(&tree.root));
    with.max_by_key(|tree| tree.root.as_os_str().len()).cloned()
}
