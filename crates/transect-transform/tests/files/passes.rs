//! The result of a pass, with every method and every block size.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use transect::Cancel;
use transect_testkit::TempDir;
use transect_transform::output::OutputBuffer;
use transect_transform::pass::{IoMethod, PassOptions, PassRunner};
use transect_transform::publish::{Existing, ReplaceOptions, Replacement};
use transect_transform::step::{Finding, InvalidData, Shape, Step, StepError};
use transect_transform::{Reason, Source, transform};

use crate::support::{
    Count, Lines, Meanwhile, Upper, at_hand, copy, existing, in_place, lines, message, names,
    passes, reason, refuses, run, text, with_steps,
};

const BLOCKS: [Option<usize>; 5] = [None, Some(1), Some(7), Some(4096), Some(100_000)];

fn sizes(block: Option<usize>) -> &'static [usize] {
    match block {
        // One call per byte, or nearly so.
        Some(1) => &[0, 1, 300],
        Some(7) => &[0, 1, 4096, 4097],
        _ => &[0, 1, 4095, 4096, 4097, 300_000],
    }
}

#[test]
fn pass_result_same_for_every_method_and_size() {
    for method in with_steps() {
        for block in BLOCKS {
            for &size in sizes(block) {
                let temp = TempDir::new();
                let (input, output) = (temp.join("input"), temp.join("output"));
                let bytes = text(size);
                std::fs::write(&input, &bytes).unwrap();
                let context = format!("{}, block {block:?}, {size} bytes", method.as_str());
                let check = |step: &mut dyn Step, expected: &[u8]| {
                    let mut passes = passes(Some(method), block);
                    let options = existing(Existing::Replace);
                    let report =
                        transform(&input, Some(&output), Some(step), &mut passes, options).unwrap();
                    assert!(std::fs::read(&output).unwrap() == expected, "{context}");
                    assert_eq!(report.pass.bytes_in, size as u64, "{context}");
                    assert_eq!(report.pass.bytes_out, expected.len() as u64, "{context}");
                    assert_eq!(report.pass.changed, None, "{context}");
                    assert!(report.published.unwrap().written, "{context}");
                    report.pass.findings
                };
                check(&mut Upper, &bytes.to_ascii_uppercase());
                if !refuses(method, &mut Lines::default()) {
                    check(&mut Lines::default(), &lines(&bytes));
                }
                let found = check(&mut Count::default(), &bytes);
                assert_eq!(found[0].value, size.to_string());
                assert_eq!(names(temp.path()), ["input", "output"], "{context}");
            }
        }
    }
}

#[test]
fn copy_same_for_every_method() {
    for method in at_hand() {
        for size in [0, 1, 300_000, 3_000_000] {
            let temp = TempDir::new();
            let bytes = text(size);
            std::fs::write(temp.join("input"), &bytes).unwrap();
            let mut passes = passes(Some(method), None);
            let options = ReplaceOptions::default();
            let (input, output) = (temp.join("input"), temp.join("output"));
            let report = transform(&input, Some(&output), None, &mut passes, options).unwrap();
            assert!(std::fs::read(&output).unwrap() == bytes, "{}", method.as_str());
            assert_eq!(report.pass.bytes_out, size as u64);
        }
    }
}

#[test]
fn sequential_hint_keeps_result() {
    let temp = TempDir::new();
    let (input, output) = (temp.join("input"), temp.join("output"));
    let bytes = text(300_000);
    std::fs::write(&input, &bytes).unwrap();
    for method in at_hand() {
        let options = PassOptions::default().method(Some(method)).sequential(true);
        let mut passes = PassRunner::new(options);
        let options = existing(Existing::Replace);
        transform(&input, Some(&output), None, &mut passes, options).unwrap();
        assert!(std::fs::read(&output).unwrap() == bytes, "{}", method.as_str());
    }
    let missing = temp.join("missing");
    let hinted = PassRunner::new(PassOptions::default().sequential(true));
    assert_eq!(message(Source::open(&missing)), message(hinted.open(&missing)));
    assert_eq!(message(Source::open(&missing)), message(hinted.open_as(&missing, true)));
}

