//! Writes snapshots of a made-up tree, to measure with: two million entries in 200,000 directories with
//! random names, sizes and times; the same with 2,000 changes anywhere, and with 2,000 in one place: files of
//! another size, and a third each of these, of new files and of files that are gone.
//!
//! `cargo run --release -p transect-snapshot --example made_up DIRECTORY` writes `a.parquet`,
//! `spread.parquet`, `clustered.parquet`, `spread-names.parquet` and `clustered-names.parquet`.

use std::ffi::OsStr;
use std::fs::File;
use std::path::PathBuf;

use transect::table::{Table, TableImporter};
use transect::{Attributes, Cancel, FieldMask, FileType};
use transect_snapshot::{Metadata, write};

const DIRECTORIES: u64 = 200_000;
const FILES_EACH: u64 = 9;
const CHANGES: u64 = 2000;

/// What happens to a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Nothing,
    Size,
    /// A new file is beside it.
    Addition,
    Removal,
}

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

fn attributes(file_type: FileType, entry: u64, is_changed: bool) -> Attributes {
    let mut of = Attributes::of_type(file_type);
    let size = match file_type {
        FileType::Directory => 4096,
        _ => (random(entry ^ 1) % 100_000) >> (random(entry ^ 2) % 12),
    };
    of.set_size(size + u64::from(is_changed));
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

/// Makes the tree: directories in directories of sixteen, files in all.
fn table(change: &dyn Fn(u64) -> Change) -> Table {
    let columns = FieldMask::MTIME
        | FieldMask::MODE
        | FieldMask::UID
        | FieldMask::GID
        | FieldMask::NLINK
        | FieldMask::FILE_ID;
    let mut importer = TableImporter::new(columns);
    enum Step {
        Enter(u64),
        Leave,
    }
    let mut waiting = vec![Step::Enter(0)];
    while let Some(step) = waiting.pop() {
        let Step::Enter(directory) = step else {
            importer.leave().expect("names differ");
            continue;
        };
        let entry = directory * (FILES_EACH + 1);
        let own = if directory == 0 {
            "/made/up".to_owned()
        } else {
            format!("{}-{directory}", name(entry))
        };
        importer.enter(OsStr::new(&own), &attributes(FileType::Directory, entry, false));
        for file in entry + 1..=entry + FILES_EACH {
            let (own, change) = (format!("{}-{file}", name(file)), change(file));
            if change != Change::Removal {
                let of = attributes(FileType::File, file, change == Change::Size);
                importer.add_entry(OsStr::new(&own), &of);
            }
            if change == Change::Addition {
                let of = attributes(FileType::File, file + DIRECTORIES * (FILES_EACH + 1), false);
                importer.add_entry(OsStr::new(&format!("{own}-new")), &of);
            }
        }
        waiting.push(Step::Leave);
        let first = directory * 16 + 1;
        waiting.extend((first..first + 16).filter(|&it| it < DIRECTORIES).map(Step::Enter));
    }
    importer.finish().expect("few entries")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args_os().nth(1).ok_or("a DIRECTORY is missing")?);
    let total = DIRECTORIES * (FILES_EACH + 1);
    let last = total - CHANGES * 10 / 9;
    let is_spread = |file: u64| random(file ^ 7) % total < CHANGES * 10 / 9;
    let is_clustered = |file: u64| file > last;
    let size = |is_changed: bool| if is_changed { Change::Size } else { Change::Nothing };
    let names = |is_changed: bool, file: u64| match random(file ^ 8) % 3 {
        _ if !is_changed => Change::Nothing,
        0 => Change::Size,
        1 => Change::Addition,
        _ => Change::Removal,
    };
    let tables: [(&str, &dyn Fn(u64) -> Change); 5] = [
        ("a", &|_| Change::Nothing),
        ("spread", &|file| size(is_spread(file))),
        ("clustered", &|file| size(is_clustered(file))),
        ("spread-names", &|file| names(is_spread(file), file)),
        ("clustered-names", &|file| names(is_clustered(file), file)),
    ];
    for (name, change) in tables {
        let table = table(change);
        let mut metadata = Metadata::default();
        metadata.complete = true;
        metadata.set_fields(table.columns());
        let mut file = File::create(directory.join(name).with_extension("parquet"))?;
        write(&table, &metadata, &Cancel::new(), &mut file)?;
    }
    Ok(())
}
