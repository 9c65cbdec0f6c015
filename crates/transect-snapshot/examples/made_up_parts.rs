//! Writes the parts of a made-up scan, to measure with: directories with random names, sizes and times, of which the
//! first part leaves those at depth 1 over, and each other part has some. Every hundredth file has a second name, in the
//! directory beside that of the first.
//!
//! `cargo run --release -p transect-snapshot --example made_up_parts DIR PARTS` writes parts of a million
//! entries each.

use std::ffi::OsStr;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use transect::table::{Table, TableImporter, UnreadReason};
use transect::{Attributes, Cancel, FieldMask, FileType, SkipReason};
use transect_snapshot::tasks::{DEFAULT_FIELDS, Item, Part, StoredPath, Task, TaskOptions};
use transect_snapshot::{Metadata, write};

/// The directories at depth 1 in each part, the directories in one, and the files in each of these.
const TOPS_EACH: u64 = 100;
const DIRECTORIES_EACH: u64 = 1000;
const FILES_EACH: u64 = 9;
const ROOT: &str = "/made/up";

/// Returns a number that looks random and depends only on the seed (SplitMix64).
fn random(seed: u64) -> u64 {
    let mut number = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn name(seed: u64) -> String {
    let length = 8 + random(seed) % 15;
    let letter = |place: u64| char::from(b'a' + (random(seed * 31 + place) % 26) as u8);
    (0..length).map(letter).collect()
}

fn attributes(file_type: FileType, entry: u64) -> Attributes {
    let mut of = Attributes::of_type(file_type);
    let size = match file_type {
        FileType::Directory => 4096,
        _ => (random(entry ^ 1) % 100_000) >> (random(entry ^ 2) % 12),
    };
    of.set_size(size);
    of.set_allocated(size.next_multiple_of(4096));
    of.set_mtime(1_600_000_000_000_000_000 + (random(entry ^ 3) % 150_000_000_000_000_000) as i64);
    of.set_mode(if file_type == FileType::Directory { 0o040_755 } else { 0o100_644 });
    of.set_uid(1000 + (random(entry ^ 4) % 4) as u32);
    of.set_gid(100);
    of.set_nlink(1);
    of.set_inode(1000 + entry);
    of.set_device(2049);
    of
}

/// Returns a file, and the attributes of its first name if it is the second one.
fn file(entry: u64) -> Attributes {
    let distance = (FILES_EACH + 1) * TOPS_EACH * DIRECTORIES_EACH / 2;
    match entry % 100 {
        7 => {
            let mut of = attributes(FileType::File, entry);
            of.set_nlink(2);
            of
        }
        57 if entry > distance + 50 => {
            let mut of = attributes(FileType::File, entry - 50 - distance);
            of.set_nlink(2);
            of
        }
        _ => attributes(FileType::File, entry),
    }
}

fn top_name(top: u64) -> String {
    format!("{top:07}")
}

/// Returns the table of the first part, which only has directories that it leaves over.
fn first(tops: u64) -> Table {
    let mut importer = TableImporter::new(DEFAULT_FIELDS);
    importer.enter(OsStr::new(ROOT), &attributes(FileType::Directory, 0));
    for top in 0..tops {
        importer.enter(OsStr::new(&top_name(top)), &attributes(FileType::Directory, 1));
        importer.mark_unread(UnreadReason::Skipped(SkipReason::LeftOver));
        importer.leave().expect("names differ");
    }
    importer.finish().expect("few entries")
}

/// Returns the table of another part.
fn tops(tops: std::ops::Range<u64>) -> Table {
    let mut importer = TableImporter::new(DEFAULT_FIELDS);
    for top in tops {
        let path = Path::new(ROOT).join(top_name(top));
        importer.enter(path.as_os_str(), &attributes(FileType::Directory, 1));
        for directory in top * DIRECTORIES_EACH..(top + 1) * DIRECTORIES_EACH {
            let entry = directory * (FILES_EACH + 1);
            let own = format!("{}-{directory}", name(entry));
            importer.enter(OsStr::new(&own), &attributes(FileType::Directory, entry));
            for entry in entry + 1..=entry + FILES_EACH {
                importer.add_entry(OsStr::new(&format!("{}-{entry}", name(entry))), &file(entry));
            }
            importer.leave().expect("names differ");
        }
        importer.leave().expect("names differ");
    }
    importer.finish().expect("few entries")
}

fn write_part(folder: &Path, table: &Table, part: Part) -> Result<(), Box<dyn std::error::Error>> {
    let mut metadata = Metadata::default();
    metadata.complete = true;
    metadata.set_fields(table.columns() | FieldMask::SIZE | FieldMask::ALLOCATED);
    let path = folder.join(format!("part-{}.parquet", part.task));
    metadata.part = Some(part);
    write(table, &metadata, &Cancel::new(), &mut BufWriter::new(File::create(path)?))?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("a DIR is missing")?);
    let count: u64 = arguments.next().and_then(|it| it.to_str()?.parse().ok()).unwrap_or(4);
    let task = Task::first(&[PathBuf::from(ROOT)], TaskOptions::default())?;
    let items = |list: u64| -> Vec<Item> {
        let item = |top| Item {
            names: None,
            path: StoredPath::new(Path::new(&top_name(top))),
            ..task.items[0].clone()
        };
        (list * TOPS_EACH..(list + 1) * TOPS_EACH).map(item).collect()
    };
    let mut part = Part::default();
    (part.task, part.roots) = (task.id.clone(), task.roots.clone());
    let own = part.clone();
    part.items = task.items.clone();
    part.leftover = (0..count).map(items).collect();
    write_part(&folder, &first(count * TOPS_EACH), part)?;
    for list in 0..count {
        // As the ids of tasks follow from each other.
        let id = blake3::hash(format!("{} {list}", task.id).as_bytes()).to_hex();
        let mut part = own.clone();
        (part.task, part.items) = (id[..32].to_owned(), items(list));
        write_part(&folder, &tops(list * TOPS_EACH..(list + 1) * TOPS_EACH), part)?;
    }
    Ok(())
}