#[test]
fn pass_discard_reports_change() {
    let temp = TempDir::new();
    let input = temp.join("input");
    for (content, changes) in [("a\r\nb\r\n", true), ("a\nb\n", false), ("a\nb", true), ("", false)]
    {
        std::fs::write(&input, content).unwrap();
        for method in with_steps() {
            let mut passes = passes(Some(method), Some(3));
            let step: &mut dyn Step = &mut Lines::default();
            if refuses(method, step) {
                continue;
            }
            let options = ReplaceOptions::default();
            let report = transform(&input, None, Some(step), &mut passes, options).unwrap();
            assert_eq!(report.pass.changed, Some(changes), "{content:?}");
            assert!(report.published.is_none());
        }
        assert_eq!(std::fs::read(&input).unwrap(), content.as_bytes());
        assert_eq!(names(temp.path()), ["input"]);
    }
}

#[test]
fn in_place_nothing_created_before_first_difference() {
    for method in with_steps() {
        let temp = TempDir::new();
        let input = temp.join("input");
        let mut bytes = text(100_000).to_ascii_uppercase();
        bytes[70_000] = b'x';
        std::fs::write(&input, &bytes).unwrap();
        let directory = temp.path().to_owned();
        let blocks = std::sync::Mutex::new(Vec::new());
        let mut step = Meanwhile(|| blocks.lock().unwrap().push(names(&directory).len()));
        let mut passes = passes(Some(method), Some(8192));
        let options = existing(Existing::InPlace);
        let step: &mut dyn Step = &mut step;
        let report = transform(&input, Some(&input), Some(step), &mut passes, options).unwrap();
        let blocks = blocks.into_inner().unwrap();
        // The ninth block differs: until it was changed, only the input existed.
        assert_eq!(blocks[..9], [1; 9], "{}", method.as_str());
        // The pipeline's writer may not have started yet.
        let most = blocks.last().copied();
        assert!(most == Some(2) || method == IoMethod::Pipeline, "{}", method.as_str());
        assert_eq!(report.pass.changed, Some(true));
        assert!(std::fs::read(&input).unwrap() == bytes.to_ascii_uppercase());
        assert_eq!(names(temp.path()), ["input"]);
    }
}

#[test]
fn in_place_unchanged_not_written() {
    let temp = TempDir::new();
    let input = temp.join("input");
    let clean = lines(&text(50_000));
    std::fs::write(&input, &clean).unwrap();
    let before = Source::open(&input).unwrap();
    for _ in 0..2 {
        for method in with_steps() {
            let steps: [&mut dyn Step; 2] = [&mut Lines::default(), &mut Count::default()];
            for step in steps {
                if refuses(method, step) {
                    continue;
                }
                let mut passes = passes(Some(method), Some(1000));
                let options = existing(Existing::InPlace);
                let report =
                    transform(&input, Some(&input), Some(step), &mut passes, options).unwrap();
                assert_eq!(report.pass.changed, Some(false));
                assert!(!report.published.unwrap().written);
            }
        }
    }
    let after = Source::open(&input).unwrap();
    assert_eq!(before.file_id(), after.file_id());
    assert_eq!(before.attributes().mtime(), after.attributes().mtime());
}

#[test]
fn in_place_rejected_file_unchanged() {
    for method in with_steps() {
        let temp = TempDir::new();
        let input = temp.join("input");
        let mut bytes = b"a\r\n".repeat(50_000);
        bytes[140_000] = 0;
        std::fs::write(&input, &bytes).unwrap();
        let mut passes = passes(Some(method), Some(1000));
        let step: &mut dyn Step = &mut Lines::default();
        if refuses(method, step) {
            continue;
        }
        let refused =
            transform(&input, Some(&input), Some(step), &mut passes, existing(Existing::InPlace));
        let path = input.display();
        assert_eq!(message(refused), format!("cannot transform '{path}': it is not text"));
        assert!(std::fs::read(&input).unwrap() == bytes);
        assert_eq!(names(temp.path()), ["input"]);
    }
}

