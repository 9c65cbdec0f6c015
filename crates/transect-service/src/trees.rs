//! The trees that a service follows.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use transect::Cancel;
use transect_live::{LiveTree, SharedTree};

use crate::serving::Event;

#[derive(Debug, Default)]
pub(crate) struct Trees {
    all: Vec<Tree>,
    /// Ends all threads that follow.
    end: Cancel,
}

#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    /// Set once the tree was read.
    shared: OnceLock<SharedTree>,
}

impl Trees {
    pub(crate) fn new(roots: Vec<PathBuf>) -> Self {
        let tree = |root| Tree { root, shared: OnceLock::new() };
        Self { all: roots.into_iter().map(tree).collect(), end: Cancel::new() }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tree> {
        self.all.iter()
    }

    /// Returns the tree with an absolute path, the one that begins lowest.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn with(&self, path: &Path) -> Result<&SharedTree, &'static str> {
        let with = self.all.iter().filter(|tree| path.starts_with(&tree.root));
        let lowest = with.max_by_key(|tree| tree.root.as_os_str().len()).ok_or("not followed")?;
        lowest.shared.get().ok_or("still being read, or it cannot be read")
    }

    /// Follows a tree, until all end. Reports when it was read, and why it is not followed any more.
    pub(crate) fn follow(&self, tree: &Tree, on_event: &impl Fn(Event)) {
        let root = tree.root.clone();
        let live = match LiveTree::open(&tree.root, &self.end) {
            Ok(live) => live,
            Err(error) => return on_event(Event::NotFollowed { root, why: error.to_string() }),
        };
        let shared = tree.shared.get_or_init(|| SharedTree::new(live));
        if self.end.is_cancelled() {
            return;
        }
        on_event(Event::Followed { root: root.clone(), counts: shared.counts() });
        let why = match shared.follow(&self.end) {
            Ok(()) if self.end.is_cancelled() => return,
            Ok(()) => "it is not there any more".to_owned(),
            Err(error) => error.to_string(),
        };
        on_event(Event::NotFollowed { root, why });
    }

    pub(crate) fn end(&self) {
        self.end.cancel();
        self.all.iter().filter_map(|tree| tree.shared.get()).for_each(SharedTree::wake);
    }
}
