//! A table as a treemap page: area shows size, colour shows file type.
//!
//! ```text
//! selection.rs ── which entries are shown individually, the largest of a directory first
//! columns.rs ──── their attributes as columns
//! changes.rs ──── what changed between two tables
//! static_map.rs ─ a page that is served as it is
//! file_kinds.rs ─ file kinds by name and permission bits
//! live_map.rs ─── the map while the tree is being read, and afterwards
//! tasks.rs ────── what its pages request: one task at a time
//! removal.rs ──── removals: what would be freed, confirmation, outcome
//! duplicates.rs ─ searches for files of the same content
//! fallback.rs ─── the largest entries as a table, for browsers without scripts
//! page.css, scripts/ ── styles and scripts
//! ```
//!
//! A tree may have millions of entries. The page therefore contains compressed columns instead of
//! one object per entry, and the scripts draw directly from them.

mod changes;
mod columns;
mod duplicates;
mod fallback;
mod file_kinds;
mod live_map;
mod removal;
mod selection;
mod static_map;
mod tasks;

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;
use transect::table::Table;
use transect_sys::DiskSpace;
use transect_text::json_object;

use crate::page::{Data, ELEMENTS, Nonce, Page};
use changes::Changes;
use columns::{Columns, PackedColumns};
use selection::{Item, Selection};

pub use changes::Comparison;
pub use live_map::LiveMap;
pub use removal::TrashSource;
pub use static_map::StaticMap;
pub use transect_text::measure::Measure;

const STYLE: &str = include_str!("page.css");

/// The scripts of all pages: elements, then these; on pages of changes one more; then the others.
const FIRST_SCRIPTS: &str = scripts!(format columns tree);
const CHANGES: &str = scripts!(changes);
const SCRIPTS: &str = scripts! {
    colours squarify layout paint labels view frame stage search legend listing tabs input links map
};

/// The additional script of pages that are served as they are.
const ALIVE: &str = scripts!(alive);

/// Additional scripts of served pages that can change, of those that may remove entries, and the last one.
const SERVED: &str = scripts!(update tasks duplicates);
const REMOVAL: &str = scripts!(removal);
const SERVED_LAST: &str = scripts!(served);

/// Options of a map, and facts that the table does not contain.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The size that areas show.
    pub measure: Measure,
    /// The maximum number of entries shown individually; smaller ones are summed up by directory.
    pub max_entries: usize,
    /// Returns the name of a user.
    pub owner_name: fn(u32) -> String,
    /// When the tree was read, in seconds since 1970 UTC. Ages are relative to it.
    pub read_at: i64,
    /// The walk was interrupted.
    pub interrupted: bool,
    /// The file system that the tree is on.
    pub disk: Option<DiskSpace>,
    /// Set for served pages, which fetch updates from the [server](crate::serve) and report that
    /// they are open.
    pub served: Option<ServedState>,
    /// Set if served pages may remove entries.
    pub removal: Option<TrashSource>,
    /// There will be another table after each change of the tree.
    pub followed: bool,
}

/// The version of a served map.
#[derive(Clone, Copy, Debug)]
pub struct ServedState {
    /// Later versions have larger numbers.
    pub version: u64,
    /// The tree is still being read; the table is partial.
    pub reading: bool,
}

/// Returns the page of a table. The same entries and the same nonce give the same page, whatever
/// the order of the rows.
///
/// # Errors
/// Memory for packing the columns ran out.
pub fn html(table: &Table, settings: &Settings, nonce: &Nonce) -> io::Result<String> {
    Ok(RenderedMap::of(table, None, settings)?.html(nonce))
}

/// Returns the page of what changed between two tables.
///
/// # Errors
/// Memory for packing the columns ran out, or there are too many entries.
pub fn changes_html(
    comparison: Comparison<'_>,
    settings: &Settings,
    nonce: &Nonce,
) -> io::Result<String> {
    Ok(RenderedMap::of_changes(comparison, settings)?.html(nonce))
}

/// A map, ready to be put into a page.
#[derive(Debug)]
struct RenderedMap {
    title: String,
    /// What the page says of the whole tree, as JSON in one line.
    about: String,
    packed: Vec<u8>,
    fallback: String,
    /// The items of the columns.
    items: Vec<Item>,
    /// The scripts of its page.
    scripts: Vec<&'static str>,
    /// The page asks the program that serves it.
    connects: bool,
}

