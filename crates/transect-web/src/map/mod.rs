//! A table as a page to walk around in: every entry an area as large as it is.
//!
//! ```text
//! selection.rs ── which entries are shown one by one, the largest of a directory first
//! columns.rs ──── what is known of them, a column an attribute
//! kinds.rs ────── what extensions say of a file
//! live.rs ─────── the map of a tree that is still being read, for who is served
//! plain.rs ────── the largest as a plain table: what a browser without scripts shows
//! page.css, scripts/ ── looks and behaviour, as real files
//! ```
//!
//! A tree has millions of names, so the page holds no object an entry: columns, deflated, as one text
//! that no name can end. The scripts draw from the columns as they are.

mod columns;
mod fallback;
mod file_kinds;
mod live_map;
mod measure;
mod selection;

use std::io;

use serde::Serialize;
use transect::table::Table;

use crate::page::{Data, ELEMENTS, Nonce, Page};
use columns::{ColumnLocation, Columns, PackedColumns};
use selection::Selection;

pub use live_map::LiveMap;
pub use measure::Measure;

const STYLE: &str = include_str!("page.css");

/// What the page does, in the order in which it is put together: each file uses those before it.
const SCRIPTS: &[&str] = &[
    ELEMENTS,
    include_str!("scripts/format.js"),
    include_str!("scripts/columns.js"),
    include_str!("scripts/tree.js"),
    include_str!("scripts/colours.js"),
    include_str!("scripts/squarify.js"),
    include_str!("scripts/layout.js"),
    include_str!("scripts/paint.js"),
    include_str!("scripts/labels.js"),
    include_str!("scripts/view.js"),
    include_str!("scripts/stage.js"),
    include_str!("scripts/search.js"),
    include_str!("scripts/legend.js"),
    include_str!("scripts/listing.js"),
    include_str!("scripts/input.js"),
    include_str!("scripts/map.js"),
];

/// What it does in addition where it is served.
const SERVED: &str = concat!(include_str!("scripts/update.js"), include_str!("scripts/served.js"));

/// What a page is to show of a table, and what the table does not know of itself.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What areas stand for.
    pub measure: Measure,
    /// The most entries that are shown one by one; the smallest of a directory are summed up.
    pub max_entries: usize,
    /// Says who a user's number belongs to.
    pub owner_name: fn(u32) -> String,
    /// When the tree was read, in seconds since 1970 UTC: ages are those of then.
    pub read_at: i64,
    /// The walk was stopped before its end.
    pub interrupted: bool,
    /// The page is served: it tells the [server](crate::serve) that somebody looks, and takes what is
    /// newer than itself.
    pub served: Option<ServedState>,
}

/// A state of what is served.
#[derive(Clone, Copy, Debug)]
pub struct ServedState {
    /// Later states have larger numbers.
    pub version: u64,
    /// The tree is still being read, and the table an outline.
    pub reading: bool,
}

/// What the page knows of itself, beside the columns.
#[derive(Serialize)]
struct Metadata<'p> {
    schema: &'static str,
    title: &'p str,
    version: Option<u64>,
    reading: bool,
    measure: &'static str,
    entries: u64,
    shown: usize,
    max_entries: usize,
    hard_links: u64,
    complete: bool,
    interrupted: bool,
    errors: u64,
    vanished: u64,
    read_at: i64,
    separator: char,
    types: &'p [&'static str],
    kinds: Vec<&'static str>,
    owners: &'p [String],
    unread: &'p [&'static str],
    columns: &'p [ColumnLocation],
}

/// Returns the page of a table: the same for the same table and the same nonce, however its rows lie.
///
/// # Errors
/// Memory for packing the columns ran out.
pub fn html(table: &Table, settings: &Settings, nonce: &Nonce) -> io::Result<String> {
    Ok(RenderedMap::of(table, settings)?.html(nonce))
}

/// A map, drawn.
#[derive(Debug)]
struct RenderedMap {
    title: String,
    /// [`Metadata`], as JSON in one line.
    about: String,
    packed: Vec<u8>,
    fallback: String,
    served: Option<ServedState>,
}

impl RenderedMap {
    fn of(table: &Table, settings: &Settings) -> io::Result<Self> {
        let selection = Selection::of(table, settings.measure, settings.max_entries);
        let columns = Columns::of(table, &selection, settings.owner_name);
        let PackedColumns { locations, bytes: packed } = columns.pack()?;
        let title = title(table);
        let reading = settings.served.is_some_and(|state| state.reading);
        let about = Metadata {
            schema: "transect.map/1",
            title: &title,
            version: settings.served.map(|state| state.version),
            reading,
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
            separator: std::path::MAIN_SEPARATOR,
            types: columns::TYPES,
            kinds: file_kinds::names(),
            owners: &columns.owners,
            unread: &columns.unread,
            columns: &locations,
        };
        let about = serde_json::to_string(&about).expect("BUG: all of it can be said in JSON");
        let fallback = fallback::write(table, settings.measure);
        Ok(Self { title, about, packed, fallback, served: settings.served })
    }

    fn html(&self, nonce: &Nonce) -> String {
        let connects = self.served.is_some();
        let script = SCRIPTS.concat() + if connects { SERVED } else { "" };
        let page = Page {
            generator: "transect map",
            title: &format!("{} · transect map", self.title),
            heading: &self.title,
            fallback: &self.fallback,
            style: STYLE,
            data: &[("about", Data::Json(&self.about)), ("columns", Data::Bytes(&self.packed))],
            script: &script,
            connects,
        };
        page.html(nonce)
    }

    /// Returns what a page that is open takes to show this: a line of JSON, and the columns.
    fn columns(&self) -> Vec<u8> {
        [self.about.as_bytes(), b"\n", &self.packed].concat()
    }
}

/// Returns what the page is called: its root, or the first and how many more.
fn title(table: &Table) -> String {
    let mut roots = table.roots();
    let first = roots.next().map_or_else(String::new, |root| columns::text(table.name(root)));
    match roots.len() {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[cfg(test)]
mod tests;
