//! Patches: new files, and files changed in place.

use flate2::Crc;
use proptest::prelude::*;
use transect::Cancel;
use transect_testkit::TempDir;
use transect_transform::Source;
use transect_transform::pass::PassOptions;
use transect_transform::patch::{InPlaceOptions, Patch, undo};
use transect_transform::publish::{Existing, ReplaceOptions};

use crate::support::{EVERYWHERE, existing, message, names, text};

fn words(words: &[&str]) -> Patch {
    Patch::parse_words(words).unwrap()
}

fn ips(records: &[u8], cut: &[u8]) -> Patch {
    Patch::parse(&[b"PATCH", records, b"EOF", cut].concat()).unwrap()
}

fn crc(bytes: &[u8]) -> [u8; 4] {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum().to_le_bytes()
}

/// Builds a patch of numbers that fit into a byte.
fn bps(before: &[u8], after: &[u8], actions: &[u8]) -> Patch {
    let sizes = [before.len() as u8 | 0x80, after.len() as u8 | 0x80, 0x80];
    let mut bytes = [b"BPS1", &sizes[..], actions, &crc(before), &crc(after)].concat();
    bytes.extend(crc(&bytes));
    Patch::parse(&bytes).unwrap()
}

/// Writes a patched copy of `before` with every method, and replaces it by the result.
fn applied(patch: &Patch, before: &[u8]) -> Result<Vec<u8>, String> {
    let temp = TempDir::new();
    let (input, target) = (temp.join("input"), temp.join("target"));
    std::fs::write(&input, before).unwrap();
    let mut results = Vec::new();
    for method in EVERYWHERE {
        for block in [1, 3, 1 << 18] {
            let pass = PassOptions::default().method(Some(method)).block(Some(block));
            let made = patch.apply(&input, &target, &pass, existing(Existing::Replace));
            results.push(made.map(|_| std::fs::read(&target).unwrap()));
        }
    }
    let pass = PassOptions::default();
    let made = patch.apply(&input, &input, &pass, existing(Existing::InPlace));
    results.push(made.map(|_| std::fs::read(&input).unwrap()));
    let mut results: Vec<_> = results
        .into_iter()
        .map(|result| {
            result.map_err(|error| error.to_string().replace(input.to_str().unwrap(), "INPUT"))
        })
        .collect();
    let first = results.pop().unwrap();
    assert!(results.iter().all(|result| *result == first), "{results:?} {first:?}");
    assert!(first.is_ok() || names(temp.path()) == ["input"]);
    first
}

/// Patches a file in place, and returns its content.
fn in_place(patch: &Patch, before: &[u8]) -> Result<Vec<u8>, String> {
    let temp = TempDir::new();
    let file = temp.join("file");
    std::fs::write(&file, before).unwrap();
    let identity = Source::open(&file).unwrap().file_id();
    let made = patch.apply_in_place(&file, &InPlaceOptions::default());
    let after = std::fs::read(&file).unwrap();
    assert_eq!(names(temp.path()), ["file"]);
    assert_eq!(Source::open(&file).unwrap().file_id(), identity);
    match made {
        Ok(applied) => {
            let differing = before.iter().zip(&after).filter(|(one, other)| one != other).count();
            assert_eq!((applied.changed, applied.journal), (differing as u64, None));
            Ok(after)
        }
        Err(error) => {
            assert_eq!(after, before);
            Err(error.to_string().replace(file.to_str().unwrap(), "INPUT"))
        }
    }
}

fn both(patch: &Patch, before: &[u8]) -> Result<Vec<u8>, String> {
    let (one, other) = (applied(patch, before), in_place(patch, before));
    assert_eq!(one, other);
    one
}

#[test]
fn words_change_only_their_bytes() {
    let patch = words(&["1:3132:4142", "0x9:39:5a"]);
    assert!(patch.checks_input());
    assert!(patch.fits_in_place(10) && !patch.fits_in_place(9));
    assert_eq!(both(&patch, b"0123456789").unwrap(), b"0AB345678Z");
    assert_eq!(both(&words(&[]), b"0123").unwrap(), b"0123");
    for (before, expected) in [
        (&b"01X3456789"[..], "58 is not the expected 32 at byte 2"),
        (b"012345678x", "78 is not the expected 39 at byte 9"),
        (b"012345678", "it ends before byte 9, which is to be changed"),
        (b"", "it ends before byte 9, which is to be changed"),
    ] {
        let expected = format!("cannot patch 'INPUT': {expected}");
        assert_eq!(both(&patch, before).unwrap_err(), expected);
    }
}

