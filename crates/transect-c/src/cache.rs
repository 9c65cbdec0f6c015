//! The attribute cache.

use std::mem::MaybeUninit;
use std::path::Path;
use std::sync::Arc;

use transect_cache::{AttributeCache, CacheOptions, Level, LookupResult};

use crate::attributes::CAttributes;
use crate::boundary::{Array, Out, OutArray, Text, functions, objects, required};
use crate::failure::{Failure, of_lookup, os_error_of};
use crate::options::fields;

/// Levels, by the names that they have in the header without `TRANSECT_LEVEL_`.
#[expect(missing_docs, reason = "the header documents them")]
pub mod level {
    pub const FROZEN: i32 = 0;
    pub const CHECKED: i32 = 1;
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
    pub directories: u64,
    pub names: u64,
    pub memory: u64,
    pub reserved: [u64; 4],
}

objects! {
    CacheOptions: transect_cache_options_free, transect_cache_options_new;
    Cache: transect_cache_free;
}

functions! {
    options: &mut CacheOptions;
    transect_cache_options_set_fields(value: u32) { options.want = fields(value)? }
    transect_cache_options_set_memory(value: usize) { options.memory = Some(value) }
    transect_cache_options_set_base(path: Text<'_>) {
        options.base = Some(path.path("path")?.into_owned())
    }
    transect_cache_options_add_root(path: Text<'_>) {
        options.roots.push(path.path("path")?.into_owned())
    }
}

functions! {
    transect_cache_open(
        level: i32, options: Option<&CacheOptions>, cache: Out<'_, Box<Cache>>
    ) {
        let out = required(cache, "cache")?;
        let mut options = options.cloned().unwrap_or_default();
        options.level = match level {
            level::FROZEN => Level::Frozen,
            level::CHECKED => Level::Checked,
            level::VERIFIED => Level::Verified,
            _ => return Err(Failure::Invalid(format!("there is no level {level}").into())),
        };
        out.write(Box::new(Cache(Arc::new(options.open()?))));
    }
}

/// Writes the attributes of a path.
fn look_up<'a>(
    path: Text<'a>,
    attributes: Out<'_, CAttributes>,
    get: impl FnOnce(&Path) -> LookupResult,
) -> Result<(), Failure<'a>> {
    let (path, out) = (path.path("path")?, required(attributes, "attributes")?);
    match get(&path) {
        Ok(attributes) => out.write((&attributes).into()),
        Err(error) => return Err(Failure::Lookup(error, path)),
    };
    Ok(())
}

/// Writes the answers about many paths.
fn look_up_many(
    paths: Array<'_, Text<'_>>,
    count: usize,
    answers: OutArray<'_, Lookup>,
    get: impl FnOnce(&[&Path]) -> Vec<LookupResult>,
) -> Result<(), Failure<'static>> {
    let out: &mut [MaybeUninit<Lookup>] = answers.elements(count, "answers")?;
    let paths = paths.elements(count, "paths")?;
    let paths: Vec<_> = paths.iter().map(|path| path.path("a path")).collect::<Result<_, _>>()?;
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    for (out, answer) in out.iter_mut().zip(get(&paths)) {
        out.write(answer.into());
    }
    Ok(())
}

functions! {
    cache: &Cache;
    transect_cache_get(path: Text<'_>, attributes: Out<'_, CAttributes>) {
        look_up(path, attributes, |path| cache.0.get(path))?
    }
    transect_cache_get_link(path: Text<'_>, attributes: Out<'_, CAttributes>) {
        look_up(path, attributes, |path| cache.0.get_link(path))?
    }
    transect_cache_exists(path: Text<'_>) {
        let path = path.path("path")?;
        match cache.0.exists(&path) {
            Ok(true) => {}
            Ok(false) => return Err(Failure::Missing(path)),
            Err(error) => return Err(Failure::Lookup(error, path)),
        }
    }
    transect_cache_get_many(
        paths: Array<'_, Text<'_>>, count: usize, answers: OutArray<'_, Lookup>
    ) {
        look_up_many(paths, count, answers, |paths| cache.0.get_many(paths))?
    }
    transect_cache_get_many_links(
        paths: Array<'_, Text<'_>>, count: usize, answers: OutArray<'_, Lookup>
    ) {
        look_up_many(paths, count, answers, |paths| cache.0.get_many_links(paths))?
    }
    transect_cache_freeze() { cache.0.freeze() }
    transect_cache_thaw() { cache.0.thaw() }
    transect_cache_invalidate(path: Text<'_>) {
        let path = path.path("path")?;
        cache.0.invalidate(&path).map_err(|error| Failure::Lookup(error, path))?
    }
    transect_cache_clear() { cache.0.clear() }
    transect_cache_read_counts(counts: Out<'_, Counts>) {
        let found = cache.0.counts();
        required(counts, "counts")?.write(Counts {
            hits: found.hits,
            misses: found.misses,
            listings: found.listings,
            queries: found.queries,
            checks: found.checks,
            invalidations: found.invalidations,
            evictions: found.evictions,
            directories: found.directories,
            names: found.names,
            memory: cache.0.memory() as u64,
            reserved: [0; 4],
        });
    }
}
