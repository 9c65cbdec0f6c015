//! The trees that are asked about, and the questions: the same on every machine.
//!
//! Files are as long as their number says and have holes for content, so that 400,000 of them take no
//! room; their last write times are set, so that sums of them are the same after a stop.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::questions::Questions;
use super::spec::{Scale, Task};
use crate::stats::SplitMix64;

/// Where the draws of all questions begin.
const SEED: u64 = 20_240_601;

/// Files in a directory of a tree, and directories in the one above.
const FILES: usize = 50;
const DIRECTORIES: usize = 40;

/// One of so many questions is about a file that is not there, as outputs are that were not made yet.
const MISSING: usize = 100;

/// One of so many includes is nowhere.
const NOWHERE: usize = 20;

/// Files of a huge directory that are asked about.
const FEW: usize = 2000;

/// The last write time of the first file, in seconds since 1970: the seconds of the others follow.
const FIRST: u64 = 1_600_000_000;

/// Makes the tree of a task in a new folder, and returns what is asked about it, and how many files were
/// made.
pub(super) fn make(task: Task, scale: &Scale, folder: &Path) -> io::Result<(Questions, u64)> {
    std::fs::create_dir_all(folder)?;
    let files = match task {
        Task::Article => in_one(folder, scale.files)?,
        Task::OneCold => in_one(folder, scale.files)?,
        Task::Includes => return includes(folder, scale),
        Task::Uptodate | Task::ThreadsHits | Task::ThreadsMisses => in_a_tree(folder, scale.files)?,
        Task::CompileDatabase => Vec::new(),
    };
    let made = files.len() as u64;
    let mut random = SplitMix64::new(SEED);
    let paths = match task {
        Task::OneCold => {
            let step = (files.len() / FEW).max(1);
            files.into_iter().step_by(step).collect()
        }
        Task::Uptodate => with_missing(files, &mut random),
        _ => {
            let mut files = files;
            random.shuffle(&mut files);
            files
        }
    };
    Ok((Questions { paths, dirs: Vec::new() }, made))
}

/// Mixes in paths at which there is nothing, and puts all in no order.
fn with_missing(files: Vec<PathBuf>, random: &mut SplitMix64) -> Vec<PathBuf> {
    let missing = files.iter().skip(MISSING / 2).step_by(MISSING);
    let missing: Vec<PathBuf> = missing.map(|file| file.with_extension("o")).collect();
    let mut paths = files;
    paths.extend(missing);
    random.shuffle(&mut paths);
    paths
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

/// Makes directories of headers, and includes of them: some headers are included often and most seldom,
/// all directories are alike, and one include of [`NOWHERE`] is in none of them.
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
    // Which are the popular ones says nothing of where they are.
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

/// Makes a file as long and as old as its number says.
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
    fn the_same_is_asked_everywhere_and_answered_alike() {
        let temp = TempDir::new();
        for &task in Task::ALL.iter().filter(|task| !task.needs_a_source()) {
            let make = |name: &str| {
                let folder = temp.join(format!("{}-{name}", task.as_str()));
                let (questions, made) = make(task, &scale(300), &folder).unwrap();
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
    fn a_check_is_about_all_files_in_no_order_and_some_that_are_not_there() {
        let temp = TempDir::new();
        let (questions, made) = make(Task::Uptodate, &scale(300), temp.path()).unwrap();
        let expected = expect(&questions);
        assert_eq!((made, expected.work.files, expected.work.errors), (300, 300, 3));
        let unique: BTreeSet<&PathBuf> = questions.paths.iter().collect();
        assert_eq!(unique.len(), 303);
        assert!(!questions.paths.is_sorted());
    }

    #[test]
    fn most_probes_are_in_vain_and_some_includes_are_nowhere() {
        let temp = TempDir::new();
        let (questions, _) = make(Task::Includes, &scale(400), temp.path()).unwrap();
        let expected = expect(&questions);
        assert_eq!((expected.work.files, expected.work.errors), (380, 20));
        assert!(expected.probes > 3 * 400 && expected.probes < 7 * 400, "{}", expected.probes);
        let unique: BTreeSet<&PathBuf> = questions.paths.iter().collect();
        assert!(unique.len() < 36 + 5, "headers are included more than once");
    }

    #[test]
    fn few_of_a_huge_directory_are_asked_about() {
        let temp = TempDir::new();
        let (questions, made) = make(Task::OneCold, &scale(10_000), temp.path()).unwrap();
        assert_eq!((questions.paths.len(), made), (2000, 10_000));
    }
}