#[test]
fn ips_any_file_and_length() {
    // "AB" at 1, four times "x" at 6.
    let records = b"\0\0\x01\0\x02AB\0\0\x06\0\0\0\x04x";
    let patch = ips(records, b"");
    assert!(!patch.checks_input());
    assert_eq!(both(&patch, b"0123456789").unwrap(), b"0AB345xxxx");
    assert_eq!(both(&patch, b"abcdefghijk").unwrap(), b"aABdefxxxxk");
    // Beyond the end: extends the file, with zeros in between.
    assert_eq!(applied(&patch, b"0123").unwrap(), b"0AB3\0\0xxxx");
    assert_eq!(applied(&patch, b"").unwrap(), b"\0AB\0\0\0xxxx");
    // Truncated at the end, and within a change.
    assert_eq!(applied(&ips(records, b"\0\0\x08"), b"0123456789").unwrap(), b"0AB345xx");
    assert_eq!(applied(&ips(records, b"\0\0\x02"), b"0123").unwrap(), b"0A");
    assert_eq!(both(&ips(records, b"\0\0\x0a"), b"0123456789").unwrap(), b"0AB345xxxx");
    for patch in [&patch, &ips(records, b"\0\0\x02")] {
        assert_eq!(
            in_place(patch, b"0123").unwrap_err(),
            "cannot patch 'INPUT': the patch changes its length, and so can only make a new file"
        );
    }
}

#[test]
fn bps_without_moves_fits_in_place() {
    let (before, after) = (b"0123456789", b"01xx45678y");
    // Two equal bytes, "xx", five equal bytes, "y".
    let patch = bps(before, after, &[0x84, 0x85, b'x', b'x', 0x90, 0x81, b'y']);
    assert!(patch.checks_input());
    assert_eq!(both(&patch, before).unwrap(), after);
    let of = |before: &[u8]| both(&patch, before).unwrap_err();
    // Bytes that the patch does not change are checked, too.
    assert_eq!(of(b"0123456689"), "cannot patch 'INPUT': the patch is for another file (CRC-32)");
    assert_eq!(of(b"01xx45678y"), "cannot patch 'INPUT': the patch is for another file (CRC-32)");
    for other in [&b"012345678"[..], b"01234567890", b""] {
        let expected = "cannot patch 'INPUT': the patch is for a file of 10 bytes";
        assert_eq!(applied(&patch, other).unwrap_err(), expected);
    }
    let wrong = bps(before, b"01xx45678z", &[0x84, 0x85, b'x', b'x', 0x90, 0x81, b'y']);
    let expected = "cannot patch 'INPUT': the patched file has the wrong CRC-32";
    assert_eq!(both(&wrong, before).unwrap_err(), expected);
}

#[test]
fn bps_with_moves_writes_new_file() {
    let (before, after) = (b"0123456789", b"5678ababababa01");
    // Four from 5; "ab"; seven from 4 of the result, overlapping themselves; two from 0.
    let actions = [0x8e, 0x8a, 0x85, b'a', b'b', 0x9b, 0x88, 0x86, 0x93];
    let patch = bps(before, after, &actions);
    assert!(!patch.fits_in_place(10));
    assert_eq!(applied(&patch, before).unwrap(), after);
    let of = |before: &[u8]| applied(&patch, before).unwrap_err();
    assert_eq!(of(b"0123456788"), "cannot patch 'INPUT': the patch is for another file (CRC-32)");
    assert_eq!(of(b"012"), "cannot patch 'INPUT': the patch is for a file of 10 bytes");
    let expected = "cannot patch 'INPUT': the patch moves parts of it, or changes its length, \
                    and so can only make a new file";
    assert_eq!(in_place(&patch, before).unwrap_err(), expected);
    let wrong = bps(before, b"5678ababababa02", &actions);
    let expected = "cannot patch 'INPUT': the patched file has the wrong CRC-32";
    assert_eq!(applied(&wrong, before).unwrap_err(), expected);
}

