//! The file table of NTFS shows what a walk of the mounted volume shows. Volumes are mounted with FUSE, which
//! needs privileges; without them the tests print that they are skipped.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use transect::{FieldMask, ReaderKind, ScanOptions};
use transect_testkit::{NtfsMount, TempDir, loudly_skip, set_xattr};
use transect_volumes::count_entries;

use crate::support::{THREADS, run_totals, scan};
use crate::volumes::{Entries, assert_same, run};

/// Compressed, as `FILE_ATTRIBUTE_*`.
const COMPRESSED: u32 = 0x800;

/// Returns what NTFS stores of every entry, by its path below the root, and the number of errors.
fn entries(options: ScanOptions, root: &Path) -> (Entries, u64) {
    let mut walk = options.want(FieldMask::all()).into_iter();
    let mut all = Entries::new();
    for entry in &mut walk {
        let entry = entry.unwrap_or_else(|error| panic!("{error}"));
        let path = entry.path();
        let below = path.strip_prefix(root).unwrap().as_os_str().as_bytes().to_vec();
        let it = entry.attributes();
        let text = format!(
            "{:?} size {:?} allocated {:?} links {:?} inode {:?} times {:?} {:?} {:?}",
            it.file_type(),
            it.size().unwrap(),
            it.allocated().unwrap(),
            it.nlink().unwrap(),
            it.inode().unwrap(),
            it.mtime(),
            it.ctime(),
            it.atime(),
        );
        assert_eq!(all.insert(below, text), None, "{} is there twice", path.display());
    }
    (all, walk.diagnostics().errors)
}

/// Creates what can be read wrong: names, times, links, holes, streams, large and changed directories.
fn populate(root: &Path) {
    let at = |name: &str| root.join(name);
    for number in 0..40 {
        let directory = at(&format!("group {}/of {number}", number % 7));
        fs::create_dir_all(&directory).unwrap();
        for file in 0..12 {
            fs::write(directory.join(format!("{file}.txt")), vec![b'x'; file * 300]).unwrap();
        }
    }
    fs::create_dir(at("many")).unwrap();
    for number in 0..1500 {
        File::create(at(&format!("many/an entry with a name of some length {number}"))).unwrap();
    }
    for number in (0..1500).filter(|number| number % 5 != 0) {
        fs::remove_file(at(&format!("many/an entry with a name of some length {number}"))).unwrap();
    }
    let longest = [&"n".repeat(255), &"й".repeat(255), &"名".repeat(255), &"🦀".repeat(127)];
    for name in ["\u{fe}\n", "a\\b", "-n", " ", "ä", "A:B", "tiny", "Tiny"]
        .into_iter()
        .chain(longest.map(|it| it.as_str()))
    {
        fs::write(at(name), name).unwrap();
    }
    symlink("tiny", at("short link")).unwrap();
    symlink("x".repeat(900), at("long link")).unwrap();
    symlink("名前/は", at("link of another script")).unwrap();
    run(&["mkfifo"], at("pipe"));
    run(&["mknod", at("device").to_str().unwrap(), "c", "1"], "3");
    for number in 0..1200 {
        fs::hard_link(at("tiny"), at(&format!("group {}/name {number}", number % 3))).unwrap();
    }
    let holes = File::create(at("holes")).unwrap();
    holes.set_len((1 << 30) + 1).unwrap();
    holes.write_all_at(b"here", 500 << 20).unwrap();
    for (name, seconds) in [("-n", -3600_i64), (" ", 3_000_000_000), ("ä", 0), ("tiny", 1)] {
        let file = File::options().write(true).open(at(name)).unwrap();
        let distance = Duration::from_secs(seconds.unsigned_abs());
        let time = match seconds < 0 {
            true => SystemTime::UNIX_EPOCH - distance,
            false => SystemTime::UNIX_EPOCH + distance + Duration::from_nanos(123_456_700),
        };
        file.set_modified(time).unwrap();
    }
    set_xattr(&at("-n"), "user.short stream", b"content of a stream");
    set_xattr(&at("many"), "user.stream of a directory", &[7; 3000]);
    fs::remove_dir_all(at("group 3")).unwrap();
    fs::rename(at("group 4/of 4"), at("group 5/was of 4")).unwrap();
}

