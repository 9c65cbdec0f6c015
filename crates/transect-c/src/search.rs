//! Searching directories for names.

use std::path::Path;
use std::sync::Arc;

use transect_cache::{AttributeCache, SearchDirs};

use crate::attributes::CAttributes;
use crate::boundary::{Array, Out, OutArray, Text, functions, objects, required};
use crate::cache::Cache;
use crate::failure::Failure;
use crate::path;

/// `transect_search`.
#[derive(Debug)]
pub struct Search {
    cache: Arc<AttributeCache>,
    directories: SearchDirs,
}

/// `transect_found`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "the header documents them")]
pub struct Found {
    pub index: usize,
    pub path_length: usize,
    pub attributes: CAttributes,
}

functions! {
    cache: &Cache;
    transect_search_new(
        directories: Array<'_, Text<'_>>, count: usize, search: Out<'_, Box<Search>>
    ) {
        let cache = Arc::clone(&cache.0);
        let out = required(search, "search")?;
        let directories = directories.elements(count, "directories")?;
        let paths = directories.iter().map(|path| path.path("a directory"));
        let paths: Vec<_> = paths.collect::<Result<_, _>>()?;
        let directories = cache.search_dirs(&paths).map_err(|error| {
            let refused = paths.iter().find(|path| cache.search_dirs([path]).is_err());
            Failure::Lookup(error, refused.cloned().unwrap_or(Path::new("").into()))
        })?;
        out.write(Box::new(Search { cache, directories }));
    }
}

objects! {
    Search: transect_search_free;
}

functions! {
    search: &Search;
    transect_search_find(
        name: Text<'_>, buffer: OutArray<'_, u8>, capacity: usize, found: Out<'_, Found>
    ) {
        let name = name.path("name")?;
        let resolved = match search.cache.resolve(&name, &search.directories) {
            Ok(Some(resolved)) => resolved,
            Ok(None) => return Err(Failure::NotInSearch(name)),
            Err(error) => return Err(Failure::Lookup(error, name)),
        };
        let path = path::to_bytes(resolved.path.as_os_str());
        let path_length = buffer.write_text(capacity, path);
        if let Some(found) = found {
            let attributes = (&resolved.attributes).into();
            found.write(Found { index: resolved.index, path_length, attributes });
        }
    }
}
