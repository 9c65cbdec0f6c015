//! Jobs over many files: each file is completed, even if others fail.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use transect::{Cancel, ScanOptions};
use transect_testkit::TempDir;
#[cfg(target_os = "linux")]
use transect_testkit::loudly_skip;
use transect_transform::chain::Chain;
use transect_transform::publish::{Durability, Existing, ReplaceOptions};
#[cfg(target_os = "linux")]
use transect_transform::publish::{KeepReason, Replacement, remove_abandoned};
#[cfg(target_os = "linux")]
use transect_transform::tree::find_leftovers;
use transect_transform::tree::{
    FileOutcome, FileStatus, Input, InputSet, Job, JobJournal, OutputTarget, Skip, find_inputs,
};
use transect_transform::{Reason, Source};

use crate::support::{names, reason};

fn job(output: OutputTarget, threads: usize, durability: Durability) -> Job {
    let replace = ReplaceOptions::default().durability(durability);
    Job::new(output).replace(replace).threads(threads)
}

fn inputs(root: &Path) -> Vec<Input> {
    find_inputs(ScanOptions::new([root]), true).unwrap().files
}

fn run(job: &Job, line: &str, inputs: &[Input]) -> Vec<(PathBuf, FileOutcome)> {
    let chain: Chain = line.parse().unwrap();
    let mut outcomes = Vec::new();
    let mut job = job.clone();
    job.passes.text_only = chain.is_for_text();
    job.run(&chain, inputs, &mut |input, done| {
        outcomes.push((input.relative_path().to_owned(), done))
    });
    outcomes
}

fn statuses(outcomes: &[(PathBuf, FileOutcome)]) -> Vec<(String, Option<FileStatus>)> {
    let status = |(_, done): &(PathBuf, FileOutcome)| done.status.as_ref().ok().copied();
    let path = |one: &(PathBuf, FileOutcome)| one.0.to_str().unwrap().replace('\\', "/");
    outcomes.iter().map(|one| (path(one), status(one))).collect()
}

/// Creates files with every status that `decode=utf-8 eol=lf` can have.
fn tree(temp: &TempDir) -> PathBuf {
    let root = temp.join("tree");
    std::fs::create_dir_all(root.join("b/deep")).unwrap();
    for (name, content) in [
        ("a", &b"one\r\n"[..]),
        ("b/binary", b"\0\r\n"),
        ("b/deep/changed", b"two\r\nthree\n"),
        ("b/empty", b""),
        ("b/lossy", b"\xff\r\n"),
        ("c", b"two\n"),
    ] {
        std::fs::write(root.join(name), content).unwrap();
    }
    root
}

#[test]
fn job_error_affects_no_other_file() {
    for threads in [1, 4] {
        for durability in [Durability::None, Durability::File, Durability::Batch] {
            let temp = TempDir::new();
            let root = tree(&temp);
            let before = Source::open(root.join("c")).unwrap().attributes().file_id();
            let inputs = inputs(&root);
            let outcomes = run(
                &job(OutputTarget::InPlace, threads, durability),
                "decode=utf-8 eol=lf",
                &inputs,
            );
            assert_eq!(
                statuses(&outcomes),
                [
                    ("a", Some(FileStatus::Changed)),
                    ("b/binary", Some(FileStatus::Skipped(Skip::Binary))),
                    ("b/deep/changed", Some(FileStatus::Changed)),
                    ("b/empty", Some(FileStatus::Unchanged)),
                    ("b/lossy", None),
                    ("c", Some(FileStatus::Unchanged)),
                ]
                .map(|(path, status)| (path.to_owned(), status))
            );
            assert!(matches!(reason(&outcomes[4].1.status), Some(Reason::Invalid(_))));
            assert_eq!(std::fs::read(root.join("b/deep/changed")).unwrap(), b"two\nthree\n");
            assert_eq!(std::fs::read(root.join("b/lossy")).unwrap(), b"\xff\r\n");
            assert_eq!(Source::open(root.join("c")).unwrap().attributes().file_id(), before);
            assert_eq!(names(&root), ["a", "b", "c"]);
            assert_eq!(names(&root.join("b")), ["binary", "deep", "empty", "lossy"]);
        }
    }
}

