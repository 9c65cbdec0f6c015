//! The entries of a followed tree, as a client receives them.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use transect::internal::StoredRows;
use transect::table::{Table, TableImporter};
use transect::{Attributes, FieldMask, FileType};
use transect_live::Cursor;
use transect_sys::name_from_bytes;

use crate::client::{Client, bytes_of, text_of};
use crate::error::Error;
use crate::protocol::{
    ByteReader, EntryRow, EntryStart, Kind, Part, ProtocolError, Request, WireLayout, WordSearch,
    take_entry,
};

/// Entries in tree order: a directory before its entries.
#[derive(Debug)]
pub struct Entries {
    client: Client,
    layout: WireLayout,
    cursor: Cursor,
    /// What is left of the last frame.
    frame: Vec<u8>,
    at: usize,
    part: Part,
    current: Current,
    /// The name of the first entry, if not its path.
    root: Option<OsString>,
}

#[derive(Debug, Default)]
struct Current {
    depth: usize,
    is_match: bool,
    is_empty: bool,
    name: OsString,
    attributes: Attributes,
}

impl Client {
    /// Returns an entry of a tree that the service follows, and everything below it, with every change that was made
    /// before this call. A search leaves out entries whose names lack a word. If the service does not follow all of
    /// that, returns the reason.
    ///
    /// The path must be absolute, and lead through no link. The attributes are those of
    /// [`transect_live::COLUMNS`], and the number of links of everything but directories.
    pub fn entries(
        mut self,
        path: &Path,
        want: FieldMask,
        search: WordSearch<'_>,
    ) -> Result<Result<Entries, String>, Error> {
        let path = bytes_of(path);
        self.send(&Request::Entries { want, path, search }, |_| {})?;
        Entries::begin(self, want)
    }
}

impl Entries {
    fn begin(mut client: Client, want: FieldMask) -> Result<Result<Self, String>, Error> {
        let frame = client.receive(Kind::Entries)?.to_vec();
        let mut from = ByteReader(&frame);
        let part = Part::take(&mut from)?;
        if part == Part::Unknown {
            return Ok(Err(text_of(from)));
        }
        let EntryStart { cursor } = EntryStart::take(&mut from)?;
        let at = frame.len() - from.0.len();
        let (layout, current) = (WireLayout::new(want), Current::default());
        let root = None;
        Ok(Ok(Self { client, layout, cursor, frame, at, part, current, root }))
    }

    /// Gives the first entry another name than its absolute path.
    #[must_use]
    pub fn named(mut self, root: OsString) -> Self {
        self.root = Some(root);
        self
    }

    /// Returns the place of these entries in the changes of the tree.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns whether the name of the current entry has all words of the search; otherwise, that of an entry below it has.
    pub fn is_match(&self) -> bool {
        self.current.is_match
    }

    /// Collects all entries into a table with these columns, besides names, types and both sizes.
    ///
    /// # Errors
    /// The connection failed, or there are more entries than a table can hold.
    pub fn into_table(mut self, columns: FieldMask) -> Result<Table, Error> {
        let mut importer = TableImporter::new(columns);
        while self.go_on()? {
            let Current { depth, name, attributes, .. } = &self.current;
            while importer.depth() > *depth {
                leave(&mut importer)?;
            }
            match attributes.file_type() {
                FileType::Directory => importer.enter(name, attributes),
                _ => importer.add_entry(name, attributes),
            }
        }
        while importer.depth() > 0 {
            leave(&mut importer)?;
        }
        importer.finish().map_err(Error::Table)
    }

    /// Goes to the next entry, and returns whether there is one.
    fn go_on(&mut self) -> Result<bool, Error> {
        while self.at == self.frame.len() {
            if self.part == Part::Last {
                return Ok(false);
            }
            self.frame.clear();
            self.frame.extend_from_slice(self.client.receive(Kind::Entries)?);
            self.part = Part::take(&mut ByteReader(&self.frame))?;
            self.at = 1;
        }
        let mut from = ByteReader(&self.frame[self.at..]);
        let EntryRow { depth, is_match, is_empty, name, attributes } =
            take_entry(&mut from, self.layout)?;
        let mut bytes = std::mem::take(&mut self.current.name).into_encoded_bytes();
        bytes.clear();
        bytes.extend_from_slice(name);
        let name = self.root.clone().filter(|_| depth == 0);
        let name = name.unwrap_or_else(|| name_from_bytes(bytes));
        self.current = Current { depth: depth.into(), is_match, is_empty, name, attributes };
        self.at = self.frame.len() - from.0.len();
        Ok(true)
    }
}

fn leave(importer: &mut TableImporter) -> Result<(), Error> {
    importer.leave().map_err(|_| ProtocolError("a name that is twice in a directory").into())
}

impl StoredRows for Entries {
    type Error = Error;

    fn advance(&mut self, enters: bool) -> Result<bool, Error> {
        let depth = self.current.depth;
        while self.go_on()? {
            if enters || self.current.depth <= depth {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn depth(&self) -> usize {
        self.current.depth
    }

    fn name(&self) -> &OsStr {
        &self.current.name
    }

    fn attributes(&self, fields: FieldMask) -> Attributes {
        let mut attributes = self.current.attributes;
        attributes.retain(fields);
        attributes
    }

    fn is_empty_directory(&self) -> bool {
        self.current.is_empty
    }
}
