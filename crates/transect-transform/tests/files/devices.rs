//! Full devices, copies between devices, files with holes, and kernel files. Mounting needs a
//! privilege; without it, the tests report that they are skipped.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use transect::ScanOptions;
use transect_sys::residency;
use transect_testkit::{Mount, TempDir, loudly_skip, wait_until};
use transect_transform::pass::{IoMethod, PassOptions, PassRunner, Preference, SizeClass};
use transect_transform::publish::{Batch, Existing, ReplaceOptions};
use transect_transform::step::Step;
use transect_transform::tree::{Job, OutputTarget, find_inputs};
use transect_transform::{Reason, Source, transform};

use crate::support::{
    Count, Lines, Upper, at_hand, copy, existing, message, names, passes, reason, refuses, run,
    text, transform_into, with_steps,
};

/// Small file systems in memory and on a disk image.
fn devices(test: &str, temp: &TempDir) -> Option<[Mount; 2]> {
    let mount = || -> Result<[Mount; 2], String> {
        let memory = Mount::tmpfs("8m", &temp.join("memory"))?;
        // The space reserved for root would hide that the device is full.
        let disk = Mount::ext4(&temp.join("image"), &["-m", "0"], &temp.join("disk"))?;
        Ok([memory, disk])
    };
    mount().inspect_err(|reason| loudly_skip(test, reason)).ok()
}

/// Fills a device until `bytes` bytes are left.
fn leave(at: &Path, bytes: u64) {
    let mut ballast = File::create(at.join("ballast")).unwrap();
    while ballast.write_all(&[1; 4096]).is_ok() {}
    let mut size = ballast.metadata().unwrap().len();
    // Delayed allocation detects a full device only when data is written out.
    let _ = ballast.sync_all();
    size = size.min(ballast.seek(SeekFrom::End(0)).unwrap());
    ballast.set_len(size - bytes).unwrap();
    ballast.sync_all().unwrap();
}

/// These methods, and `None`, which lets the planner choose.
fn with_none(
    methods: impl IntoIterator<Item = IoMethod>,
) -> impl Iterator<Item = Option<IoMethod>> {
    std::iter::once(None).chain(methods.into_iter().map(Some))
}

/// Returns whether a method can be used on a device. Otherwise checks that it returns the reason,
/// and creates nothing.
fn is_at(method: IoMethod, device: &Path) -> bool {
    let input = device.join("input");
    std::fs::write(&input, "text").unwrap();
    let mut passes = passes(Some(method), None);
    let options = existing(Existing::InPlace);
    let made = transform(&input, Some(&input), Some(&mut Upper), &mut passes, options);
    let left = std::fs::read(&input).unwrap();
    std::fs::remove_file(&input).unwrap();
    if let Some(Reason::Unsupported(..)) = reason(&made) {
        // tmpfs has no cache to bypass.
        assert!(device.ends_with("memory") && left == b"text", "{}", method.as_str());
        return false;
    }
    made.unwrap();
    true
}

fn is_refused(method: Option<IoMethod>, step: &mut Option<&mut dyn Step>) -> bool {
    match (method, step) {
        (Some(method), Some(step)) => refuses(method, *step),
        _ => false,
    }
}

