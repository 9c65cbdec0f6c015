//! The attribute cache.

use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;

use transect_cache::{AttributeCache, CacheOptions, Level, LookupResult};

use crate::attributes::CAttributes;
use crate::boundary::{Array, Out, OutArray, Text, guard, guard_or, required};
use crate::failure::{CallError, Failure, of_lookup, os_error_of};
use crate::options::{fields, setters};

/// Levels, by the names that they have in the header without `TRANSECT_LEVEL_`.
#[expect(missing_docs, reason = "the header documents them")]
pub mod level {
    pub const FROZEN: i32 = 0;
    pub const CHECKED: i32 = 1;
    pub const WATCHED: i32 = 2;
    pub const VERIFIED: i32 = 3;
}

/// `transect_cache`. A search keeps it open.
#[derive(Debug)]
pub struct Cache(pub(crate) Arc<AttributeCache>);

/// `transect_lookup`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct Lookup {
    pub status: i32,
    pub os_error: i32,
    pub attributes: CAttributes,
}

impl From<LookupResult> for Lookup {
    fn from(answer: LookupResult) -> Self {
        match answer {
            Ok(attributes) => Self { attributes: (&attributes).into(), ..Self::default() },
            Err(error) => Self {
                status: of_lookup(error),
                os_error: os_error_of(error).unwrap_or(0),
                attributes: CAttributes::default(),
            },
        }
    }
}

/// `transect_cache_counts`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct Counts {
    pub hits: u64,
    pub misses: u64,
    pub listings: u64,
    pub queries: u64,
    pub checks: u64,
    pub invalidations: u64,
    pub evictions: u64,
    pub lost: u64,
    pub directories: u64,
    pub names: u64,
    pub watches: u64,
    pub memory: u64,
    pub reserved: [u64; 4],
}

/// Returns the default options.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_options_new() -> Option<Box<CacheOptions>> {
    guard_or(None, || Some(Box::default()))
}

/// Frees options.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_options_free(options: Option<Box<CacheOptions>>) {
    guard_or((), || drop(options));
}

setters! {
    CacheOptions:
    transect_cache_options_set_fields(options, value: u32) { options.want = fields(value)? }
    transect_cache_options_set_memory(options, value: usize) { options.memory = Some(value) }
    transect_cache_options_set_watches(options, value: usize) { options.watches = Some(value) }
    transect_cache_options_set_base(options, path: Text<'_>) {
        options.base = Some(path.path("path")?.into_owned())
    }
    transect_cache_options_add_root(options, path: Text<'_>) {
        options.roots.push(path.path("path")?.into_owned())
    }
}

/// Opens a cache.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_open(
    level: i32,
    options: Option<&CacheOptions>,
    cache: Out<'_, Box<Cache>>,
    error: Out<'_, CallError>,
) -> i32 {
    guard(error, || {
        let out = required(cache, "cache")?;
        let mut options = options.cloned().unwrap_or_default();
        options.level = match level {
            level::FROZEN => Level::Frozen,
            level::CHECKED => Level::Checked,
            level::WATCHED => Level::Watched,
            level::VERIFIED => Level::Verified,
            _ => return Err(Failure::Invalid(format!("there is no level {level}").into())),
        };
        out.write(Box::new(Cache(Arc::new(options.open()?))));
        Ok(())
    })
}

/// Frees a cache.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_free(cache: Option<Box<Cache>>) {
    guard_or((), || drop(cache));
}

/// Runs the body of a function of one cache.
fn with_cache<'a>(
    cache: Option<&Cache>,
    error: Out<'_, CallError>,
    body: impl FnOnce(&AttributeCache) -> Result<(), Failure<'a>>,
) -> i32 {
    guard(error, || body(&required(cache, "cache")?.0))
}

/// Looks up one path.
fn look_up(
    cache: Option<&Cache>,
    path: Text<'_>,
    attributes: Out<'_, CAttributes>,
    error: Out<'_, CallError>,
    get: impl FnOnce(&AttributeCache, &Path) -> LookupResult,
) -> i32 {
    with_cache(cache, error, |cache| {
        let (path, out) = (path.path("path")?, required(attributes, "attributes")?);
        match get(cache, &path) {
            Ok(attributes) => out.write((&attributes).into()),
            Err(error) => return Err(Failure::Lookup(error, path)),
        };
        Ok(())
    })
}