#[test]
fn text_only_binary_rejected() {
    for method in with_steps() {
        let temp = TempDir::new();
        let (input, output) = (temp.join("input"), temp.join("output"));
        let options = PassOptions::default().method(Some(method)).text_only(true);
        let mut passes = PassRunner::new(options);
        let mut run = |content: &[u8], target: Option<&Path>| {
            std::fs::write(&input, content).unwrap();
            transform(&input, target, Some(&mut Upper), &mut passes, ReplaceOptions::default())
        };
        for target in [None, Some(output.as_path())] {
            let refused = run(b"te\0xt", target);
            assert!(matches!(reason(&refused), Some(Reason::Binary)));
            assert_eq!(names(temp.path()), ["input"]);
        }
        run(b"", None).unwrap();
        run(b"text", Some(&output)).unwrap();
        assert_eq!(std::fs::read(&output).unwrap(), b"TEXT");
    }
}

#[test]
fn read_back_matches_for_every_method() {
    let temp = TempDir::new();
    let (input, output) = (temp.join("input"), temp.join("output"));
    // Text, a hole where the system makes one, and text.
    let mut content = text(300_000);
    content.extend(vec![0; 1 << 20]);
    content.extend(text(5));
    let sparse = |content: &[u8]| {
        let mut file = std::fs::File::create(&input).unwrap();
        file.set_len(content.len() as u64).unwrap();
        file.write_all(&content[..300_000]).unwrap();
        file.seek(SeekFrom::End(-5)).unwrap();
        file.write_all(&content[content.len() - 5..]).unwrap();
    };
    sparse(&content);
    for method in [None].into_iter().chain(with_steps().into_iter().map(Some)) {
        let options = PassOptions::default().method(method).read_back(true);
        let mut passes = PassRunner::new(options);
        let replace = existing(Existing::Replace);
        let mut run = |target: &Path, step: Option<&mut dyn Step>, options| {
            transform(&input, Some(target), step, &mut passes, options).unwrap();
        };
        run(&output, None, replace);
        assert!(std::fs::read(&output).unwrap() == content);
        run(&output, Some(&mut Upper), replace);
        assert!(std::fs::read(&output).unwrap() == content.to_ascii_uppercase());
        // The unchanged beginning is copied without passing through the step.
        let shorter = |input: &[u8]| [input, b"\r\n"].concat();
        std::fs::write(&input, shorter(&text(300_000))).unwrap();
        let lines_step: &mut dyn Step = &mut Lines::default();
        if method.is_some_and(|method| refuses(method, lines_step)) {
            sparse(&content);
            continue;
        }
        run(&input, Some(lines_step), existing(Existing::InPlace));
        assert!(std::fs::read(&input).unwrap() == lines(&shorter(&text(300_000))));
        sparse(&content);
    }
    let method = Some(IoMethod::KernelCopy);
    let mut unseen = PassRunner::new(PassOptions::default().method(method).read_back(true));
    let options = existing(Existing::Replace);
    let refused = message(transform(&input, Some(&output), None, &mut unseen, options));
    assert!(refused.ends_with("the kernel copies the data, so it cannot be compared"), "{refused}");
}

#[test]
fn progress_counts_each_byte_once() {
    for method in [None, Some(IoMethod::Streams), Some(IoMethod::Pipeline)] {
        let temp = TempDir::new();
        let input = temp.join("input");
        std::fs::write(&input, text(100_000)).unwrap();
        let read = Arc::new(AtomicU64::new(0));
        let progress = Some(Arc::clone(&read));
        let mut passes = PassRunner::new(PassOptions::default().method(method).progress(progress));
        let options = ReplaceOptions::default();
        transform(&input, Some(&temp.join("copy")), None, &mut passes, options).unwrap();
        assert_eq!(read.swap(0, Ordering::Relaxed), 100_000);
        // The first lines stay the same, so they are copied at the first difference.
        let in_place = existing(Existing::InPlace);
        let step: &mut dyn Step = &mut Lines::default();
        assert!(transform(&input, Some(&input), Some(step), &mut passes, in_place).is_ok());
        assert_eq!(read.load(Ordering::Relaxed), 100_000);
    }
}

