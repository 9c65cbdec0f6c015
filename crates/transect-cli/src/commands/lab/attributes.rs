//! `transect lab run attributes`: a session of questions about attributes.

use std::io::Write;
use std::path::{Path, PathBuf};

use globset::GlobMatcher;
use transect_lab::experiments::attributes::spec::WORDS;
use transect_lab::experiments::attributes::{
    self, Answers, BASE, FLOOR_STATX, How, Method, Scale, Source, Task,
};
use transect_lab::experiments::transform::Scratch;
use transect_lab::harness::cache_state::State;
use transect_lab::harness::environment::Environment;
use transect_lab::harness::estimate::Estimate;
use transect_lab::harness::scheduler::Session;
use transect_lab::spec::{Dataset, SCHEMA, SessionSpec, Spec};

use super::begin::{self, file_of, named, possible, rounds, seed};
use super::run::{count_calls, lab, launcher, measure, tell_time};
use super::{contenders, report};
use crate::args::LabAttributesArgs;
use crate::exit::{End, Fatal};
use crate::folders;
use crate::interrupt::cancel_on_signal;
use crate::output::{self, units::counted};
use crate::progress::StatusLine;

/// A place to be made: its name, what is asked there, how much, and of what of somebody's own.
type Wanted = (String, Task, Scale, Option<Source>);

pub(crate) fn run(args: &LabAttributesArgs) -> Result<End, Fatal> {
    let cancel = cancel_on_signal()?;
    let methods = methods(args)?;
    if args.session.dry_run {
        return show_plan(args, &methods);
    }
    let scratch = scratch(args)?;
    let mut session = session(args, &methods, &scratch)?;
    let spec = &session.data().spec;
    let is_cell = |method: &&Method| spec.cells.iter().any(|cell| cell.method == method.name);
    let contenders = methods.iter().filter(is_cell).filter_map(|method| match &method.how {
        How::Contender(contender) => Some(&**contender),
        How::Engine(_) => None,
    });
    let launcher = launcher(contenders, &cancel)?;
    let mut answers = Answers::new(&methods, &launcher, &scratch);
    if args.resume.is_none() {
        tell_time(spec, &Estimate::of(spec), &mut answers, &cancel)?;
    }
    measure(&mut session, &mut answers, &cancel)?;
    if !args.session.no_calls {
        count_calls(&mut session, &mut answers, &cancel)?;
    }
    drop(answers);
    drop(scratch);
    report::show(session.data(), false)?;
    Ok(if cancel.is_cancelled() { End::Interrupted } else { End::Complete })
}

/// Says what a session would measure, and makes nothing.
fn show_plan(args: &LabAttributesArgs, methods: &[Method]) -> Result<End, Fatal> {
    let chosen = choose(args, methods)?;
    let cache_states = cache_states(args)?.len();
    let rounds = rounds(&args.session, args.preset.rounds);
    let mut out = output::buffer();
    let mut samples = 0;
    for (name, task, ..) in wanted(args)? {
        let doing: Vec<&str> =
            chosen.iter().filter(|it| it.does(task)).map(|it| it.name.as_str()).collect();
        // The base runs twice.
        samples += (doing.len() + 1) * cache_states * rounds;
        writeln!(out, "{name}: {}\n  {}", task.about(), doing.join(", "))?;
    }
    writeln!(out, "{}", counted(samples as u64, "sample", "samples"))?;
    output::print(out)?;
    Ok(End::Complete)
}

/// Returns the folder of the session.
fn scratch(args: &LabAttributesArgs) -> Result<Scratch, Fatal> {
    let parent = match &args.dir {
        Some(dir) => dir.clone(),
        None => folders::cache("scratch")?,
    };
    let failed = |error: std::io::Error| {
        let (parent, reason) = (parent.display(), transect::reason(&error));
        Fatal::Lab(format!("cannot make a folder in '{parent}': {reason}"))
    };
    Scratch::new(&parent).map_err(failed)
}

