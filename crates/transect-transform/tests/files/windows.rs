//! Windows only.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use transect_sys::windows::make_sparse;
use transect_testkit::{TempDir, has_unix_shell};
use transect_transform::pass::{PassOptions, PassRunner};
use transect_transform::publish::ReplaceOptions;
use transect_transform::step::Step;
use transect_transform::{Reason, Source, transform};

use crate::support::{Upper, names, reason, with_steps};

/// Unit of holes on NTFS.
const UNIT: u64 = 64 << 10;

/// Writes a sparse file of four megabytes.
fn sparse(path: &Path) -> Vec<u8> {
    let mut file = File::create(path).unwrap();
    make_sparse(&file).unwrap();
    for at in [0, 1 << 20, 3 << 20] {
        file.seek(SeekFrom::Start(at)).unwrap();
        file.write_all(b"some text").unwrap();
    }
    file.set_len(4 << 20).unwrap();
    drop(file);
    std::fs::read(path).unwrap()
}

fn allocated(path: &Path) -> u64 {
    // Delayed allocations are not counted everywhere.
    File::options().write(true).open(path).unwrap().sync_all().unwrap();
    Source::open(path).unwrap().attributes().allocated().unwrap()
}

#[test]
fn windows_holes_kept_by_every_method() {
    let temp = TempDir::new();
    let (input, target) = (temp.join("input"), temp.join("target"));
    let bytes = sparse(&input);
    let has = allocated(&input);
    assert!(has <= 3 * UNIT, "{has}");
    for method in [None].into_iter().chain(with_steps().into_iter().map(Some)) {
        let steps: [Option<&mut dyn Step>; 2] = [None, Some(&mut Upper)];
        for (step, upper) in steps.into_iter().zip([false, true]) {
            let mut passes = PassRunner::new(PassOptions::default().method(method));
            let options = ReplaceOptions::default();
            let made = transform(&input, Some(&target), step, &mut passes, options);
            if matches!(reason(&made), Some(Reason::Unsupported("mapped", _))) && !has_unix_shell()
            {
                // A sparse file has no space before it is written; under Wine it is not known to be
                // sparse.
                assert_eq!(names(temp.path()), ["input"]);
                continue;
            }
            made.unwrap();
            let expected = if upper { bytes.to_ascii_uppercase() } else { bytes.clone() };
            assert!(std::fs::read(&target).unwrap() == expected, "{method:?}");
            assert!(allocated(&target) <= has + UNIT, "{method:?}: {}", allocated(&target));
            std::fs::remove_file(&target).unwrap();
        }
    }
}
