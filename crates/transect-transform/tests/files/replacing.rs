//! Existing files at the target, on every system.

use std::io::Write;
use std::path::Path;

use transect_testkit::TempDir;
use transect_transform::Source;
use transect_transform::publish::{
    Batch, Durability, Existing, ReplaceOptions, Replacement, put_with,
};

use crate::support::{
    Upper, copy, existing, in_place, message, names, passes, run, transform_into,
};

#[test]
fn target_existing_replaced_only_on_request() {
    let temp = TempDir::new();
    let (input, target) = (temp.join("input"), temp.join("target"));
    std::fs::write(&input, "new").unwrap();
    std::fs::write(&target, "old").unwrap();
    let path = target.display();
    assert_eq!(
        message(run(&input, &target, &mut Upper, ReplaceOptions::default())),
        format!("cannot replace '{path}': it already exists")
    );
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
    run(&input, &target, &mut Upper, existing(Existing::Replace)).unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), b"NEW");
    assert_eq!(names(temp.path()), ["input", "target"]);
}

#[test]
fn put_replaces_or_leaves_target_unchanged() {
    let temp = TempDir::new();
    let file = temp.join("file");
    let put = |target: &Path, bytes: &[u8]| put_with(target, |out| out.write_all(bytes));
    put(&file, b"first").unwrap();
    std::fs::hard_link(&file, temp.join("other")).unwrap();
    put(&file, b"second").unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"second");
    assert_eq!(std::fs::read(temp.join("other")).unwrap(), b"first");
    assert!(put(&temp.join("missing/file"), b"").is_err());
    std::fs::create_dir(temp.join("folder")).unwrap();
    assert!(put(&temp.join("folder"), b"").is_err());
    assert_eq!(names(temp.path()), ["file", "folder", "other"]);
}

#[test]
fn input_replaced_only_in_place() {
    let temp = TempDir::new();
    let input = temp.join("input");
    std::fs::write(&input, "text").unwrap();
    std::fs::create_dir(temp.join("folder")).unwrap();
    for target in [input.clone(), temp.join("folder/../input")] {
        for how in [Existing::Keep, Existing::Replace] {
            let refused = message(run(&input, &target, &mut Upper, existing(how)));
            assert!(refused.ends_with("it is the input itself"), "{refused}");
            assert_eq!(std::fs::read(&input).unwrap(), b"text");
        }
    }
    in_place(&input, &mut Upper).unwrap();
    assert_eq!(std::fs::read(&input).unwrap(), b"TEXT");
    assert_eq!(names(temp.path()), ["folder", "input"]);
}

#[test]
fn in_place_target_must_be_input() {
    let temp = TempDir::new();
    let (input, other) = (temp.join("input"), temp.join("other"));
    std::fs::write(&input, "text").unwrap();
    for content in [None, Some("other")] {
        if let Some(content) = content {
            std::fs::write(&other, content).unwrap();
        }
        let refused = message(run(&input, &other, &mut Upper, existing(Existing::InPlace)));
        assert!(refused.contains("it is not the input"), "{refused}");
    }
    assert_eq!(std::fs::read(&other).unwrap(), b"other");
}

#[test]
fn target_directory_or_missing_directory_rejected() {
    let temp = TempDir::new();
    let input = temp.join("input");
    std::fs::write(&input, "text").unwrap();
    std::fs::create_dir(temp.join("folder")).unwrap();
    let refused =
        message(run(&input, &temp.join("folder"), &mut Upper, existing(Existing::Replace)));
    assert!(refused.ends_with("it is a directory"), "{refused}");
    let target = temp.join("missing").join("target");
    let refused = message(copy(&input, &target));
    assert!(refused.starts_with(&format!("cannot create '{}': ", target.display())), "{refused}");
    let target = temp.join("input").join("target");
    assert!(copy(&input, &target).is_err());
    let refused = message(copy(&input, "..".as_ref()));
    assert!(refused.ends_with("the path does not end in the name of a file"), "{refused}");
    assert_eq!(names(temp.path()), ["folder", "input"]);
    assert!(names(&temp.join("folder")).is_empty());
}

