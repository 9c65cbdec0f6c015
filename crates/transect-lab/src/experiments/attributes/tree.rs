//! Trees and questions that are the same on every machine.
//!
//! The number of a file determines its length and its last write time, so that a resumed session has the
//! same sums. Files are sparse: 400,000 of them need no data blocks.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::questions::Questions;
use crate::spec::attributes::{Scale, Task};
use transect_stats::SplitMix64;

const SEED: u64 = 20_240_601;

/// Number of files in a directory, and of directories in its parent.
const FILES: usize = 50;
const DIRECTORIES: usize = 40;

/// One in this number of questions is about a missing file, such as an output that is not built yet.
const MISSING: usize = 100;

/// One in this number of includes is in no directory.
const NOWHERE: usize = 20;

/// Number of files queried in a huge directory.
const FEW: usize = 2000;

/// The last write time of the first file, in seconds since 1970; each further file is a second later.
const FIRST: u64 = 1_600_000_000;

/// Creates the tree of a task in a new directory; returns the questions, and the number of files created.
pub(super) fn make(task: Task, scale: &Scale, folder: &Path) -> io::Result<(Questions, u64)> {
    std::fs::create_dir_all(folder)?;
    let mut paths = match task {
        Task::Article | Task::OneCold => in_one(folder, scale.files)?,
        Task::Includes => return includes(folder, scale),
        Task::Uptodate | Task::ThreadsHits | Task::ThreadsMisses => in_a_tree(folder, scale.files)?,
        Task::Build => Vec::new(),
    };
    let made = paths.len() as u64;
    if task == Task::OneCold {
        let step = (paths.len() / FEW).max(1);
        paths = paths.into_iter().step_by(step).collect();
    } else {
        if task == Task::Uptodate {
            let missing = paths.iter().skip(MISSING / 2).step_by(MISSING);
            let missing: Vec<PathBuf> = missing.map(|file| file.with_extension("o")).collect();
            paths.extend(missing);
        }
        SplitMix64::new(SEED).shuffle(&mut paths);
    }
    Ok((Questions { paths, dirs: Vec::new() }, made))
}

fn in_one(folder: &Path, files: usize) -> io::Result<Vec<PathBuf>> {
    (0..files).map(|number| create(folder.join(format!("file-{number:06}.txt")), number)).collect()
}

fn in_a_tree(folder: &Path, files: usize) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::with_capacity(files);
    for number in 0..files {
        let directory = number / FILES;
        let (above, directory) = (directory / DIRECTORIES, directory % DIRECTORIES);
        let directory = folder.join(format!("part-{above:03}/directory-{directory:02}"));
        if number % FILES == 0 {
            std::fs::create_dir_all(&directory)?;
        }
        paths.push(create(directory.join(format!("source_{:02}.c", number % FILES)), number)?);
    }
    Ok(paths)
}

/// Creates directories of headers, and includes: some headers are included often and most rarely, all
/// directories are equally popular, and one include in [`NOWHERE`] is in no directory.
fn includes(folder: &Path, scale: &Scale) -> io::Result<(Questions, u64)> {
    let mut questions = Questions::default();
    let mut headers = Vec::new();
    for dir in 0..scale.search_dirs {
        let directory = folder.join(format!("include-{dir:03}"));
        std::fs::create_dir(&directory)?;
        for number in 0..scale.headers {
            let name = format!("header_{dir:03}_{number:03}.h");
            create(directory.join(&name), headers.len())?;
            headers.push(PathBuf::from(name));
        }
        questions.dirs.push(directory);
    }
    let mut random = SplitMix64::new(SEED);
    // The popularity of a header must not depend on its directory.
    random.shuffle(&mut headers);
    for number in 0..scale.files {
        let name = if number % NOWHERE == NOWHERE / 2 {
            PathBuf::from(format!("nowhere_{}.h", random.below(scale.headers)))
        } else {
            let drawn = random.unit() * random.unit() * headers.len() as f64;
            headers[(drawn as usize).min(headers.len() - 1)].clone()
        };
        questions.paths.push(name);
    }
    Ok((questions, headers.len() as u64))
}

/// Creates a file with the length and the last write time of its number.
fn create(path: PathBuf, number: usize) -> io::Result<PathBuf> {
    let file = File::create_new(&path)?;
    file.set_len(number as u64 % 5000)?;
    file.set_modified(UNIX_EPOCH + Duration::from_secs(FIRST + number as u64))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::expected::expect;
    use super::*;
    use transect_testkit::TempDir;

    fn scale(files: usize) -> Scale {
        Scale { files, search_dirs: 7, headers: 5 }
    }

    #[test]
    fn trees_and_questions_are_reproducible() {
        let temp = TempDir::new();
        for &task in Task::ALL.iter().filter(|task| !task.needs_a_source()) {
            let make = |name: &str| {
                let folder = temp.join(format!("{}-{name}", task.as_str()));
                let (questions, made) = make(task, &scale(60), &folder).unwrap();
                assert_eq!(expect(&questions).work.bytes > 0, made > 0, "{task:?}");
                let relative = |path: &PathBuf| path.strip_prefix(&folder).map(Path::to_owned);
                let paths: Vec<PathBuf> =
                    questions.paths.iter().map(|it| relative(it).unwrap_or(it.clone())).collect();
                (paths, expect(&questions))
            };
            assert_eq!(make("one"), make("other"), "{task:?}");
        }
    }

    #[test]
    fn uptodate_queries_all_files_shuffled_and_some_missing() {
        let temp = TempDir::new();
        let (questions, made) = make(Task::Uptodate, &scale(300), temp.path()).unwrap();
        let expected = expect(&questions);
        assert_eq!((made, expected.work.files, expected.work.errors), (300, 300, 3));
        let unique: BTreeSet<&PathBuf> = questions.paths.iter().collect();
        assert_eq!(unique.len(), 303);
        assert!(!questions.paths.is_sorted());
    }

    #[test]
    fn most_include_probes_fail_and_some_includes_are_missing() {
        let temp = TempDir::new();
        let (questions, _) = make(Task::Includes, &scale(400), temp.path()).unwrap();
        let expected = expect(&questions);
        assert_eq!((expected.work.files, expected.work.errors), (380, 20));
        assert!(expected.probes > 3 * 400 && expected.probes < 7 * 400, "{}", expected.probes);
        let unique: BTreeSet<&PathBuf> = questions.paths.iter().collect();
        assert!(unique.len() < 36 + 5, "headers are included more than once");
    }

    #[test]
    fn one_cold_queries_few_files_of_huge_directory() {
        let temp = TempDir::new();
        let (questions, made) = make(Task::OneCold, &scale(4_000), temp.path()).unwrap();
        assert_eq!((questions.paths.len(), made), (2000, 4_000));
    }
}