/// Creates a volume and fills it. Returns what a walk of it shows, mounted again.
fn volume(
    image: &Path,
    size: u64,
    make: &[&str],
    fill: impl FnOnce(&Path),
) -> Result<Entries, String> {
    volume_with(image, size, make, "", fill)
}

fn volume_with(
    image: &Path,
    size: u64,
    make: &[&str],
    options: &str,
    fill: impl FnOnce(&Path),
) -> Result<Entries, String> {
    let at = image.with_extension("mounted");
    NtfsMount::make(image, size, make)?;
    let mount = NtfsMount::new(image, options, &at)?;
    fill(&at);
    drop(mount);
    // The driver remembers sizes of directories that it has changed.
    let mount = NtfsMount::new(image, "ro", &at)?;
    let (expected, errors) = entries(scan(&at), &at);
    assert_eq!(errors, 0);
    drop(mount);
    Ok(expected)
}

/// Asserts that the tables of a volume show what a walk of it showed.
fn assert_tables(image: &Path, expected: &Entries, test: &str) {
    for &threads in THREADS {
        let options = scan(image).reader(ReaderKind::Ntfs).threads(threads);
        let (found, errors) = entries(options, image);
        assert_eq!(errors, 0, "{test}");
        assert_same(&found, expected, test);
    }
}

fn compare(test: &str, size: u64, make: &[&str]) {
    let temp = TempDir::new();
    let image = temp.join("image");
    let expected = match volume(&image, size, make, populate) {
        Ok(expected) => expected,
        Err(reason) => return loudly_skip(test, reason),
    };
    assert!(expected.len() > 1900, "{test}: the tree is there, {}", expected.len());
    assert_tables(&image, &expected, test);
}

/// Streams in all kinds of records are counted, those of the file system's own files (`$Secure:$SDS`) are not.
#[test]
fn ntfs_alternate_streams_counted_apart() {
    let test = "ntfs_alternate_streams_counted_apart";
    let temp = TempDir::new();
    let image = temp.join("image");
    let fill = |root: &Path| {
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/file"), [b'x'; 100]).unwrap();
        set_xattr(&root.join("a/file"), "user.in the record", &[1; 10]);
        set_xattr(&root.join("a/file"), "user.outside", &[2; 6000]);
        set_xattr(&root.join("a/b"), "user.of a directory", &[3; 200]);
        set_xattr(root, "user.of the top", &[4; 30]);
        // So many names that its streams are in records of their own.
        fs::write(root.join("named"), "").unwrap();
        for number in 0..400 {
            fs::hard_link(root.join("named"), root.join(format!("a/b/name {number}"))).unwrap();
        }
        for number in 0..40 {
            let name = format!("user.stream {number} of a file with names");
            set_xattr(&root.join("named"), &name, &[5; 1000]);
        }
        fs::write(root.join("gone"), "").unwrap();
        set_xattr(&root.join("gone"), "user.gone", &[6; 50]);
        fs::remove_file(root.join("gone")).unwrap();
    };
    let expected = match volume(&image, 32 << 20, &[], fill) {
        Ok(expected) => expected,
        Err(reason) => return loudly_skip(test, reason),
    };
    assert_tables(&image, &expected, test);
    for &threads in THREADS {
        let options = scan(&image).reader(ReaderKind::Ntfs).threads(threads);
        let outcome = run_totals(options);
        let streams = outcome.alternate_streams.unwrap();
        assert_eq!((streams.count, streams.apparent), (44, 46_240), "{test}");
        assert!(streams.allocated >= 8192 && streams.allocated.is_multiple_of(4096), "{streams:?}");
        assert_eq!(outcome.sink.sizes.apparent, 100, "{test}");
    }
}

