//! Which of many directories holds a name: include paths, library paths, module paths.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect_sys::{Attributes, FileType};

use super::options::Level;
use super::pass::{Look, Need, Pass};
use super::place::Place;
use super::refusal::Refusal;
use super::spelling::split;
use super::table::Name;
use super::{Answer, AttributeCache};

/// Directories in which names are looked for, in this order. Made by
/// [`AttributeCache::search_dirs`], once for many names.
#[derive(Clone, Debug)]
pub struct SearchDirs {
    dirs: Vec<(PathBuf, Arc<Place>)>,
}

/// Where a name was found.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Which of the directories holds it.
    pub index: usize,
    /// Its path: that of the directory as it was given, and the name.
    pub path: PathBuf,
    /// The attributes of what that leads to.
    pub attributes: Attributes,
}

impl AttributeCache {
    /// Prepares directories to be searched by this cache.
    ///
    /// # Errors
    /// One of them lies outside the roots, or is relative without a base.
    pub fn search_dirs<P: AsRef<Path>>(
        &self,
        dirs: impl IntoIterator<Item = P>,
    ) -> Result<SearchDirs, Refusal> {
        let place = |dir: P| -> Result<_, Refusal> {
            // As its own directory: with nothing behind the last separator.
            let dir = dir.as_ref().join("");
            let spelling = self.scope.spell(&dir)?;
            let place = self.place(&spelling);
            Ok((spelling.path.into_owned(), place))
        };
        Ok(SearchDirs { dirs: dirs.into_iter().map(place).collect::<Result<_, _>>()? })
    }
}

impl Pass<'_> {
    /// Returns the first of the directories that holds a name which leads to something other than
    /// a directory, as compilers look for what is included. The name may have several components.
    ///
    /// Directories that are asked about often are listed, so that most of what they do not hold is
    /// answered without asking.
    ///
    /// # Errors
    /// A directory before the first that holds the name does not let us look: nobody knows whether
    /// it holds it. Or the name is absolute or none.
    pub fn resolve(
        &self,
        name: impl AsRef<Path>,
        search: &SearchDirs,
    ) -> Result<Option<Resolved>, Refusal> {
        let path = name.as_ref();
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.is_empty() || path.is_absolute() || memchr::memchr(0, bytes).is_some() {
            return Err(Refusal::NUL);
        }
        let single = split(path).is_none() && self.level != Level::Verified;
        let name = Name::new(bytes, &self.cache.hasher);
        for (index, (dir, place)) in search.dirs.iter().enumerate() {
            let found = if single && place.inside {
                self.probe(place, dir, path, name)?
            } else {
                self.hold(self.get(dir.join(path)))?
            };
            if let Some(attributes) = found {
                return Ok(Some(Resolved { index, path: dir.join(path), attributes }));
            }
        }
        Ok(None)
    }

    /// Looks for a name in one directory.
    #[inline]
    fn probe(
        &self,
        place: &Arc<Place>,
        dir: &Path,
        path: &Path,
        name: Name<'_>,
    ) -> Result<Option<Attributes>, Refusal> {
        let known = place.look();
        match self.look(&known, name, Need::Type) {
            Look::Refused(refusal) if refusal.is_missing() => {
                self.cache.counters.hits.add(1);
                return Ok(None);
            }
            Look::There(FileType::Directory) => {
                self.cache.counters.hits.add(1);
                return Ok(None);
            }
            _ => {}
        }
        let retired = known.retired;
        drop(known);
        let path = dir.join(path);
        if retired {
            return self.hold(self.get(path));
        }
        let need = Need::Attributes { follow: true };
        let look = self.answer(place, name, &path, need);
        self.hold(look.into_answer())
    }

    /// Tells what was found from what is no hindrance.
    fn hold(&self, answer: Answer) -> Result<Option<Attributes>, Refusal> {
        match answer {
            Ok(attributes) if attributes.file_type() == FileType::Directory => Ok(None),
            Ok(attributes) => Ok(Some(attributes)),
            Err(refusal) if refusal.is_missing() => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }
}
