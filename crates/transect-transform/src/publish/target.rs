//! The target of a result, and what exists there.

use std::io;
use std::path::{Path, PathBuf};

use transect_sys::file::{attributes_at, query_attributes};
use transect_sys::{Attributes, FieldMask, FileType, check_output_path};

use super::options::{Existing, ReplaceOptions};
use crate::error::{Error, Operation, Reason};
use crate::source::{Source, same_state};

/// A target that was inspected.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Its path, links resolved.
    pub(super) path: PathBuf,
    /// Attributes of the existing file, if any.
    pub(super) there: Option<Attributes>,
    /// The target is the input, which must not have changed at the end.
    is_input: bool,
    /// Whether the target was checked. An input that does not change is not checked.
    checked: bool,
}

impl Target {
    pub(super) fn inspect(
        path: &Path,
        source: Option<&Source>,
        options: &ReplaceOptions,
    ) -> Result<Self, Error> {
        let rejected = |reason| Err(Error::new(Operation::Replace, path, reason));
        if path.file_name().is_none() {
            return rejected(Reason::NoName);
        }
        let there = attributes_at(path);
        let is_new = there.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if !(is_new && options.directory_is_checked) {
            check_output_path(path).map_err(Error::system(Operation::Create, path))?;
        }
        let there = match there {
            Ok(attributes) => attributes,
            Err(_) if is_new => return Self::new_file(path, options),
            Err(error) => return Err(Error::system(Operation::Create, path)(error)),
        };
        match there.file_type() {
            FileType::File => {}
            FileType::Symlink => return rejected(Reason::LinkToNowhere),
            other => return rejected(Reason::NotAFile(other)),
        }
        let is_input = source.is_some_and(|source| is_same_file(source, &there));
        match options.existing {
            Existing::Keep | Existing::Replace if is_input => return rejected(Reason::IsInput),
            Existing::Keep => return rejected(Reason::Exists),
            Existing::InPlace if !is_input => return rejected(Reason::NotInput),
            Existing::Replace | Existing::InPlace => {}
        }
        let end = replaced_path(path, &there, options)?;
        Ok(Self { path: end, there: Some(there), is_input, checked: true })
    }

    /// Returns an input that may be changed in place. It is checked at the first difference; in
    /// most trees, most files have none.
    pub(super) fn for_input(source: &Source) -> Self {
        let path = source.path().to_owned();
        Self { path, there: Some(*source.attributes()), is_input: true, checked: false }
    }

    /// Checks the target, if not done yet, before something is written.
    pub(super) fn check(&mut self, options: &ReplaceOptions) -> Result<(), Error> {
        if let (false, Some(there)) = (self.checked, &self.there) {
            self.verify_unchanged()?;
            self.path = replaced_path(&self.path, there, options)?;
            self.checked = true;
        }
        Ok(())
    }

    /// Returns a target that does not exist.
    fn new_file(path: &Path, options: &ReplaceOptions) -> Result<Self, Error> {
        if options.existing == Existing::InPlace {
            return Err(Error::new(Operation::Replace, path, Reason::NotInput));
        }
        let new = Self { path: path.to_owned(), there: None, is_input: false, checked: true };
        if options.directory_is_checked {
            return Ok(new);
        }
        let directory = attributes_at(parent_dir(path));
        match directory.map_err(Error::system(Operation::Create, path))?.file_type() {
            FileType::Directory => Ok(new),
            _ => {
                let error = io::ErrorKind::NotADirectory.into();
                Err(Error::system(Operation::Create, path)(error))
            }
        }
    }

    pub(super) fn exists(&self) -> bool {
        self.there.is_some()
    }

    /// Checks that an input changed in place is still the file that was read. Otherwise another
    /// process's changes would be lost.
    pub(super) fn verify_unchanged(&self) -> Result<(), Error> {
        let (true, Some(there)) = (self.is_input, &self.there) else {
            return Ok(());
        };
        match attributes_at(&self.path) {
            Ok(now) if same_state(there, &now) => Ok(()),
            Ok(_) => Err(Error::changed(&self.path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::changed(&self.path))
            }
            Err(error) => Err(Error::system(Operation::Replace, &self.path)(error)),
        }
    }

    /// Returns the error for a target that was created meanwhile.
    pub(super) fn appeared_error(&self) -> Error {
        Error::new(Operation::Replace, &self.path, Reason::Exists)
    }
}

/// Returns the path of the file to replace, links resolved. Rejects a file with several names
/// unless the options allow it.
fn replaced_path(
    path: &Path,
    there: &Attributes,
    options: &ReplaceOptions,
) -> Result<PathBuf, Error> {
    match there.nlink() {
        Some(names @ 2..) if !options.break_links => {
            Err(Error::new(Operation::Replace, path, Reason::ManyNames(names)))
        }
        _ => resolve_link(path).map_err(Error::system(Operation::Replace, path)),
    }
}

/// Resolves a link at the end of a path; returns other paths unchanged. Fails if another user may have
/// placed the link, or if the system does not report the type: a link taken for a file would be replaced.
pub(crate) fn resolve_link(path: &Path) -> io::Result<PathBuf> {
    match query_attributes(path, FieldMask::empty(), false)?.file_type() {
        FileType::Symlink => check_output_path(path).and_then(|()| path.canonicalize()),
        _ => Ok(path.to_owned()),
    }
}

/// Returns whether the existing file is the input. Without file IDs, compares size and times: a
/// false rejection does less harm than destroying the input.
fn is_same_file(source: &Source, there: &Attributes) -> bool {
    match (source.file_id(), there.file_id()) {
        (Some(input), Some(there)) => input == there,
        _ => same_state(source.attributes(), there),
    }
}

pub(crate) fn parent_dir(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if directory.as_os_str().is_empty() => Path::new("."),
        Some(directory) => directory,
        None => path,
    }
}
