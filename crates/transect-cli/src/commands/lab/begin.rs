//! What a session measures: chosen and written down before it begins.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use globset::{Glob, GlobMatcher};
use transect::{Cancel, Order, ReaderKind};
use transect_lab::corpora;
use transect_lab::experiments::walk::measure::dataset;
use transect_lab::experiments::walk::method::{Kind, Method, cells};
use transect_lab::experiments::walk::variant::Variant;
use transect_lab::experiments::words::Words;
use transect_lab::harness::cache_state::State;
use transect_lab::harness::environment::Environment;
use transect_lab::harness::scheduler::Session;
use transect_lab::spec::{Cell, Dataset, SCHEMA, SessionSpec, Spec};
use transect_lab::stats::verdict::MIN_ROUNDS;

use crate::args::{LabRunArgs, LabSessionArgs};
use crate::exit::{End, Fatal};
use crate::output::quote;
use crate::output::units::counted;
use crate::{folders, output};

/// The contender's methods that make the calls and nothing else, on one thread and on several.
const FLOORS: [&str; 2] = ["floor", "floor-threads"];

/// Goes on with a session of some kind.
///
/// # Errors
/// Its file cannot be read, a tree has changed, or it is of another kind.
pub(super) fn resume(file: &Path, words: &Words) -> Result<Session, Fatal> {
    let session = Session::resume(file).map_err(|error| Fatal::Lab(error.to_string()))?;
    let own = session.data().spec.words();
    if own.command == words.command {
        return Ok(session);
    }
    let (file, about, word) = (file.display(), own.plural, own.command);
    let other = format!("transect lab run {word} --resume goes on with it");
    Err(Fatal::Lab(format!("'{file}' is a session of {about}: {other}")))
}

/// Returns the first line of a session; nothing if somebody interrupts.
pub(super) fn spec(
    args: &LabRunArgs,
    methods: &[Method],
    cancel: &Cancel,
) -> Result<Option<SessionSpec>, Fatal> {
    let cache_states = cache_states(args)?;
    let base = base();
    let chosen = choose(args, methods, &base)?;
    let Some(datasets) = datasets(args, cancel)? else { return Ok(None) };
    let (cells, again) = cells(&chosen, &base);
    let floor = |name: &str| cells.iter().any(|cell| cell.name == name).then(|| name.to_owned());
    Ok(Some(SessionSpec {
        schema: SCHEMA.to_owned(),
        preset: args.preset.name.to_owned(),
        environment: Environment::of_this_command(),
        datasets,
        cache_states,
        rounds: rounds(&args.session, args.preset.rounds),
        max_time: args.session.max_time.map(|time| time.as_secs()),
        runs: args.preset.runs,
        seed: args.session.seed.unwrap_or_else(seed),
        limit: args.limit,
        floor: floor(FLOORS[0]),
        parallel_floor: floor(FLOORS[1]),
        cells,
        base,
        again,
        experiment: Spec::Walk,
    }))
}

/// Says what a session would measure, and makes nothing.
pub(super) fn show_plan(args: &LabRunArgs, methods: &mut Vec<Method>) -> Result<End, Fatal> {
    add_variants(args, methods);
    let cache_states = cache_states(args)?.len();
    let base = base();
    let (cells, _) = cells(&choose(args, methods, &base)?, &base);
    let corpora = corpora_of(args);
    let datasets = args.path.len() + corpora.len();
    if datasets == 0 {
        return Err(nothing_to_walk());
    }
    let rounds = rounds(&args.session, args.preset.rounds);
    let mut out = output::buffer();
    write_cells(&mut out, &cells, (datasets, "tree", "trees"), cache_states, rounds)?;
    for name in &corpora {
        let definition = corpora::find(name).expect("BUG: the parser lets only corpora pass");
        writeln!(out, "makes corpus '{name}', if it is not there: {}", definition.space_needed())?;
    }
    output::print(out)?;
    Ok(End::Complete)
}

/// Writes how much is measured, and which cells there are.
pub(super) fn write_cells(
    out: &mut impl Write,
    cells: &[Cell],
    (datasets, one, many): (usize, &str, &str),
    cache_states: usize,
    rounds: usize,
) -> std::io::Result<()> {
    let of = |number: usize, one, many| counted(number as u64, one, many);
    let all = of(cells.len() * datasets * cache_states * rounds, "sample", "samples");
    let cells_of = of(cells.len(), "cell", "cells");
    let (datasets, cache_states) = (of(datasets, one, many), of(cache_states, "state", "states"));
    writeln!(
        out,
        "{all}: {cells_of}, {datasets}, {cache_states}, {}",
        of(rounds, "round", "rounds")
    )?;
    cells.iter().try_for_each(|cell| writeln!(out, "  {}", quote::for_terminal(cell.name.as_ref())))
}

/// Returns the cell that others are compared with: what a scan does by itself.
fn base() -> String {
    format!("{}/{}", ReaderKind::best().as_str(), Order::default().as_str())
}

/// Returns the corpora that are walked: those that are named, or those of the preset where nothing is.
fn corpora_of(args: &LabRunArgs) -> Vec<String> {
    if args.path.is_empty() && args.corpus.is_empty() {
        return args.preset.corpora.iter().map(|&name| name.to_owned()).collect();
    }
    args.corpus.clone()
}

fn nothing_to_walk() -> Fatal {
    Fatal::Lab("there is nothing to walk: --path DIR or --corpus NAME".to_owned())
}

/// Returns the states that a session is to be measured in, if they can be had here.
fn cache_states(args: &LabRunArgs) -> Result<Vec<State>, Fatal> {
    match args.state.as_slice() {
        [] => possible(args.preset.cache_states.to_vec()),
        asked => possible(asked.iter().map(|&state| state.into()).collect()),
    }
}