/// Returns the attributes of a path, links followed.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_get(
    cache: Option<&Cache>,
    path: Text<'_>,
    attributes: Out<'_, CAttributes>,
    error: Out<'_, CallError>,
) -> i32 {
    look_up(cache, path, attributes, error, |cache, path| cache.get(path))
}

/// Returns the attributes of a path, the last link not followed.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_get_link(
    cache: Option<&Cache>,
    path: Text<'_>,
    attributes: Out<'_, CAttributes>,
    error: Out<'_, CallError>,
) -> i32 {
    look_up(cache, path, attributes, error, |cache, path| cache.get_link(path))
}

/// Returns whether a path exists.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_exists(
    cache: Option<&Cache>,
    path: Text<'_>,
    error: Out<'_, CallError>,
) -> i32 {
    with_cache(cache, error, |cache| {
        let path = path.path("path")?;
        match cache.exists(&path) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::Missing(path)),
            Err(error) => Err(Failure::Lookup(error, path)),
        }
    })
}

/// Looks up many paths.
fn look_up_many(
    cache: Option<&Cache>,
    paths: Array<'_, Text<'_>>,
    count: usize,
    answers: OutArray<'_, Lookup>,
    error: Out<'_, CallError>,
    get: impl FnOnce(&AttributeCache, &[&Path]) -> Vec<LookupResult>,
) -> i32 {
    with_cache(cache, error, |cache| {
        let out: &mut [MaybeUninit<Lookup>] = answers.elements(count, "answers")?;
        let paths = paths.elements(count, "paths")?;
        let paths: Vec<_> =
            paths.iter().map(|path| path.path("a path")).collect::<Result<_, _>>()?;
        let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
        for (out, answer) in out.iter_mut().zip(get(cache, &paths)) {
            out.write(answer.into());
        }
        Ok(())
    })
}

/// Returns the attributes of many paths, links followed.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_get_many(
    cache: Option<&Cache>,
    paths: Array<'_, Text<'_>>,
    count: usize,
    answers: OutArray<'_, Lookup>,
    error: Out<'_, CallError>,
) -> i32 {
    look_up_many(cache, paths, count, answers, error, |cache, paths| cache.get_many(paths))
}

/// Returns the attributes of many paths, the last link not followed.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_get_many_links(
    cache: Option<&Cache>,
    paths: Array<'_, Text<'_>>,
    count: usize,
    answers: OutArray<'_, Lookup>,
    error: Out<'_, CallError>,
) -> i32 {
    look_up_many(cache, paths, count, answers, error, |cache, paths| cache.get_many_links(paths))
}

/// Freezes a cache.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_freeze(cache: Option<&Cache>, error: Out<'_, CallError>) -> i32 {
    with_cache(cache, error, |cache| {
        cache.freeze();
        Ok(())
    })
}

/// Thaws a cache.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_thaw(cache: Option<&Cache>, error: Out<'_, CallError>) -> i32 {
    with_cache(cache, error, |cache| {
        cache.thaw();
        Ok(())
    })
}

/// Applies the changes made so far.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_settle(cache: Option<&Cache>, error: Out<'_, CallError>) -> i32 {
    with_cache(cache, error, |cache| match cache.settle() {
        true => Ok(()),
        false => Err(Failure::ChangesLost),
    })
}

/// Drops a path and everything below it.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_invalidate(
    cache: Option<&Cache>,
    path: Text<'_>,
    error: Out<'_, CallError>,
) -> i32 {
    with_cache(cache, error, |cache| {
        let path = path.path("path")?;
        cache.invalidate(&path).map_err(|error| Failure::Lookup(error, path))
    })
}

/// Drops everything.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_clear(cache: Option<&Cache>, error: Out<'_, CallError>) -> i32 {
    with_cache(cache, error, |cache| {
        cache.clear();
        Ok(())
    })
}

/// Returns the counters.
#[unsafe(no_mangle)]
pub extern "C" fn transect_cache_read_counts(
    cache: Option<&Cache>,
    counts: Out<'_, Counts>,
    error: Out<'_, CallError>,
) -> i32 {
    with_cache(cache, error, |cache| {
        let found = cache.counts();
        required(counts, "counts")?.write(Counts {
            hits: found.hits,
            misses: found.misses,
            listings: found.listings,
            queries: found.queries,
            checks: found.checks,
            invalidations: found.invalidations,
            evictions: found.evictions,
            lost: found.lost,
            directories: found.directories,
            names: found.names,
            watches: found.watches,
            memory: cache.memory() as u64,
            reserved: [0; 4],
        });
        Ok(())
    })
}
