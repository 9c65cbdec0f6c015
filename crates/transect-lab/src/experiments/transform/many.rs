//! Transforms of many small files, where creating a file costs more than writing its content.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use transect_transform::chain::Chain;
use transect_transform::pass::{PassOptions, PassRunner};
use transect_transform::publish::{Batch, Durability, Existing, ReplaceOptions};
use transect_transform::{transform, transform_into};

use super::SyncRule;
use super::input::digest;
use crate::harness::protocol::RunLine;
use crate::harness::stopwatch::Stopwatch;
use crate::harness::work::Work;
use crate::spec::Cell;
use crate::spec::transform::{Digests, Kind, Phase};
use transect_stats::SplitMix64;

/// The range of file lengths, in bytes: uniformly distributed, with a mean of 14 KiB.
const SHORTEST: usize = 1 << 10;
const LONGEST: usize = 27 << 10;

/// The seed of the lengths, the same in every session.
const SEED: u64 = 14;

/// A method of giving a file new content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteMethod {
    /// The engine: writes a temporary file and renames it, but only if the content changes.
    Engine,
    /// The engine, which syncs all files together before the first rename.
    EngineBatch,
    /// Overwrites the file in place, as most programs do. An interruption leaves an incomplete file.
    NewFile,
    /// Writes a temporary file and renames it, whether or not the content changes.
    TempRename,
}

impl WriteMethod {
    /// All methods; the first is the base.
    pub const ALL: &'static [Self] =
        &[Self::Engine, Self::EngineBatch, Self::NewFile, Self::TempRename];

    /// Returns its name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::EngineBatch => "engine-batch",
            Self::NewFile => "new-file",
            Self::TempRename => "temp-rename",
        }
    }

    /// Finds a method by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|method| method.as_str() == name)
    }

    /// Returns whether it can follow a sync rule: a batch only makes sense with syncs.
    fn fits(self, sync: SyncRule) -> bool {
        self != Self::EngineBatch || sync == SyncRule::Inside
    }
}

/// Returns the cells of a session of many files: the methods that can follow the rule, the base twice.
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
        checked: None,
        code: None,
    };
    let methods = WriteMethod::ALL.iter().filter(|method| method.fits(sync));
    methods.map(cell).chain([cell(&WriteMethod::ALL[0]).second_base()]).collect()
}

/// Returns the original content of each file.
fn contents(files: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut random = SplitMix64::new(SEED);
    let mut next = move || SHORTEST + random.below(LONGEST - SHORTEST + 1);
    (0..files).map(move |_| super::input::PATTERN.cycle().take(next()).collect())
}

/// Returns the work of a number of files.
pub fn work(files: usize) -> Work {
    let bytes = contents(files).map(|content| content.len() as u64).sum();
    Work { files: files as u64, directories: 0, bytes, errors: 0 }
}

/// Returns the digests of all inputs, and of all files after a phase.
pub fn digests(files: usize, phase: Phase) -> Digests {
    let upper = contents(files).map(|content| content.to_ascii_uppercase());
    let output = if phase == Phase::Remove { digest(std::iter::empty()) } else { digest(upper) };
    Digests { input: digest(contents(files)), output }
}

/// Returns the paths of the files in a folder.
pub(super) fn paths(folder: &Path, files: u64) -> Vec<PathBuf> {
    (0..files).map(|number| folder.join(format!("{number:06}.txt"))).collect()
}

/// Creates the inputs of a session.
///
/// # Errors
/// A system call fails.
pub fn create_many(folder: &Path, files: usize) -> io::Result<()> {
    std::fs::create_dir(folder)?;
    write_all(folder, contents(files))?;
    // Dirty pages would be written during a measurement.
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(File::open(folder)?)?;
    Ok(())
}

/// Creates the files that a phase works on. They are not synced, which could take seconds while other
/// processes write.
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

/// Returns the digest of all files in a folder, sorted by name.
///
/// # Errors
/// An entry cannot be read as a file.
#[expect(clippy::disallowed_methods, reason = "one folder of our own, not a tree to be measured")]
pub(super) fn digest_of_all(folder: &Path) -> io::Result<String> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    let contents: io::Result<Vec<Vec<u8>>> = paths.iter().map(std::fs::read).collect();
    Ok(digest(contents?.into_iter()))
}

/// Runs a phase on each file in turn.
///
/// # Errors
/// The reason why a file failed, in one line.
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
    let watch = Stopwatch::start();
    let mut bytes = 0;
    for (from, to) in from.iter().zip(&to) {
        bytes += match phase {
            Phase::Read => tools.read(from)?,
            Phase::Remove => remove(to).map_err(|error| transect::reason(&error))?,
            _ => tools.change(from, to)?,
        };
    }
    tools.finish()?;
    let time = watch.stop();
    let work = Work { files, directories: 0, bytes, errors: 0 };
    Ok(RunLine::measured(work, time))
}

fn remove(path: &Path) -> io::Result<u64> {
    let length = File::open(path)?.metadata()?.len();
    std::fs::remove_file(path)?;
    Ok(length)
}

/// The state of a running method.
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

    /// Writes the transformed content of `from` to `to`, which may be the same file.
    fn change(&mut self, from: &Path, to: &Path) -> Result<u64, String> {
        let existing = if from == to { Existing::InPlace } else { Existing::Keep };
        let durability =
            if self.sync == SyncRule::Inside { Durability::File } else { Durability::None };
        let options = ReplaceOptions::default().existing(existing).durability(durability);
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

    /// Does the same with the standard library only.
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
    fn every_method_does_every_phase_and_leaves_no_other_files() {
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
                "inputs are unchanged"
            );
        }
    }

    #[test]
    fn thousand_files_have_documented_mean_length() {
        let mean = work(1000).bytes / 1000;
        assert!((13 << 10..15 << 10).contains(&mean), "{mean}");
    }

    #[test]
    fn batch_method_included_only_with_sync() {
        let names = |sync| cells(sync).into_iter().map(|cell| cell.name).collect::<Vec<_>>();
        let unsynced = ["engine", "new-file", "temp-rename", "engine (again)"];
        assert_eq!(names(SyncRule::None), unsynced);
        assert!(names(SyncRule::Inside).contains(&"engine-batch".to_owned()));
    }
}
