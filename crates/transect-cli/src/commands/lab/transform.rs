//! `transect lab run transform`: a session of passes over files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use globset::GlobMatcher;
use transect::Cancel;
use transect_lab::experiments::transform::{
    self, BASE, Digests, External, Files, Floor, How, Kind, Method, Needs, Passes, Phase, Rules,
    Scratch, Variant, files_of, rules,
};
use transect_lab::harness::cache_state::State;
use transect_lab::harness::environment::{Environment, FileSystem, version_of};
use transect_lab::harness::estimate::Estimate;
use transect_lab::harness::scheduler::Session;
use transect_lab::harness::work::Work;
use transect_lab::rivals::contender::can_start;
use transect_lab::spec::{Cell, Dataset, Payload, SCHEMA, SessionSpec, Spec};
use transect_text::size;

use super::begin::{self, file_of, named, rounds, seed, write_cells};
use super::run::{count_calls, lab, launcher, measure, tell_time, time_starts};
use super::{contenders, report};
use crate::args::{LabKind, LabTransformArgs};
use crate::exit::{End, Fatal};
use crate::folders;
use crate::interrupt::cancel_on_signal;
use crate::output;
use crate::output::units::bytes;
use crate::progress::StatusLine;

pub(crate) fn run(args: &LabTransformArgs) -> Result<End, Fatal> {
    let cancel = cancel_on_signal()?;
    if args.session.dry_run {
        return show_plan(args);
    }
    let folder = folder(args)?;
    let mut session = session(args, &folder)?;
    let spec = &session.data().spec;
    let methods = wanted(spec, methods(args, rules(spec).kind)?);
    let scratch = Scratch::new(&folder).map_err(failed("make a folder in", &folder))?;
    let contenders = methods.iter().filter_map(|method| match &method.how {
        How::Contender(contender) => Some(&**contender),
        How::Engine(_) | How::Floor(_) => None,
    });
    let launcher = launcher(contenders, &cancel)?;
    let mut passes = Passes::new(&methods, &launcher, &scratch);
    if args.resume.is_none() {
        estimate(spec, &mut passes, &scratch, &cancel)?;
    }
    make_inputs(spec, &scratch, &cancel)?;
    measure(&mut session, &mut passes, &cancel)?;
    time_starts(&mut session, &mut passes, &cancel)?;
    if args.preset.calls && !args.session.no_calls {
        count_calls(&mut session, &mut passes, &cancel)?;
    }
    drop(scratch);
    report::show(session.data(), false)?;
    Ok(if cancel.is_cancelled() { End::Interrupted } else { End::Complete })
}

/// Says how long the session will take, after a trial. Its input goes, unless it is one of the session's.
fn estimate(
    spec: &SessionSpec,
    passes: &mut Passes<'_>,
    scratch: &Scratch,
    cancel: &Cancel,
) -> Result<(), Fatal> {
    let estimate = Estimate::of(spec);
    make_inputs(&estimate.spec, scratch, cancel)?;
    tell_time(spec, &estimate, passes, cancel)?;
    let is_wanted = |size: u64| spec.datasets.iter().any(|dataset| dataset.expected.bytes == size);
    let own = estimate.spec.datasets.iter().map(|dataset| dataset.expected.bytes);
    own.filter(|&size| !is_wanted(size)).try_for_each(|size| {
        let input = scratch.input(size);
        std::fs::remove_file(&input).map_err(failed("remove", &input))
    })
}

/// Says what a session would measure and what that takes, and makes nothing.
fn show_plan(args: &LabTransformArgs) -> Result<End, Fatal> {
    let folder = match &args.dir {
        Some(dir) => dir.clone(),
        None => folders::cache_path("scratch")?,
    };
    // One that is not there yet will lie where the next one above it does.
    let there = folder.ancestors().find_map(|folder| folder.canonicalize().ok());
    let there = there.unwrap_or_else(|| folder.clone());
    let spec = spec(args, &there)?;
    let (datasets, cache_states) = (spec.datasets.len(), spec.cache_states.len());
    let many = spec.datasets.iter().any(|dataset| files_of(dataset).phase.is_some());
    let what = if many { (datasets, "phase", "phases") } else { (datasets, "size", "sizes") };
    let takes = takes(&spec, &there)?;
    let mut out = output::buffer();
    write_cells(&mut out, &spec.cells, what, cache_states, spec.rounds)?;
    writeln!(out, "{takes}")?;
    output::print(out)?;
    Ok(End::Complete)
}

/// Returns the folder that the session makes its own in.
fn folder(args: &LabTransformArgs) -> Result<PathBuf, Fatal> {
    let folder = match &args.dir {
        Some(dir) => dir.clone(),
        None => folders::cache("scratch")?,
    };
    folder.canonicalize().map_err(failed("access", &folder))
}