#[test]
fn full_device_keeps_old_file_only() {
    let temp = TempDir::new();
    let Some(devices) = devices("full_device_keeps_old_file_only", &temp) else {
        return;
    };
    let input = temp.join("input");
    let bytes = text(4 << 20);
    std::fs::write(&input, &bytes).unwrap();
    for device in &devices {
        let mut methods = with_steps();
        methods.retain(|method| is_at(*method, device.path()));
        let target = device.path().join("target");
        std::fs::write(&target, "old").unwrap();
        let before = names(device.path());
        leave(device.path(), 1 << 20);
        let expected = format!("cannot write '{}': No space left on device", target.display());
        for method in with_none(methods.iter().copied()) {
            let steps: [Option<&mut dyn Step>; 4] =
                [None, Some(&mut Upper), Some(&mut Lines::default()), Some(&mut Count::default())];
            for mut step in steps {
                if is_refused(method, &mut step) {
                    continue;
                }
                let mut passes = passes(method, None);
                let options = existing(Existing::Replace);
                let full = transform(&input, Some(&target), step, &mut passes, options);
                assert_eq!(message(full), expected);
                assert_eq!(std::fs::read(&target).unwrap(), b"old");
            }
        }
        // In place, the difference is at the end, after most of the file was copied.
        let mine = device.path().join("mine");
        std::fs::remove_file(device.path().join("ballast")).unwrap();
        let mut big = text(3 << 20).to_ascii_uppercase();
        *big.last_mut().unwrap() = b'x';
        std::fs::write(&mine, &big).unwrap();
        leave(device.path(), 1 << 20);
        for &method in &methods {
            let steps: [&mut dyn Step; 2] = [&mut Upper, &mut Lines::default()];
            for step in steps {
                if refuses(method, step) {
                    continue;
                }
                let mut passes = passes(Some(method), None);
                let options = existing(Existing::InPlace);
                let full = transform(&mine, Some(&mine), Some(step), &mut passes, options);
                let expected =
                    format!("cannot write '{}': No space left on device", mine.display());
                assert_eq!(message(full), expected);
                assert!(std::fs::read(&mine).unwrap() == big);
            }
        }
        std::fs::remove_file(&mine).unwrap();
        std::fs::remove_file(device.path().join("ballast")).unwrap();
        assert_eq!(names(device.path()), before);
    }
}

#[test]
fn space_reserved_before_writing_and_freed() {
    let temp = TempDir::new();
    let Some([memory, disk]) = devices("space_reserved_before_writing_and_freed", &temp) else {
        return;
    };
    let input = temp.join("input");
    std::fs::write(&input, text(1 << 20)).unwrap();
    for device in [&memory, &disk] {
        let target = device.path().join("target");
        run(&input, &target, &mut Upper, ReplaceOptions::default()).unwrap();
        let source = Source::open(&target).unwrap();
        assert_eq!(source.size(), 1 << 20);
        let allocated = source.attributes().allocated().unwrap();
        assert!(allocated <= (1 << 20) + 65536, "{allocated} bytes");
    }
}

#[test]
fn mapped_output_needs_reserved_space() {
    let temp = TempDir::new();
    let device = match Mount::new(&["-t", "ramfs", "transect"], &temp.join("memory")) {
        Ok(device) => device,
        Err(reason) => return loudly_skip("mapped_output_needs_reserved_space", reason),
    };
    let (input, target) = (temp.join("input"), device.path().join("target"));
    for size in [10, 1 << 20] {
        let bytes = text(size);
        std::fs::write(&input, &bytes).unwrap();
        for (method, refused) in [(IoMethod::Mapped, true), (IoMethod::MappedRead, false)] {
            let mut passes = passes(Some(method), None);
            let options = ReplaceOptions::default();
            let made = transform(&input, Some(&target), Some(&mut Upper), &mut passes, options);
            if refused {
                assert!(message(made).contains("this file system cannot reserve space"));
            } else {
                made.unwrap();
                assert!(std::fs::read(&target).unwrap() == bytes.to_ascii_uppercase());
                std::fs::remove_file(&target).unwrap();
            }
            assert!(names(device.path()).is_empty());
        }
    }
}

#[test]
fn preference_unsupported_by_file_system_falls_back() {
    let temp = TempDir::new();
    let mount = |kind| Mount::new(&["-t", kind, "transect"], &temp.join(kind));
    let (memory, other) = match (mount("tmpfs"), mount("ramfs")) {
        (Ok(memory), Ok(other)) => (memory, other),
        (Err(reason), _) | (_, Err(reason)) => {
            return loudly_skip("preference_unsupported_by_file_system_falls_back", reason);
        }
    };
    let bytes = text(400_000);
    // Input and output; output only; after a block has been through the steps; a file without a
    // size.
    for (method, input, target) in [
        (IoMethod::Direct, memory.path(), temp.path()),
        (IoMethod::DirectUring, temp.path(), memory.path()),
        (IoMethod::Direct, temp.path(), memory.path()),
        (IoMethod::Mapped, temp.path(), other.path()),
    ] {
        let (input, target) = (input.join("input"), target.join("target"));
        std::fs::write(&input, &bytes).unwrap();
        let preferring = |preferred| {
            let options = PassOptions::default().preferred([Preference::from(preferred)].into());
            let (mut passes, mut step) = (PassRunner::new(options), Count::default());
            let options = existing(Existing::Replace);
            transform(&input, Some(&target), Some(&mut step), &mut passes, options).unwrap().pass
        };
        for (preferred, expected) in
            [(method, IoMethod::Buffered), (IoMethod::Streams, IoMethod::Streams)]
        {
            let passed = preferring(preferred);
            assert_eq!((passed.method, passed.bytes_in), (expected, 400_000));
            assert_eq!(passed.findings[0].value, "400000", "no block is counted twice");
            assert!(std::fs::read(&target).unwrap() == bytes);
            assert_eq!(
                names(target.parent().unwrap()).iter().filter(|n| n.contains("target")).count(),
                1
            );
        }
        std::fs::remove_file(&target).unwrap();
    }
}