#[test]
fn target_appearing_meanwhile_kept_unless_replace() {
    for (how, expected) in [(Existing::Keep, "theirs"), (Existing::Replace, "ours")] {
        for durability in [Durability::None, Durability::File, Durability::Batch] {
            let temp = TempDir::new();
            let target = temp.join("target");
            let options = ReplaceOptions::default().existing(how).durability(durability);
            let mut out = Replacement::begin(&target, None, options).unwrap();
            out.write_all(b"ours").unwrap();
            std::fs::write(&target, "theirs").unwrap();
            let published = out.publish();
            assert_eq!(published.is_ok(), how == Existing::Replace);
            if let Err(error) = published {
                let path = target.display();
                assert_eq!(
                    error.to_string(),
                    format!("cannot replace '{path}': it already exists")
                );
            }
            assert_eq!(std::fs::read(&target).unwrap(), expected.as_bytes());
            assert_eq!(names(temp.path()), ["target"]);
        }
    }
}

#[test]
fn target_vanishing_recreated_unless_input() {
    let temp = TempDir::new();
    let target = temp.join("target");
    std::fs::write(&target, "old").unwrap();
    let mut out = Replacement::begin(&target, None, existing(Existing::Replace)).unwrap();
    out.write_all(b"new").unwrap();
    std::fs::remove_file(&target).unwrap();
    out.publish().unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), b"new");

    // If another process removed or replaced the input, the result must not replace it.
    for other in [None, Some("theirs")] {
        std::fs::write(&target, "old").unwrap();
        let source = Source::open(&target).unwrap();
        let mut out =
            Replacement::begin(&target, Some(&source), existing(Existing::InPlace)).unwrap();
        drop(source);
        out.write_all(b"new").unwrap();
        std::fs::remove_file(&target).unwrap();
        if let Some(other) = other {
            std::fs::write(&target, other).unwrap();
        }
        let refused = message(out.publish());
        assert!(refused.ends_with("it changed while it was read"), "{refused}");
        assert_eq!(std::fs::read_to_string(&target).ok().as_deref(), other);
    }
    assert_eq!(names(temp.path()), ["target"]);
}

#[test]
fn replacement_dropped_leaves_nothing() {
    let temp = TempDir::new();
    let target = temp.join("target");
    for durability in [Durability::None, Durability::Batch] {
        let options = ReplaceOptions::default().durability(durability);
        let mut out = Replacement::begin(&target, None, options).unwrap();
        assert!(names(temp.path()).is_empty(), "nothing is made by looking");
        out.write_all(b"text").unwrap();
        drop(out);
        assert!(names(temp.path()).is_empty());
    }
}

#[test]
fn temporary_file_of_longest_name() {
    let temp = TempDir::new();
    for letter in ["x", "ü", "語"] {
        let target = temp.join(letter.repeat(255 / letter.len()));
        std::fs::write(temp.join("input"), "text").unwrap();
        std::fs::write(&target, "old").unwrap();
        run(&temp.join("input"), &target, &mut Upper, existing(Existing::Replace)).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"TEXT");
    }
    assert_eq!(names(temp.path()).len(), 4);
}