/// Returns states if they can be had here.
pub(super) fn possible(states: Vec<State>) -> Result<Vec<State>, Fatal> {
    match states.iter().find_map(|state| state.why_not()) {
        Some(why_not) => Err(Fatal::Lab(format!("cannot measure with cold caches: {why_not}"))),
        None => Ok(states),
    }
}

/// Looks at all that is to be walked, and makes what is not there yet.
fn datasets(args: &LabRunArgs, cancel: &Cancel) -> Result<Option<Vec<Dataset>>, Fatal> {
    let mut datasets = Vec::new();
    for path in &args.path {
        let root = path.canonicalize().map_err(|error| {
            Fatal::Lab(format!("cannot access '{}': {}", path.display(), transect::reason(&error)))
        })?;
        if !root.is_dir() {
            return Err(Fatal::Lab(format!("'{}' is no directory", path.display())));
        }
        datasets.push(look(path.display().to_string(), root));
    }
    let corpora = corpora_of(args);
    let folder = match &args.corpora {
        Some(folder) => folder.clone(),
        None if corpora.is_empty() => PathBuf::new(),
        None => folders::cache("corpora")?,
    };
    for name in corpora {
        let definition = corpora::find(&name).expect("BUG: the parser lets only corpora pass");
        let Some(root) = super::corpus::have(definition, &folder, cancel)? else { return Ok(None) };
        datasets.push(look(name, root));
    }
    if datasets.is_empty() {
        return Err(nothing_to_walk());
    }
    Ok(Some(datasets))
}

fn look(name: String, root: PathBuf) -> Dataset {
    let dataset = dataset(name, root);
    if dataset.expected.errors > 0 {
        output::hint(&format!(
            "{} entries of '{}' cannot be read: methods may count that in their own way",
            dataset.expected.errors, dataset.name
        ));
    }
    dataset
}

/// Adds the variants of the engine that the preset asks for, or that are named by all their settings.
pub(super) fn add_variants(args: &LabRunArgs, methods: &mut Vec<Method>) {
    let named = args.methods.iter().filter_map(|name| name.parse::<Variant>().ok());
    add(args.preset.variants().chain(named), methods);
}

/// Adds the variants of the engine that a session has among its cells.
pub(super) fn add_methods_of(spec: &SessionSpec, methods: &mut Vec<Method>) {
    add(spec.cells.iter().filter_map(|cell| cell.method.parse().ok()), methods);
}

fn add(variants: impl Iterator<Item = Variant>, methods: &mut Vec<Method>) {
    for variant in variants {
        if !methods.iter().any(|method| method.name == variant.to_string()) {
            methods.push(Method::variant(&variant));
        }
    }
}

/// Returns the methods of a session: those that can run here, and that preset or globs name.
fn choose<'m>(
    args: &LabRunArgs,
    methods: &'m [Method],
    base: &str,
) -> Result<Vec<&'m Method>, Fatal> {
    let globs: Vec<GlobMatcher> =
        args.methods.iter().map(|text| glob(text, methods)).collect::<Result<_, _>>()?;
    let of_the_preset: Vec<String> = args.preset.variants().map(|v| v.to_string()).collect();
    let chosen = methods.iter().filter(|method| method.why_not.is_none()).filter(|method| {
        let named = match &method.kind {
            _ if !globs.is_empty() => globs.iter().any(|glob| glob.is_match(&method.name)),
            Kind::Engine(_) => of_the_preset.contains(&method.name),
            _ => args.preset.holds(method),
        };
        named || method.name == base || FLOORS.contains(&method.name.as_str())
    });
    Ok(chosen.collect())
}

/// Returns what a text of `--methods` stands for; it has to be something that can run here.
fn glob(text: &str, methods: &[Method]) -> Result<GlobMatcher, Fatal> {
    named(text, methods.iter().map(|method| (&*method.name, method.why_not.as_deref())))
}

/// Returns what a text of `--methods` stands for, among methods and why they cannot run here, if they
/// cannot; it has to be something that can.
pub(super) fn named<'m>(
    text: &str,
    methods: impl Iterator<Item = (&'m str, Option<&'m str>)>,
) -> Result<GlobMatcher, Fatal> {
    let glob = Glob::new(text).map_err(|error| Fatal::Lab(error.to_string()))?.compile_matcher();
    let named: Vec<Option<&str>> =
        methods.filter(|(name, _)| glob.is_match(name)).map(|(_, why_not)| why_not).collect();
    if named.is_empty() {
        let known = "transect lab list shows those there are";
        return Err(Fatal::Lab(format!("no method is called '{text}': {known}")));
    }
    if let Some(Some(why_not)) = named.iter().min_by_key(|why_not| why_not.is_some()) {
        return Err(Fatal::Lab(format!("'{text}' cannot run here: {why_not}")));
    }
    Ok(glob)
}

/// Returns how many rounds there are: as many as were asked for, or as the preset has. Where rounds are
/// added until they are enough, nothing is enough before the first that can decide anything.
pub(super) fn rounds(asked: &LabSessionArgs, preset: usize) -> usize {
    let rounds = asked.rounds.map_or(preset, usize::from);
    if asked.max_time.is_some() { rounds.max(MIN_ROUNDS) } else { rounds }
}

pub(super) fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64
}

/// Returns the file of a session that began at some second, where none is named.
pub(super) fn file_of(spec: &SessionSpec) -> PathBuf {
    Path::new(&format!("lab-{}.jsonl", spec.environment.began)).to_owned()
}