/// Goes on with a session, or begins one, where there is room for it.
fn session(args: &LabTransformArgs, folder: &Path) -> Result<Session, Fatal> {
    if let Some(file) = &args.resume {
        let session = begin::resume(file, &transform::spec::WORDS)?;
        check(&session.data().spec, folder)?;
        return Ok(session);
    }
    let spec = spec(args, folder)?;
    check(&spec, folder)?;
    let file = args.session.output.clone().unwrap_or_else(|| file_of(&spec));
    output::hint(&format!("samples go to '{}'; --resume goes on with it", file.display()));
    Session::begin(spec, &file).map_err(lab)
}

/// Makes sure that the folder has room and can hold what is to be measured, and says what that takes.
fn check(spec: &SessionSpec, folder: &Path) -> Result<(), Fatal> {
    if spec.cache_states.contains(&State::Cold) {
        let in_memory = |folder: File| transect_sys::residency::is_memory_only(&folder);
        if File::open(folder).is_ok_and(in_memory) {
            let folder = folder.display();
            let why = "its files lie in memory and nowhere else: --state warm, or another --dir";
            return Err(Fatal::Lab(format!("nothing is ever cold in '{folder}': {why}")));
        }
    }
    output::hint(&takes(spec, folder)?);
    Ok(())
}

/// Returns what a session takes, if there is room for it.
fn takes(spec: &SessionSpec, folder: &Path) -> Result<String, Fatal> {
    let needs = Needs::of(spec);
    let free = needs.check(folder).map_err(failed("use", folder))?;
    let free = free.map_or(String::new(), |free| format!(" of {} that are free", bytes(free)));
    let further = spec.max_time.map_or("", |_| " before further rounds");
    Ok(format!(
        "takes {}{free} in '{}'; up to {} are written there{further}, most of them removed before \
         they reach the device",
        bytes(needs.room),
        folder.display(),
        bytes(needs.written),
    ))
}

/// Returns the first line of a session.
fn spec(args: &LabTransformArgs, folder: &Path) -> Result<SessionSpec, Fatal> {
    match args.preset.files {
        Some(files) => spec_of_many(args, folder, args.files.map_or(files, |n| n as usize)),
        None if args.files.is_some() => {
            Err(Fatal::Lab("--files is for --preset many-files".to_owned()))
        }
        None => spec_of_one(args, folder),
    }
}

/// Returns that of a session of many small files, in which each phase is a dataset.
fn spec_of_many(
    args: &LabTransformArgs,
    folder: &Path,
    files: usize,
) -> Result<SessionSpec, Fatal> {
    let of_one = [
        ("--sizes", args.sizes.is_empty()),
        ("--blocks", args.blocks.is_empty()),
        ("--methods", args.methods.is_empty()),
        ("--command", args.commands.is_empty()),
        ("--seq", !args.seq),
        ("--kind", args.kind == LabKind::Copy),
    ];
    if let Some((option, _)) = of_one.iter().find(|(_, absent)| !absent) {
        return Err(Fatal::Lab(format!("--preset many-files takes no {option}")));
    }
    let rules = Rules { kind: Kind::Case, sync: args.sync.into() };
    let dataset = |&phase: &Phase| Dataset {
        name: phase.as_str().to_owned(),
        root: folder.to_owned(),
        file_system: FileSystem::of(folder),
        expected: transform::work_of_many(files),
        payload: Payload::Transform(Files {
            digests: transform::digests_of_many(files, phase),
            phase: Some(phase),
        }),
    };
    let datasets = Phase::ALL.iter().map(dataset).collect();
    let (cells, again) = transform::cells_of_many(rules.sync);
    let base = cells[0].name.clone();
    Ok(SessionSpec { base, floor: None, ..begin(args, rules, datasets, (cells, again)) })
}

/// Returns that of a session of large files, in which each size is a dataset.
fn spec_of_one(args: &LabTransformArgs, folder: &Path) -> Result<SessionSpec, Fatal> {
    let rules = Rules { kind: args.kind.into(), sync: args.sync.into() };
    let methods = methods(args, rules.kind)?;
    let chosen = choose(args, &methods)?;
    let blocks = given(&args.blocks, args.preset.blocks);
    let (mut cells, again) = transform::cells(&chosen, &blocks, args.seq);
    for external in &args.commands {
        let is_taken = |cell: &Cell| cell.name == external.name;
        if cells.iter().any(is_taken) || methods.iter().any(|it| it.name == external.name) {
            return Err(Fatal::Lab(format!("'{}' is there already", external.name)));
        }
        if !can_start(external.program()) {
            return Err(Fatal::Lab(format!("'{}' cannot be started here", external.program())));
        }
        cells.push(external.cell());
    }
    let tools = tools(&chosen, &args.commands);
    let sizes: Vec<u64> = args.sizes.iter().map(|&size| size as u64).collect();
    let dataset = |size: u64| Dataset {
        name: size::shortest(size as usize),
        root: folder.to_owned(),
        file_system: FileSystem::of(folder),
        expected: Work { files: 1, directories: 0, bytes: size, errors: 0 },
        payload: Payload::Transform(Files {
            digests: Digests::expected(size, rules.kind),
            phase: None,
        }),
    };
    let datasets = given(&sizes, args.preset.sizes).into_iter().map(dataset).collect();
    let mut spec = begin(args, rules, datasets, (cells, again));
    spec.environment.tools = tools;
    Ok(spec)
}