impl RenderedMap {
    fn of_changes(comparison: Comparison<'_>, settings: &Settings) -> io::Result<Self> {
        let changes = Changes::of(comparison, settings.measure).map_err(io::Error::other)?;
        Self::of(&changes.table, Some(&changes), settings)
    }

    fn of(table: &Table, changes: Option<&Changes<'_>>, settings: &Settings) -> io::Result<Self> {
        let selection = Selection::of(table, settings.measure, settings.max_entries);
        let columns = Columns::of(table, &selection, settings.owner_name);
        let changed = changes.map(|changes| changes.columns(&selection.items));
        let PackedColumns { locations, bytes: packed } = columns.pack(changed.as_ref())?;
        let title = title(table);
        let reading = settings.served.is_some_and(|state| state.reading);
        let absolute = settings.served.map(|_| absolute_roots(table));
        let about = json_object! {
            schema: "transect.map/1",
            title: &title,
            version: settings.served.map(|state| state.version),
            reading: reading,
            measure: settings.measure.as_str(),
            entries: table.len(),
            shown: selection.entries(),
            max_entries: settings.max_entries,
            hard_links: table.hard_links(),
            complete: table.diagnostics().is_complete() && !settings.interrupted && !reading,
            interrupted: settings.interrupted,
            errors: table.diagnostics().errors,
            vanished: table.diagnostics().vanished,
            read_at: settings.read_at,
            followed: settings.followed,
            disk: settings.disk.map(|disk| space_on_disk(table, &disk)),
            changes: changes.map(Changes::facts),
            // The absolute paths of the roots, on served pages.
            absolute: absolute.unwrap_or_default(),
            separator: std::path::MAIN_SEPARATOR,
            types: columns::TYPES,
            kinds: file_kinds::names(),
            owners: &columns.owners,
            unread: &columns.unread,
            columns: &locations,
        };
        let about = serde_json::to_string(&about).expect("BUG: all of it can be said in JSON");
        let fallback = match changes {
            Some(changes) => fallback::of_changes(changes),
            None => fallback::write(table, settings.measure),
        };
        let mut scripts = vec![ELEMENTS, FIRST_SCRIPTS];
        scripts.extend(changes.map(|_| CHANGES));
        scripts.push(SCRIPTS);
        let connects = settings.served.is_some();
        if connects {
            scripts.push(SERVED);
            scripts.extend(settings.removal.map(|_| REMOVAL));
            scripts.push(SERVED_LAST);
        }
        let items = selection.items;
        Ok(Self { title, about, packed, fallback, items, scripts, connects })
    }

    fn html(&self, nonce: &Nonce) -> String {
        let page = Page {
            generator: "transect map",
            title: &format!("{} · transect map", self.title),
            heading: &self.title,
            fallback: &self.fallback,
            style: STYLE,
            data: &[("about", Data::Json(&self.about)), ("columns", Data::Bytes(&self.packed))],
            script: &self.scripts.concat(),
            connects: self.connects,
        };
        page.html(nonce)
    }

    /// Returns an update for an open page: a line of JSON, then the columns.
    fn columns(&self) -> Vec<u8> {
        [self.about.as_bytes(), b"\n", &self.packed].concat()
    }
}

/// Returns the file system that the tree is on, and what of it the tree occupies.
fn space_on_disk(table: &Table, disk: &DiskSpace) -> impl Serialize + use<> {
    let sums = table.grand_total();
    json_object! {
        size: disk.size,
        used: disk.used(),
        available: disk.available,
        disk_usage: sums.disk_usage,
        apparent_size: sums.apparent,
    }
}

/// Returns the title: the root, or the first of several and their number.
fn title(table: &Table) -> String {
    let mut roots = table.roots();
    let first = roots.next().map_or_else(String::new, |root| columns::text(table.name(root)));
    match roots.len() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Returns the absolute paths of the roots by their names.
fn absolute_roots(table: &Table) -> BTreeMap<String, String> {
    let absolute = |root| {
        let path = std::path::absolute(table.path(root)).ok()?;
        Some((columns::text(table.name(root)), columns::text(path.as_os_str())))
    };
    table.roots().filter_map(absolute).collect()
}

#[cfg(test)]
mod tests;
