//! Trees that a running `transect live` follows: what commands ask it.

use std::path::{Path, PathBuf};

use transect::{FieldMask, FileType};
use transect_live::Cursor;
use transect_service::protocol::WordSearch;
use transect_service::{Client, Closer, Entries, TreeChanges};
use transect_sys::file::query_attributes;
use transect_sys::name_from_bytes;

use crate::args::{AskLive, AskLiveArgs, WalkArgs};
use crate::root_path;
use transect_program::{CliError, user_dirs};

/// The attributes that a followed tree has.
const FIELDS: FieldMask = transect_live::COLUMNS.union(FieldMask::NLINK);

/// What the totals of a table need.
pub(crate) const TOTALS: FieldMask = FieldMask::SIZE
    .union(FieldMask::ALLOCATED)
    .union(FieldMask::MTIME)
    .union(FieldMask::FILE_ID)
    .union(FieldMask::NLINK);

/// The entries of a followed tree.
pub(crate) struct Followed {
    pub(crate) entries: Entries,
    /// The path without links.
    pub(crate) root: PathBuf,
}

impl Followed {
    /// Says where the answer is from.
    pub(crate) fn text(&self) -> String {
        text(&self.root)
    }
}

fn text(root: &Path) -> String {
    format!("from `transect live`, which follows '{}'", root.display())
}

/// Returns a connection to the user's service, and the trees that it follows; `None` if there is none, or it is not to be
/// asked.
pub(crate) fn service(args: &AskLiveArgs) -> Option<(Client, Vec<PathBuf>)> {
    if args.live == AskLive::No || !cfg!(target_os = "linux") {
        return None;
    }
    // Whatever the reason is why it does not answer: the tree itself does.
    let client = Client::connect(&user_dirs::service_socket().ok()?).ok()?;
    let roots = client.server_info().roots.iter();
    let roots = roots.map(|root| PathBuf::from(name_from_bytes(root.clone()))).collect();
    Some((client, roots))
}

/// Returns the root that holds a path without links, the lowest of several.
pub(crate) fn lowest_of<'r>(roots: &'r [PathBuf], path: &Path) -> Option<&'r PathBuf> {
    let holds = |root: &&PathBuf| path.starts_with(root);
    roots.iter().filter(holds).max_by_key(|root| root.as_os_str().len())
}

/// Returns the entries below the only path of the arguments, if a service follows all of them. They have these attributes.
pub(crate) fn entries_of(args: &AskLiveArgs, walk: &WalkArgs, want: FieldMask) -> Option<Followed> {
    let path = match walk.paths.as_slice() {
        [] => Path::new("."),
        [path] => path,
        _ => return None,
    };
    if !walk.reads_as_usual() || !FIELDS.contains(want) {
        return None;
    }
    let (client, roots) = service(args)?;
    let is_directory = query_attributes(path, FieldMask::empty(), false)
        .is_ok_and(|it| it.file_type() == FileType::Directory);
    let root = root_path::resolved(path);
    if !is_directory || !roots.iter().any(|followed| root.starts_with(followed)) {
        return None;
    }
    let shown = path.as_os_str().to_owned();
    let followed = entries(client, root, want, WordSearch::default())?;
    Some(Followed { entries: followed.entries.named(shown), ..followed })
}

/// Returns the entries below a path without links whose names have all words, if the service follows all of them.
pub(crate) fn entries(
    client: Client,
    root: PathBuf,
    want: FieldMask,
    search: WordSearch<'_>,
) -> Option<Followed> {
    // No notification reports a mount.
    let is_below = |mount: &PathBuf| *mount != root && mount.starts_with(&root);
    let has_mounts = transect_sys::host::mount_points()?.iter().any(is_below);
    if !FIELDS.contains(want) || has_mounts {
        return None;
    }
    // Whatever the reason is why the answer does not begin: the tree itself does.
    let entries = client.entries(&root, want, search).ok().and_then(Result::ok);
    Some(Followed { entries: entries?, root })
}

/// The changes of a followed tree.
pub(crate) struct FollowedChanges {
    client: Client,
    /// The path without links, and as given.
    root: PathBuf,
    shown: PathBuf,
}

/// Returns the changes of a directory if it is one of those that a service follows.
pub(crate) fn changes_of(args: &AskLiveArgs, path: &Path) -> Option<FollowedChanges> {
    let (mut client, roots) = service(args)?;
    let root = root_path::resolved(path);
    if !roots.contains(&root) || !matches!(client.changes(&root, None, false), Ok(Ok(_))) {
        return None;
    }
    Some(FollowedChanges { client, root, shown: path.to_owned() })
}

impl FollowedChanges {
    /// Says where the changes are from.
    pub(crate) fn text(&self) -> String {
        text(&self.root)
    }

    /// Returns a handle that ends a wait from another thread.
    pub(crate) fn closer(&self) -> Closer {
        self.client.closer()
    }

    /// Returns what changed after a cursor; with `wait`, once something did.
    pub(crate) fn since(
        &mut self,
        cursor: Option<Cursor>,
        wait: bool,
    ) -> Result<TreeChanges, CliError> {
        let Self { client, root, shown } = self;
        let since = client.changes(root, cursor, wait)?.map_err(|why| {
            CliError::Failed(format!("`transect live` does not follow '{}': {why}", root.display()))
        });
        let mut since = since?;
        for change in since.changes.iter_mut().flatten() {
            for path in [Some(&mut change.path), change.from.as_mut()].into_iter().flatten() {
                if let Ok(below) = path.strip_prefix(&*root) {
                    *path = match below.as_os_str().is_empty() {
                        true => shown.clone(),
                        false => shown.join(below),
                    };
                }
            }
        }
        Ok(since)
    }
}