#[test]
fn batch_publishes_all_it_can_at_end() {
    let temp = TempDir::new();
    let mut batch = Batch::new();
    let mut passes = passes(None, None);
    for number in 0..20 {
        let path = temp.join(format!("{number:02}"));
        std::fs::write(&path, if number == 7 { "TEXT" } else { "text" }).unwrap();
        let options = existing(Existing::InPlace);
        transform_into(&mut batch, &path, &path, &mut passes, options);
        assert!(std::fs::read(&path).unwrap().eq_ignore_ascii_case(b"text"));
    }
    assert_eq!(batch.len(), 20);
    assert_eq!(std::fs::read(temp.join("19")).unwrap(), b"text");
    // A file appears meanwhile: that result fails, and no other.
    std::fs::write(temp.join("03"), "theirs").unwrap();
    let outcomes = batch.publish();
    assert_eq!(outcomes.len(), 20);
    let failed: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    // In the order in which they were added.
    assert!(outcomes[3].is_err());
    assert!(!outcomes[7].as_ref().unwrap().written);
    let written = outcomes.iter().flatten().filter(|published| published.written).count();
    assert_eq!(written, 18);
    for number in 0..20 {
        let expected = if number == 3 { "theirs" } else { "TEXT" };
        let content = std::fs::read_to_string(temp.join(format!("{number:02}"))).unwrap();
        assert_eq!(content, expected);
    }
    assert_eq!(names(temp.path()).len(), 20);
}

#[test]
fn batch_dropped_changes_nothing() {
    let temp = TempDir::new();
    let path = temp.join("file");
    std::fs::write(&path, "text").unwrap();
    let mut batch = Batch::new();
    let options = existing(Existing::InPlace);
    let mut passes = passes(None, None);
    transform_into(&mut batch, &path, &path, &mut passes, options);
    assert!(!batch.is_empty());
    assert_eq!(names(temp.path()).len(), 2);
    drop(batch);
    assert_eq!(names(temp.path()), ["file"]);
    assert_eq!(std::fs::read(&path).unwrap(), b"text");
}

#[test]
fn batch_accepts_results_of_any_durability() {
    let temp = TempDir::new();
    let targets = ["one", "two"].map(|name| temp.join(name));
    std::fs::write(&targets[0], "old").unwrap();
    let mut batch = Batch::new();
    for target in &targets {
        let mut out = Replacement::begin(target, None, existing(Existing::Replace)).unwrap();
        out.write_all(b"new").unwrap();
        batch.add(out).unwrap();
    }
    assert!(batch.publish().iter().all(Result::is_ok));
    for target in &targets {
        assert_eq!(std::fs::read(target).unwrap(), b"new");
    }
    assert_eq!(names(temp.path()), ["one", "two"]);
}

#[test]
fn put_with_complete_or_nothing() {
    let temp = TempDir::new();
    let file = temp.join("file");
    let write = |bytes: u8, fails: bool| {
        put_with(&file, |out| {
            (0..300_000_u32).try_for_each(|_| out.write_all(&[bytes]))?;
            if fails { Err(std::io::Error::other("no more")) } else { Ok(()) }
        })
    };
    for (bytes, fails) in [(1, true), (2, false), (3, true), (4, false)] {
        let written = write(bytes, fails);
        if let Err(error) = &written {
            assert_eq!(error.to_string(), format!("cannot write '{}': no more", file.display()));
        }
        assert_eq!(written.is_err(), fails);
        let there = std::fs::read(&file).unwrap_or_default();
        let last = if fails { bytes - 1 } else { bytes };
        assert_eq!(there.len(), if last == 0 { 0 } else { 300_000 });
        assert!(there.iter().all(|&byte| byte == last));
        assert_eq!(names(temp.path()).len(), usize::from(last > 0), "nothing is left beside it");
    }
}

#[test]
fn times_kept_on_request() {
    let temp = TempDir::new();
    let (input, target) = (temp.join("input"), temp.join("target"));
    std::fs::write(&input, "text").unwrap();
    let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    std::fs::File::options().write(true).open(&input).unwrap().set_modified(then).unwrap();
    let options = ReplaceOptions::default().keep_times(true);
    let report = run(&input, &target, &mut Upper, options).unwrap();
    assert!(report.published.unwrap().lost_metadata.is_empty());
    let modified = |path| Source::open(path).unwrap().attributes().mtime();
    assert_eq!(modified(&target), modified(&input));
}