#[test]
fn pass_cancelled_leaves_nothing() {
    for method in with_steps() {
        let temp = TempDir::new();
        let (input, output) = (temp.join("input"), temp.join("output"));
        std::fs::write(&input, text(100_000)).unwrap();
        let cancel = Cancel::new();
        let asks = cancel.clone();
        let options = PassOptions::default().method(Some(method)).block(Some(1000)).cancel(cancel);
        let step: &mut dyn Step = &mut Meanwhile(move || asks.cancel());
        let mut passes = PassRunner::new(options);
        let options = ReplaceOptions::default();
        let stopped = transform(&input, Some(&output), Some(step), &mut passes, options);
        assert!(matches!(reason(&stopped), Some(Reason::Cancelled)));
        assert_eq!(names(temp.path()), ["input"]);
    }
    let temp = TempDir::new();
    std::fs::write(temp.join("input"), text(1000)).unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    let mut passes = PassRunner::new(PassOptions::default().cancel(cancel));
    let (input, output) = (temp.join("input"), temp.join("output"));
    let options = ReplaceOptions::default();
    assert!(transform(&input, Some(&output), None, &mut passes, options).is_err());
    assert_eq!(names(temp.path()), ["input"]);
}

#[test]
fn input_changed_meanwhile_reported() {
    type Change = fn(&std::fs::File);
    let changes: [(&str, Change); 3] = [
        ("shorter", |file| file.set_len(50_000).unwrap()),
        ("longer", |file| file.set_len(200_000).unwrap()),
        ("touched", |file| file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap()),
    ];
    for method in with_steps() {
        for (what, change) in changes {
            if what == "shorter" && !can_be_cut(method) {
                continue;
            }
            for target in ["output", "input"] {
                let temp = TempDir::new();
                let (input, target) = (temp.join("input"), temp.join(target));
                std::fs::write(&input, text(100_000)).unwrap();
                let file = std::fs::File::options().write(true).open(&input).unwrap();
                let mut passes = passes(Some(method), Some(1000));
                let step: &mut dyn Step = &mut Meanwhile(move || change(&file));
                let place = if target == input { Existing::InPlace } else { Existing::Keep };
                let changed =
                    transform(&input, Some(&target), Some(step), &mut passes, existing(place));
                let path = input.display();
                let expected = format!("cannot transform '{path}': it changed while it was read");
                assert_eq!(message(changed), expected, "{what}, {}", method.as_str());
                assert_eq!(names(temp.path()), ["input"]);
            }
        }
    }
}

/// Changes nothing, and lets another process change the file meanwhile.
struct Unchanging<F>(F, Vec<Finding>);

impl<F: FnMut() + Send> Step for Unchanging<F> {
    fn shape(&self) -> Shape {
        Shape::Resizing
    }

    fn feed(&mut self, _: &[u8], _: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        unreachable!("all is kept");
    }

    fn finish(&mut self, _: &mut OutputBuffer<'_>) -> Result<(), StepError> {
        Ok(())
    }

    fn leaves_unchanged(&self, _: &[u8]) -> bool {
        true
    }

    fn accept_unchanged(&mut self, _: &[u8]) -> Result<(), InvalidData> {
        self.0();
        Ok(())
    }

    fn findings(&self) -> Vec<Finding> {
        self.1.clone()
    }

    fn reset(&mut self) {}
}

