//! Series in a folder of their own, with times that the tests choose.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use transect::table::TableImporter;
use transect::{Attributes, Cancel, FieldMask, FileType};
use transect_snapshot::Metadata;
use transect_testkit::TempDir;

use super::name::{self, UNIT};
use super::*;

const HOUR: i64 = 3_600_000_000_000;
/// 2026-03-31T12:00:00Z
const NOW: i64 = 1_774_958_400_000_000_000;
const ROOT: &str = if cfg!(windows) { "C:\\tree" } else { "/tree" };

fn series(temp: &TempDir, host: &str, root: &str) -> Series {
    // The parents of the series' folder are created for their owner only.
    Series::below(&temp.join("data/transect/series"), host, Path::new(root))
}

/// Writes a snapshot of an empty root that is not of a series.
fn write(root: &str, taken: i64, out: &mut dyn Write) -> io::Result<()> {
    write_with(root, &metadata_of(root, taken), out)
}

fn metadata_of(root: &str, taken: i64) -> Metadata {
    let mut metadata = Metadata::default();
    metadata.roots = vec![root.to_owned()];
    metadata.started = Some(taken);
    metadata.complete = true;
    metadata
}

fn write_with(root: &str, metadata: &Metadata, out: &mut dyn Write) -> io::Result<()> {
    let mut table = TableImporter::new(FieldMask::empty());
    table.enter(root.as_ref(), &Attributes::of_type(FileType::Directory));
    let table = table.finish().unwrap();
    transect_snapshot::write(&table, metadata, &Cancel::new(), out).map(drop)
}

fn keep(series: &Series, taken: i64) -> PathBuf {
    keep_with(series, taken, |_| ())
}

fn keep_with(series: &Series, taken: i64, change: impl FnOnce(&mut Metadata)) -> PathBuf {
    let mut writer = series.lock().unwrap();
    let mut metadata = metadata_of(ROOT, taken);
    metadata.series = Some(writer.place_for(taken));
    change(&mut metadata);
    writer.store(taken, metadata.complete, |out| write_with(ROOT, &metadata, out)).unwrap()
}

fn times(series: &Series) -> Vec<i64> {
    series.all().unwrap().0.iter().map(|kept| kept.taken).collect()
}

#[test]
fn series_without_folder_is_empty() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    assert!(times(&series).is_empty());
    let search = series.newest(NOW).unwrap();
    assert!(search.kept.is_none() && search.unusable.is_empty());
    assert!(series.thinning(NOW).unwrap().superfluous.is_empty());
    assert!(!temp.join("data").exists(), "reading creates nothing");
}

#[test]
fn newest_is_the_last_at_or_before_a_time() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    for taken in [NOW, NOW - 2 * HOUR, NOW - HOUR] {
        keep(&series, taken);
    }
    assert_eq!(times(&series), [NOW - 2 * HOUR, NOW - HOUR, NOW]);
    let newest = |at_most: i64| series.newest(at_most).unwrap().kept.map(|kept| kept.taken);
    assert_eq!(newest(i64::MAX), Some(NOW));
    assert_eq!(newest(NOW), Some(NOW));
    assert_eq!(newest(NOW - UNIT), Some(NOW - HOUR));
    assert_eq!(newest(NOW - 2 * HOUR), Some(NOW - 2 * HOUR));
    assert_eq!(newest(NOW - 2 * HOUR - UNIT), None);
}

#[test]
fn series_skips_what_it_did_not_store_and_names_it() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    let good = keep(&series, NOW - 10 * HOUR);
    let damaged = keep(&series, NOW - 4 * HOUR);
    let bytes = fs::read(&damaged).unwrap();
    fs::write(&damaged, &bytes[..bytes.len() / 2]).unwrap();
    // A copy under another time; a snapshot of another root; another file; a directory.
    let copy = series.path_for(NOW - 3 * HOUR);
    fs::copy(&good, &copy).unwrap();
    let other = series.path_for(NOW - 2 * HOUR);
    let mut file = fs::File::create(&other).unwrap();
    write("/elsewhere", NOW - 2 * HOUR, &mut file).unwrap();
    let folder = good.parent().unwrap();
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    fs::create_dir(series.path_for(NOW)).unwrap();
    assert_eq!(times(&series), [NOW - 10 * HOUR]);
    let search = series.newest(i64::MAX).unwrap();
    assert_eq!(search.kept.unwrap().path, good);
    assert_eq!(search.unusable.len(), 3, "{:?}", search.unusable);
    let (_, unusable) = series.all().unwrap();
    let reasons: Vec<String> = unusable.iter().map(ToString::to_string).collect();
    for (path, reason) in [
        (&damaged, "truncated"),
        (&copy, "of another time"),
        (&other, "a snapshot of '/elsewhere'"),
        (&folder.join("notes.txt"), "not a snapshot that transect keep stored"),
        (&series.path_for(NOW), "not a snapshot that transect keep stored"),
    ] {
        let path = path.display().to_string();
        let found = reasons.iter().any(|it| it.contains(&path) && it.contains(reason));
        assert!(found, "{path}: {reason}: {reasons:?}");
    }
    assert_eq!(unusable.len(), 5);
}

