//! Answers about followed trees, in as many frames as they need.

use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

use transect::FieldMask;
use transect::table::{Row, TreeOrder};
use transect_live::{ChangesSince, Counts, SharedTree, View};

use crate::open_connections::OpenConnection;
use crate::protocol::{
    ChangesHeader, EntryRow, EntryStart, Kind, MAX_ANSWER_BYTES, MAX_PATH_BYTES, Part,
    PlaceOfClient, WireLayout, WordSearch, append_change, append_entry,
};
use crate::transport::Wake;
use crate::words::Words;

/// A frame is sent when it is this long.
const FULL_FRAME_BYTES: usize = 64 << 10;

const _: () = assert!(FULL_FRAME_BYTES + 8 * MAX_PATH_BYTES < MAX_ANSWER_BYTES);

/// The bytes before the payload of a frame: its length and its kind. The payload begins with a [`Part`].
const HEADER: usize = 5;

/// An answer in parts. The last one is left in the buffer, for the caller to send.
struct PartsWriter<'a> {
    open: &'a OpenConnection,
    kind: u8,
    out: &'a mut Vec<u8>,
}

impl<'a> PartsWriter<'a> {
    fn new(open: &'a OpenConnection, kind: Kind, out: &'a mut Vec<u8>) -> Self {
        let mut writer = Self { open, kind: kind.answer(), out };
        writer.begin();
        writer
    }

    fn begin(&mut self) {
        self.out.clear();
        self.out.extend_from_slice(&[0, 0, 0, 0, self.kind, Part::More as u8]);
    }

    fn finish(self, part: Part) {
        let Self { out, .. } = self;
        out[HEADER] = part as u8;
        set_length(out);
    }

    /// Sends the frame if it is full, and begins the next one.
    fn send_if_full(&mut self) -> io::Result<()> {
        if self.out.len() < FULL_FRAME_BYTES {
            return Ok(());
        }
        set_length(self.out);
        self.open.send(self.out)?;
        self.begin();
        Ok(())
    }
}

fn set_length(out: &mut [u8]) {
    let length = u32::try_from(out.len() - 4).expect("BUG: a frame beyond all limits");
    out[..4].copy_from_slice(&length.to_le_bytes());
}

/// Answers that this is not known, and why.
pub(crate) fn unknown(open: &OpenConnection, kind: Kind, out: &mut Vec<u8>, why: &str) {
    let writer = PartsWriter::new(open, kind, out);
    writer.out.extend_from_slice(why.as_bytes());
    writer.finish(Part::Unknown);
}

/// Answers with the entries of a view that have all words in their names, and the directories above these.
///
/// # Errors
/// The connection failed.
pub(crate) fn entries(
    open: &OpenConnection,
    out: &mut Vec<u8>,
    path: &[u8],
    view: &View,
    want: FieldMask,
    search: &WordSearch<'_>,
) -> io::Result<()> {
    let mut writer = PartsWriter::new(open, Kind::Entries, out);
    EntryStart { cursor: view.cursor }.append(writer.out);
    let layout = WireLayout::new(want);
    let words = Words::new(search);
    let table = &*view.table;
    let name_of = |depth, row| if depth == 0 { path } else { bytes(table.name(row)) };
    // What the table has in directories that cannot be opened is from before.
    let is_hidden = |row: &Row| view.closed.contains_key(row);
    // Sends the entries of a chain, each in the one before, that were not sent with the last chain.
    let mut send = |chain: &[Row], begin: usize| {
        for depth in begin..chain.len() {
            let row = chain[depth];
            let error = view.closed.get(&row).copied();
            let mut attributes = table.attributes(row);
            if want.contains(FieldMask::NLINK) {
                table.link_count(row).into_iter().for_each(|count| attributes.set_nlink(count));
            }
            let entry = EntryRow {
                depth: depth.try_into().unwrap_or(u16::MAX),
                is_match: depth + 1 == chain.len() && words.are_in(name_of(depth, row)),
                is_empty: error.is_none() && table.children(row).len() == 0,
                name: name_of(depth, row),
                attributes,
                error,
            };
            append_entry(writer.out, layout, &entry);
            writer.send_if_full()?;
        }
        Ok::<(), io::Error>(())
    };
    let closed = || view.closed.keys().copied();
    let name = |row| name_of(usize::from(row != view.row), row);
    if let Some(chains) = words.chains(table, view.row, closed(), name) {
        let mut last: &[Row] = &[];
        for chain in &chains {
            if chain.split_last().is_some_and(|(_, above)| above.iter().any(is_hidden)) {
                continue;
            }
            let common = last.iter().zip(chain).take_while(|(one, other)| one == other).count();
            send(chain, common)?;
            last = chain;
        }
    } else {
        let mut order = table.in_tree_order_from(vec![view.row]);
        // The entries from the first one to the current one, and how many of them were sent.
        let (mut chain, mut sent): (Vec<Row>, usize) = (Vec::new(), 0);
        let mut enters = true;
        while TreeOrder::advance(&mut order, enters) {
            chain.truncate(order.depth());
            sent = sent.min(chain.len());
            chain.push(order.row());
            enters = !is_hidden(&order.row());
            if !enters || words.are_in(name_of(order.depth(), order.row())) {
                send(&chain, sent)?;
                sent = chain.len();
            }
        }
    }
    writer.finish(Part::Last);
    Ok(())
}

fn bytes(name: &OsStr) -> &[u8] {
    name.as_encoded_bytes()
}

/// Answers with what changed. With `place.wait`, waits until something did. A client without a cursor that comes after the
/// root has gone receives a reason: whatever is at that path now is not followed.
///
/// # Errors
/// The connection failed, or the client is gone.
pub(crate) fn changes(
    open: &OpenConnection,
    out: &mut Vec<u8>,
    tree: &Arc<SharedTree>,
    place: PlaceOfClient,
) -> io::Result<()> {
    let mut since = tree.changes_since(place.cursor).map_err(io::Error::other)?;
    if place.cursor.is_none() && since.is_root_gone {
        unknown(open, Kind::Changes, out, "its root has gone");
        return Ok(());
    }
    if place.wait && is_unchanged(&since) {
        let cursor = place.cursor.unwrap_or(since.cursor);
        let wake = Wake::new()?;
        let waker = wake.clone();
        let listening = tree.on_change(move || waker.wake());
        loop {
            // What was changed before it listened.
            since = tree.notified_since(cursor).map_err(io::Error::other)?;
            if !is_unchanged(&since) {
                break;
            }
            if !open.stream.is_woken(&wake)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        drop(listening);
    }
    let mut writer = PartsWriter::new(open, Kind::Changes, out);
    let ChangesSince { changes, was_gap, is_root_gone, cursor, .. } = since;
    let is_lost = changes.is_none();
    let Counts { entries, unwatched, errors, .. } = tree.counts();
    let header =
        ChangesHeader { cursor, is_lost, was_gap, is_root_gone, entries, unwatched, errors };
    header.append(writer.out);
    for change in changes.iter().flatten() {
        append_change(writer.out, change);
        writer.send_if_full()?;
    }
    writer.finish(Part::Last);
    Ok(())
}

fn is_unchanged(since: &ChangesSince) -> bool {
    let is_empty = since.changes.as_ref().is_some_and(Vec::is_empty);
    is_empty && !since.was_gap && !since.is_root_gone
}