#[test]
fn bps_long_copies_equal_short_copies() {
    // Encodes numbers of several bytes, independently.
    fn number(mut value: u64, bytes: &mut Vec<u8>) {
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            if value == 0 {
                return bytes.push(low | 0x80);
            }
            bytes.push(low);
            value -= 1;
        }
    }
    for (pattern, length) in [(1, 1_000_000), (3, 600_001), (262_144, 600_000), (300_000, 700_000)]
    {
        let literal = text(pattern);
        let after: Vec<_> = literal.iter().copied().cycle().take(pattern + length).collect();
        let mut bytes = b"BPS1".to_vec();
        for value in [0, after.len() as u64, 0] {
            number(value, &mut bytes);
        }
        number((pattern as u64 - 1) << 2 | 1, &mut bytes);
        bytes.extend(&literal);
        number((length as u64 - 1) << 2 | 3, &mut bytes);
        number(0, &mut bytes);
        bytes.extend([crc(b""), crc(&after)].concat());
        bytes.extend(crc(&bytes));
        let temp = TempDir::new();
        let (input, target) = (temp.join("input"), temp.join("target"));
        std::fs::write(&input, "").unwrap();
        std::fs::write(temp.join("patch"), &bytes).unwrap();
        let patch = Patch::read(&temp.join("patch")).unwrap();
        let options = ReplaceOptions::default();
        patch.apply(&input, &target, &PassOptions::default(), options).unwrap();
        assert!(std::fs::read(&target).unwrap() == after, "{pattern}");
    }
}