/// Defines a test for each geometry: the size of the volume, and options of `mkntfs`.
macro_rules! geometries {
    ($($name:ident: $size:expr, $options:expr;)*) => {
        $(#[test]
        fn $name() {
            compare(stringify!($name), $size, &$options);
        })*
    };
}

geometries! {
    ntfs_clusters_of_512_bytes_same_as_walk: 32 << 20, ["-c", "512"];
    ntfs_clusters_of_1_kib_same_as_walk: 32 << 20, ["-c", "1024"];
    ntfs_clusters_of_4_kib_same_as_walk: 64 << 20, [];
    ntfs_clusters_of_64_kib_same_as_walk: 512 << 20, ["-c", "65536"];
    ntfs_clusters_of_256_kib_same_as_walk: 1 << 30, ["-c", "262144"];
    ntfs_records_of_4_kib_same_as_walk: 64 << 20, ["-s", "4096"];
    ntfs_sectors_of_2_kib_same_as_walk: 64 << 20, ["-s", "2048", "-c", "8192"];
}

/// Returns the types of the attributes in the first record of the file table, 1 KiB long.
fn attributes_of_table(image: &Path) -> Vec<u32> {
    let file = File::open(image).unwrap();
    let mut boot = [0; 512];
    file.read_exact_at(&mut boot, 0).unwrap();
    let cluster = u64::from(u16::from_le_bytes([boot[11], boot[12]])) * u64::from(boot[13]);
    let mut record = [0; 1024];
    let first = u64::from_le_bytes(*boot[48..].first_chunk().unwrap());
    file.read_exact_at(&mut record, first * cluster).unwrap();
    let (mut at, mut types) =
        (usize::from(u16::from_le_bytes([record[20], record[21]])), Vec::new());
    let number = |at: usize| u32::from_le_bytes(*record[at..].first_chunk().unwrap());
    while number(at) != u32::MAX {
        types.push(number(at));
        at += number(at + 4) as usize;
    }
    types
}

/// Where free space is in small pieces, the file table grows into them: its runs need an attribute list.
#[test]
fn ntfs_fragmented_table_same_as_walk() {
    let test = "ntfs_fragmented_table_same_as_walk";
    let temp = TempDir::new();
    let image = temp.join("image");
    let fill = |root: &Path| {
        let small = |number: u32| root.join(format!("small {number}"));
        (0..2000).for_each(|number| fs::write(small(number), [b'x'; 1300]).unwrap());
        // What is left, to the last cluster.
        let rest = File::create(root.join("rest")).unwrap();
        for size in [1 << 16, 512] {
            let mut end = rest.metadata().unwrap().len();
            while let Ok(length @ 1..) = rest.write_at(&vec![b'y'; size], end) {
                end += length as u64;
            }
        }
        (0..2000).step_by(2).for_each(|number| fs::remove_file(small(number)).unwrap());
        fs::create_dir(root.join("new")).unwrap();
        for number in 0..2500 {
            if File::create(root.join(format!("new/{number}"))).is_err() {
                break;
            }
        }
    };
    let expected = match volume(&image, 12 << 20, &["-c", "512"], fill) {
        Ok(expected) => expected,
        Err(reason) => return loudly_skip(test, reason),
    };
    assert!(attributes_of_table(&image).contains(&0x20), "{:?}", attributes_of_table(&image));
    assert!(expected.len() > 2500, "{}", expected.len());
    assert_tables(&image, &expected, test);
}

#[test]
fn ntfs_large_directory_same_as_walk() {
    let test = "ntfs_large_directory_same_as_walk";
    let temp = TempDir::new();
    let image = temp.join("image");
    let fill = |root: &Path| {
        fs::create_dir(root.join("large")).unwrap();
        for number in 0..10_000 {
            File::create(root.join(format!("large/{number}"))).unwrap();
        }
    };
    match volume(&image, 64 << 20, &[], fill) {
        Ok(expected) => {
            assert!(expected.len() > 10_000);
            assert_tables(&image, &expected, test);
        }
        Err(reason) => loudly_skip(test, reason),
    }
}

