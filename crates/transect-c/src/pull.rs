//! Walks of which the caller takes one entry at a time.

use std::ffi::c_void;

use transect::{Cancel, Diagnostics, DirEntry, Error, ScanError, Walk};

use crate::boundary::{Out, Text, functions, guard, objects, required};
use crate::failure::{CallError, Failure};
use crate::options::WalkOptions;
use crate::walk::{Entry, OnError, WalkCounts, report_errors};

/// `transect_walker`.
#[derive(Debug)]
pub struct Walker {
    walk: Walk,
    cancel: Cancel,
    /// What the caller received last, and its name with a NUL.
    last: Option<DirEntry>,
    name: Vec<u8>,
    entries: u64,
    errors: u64,
    kept_errors: Vec<ScanError>,
}

impl Walker {
    fn next(&mut self) -> Result<Entry<'_>, Failure<'static>> {
        loop {
            if self.cancel.is_cancelled() {
                return Err(Failure::Cancelled);
            }
            match self.walk.next().ok_or(Failure::End)? {
                Ok(entry) => {
                    self.entries += 1;
                    let entry = self.last.insert(entry);
                    let (name, attributes) = (entry.file_name(), entry.attributes());
                    let followed = entry.is_followed();
                    return Ok(Entry::new(entry.dir(), name, followed, attributes, &mut self.name));
                }
                Err(error) => self.count(error)?,
            }
        }
    }

    /// Counts an error in the tree; fails with that of a root that cannot be accessed, or of the walk.
    fn count(&mut self, error: Error) -> Result<(), Failure<'static>> {
        let Error::Entry(error) = error else { return Err(error.into()) };
        self.errors += 1;
        if error.depth() == 0 && self.entries == 0 {
            return Err(Error::Root(error).into());
        }
        if self.kept_errors.len() < Diagnostics::DEFAULT_KEPT {
            self.kept_errors.push(error);
        }
        Ok(())
    }
}

functions! {
    transect_walk_open(
        path: Text<'_>, options: Option<&WalkOptions>, walker: Out<'_, Box<Walker>>
    ) {
        let (root, out) = (path.path("path")?, required(walker, "walker")?);
        let options = options.cloned().unwrap_or_default();
        let options = options.with_root(&root).want(options.fields());
        out.write(Box::new(Walker {
            cancel: options.cancel.clone(),
            walk: options.plan()?.into_iter(),
            last: None,
            name: Vec::new(),
            entries: 0,
            errors: 0,
            kept_errors: Vec::new(),
        }));
    }
}

/// Returns the next entry.
#[unsafe(no_mangle)]
pub extern "C" fn transect_walk_next<'a>(
    walker: Option<&'a mut Walker>,
    entry: Out<'_, Entry<'a>>,
    error: Out<'_, CallError>,
) -> i32 {
    guard(error, || {
        let (walker, out) = (required(walker, "walker")?, required(entry, "entry")?);
        out.write(walker.next()?);
        Ok(())
    })
}

functions! {
    walker: &Walker;
    transect_walk_counts(counts: Out<'_, WalkCounts>) {
        let found = WalkCounts::new(walker.entries, walker.walk.diagnostics());
        required(counts, "counts")?.write(WalkCounts { errors: walker.errors, ..found });
    }
    transect_walk_errors(on_error: Option<OnError>, context: *mut c_void) {
        report_errors(&walker.kept_errors, required(on_error, "on_error")?, context);
    }
}

objects! {
    Walker: transect_walk_free;
}