/// Returns what the programs that contenders need, and those that are cells, say of their version.
fn tools(methods: &[&Method], commands: &[External]) -> BTreeMap<String, String> {
    let needs = methods.iter().filter_map(|method| match &method.how {
        How::Contender(contender) => Some(contender.needs.iter()),
        How::Engine(_) | How::Floor(_) => None,
    });
    let commands = commands.iter().map(External::program);
    let programs: BTreeSet<&str> = needs.flatten().map(String::as_str).chain(commands).collect();
    let told = |program: &str| Some((program.to_owned(), version_of(program)?));
    programs.into_iter().filter_map(told).collect()
}

/// Returns what both kinds of sessions have in common.
fn begin(
    args: &LabTransformArgs,
    rules: Rules,
    datasets: Vec<Dataset>,
    (cells, again): (Vec<Cell>, String),
) -> SessionSpec {
    let states: Vec<State> = args.state.iter().map(|&state| state.into()).collect();
    SessionSpec {
        schema: SCHEMA.to_owned(),
        preset: args.preset.name.to_owned(),
        environment: Environment::of_this_command(),
        datasets,
        cache_states: given(&states, args.preset.states),
        rounds: rounds(&args.session, args.preset.rounds),
        max_time: args.session.max_time.map(|time| time.as_secs()),
        runs: 1,
        seed: args.session.seed.unwrap_or_else(seed),
        limit: args.limit,
        cells,
        base: BASE.to_owned(),
        again,
        floor: Some(Floor::ReadWrite.as_str().to_owned()),
        parallel_floor: None,
        experiment: Spec::Transform(rules),
    }
}

/// Returns what was asked for, once each, or what the preset says.
fn given<T: Copy + PartialEq>(asked: &[T], of_the_preset: &[T]) -> Vec<T> {
    let values = if asked.is_empty() { of_the_preset } else { asked };
    let mut once = Vec::new();
    for &value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once
}

/// Returns all methods; says what could not be read.
fn methods(args: &LabTransformArgs, kind: Kind) -> Result<Vec<Method>, Fatal> {
    let folder = contenders(&args.all)?;
    let (methods, wrong) = Method::all(kind, Some(&folder), args.all.test_doubles);
    wrong.iter().for_each(output::complain);
    Ok(methods)
}

/// Returns the methods of a session: those that can run here, and that preset or globs name.
fn choose<'m>(args: &LabTransformArgs, methods: &'m [Method]) -> Result<Vec<&'m Method>, Fatal> {
    let all = || methods.iter().map(|method| (&*method.name, method.why_not.as_deref()));
    let globs: Vec<GlobMatcher> =
        args.methods.iter().map(|text| named(text, all())).collect::<Result<_, _>>()?;
    let chosen = methods.iter().filter(|method| method.why_not.is_none()).filter(|method| {
        let wanted = match globs.as_slice() {
            [] => args.preset.holds(method),
            globs => globs.iter().any(|glob| glob.is_match(&method.name)),
        };
        wanted || method.name == BASE || matches!(method.how, How::Floor(_))
    });
    Ok(chosen.collect())
}

/// Returns the methods that a session has among its cells.
fn wanted(spec: &SessionSpec, mut methods: Vec<Method>) -> Vec<Method> {
    let variants = spec.cells.iter().filter_map(|cell| cell.method.parse::<Variant>().ok());
    let wanted: BTreeSet<String> = variants.map(|variant| variant.method).collect();
    methods.retain(|method| wanted.contains(&method.name));
    methods
}

/// Makes the inputs that are not there yet, unless somebody interrupts.
fn make_inputs(spec: &SessionSpec, scratch: &Scratch, cancel: &Cancel) -> Result<(), Fatal> {
    if spec.datasets.iter().any(|dataset| files_of(dataset).phase.is_some()) {
        let (inputs, files) = (scratch.inputs(), spec.datasets[0].expected.files as usize);
        if inputs.exists() {
            return Ok(());
        }
        return transform::create_many(&inputs, files).map_err(failed("create", &inputs));
    }
    let mut status = StatusLine::on_a_terminal();
    for dataset in &spec.datasets {
        if cancel.is_cancelled() {
            return Ok(());
        }
        if let Some(status) = &mut status {
            status.show(format!("making an input of {}", bytes(dataset.expected.bytes)));
        }
        let input = scratch.input(dataset.expected.bytes);
        if input.exists() {
            continue;
        }
        transform::create(&input, dataset.expected.bytes).map_err(failed("create", &input))?;
    }
    Ok(())
}

fn failed<'p>(
    operation: &'p str,
    path: &'p Path,
) -> impl FnOnce(std::io::Error) -> Fatal + use<'p> {
    move |error| {
        let reason = transect::reason(&error);
        Fatal::Lab(format!("cannot {operation} '{}': {reason}", path.display()))
    }
}