#[test]
fn thinning_removes_only_what_the_series_stored() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    // All but the last of a day that is two days old.
    let old = NOW - 60 * HOUR;
    let gone = keep(&series, old);
    let damaged = keep(&series, old + HOUR);
    fs::write(&damaged, "PAR1").unwrap();
    let copy = series.path_for(old + 2 * HOUR);
    fs::copy(&gone, &copy).unwrap();
    let last = keep(&series, old + 3 * HOUR);
    let notes = last.with_file_name("2026-03-28T13-00-00.000Z (copy).parquet");
    fs::copy(&gone, &notes).unwrap();
    let recent = [36, 13, 1, 0].map(|hours| keep(&series, NOW - hours * HOUR));

    let planned = series.thinning(NOW).unwrap();
    assert_eq!(planned.superfluous, [gone.as_path()]);
    assert_eq!(planned.unusable.len(), 2, "{:?}", planned.unusable);
    assert!(gone.exists(), "planning removes nothing");
    let mut writer = series.lock().unwrap();
    assert_eq!(writer.thin(NOW).unwrap().superfluous, [gone.as_path()]);
    assert!(!gone.exists());
    for path in [&damaged, &copy, &last, &notes].into_iter().chain(&recent) {
        assert!(path.exists(), "{}", path.display());
    }
    assert!(writer.thin(NOW).unwrap().superfluous.is_empty());
}

/// It opened them all again to thin, and took what was removed since the series was locked for a replacement.
#[test]
fn thinning_knows_what_was_stored_and_removed_under_the_lock() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    let [first, second] = [60, 59].map(|hours| keep(&series, NOW - hours * HOUR));
    for hours in [36, 13] {
        keep(&series, NOW - hours * HOUR);
    }
    let mut writer = series.lock().unwrap();
    let mut metadata = metadata_of(ROOT, NOW);
    metadata.series = Some(writer.place_for(NOW));
    writer.store(NOW, true, |out| write_with(ROOT, &metadata, out)).unwrap();
    let planned = series.thinning(NOW).unwrap().superfluous;
    assert_eq!(planned, [first.as_path()]);
    fs::remove_file(&second).unwrap();
    assert!(writer.thin(NOW).unwrap().superfluous.is_empty());
    assert!(first.exists());
}

#[test]
fn clock_far_ahead_removes_nothing_and_the_last_snapshot_is_of_today() {
    let temp = TempDir::new();
    let (series, other) = (series(&temp, "host", ROOT), series(&temp, "other", ROOT));
    let hours = [20, 17, 14, 11, 8, 5, 2, 0];
    let kept = hours.map(|hours| keep(&series, NOW - hours * HOUR));
    let _ = hours.map(|hours| keep(&other, NOW - hours * HOUR));
    let ahead = NOW + 46 * 24 * HOUR;
    assert!(series.thinning(ahead).unwrap().superfluous.is_empty());
    let future = keep(&series, ahead);
    assert!(series.lock().unwrap().thin(ahead).unwrap().superfluous.is_empty());
    assert!(kept.iter().chain([&future]).all(|path| path.exists()));
    assert_eq!(times(&other).len(), hours.len());

    let search = series.last_at(NOW + HOUR).unwrap();
    assert_eq!(search.kept.unwrap().path, kept[7]);
    let [future_one] = &search.unusable[..] else { panic!("{:?}", search.unusable) };
    assert!(future_one.path == future && future_one.reason.contains("from the future"));
    // Two clocks, or one that is corrected, may differ by some minutes.
    assert!(series.last_at(ahead - HOUR / 60).unwrap().unusable.is_empty());
    let before_all = series.last_at(NOW - 30 * HOUR).unwrap();
    assert!(before_all.kept.is_none() && before_all.unusable.len() == 9);
}

#[test]
fn thinning_keeps_a_complete_snapshot_of_a_day_that_ends_with_partial_ones() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    let partial = |metadata: &mut Metadata| metadata.complete = false;
    let complete = keep(&series, NOW - 60 * HOUR);
    let gone = keep_with(&series, NOW - 59 * HOUR, partial);
    let last = keep_with(&series, NOW - 58 * HOUR, partial);
    for hours in [36, 13, 0] {
        keep(&series, NOW - hours * HOUR);
    }
    assert_eq!(series.thinning(NOW).unwrap().superfluous, [gone]);
    assert!(complete.exists() && last.exists());
}

