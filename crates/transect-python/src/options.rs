//! The keyword arguments of walks, the same for every function that walks.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use transect::{Conditions, FileType, Filters, ScanOptions};

use crate::conditions;
use crate::paths::parse_paths;

/// Returns the options of a walk of `paths`. A keyword with the value `None` has its default.
///
/// # Errors
/// `TypeError` for an unknown keyword or a value of another type, `ValueError` for a value that has no
/// meaning.
pub(crate) fn parse_options(
    paths: &Bound<'_, PyAny>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<ScanOptions> {
    let mut options = ScanOptions::new(parse_paths(paths)?);
    let mut filters = Filters::new();
    let mut required = Conditions::new();
    let (mut globs, mut excluded) = (Vec::new(), Vec::new());
    for (keyword, value) in keywords.into_iter().flatten() {
        let or_false = || Ok::<bool, PyErr>(value.extract::<Option<bool>>()?.unwrap_or(false));
        match keyword.cast::<PyString>()?.to_str()? {
            "glob" => globs = texts(&value)?,
            "exclude" => excluded = texts(&value)?,
            "extensions" => filters.extensions = texts(&value)?,
            "regex" => filters.regexes = texts(&value)?,
            "types" => filters.types = file_types(&texts(&value)?)?,
            "ignore_case" => filters.ignore_case = or_false()?,
            "hidden" => filters.exclude_hidden = value.extract::<Option<bool>>()? == Some(false),
            "gitignore" => filters.gitignore = or_false()?,
            "min_depth" => options.min_depth = value.extract::<Option<u32>>()?.unwrap_or(0),
            "max_depth" => options.max_depth = value.extract()?,
            "min_size" => required.min_size = value.extract()?,
            "max_size" => required.max_size = value.extract()?,
            "newer" => required.newer = conditions::time(&value)?,
            "older" => required.older = conditions::time(&value)?,
            "owner" => (required.uid, required.gid) = conditions::owner(&value)?,
            "perm" => required.mode = conditions::mode(&value)?,
            "empty" => filters.empty = or_false()?,
            "broken_links" => filters.broken_links = or_false()?,
            "follow" => options.follow_links = or_false()?,
            "every_link" => options.every_link = or_false()?,
            "one_file_system" => options.same_file_system = or_false()?,
            "pseudo_file_systems" => options.pseudo_file_systems = or_false()?,
            "threads" => options.threads = at_least_one("threads", value.extract()?)?,
            unknown => {
                let message = format!("unexpected keyword argument '{unknown}'");
                return Err(PyTypeError::new_err(message));
            }
        }
    }
    // The last match decides, so an exclusion wins over an inclusion.
    globs.extend(excluded.into_iter().map(|glob| format!("!{glob}")));
    Ok(options.filters(filters.globs(globs).conditions(required)))
}

/// Returns one text, or those of an iterable.
pub(crate) fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_none() {
        return Ok(Vec::new());
    }
    if value.is_instance_of::<PyString>() {
        return Ok(vec![value.extract()?]);
    }
    value.try_iter()?.map(|text| text?.extract()).collect()
}

fn file_types(names: &[String]) -> PyResult<Vec<FileType>> {
    let find = |name: &String| {
        let unknown = format!("there is no file type '{name}'; types");
        choose(FileType::ALL, FileType::as_str, name, &unknown)
    };
    names.iter().map(find).collect()
}

/// Returns the value with this word.
///
/// # Errors
/// `ValueError` if there is none: `unknown`, and all words.
pub(crate) fn choose<T: Copy>(
    all: &[T],
    word: impl Fn(T) -> &'static str,
    wanted: &str,
    unknown: &str,
) -> PyResult<T> {
    all.iter().copied().find(|&it| word(it) == wanted).ok_or_else(|| {
        let words: Vec<&str> = all.iter().map(|&it| word(it)).collect();
        PyValueError::new_err(format!("{unknown}: {}", words.join(", ")))
    })
}

/// Returns the value of an argument, which must not be 0.
pub(crate) fn at_least_one(name: &str, value: Option<usize>) -> PyResult<Option<usize>> {
    match value {
        Some(0) => Err(PyValueError::new_err(format!("{name} must be at least 1"))),
        value => Ok(value),
    }
}
