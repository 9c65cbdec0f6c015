//! Finds entries of trees that a running `transect live` follows.

use std::path::Path;

use transect::internal::StoredRows;
use transect::{Cancel, Diagnostics, FileType};
use transect_service::Entries;
use transect_service::protocol::{MAX_WORDS, WordSearch};
use transect_snapshot::{Matcher, Search};

use super::hits::Hits;
use crate::args::FindArgs;
use crate::followed::{self, Followed};
use crate::root_path;
use transect_program::CliError;

/// Returns the entries with the words of a search, of the directory to be searched; without one, of the followed tree that
/// holds the current directory. `None` if no service follows it.
pub(super) fn followed(args: &FindArgs, search: &Search) -> Option<Followed> {
    let path = match args.within.as_slice() {
        [] => Path::new("."),
        [path] => path,
        _ => return None,
    };
    let (client, roots) = followed::service(&args.ask)?;
    let resolved = root_path::resolved(path);
    let root = followed::lowest_of(&roots, &resolved)?;
    let root = if args.within.is_empty() { root.clone() } else { resolved };
    // The matcher looks for all of them.
    let words = search.words().filter(|word| !word.is_empty()).take(MAX_WORDS).collect();
    let words = WordSearch { words, ignore_case: search.ignores_case() };
    followed::entries(client, root, search.needed_fields(), words)
}

/// Adds the entries that a search finds. Returns the directories that cannot be opened.
pub(super) fn find(
    mut entries: Entries,
    search: &Search,
    cancel: &Cancel,
    hits: &mut Hits<'_>,
) -> Result<Diagnostics, CliError> {
    let mut matcher = Matcher::new(search);
    // The path of the directory of the current entry, with a separator at the end, and its lengths at each depth.
    let (mut directory, mut lengths) = (Vec::new(), Vec::new());
    while !cancel.is_cancelled() && entries.advance(true)? {
        lengths.truncate(entries.depth());
        directory.truncate(lengths.last().copied().unwrap_or(0));
        let name = entries.name().as_encoded_bytes();
        let attributes = entries.attributes(search.needed_fields());
        let is_found = entries.is_match() && matcher.accepts(&directory, name, &attributes);
        if is_found && hits.add(&directory, name, &attributes).is_break() {
            break;
        }
        if attributes.file_type() == FileType::Directory {
            directory.extend_from_slice(name);
            if directory.last() != Some(&b'/') {
                directory.push(b'/');
            }
            lengths.push(directory.len());
        }
    }
    let mut diagnostics = Diagnostics::new(Diagnostics::DEFAULT_KEPT);
    entries.take_errors().into_iter().for_each(|error| diagnostics.add(error));
    Ok(diagnostics)
}
