//! The Windows readers on single directories: no entry is lost and no query is repeated.
#![cfg(windows)]
#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::{File, create_dir, create_dir_all, remove_file, write};

use transect_sys::residency;
use transect_sys::windows::{DirectoryCall, HandleReader};
use transect_sys::{
    Attributes, Batch, Fault, FieldMask, FileType, ListStatus, Reader, ReaderKind, ReaderSettings,
    SystemReader, Want,
};
use transect_testkit::TempDir;

const CALLS: [DirectoryCall; 2] = [DirectoryCall::NtQuery, DirectoryCall::ByHandle];

/// The attributes and the 8.3 name of every entry.
type Found = BTreeMap<OsString, (Attributes, Option<OsString>)>;

/// Reads a directory to its end.
fn read<R: Reader>(reader: &mut R, handle: &R::Handle, want: &Want) -> Found {
    let (mut batch, mut found) = (Batch::new(), Found::new());
    loop {
        let listing = reader.list(handle, &mut batch, want).unwrap();
        reader.fill(handle, &mut batch, want);
        batch.drain_faults(|name, _, fault| panic!("{name:?}: {fault:?}"));
        for (entry, short) in batch.entries().zip(batch.short_names()) {
            let (name, short) = (entry.name.to_owned(), short.map(OsStr::to_owned));
            let twice = found.insert(name.clone(), (*entry.attributes, short));
            assert!(twice.is_none(), "{name:?} came twice");
        }
        if listing == ListStatus::End {
            return found;
        }
    }
}

fn want(entries: FieldMask) -> Want {
    Want::default().entries(entries)
}

/// Runs a test with every reader of Windows.
fn with_every_reader(mut test: impl FnMut(ReaderKind, SystemReader)) {
    let available =
        ReaderKind::DIRECTORIES.iter().filter(|kind| kind.unavailable_reason().is_none());
    let mut tested = 0;
    for &kind in available {
        test(kind, SystemReader::new(kind, ReaderSettings::default()));
        tested += 1;
    }
    assert_eq!(tested, 9, "all readers of the articles, and the portable one");
}

#[test]
fn handle_reader_small_buffer_no_entry_lost() {
    let temp = TempDir::new();
    let names: Vec<String> = (1..=200).map(|n| format!("{n:03}").repeat(n / 3 + 1)).collect();
    for name in &names {
        write(temp.join(name), name).unwrap();
    }
    for call in CALLS {
        // Smaller than the longest records, so the buffer must grow repeatedly.
        for buffer_size in [160, 320, 512, 1024, 4096, 65536] {
            let mut reader = HandleReader::new(call, buffer_size);
            let handle = reader.open_root(temp.path(), false).unwrap();
            let found = read(&mut reader, &handle, &want(FieldMask::SIZE | FieldMask::INODE));
            assert_eq!(found.len(), names.len(), "{call:?} with {buffer_size} bytes");
            for name in &names {
                let (attributes, _) = &found[OsStr::new(name)];
                assert_eq!(attributes.size(), Some(name.len() as u64), "{call:?} {name}");
            }
        }
    }
}

#[test]
fn readers_list_several_directories() {
    let temp = TempDir::new();
    create_dir_all(temp.join("a/b")).unwrap();
    write(temp.join("a/b/deep"), "deep").unwrap();
    write(temp.join("a/file"), "1").unwrap();
    with_every_reader(|name, mut reader| {
        let context = name.as_str();
        let want = want(FieldMask::SIZE);
        let root = reader.open_root(temp.path(), false).unwrap();
        assert_eq!(read(&mut reader, &root, &want).len(), 1, "{context}");
        let a = reader.open(&root, &[OsStr::new("a")], false).unwrap();
        assert_eq!(read(&mut reader, &a, &want).len(), 2, "{context}");
        let b = [OsStr::new("a"), OsStr::new("b")];
        let b = reader.open(&root, &b, false).unwrap();
        let found = read(&mut reader, &b, &want);
        assert_eq!(found[OsStr::new("deep")].0.size(), Some(4), "{context}");
        // A reopened directory is listed from its beginning.
        let b = reader.open(&a, &[OsStr::new("b")], false).unwrap();
        assert_eq!(read(&mut reader, &b, &want).len(), 1, "{context}");
    });
}