/// Those of one file are in many records. It cannot have all of them: Windows allows 1,024, and the driver of Linux takes
/// long with more than a few hundred.
#[test]
fn ntfs_10_000_hard_links_same_as_walk() {
    let test = "ntfs_10_000_hard_links_same_as_walk";
    let temp = TempDir::new();
    let image = temp.join("image");
    let fill = |root: &Path| {
        for number in 0..50 {
            let directory = root.join(format!("directory {number}"));
            fs::create_dir(&directory).unwrap();
            fs::write(directory.join("file"), "content").unwrap();
        }
        for number in 0..10_000 {
            let (file, directory) = (number % 50, number / 200);
            let file = root.join(format!("directory {file}/file"));
            fs::hard_link(file, root.join(format!("directory {directory}/{number}"))).unwrap();
        }
    };
    match volume(&image, 64 << 20, &[], fill) {
        Ok(expected) => {
            assert!(expected.len() > 10_000);
            let links = expected.values().filter(|it| it.contains("links 201 ")).count();
            assert_eq!(links, 10_050);
            assert_tables(&image, &expected, test);
        }
        Err(reason) => loudly_skip(test, reason),
    }
}

#[test]
fn ntfs_compressed_files_same_as_walk() {
    let test = "ntfs_compressed_files_same_as_walk";
    let temp = TempDir::new();
    let image = temp.join("image");
    let fill = |root: &Path| {
        let directory = root.join("compressed");
        fs::create_dir(&directory).unwrap();
        set_xattr(&directory, "system.ntfs_attrib", &COMPRESSED.to_le_bytes());
        fs::write(directory.join("text"), "much the same ".repeat(30_000)).unwrap();
        fs::write(directory.join("short"), "little").unwrap();
    };
    let expected = match volume_with(&image, 32 << 20, &[], "compression", fill) {
        Ok(expected) => expected,
        Err(reason) => return loudly_skip(test, reason),
    };
    assert_tables(&image, &expected, test);
    let mut walk = scan(&image).reader(ReaderKind::Ntfs).into_iter();
    let text = walk.find_map(|entry| entry.ok().filter(|it| it.path().ends_with("text"))).unwrap();
    assert!(text.attributes().allocated() < Some(420_000 / 2), "{:?}", text.attributes());
    assert_eq!(text.attributes().size(), Some(420_000));
}

/// Links, pipes, sockets and devices as the Windows Subsystem for Linux stores them.
#[test]
fn ntfs_reparse_points_of_linux_same_as_walk() {
    let test = "ntfs_reparse_points_of_linux_same_as_walk";
    let temp = TempDir::new();
    let image = temp.join("image");
    let fill = |root: &Path| {
        symlink("somewhere/else", root.join("link")).unwrap();
        symlink("名".repeat(600), root.join("long link")).unwrap();
        run(&["mkfifo"], root.join("pipe"));
        run(&["mknod", root.join("block").to_str().unwrap(), "b", "7"], "1");
        std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    };
    match volume_with(&image, 16 << 20, &[], "special_files=wsl", fill) {
        Ok(expected) => {
            let types: Vec<&str> =
                expected.values().map(|it| it.split(' ').next().unwrap()).collect();
            assert_eq!(types, ["Directory", "Block", "Symlink", "Symlink", "Fifo", "Socket"]);
            assert_tables(&image, &expected, test);
        }
        Err(reason) => loudly_skip(test, reason),
    }
}