#[test]
fn oldest_snapshot_is_the_first_that_can_be_used() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    assert!(series.oldest().unwrap().is_none());
    fs::write(keep(&series, NOW - 2 * HOUR), "PAR1").unwrap();
    for hours in [1, 0] {
        keep(&series, NOW - hours * HOUR);
    }
    assert_eq!(series.oldest().unwrap().unwrap().taken, NOW - HOUR);
}

#[test]
fn lock_excludes_a_second_writer_until_released() {
    let temp = TempDir::new();
    let one = series(&temp, "host", ROOT);
    let writer = one.lock().unwrap();
    let refused = one.lock().unwrap_err().to_string();
    let expected = format!("cannot keep '{ROOT}': another transect is storing a snapshot of it");
    assert_eq!(refused, expected);
    // Another root has another folder.
    drop(series(&temp, "host", "/other").lock().unwrap());
    drop(writer);
    drop(one.lock().unwrap());
    assert_eq!(one.all().unwrap().1.len(), 0, "the lock is not foreign");
}

#[test]
fn time_for_never_replaces_a_snapshot() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    keep(&series, NOW);
    keep(&series, NOW + UNIT);
    assert_eq!(series.time_for(NOW - 1).unwrap(), NOW - 1);
    assert_eq!(series.time_for(NOW + 5).unwrap(), NOW + 2 * UNIT + 5);
    assert_eq!(series.time_for(NOW + HOUR).unwrap(), NOW + HOUR);
}

/// It tried the last millisecond of 2262 again and again.
#[test]
fn time_for_after_2262_fails() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    let last = i64::MAX - UNIT;
    assert_eq!(series.time_for(last).unwrap(), last);
    keep(&series, last);
    for now in [last, i64::MAX] {
        let refused = series.time_for(now).unwrap_err().to_string();
        assert!(refused.contains("a time after 2262"), "{refused}");
    }
}

#[test]
fn store_that_fails_leaves_no_file() {
    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    keep(&series, NOW - HOUR);
    let mut writer = series.lock().unwrap();
    let failed = writer.store(NOW, true, |out| {
        out.write_all(b"PAR1")?;
        Err(io::Error::other("no space"))
    });
    assert!(failed.unwrap_err().to_string().contains("no space"));
    assert_eq!(times(&series), [NOW - HOUR]);
    assert!(series.all().unwrap().1.is_empty());
}

#[test]
fn series_of_hosts_lie_side_by_side() {
    let temp = TempDir::new();
    let (one, other) = (series(&temp, "one", ROOT), series(&temp, "other", ROOT));
    keep(&one, NOW);
    keep(&other, NOW - HOUR);
    assert_eq!((times(&one), times(&other)), (vec![NOW], vec![NOW - HOUR]));
    // A folder that was renamed with its machine.
    let host = |name: &str| temp.join("data/transect/series").join(name::host_directory(name));
    fs::rename(host("one"), host("new")).unwrap();
    assert_eq!(times(&series(&temp, "new", ROOT)), [NOW]);
}

#[cfg(unix)]
#[test]
fn folder_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let temp = TempDir::new();
    let series = series(&temp, "host", ROOT);
    let kept = keep(&series, NOW);
    let folder = kept.parent().unwrap();
    for above in [folder, folder.parent().unwrap(), &temp.join("data/transect/series")] {
        let attributes = transect_sys::file::query_attributes(above, FieldMask::MODE, false);
        let mode = attributes.unwrap().mode().unwrap();
        assert_eq!(mode & 0o777, 0o700, "{}", above.display());
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let refused = series.lock().unwrap_err().to_string();
    assert!(refused.contains("is open to other users"), "{refused}");
}

#[test]
fn outermost_skips_series_that_lie_in_another_one() {
    let temp = TempDir::new();
    let folder = temp.join("data/transect/series");
    assert!(lookup::outermost(&folder, "one").unwrap().is_empty(), "nothing was kept");
    let below = |name: &str| Path::new(ROOT).join(name).to_str().unwrap().to_owned();
    for root in [below("b"), ROOT.to_owned(), format!("{ROOT}-2"), below("a")] {
        let series = series(&temp, "one", &root);
        let mut writer = series.lock().unwrap();
        writer.store(NOW, true, |out| write(&root, NOW, out)).unwrap();
    }
    let roots = || -> Vec<PathBuf> {
        let all = lookup::outermost(&folder, "one").unwrap();
        assert!(all.iter().all(|series| times(series) == [NOW]));
        all.into_iter().map(|series| series.root).collect()
    };
    assert_eq!(roots(), [PathBuf::from(ROOT), PathBuf::from(format!("{ROOT}-2"))]);
    // Without a snapshot of that root, those in it are found.
    let outer = series(&temp, "one", ROOT).directory;
    fs::remove_dir_all(outer).unwrap();
    assert_eq!(roots(), [PathBuf::from(below("a")), below("b").into(), format!("{ROOT}-2").into()]);
    assert!(lookup::outermost(&folder, "other").unwrap().is_empty());
}
