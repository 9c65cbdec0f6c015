//! Where a result is to be, and what may be there already.

use std::io;
use std::path::{Path, PathBuf};

use transect_sys::file::{attributes_at, query_attributes};
use transect_sys::{Attributes, FieldMask, FileType};

use super::{Existing, ReplaceOptions};
use crate::error::{Error, Operation, Rejection};
use crate::source::{Source, same_state};

/// A target that was looked at.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Where it is; no link is at its end.
    pub(super) path: PathBuf,
    /// What is there, if anything.
    pub(super) there: Option<Attributes>,
    /// It is the input: nobody else may have changed it at the end.
    is_input: bool,
    /// It was judged. An input that nothing changes need not be.
    checked: bool,
}

impl Target {
    /// Looks at what is there, and judges it.
    pub(super) fn inspect(
        path: &Path,
        source: Option<&Source>,
        options: &ReplaceOptions,
    ) -> Result<Self, Error> {
        let rejected = |reason| Err(Error::rejected(Operation::Replace, path, reason));
        if path.file_name().is_none() {
            return rejected(Rejection::NoName);
        }
        let there = match attributes_at(path) {
            Ok(attributes) => attributes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Self::new_file(path, options);
            }
            Err(error) => return Err(Error::system(Operation::Create, path)(error)),
        };
        match there.file_type() {
            FileType::File => {}
            FileType::Symlink => return rejected(Rejection::LinkToNowhere),
            other => return rejected(Rejection::NotAFile(other)),
        }
        let is_input = source.is_some_and(|source| is_same_file(source, &there));
        match options.existing {
            Existing::Keep | Existing::Replace if is_input => return rejected(Rejection::IsInput),
            Existing::Keep => return rejected(Rejection::Exists),
            Existing::InPlace if !is_input => return rejected(Rejection::NotInput),
            Existing::Replace | Existing::InPlace => {}
        }
        let end = replaced_path(path, &there, options)?;
        Ok(Self { path: end, there: Some(there), is_input, checked: true })
    }

    /// Returns an input that is to be changed in place, if it comes to that: it is looked at when the
    /// first difference is met. Most files of a tree that is in order already have none.
    pub(super) fn for_input(source: &Source) -> Self {
        let path = source.path().to_owned();
        Self { path, there: Some(*source.attributes()), is_input: true, checked: false }
    }

    /// Judges what was not judged yet: something is going to be written.
    pub(super) fn check(&mut self, options: &ReplaceOptions) -> Result<(), Error> {
        if let (false, Some(there)) = (self.checked, &self.there) {
            self.verify_unchanged()?;
            self.path = replaced_path(&self.path, there, options)?;
            self.checked = true;
        }
        Ok(())
    }

    /// Returns a target with nothing there.
    fn new_file(path: &Path, options: &ReplaceOptions) -> Result<Self, Error> {
        if options.existing == Existing::InPlace {
            return Err(Error::rejected(Operation::Replace, path, Rejection::NotInput));
        }
        let folder = attributes_at(parent_dir(path));
        match folder.map_err(Error::system(Operation::Create, path))?.file_type() {
            FileType::Directory => {
                Ok(Self { path: path.to_owned(), there: None, is_input: false, checked: true })
            }
            _ => {
                let error = io::ErrorKind::NotADirectory.into();
                Err(Error::system(Operation::Create, path)(error))
            }
        }
    }

    pub(super) fn exists(&self) -> bool {
        self.there.is_some()
    }

    /// Makes sure that an input changed in place is what was read: else somebody's work is lost.
    pub(super) fn verify_unchanged(&self) -> Result<(), Error> {
        let (true, Some(there)) = (self.is_input, &self.there) else {
            return Ok(());
        };
        match attributes_at(&self.path) {
            Ok(now) if same_state(there, &now) => Ok(()),
            Ok(_) => Err(Error::Changed { path: self.path.clone() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::Changed { path: self.path.clone() })
            }
            Err(error) => Err(Error::system(Operation::Replace, &self.path)(error)),
        }
    }

    /// Returns the error for what came to be there meanwhile.
    pub(super) fn appeared_error(&self) -> Error {
        Error::rejected(Operation::Replace, &self.path, Rejection::Exists)
    }
}

/// Returns the path of the file that is replaced: not that of a link that leads to it. A file with
/// several names is not, unless that was asked for.
fn replaced_path(
    path: &Path,
    there: &Attributes,
    options: &ReplaceOptions,
) -> Result<PathBuf, Error> {
    match there.nlink() {
        Some(names @ 2..) if !options.break_links => {
            Err(Error::rejected(Operation::Replace, path, Rejection::ManyNames(names)))
        }
        _ => resolve_link(path).map_err(Error::system(Operation::Replace, path)),
    }
}

/// Returns the path of the file that a link at the end of a path leads to; a path without one as it
/// is. Where the system does not answer, that is an error: what is taken for a file would be replaced.
pub(crate) fn resolve_link(path: &Path) -> io::Result<PathBuf> {
    match query_attributes(path, FieldMask::empty(), false)?.file_type() {
        FileType::Symlink => path.canonicalize(),
        _ => Ok(path.to_owned()),
    }
}

/// Returns whether what is there is the input. Where the system does not tell files apart, what has
/// the same size and times is taken for it: refusing costs less than destroying.
fn is_same_file(source: &Source, there: &Attributes) -> bool {
    match (source.file_id(), there.file_id()) {
        (Some(input), Some(there)) => input == there,
        _ => same_state(source.attributes(), there),
    }
}

/// Returns the folder that a path lies in.
pub(crate) fn parent_dir(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}