/// Returns the content of a reparse point that leads to another name.
fn link_to(tag: u32, target: &str, fields: usize) -> Vec<u8> {
    let name: Vec<u8> = target.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let length = name.len() as u16;
    let mut data = tag.to_le_bytes().to_vec();
    data.extend((8 + fields as u16 + 2 * length).to_le_bytes());
    data.extend([0, 0]);
    for number in [0, length, length, length] {
        data.extend(number.to_le_bytes());
    }
    // Of a symbolic link, flags: relative.
    data.extend(&1_u32.to_le_bytes()[..fields]);
    data.extend([&name[..], &name[..]].concat());
    data
}

/// What differs from a walk with `ntfs-3g`: it counts names for DOS as links, shows where junctions lead on
/// Linux, and takes reparse points that it does not know for links.
#[test]
fn ntfs_windows_links_and_names_as_on_windows() {
    let test = "ntfs_windows_links_and_names_as_on_windows";
    let temp = TempDir::new();
    let image = temp.join("image");
    let fill = |root: &Path| {
        let at = |name: &str| root.join(name);
        fs::write(at("a long name.text"), "content").unwrap();
        set_xattr(&at("a long name.text"), "system.ntfs_dos_name", b"ALONGN~1.TEX");
        let set = |name: &str, data: &[u8]| {
            set_xattr(&at(name), "system.ntfs_reparse_data", data);
        };
        File::create(at("symlink")).unwrap();
        set("symlink", &link_to(0xA000_000C, "a long name.text", 4));
        for directory in ["junction", "placeholder"] {
            fs::create_dir(at(directory)).unwrap();
        }
        set("junction", &link_to(0xA000_0003, "C:\\Über", 0));
        let placeholder = [&0x9000_001A_u32.to_le_bytes()[..], &[8, 0, 0, 0], &[0; 8]].concat();
        set("placeholder", &placeholder);
        File::create(at("deduplicated")).unwrap();
        let other = [&0x8000_0013_u32.to_le_bytes()[..], &[8, 0, 0, 0], &[0; 8]].concat();
        set("deduplicated", &other);
    };
    let walked = match volume(&image, 16 << 20, &[], fill) {
        Ok(walked) => walked,
        Err(reason) => return loudly_skip(test, reason),
    };
    assert!(walked[&b"a long name.text"[..]].contains("links 2"), "with the name for DOS");
    assert!(walked[&b"placeholder"[..]].starts_with("Symlink"), "not known to ntfs-3g");
    let walk = scan(&image).reader(ReaderKind::Ntfs).want(FieldMask::all());
    let mut found: Vec<String> = walk
        .into_iter()
        .map(|entry| {
            let entry = entry.unwrap();
            let it = entry.attributes();
            let name = entry.path().strip_prefix(&image).unwrap().display().to_string();
            let (links, tag) = (it.nlink().unwrap(), it.reparse_tag().unwrap());
            format!("{name}: {:?} {} {links} {tag:x}", it.file_type(), it.size().unwrap())
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            ": Directory 4096 1 0",
            "a long name.text: File 7 1 0",
            "deduplicated: File 0 1 80000013",
            "junction: Symlink 8 1 a0000003",
            "placeholder: Directory 0 1 9000001a",
            "symlink: Symlink 16 1 a000000c",
        ]
    );
}

/// Makes a small volume with everything that is read. Returns its bytes.
fn small_volume(test: &str) -> Option<Vec<u8>> {
    let temp = TempDir::new();
    let image = temp.join("image");
    let fill = |root: &Path| {
        for number in 0..60 {
            let directory = root.join(format!("{number}"));
            fs::create_dir(&directory).unwrap();
            fs::write(directory.join("file"), vec![b'x'; number * 50]).unwrap();
            fs::hard_link(directory.join("file"), root.join(format!("link {number}"))).unwrap();
        }
        (0..60).for_each(|number| {
            fs::hard_link(root.join("7/file"), root.join(format!("another link {number}")))
                .unwrap();
        });
        symlink("x".repeat(900), root.join("long link")).unwrap();
        symlink("short", root.join("short link")).unwrap();
    };
    match volume(&image, 2 << 20, &["-c", "512"], fill) {
        Ok(_) => Some(fs::read(&image).unwrap()),
        Err(reason) => {
            loudly_skip(test, reason);
            None
        }
    }
}

