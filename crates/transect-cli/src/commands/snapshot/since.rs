//! `--since`: reads a tree with the help of a snapshot.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect::{Error, FieldMask, Outcome, ScanPlan, Sink};
use transect_snapshot::{
    Baseline, BaselineRoot, Changes, FileSystem, Inherited, Metadata, SinceLevel, SinceReader,
    Snapshot, generation_of,
};
use transect_sys::host::now;
use transect_volumes::{VolumeChanges, changes_below};

use super::input::open;
use crate::args::SinceArgs;
use crate::output;
use crate::root_path::absolute;
use crate::series::{Search, Series};
use transect_program::CliError;

/// What `--since` takes instead of the name of a file.
const LAST: &str = "last";

/// A snapshot that helps to read its tree again.
#[derive(Debug)]
pub(crate) struct Since {
    base: Arc<Baseline>,
    pub(crate) fields: FieldMask,
    /// The generation from which on a later walk has to know changes; `None` if what is inherited may be older, or the file
    /// system has no generations.
    pub(crate) generation: Option<u64>,
}

impl Since {
    /// Returns the snapshot that the arguments name, for a walk from these roots; `None` if they name none.
    /// `fields` are the attributes that the walk reads of entries that are not directories.
    ///
    /// # Errors
    /// There is no such snapshot, or it does not fit the walk.
    pub(crate) fn of(
        args: &SinceArgs,
        roots: Vec<PathBuf>,
        follow: bool,
        fields: FieldMask,
    ) -> Result<Option<Self>, CliError> {
        let Some(since) = &args.since else { return Ok(None) };
        if follow {
            return Err(CliError::failed("--since cannot follow links; leave out --follow"));
        }
        let (path, snapshot) = match (since.to_str(), &roots[..]) {
            (Some(LAST), [root]) => last(root)?,
            (Some(LAST), _) => {
                let why = "--since last needs one PATH: each has a series of its own";
                return Err(CliError::failed(why));
            }
            _ => match open(since)? {
                Some(snapshot) => (since.clone(), snapshot),
                None => {
                    let since = since.display();
                    return Err(CliError::Failed(format!("'{since}' is not a snapshot")));
                }
            },
        };
        let level = args.since_level.unwrap_or(SinceLevel::Attributes);
        Self::new(&path, &snapshot, roots, level, fields).map(Some)
    }

    /// Returns the last snapshot of a series; `None`, and the user gets the reason, if none can be used.
    pub(crate) fn last_of(series: &Series, level: SinceLevel) -> Result<Option<Self>, CliError> {
        let Search { kept, unusable } = series.last()?;
        unusable.iter().for_each(|it| output::note(&it.to_string()));
        let Some(kept) = kept else {
            output::hint("no snapshot was kept yet: everything is read");
            return Ok(None);
        };
        let roots = vec![series.root().to_owned()];
        // A snapshot of the series, and a comparison with it, want all attributes.
        match Self::new(&kept.path, &kept.snapshot, roots, level, FieldMask::all()) {
            Ok(since) => Ok(Some(since)),
            Err(error) => {
                output::hint(&format!("{error}: everything is read"));
                Ok(None)
            }
        }
    }

    /// Returns a snapshot that helps to read these roots; `path` names it in errors.
    fn new(
        path: &Path,
        snapshot: &Snapshot,
        roots: Vec<PathBuf>,
        level: SinceLevel,
        fields: FieldMask,
    ) -> Result<Self, CliError> {
        let roots = roots.into_iter().map(|root| stored_root(root, snapshot.metadata()));
        let roots = roots.collect::<Result<Vec<_>, _>>()?;
        let changes = changes(&roots, snapshot.metadata());
        let generation = match (&changes, level) {
            (Some(found), _) => Some(found.generation),
            (None, SinceLevel::Attributes) => {
                Self::current_generation(roots.iter().map(|root| &root.named))
            }
            // What is inherited may be older.
            (None, SinceLevel::Names) => None,
        };
        let changes =
            changes.map(|it| Changes { since: it.since, device: it.device, inodes: it.inodes });
        let base = Baseline::new(snapshot, roots, level, fields, now(), changes);
        let base = base.map_err(|error| {
            CliError::Failed(format!("cannot read since '{}': {error}", path.display()))
        })?;
        Ok(Self { base: Arc::new(base), fields: snapshot.metadata().fields(), generation })
    }

    /// Returns the current generation of the file system of the only root, if it has one.
    pub(crate) fn current_generation<'a>(
        mut roots: impl Iterator<Item = &'a PathBuf>,
    ) -> Option<u64> {
        let root = roots.next().filter(|_| roots.next().is_none())?;
        transect_volumes::generation(root)
    }

    /// Walks. `fields` are the attributes of directories that the sinks want.
    pub(crate) fn run<S: Sink>(
        &self,
        plan: &ScanPlan,
        fields: FieldMask,
        make: impl Fn() -> S + Sync,
    ) -> Result<Outcome<S>, Error> {
        plan.run_with(make, || SinceReader::new(plan.reader(), Arc::clone(&self.base), fields))
    }

    pub(crate) fn inherited(&self) -> Inherited {
        self.base.inherited()
    }
}

/// Returns what changed since a snapshot of a root until now, if the file system reports it.
pub(crate) fn reported_changes(root: &Path, metadata: &Metadata) -> Option<VolumeChanges> {
    let root = stored_root(root.to_owned(), metadata).ok()?;
    changes(&[root], metadata)
}

/// Returns what changed since a snapshot, if the file system of the only root reports it.
fn changes(roots: &[BaselineRoot], metadata: &Metadata) -> Option<VolumeChanges> {
    let [root] = roots else { return None };
    let since = generation_of(metadata, root)?;
    let found = changes_below(&root.named, since).ok()?;
    (found.device == root.file_system.device).then_some(found)
}

fn last(root: &Path) -> Result<(PathBuf, Snapshot), CliError> {
    let series = Series::of(root)?;
    let Search { kept, unusable } = series.last()?;
    unusable.iter().for_each(output::error);
    kept.map(|kept| (kept.path, kept.snapshot))
        .ok_or_else(|| CliError::Failed(series.none_kept(root)))
}

/// Returns where a snapshot has a root: by its absolute path, or by the path without links.
fn stored_root(named: PathBuf, metadata: &Metadata) -> Result<BaselineRoot, CliError> {
    let plain: PathBuf = absolute(&named).components().collect();
    let is_stored = |path: &Path| metadata.roots.iter().any(|root| *root == path.to_string_lossy());
    let resolved = named.canonicalize().ok().filter(|path| !is_stored(&plain) && is_stored(path));
    let stored = resolved.unwrap_or(plain);
    let failed = |reason: &str| {
        CliError::Failed(format!(
            "cannot identify the file system of '{}': {reason}",
            named.display()
        ))
    };
    let attributes = transect_sys::file::query_attributes(&named, FieldMask::DEVICE, true)
        .map_err(|error| failed(&transect::reason(&error)))?;
    let identity = transect_sys::host::file_system_identity(&named);
    let (Some(device), Some(identity)) = (attributes.device(), identity) else {
        return Err(failed("this system does not report it"));
    };
    Ok(BaselineRoot { named, stored, file_system: FileSystem::new(device, identity) })
}