#[test]
fn preference_depends_on_residency() {
    const TEST: &str = "preference_depends_on_residency";
    let temp = TempDir::new();
    let (input, target) = (temp.join("input"), temp.join("target"));
    let bytes = text(2 << 20);
    std::fs::write(&input, &bytes).unwrap();
    let way = |resident: bool, method| {
        Preference::from(method).size(SizeClass::Middle).resident(resident)
    };
    let ways = [way(true, IoMethod::Streams), way(false, IoMethod::Pipeline)];
    let method = |input: &Path| {
        let options = PassOptions::default().preferred(ways.into());
        let made = transform(
            input,
            Some(&target),
            Some(&mut Upper),
            &mut PassRunner::new(options),
            existing(Existing::Replace),
        );
        made.unwrap().pass.method
    };
    assert_eq!(method(&input), IoMethod::Streams);
    let file = residency::open(&input).unwrap();
    residency::drop_pages(&file).unwrap();
    if residency::residency(&file).unwrap().resident > 0 {
        return loudly_skip(TEST, "this file system keeps its files in memory");
    }
    assert_eq!(method(&input), IoMethod::Pipeline);
    // Preferences do not apply to small files.
    std::fs::write(&input, &bytes[..1000]).unwrap();
    assert_eq!(method(&input), IoMethod::Buffered);
}

#[test]
fn direct_io_leaves_nothing_in_cache() {
    const TEST: &str = "direct_io_leaves_nothing_in_cache";
    let temp = TempDir::new();
    let (input, target) = (temp.join("input"), temp.join("target"));
    let bytes = text((3 << 20) + 1000);
    std::fs::write(&input, &bytes).unwrap();
    let past = [IoMethod::Direct, IoMethod::DirectUring].map(Some);
    // With `None`, the planner bypasses the cache.
    for method in [Some(IoMethod::Buffered)].into_iter().chain(past).chain([None]) {
        if !at_hand().contains(&method.unwrap_or(IoMethod::Direct)) {
            return loudly_skip(TEST, "this file system does not support direct I/O");
        }
        let cached = method == Some(IoMethod::Buffered);
        let cached_after = || {
            for path in [&input, &target] {
                let Ok(file) = File::open(path) else { continue };
                file.sync_all().unwrap();
                rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
            }
            let options = PassOptions::default().method(method).spare_cache(!cached);
            let (mut passes, options) = (PassRunner::new(options), existing(Existing::Replace));
            transform(&input, Some(&target), Some(&mut Upper), &mut passes, options).unwrap();
            [&input, &target].map(|path| is_cached(&File::open(path).unwrap(), 1 << 20))
        };
        // Under memory pressure, the kernel may use the cache after all, but not always.
        let as_expected = (0..5).any(|_| cached_after() == [cached; 2]);
        assert!(as_expected, "{method:?}");
        assert!(std::fs::read(&target).unwrap() == bytes.to_ascii_uppercase());
    }
}

