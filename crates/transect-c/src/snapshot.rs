//! Snapshots: what changed in a tree since it was last read.

use std::ffi::{c_char, c_void};
use std::io::ErrorKind;
use std::path::Path;
use std::ptr;

use transect::FieldMask;
use transect_snapshot::{Change, DiffOptions, LiveTree, ReadError, Snapshot, diff, write};
use transect_transform::publish::put_with;

use crate::boundary::{Out, Text, functions, required};
use crate::failure::Failure;
use crate::options::WalkOptions;
use crate::walk::WalkCounts;

/// `transect_change`.
#[repr(C)]
#[derive(Debug)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct CChange {
    pub kind: u32,
    pub consequence: u32,
    pub path: *const c_char,
    pub path_length: usize,
    pub from: *const c_char,
    pub from_length: usize,
}

/// `transect_on_change`. `C-unwind` as [`OnEntry`](crate::walk::OnEntry).
pub type OnChange = unsafe extern "C-unwind" fn(context: *mut c_void, change: &CChange);

functions! {
    transect_snapshot_update(
        snapshot: Text<'_>,
        path: Text<'_>,
        options: Option<&WalkOptions>,
        on_change: Option<OnChange>,
        context: *mut c_void,
        counts: Out<'_, WalkCounts>
    ) {
        let (file, root) = (snapshot.path("snapshot")?, path.path("path")?);
        let (on_change, options) =
            (required(on_change, "on_change")?, options.cloned().unwrap_or_default());
        // Before the walk, which may take long.
        let before = open(&file)?;
        // If the path has no absolute form, the walk reports the error.
        let root = std::path::absolute(&root).unwrap_or(root.into_owned());
        let tree = LiveTree::read(options.with_root(&root), options.fields())?;
        options.require_not_cancelled()?;
        let mut found = WalkCounts::new(tree.table().len(), tree.table().diagnostics());
        found.compared = before.is_some().into();
        if let Some(before) = before {
            report_changes(&before, &tree, &file, on_change, context)?;
        }
        store(&tree, &file, &options)?;
        if let Some(counts) = counts {
            counts.write(found);
        }
    }
}

/// Opens a snapshot; `None` if there is none yet.
fn open(file: &Path) -> Result<Option<Snapshot>, Failure<'static>> {
    match Snapshot::open(file) {
        Ok(snapshot) => Ok(Some(snapshot)),
        Err(ReadError::Io(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::ReadSnapshot(error, file.to_owned())),
    }
}

/// Calls `on_change` for everything that changed, once all of it is known.
fn report_changes(
    before: &Snapshot,
    tree: &LiveTree,
    file: &Path,
    on_change: OnChange,
    context: *mut c_void,
) -> Result<(), Failure<'static>> {
    let mut options = DiffOptions::default();
    // File systems allocate some time after a file was written.
    options.ignored = FieldMask::ALLOCATED;
    let found = diff(before, tree, &options);
    for change in found.map_err(|error| Failure::ReadSnapshot(error, file.to_owned()))?.changes {
        report(change.into(), on_change, context);
    }
    Ok(())
}

/// What a change consists of. The paths have no NUL at the end.
pub(crate) struct ChangeParts {
    pub(crate) kind: u32,
    pub(crate) is_consequence: bool,
    pub(crate) path: Vec<u8>,
    pub(crate) from: Option<Vec<u8>>,
}

impl From<Change> for ChangeParts {
    fn from(change: Change) -> Self {
        let is_consequence = change.is_consequence();
        Self { kind: change.kind as u32, is_consequence, path: change.path, from: change.from }
    }
}

pub(crate) fn report(mut change: ChangeParts, on_change: OnChange, context: *mut c_void) {
    let from_length = change.from.as_ref().map_or(0, Vec::len);
    let path_length = change.path.len();
    change.path.push(0);
    change.from.iter_mut().for_each(|from| from.push(0));
    let change = CChange {
        kind: change.kind,
        consequence: change.is_consequence.into(),
        path: change.path.as_ptr().cast(),
        path_length,
        from: change.from.as_ref().map_or(ptr::null(), |from| from.as_ptr().cast()),
        from_length,
    };
    // SAFETY: the header requires a function with these parameters; the change and its paths are valid
    // during the call.
    unsafe { on_change(context, &change) };
}

/// Replaces a snapshot, or leaves it as it is. That its owner could not be preserved is no failure.
fn store(tree: &LiveTree, file: &Path, options: &WalkOptions) -> Result<(), Failure<'static>> {
    // A callback may have cancelled.
    options.require_not_cancelled()?;
    let (table, metadata) = (tree.table(), tree.metadata());
    let stored = put_with(file, |out| write(table, metadata, options.cancel(), out).map(drop));
    match stored {
        Ok(_) => Ok(()),
        Err(error) => options.require_not_cancelled().and(Err(Failure::WriteSnapshot(error))),
    }
}
