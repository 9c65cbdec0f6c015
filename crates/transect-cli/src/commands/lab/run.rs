//! `transect lab run`: a session.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use globset::Glob;
use transect::{Cancel, Order, ReaderName};
use transect_lab::accesses;
use transect_lab::environment::Environment;
use transect_lab::method::{Kind, Method};
use transect_lab::session::{self, Header, Launcher, Outcome, Sample, Session};
use transect_lab::state::State;
use transect_lab::work::Work;

use super::report;
use crate::args::{LabRunArgs, LabState, Preset};
use crate::exit::{End, Fatal};
use crate::interrupt::cancel_on_signal;
use crate::output::{self, units};
use crate::progress::StatusLine;

/// The contender's methods that make the calls and nothing else, on one thread and on several.
const FLOORS: [&str; 2] = ["floor", "floor-threads"];

pub(crate) fn run(args: &LabRunArgs) -> Result<End, Fatal> {
    let cancel = cancel_on_signal()?;
    let (mut methods, wrong) = Method::all(args.all.contenders.as_deref(), args.all.test_doubles);
    wrong.iter().for_each(output::complain);
    let mut session = match &args.resume {
        Some(file) => Session::resume(file).map_err(|error| Fatal::Lab(error.to_string()))?,
        None => begin(args, &methods)?,
    };
    let wanted: BTreeSet<&str> =
        session.recorded.header.cells.iter().map(|cell| cell.method.as_str()).collect();
    methods.retain(|method| wanted.contains(method.name.as_str()));
    let launcher = launcher(&methods)?;

    let began = Instant::now();
    let mut done = 0_u32;
    let mut status = StatusLine::on_a_terminal();
    let told = session.run(&methods, &launcher, &cancel, &mut |sample, left| {
        done += 1;
        tell(sample);
        if let Some(status) = &mut status {
            let time = began.elapsed() / done * u32::try_from(left).unwrap_or(u32::MAX);
            let time = units::duration(time);
            status.show(format!("{left} runs left, about {time}; last: {}", sample.cell));
        }
    });
    drop(status);
    told.map_err(|error| Fatal::Lab(error.to_string()))?;
    if args.accesses {
        count(&mut session, &methods, &launcher, &cancel)?;
    }
    report::show(&session.recorded, false)?;
    Ok(if cancel.is_cancelled() { End::Interrupted } else { End::Complete })
}

/// Counts the system calls of every method, each in a run of its own.
fn count(
    session: &mut Session,
    methods: &[Method],
    launcher: &Launcher,
    cancel: &Cancel,
) -> Result<(), Fatal> {
    if let Some(why_not) = accesses::why_not() {
        output::complain(&format!("cannot count accesses: {why_not}"));
        return Ok(());
    }
    let counted = session.count(methods, launcher, cancel, &mut |cell, counted| {
        if let Err(reason) = counted {
            output::complain(&format!("{cell}: cannot count its accesses: {reason}"));
        }
    });
    counted.map_err(|error| Fatal::Lab(error.to_string()))
}

/// Chooses what is measured, and writes it down.
fn begin(args: &LabRunArgs, methods: &[Method]) -> Result<Session, Fatal> {
    let path = args.path.as_deref().unwrap_or(Path::new("."));
    let root = path.canonicalize().map_err(|error| {
        Fatal::Lab(format!("cannot access '{}': {}", path.display(), transect::reason(&error)))
    })?;
    if !root.is_dir() {
        return Err(Fatal::Lab(format!("'{}' is no directory", path.display())));
    }
    let state = match args.state {
        LabState::Warm => State::Warm,
        LabState::Cold => State::Cold,
        LabState::AsIs => State::AsIs,
    };
    if let Some(why_not) = state.why_not() {
        return Err(Fatal::Lab(format!("cannot measure with cold caches: {why_not}")));
    }
    let base = name_of(ReaderName::best(), Order::default());
    let chosen = choose(args, methods, &base)?;
    let (cells, again) = session::cells(&chosen, &base);
    let (rounds, runs) = match args.preset {
        // With fewer rounds than that nothing can be decided among forty cells.
        Preset::Quick => (12, 1),
        Preset::Full => (20, 1),
        Preset::ArticleS1 => (1, 11),
        Preset::ArticleS4 => (10, 1),
    };
    let expected = Work::expected(&root);
    if expected.errors > 0 {
        output::hint(&format!(
            "{} entries of '{}' cannot be read: methods may count that in their own way",
            expected.errors,
            path.display()
        ));
    }
    let floor = |name: &str| cells.iter().any(|cell| cell.name == name).then(|| name.to_owned());
    let header = Header {
        schema: session::SCHEMA.to_owned(),
        environment: Environment::capture(&root, std::env::args().collect()),
        root,
        expected,
        state,
        rounds: args.rounds.map_or(rounds, usize::from),
        runs,
        seed: args.seed.unwrap_or_else(seed),
        limit: args.limit,
        floor: floor(FLOORS[0]),
        parallel_floor: floor(FLOORS[1]),
        cells,
        base,
        again,
    };
    let file = args.output.clone().unwrap_or_else(|| file_of(header.environment.began));
    output::hint(&format!("samples go to '{}'; --resume goes on with it", file.display()));
    Session::begin(header, &file).map_err(|error| Fatal::Lab(error.to_string()))
}

