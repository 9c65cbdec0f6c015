//! `transect lab run enumerate`: a session of walks.

use std::io::Write;
use std::path::PathBuf;

use transect::internal::Order;
use transect::{Cancel, ReaderKind};
use transect_lab::corpora;
use transect_lab::experiments::method::Origin;
use transect_lab::experiments::walk::measure::{WalkExperiment, check_unchanged, dataset};
use transect_lab::experiments::walk::method::{Method, cells};
use transect_lab::experiments::walk::variant::Variant;
use transect_lab::harness::cache_state::State;
use transect_lab::harness::error::cannot;
use transect_lab::harness::experiment::Launcher;
use transect_lab::harness::possible_states::{DropScope, PossibleStates};
use transect_lab::rivals::external::External;
use transect_lab::spec::pairs::expand;
use transect_lab::spec::walk::WORDS;
use transect_lab::spec::words::Words;
use transect_lab::spec::{Cell, CheckedBy, Dataset, SessionSpec};

use super::corpus;
use super::request::{Request, apply, choose, contenders, possible, write_cells};
use crate::args::{LabRunArgs, LabSessionArgs};
use transect_program::exit::CliError;
use transect_program::{output, sibling, user_dirs};

/// The contender's methods that only make the calls: on one thread, on every core, and on as many threads as the
/// engine uses to wait for devices, for cold caches.
const FLOORS: [&str; 3] = ["floor", "floor-threads", "floor-32-threads"];

impl Request for LabRunArgs {
    type Part = Option<Variant>;
    type Experiment<'s> = WalkExperiment<'s>;
    type Scratch = ();
    const WORDS: &'static Words = &WORDS;
    const HAS_PAGE: bool = true;

    fn session(&self) -> &LabSessionArgs {
        &self.session
    }

    fn counts_calls(&self) -> bool {
        self.preset.calls
    }

    fn leaves_out_slowest(&self) -> bool {
        self.preset.leaves_out_slowest && self.session.methods.is_empty()
    }

    fn methods(&self, resumed: Option<&SessionSpec>) -> Result<Vec<Method>, CliError> {
        let (mut methods, wrong) = Method::all(&contenders(&self.session.all)?.0);
        wrong.iter().for_each(output::error);
        add_commands(self, resumed, &mut methods)?;
        let variants: Vec<Variant> = match resumed {
            Some(spec) => spec.cells.iter().filter_map(|cell| cell.method.parse().ok()).collect(),
            None => {
                let named = self.session.methods.iter().filter_map(|name| name.parse().ok());
                self.preset.variants().into_iter().chain(named).collect()
            }
        };
        for variant in variants {
            if !methods.iter().any(|method| method.name == variant.to_string()) {
                methods.push(Method::variant(&variant));
            }
        }
        Ok(methods)
    }

    fn scratch(&self) -> Result<(), CliError> {
        Ok(())
    }

    fn write_plan(&self, out: &mut dyn Write, methods: &[Method]) -> Result<(), CliError> {
        let cache_states = cache_states(self)?.states.len();
        let cells = chosen_cells(self, methods)?;
        let corpora = corpora_of(self)?;
        let datasets = self.path.len() + corpora.len();
        let spec = apply(&self.session, self.preset.spec(Vec::new(), cells, &base(self)?))?;
        write_cells(out, &spec.cells, (datasets, WORDS.dataset), cache_states, spec.rounds)?;
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
        (): &(),
        cancel: &Cancel,
    ) -> Result<Option<SessionSpec>, CliError> {
        let cache_states = cache_states(self)?;
        let cells = chosen_cells(self, methods)?;
        let Some(datasets) = datasets(self, cancel)? else { return Ok(None) };
        let has = |name: &str| cells.iter().any(|cell| cell.name == name);
        let [floor, parallel_floor, cold_floor] =
            FLOORS.map(|name| has(name).then(|| name.to_owned()));
        let base = base(self)?;
        let spec = SessionSpec {
            whole_processes: self.preset.measures_processes(),
            floor,
            parallel_floor,
            cold_floor,
            ..self.preset.spec(datasets, cells, &base)
        };
        Ok(Some(spec.with_states(cache_states)))
    }

    fn check_resumed(&self, spec: &SessionSpec, (): &()) -> Result<(), CliError> {
        Ok(check_unchanged(spec)?)
    }

    fn experiment<'s>(
        methods: &'s [Method],
        launcher: &'s Launcher,
        (): &'s (),
    ) -> WalkExperiment<'s> {
        WalkExperiment::new(methods, launcher)
    }
}

/// Returns the path of the program `transect`, which presets measure; its bare name if it is not found, so that
/// its cells are left out with a reason.
fn transect() -> PathBuf {
    sibling::find("transect").unwrap_or_else(|| PathBuf::from("transect"))
}

