//! Writes a table as a snapshot.
//!
//! ```text
//! table ─► outline: rows below each directory, digests      one pass, deepest first
//!       ─► groups of 131,072 rows in tree order ─► threads: columns, encoded
//!                                               ─► appended to the file in order
//! ```

mod columns;
mod encode;
mod outline;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};

use parquet::file::metadata::KeyValue;
use parquet::file::writer::SerializedFileWriter;
use transect::Cancel;
use transect::table::Table;

use crate::metadata::{METADATA_KEY, Metadata, VERSION_KEY};
use crate::schema::VERSION;

use encode::{EncodedGroup, Encoder};
use outline::Outline;

/// The maximum number of threads that encode.
const MAX_THREADS: usize = 8;

/// Why a snapshot was not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// The output failed.
    Output(io::Error),
    /// Writing was cancelled.
    Cancelled,
    /// A value could not be encoded: the reason.
    Encode(String),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output(error) => f.write_str(&transect::reason(error)),
            Self::Cancelled => f.write_str("interrupted"),
            Self::Encode(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Output(error) => Some(error),
            _ => None,
        }
    }
}

impl From<parquet::errors::ParquetError> for WriteError {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Self::Encode(error.to_string())
    }
}

impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Output(error) => error,
            error => Self::other(error.to_string()),
        }
    }
}

/// Writes a table as a snapshot. Rows are encoded on as many threads as there are processors, at most
/// eight; memory is needed for a few hundred thousand rows, and for 32 bytes per directory.
///
/// # Errors
/// The output fails, or `cancel` is set. What was written until then is not a snapshot.
pub fn write(
    table: &Table,
    metadata: &Metadata,
    cancel: &Cancel,
    out: &mut dyn Write,
) -> Result<(), WriteError> {
    let encoder = Encoder::new();
    let outline = Outline::of(table);
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    // One row more than a group is not worth a thread.
    let threads = threads.min(MAX_THREADS).min(outline.groups.len()).max(1);
    let mut file = FileWriter::new(&encoder, out)?;
    let next = Mutex::new(0);
    std::thread::scope(|scope| {
        // A bounded channel: threads that are ahead wait for the output.
        let (sender, receiver) = mpsc::sync_channel(threads);
        for _ in 0..threads {
            let (sender, next, encoder, outline) = (sender.clone(), &next, &encoder, &outline);
            scope.spawn(move || {
                loop {
                    let index = {
                        let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                        let index = *next;
                        *next += 1;
                        index
                    };
                    if index >= outline.groups.len() || cancel.is_cancelled() {
                        return;
                    }
                    let encoded = encoder.encode(columns::build(table, outline, index));
                    if sender.send((index, encoded)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early: BTreeMap<usize, EncodedGroup> = BTreeMap::new();
        let mut written = 0;
        for (index, encoded) in receiver {
            early.insert(index, encoded?);
            while let Some(group) = early.remove(&written) {
                file.append(group)?;
                written += 1;
            }
        }
        if written < outline.groups.len() {
            return Err(WriteError::Cancelled);
        }
        file.finish(metadata)
    })
}

/// The bytes that wait to be written.
#[derive(Clone, Default)]
struct PendingBytes(Arc<Mutex<Vec<u8>>>);

impl Write for PendingBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Appends row groups to the output. The Parquet writer writes to memory, because it accepts only
/// outputs that can be sent to other threads.
struct FileWriter<'o> {
    writer: SerializedFileWriter<PendingBytes>,
    pending: PendingBytes,
    out: &'o mut dyn Write,
}

impl<'o> FileWriter<'o> {
    fn new(encoder: &Encoder, out: &'o mut dyn Write) -> Result<Self, WriteError> {
        let pending = PendingBytes::default();
        let (schema, properties) = (encoder.schema(), encoder.properties());
        let writer = SerializedFileWriter::new(pending.clone(), schema, properties)?;
        Ok(Self { writer, pending, out })
    }

    fn append(&mut self, group: EncodedGroup) -> Result<(), WriteError> {
        let mut row_group = self.writer.next_row_group()?;
        for (bytes, close) in group.columns {
            row_group.append_column(&bytes, close)?;
        }
        row_group.close()?;
        self.drain()
    }

    fn finish(mut self, metadata: &Metadata) -> Result<(), WriteError> {
        let json = serde_json::to_string(metadata)
            .map_err(|error| WriteError::Encode(error.to_string()))?;
        let pairs = [(VERSION_KEY, VERSION.to_string()), (METADATA_KEY, json)];
        for (key, value) in pairs {
            self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        self.writer.finish()?;
        self.drain()?;
        self.out.flush().map_err(WriteError::Output)
    }

    fn drain(&mut self) -> Result<(), WriteError> {
        self.writer.flush().map_err(WriteError::Output)?;
        let mut pending = self.pending.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.out.write_all(&pending).map_err(WriteError::Output)?;
        pending.clear();
        Ok(())
    }
}