/// Images with wrong bytes, wherever records may be: an error or entries, and always an end.
#[test]
fn ntfs_hostile_images_no_panic_and_an_end() {
    let Some(mut bytes) = small_volume("ntfs_hostile_images_no_panic_and_an_end") else { return };
    let whole = count_entries(&bytes).unwrap();
    assert_eq!(whole, 60 * 3 + 60 + 2);
    // Where each record begins, and the ends of its pieces, which a change must not reveal.
    let records: Vec<usize> =
        (0..bytes.len()).step_by(512).filter(|&at| bytes[at..].starts_with(b"FILE")).collect();
    assert!(records.len() > 150);
    let mut random = 0x1234_5678_9ABC_DEF0_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as usize % below
    };
    let (mut failed, mut read, mut fewer) = (0, 0, 0);
    for _ in 0..3000 {
        let changes: Vec<(usize, u8)> = (0..1 + next(4))
            .map(|_| {
                let record = records[next(records.len())];
                let at = match next(6) {
                    0 => 3 + next(0x50),
                    // The record of the table itself.
                    1 => records[0] + next(400),
                    2 => record + next(0x30),
                    3 => record + 0x38 + next(0x60),
                    _ => record + next(1024),
                };
                (at, std::mem::replace(&mut bytes[at], [0, 0xFF, 1, next(256) as u8][next(4)]))
            })
            .collect();
        match count_entries(&bytes) {
            Ok(entries) => {
                read += 1;
                fewer += usize::from(entries < whole);
                assert!(entries <= bytes.len() / 96, "{entries} entries, {changes:?}");
            }
            Err(_) => failed += 1,
        }
        for (at, byte) in changes.into_iter().rev() {
            bytes[at] = byte;
        }
    }
    assert_eq!(count_entries(&bytes).unwrap(), whole, "all changes were undone");
    assert!(
        failed > 100 && read > 100 && fewer > 100,
        "{failed} failed, {read} read, {fewer} fewer"
    );
}

#[test]
fn ntfs_errors_say_what_is_wrong() {
    let Some(good) = small_volume("ntfs_errors_say_what_is_wrong") else { return };
    let temp = TempDir::new();
    let image = temp.join("image");
    let message = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        fs::write(&image, bytes).unwrap();
        let walk = scan(&image).reader(ReaderKind::Ntfs).into_iter();
        let errors: Vec<String> =
            walk.filter_map(|entry| entry.err().map(|error| error.to_string())).collect();
        errors.join("; ")
    };
    let zeroed = message(&|bytes| bytes[..512].fill(0));
    let copy = good.len() - 512;
    assert!(zeroed.contains(&format!("a copy at byte {copy}, from which `ntfsfix`")), "{zeroed}");
    let truncated = message(&|bytes| bytes.truncate(1 << 20));
    assert!(
        truncated.contains("it is truncated: 1048576 bytes of a file system of"),
        "{truncated}"
    );
    let impossible = message(&|bytes| bytes[13] = 3);
    assert!(impossible.contains("no possible file system"), "{impossible}");
    let none = message(&|bytes| bytes.fill(7));
    assert!(none.contains("there is no NTFS in it"), "{none}");
    let encrypted = message(&|bytes| bytes[3..11].copy_from_slice(b"-FVE-FS-"));
    assert!(encrypted.contains("it holds an encrypted volume (BitLocker)"), "{encrypted}");
    let first = usize::from(good[13]) * 512 * usize::from(good[48]);
    let table = message(&|bytes| bytes[first + 20] = 0xFF);
    assert!(table.contains("the description of its file table is damaged"), "{table}");
    // The record of a file: its names are lost, and with them the directories that they were in.
    let record = message(&|bytes| bytes[first + 70 * 1024 + 510] ^= 1);
    assert!(record.contains("a file record is damaged: entries may be missing"), "{record}");

    fs::write(&image, &good).unwrap();
    let other = scan(&image).reader(ReaderKind::Ext4).into_iter();
    let other = other.filter_map(Result::err).next().unwrap().to_string();
    assert!(other.contains("it holds NTFS, not ext4, ext3 or ext2"), "{other}");
    let mount = NtfsMount::new(&image, "", &temp.join("mounted")).unwrap();
    let mounted = scan(&image).reader(ReaderKind::Ntfs).into_iter();
    let mounted = mounted.filter_map(Result::err).next().unwrap().to_string();
    assert!(mounted.contains("/mounted'; unmount it, or walk that directory"), "{mounted}");
    drop(mount);
    let directory = scan(temp.path()).reader(ReaderKind::Ntfs).into_iter();
    let directory = directory.filter_map(Result::err).next().unwrap().to_string();
    assert!(directory.contains("it is a directory"), "{directory}");
}