/// Goes on with a session, or begins one.
fn session(
    args: &LabAttributesArgs,
    methods: &[Method],
    scratch: &Scratch,
) -> Result<Session, Fatal> {
    if let Some(file) = &args.resume {
        let session = begin::resume(file, &WORDS)?;
        remake(&session.data().spec, scratch)?;
        return Ok(session);
    }
    let chosen = choose(args, methods)?;
    let cache_states = cache_states(args)?;
    let mut datasets = Vec::new();
    let mut status = StatusLine::on_a_terminal();
    for (name, task, scale, source) in wanted(args)? {
        if let Some(status) = &mut status {
            status.show(format!("making what '{name}' asks about"));
        }
        datasets.push(dataset(name, task, &scale, source.as_ref(), scratch)?);
    }
    drop(status);
    let tasks: Vec<Task> = datasets.iter().map(|dataset| attributes::asked(dataset).task).collect();
    let doing: Vec<&Method> =
        chosen.into_iter().filter(|method| tasks.iter().any(|&task| method.does(task))).collect();
    let (cells, again) = attributes::cells(&doing);
    let floor = doing.iter().any(|method| method.name == FLOOR_STATX);
    let spec = SessionSpec {
        schema: SCHEMA.to_owned(),
        preset: args.preset.name.to_owned(),
        environment: Environment::of_this_command(),
        datasets,
        cache_states,
        rounds: rounds(&args.session, args.preset.rounds),
        max_time: args.session.max_time.map(|time| time.as_secs()),
        runs: 1,
        seed: args.session.seed.unwrap_or_else(seed),
        limit: args.limit,
        cells,
        base: BASE.to_owned(),
        again,
        floor: floor.then(|| FLOOR_STATX.to_owned()),
        parallel_floor: None,
        experiment: Spec::Attributes,
    };
    let file = args.session.output.clone().unwrap_or_else(|| file_of(&spec));
    output::hint(&format!("samples go to '{}'; --resume goes on with it", file.display()));
    Session::begin(spec, &file).map_err(lab)
}

/// Makes again what a session asks about, which has to be what it was.
fn remake(spec: &SessionSpec, scratch: &Scratch) -> Result<(), Fatal> {
    for then in &spec.datasets {
        let asked = attributes::asked(then);
        let now =
            dataset(then.name.clone(), asked.task, &asked.scale, asked.source.as_ref(), scratch)?;
        if (now.expected, &now.payload) != (then.expected, &then.payload) {
            let name = &then.name;
            return Err(Fatal::Lab(format!("'{name}' has changed since the session began")));
        }
    }
    Ok(())
}

fn dataset(
    name: String,
    task: Task,
    scale: &Scale,
    source: Option<&Source>,
    scratch: &Scratch,
) -> Result<Dataset, Fatal> {
    attributes::dataset(name, task, scale, source, scratch).map_err(Fatal::Lab)
}

/// Returns the states that a session is to be measured in, if they can be had here.
fn cache_states(args: &LabAttributesArgs) -> Result<Vec<State>, Fatal> {
    possible(args.state.iter().map(|&state| state.into()).collect())
}

/// Returns the places of a session: those of the tasks that are named, or of all that can be done.
fn wanted(args: &LabAttributesArgs) -> Result<Vec<Wanted>, Fatal> {
    let absolute = |path: &Path| -> Result<PathBuf, Fatal> { Ok(std::path::absolute(path)?) };
    let source = match (&args.compile_database, &args.dep_info) {
        (Some(file), _) => Some(Source::CompileDatabase(absolute(file)?)),
        (None, Some(folder)) => Some(Source::DepInfo(absolute(folder)?)),
        (None, None) => None,
    };
    let is_wanted = |task: &Task| match args.tasks.as_slice() {
        [] => !task.needs_a_source() || source.is_some(),
        named => named.contains(task),
    };
    let mut wanted = Vec::new();
    for &task in Task::ALL.iter().filter(|task| is_wanted(task)) {
        let source = source.clone().filter(|_| task.needs_a_source());
        if task.needs_a_source() && source.is_none() {
            let what = "--compile-database FILE or --dep-info DIR";
            return Err(Fatal::Lab(format!("task '{}' needs {what}", task.as_str())));
        }
        let datasets = args.preset.datasets(task, args.paths.map(|paths| paths as usize));
        wanted
            .extend(datasets.into_iter().map(|(name, scale)| (name, task, scale, source.clone())));
    }
    Ok(wanted)
}

/// Returns all methods; says what could not be read.
fn methods(args: &LabAttributesArgs) -> Result<Vec<Method>, Fatal> {
    let (methods, wrong) = Method::all(Some(&contenders(&args.all)?));
    wrong.iter().for_each(output::complain);
    Ok(methods)
}

/// Returns the methods of a session: those that can run here, and that globs name, if there are any.
fn choose<'m>(args: &LabAttributesArgs, methods: &'m [Method]) -> Result<Vec<&'m Method>, Fatal> {
    let all = || methods.iter().map(|method| (&*method.name, method.why_not.as_deref()));
    let globs: Vec<GlobMatcher> =
        args.methods.iter().map(|text| named(text, all())).collect::<Result<_, _>>()?;
    let (here, absent): (Vec<&Method>, Vec<&Method>) =
        methods.iter().partition(|method| method.why_not.is_none());
    for Method { name, why_not, .. } in absent {
        let why_not = why_not.as_deref().unwrap_or_default();
        output::hint(&format!("{name} is left out: {why_not}"));
    }
    let is_chosen = |method: &&Method| {
        let is_always = [BASE, FLOOR_STATX].contains(&method.name.as_str());
        is_always || globs.is_empty() || globs.iter().any(|glob| glob.is_match(&method.name))
    };
    Ok(here.into_iter().filter(is_chosen).collect())
}
