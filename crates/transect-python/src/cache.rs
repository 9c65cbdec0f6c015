//! `AttributeCache`: attributes that were asked for before.

use std::path::Path;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use transect_cache::{AttributeCache as EngineCache, CacheOptions, Level, LookupError};

use crate::attributes::Attributes;
use crate::errors::{self, os_exception};
use crate::fork::Owner;
use crate::lookups::{self, Found};
use crate::options::choose;
use crate::paths::{parse_path, parse_paths};
use crate::rows::Rows;
use crate::walk::all_attributes;

/// A cache of file attributes, which is queried like the file system.
///
/// level: what the cache guarantees.
///     "frozen": nothing is queried twice; changes are not seen until `clear`.
///     "checked": a listing is used while its directory is unchanged; attributes are always queried. So
///         it saves queries of missing names.
///     "verified": nothing is cached.
/// base: the directory that relative paths refer to. Without it, they are refused.
/// roots: the directories in which lookups are allowed; everywhere by default.
/// memory: the limit in bytes; no limit by default.
///
/// A path is a key as it is written: the cache resolves neither links nor "..". Any number of threads may
/// use one cache. After os.fork, the child needs one of its own.
#[pyclass(frozen, module = "transect")]
pub(crate) struct AttributeCache {
    cache: EngineCache,
    /// The process that has the locks.
    owner: Owner,
}

impl AttributeCache {
    fn cache(&self) -> PyResult<&EngineCache> {
        self.owner.check()?;
        Ok(&self.cache)
    }
}

#[pymethods]
impl AttributeCache {
    #[new]
    #[pyo3(signature = (level="checked", *, base=None, roots=None, memory=None))]
    fn new(
        py: Python<'_>,
        level: &str,
        base: Option<&Bound<'_, PyAny>>,
        roots: Option<&Bound<'_, PyAny>>,
        memory: Option<usize>,
    ) -> PyResult<Self> {
        let unknown = format!("there is no level '{level}'; levels");
        let level = choose(Level::ALL, Level::as_str, level, &unknown)?;
        let mut options = CacheOptions::new(level).want(all_attributes());
        options.base = base.map(parse_path).transpose()?;
        options.roots = roots.map(parse_paths).transpose()?.unwrap_or_default();
        options.memory = memory;
        let cache = options.open().map_err(|error| match error {
            transect::Error::NotAbsolute(_) => PyValueError::new_err(error.to_string()),
            error => errors::exception(py, &error),
        })?;
        Ok(Self { cache, owner: Owner::current() })
    }

    /// The level: that of the call, or "frozen" while the cache is frozen.
    #[getter]
    fn level(&self) -> PyResult<&'static str> {
        Ok(self.cache()?.level().as_str())
    }

    /// The size of all cached entries in bytes.
    #[getter]
    fn memory(&self) -> PyResult<usize> {
        Ok(self.cache()?.memory())
    }

    /// Return the attributes of a path; with follow=False, of a symbolic link itself.
    ///
    /// Raises FileNotFoundError, PermissionError or another OSError, cached like attributes; ValueError
    /// for a path outside the roots, or a relative one without a base.
    #[pyo3(signature = (path, *, follow=true))]
    fn get(&self, py: Python<'_>, path: &Bound<'_, PyAny>, follow: bool) -> PyResult<Attributes> {
        let (cache, path) = (self.cache()?, parse_path(path)?);
        let result = py.detach(|| if follow { cache.get(&path) } else { cache.get_link(&path) });
        result.map(Attributes::new).map_err(|error| exception(py, error, &path))
    }

    /// Look up many paths, and return one row for each, in the order given: a Rows object with the columns
    /// path, path_raw, type, size, allocated, mtime, ctime, atime, btime, mode, uid, gid, nlink, inode,
    /// device, error and errno. Of a path without attributes, `error` is the kind of the error, such as
    /// "not_found", `errno` its number, and the rest is null.
    ///
    /// Lookups in one directory are made together.
    #[pyo3(signature = (paths, *, follow=true))]
    fn get_many(&self, py: Python<'_>, paths: &Bound<'_, PyAny>, follow: bool) -> PyResult<Rows> {
        let (cache, paths) = (self.cache()?, parse_paths(paths)?);
        let found: Vec<Found> = py.detach(|| {
            let results = match follow {
                true => cache.get_many(&paths),
                false => cache.get_many_links(&paths),
            };
            paths.into_iter().zip(results).collect()
        });
        Ok(Rows::in_parts(found.len(), move |part| lookups::columns(&found[part])))
    }

    /// Return whether a path exists. Raises an OSError if that cannot be found out.
    fn exists(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (cache, path) = (self.cache()?, parse_path(path)?);
        py.detach(|| cache.exists(&path)).map_err(|error| exception(py, error, &path))
    }

    /// Switch to the level "frozen" until `thaw`.
    fn freeze(&self, py: Python<'_>) -> PyResult<()> {
        self.cache().map(|cache| py.detach(|| cache.freeze()))
    }

    /// End what `freeze` began. At the level "frozen" this does nothing; `clear` makes changes seen.
    fn thaw(&self, py: Python<'_>) -> PyResult<()> {
        self.cache().map(|cache| py.detach(|| cache.thaw()))
    }

    /// Drop everything.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.cache().map(|cache| py.detach(|| cache.clear()))
    }

    /// Drop a path, and everything below it.
    fn invalidate(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let (cache, path) = (self.cache()?, parse_path(path)?);
        py.detach(|| cache.invalidate(&path)).map_err(|error| exception(py, error, &path))
    }

    /// Counters by name, since the cache was made: hits (lookups answered from memory), misses, queries of
    /// one name, listings of directories, listings_given_up because of their cost, checks of listings and
    /// outdated ones, invalidations because of changes, evictions because of the memory limit; and
    /// directories and names now.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.cache()?.counts().named().into_py_dict(py)
    }

    fn __repr__(&self) -> String {
        format!("<transect.AttributeCache: {}>", self.cache.level().as_str())
    }
}

fn exception(py: Python<'_>, error: LookupError, path: &Path) -> PyErr {
    match error {
        LookupError::System { .. } => os_exception(py, &error.into(), Some(path)),
        _ => PyValueError::new_err(format!("'{}' is {error}", path.display())),
    }
}
