//! `transect lab run enumerate`: a session of walks.

use std::io::Write;
use std::path::PathBuf;

use transect::{Cancel, Order, ReaderKind};
use transect_lab::corpora;
use transect_lab::experiments::walk::measure::{WalkExperiment, check_unchanged, dataset};
use transect_lab::experiments::walk::method::{Method, WalkRunner, cells};
use transect_lab::experiments::walk::spec::WORDS;
use transect_lab::experiments::walk::variant::Variant;
use transect_lab::experiments::words::Words;
use transect_lab::harness::cache_state::State;
use transect_lab::harness::experiment::Launcher;
use transect_lab::harness::scratch::Scratch;
use transect_lab::spec::{Cell, Dataset, SessionSpec, Spec};

use super::corpus;
use super::error::{cannot, lab};
use super::methods::methods;
use super::request::{Common, Request, choose, possible, rounds, write_cells};
use crate::args::LabRunArgs;
use crate::exit::CliError;
use crate::{output, user_dirs};

/// The contender's methods that make the calls and nothing else, on one thread and on several.
const FLOORS: [&str; 2] = ["floor", "floor-threads"];

impl Request for LabRunArgs {
    type Runner = WalkRunner;
    type Experiment<'s> = WalkExperiment<'s>;
    const WORDS: &'static Words = &WORDS;

    fn common(&self) -> Common<'_> {
        Common {
            session: &self.session,
            resume: self.resume.as_deref(),
            limit: self.limit,
            counts_calls: self.preset.calls,
            has_page: true,
        }
    }

    fn methods(&self, resumed: Option<&SessionSpec>) -> Result<Vec<Method>, CliError> {
        let (mut methods, _) = methods(&self.all)?;
        match resumed {
            Some(spec) => {
                let variants = spec.cells.iter().filter_map(|cell| cell.method.parse().ok());
                add(variants, &mut methods);
            }
            None => {
                let named = self.methods.iter().filter_map(|name| name.parse::<Variant>().ok());
                add(self.preset.variants().chain(named), &mut methods);
            }
        }
        Ok(methods)
    }

    fn write_plan(&self, out: &mut dyn Write, methods: &[Method]) -> Result<(), CliError> {
        let cache_states = cache_states(self)?.len();
        let cells = chosen_cells(self, methods)?;
        let corpora = corpora_of(self);
        let datasets = self.path.len() + corpora.len();
        if datasets == 0 {
            return Err(nothing_to_walk());
        }
        let rounds = rounds(&self.session, self.preset.rounds);
        write_cells(out, &cells, (datasets, WORDS.dataset), cache_states, rounds)?;
        for name in &corpora {
            let definition = corpora::find(name).expect("BUG: the parser lets only corpora pass");
            writeln!(
                out,
                "makes corpus '{name}', if it is not there: {}",
                definition.space_needed()
            )?;
        }
        Ok(())
    }

    fn plan(
        &self,
        methods: &[Method],
        _: Option<&Scratch>,
        cancel: &Cancel,
    ) -> Result<Option<SessionSpec>, CliError> {
        let cache_states = cache_states(self)?;
        let cells = chosen_cells(self, methods)?;
        let Some(datasets) = datasets(self, cancel)? else { return Ok(None) };
        let has = |name: &str| cells.iter().any(|cell| cell.name == name);
        let [floor, parallel_floor] = FLOORS.map(|name| has(name).then(|| name.to_owned()));
        Ok(Some(SessionSpec {
            rounds: self.preset.rounds,
            runs: self.preset.runs,
            cache_states,
            floor,
            parallel_floor,
            ..SessionSpec::new(Spec::Walk, self.preset.name, datasets, cells, &base())
        }))
    }

    fn check_resumed(&self, spec: &SessionSpec, _: Option<&Scratch>) -> Result<(), CliError> {
        check_unchanged(spec).map_err(lab)
    }

    fn experiment<'s>(
        methods: &'s [Method],
        launcher: &'s Launcher,
        _: Option<&'s Scratch>,
    ) -> WalkExperiment<'s> {
        WalkExperiment::new(methods, launcher)
    }
}

/// Returns the cell that others are compared with: what a scan does by itself.
fn base() -> String {
    format!("{}/{}", ReaderKind::best().as_str(), Order::default().as_str())
}

/// Returns the cells of the session.
fn chosen_cells(args: &LabRunArgs, methods: &[Method]) -> Result<Vec<Cell>, CliError> {
    let base = base();
    let of_the_preset: Vec<String> = args.preset.variants().map(|v| v.to_string()).collect();
    let is_default = |method: &Method| match &method.runner {
        WalkRunner::Engine(_) => of_the_preset.contains(&method.name),
        _ => args.preset.holds(method),
    };
    let is_always = |method: &Method| method.name == base || FLOORS.contains(&&*method.name);
    Ok(cells(&choose(&args.methods, methods, is_default, is_always)?, &base))
}

/// Returns the corpora that are walked: those that are named, or those of the preset where nothing is.
fn corpora_of(args: &LabRunArgs) -> Vec<String> {
    if args.path.is_empty() && args.corpus.is_empty() {
        return args.preset.corpora.iter().map(|&name| name.to_owned()).collect();
    }
    args.corpus.clone()
}

fn nothing_to_walk() -> CliError {
    CliError::Lab("nothing to walk; use --path DIR or --corpus NAME".to_owned())
}

/// Returns the states that a session is to be measured in, if they can be had here.
fn cache_states(args: &LabRunArgs) -> Result<Vec<State>, CliError> {
    match args.state.as_slice() {
        [] => possible(args.preset.cache_states),
        asked => possible(asked),
    }
}

/// Looks at all that is to be walked, and makes what is not there yet.
fn datasets(args: &LabRunArgs, cancel: &Cancel) -> Result<Option<Vec<Dataset>>, CliError> {
    let mut datasets = Vec::new();
    for path in &args.path {
        let root = path.canonicalize().map_err(cannot("access", path))?;
        if !root.is_dir() {
            return Err(CliError::Lab(format!("'{}' is not a directory", path.display())));
        }
        datasets.push(look(path.display().to_string(), root));
    }
    let corpora = corpora_of(args);
    let folder = match &args.corpora {
        Some(folder) => folder.clone(),
        None if corpora.is_empty() => PathBuf::new(),
        None => user_dirs::cache("corpora")?,
    };
    for name in corpora {
        let definition = corpora::find(&name).expect("BUG: the parser lets only corpora pass");
        let Some(root) = corpus::have(definition, &folder, cancel)? else { return Ok(None) };
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

fn add(variants: impl Iterator<Item = Variant>, methods: &mut Vec<Method>) {
    for variant in variants {
        if !methods.iter().any(|method| method.name == variant.to_string()) {
            methods.push(Method::variant(&variant));
        }
    }
}
