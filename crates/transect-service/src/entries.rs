//! The entries of a followed tree, as a client receives them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use transect::internal::StoredRows;
use transect::table::{Table, TableImporter, UnreadReason};
use transect::{Attributes, Diagnostics, FaultKind, FieldMask, FileType, Operation, ScanError};
use transect_live::Cursor;
use transect_sys::name_from_bytes;

use crate::client::{Client, bytes_of, text_of};
use crate::error::Error;
use crate::protocol::{
    ByteReader, EntryRow, EntryStart, Kind, Part, ProtocolError, Request, WireLayout, WordSearch,
    take_entry,
};

const SEPARATOR: u8 = std::path::MAIN_SEPARATOR as u8;

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
    current: EntryRow<OsString>,
    /// The path of the directories that hold the current entry, and its length at each depth.
    above: (Vec<u8>, Vec<usize>),
    errors: Vec<ScanError>,
    /// The name of the first entry, if not its path.
    root: Option<OsString>,
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
        let (layout, current) = (WireLayout::new(want), EntryRow::default());
        let (above, errors, root) = Default::default();
        Ok(Ok(Self { client, layout, cursor, frame, at, part, current, above, errors, root }))
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

    /// Returns the errors of the directories that were entered and cannot be opened.
    pub fn take_errors(&mut self) -> Vec<ScanError> {
        std::mem::take(&mut self.errors)
    }

    /// Collects all entries into a table with these columns, besides names, types and both sizes.
    ///
    /// # Errors
    /// The connection failed, or there are more entries than a table can hold.
    pub fn into_table(mut self, columns: FieldMask) -> Result<Table, Error> {
        let mut importer = TableImporter::new(columns);
        while self.advance(true)? {
            let EntryRow { depth, name, attributes, error, .. } = &self.current;
            while importer.depth() > usize::from(*depth) {
                leave(&mut importer)?;
            }
            match attributes.file_type() {
                FileType::Directory => importer.enter(name, attributes),
                _ => importer.add_entry(name, attributes),
            }
            if let Some(error) = *error {
                let error = io::Error::from_raw_os_error(error);
                importer.mark_unread(UnreadReason::Failed(FaultKind::of(&error)));
                importer.count_errors(1);
            }
        }
        while importer.depth() > 0 {
            leave(&mut importer)?;
        }
        let mut diagnostics = Diagnostics::new(Diagnostics::DEFAULT_KEPT);
        self.take_errors().into_iter().for_each(|error| diagnostics.add(error));
        importer.set_diagnostics(diagnostics);
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
        let EntryRow { depth, is_match, is_empty, name, attributes, error } =
            take_entry(&mut from, self.layout)?;
        let mut bytes = std::mem::take(&mut self.current.name).into_encoded_bytes();
        bytes.clear();
        bytes.extend_from_slice(name);
        let name = self.root.clone().filter(|_| depth == 0);
        let name = name.unwrap_or_else(|| name_from_bytes(bytes));
        self.at = self.frame.len() - from.0.len();
        self.current = EntryRow { depth, is_match, is_empty, name, attributes, error };
        if attributes.file_type() == FileType::Directory {
            let (path, lengths) = &mut self.above;
            lengths.truncate(depth.into());
            path.truncate(lengths.last().copied().unwrap_or(0));
            let name = self.current.name.as_encoded_bytes();
            path.extend_from_slice(name);
            if !name.ends_with(&[SEPARATOR]) {
                path.push(SEPARATOR);
            }
            lengths.push(path.len());
        }
        Ok(true)
    }

    /// Enters the current directory: if it cannot be opened, this is an error.
    fn enter(&mut self) {
        let EntryRow { depth, error: Some(error), .. } = self.current else { return };
        let path = self.above.0.strip_suffix(&[SEPARATOR]).filter(|path| !path.is_empty());
        let path = name_from_bytes(path.unwrap_or(b"/").to_vec()).into();
        let error = io::Error::from_raw_os_error(error);
        self.errors.push(ScanError::new(Operation::OpenDirectory, path, depth.into(), error));
    }
}

fn leave(importer: &mut TableImporter) -> Result<(), Error> {
    importer.leave().map_err(|_| ProtocolError("a name that is twice in a directory").into())
}

impl StoredRows for Entries {
    type Error = Error;

    fn advance(&mut self, enters: bool) -> Result<bool, Error> {
        let depth = self.current.depth;
        if enters {
            self.enter();
        }
        while self.go_on()? {
            if enters || self.current.depth <= depth {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn depth(&self) -> usize {
        self.current.depth.into()
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