fn name_of(reader: ReaderName, order: Order) -> String {
    format!("{}/{}", reader.as_str(), order.as_str())
}

/// Returns the methods of a session: those that can run here, and that preset and globs name.
fn choose<'m>(
    args: &LabRunArgs,
    methods: &'m [Method],
    base: &str,
) -> Result<Vec<&'m Method>, Fatal> {
    let mut globs = Vec::new();
    for text in &args.methods {
        let glob = Glob::new(text).map_err(|error| Fatal::Lab(error.to_string()))?;
        let glob = glob.compile_matcher();
        if !methods.iter().any(|method| glob.is_match(&method.name)) {
            let known = "transect lab list shows those there are";
            return Err(Fatal::Lab(format!("no method is called '{text}': {known}")));
        }
        globs.push(glob);
    }
    let chosen = methods.iter().filter(|method| method.why_not.is_none()).filter(|method| {
        let named = match globs.is_empty() {
            true => is_in(args.preset, method),
            false => globs.iter().any(|glob| glob.is_match(&method.name)),
        };
        named || method.name == base || FLOORS.contains(&method.name.as_str())
    });
    Ok(chosen.collect())
}

/// Returns whether a preset holds a method.
fn is_in(preset: Preset, method: &Method) -> bool {
    let Kind::Engine(_, order) = &method.kind else { return true };
    match preset {
        Preset::Quick => {
            matches!(order, Order::WorkStealing | Order::Recursive | Order::SharedQueue)
        }
        Preset::Full | Preset::ArticleS4 => true,
        Preset::ArticleS1 => {
            matches!(order, Order::Recursive | Order::Queue | Order::Stack | Order::StackPresized)
        }
    }
}

/// Builds the contenders that are needed; one that cannot be built is a row that says so.
fn launcher(methods: &[Method]) -> Result<Launcher, Fatal> {
    let program = std::env::current_exe()?;
    let cache = cache();
    let mut built = BTreeMap::new();
    let mut failed = BTreeSet::new();
    for method in methods {
        let Kind::Contender(contender) = &method.kind else { continue };
        let name = &contender.name;
        if built.contains_key(name) || failed.contains(name) {
            continue;
        }
        match contender.build(&cache) {
            Ok(out) => {
                built.insert(name.clone(), out);
            }
            Err(reason) => {
                output::complain(&format!("cannot build contender '{name}': {reason}"));
                failed.insert(name.clone());
            }
        }
    }
    Ok(Launcher { program, built })
}

/// Where contenders are built, once for every version of their sources.
fn cache() -> PathBuf {
    let home = || std::env::home_dir().unwrap_or_else(std::env::temp_dir).join(".cache");
    let caches = std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from);
    caches.join("transect").join("contenders")
}

fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64
}

fn file_of(began: u64) -> PathBuf {
    PathBuf::from(format!("lab-{began}.jsonl"))
}

/// Says what went wrong in a sample.
fn tell(sample: &Sample) {
    let wrong = match &sample.outcome {
        Outcome::Right { .. } => None,
        Outcome::Wrong { found } => Some(format!("found something else: {found}")),
        Outcome::Void { read_kib } => {
            Some(format!("could not prove its state: read {read_kib} KiB"))
        }
        Outcome::Failed(failure) => Some(failure.to_string()),
    };
    if let Some(wrong) = wrong {
        output::complain(&format!("{}: {wrong}", sample.cell));
    }
}
