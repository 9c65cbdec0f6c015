//! The change journal of NTFS. No driver of Linux creates one, so the test puts records into an image.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use serde_json::Value;
use transect_testkit::{NtfsMount, loudly_skip};
use transect_volumes::read_journal;

use crate::harness::TestEnv;

/// 2026-01-31 10:00:00 UTC, as NTFS stores times.
const TIME: u64 = (1_769_853_600 + 11_644_473_600) * 10_000_000;
/// Where the journal begins: before it is a hole.
const BEGIN: u64 = 1 << 20;
const CREATED: u32 = 0x100;
const DELETED: u32 = 0x200;
const EXTENDED: u32 = 0x2;
const RENAMED: u32 = 0x2000;
const CHANGED: u32 = 0x8000;
const CLOSED: u32 = 0x8000_0000;
const DIRECTORY: u32 = 0x10;
/// A number that the volume does not use, with the number of its use.
const GONE: u64 = 3 << 48 | 60_000;
/// The top directory: record 5, in its fifth use.
const TOP: u64 = 5 << 48 | 5;

/// Returns a record of version 2 or 3.
fn record(version: u16, file: u64, directory: u64, reasons: u32, bits: u32, name: &str) -> Vec<u8> {
    let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let long = |reference: u64| match version {
        3 => [reference, 0].map(u64::to_le_bytes).concat(),
        _ => reference.to_le_bytes().to_vec(),
    };
    let before_name: u16 = if version == 3 { 76 } else { 60 };
    let length = (usize::from(before_name) + name.len()).next_multiple_of(8);
    let mut record = [&(length as u32).to_le_bytes()[..], &version.to_le_bytes(), &[0; 2]].concat();
    record.extend([long(file), long(directory)].concat());
    record.extend([4711, TIME].map(u64::to_le_bytes).concat());
    record.extend([reasons, 0, 0, bits].map(u32::to_le_bytes).concat());
    record.extend([name.len() as u16, before_name].map(u16::to_le_bytes).concat());
    record.extend(name);
    record.resize(length, 0);
    record
}

/// Returns pages as a journal stores them: each record has its place as its number.
fn placed(pages: Vec<Vec<u8>>) -> Vec<u8> {
    let mut all = Vec::new();
    for (number, mut page) in pages.into_iter().enumerate() {
        let mut at = 0;
        while at + 8 < page.len() && page[at] > 7 {
            let usn = if page[at + 4] == 2 { at + 24 } else { at + 40 };
            let place = BEGIN + (number * 4096 + at) as u64;
            page[usn..usn + 8].copy_from_slice(&place.to_le_bytes());
            at += usize::from(u16::from_le_bytes([page[at], page[at + 1]]));
        }
        page.resize(4096, 0);
        all.extend(page);
    }
    all
}

/// Makes a volume with a journal of these records, pages of 4 KiB. `records` gets the reference of each file
/// that exists.
pub(crate) fn make(
    image: &Path,
    at: &Path,
    pages: impl FnOnce(&dyn Fn(&str) -> u64) -> Vec<Vec<u8>>,
) -> Result<(), String> {
    NtfsMount::make(image, 8 << 20, &[])?;
    let mount = NtfsMount::new(image, "streams_interface=windows", at)?;
    fs::create_dir_all(at.join("projects/report")).unwrap();
    fs::write(at.join("projects/report/text.txt"), "content").unwrap();
    let journal = at.join("XUsnJrnl");
    File::create(&journal).unwrap();
    // Each record is in its first use.
    let reference = |path: &str| 1 << 48 | at.join(path).metadata().unwrap().ino();
    let number = journal.metadata().unwrap().ino();
    let stream = File::create(at.join("XUsnJrnl:$J")).unwrap();
    stream.write_all_at(&placed(pages(&reference)), BEGIN).unwrap();
    drop(stream);
    drop(mount);
    // The driver creates nothing in `$Extend`, record 11: so the file is moved there.
    let image = File::options().read(true).write(true).open(image).unwrap();
    let mut boot = [0; 512];
    image.read_exact_at(&mut boot, 0).unwrap();
    let cluster = u64::from(u16::from_le_bytes([boot[11], boot[12]])) * u64::from(boot[13]);
    let table = u64::from_le_bytes(*boot[48..].first_chunk().unwrap()) * cluster;
    let mut bytes = [0; 1024];
    image.read_exact_at(&mut bytes, table + number * 1024).unwrap();
    let name: Vec<u8> = "XUsnJrnl".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let found = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[found] = b'$';
    bytes[found - 66..found - 58].copy_from_slice(&(11_u64 << 48 | 11).to_le_bytes());
    image.write_all_at(&bytes, table + number * 1024).unwrap();
    Ok(())
}