/// Returns the base of comparisons: by default, the settings of `transect scan`.
fn base(args: &LabRunArgs) -> Result<String, CliError> {
    if let Some(base) = &args.session.base {
        return Ok(base.clone());
    }
    let work = &args.preset.work;
    let of_the_user = args.commands.first().filter(|_| work.same_lines).cloned();
    let own = args.preset.commands(&transect()).into_iter().next().or(of_the_user);
    if work.same_lines && own.is_none() {
        let (name, why) = (&args.preset.name, "give at least two commands: --command NAME=COMMAND");
        return Err(format!("preset '{name}' has no programs of its own; {why}").into());
    }
    let engine = || format!("{}/{}", ReaderKind::best().as_str(), Order::default().as_str());
    Ok(own.map_or_else(engine, |command| command.name))
}

/// Adds commands as methods: those of the user and of the preset, or those of a resumed session.
fn add_commands(
    args: &LabRunArgs,
    resumed: Option<&SessionSpec>,
    methods: &mut Vec<Method>,
) -> Result<(), CliError> {
    if let Some(spec) = resumed {
        let of_cell = |cell: &Cell| {
            Some(External { name: cell.method.clone(), words: cell.command.clone()? })
        };
        let mut commands: Vec<External> = spec.cells.iter().filter_map(of_cell).collect();
        // The base has two cells.
        commands.sort_by(|a, b| a.name.cmp(&b.name));
        commands.dedup();
        methods.extend(commands.into_iter().map(Method::of_command));
        return Ok(());
    }
    if args.preset.work.same_lines {
        // No other method prints such lines.
        methods.clear();
    }
    let presets = args.preset.commands(&transect());
    // A command of the preset replaces a peer of the same name.
    methods.retain(|method| presets.iter().all(|command| command.name != method.name));
    methods.extend(presets.into_iter().map(Method::of_command));
    for command in &args.commands {
        if methods.iter().any(|method| method.name == command.name) {
            return Err(format!("'{}' already exists", command.name).into());
        }
        let method = Method::of_command(command.clone());
        if let Some(reason) = method.unavailable_reason {
            return Err(reason.into());
        }
        methods.push(method);
    }
    Ok(())
}

fn chosen_cells(args: &LabRunArgs, methods: &[Method]) -> Result<Vec<Cell>, CliError> {
    let base = base(args)?;
    let of_the_preset: Vec<String> =
        args.preset.variants().iter().map(Variant::to_string).collect();
    let is_default = |method: &Method| match method.origin {
        Origin::Engine => of_the_preset.contains(&method.name),
        _ => args.preset.holds(method),
    };
    let is_of_the_user =
        |method: &Method| args.commands.iter().any(|command| command.name == method.name);
    let has_cold = cache_states(args)?.states.contains(&State::Cold);
    let floors = if has_cold { &FLOORS[..] } else { &FLOORS[..2] };
    let is_floor =
        |method: &Method| !args.preset.work.has_no_floor && floors.contains(&method.name.as_str());
    let bases: Vec<String> = args.preset.base.iter().map(|name| expand(name)).collect();
    let is_base = |method: &Method| method.name == base || bases.contains(&method.name);
    let is_always = |method: &Method| is_base(method) || is_floor(method) || is_of_the_user(method);
    let chosen = choose(&args.session.methods, methods, is_default, is_always)?;
    if args.session.base.is_some() && chosen.iter().all(|method| method.name != base) {
        let why = "a base has to be a method that can run here";
        return Err(format!("no method '{base}': {why}").into());
    }
    let mut cells = cells(&chosen, &base);
    if args.preset.work.same_lines {
        cells.iter_mut().for_each(|cell| cell.checked = Some(CheckedBy::Lines));
    }
    Ok(cells)
}

/// Returns the corpora to walk: the named ones, or those of the preset if the user names no tree.
///
/// # Errors
/// There is no tree to walk.
fn corpora_of(args: &LabRunArgs) -> Result<Vec<String>, CliError> {
    let has_trees = !(args.path.is_empty() && args.corpus.is_empty());
    let corpora = if has_trees { &args.corpus } else { &args.preset.work.corpora };
    if !has_trees && corpora.is_empty() {
        let why = "nothing to walk; use --path DIR or --corpus NAME";
        return Err(CliError::failed(why));
    }
    Ok(corpora.clone())
}

fn cache_states(args: &LabRunArgs) -> Result<PossibleStates, CliError> {
    possible(&args.state, &args.preset.states, DropScope::System)
}

fn datasets(args: &LabRunArgs, cancel: &Cancel) -> Result<Option<Vec<Dataset>>, CliError> {
    let mut datasets = Vec::new();
    for path in &args.path {
        let root = path.canonicalize().map_err(cannot("access", path))?;
        if !root.is_dir() {
            return Err(format!("'{}' is not a directory", path.display()).into());
        }
        datasets.push(look(path.display().to_string(), root));
    }
    let corpora = corpora_of(args)?;
    let folder = match &args.corpora {
        Some(folder) => folder.clone(),
        None if corpora.is_empty() => PathBuf::new(),
        None => user_dirs::cache("corpora")?,
    };
    for name in corpora {
        let definition = corpora::find(&name).expect("BUG: the parser lets only corpora pass");
        let Some(root) = corpus::have(definition, &folder, cancel)? else { return Ok(None) };
        // Contenders run in directories of their own.
        let root = root.canonicalize().map_err(cannot("access", &root))?;
        datasets.push(look(name, root));
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