/// Reads through the cache, and leaves only pages there that were cached before.
#[test]
fn spare_cache_leaves_nothing_in_cache() {
    const TEST: &str = "spare_cache_leaves_nothing_in_cache";
    let temp = TempDir::new();
    let (input, target) = (temp.join("input"), temp.join("target"));
    let bytes = text((3 << 20) + 1000);
    std::fs::write(&input, &bytes).unwrap();
    let mut byte = [0];
    let dont_cache = rustix::io::ReadWriteFlags::from_bits_retain(0x80);
    let to = &mut [std::io::IoSliceMut::new(&mut byte)];
    if rustix::io::preadv2(File::open(&input).unwrap(), to, 0, dont_cache).is_err() {
        return loudly_skip(TEST, "this system, or its file system, keeps all that is read");
    }
    for was_there in [false, true] {
        let file = File::open(&input).unwrap();
        file.sync_all().unwrap();
        let advice = rustix::fs::Advice::DontNeed;
        rustix::fs::fadvise(&file, 0, None, advice).unwrap();
        if was_there {
            std::fs::read(&input).unwrap();
        }
        let method = Some(IoMethod::Buffered);
        let options = PassOptions::default().method(method).spare_cache(true);
        let (mut passes, options) = (PassRunner::new(options), existing(Existing::Replace));
        transform(&input, Some(&target), Some(&mut Upper), &mut passes, options).unwrap();
        assert_eq!(is_cached(&file, 1 << 20), was_there);
        let made = File::open(&target).unwrap();
        made.sync_all().unwrap();
        // Pages are dropped when the device has confirmed the write, a little later.
        wait_until("the result leaves the cache", || {
            let told = transect_sys::residency::residency(&made);
            // The page at the end was cached before the write, when space was reserved.
            told.is_ok_and(|told| told.resident <= 4096)
        });
        assert!(std::fs::read(&target).unwrap() == bytes.to_ascii_uppercase());
    }
}

/// Returns whether bytes of a file can be read without waiting for the device. If not, the kernel
/// is reading them now.
fn is_cached(file: &File, at: u64) -> bool {
    let mut byte = [0];
    let to = &mut [std::io::IoSliceMut::new(&mut byte)];
    match rustix::io::preadv2(file, to, at, rustix::io::ReadWriteFlags::NOWAIT) {
        Err(rustix::io::Errno::AGAIN) => false,
        read => read.unwrap() == 1,
    }
}

#[test]
fn copy_between_devices() {
    let temp = TempDir::new();
    let Some([memory, disk]) = devices("copy_between_devices", &temp) else {
        return;
    };
    let bytes = text(3 << 20);
    for (from, to) in [(&memory, &disk), (&disk, &memory), (&disk, &disk), (&memory, &memory)] {
        let (input, target) = (from.path().join("input"), to.path().join("target"));
        std::fs::write(&input, &bytes).unwrap();
        let report = copy(&input, &target).unwrap();
        assert_eq!(report.pass.method, IoMethod::KernelCopy);
        assert!(std::fs::read(&target).unwrap() == bytes);
        std::fs::remove_file(&target).unwrap();
        std::fs::remove_file(&input).unwrap();
        assert_eq!(names(memory.path()).len(), 0);
    }
}

#[test]
fn batch_syncs_every_device() {
    let temp = TempDir::new();
    let Some([memory, disk]) = devices("batch_syncs_every_device", &temp) else {
        return;
    };
    let input = temp.join("input");
    std::fs::write(&input, "text").unwrap();
    let mut batch = Batch::new();
    let mut passes = passes(None, None);
    let targets = [&memory, &disk].map(|device| device.path().join("target"));
    for target in &targets {
        let options = ReplaceOptions::default();
        transform_into(&mut batch, &input, target, &mut passes, options);
        assert!(!target.exists());
    }
    assert!(batch.publish().iter().all(Result::is_ok));
    for target in &targets {
        assert_eq!(std::fs::read(target).unwrap(), b"TEXT");
        assert_eq!(
            names(target.parent().unwrap()).iter().filter(|n| n.contains("target")).count(),
            1
        );
    }
}

/// Writes a sparse file of four megabytes.
fn sparse(path: &Path) -> Vec<u8> {
    let mut file = File::create(path).unwrap();
    for at in [0_u64, 1 << 20, (1 << 20) + 5000, 3 << 20] {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(b"some text").unwrap();
    }
    file.set_len(4 << 20).unwrap();
    drop(file);
    let mut bytes = Vec::new();
    File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes.len(), 4 << 20);
    bytes
}