pub(crate) fn all_records(reference: &dyn Fn(&str) -> u64) -> Vec<Vec<u8>> {
    let text = reference("projects/report/text.txt");
    let report = reference("projects/report");
    // What the record of the directory was used for before.
    let earlier = report ^ 3 << 48;
    vec![
        [
            record(2, text, report, CREATED, 0x20, "text.txt"),
            record(2, text, report, CREATED | EXTENDED | CLOSED, 0x20, "text.txt"),
            record(3, report, reference("projects"), RENAMED, DIRECTORY, "report"),
            record(4, 1, 1, EXTENDED, 0, "some name"),
            record(2, GONE, TOP, CREATED, DIRECTORY, "build"),
        ]
        .concat(),
        [
            record(2, GONE + 1, GONE, DELETED, 0x20, "häßlich\u{1b}.o"),
            record(2, GONE + 2, earlier, 0, 0x20, "lost"),
            record(2, GONE, TOP, DELETED | CLOSED, DIRECTORY, "build"),
            record(2, TOP, TOP, CHANGED | CLOSED, DIRECTORY, "."),
        ]
        .concat(),
    ]
}

#[test]
fn journal_changes_with_paths_of_now_and_of_what_is_gone() {
    let env = TestEnv::new();
    let made = make(&env.path("disk.img"), &env.path("mounted"), all_records);
    if let Err(reason) = made {
        return loudly_skip("journal_changes_with_paths_of_now_and_of_what_is_gone", reason);
    }
    let text = env.transect(["changes", "--journal", "disk.img"]).exits(0).quiet().stdout_text();
    let lines: Vec<&str> = text.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(
        lines,
        [
            "projects/report/text.txt: created",
            "projects/report/text.txt: created, content extended, closed",
            "projects/report: renamed to",
            "build: created",
            "build/häßlich\\e.o: deleted",
            "…/lost: unknown reason 0x0",
            "build: deleted, closed",
            ".: attributes or times changed, closed",
        ]
    );
    let json = env.transect(["changes", "--journal", "--json", "disk.img"]).exits(0).quiet();
    let lines: Vec<Value> =
        json.stdout_text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, changes) = lines.split_last().unwrap();
    assert_eq!(changes.len(), 8);
    assert_eq!(changes[1]["path"], "projects/report/text.txt");
    assert_eq!(changes[1]["reasons"], serde_json::json!(["created", "content extended", "closed"]));
    assert_eq!(changes[1]["time"].as_i64(), Some(1_769_853_600_000_000_000));
    let second = BEGIN + record(2, 0, 0, 0, 0, "text.txt").len() as u64;
    assert_eq!((&changes[1]["usn"], &changes[2]["type"]), (&second.into(), &"directory".into()));
    assert_eq!((&changes[7]["path"], &changes[7]["inode"]), (&".".into(), &5.into()));
    assert_eq!(
        (&changes[5]["path"], &changes[5]["directory_known"]),
        (&"lost".into(), &false.into())
    );
    assert_eq!(summary["schema"], "transect.journal/1");
    assert_eq!((&summary["complete"], &summary["changes"]), (&true.into(), &8.into()));
    assert_eq!(summary["nameless_records"], 1);
    // The files of the file system itself are in no listing.
    let list = env.transect(["list", "disk.img"]).exits(0).stdout_text();
    assert!(!list.contains("UsnJrnl") && list.contains("text.txt"), "{list}");
}