#[test]
fn readers_agree_on_wanted_fields() {
    let temp = TempDir::new();
    create_dir(temp.join("directory")).unwrap();
    write(temp.join("file"), [1; 5000]).unwrap();
    write(temp.join("empty"), "").unwrap();
    std::fs::hard_link(temp.join("file"), temp.join("further")).unwrap();
    const WANTED: FieldMask = FieldMask::SIZE
        .union(FieldMask::ALLOCATED)
        .union(FieldMask::FILE_ID)
        .union(FieldMask::NLINK)
        .union(FieldMask::MTIME)
        .union(FieldMask::CTIME)
        .union(FieldMask::BTIME);
    let mut first: Option<String> = None;
    with_every_reader(|name, mut reader| {
        let want = Want::default().entries(WANTED).directories(FieldMask::FILE_ID);
        let root = reader.open_root(temp.path(), false).unwrap();
        let found = read(&mut reader, &root, &want);
        let reported: Vec<_> = found
            .iter()
            .map(|(name, (a, _))| {
                let times = (a.mtime(), a.ctime(), a.btime());
                let file = a.file_type() == FileType::File;
                (
                    name,
                    a.file_type(),
                    a.file_id(),
                    file.then(|| (a.size(), a.allocated(), a.nlink(), times)),
                )
            })
            .collect();
        let reported = format!("{reported:?}");
        assert!(!reported.contains("None") || reported.matches("None").count() == 1, "{reported}");
        let [file, further] = ["file", "further"].map(|name| found[OsStr::new(name)].0);
        assert_eq!(file.file_id(), further.file_id(), "{}", name.as_str());
        assert_eq!((file.nlink(), file.size()), (Some(2), Some(5000)));
        assert_eq!(&reported, first.get_or_insert_with(|| reported.clone()), "{}", name.as_str());
    });
}

/// Removes the files between listing and query: a reader that still has every field made no query.
#[test]
fn handle_readers_no_query_per_file() {
    let wanted = FieldMask::SIZE
        | FieldMask::ALLOCATED
        | FieldMask::TIMES
        | FieldMask::FILE_ID
        | FieldMask::ATTRIBUTES
        | FieldMask::REPARSE_TAG;
    for call in CALLS {
        let temp = TempDir::new();
        let names: Vec<String> = (0..50).map(|number| format!("file{number}")).collect();
        names.iter().for_each(|name| write(temp.join(name), name).unwrap());
        let mut reader = HandleReader::new(call, 65536);
        let mut batch = Batch::new();
        let handle = reader.open_root(temp.path(), false).unwrap();
        let want = want(wanted).opportunistic(FieldMask::NLINK);
        reader.list(&handle, &mut batch, &want).unwrap();
        assert_eq!(batch.len(), 50, "{call:?}");
        names.iter().for_each(|name| remove_file(temp.join(name)).unwrap());
        reader.fill(&handle, &mut batch, &want);
        batch.drain_faults(|name, _, fault| panic!("{call:?} asked about {name:?}: {fault:?}"));
        for entry in batch.entries() {
            assert!(entry.attributes.known().contains(wanted), "{:?}", entry.attributes.known());
        }
    }
}

#[test]
fn find_reader_removed_file_vanished() {
    with_every_reader(|name, mut reader| {
        if name.takes_buffer_size() {
            return;
        }
        let temp = TempDir::new();
        write(temp.join("gone"), "1").unwrap();
        write(temp.join("stays"), "1").unwrap();
        let handle = reader.open_root(temp.path(), false).unwrap();
        let want = want(FieldMask::SIZE | FieldMask::ALLOCATED);
        let mut batch = Batch::new();
        reader.list(&handle, &mut batch, &want).unwrap();
        remove_file(temp.join("gone")).unwrap();
        reader.fill(&handle, &mut batch, &want);
        let mut vanished = Vec::new();
        batch.drain_faults(|name, _, fault| match fault {
            Fault::Vanished => vanished.push(name.to_owned()),
            Fault::Failed(error) => panic!("{name:?}: {error}"),
        });
        assert_eq!((vanished, batch.len()), (vec!["gone".into()], 1), "{}", name.as_str());
    });
}