#[test]
fn job_discard_reports_changes_and_writes_nothing() {
    let temp = TempDir::new();
    let root = tree(&temp);
    let to_nowhere = job(OutputTarget::Discard, 2, Durability::None);
    let outcomes = run(&to_nowhere, "eol=lf", &inputs(&root));
    assert_eq!(outcomes[0].1.status.as_ref().unwrap(), &FileStatus::WouldChange);
    assert_eq!(outcomes[5].1.status.as_ref().unwrap(), &FileStatus::Unchanged);
    assert_eq!(std::fs::read(root.join("a")).unwrap(), b"one\r\n");
    let outcomes = run(&to_nowhere, "crc32c", &inputs(&root));
    assert!(outcomes.iter().all(|(_, done)| matches!(done.status, Ok(FileStatus::Inspected))));
    assert_eq!(outcomes[3].1.pass.as_ref().unwrap().findings[0].value, "00000000");
}

#[test]
fn job_directory_results_keep_relative_paths() {
    for durability in [Durability::None, Durability::Batch] {
        let temp = TempDir::new();
        let root = tree(&temp);
        let output = OutputTarget::Directory(temp.join("out/of/many"));
        let job = job(output, 3, durability);
        let inputs = inputs(&root);
        job.check(&Chain::parse(&["case=upper"]).unwrap(), &inputs).unwrap();
        let outcomes = run(&job, "case=upper", &inputs);
        assert_eq!(
            statuses(&outcomes)[2],
            ("b/deep/changed".to_owned(), Some(FileStatus::Written))
        );
        let written = std::fs::read(temp.join("out/of/many/b/deep/changed")).unwrap();
        assert_eq!(written, b"TWO\r\nTHREE\n");
        // Existing files are kept.
        let again = run(&job, "", &inputs);
        assert!(again[0].1.status.as_ref().unwrap_err().to_string().contains("already exists"));
        assert_eq!(std::fs::read(temp.join("out/of/many/a")).unwrap(), b"ONE\r\n");
        let replacing = job.replace.existing(Existing::Replace);
        run(&job.replace(replacing), "", &inputs);
        assert_eq!(std::fs::read(temp.join("out/of/many/a")).unwrap(), b"one\r\n");
    }
}

#[test]
fn job_same_target_rejected_before_writing() {
    let temp = TempDir::new();
    for directory in ["one", "two"] {
        std::fs::create_dir(temp.join(directory)).unwrap();
        std::fs::write(temp.join(directory).join("same"), directory).unwrap();
    }
    let roots = [temp.join("one"), temp.join("two")];
    let inputs = find_inputs(ScanOptions::new(roots), false).unwrap().files;
    let job = job(OutputTarget::Directory(temp.join("out")), 1, Durability::None);
    let refused = job.check(&Chain::parse(&["trim"]).unwrap(), &inputs).unwrap_err();
    assert!(refused.to_string().contains("it is the target of both"), "{refused}");
    assert_eq!(names(temp.path()), ["one", "two"]);
}

#[test]
fn job_cancelled_leaves_pending_files_unchanged() {
    let temp = TempDir::new();
    for number in 0..20 {
        std::fs::write(temp.join(format!("{number:02}")), "text").unwrap();
    }
    let cancel = Cancel::new();
    let mut job = job(OutputTarget::InPlace, 1, Durability::Batch);
    job.passes.cancel = cancel.clone();
    let inputs = inputs(temp.path());
    cancel.cancel();
    assert!(run(&job, "case=upper", &inputs).is_empty());
    // In the middle, after the first file.
    job.passes.cancel = Cancel::new();
    job.replace.durability = Durability::None;
    let (asks, mut told) = (job.passes.cancel.clone(), 0);
    let chain: Chain = "case=upper".parse().unwrap();
    job.run(&chain, &inputs, &mut |_, _| {
        told += 1;
        asks.cancel();
    });
    assert!(told >= 1);
    let changed = |input: &&Input| std::fs::read(&input.path).unwrap() == b"TEXT";
    let changed = inputs.iter().filter(changed).count();
    assert!((1..=20).contains(&changed));
    assert_eq!(names(temp.path()).len(), 20);
}

#[test]
fn leftovers_are_not_inputs() {
    let temp = TempDir::new();
    for name in ["file", ".file.17.0.transect", ".own.transect"] {
        std::fs::write(temp.join(name), name).unwrap();
    }
    let InputSet { files, leftovers, .. } =
        find_inputs(ScanOptions::new([temp.path()]), false).unwrap();
    let names: Vec<_> = files.iter().map(|file| file.relative_path().to_str().unwrap()).collect();
    assert_eq!(names, [".own.transect", "file"]);
    assert_eq!(leftovers, [temp.join(".file.17.0.transect")]);
}