/// Changes a record of the file table, 1 KiB long: its original bytes, which are stored anew.
fn edit_record(image: &Path, number: u64, edit: impl FnOnce(&mut [u8])) {
    let file = File::options().read(true).write(true).open(image).unwrap();
    let mut boot = [0; 512];
    file.read_exact_at(&mut boot, 0).unwrap();
    let cluster = u64::from(u16::from_le_bytes([boot[11], boot[12]])) * u64::from(boot[13]);
    let place = u64::from_le_bytes(*boot[48..].first_chunk().unwrap()) * cluster + number * 1024;
    let mut bytes = [0; 1024];
    file.read_exact_at(&mut bytes, place).unwrap();
    let saved = usize::from(u16::from_le_bytes([bytes[4], bytes[5]]));
    let ends = [(510, saved + 2), (1022, saved + 4)];
    ends.iter().for_each(|&(end, saved)| bytes.copy_within(saved..saved + 2, end));
    edit(&mut bytes);
    for (end, at) in ends {
        bytes.copy_within(end..end + 2, at);
        bytes.copy_within(saved..saved + 2, end);
    }
    file.write_all_at(&bytes, place).unwrap();
}

/// Removes a name from the index in the record of a directory, as an interrupted removal leaves it.
fn remove_from_index(record: &mut [u8], name: &str) {
    let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let number = |bytes: &[u8], at: usize| u32::from_le_bytes(*bytes[at..].first_chunk().unwrap());
    let mut attribute = usize::from(u16::from_le_bytes([record[20], record[21]]));
    while number(record, attribute) != 0x90 {
        attribute += number(record, attribute + 4) as usize;
    }
    let value = attribute + usize::from(u16::from_le_bytes([record[attribute + 20], 0]));
    let header = value + 16;
    let end = header + number(record, header + 4) as usize;
    let found = record[header..end].windows(name.len()).position(|it| it == name);
    let entry = header + found.unwrap() - 0x42 - 16;
    let length = usize::from(record[entry + 8]);
    record.copy_within(entry + length..end, entry);
    let rest = number(record, header + 4) - length as u32;
    record[header + 4..header + 8].copy_from_slice(&rest.to_le_bytes());
}

fn mounted_entries(image: &Path) -> Entries {
    let at = image.with_extension("mounted");
    let mount = NtfsMount::new(image, "ro", &at).unwrap();
    let (entries, errors) = entries(scan(&at), &at);
    drop(mount);
    assert_eq!(errors, 0);
    entries
}