#[test]
fn readers_short_names_only_if_wanted() {
    let temp = TempDir::new();
    let long = "a name that no 8.3 name can be";
    write(temp.join(long), "1").unwrap();
    write(temp.join("SHORT.TXT"), "1").unwrap();
    // A volume may be configured to create none; then no reader returns one.
    let mut made: Option<OsString> = None;
    with_every_reader(|name, mut reader| {
        let context = name.as_str();
        // Level Basic leaves them out, and the standard library does not return them.
        let has_them = !context.contains("basic") && context != "portable";
        for (wanted, expected) in [
            (FieldMask::SIZE, false),
            (FieldMask::SHORT_NAME, has_them),
            (FieldMask::SHORT_NAME | FieldMask::FILE_ID, has_them),
        ] {
            let root = reader.open_root(temp.path(), false).unwrap();
            let found = read(&mut reader, &root, &want(wanted));
            assert_eq!(found.len(), 2, "{context}");
            let short = found[OsStr::new(long)].1.as_deref();
            assert!(found.keys().all(|name| Some(name.as_os_str()) != short), "{context}");
            if !expected {
                assert_eq!(short, None, "{context}");
                continue;
            }
            let made = made.get_or_insert_with(|| short.unwrap_or_default().to_owned());
            assert_eq!(made.as_os_str(), short.unwrap_or_default(), "{context}");
            assert!(made.len() <= 12, "{context}: {made:?}");
        }
    });
}

#[test]
fn readers_removed_entry_vanished_missing_root_error() {
    let temp = TempDir::new();
    create_dir(temp.join("directory")).unwrap();
    write(temp.join("file"), "1").unwrap();
    with_every_reader(|name, mut reader| {
        let context = name.as_str();
        let root = reader.open_root(temp.path(), false).unwrap();
        for gone in ["missing", "file"] {
            let answer = reader.open(&root, &[OsStr::new(gone)], false);
            assert!(matches!(answer, Err(Fault::Vanished)), "{context}: {gone}");
        }
        let steps = [OsStr::new("missing"), OsStr::new("below")];
        assert!(matches!(reader.open(&root, &steps, false), Err(Fault::Vanished)), "{context}");
        let missing = [OsStr::new("missing")];
        let answer = reader.stat(&root, &missing, FieldMask::SIZE, false);
        assert!(matches!(answer, Err(Fault::Vanished)), "{context}");
        for path in [temp.join("missing"), temp.join("missing").join("below")] {
            let answer = reader.stat_root(&path, FieldMask::SIZE, false);
            assert!(matches!(answer, Err(Fault::Failed(_))), "{context}: '{}'", path.display());
        }
        let itself = [OsStr::new(".")];
        let here = reader.stat(&root, &itself, FieldMask::FILE_ID, false).unwrap();
        let same = reader.stat_root(temp.path(), FieldMask::FILE_ID, false).unwrap();
        assert!(here.file_id().is_some() && here.file_id() == same.file_id(), "{context}");
    });
}

#[test]
fn residency_windows_drop_only() {
    let temp = TempDir::new();
    let path = temp.join("file");
    std::fs::write(&path, vec![b'x'; 100_000]).unwrap();
    for file in [residency::open(&path).unwrap(), File::open(&path).unwrap()] {
        residency::drop_pages(&file).unwrap();
        let unknown = residency::residency(&file).unwrap_err();
        assert_eq!(unknown.kind(), std::io::ErrorKind::Unsupported);
    }
    assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 100_000]);
}
