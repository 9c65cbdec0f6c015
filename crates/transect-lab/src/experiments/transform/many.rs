//! Many small files: where making a file costs more than what is in it.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use transect_transform::chain::Chain;
use transect_transform::pass::{PassOptions, PassRunner};
use transect_transform::publish::{Batch, Durability, Existing, ReplaceOptions};
use transect_transform::{transform, transform_into};

use super::input::digest;
use super::spec::{Digests, Kind, Phase, SyncRule};
use crate::harness::launch::nanoseconds;
use crate::harness::protocol::RunLine;
use crate::harness::work::Work;
use crate::spec::Cell;
use crate::stats::SplitMix64;

/// Lengths are between these, all alike often: a mean of 14 KiB.
const SHORTEST: usize = 1 << 10;
const LONGEST: usize = 27 << 10;

/// Where the lengths come from: the same in every session.
const SEED: u64 = 14;

/// How a file gets its new content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMethod {
    /// This program: written beside its place and put there, but only if it differs.
    Engine,
    /// This program, and all files are synced at once before the first is put in its place.
    EngineBatch,
    /// Written where it stands, from the first byte: what most programs do. Who is stopped leaves a
    /// part of it.
    NewFile,
    /// Written beside its place and put there, whether it differs or not.
    TempRename,
}

impl WriteMethod {
    /// All methods; the first is the base.
    pub const ALL: &'static [Self] =
        &[Self::Engine, Self::EngineBatch, Self::NewFile, Self::TempRename];

    /// Returns its name, as users type it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::EngineBatch => "engine-batch",
            Self::NewFile => "new-file",
            Self::TempRename => "temp-rename",
        }
    }

    /// Returns the method of a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|method| method.as_str() == name)
    }

    /// Returns whether it does what a session asks for: a batch is there to be synced.
    fn fits(self, sync: SyncRule) -> bool {
        self != Self::EngineBatch || sync == SyncRule::Inside
    }
}

/// Returns the cells of a session of many files: those that do what is asked for, and the base twice.
pub fn cells(sync: SyncRule) -> Vec<Cell> {
    let cell = |method: &WriteMethod| Cell {
        name: method.as_str().to_owned(),
        method: method.as_str().to_owned(),
        contract: Vec::new(),
        language: "Rust".to_owned(),
        kind: "engine".to_owned(),
        parallel: false,
        floors: None,
        command: None,
        tasks: None,
    };
    let methods = WriteMethod::ALL.iter().filter(|method| method.fits(sync));
    methods.map(cell).chain([cell(&WriteMethod::ALL[0]).second_base()]).collect()
}

/// Returns the content of the files, one after the other, before they are changed.
fn contents(files: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut random = SplitMix64::new(SEED);
    let mut next = move || SHORTEST + random.below(LONGEST - SHORTEST + 1);
    (0..files).map(move |_| super::input::PATTERN.cycle().take(next()).collect())
}

/// Returns the work that so many files are.
pub fn work(files: usize) -> Work {
    let bytes = contents(files).map(|content| content.len() as u64).sum();
    Work { files: files as u64, directories: 0, bytes, errors: 0 }
}

/// Returns the digests of the inputs, and of all files after a phase.
pub fn digests(files: usize, phase: Phase) -> Digests {
    let upper = contents(files).map(|content| content.to_ascii_uppercase());
    let output = if phase == Phase::Remove { digest(std::iter::empty()) } else { digest(upper) };
    Digests { input: digest(contents(files)), output }
}

/// Returns where the files of a folder are.
pub(super) fn paths(folder: &Path, files: u64) -> Vec<PathBuf> {
    (0..files).map(|number| folder.join(format!("{number:06}.txt"))).collect()
}

/// Makes the inputs of a session.
///
/// # Errors
/// Whatever the system says.
pub fn create_many(folder: &Path, files: usize) -> io::Result<()> {
    std::fs::create_dir(folder)?;
    write_all(folder, contents(files))?;
    // They are read in every run: what is dirty would be written while something else is measured.
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(File::open(folder)?)?;
    Ok(())
}

/// Makes what a phase finds. It is not synced: that takes seconds where others write, too.
pub(super) fn prepare(folder: &Path, files: usize, phase: Phase) -> io::Result<()> {
    match phase.before() {
        None => Ok(()),
        Some(true) => write_all(folder, contents(files)),
        Some(false) => {
            write_all(folder, contents(files).map(|content| content.to_ascii_uppercase()))
        }
    }
}

fn write_all(folder: &Path, contents: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
    for (number, content) in contents.enumerate() {
        std::fs::write(folder.join(format!("{number:06}.txt")), content)?;
    }
    Ok(())
}

/// Returns the digest of the files of a folder, in their order; nothing else may be there.
///
/// # Errors
/// What cannot be read, or is too much.
#[expect(clippy::disallowed_methods, reason = "one folder of our own, not a tree to be measured")]
pub(super) fn digest_of_all(folder: &Path) -> io::Result<String> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    let contents: io::Result<Vec<Vec<u8>>> = paths.iter().map(std::fs::read).collect();
    Ok(digest(contents?.into_iter()))
}

