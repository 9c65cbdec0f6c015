//! Writes a table as an export.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use transect_sys::FileType;

use crate::sink::SkipReason;
use crate::table::{Row, Table, UnreadReason};

const NANOSECONDS: i64 = 1_000_000_000;

/// Writes a root of a table with everything below it as an export. `path` names the root in the
/// export; it should be absolute, so that it means the same everywhere. `time` is when the tree was
/// read, in seconds since 1970 UTC.
///
/// The table should have the columns inode, device and link count: otherwise hard links become
/// separate files. Owner, group, mode and mtime are written if they have columns, as in the
/// extended exports of ncdu.
///
/// # Errors
/// The error of a write.
pub fn write(
    table: &Table,
    root: Row,
    path: &Path,
    time: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    write!(out, r#"[1,2,{{"progname":"transect","progver":"{version}","timestamp":{time}}},"#)?;
    let mut waiting = vec![Step::Enter(root)];
    while let Some(step) = waiting.pop() {
        let Step::Enter(row) = step else {
            out.write_all(b"]")?;
            continue;
        };
        let is_root = row == root;
        out.write_all(if is_root { b"\n" } else { b",\n" })?;
        let name = if is_root { path.as_os_str() } else { table.name(row) };
        let excluded = excluded(table, row);
        if table.file_type(row) != FileType::Directory || excluded.is_some() {
            write_item(table, row, name, excluded, out)?;
            continue;
        }
        out.write_all(b"[")?;
        write_item(table, row, name, None, out)?;
        waiting.push(Step::Leave);
        waiting.extend(table.children(row).rev().map(Step::Enter));
    }
    out.write_all(b"]\n")
}

/// The next item to write. Items are kept in a list, not on the call stack, which a deep tree would
/// overflow.
enum Step {
    Enter(Row),
    Leave,
}

/// Returns ncdu's word for a directory that was not read on purpose.
fn excluded(table: &Table, row: Row) -> Option<&'static str> {
    match table.unread_reason(row) {
        Some(UnreadReason::Skipped(SkipReason::PseudoFileSystem)) => Some("kernfs"),
        Some(UnreadReason::Skipped(_)) => Some("otherfs"),
        _ => None,
    }
}

fn write_item(
    table: &Table,
    row: Row,
    name: &OsStr,
    excluded: Option<&str>,
    out: &mut impl Write,
) -> io::Result<()> {
    let of = table.attributes(row);
    write_text(name, out)?;
    for (key, size) in [("asize", of.size()), ("dsize", of.allocated())] {
        if let Some(size) = size.filter(|&size| size > 0) {
            write!(out, r#","{key}":{size}"#)?;
        }
    }
    // The device is written where it differs from that of the parent.
    let above = table.parent(row).and_then(|parent| table.attributes(parent).device());
    if let Some(device) = of.device().filter(|&device| Some(device) != above) {
        write!(out, r#","dev":{device}"#)?;
    }
    for (key, id) in [("uid", of.uid()), ("gid", of.gid()), ("mode", of.mode().map(u32::from))] {
        if let Some(id) = id {
            write!(out, r#","{key}":{id}"#)?;
        }
    }
    if let Some(mtime) = of.mtime() {
        // Times before 1970 are unsigned 64-bit numbers, as in ncdu.
        let seconds = mtime.div_euclid(NANOSECONDS).cast_unsigned();
        write!(out, r#","mtime":{seconds}"#)?;
        match mtime.rem_euclid(NANOSECONDS) {
            0 => {}
            fraction => write!(out, ".{fraction:09}")?,
        }
    }
    let linked = of.nlink().filter(|&names| names > 1 && of.file_type() != FileType::Directory);
    if let (Some(names), Some(inode)) = (linked, of.inode()) {
        write!(out, r#","ino":{inode},"hlnkc":true,"nlink":{names}"#)?;
    }
    if !matches!(of.file_type(), FileType::File | FileType::Directory) {
        out.write_all(br#","notreg":true"#)?;
    }
    if let Some(UnreadReason::Failed(_)) = table.unread_reason(row) {
        out.write_all(br#","read_error":true"#)?;
    }
    if let Some(word) = excluded {
        write!(out, r#","excluded":"{word}""#)?;
    }
    out.write_all(b"}")
}

/// Writes the beginning of an item: the bytes of its name.
fn write_text(name: &OsStr, out: &mut impl Write) -> io::Result<()> {
    out.write_all(br#"{"name":""#)?;
    for &byte in name.as_encoded_bytes() {
        match byte {
            b'"' => out.write_all(br#"\""#)?,
            b'\\' => out.write_all(br"\\")?,
            0..=0x1f | 0x7f => write!(out, r"\u{byte:04x}")?,
            byte => out.write_all(&[byte])?,
        }
    }
    out.write_all(b"\"")
}