/// A copy of the stream, as programs for examinations make it: with the hole before it, with zeros instead, or without.
#[test]
fn journal_copy_read_with_paths_of_its_own() {
    let env = TestEnv::new();
    let pages = placed(all_records(&|path| (1 << 48) | (64 + path.len() as u64)));
    let hole = File::create(env.path("hole")).unwrap();
    hole.write_all_at(&pages, BEGIN).unwrap();
    // A second hole: pages of zeros between others.
    hole.write_all_at(&pages, 16 * BEGIN).unwrap();
    fs::write(env.path("zeros"), [&vec![0; BEGIN as usize][..], &pages].concat()).unwrap();
    // The end of the last page is not there.
    let used = pages.iter().rposition(|&byte| byte != 0).unwrap() + 1;
    fs::write(env.path("short"), &pages[..used.next_multiple_of(8)]).unwrap();
    let expected = [
        "…/text.txt: created",
        "…/text.txt: created, content extended, closed",
        "…/report: renamed to",
        "build: created",
        "build/häßlich\\e.o: deleted",
        "…/lost: unknown reason 0x0",
        "build: deleted, closed",
        ".: attributes or times changed, closed",
    ];
    for (file, times) in [("hole", 2), ("zeros", 1), ("short", 1)] {
        let text = env.transect(["changes", "--journal", file]).exits(0).quiet().stdout_text();
        let lines: Vec<&str> = text.lines().map(|line| line.split_once("  ").unwrap().1).collect();
        assert_eq!(lines, expected.repeat(times), "{file}");
    }
    // A damaged name: the records behind it are there, and the number is that of records.
    let mut damaged = pages;
    let (first, place) = (usize::from(damaged[0]), 56);
    (0..2).for_each(|number| damaged[number * first + place] = 1);
    fs::write(env.path("damaged"), damaged).unwrap();
    let partial = env.transect(["changes", "--journal", "--json", "damaged"]).exits(1);
    let text = partial.stdout_text();
    let summary: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&summary["damaged_records"], &summary["changes"]), (&2.into(), &6.into()));
    fs::write(env.path("empty"), []).unwrap();
    File::create(env.path("nothing")).unwrap().set_len(1 << 40).unwrap();
    for file in ["empty", "nothing"] {
        let refused = env.transect(["changes", "--journal", file]).exits(2).stderr_text();
        assert!(refused.contains("cannot read the change journal"), "{refused}");
    }
}

#[test]
fn journal_damaged_or_missing_reported() {
    let env = TestEnv::new();
    let damaged = |reference: &dyn Fn(&str) -> u64| {
        let mut pages = all_records(reference);
        // The length of the second record.
        let first = pages[0][0];
        pages[0][usize::from(first)] = 3;
        pages
    };
    if let Err(reason) = make(&env.path("disk.img"), &env.path("mounted"), damaged) {
        return loudly_skip("journal_damaged_or_missing_reported", reason);
    }
    let partial = env.transect(["changes", "--journal", "disk.img"]).exits(1);
    assert_eq!(partial.stdout_text().lines().count(), 1 + 4, "the other page is read");
    let error = partial.stderr_text();
    assert!(
        error.contains("cannot read 1 record of the change journal: damaged content"),
        "{error}"
    );
    NtfsMount::make(&env.path("new.img"), 8 << 20, &[]).unwrap();
    let message = |path: &str| env.transect(["changes", "--journal", path]).exits(2).stderr_text();
    assert_eq!(
        message("new.img"),
        "transect: cannot read the change journal of 'new.img': it has no change journal\n"
    );
    fs::write(env.path("text"), vec![b'x'; 5000]).unwrap();
    assert!(message("text").contains("there is no NTFS in it"));
    assert!(message("missing").contains("No such file"));
    assert!(message("mounted").contains("it is a directory"));
    let options = env.transect(["changes", "--journal", "--since", "3d", "disk.img"]).exits(2);
    assert!(options.stderr_text().contains("cannot be used with"), "{}", options.stderr_text());
}

/// Wrong bytes in what leads to the journal, and in its records: an error or records, and always an end.
#[test]
fn journal_hostile_images_no_panic_and_an_end() {
    let env = TestEnv::new();
    let image = env.path("disk.img");
    if let Err(reason) = make(&image, &env.path("mounted"), all_records) {
        return loudly_skip("journal_hostile_images_no_panic_and_an_end", reason);
    }
    let bytes = fs::read(&image).unwrap();
    let file = File::options().write(true).open(&image).unwrap();
    let read = || {
        let mut count = 0;
        let counts = read_journal(&image, |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        counts.map(|counts| (count, counts.damaged))
    };
    assert_eq!(read().unwrap(), (8, 0));
    let name: Vec<u8> = "$UsnJrnl".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let place = bytes.windows(name.len()).position(|window| window == name).unwrap();
    let pages = bytes.windows(8).position(|window| window == TIME.to_le_bytes()).unwrap();
    let (record, pages) = (place / 1024 * 1024, pages / 4096 * 4096);
    let places = (record..record + 600).chain(pages..pages + 400).chain(pages + 4096..pages + 4300);
    let (mut failed, mut fewer) = (0, 0);
    for (number, at) in places.enumerate() {
        let byte = [0, 0xFF, 1, bytes[at] ^ 8][number % 4];
        file.write_all_at(&[byte], at as u64).unwrap();
        match read() {
            Ok((count, _)) => {
                assert!(count <= 8, "{at}");
                fewer += usize::from(count < 8);
            }
            Err(_) => failed += 1,
        }
        file.write_all_at(&[bytes[at]], at as u64).unwrap();
    }
    assert_eq!(read().unwrap(), (8, 0), "all changes were undone");
    assert!(failed > 20 && fewer > 20, "{failed} failed, {fewer} with fewer records");
}