/// Does a phase to all files, one after the other.
///
/// # Errors
/// Whatever the system says: one line.
pub fn run_many(
    method: WriteMethod,
    phase: Phase,
    sync: SyncRule,
    files: u64,
    inputs: &Path,
    outputs: &Path,
) -> Result<RunLine, String> {
    let from = if phase == Phase::Create { inputs } else { outputs };
    let (from, to) = (paths(from, files), paths(outputs, files));
    let mut tools = Tools::new(method, sync);
    let start = Instant::now();
    let mut bytes = 0;
    for (from, to) in from.iter().zip(&to) {
        bytes += match phase {
            Phase::Read => tools.read(from)?,
            Phase::Remove => remove(to).map_err(|error| transect::reason(&error))?,
            _ => tools.change(from, to)?,
        };
    }
    tools.finish()?;
    let elapsed: Duration = start.elapsed();
    let work = Work { files, directories: 0, bytes, errors: 0 };
    Ok(RunLine::new(work, nanoseconds(elapsed)))
}

fn remove(path: &Path) -> io::Result<u64> {
    let length = File::open(path)?.metadata()?.len();
    std::fs::remove_file(path)?;
    Ok(length)
}

/// What a method works with.
struct Tools {
    method: WriteMethod,
    sync: SyncRule,
    passes: PassRunner,
    chain: Chain,
    batch: Batch,
}

impl Tools {
    fn new(method: WriteMethod, sync: SyncRule) -> Self {
        let chain = Kind::Case.step().expect("BUG: only a copy has no step");
        let passes = PassRunner::new(PassOptions::default());
        Self { method, sync, passes, chain, batch: Batch::new() }
    }

    fn read(&mut self, path: &Path) -> Result<u64, String> {
        match self.method {
            WriteMethod::Engine | WriteMethod::EngineBatch => {
                let read = transform(path, None, None, &mut self.passes, ReplaceOptions::default());
                read.map(|report| report.pass.bytes_in).map_err(|error| error.to_string())
            }
            WriteMethod::NewFile | WriteMethod::TempRename => {
                let content = std::fs::read(path).map_err(|error| transect::reason(&error))?;
                Ok(std::hint::black_box(content).len() as u64)
            }
        }
    }

    /// Changes a file, which may be the input itself.
    fn change(&mut self, from: &Path, to: &Path) -> Result<u64, String> {
        let existing = if from == to { Existing::InPlace } else { Existing::Keep };
        let durability =
            if self.sync == SyncRule::Inside { Durability::File } else { Durability::None };
        let options = ReplaceOptions { existing, durability, ..ReplaceOptions::default() };
        transect_transform::step::Step::reset(&mut self.chain);
        let Self { passes, chain, batch, .. } = self;
        let passed = match self.method {
            WriteMethod::Engine => {
                transform(from, Some(to), Some(chain), passes, options).map(|it| it.pass)
            }
            WriteMethod::EngineBatch => {
                transform_into(batch, from, to, Some(chain), passes, options)
            }
            WriteMethod::NewFile | WriteMethod::TempRename => {
                return self.plainly(from, to).map_err(|error| transect::reason(&error));
            }
        };
        passed.map(|passed| passed.bytes_in).map_err(|error| error.to_string())
    }

    /// As a program does it that knows the standard library only.
    fn plainly(&self, from: &Path, to: &Path) -> io::Result<u64> {
        let content = std::fs::read(from)?;
        let temporary = to.with_extension("new");
        let beside = self.method == WriteMethod::TempRename;
        let mut file = File::create(if beside { &temporary } else { to })?;
        file.write_all(&content.to_ascii_uppercase())?;
        if self.sync == SyncRule::Inside {
            file.sync_all()?;
        }
        drop(file);
        if beside {
            std::fs::rename(&temporary, to)?;
        }
        #[cfg(unix)]
        if self.sync == SyncRule::Inside {
            File::open(to.parent().unwrap_or(to))?.sync_all()?;
        }
        Ok(content.len() as u64)
    }

    fn finish(self) -> Result<(), String> {
        for outcome in self.batch.publish() {
            outcome.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    #[test]
    fn every_way_does_every_phase_and_nothing_is_left_beside_it() {
        for (&method, sync) in
            WriteMethod::ALL.iter().zip([SyncRule::None, SyncRule::Inside].iter().cycle())
        {
            let temp = TempDir::new();
            create_many(&temp.join("in"), 7).unwrap();
            for &phase in Phase::ALL {
                let out = temp.join(phase.as_str());
                std::fs::create_dir(&out).unwrap();
                prepare(&out, 7, phase).unwrap();
                let line = run_many(method, phase, *sync, 7, &temp.join("in"), &out).unwrap();
                let context = format!("{method:?} {phase:?}");
                assert_eq!(line.work, work(7), "{context}");
                let found = digest_of_all(&out).unwrap();
                assert_eq!(found, digests(7, phase).output, "{context}");
            }
            assert_eq!(
                digest_of_all(&temp.join("in")).unwrap(),
                digests(7, Phase::Create).input,
                "inputs stay what they are"
            );
        }
    }

    #[test]
    fn a_thousand_files_have_the_mean_that_they_are_said_to_have() {
        let mean = work(1000).bytes / 1000;
        assert!((13 << 10..15 << 10).contains(&mean), "{mean}");
    }

    #[test]
    fn a_batch_is_there_where_files_are_synced() {
        let names = |sync| cells(sync).into_iter().map(|cell| cell.name).collect::<Vec<_>>();
        let unsynced = ["engine", "new-file", "temp-rename", "engine (again)"];
        assert_eq!(names(SyncRule::None), unsynced);
        assert!(names(SyncRule::Inside).contains(&"engine-batch".to_owned()));
    }
}