/// Process IDs are not reused at once: the child's is free for a while.
#[test]
#[cfg(target_os = "linux")]
fn leftovers_of_ended_processes_removed() {
    const TEST: &str = "trees::leftovers_of_ended_processes_removed";
    const FOLDER: &str = "TRANSECT_TEST_FOLDER";
    if let Some(directory) = std::env::var_os(FOLDER) {
        let options = ReplaceOptions::default().durability(Durability::Batch);
        let file = Path::new(&directory).join("file");
        let mut out = Replacement::begin(&file, None, options).unwrap();
        out.append(b"text").unwrap();
        // Simulates a kill: nothing is dropped.
        std::mem::forget(out);
        return;
    }
    let temp = TempDir::new();
    if !transect_sys::linux::reliability_of(temp.path()).unwrap().local {
        return loudly_skip(TEST, "other machines may use the file system of temporary files");
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([TEST, "--exact", "--test-threads=1"])
        .env(FOLDER, temp.path())
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    let left = names(temp.path());
    let ended = left[0].strip_prefix(".file.").unwrap().split('.').next().unwrap();
    let [_, boot, namespace]: [&str; 3] = ended.split('-').collect::<Vec<_>>().try_into().unwrap();
    let own = std::process::id();
    let other_boot = format!("{:08x}", u32::from_str_radix(boot, 16).unwrap() ^ 1);
    let other = |name: &str, creator: String| {
        let path = temp.join(format!(".{name}.{creator}.0.transect"));
        std::fs::write(&path, "").unwrap();
        path
    };
    let gone = other("earlier-boot", format!("{own}-{other_boot}-{namespace}"));
    let running = other("running", format!("{own}-{boot}-{namespace}"));
    let namespace = other("namespace", format!("{own}-{boot}-00000001"));
    let version = other("version", own.to_string());
    let link = temp.join(format!(".link.{ended}.0.transect"));
    std::os::unix::fs::symlink("nowhere", &link).unwrap();

    let found = find_leftovers(ScanOptions::new([temp.path()])).unwrap();
    assert_eq!((found.files.len(), found.leftovers.len()), (0, 5));
    let swept = remove_abandoned(&[found.leftovers, vec![link.clone()]].concat());
    assert_eq!((swept.removed, swept.errors.len()), (2, 0), "{swept:?}");
    assert!(!temp.join(&left[0]).exists() && !gone.exists());
    let expected = [
        (namespace, KeepReason::OtherNamespace),
        (running, KeepReason::Running(own)),
        (version, KeepReason::UnknownCreator),
        (link, KeepReason::NotOwned),
    ];
    assert_eq!(swept.kept, expected);
    assert!(swept.kept.iter().all(|(path, _)| path.symlink_metadata().is_ok()));
}

#[test]
fn job_large_digest_uses_all_threads() {
    let temp = TempDir::new();
    let content = vec![b'x'; 9 << 20];
    std::fs::write(temp.join("large"), &content).unwrap();
    std::fs::write(temp.join("small"), "x").unwrap();
    let expected =
        [blake3::hash(&content), blake3::hash(b"x")].map(|hash| hash.to_hex().to_string());
    for threads in [1, 2, 4] {
        let outcomes = run(
            &job(OutputTarget::Discard, threads, Durability::None),
            "blake3",
            &inputs(temp.path()),
        );
        let passed = outcomes.iter().map(|(_, done)| done.pass.as_ref().unwrap());
        let digests: Vec<_> =
            passed.clone().map(|passed| passed.findings[0].value.clone()).collect();
        assert_eq!(digests, expected);
        assert_eq!(
            statuses(&outcomes)
                .iter()
                .filter(|(_, status)| *status == Some(FileStatus::Inspected))
                .count(),
            2
        );
        let reasons: Vec<_> =
            passed.map(|passed| passed.reason == "idle threads share the digest").collect();
        assert_eq!(reasons, [threads > 1, false]);
    }
}

#[test]
fn job_large_zstd_same_on_every_number_of_threads() {
    let temp = TempDir::new();
    let content: Vec<_> = (0_u32..9 << 20).flat_map(u32::to_le_bytes).collect();
    std::fs::write(temp.join("large"), &content).unwrap();
    let inputs = inputs(temp.path());
    let results = [1, 2, 8].map(|threads| {
        let output = temp.join(format!("out{threads}"));
        let target = OutputTarget::File(output.clone());
        let job = job(target, threads, Durability::None);
        let outcomes = run(&job, "zstd=1", &inputs);
        assert_eq!(statuses(&outcomes)[0].1, Some(FileStatus::Written));
        let result = std::fs::read(&output).unwrap();
        std::fs::rename(&output, temp.join("packed")).unwrap();
        let packed = [Input::new(temp.join("packed"))];
        run(
            &self::job(OutputTarget::File(output.clone()), threads, Durability::None),
            "unzstd",
            &packed,
        );
        assert!(std::fs::read(&output).unwrap() == content);
        result
    });
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
#[cfg(unix)]
fn symlinks_followed_only_as_roots() {
    let temp = TempDir::new();
    std::fs::write(temp.join("file"), "text").unwrap();
    std::os::unix::fs::symlink("file", temp.join("link")).unwrap();
    assert_eq!(inputs(temp.path()).len(), 1);
    let named = inputs(&temp.join("link"));
    assert_eq!(named[0].relative_path(), Path::new("link"));
    run(&job(OutputTarget::InPlace, 1, Durability::None), "case=upper", &named);
    assert_eq!(std::fs::read(temp.join("file")).unwrap(), b"TEXT");
    assert!(temp.join("link").is_symlink());
}

/// On Windows, listings do not report inode numbers unless requested, so each name is processed
/// separately.
#[test]
#[cfg(target_os = "linux")]
fn hard_links_processed_once_and_stay_linked() {
    for threads in [1, 3] {
        for durability in [Durability::None, Durability::File, Durability::Batch] {
            let temp = TempDir::new();
            let root = temp.join("tree");
            std::fs::create_dir_all(root.join("b")).unwrap();
            std::fs::write(root.join("a"), "a").unwrap();
            std::fs::write(root.join("alone"), "a").unwrap();
            for name in ["b/again", "c"] {
                std::fs::hard_link(root.join("a"), root.join(name)).unwrap();
            }
            // Processed twice, it would have four.
            let job = job(OutputTarget::InPlace, threads, durability);
            let inputs = inputs(&root);
            let expected = |status| {
                [
                    ("a".to_owned(), Some(status)),
                    ("alone".to_owned(), Some(status)),
                    ("b/again".to_owned(), Some(FileStatus::SameFile(0))),
                    ("c".to_owned(), Some(FileStatus::SameFile(0))),
                ]
            };
            let mut to_nowhere = job.clone();
            to_nowhere.output = OutputTarget::Discard;
            let outcomes = run(&to_nowhere, "replace=a/aa", &inputs);
            assert_eq!(statuses(&outcomes), expected(FileStatus::WouldChange));
            let outcomes = run(&job, "replace=a/aa", &inputs);
            assert_eq!(statuses(&outcomes), expected(FileStatus::Changed));
            let id = |name| Source::open(root.join(name)).unwrap().attributes().file_id().unwrap();
            for name in ["b/again", "c"] {
                assert_eq!(std::fs::read(root.join(name)).unwrap(), b"aa");
                assert_eq!(id(name), id("a"));
            }
            assert_eq!(names(&root), ["a", "alone", "b", "c"]);
            assert_eq!(names(&root.join("b")), ["again"]);

            // A name outside the tree would keep the old content.
            std::fs::hard_link(root.join("a"), temp.join("elsewhere")).unwrap();
            let outcomes = run(&job, "replace=a/aa", &inputs);
            assert!(
                outcomes[0].1.status.as_ref().unwrap_err().to_string().contains("it has 4 names")
            );
            assert_eq!(
                statuses(&outcomes)[2],
                ("b/again".to_owned(), Some(FileStatus::SameFile(0)))
            );
            assert_eq!(std::fs::read(root.join("c")).unwrap(), b"aa");
            let replace = job.replace.break_links(true);
            run(&job.replace(replace), "replace=a/aa", &inputs);
            assert_eq!(std::fs::read(root.join("c")).unwrap(), b"aaaa");
            assert_eq!(id("c"), id("a"));
            assert_eq!(std::fs::read(temp.join("elsewhere")).unwrap(), b"aa");
        }
    }
}

#[test]
fn job_input_given_twice_processed_once() {
    let temp = TempDir::new();
    let file = temp.join("file");
    std::fs::write(&file, "a").unwrap();
    let roots = [file.clone(), temp.join(".").join("file")];
    let inputs = find_inputs(ScanOptions::new(roots), false).unwrap().files;
    run(&job(OutputTarget::InPlace, 2, Durability::None), "replace=a/aa", &inputs);
    assert_eq!(std::fs::read(&file).unwrap(), b"aa");
    assert_eq!(names(temp.path()), ["file"]);
}

/// Runs a job that is cancelled after its first report, again and again until it completes.
fn with_stops(job: &Job, journal: &Path, line: &str, inputs: &[Input]) -> usize {
    let chain: Chain = line.parse().unwrap();
    for runs in 1.. {
        let cancel = Cancel::new();
        let mut job = job.clone();
        job.passes.cancel = cancel.clone();
        job.journal = Some(Arc::new(self::journal(journal, &chain).unwrap()));
        let mut done = 0;
        job.run(&chain, inputs, &mut |_, one| {
            done += usize::from(one.status.is_ok());
            if one.status.is_ok_and(|status| status != FileStatus::Skipped(Skip::AlreadyDone)) {
                cancel.cancel();
            }
        });
        // Every run completes at least one file.
        assert!(runs <= inputs.len() + 1, "never done");
        if done == inputs.len() {
            return runs;
        }
    }
    unreachable!()
}

#[test]
fn journal_recorded_inputs_skipped() {
    // Each run completes at least one file and checks all; Wine needs minutes for as many as Linux.
    let files = if cfg!(windows) { 60 } else { 300 };
    for durability in [Durability::None, Durability::Batch] {
        for threads in [1, 3] {
            let temp = TempDir::new();
            let root = temp.join("tree");
            std::fs::create_dir(&root).unwrap();
            for number in 0..files {
                // A name that must be escaped, where such names exist.
                let end = if cfg!(windows) { "" } else { "\n" };
                std::fs::write(root.join(format!("{number:03}{end}")), "a").unwrap();
            }
            let inputs = inputs(&root);
            let journal = temp.join("journal");
            // Processed twice, it would have four.
            with_stops(
                &job(OutputTarget::InPlace, threads, durability),
                &journal,
                "replace=a/aa",
                &inputs,
            );
            for input in &inputs {
                assert_eq!(std::fs::read(&input.path).unwrap(), b"aa");
            }
            let elsewhere = job(OutputTarget::Directory(temp.join("out")), threads, durability);
            std::fs::remove_file(&journal).unwrap();
            with_stops(&elsewhere, &journal, "case=upper", &inputs);
            assert_eq!(names(&temp.join("out")).len(), files);
        }
    }
}

/// Opens a journal, retrying while it is locked: another test may be starting a process, which
/// inherits all open files with their locks until it executes its program.
fn journal(path: &Path, chain: &Chain) -> Result<JobJournal, String> {
    loop {
        match JobJournal::open(path, chain).map_err(|error| error.to_string()) {
            Err(error) if error.ends_with("another run is using it") => std::thread::yield_now(),
            opened => return opened,
        }
    }
}

#[test]
fn journal_of_other_steps_rejected_and_torn_line_ignored() {
    let temp = TempDir::new();
    let (file, path) = (temp.join("file"), temp.join("journal"));
    std::fs::write(&file, "a").unwrap();
    let inputs = inputs(&file);
    let mut job = job(OutputTarget::InPlace, 1, Durability::File);
    let chain: Chain = "replace=a/aa".parse().unwrap();
    job.journal = Some(Arc::new(journal(&path, &chain).unwrap()));
    run(&job, "replace=a/aa", &inputs);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# transect journal: replace=a/aa\n"), "{text}");
    assert_eq!(text.lines().count(), 2);

    job.journal = None;
    let other = journal(&path, &"trim".parse().unwrap()).unwrap_err();
    assert!(other.ends_with("it is a journal of 'replace=a/aa', not of 'trim'"), "{other}");
    // Truncated within its line: the file counts as not processed.
    std::fs::write(&path, &text[..text.len() - 1]).unwrap();
    job.journal = Some(Arc::new(journal(&path, &chain).unwrap()));
    let outcomes = run(&job, "replace=a/aa", &inputs);
    assert_eq!(outcomes[0].1.status.as_ref().unwrap(), &FileStatus::Changed);
    assert_eq!(std::fs::read(&file).unwrap(), b"aaaa");
    job.journal = None;
    std::fs::write(&path, "something else\n").unwrap();
    assert!(journal(&path, &chain).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"something else\n");
}