#[test]
fn holes_kept() {
    let temp = TempDir::new();
    let input = temp.join("input");
    let bytes = sparse(&input);
    let has = allocated(&input);
    if has > 1 << 20 {
        return loudly_skip("holes_kept", "this file system has no holes");
    }
    for method in with_none(with_steps()) {
        let steps: [Option<&mut dyn Step>; 3] =
            [None, Some(&mut Upper), Some(&mut Count::default())];
        for (step, upper) in steps.into_iter().zip([false, true, false]) {
            let target = temp.join("target");
            let mut passes = passes(method, None);
            let options = ReplaceOptions::default();
            transform(&input, Some(&target), step, &mut passes, options).unwrap();
            let expected = if upper { bytes.to_ascii_uppercase() } else { bytes.clone() };
            assert!(std::fs::read(&target).unwrap() == expected, "{method:?}");
            assert!(allocated(&target) <= has + 4096, "{method:?}: {}", allocated(&target));
            std::fs::remove_file(target).unwrap();
        }
        // In place, the unchanged beginning is copied with its holes.
        let mine = temp.join("mine");
        copy(&input, &mine).unwrap();
        let mut file = File::options().write(true).open(&mine).unwrap();
        file.write_all(b"SOME TEXT").unwrap();
        drop(file);
        let mut passes = passes(method, None);
        let step: &mut dyn Step = &mut Upper;
        let options = existing(Existing::InPlace);
        transform(&mine, Some(&mine), Some(step), &mut passes, options).unwrap();
        assert!(std::fs::read(&mine).unwrap() == bytes.to_ascii_uppercase());
        assert!(allocated(&mine) <= has + 4096, "{method:?}: {}", allocated(&mine));
        std::fs::remove_file(mine).unwrap();
    }
    assert_eq!(names(temp.path()), ["input"]);
}

fn allocated(path: &Path) -> u64 {
    // Delayed allocations are not counted on every file system.
    File::open(path).unwrap().sync_all().unwrap();
    Source::open(path).unwrap().attributes().allocated().unwrap()
}

/// Methods that need a regular file with a size and pages, or a device.
const NEEDS_A_REAL_FILE: [IoMethod; 4] =
    [IoMethod::MappedRead, IoMethod::Mapped, IoMethod::Direct, IoMethod::DirectUring];

#[test]
fn pseudo_files_read_to_end() {
    let temp = TempDir::new();
    for path in
        ["/proc/version", "/proc/filesystems", "/sys/kernel/mm/transparent_hugepage/enabled"]
    {
        let Ok(expected) = std::fs::read(path) else {
            loudly_skip("pseudo_files_read_to_end", format!("no {path}"));
            continue;
        };
        assert!(!expected.is_empty());
        for method in at_hand() {
            let target = temp.join("target");
            let mut passes = passes(Some(method), Some(64));
            let options = ReplaceOptions::default();
            let made = transform(path.as_ref(), Some(&target), None, &mut passes, options);
            if NEEDS_A_REAL_FILE.contains(&method) {
                let refused = message(made);
                let expected = format!("method '{}' cannot be used here: ", method.as_str());
                assert!(refused.starts_with(&expected), "{refused}");
                assert!(names(temp.path()).is_empty());
                continue;
            }
            made.unwrap();
            assert_eq!(std::fs::read(&target).unwrap(), expected, "{path}, {}", method.as_str());
            std::fs::remove_file(&target).unwrap();
        }
    }
}

#[test]
fn job_without_space_rejected_before_first() {
    let temp = TempDir::new();
    let Some([memory, _disk]) = devices("job_without_space_rejected_before_first", &temp) else {
        return;
    };
    let root = temp.join("tree");
    std::fs::create_dir(&root).unwrap();
    for name in ["one", "two"] {
        std::fs::write(root.join(name), text(5 << 20)).unwrap();
    }
    let inputs = find_inputs(ScanOptions::new([&root]), true).unwrap().files;
    let directory = memory.path().join("out");
    let job = Job::new(OutputTarget::Directory(directory.clone())).threads(2);
    let check = |line: &str| job.check(&line.parse().unwrap(), &inputs);
    let expected =
        format!("cannot write '{}': the results need 10485760 bytes", directory.display());
    assert!(message(check("case=upper")).starts_with(&expected));
    // These results may be smaller, or share the blocks of the input.
    check("zstd").unwrap();
    check("").unwrap();
    assert_eq!(names(memory.path()), [""; 0]);
}