/// A file that is read at once and needs no change is not checked again. It is checked if it is
/// read in parts, or if a digest is reported.
#[test]
fn input_unchanged_rechecked_only_if_needed() {
    let (count, digest) = (Finding::new("changed", 0), Finding::new("crc32c", "00000000"));
    for (block, finding, is_error) in [
        (None, &count, false),
        (Some(1001), &count, false),
        (Some(1000), &count, true),
        (Some(100), &count, true),
        (None, &digest, true),
    ] {
        for in_place in [true, false] {
            let temp = TempDir::new();
            let input = temp.join("input");
            std::fs::write(&input, text(1000)).unwrap();
            let file = std::fs::File::options().write(true).open(&input).unwrap();
            let touch = || file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
            let mut passes = PassRunner::new(PassOptions::default().block(block));
            let mut step = Unchanging(touch, vec![finding.clone()]);
            let target = in_place.then_some(input.as_path());
            let options = existing(Existing::InPlace);
            let passed = transform(&input, target, Some(&mut step), &mut passes, options);
            match passed {
                Ok(report) => assert!(!is_error && report.pass.changed == Some(false)),
                Err(error) if matches!(error.reason(), Reason::Changed) => assert!(is_error),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Returns whether another process can truncate the input of a method. Windows refuses to truncate
/// mapped files.
fn can_be_cut(method: IoMethod) -> bool {
    !(cfg!(windows) && matches!(method, IoMethod::Mapped | IoMethod::MappedRead))
}

/// Truncating a mapped file fails, and the pass continues.
#[test]
fn mapped_input_not_truncated_on_windows() {
    const USER_MAPPED_FILE: i32 = 1224;
    for method in with_steps().into_iter().filter(|method| !can_be_cut(*method)) {
        let temp = TempDir::new();
        let (input, output) = (temp.join("input"), temp.join("output"));
        let bytes = text(9 << 20);
        std::fs::write(&input, &bytes).unwrap();
        let file = std::fs::File::options().write(true).open(&input).unwrap();
        let step: &mut dyn Step = &mut Meanwhile(move || {
            let refused = file.set_len(1).unwrap_err();
            assert_eq!(refused.raw_os_error(), Some(USER_MAPPED_FILE));
        });
        let mut passes = passes(Some(method), Some(1 << 20));
        transform(&input, Some(&output), Some(step), &mut passes, ReplaceOptions::default())
            .unwrap();
        assert!(std::fs::read(&output).unwrap() == bytes.to_ascii_uppercase());
    }
}

/// Accessing mapped pages that are gone raises a fault, which must become an ordinary error: for
/// pages of the same window, for windows that cannot be opened, and far beyond the end.
#[test]
fn input_truncated_far_before_end_reported() {
    let contents = [300_000, 9 << 20].map(text);
    for method in with_steps().into_iter().filter(|method| can_be_cut(*method)) {
        for content in &contents {
            let size = content.len();
            for left in [0, 1, 4096, 200_000] {
                for target in [None, Some("output"), Some("input")] {
                    let temp = TempDir::new();
                    let input = temp.join("input");
                    std::fs::write(&input, content).unwrap();
                    let file = std::fs::File::options().write(true).open(&input).unwrap();
                    let step: &mut dyn Step = &mut Meanwhile(move || file.set_len(left).unwrap());
                    let place =
                        if target == Some("input") { Existing::InPlace } else { Existing::Keep };
                    let target = target.map(|name| temp.join(name));
                    let mut passes = passes(Some(method), Some(64 << 10));
                    let options = existing(place);
                    let cut =
                        transform(&input, target.as_deref(), Some(step), &mut passes, options);
                    assert!(
                        matches!(reason(&cut), Some(Reason::Changed)),
                        "{}, {size} bytes, {left} left: {cut:?}",
                        method.as_str(),
                    );
                    assert_eq!(names(temp.path()), ["input"]);
                }
            }
        }
    }
}

#[test]
fn copy_input_truncated_meanwhile_reported() {
    let temp = TempDir::new();
    std::fs::write(temp.join("input"), text(100_000)).unwrap();
    let source = Source::open(temp.join("input")).unwrap();
    let cut = std::fs::File::options().write(true).open(temp.join("input")).unwrap();
    cut.set_len(10).unwrap();
    let target = temp.join("output");
    let mut out = Replacement::begin(&target, Some(&source), ReplaceOptions::default()).unwrap();
    let passed = passes(None, None).run(&source, None, Some(&mut out));
    assert!(matches!(reason(&passed), Some(Reason::Changed)));
    drop(out);
    assert_eq!(names(temp.path()), ["input"]);
}

#[test]
fn method_unsupported_rejected_before_creating() {
    let temp = TempDir::new();
    std::fs::write(temp.join("input"), "x").unwrap();
    let mut passes = passes(Some(IoMethod::KernelCopy), None);
    let step: &mut dyn Step = &mut Upper;
    let (input, output) = (temp.join("input"), temp.join("output"));
    let options = ReplaceOptions::default();
    let refused = transform(&input, Some(&output), Some(step), &mut passes, options);
    assert!(matches!(reason(&refused), Some(Reason::Unsupported("kernel-copy", _))));
    assert_eq!(names(temp.path()), ["input"]);
}

#[test]
fn input_missing_named_in_error() {
    let temp = TempDir::new();
    let missing = temp.join("missing");
    let path = missing.display().to_string();
    let said = message(copy(&missing, &temp.join("output")));
    assert!(said.starts_with(&format!("cannot read '{path}': ")), "{said}");
    let said = message(copy(temp.path(), &temp.join("output")));
    assert_eq!(said, format!("cannot read '{}': it is a directory", temp.path().display()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// In place and into another file, with any block size, the result is the same; and a file that
    /// does not change is not written.
    #[test]
    fn in_place_equals_new_file(
        text in "[a\r\n]{0,40}",
        block in 1_usize..9,
        method in prop::sample::select(with_steps()),
    ) {
        let temp = TempDir::new();
        let input = temp.join("input");
        std::fs::write(&input, &text).unwrap();
        let expected = lines(text.as_bytes());
        let step: &mut dyn Step = &mut Lines::default();
        prop_assume!(!refuses(method, step));
        let mut passes = passes(Some(method), Some(block));
        let options = existing(Existing::InPlace);
        let report = transform(&input, Some(&input), Some(step), &mut passes, options).unwrap();
        prop_assert_eq!(report.pass.changed, Some(expected != text.as_bytes()));
        prop_assert_eq!(std::fs::read(&input).unwrap(), &expected[..]);
        let again = in_place(&input, &mut Lines::default()).unwrap();
        prop_assert_eq!(again.pass.changed, Some(lines(&expected) != expected));
        let other = run(&input, &temp.join("output"), &mut Upper, ReplaceOptions::default());
        prop_assert!(other.is_ok());
    }

    /// The same with page-sized blocks, lines across them, and differences anywhere.
    #[test]
    fn in_place_equals_new_file_across_pages(
        returns in prop::collection::vec(0_usize..40_000, 0..6),
        length in 1_usize..40_000,
        ends in prop::collection::vec(1_usize..9, 0..3),
        method in prop::sample::select(with_steps()),
    ) {
        let temp = TempDir::new();
        let input = temp.join("input");
        let mut bytes = vec![b'a'; length];
        // Also at the ends of blocks, where a step holds back a byte.
        for at in returns.into_iter().chain(ends.into_iter().map(|block| block * 4096 - 1)) {
            if let Some(pair) = bytes.get_mut(at..at + 2) {
                pair.copy_from_slice(b"\r\n");
            }
        }
        std::fs::write(&input, &bytes).unwrap();
        let step: &mut dyn Step = &mut Lines::default();
        prop_assume!(!refuses(method, step));
        let mut passes = passes(Some(method), Some(4096));
        let options = existing(Existing::InPlace);
        transform(&input, Some(&input), Some(step), &mut passes, options).unwrap();
        prop_assert!(std::fs::read(&input).unwrap() == lines(&bytes));
    }
}