#[test]
fn patch_unknown_format_rejected() {
    let temp = TempDir::new();
    let file = temp.join("patch");
    for (bytes, expected) in [
        (&b"text"[..], "it is neither an IPS nor a BPS patch"),
        (b"", "it is neither an IPS nor a BPS patch"),
        (b"PATCH\0\0\x01\0\x02A", "it is cut short at byte 5"),
        (b"BPS1", "it is cut short"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let expected = format!("cannot read '{}': {expected}", file.display());
        assert_eq!(message(Patch::read(&file)), expected);
    }
}

#[test]
fn in_place_applied_or_cancelled_patch_writes_nothing() {
    let temp = TempDir::new();
    let file = temp.join("file");
    std::fs::write(&file, "0123").unwrap();
    let before = Source::open(&file).unwrap().attributes().mtime();
    let patch = ips(b"\0\0\x01\0\x0212", b"");
    let keep = InPlaceOptions::default().keep_journal(true);
    let applied = patch.apply_in_place(&file, &keep).unwrap();
    assert_eq!((applied.changed, applied.journal), (0, None));
    let cancel = Cancel::new();
    cancel.cancel();
    let stopped = InPlaceOptions::default().cancel(cancel);
    let patch = words(&["0:30:31"]);
    assert!(message(patch.apply_in_place(&file, &stopped)).ends_with("stopped"));
    assert_eq!(Source::open(&file).unwrap().attributes().mtime(), before);
    assert_eq!(names(temp.path()), ["file"]);
}

#[cfg(unix)]
#[test]
fn in_place_hard_links_stay_linked() {
    let temp = TempDir::new();
    let file = temp.join("file");
    std::fs::write(&file, "0123").unwrap();
    std::fs::hard_link(&file, temp.join("hard")).unwrap();
    std::os::unix::fs::symlink("file", temp.join("soft")).unwrap();
    let keep = InPlaceOptions::default().keep_journal(true);
    let patch = words(&["1:31:41"]);
    // Through a link: the journal lies beside the file, under the file's name.
    let applied = patch.apply_in_place(&temp.join("soft"), &keep).unwrap();
    assert!(applied.path.ends_with("file"));
    assert_eq!(names(temp.path()), [".file.transect-undo", "file", "hard", "soft"]);
    let journal = Source::open(applied.journal.unwrap()).unwrap();
    assert_eq!(journal.attributes().mode().unwrap() & 0o777, 0o600);
    assert_eq!(std::fs::read(temp.join("hard")).unwrap(), b"0A23");
    undo(&temp.join("soft")).unwrap();
    assert_eq!(std::fs::read(temp.join("hard")).unwrap(), b"0123");
    assert_eq!(names(temp.path()), ["file", "hard", "soft"]);
    assert!(message(patch.apply_in_place(temp.path(), &keep)).ends_with("it is a directory"));
}

#[cfg(target_os = "linux")]
#[test]
fn in_place_read_only_file_unchanged() {
    use crate::system::{AT, as_nobody};
    use std::os::unix::fs::PermissionsExt;
    if let Some(at) = std::env::var_os(AT) {
        let file = std::path::Path::new(&at).join("open/file");
        let refused = words(&["1:31:41"]).apply_in_place(&file, &InPlaceOptions::default());
        let expected = format!("cannot write '{}': Permission denied", file.display());
        assert_eq!(message(refused), expected);
        return;
    }
    let temp = TempDir::new();
    let file = temp.join("open/file");
    std::fs::create_dir(temp.join("open")).unwrap();
    std::fs::write(&file, "0123").unwrap();
    for (path, mode) in [(temp.path(), 0o755), (&temp.join("open"), 0o777), (&file, 0o444)] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    if as_nobody("patch::in_place_read_only_file_unchanged", temp.path()) {
        assert_eq!(std::fs::read(&file).unwrap(), b"0123");
        assert_eq!(names(&temp.join("open")), ["file"]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn ips_result_equals_records_in_sequence(
        before in prop::collection::vec(any::<u8>(), 0..40),
        records in prop::collection::vec(
            (0..50_usize, prop::collection::vec(any::<u8>(), 1..9)), 0..6),
        cut in prop::option::of(0..60_usize),
    ) {
        let (mut after, mut bytes) = (before.clone(), Vec::new());
        for (offset, new) in &records {
            after.resize(after.len().max(offset + new.len()), 0);
            after[*offset..][..new.len()].copy_from_slice(new);
            bytes.extend([0, 0, *offset as u8, 0, new.len() as u8]);
            bytes.extend(new);
        }
        let end = cut.map_or(Vec::new(), |cut| vec![0, 0, cut as u8]);
        after.truncate(cut.unwrap_or(usize::MAX));
        let patch = ips(&bytes, &end);
        let inside = records.iter().all(|(offset, new)| offset + new.len() <= before.len());
        let fits = inside && after.len() == before.len();
        prop_assert_eq!(patch.fits_in_place(before.len() as u64), fits);
        if fits {
            prop_assert_eq!(in_place(&patch, &before).unwrap(), after.clone());
        }
        prop_assert_eq!(applied(&patch, &before).unwrap(), after);
    }

    #[test]
    fn undo_restores_file(
        before in prop::collection::vec(any::<u8>(), 1..200),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
    ) {
        let temp = TempDir::new();
        let file = temp.join("file");
        std::fs::write(&file, &before).unwrap();
        let mut after = before.clone();
        let mut typed = std::collections::BTreeMap::new();
        for (at, new) in changes {
            let at = at.index(before.len());
            after[at] = new;
            typed.insert(at, format!("{at}:{:02x}:{new:02x}", before[at]));
        }
        let typed: Vec<_> = typed.into_values().collect();
        let patch = Patch::parse_words(&typed).unwrap();
        let keep = InPlaceOptions::default().keep_journal(true);
        let applied = patch.apply_in_place(&file, &keep).unwrap();
        prop_assert_eq!(std::fs::read(&file).unwrap(), after);
        if applied.journal.is_some() {
            prop_assert_eq!(undo(&file).unwrap().changed, applied.changed);
        }
        prop_assert_eq!(std::fs::read(&file).unwrap(), before);
        prop_assert_eq!(names(temp.path()), ["file"]);
    }
}

/// Regression: ran out of memory.
#[test]
fn patch_file_too_long_or_foreign_rejected_unread() {
    let temp = TempDir::new();
    let path = temp.join("patch");
    let unknown = "it is neither an IPS nor a BPS patch";
    let too_long = "it has 1099511627776 bytes, and a patch has 268435456 at most";
    for (begin, expected) in
        [(&b""[..], unknown), (b"BPS", unknown), (b"PATCH", too_long), (b"BPS1", too_long)]
    {
        std::fs::write(&path, begin).unwrap();
        std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        let refused = Patch::read(&path).unwrap_err().to_string();
        assert!(refused.ends_with(expected), "{refused}");
    }
}