/// No driver shows them. The record of the directory has the index.
#[test]
fn ntfs_names_in_no_index_left_out() {
    let test = "ntfs_names_in_no_index_left_out";
    let temp = TempDir::new();
    let image = temp.join("image");
    let fill = |root: &Path| {
        fs::create_dir_all(root.join("small/directory/below")).unwrap();
        for name in ["a", "b.c"] {
            fs::write(root.join("small").join(name), name).unwrap();
        }
        fs::write(root.join("other"), "").unwrap();
        fs::hard_link(root.join("other"), root.join("small/directory/second")).unwrap();
    };
    let whole = match volume(&image, 16 << 20, &[], fill) {
        Ok(whole) => whole,
        Err(reason) => return loudly_skip(test, reason),
    };
    assert_tables(&image, &whole, test);
    let inode = |path: &str| -> u64 {
        let text = &whole[path.as_bytes()];
        text.split(' ').skip_while(|it| *it != "inode").nth(1).unwrap().parse().unwrap()
    };
    let (small, directory) = (inode("small"), inode("small/directory"));
    for (record, name, gone) in
        [(small, "a", 1), (directory, "below", 1), (small, "b.c", 1), (small, "directory", 2)]
    {
        let before = mounted_entries(&image).len();
        edit_record(&image, record, |bytes| remove_from_index(bytes, name));
        let expected = mounted_entries(&image);
        assert_eq!(before - expected.len(), gone, "ntfs-3g does not show {name}");
        assert_tables(&image, &expected, &format!("{test}: {name}"));
    }
    assert_eq!(mounted_entries(&image).len(), 3, "the top, `small` and `other` are left");
}

/// What cannot be read counts only if the bitmap of the file table says that it is in use.
#[test]
fn ntfs_damaged_records_are_errors_only_in_use() {
    let test = "ntfs_damaged_records_are_errors_only_in_use";
    let temp = TempDir::new();
    let image = temp.join("image");
    let mut free = 0;
    let fill = |root: &Path| {
        fs::write(root.join("kept"), "content").unwrap();
        fs::write(root.join("gone"), "").unwrap();
        free = root.join("gone").metadata().unwrap().ino();
        fs::write(root.join("named"), "").unwrap();
        for number in 0..60 {
            fs::hard_link(root.join("named"), root.join(format!("name {number}"))).unwrap();
        }
        fs::remove_file(root.join("gone")).unwrap();
    };
    let expected = match volume(&image, 16 << 20, &[], fill) {
        Ok(expected) => expected,
        Err(reason) => return loudly_skip(test, reason),
    };
    let original = fs::read(&image).unwrap();
    let kept = free - 1;
    // The records with further names are behind those of all files.
    let extension = free + 2;
    type Damage = fn(&mut [u8]);
    let damages: [(&str, Damage); 3] = [
        ("BAAD", |record| record[..4].copy_from_slice(b"BAAD")),
        ("other bytes", |record| record[..8].fill(0xA5)),
        ("half written, with the bit of those in use", |record| {
            (record[6], record[0x16]) = (9, record[0x16] | 1);
        }),
    ];
    for (name, damage) in damages {
        for (number, wrong) in [(free, false), (kept, true), (extension, true)] {
            edit_record(&image, number, damage);
            let (found, errors) = found_in(&image);
            assert_eq!(errors, u64::from(wrong), "{test}: {name}, {number}");
            assert_eq!(found.len() < expected.len(), wrong, "{test}: {name}, {number}");
            if !wrong {
                assert!(found.keys().eq(mounted_entries(&image).keys()), "{test}: {name}");
            }
            fs::write(&image, &original).unwrap();
        }
    }
    // A record in use by the bitmap that says that it is not: no driver takes it for a file.
    edit_record(&image, kept, |record| record[0x16] = 0);
    assert_eq!(found_in(&image).1, 0);
}

/// Returns the names and types of all entries, and the number of errors.
fn found_in(image: &Path) -> (Entries, u64) {
    let mut walk = scan(image).reader(ReaderKind::Ntfs).into_iter();
    let all = walk.by_ref().filter_map(Result::ok);
    let all = all.map(|entry| {
        let below = entry.path().strip_prefix(image).unwrap().as_os_str().as_bytes().to_vec();
        (below, format!("{:?}", entry.attributes().file_type()))
    });
    let all = all.collect();
    (all, walk.diagnostics().errors)
}
