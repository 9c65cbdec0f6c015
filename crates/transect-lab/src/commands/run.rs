//! `transect lab run`: a session of any experiment.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use transect::Cancel;
use transect_lab::experiments::method::Method;
use transect_lab::harness::accesses;
use transect_lab::harness::environment::version_of;
use transect_lab::harness::estimate::Estimate;
use transect_lab::harness::experiment::{Experiment, Launcher};
use transect_lab::harness::interference;
use transect_lab::harness::log::Session;
use transect_lab::ranking::stopping;
use transect_lab::rivals::contender::Contender;
use transect_lab::spec::{Cell, Dataset, SessionSpec};

use super::host::own_program;
use super::report;
use super::request::{Request, apply, resume};
use transect_program::exit::{CliError, ExitStatus};
use transect_program::interrupt::cancel_on_signal;
use transect_program::output;
use transect_program::status_line::StatusLine;
use transect_program::user_dirs;
use transect_text::units;

/// The shortest remaining time that is printed even without a status line.
const MIN_REPORTED_TIME: Duration = Duration::from_secs(60);

pub(super) fn run<R: Request>(request: &R) -> Result<ExitStatus, CliError> {
    let (cancel, options) = (cancel_on_signal()?, request.session());
    if options.dry_run {
        let mut out = output::buffer();
        request.write_plan(&mut out, &request.methods(None)?)?;
        output::print(out)?;
        return Ok(ExitStatus::Complete);
    }
    let resumed = options.resume.as_ref().map(|file| resume(file, R::WORDS)).transpose()?;
    let methods = request.methods(resumed.as_ref().map(|session| &session.data().spec))?;
    let scratch = request.scratch()?;
    let planned = match &resumed {
        Some(session) => {
            request.check_resumed(&session.data().spec, &scratch)?;
            Some(session.data().spec.clone())
        }
        None => plan(request, &methods, &scratch, &cancel)?,
    };
    let Some(spec) = planned else { return Ok(ExitStatus::Interrupted) };
    let is_cell = |method: &&Method<R::Part>| spec.cells.iter().any(|cell| method.is_run_by(cell));
    let contenders = methods.iter().filter(is_cell).filter_map(Method::contender);
    let launcher = launcher(contenders, &cancel)?;
    let mut experiment = R::experiment(&methods, &launcher, &scratch);
    let mut session = match resumed {
        Some(session) => session,
        None => begin(request, spec, &mut experiment, &cancel)?,
    };
    make(&session.data().spec.datasets, &mut experiment, &cancel)?;
    measure(&mut session, &mut experiment, &cancel)?;
    let each_start = &mut each_cell("time its start");
    session.time_starts(&mut experiment, &cancel, each_start)?;
    if request.counts_calls() && !options.no_calls {
        examine_calls(&mut session, &mut experiment, &cancel)?;
    }
    drop(experiment);
    drop(scratch);
    report::show(session.data(), false)?;
    if R::HAS_PAGE {
        let page = session.file().with_extension("html");
        report::write_page(session.data(), &page)?;
        output::hint(&format!("the page is '{}'", page.display()));
    }
    Ok(if cancel.is_cancelled() { ExitStatus::Interrupted } else { ExitStatus::Complete })
}

/// Plans a session; `None` if the user interrupts.
fn plan<R: Request>(
    request: &R,
    methods: &[Method<R::Part>],
    scratch: &R::Scratch,
    cancel: &Cancel,
) -> Result<Option<SessionSpec>, CliError> {
    let Some(mut plan) = request.plan(methods, scratch, cancel)? else { return Ok(None) };
    plan.environment.tools = versions(methods, &plan.cells);
    let spec = apply(request.session(), plan)?;
    request.check(&spec, scratch)?;
    Ok(Some(spec))
}

/// Begins a session whose duration is estimated, without the methods that it has no time for.
fn begin<R: Request>(
    request: &R,
    mut spec: SessionSpec,
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<Session, CliError> {
    estimate(&mut spec, request.leaves_out_slowest(), experiment, cancel)?;
    let began = spec.environment.began;
    let file = request.session().output.clone();
    let file = file.unwrap_or_else(|| PathBuf::from(format!("lab-{began}.jsonl")));
    output::hint(&format!("writes samples to '{}'; --resume continues it", file.display()));
    Ok(Session::begin(spec, &file)?)
}

fn versions<P>(methods: &[Method<P>], cells: &[Cell]) -> BTreeMap<String, String> {
    let is_used = |method: &&Method<P>| cells.iter().any(|cell| method.is_run_by(cell));
    let needed = methods.iter().filter(is_used).flat_map(Method::programs);
    let commands = cells.iter().filter_map(|cell| cell.command.as_ref()?.first());
    let programs: BTreeSet<&str> = needed.chain(commands.map(String::as_str)).collect();
    let version = |program: &str| Some((program.to_owned(), version_of(program)?));
    programs.into_iter().filter_map(version).collect()
}

/// Creates missing datasets, unless the user interrupts.
fn make(
    datasets: &[Dataset],
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<(), CliError> {
    let mut status = StatusLine::on_terminal();
    for dataset in datasets {
        if cancel.is_cancelled() {
            return Ok(());
        }
        if experiment.is_made(dataset) {
            continue;
        }
        status.show(|| format!("creating an input of {}", units::bytes(dataset.expected.bytes)));
        experiment.make(dataset)?;
    }
    Ok(())
}

/// Estimates the duration of a session, and prints it. Leaves out the slowest methods if it would exceed its limit.
fn estimate(
    spec: &mut SessionSpec,
    leaves_out_slowest: bool,
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<(), CliError> {
    let estimate = Estimate::new(spec);
    make(&estimate.spec.datasets, experiment, cancel)?;
    let mut status = StatusLine::on_terminal();
    status.show(|| "estimating the time".to_owned());
    let times = estimate.run(experiment, cancel)?;
    drop(status);
    let Some(mut times) = times else { return Ok(()) };
    let limit = spec.max_time.map(Duration::from_secs);
    if let Some(limit) = limit.filter(|_| leaves_out_slowest) {
        let all = units::duration(times.total());
        let too_slow = times.leave_out_slowest(spec, limit);
        spec.leave_out(&too_slow);
        if !too_slow.is_empty() {
            let (limit, too_slow) = (units::duration(limit), too_slow.join(", "));
            output::hint(&format!(
                "rounds for {limit}, without the slowest methods: {too_slow}; all take about {all} (--max-time)"
            ));
        }
    }
    let time = times.total();
    let further = limit.filter(|&limit| limit > time);
    let longer = further.map_or(String::new(), |limit| {
        format!(", with further rounds up to about {}", units::duration(limit))
    });
    let (time, cells) = (units::duration(time), spec.cells.len());
    let rounds = spec.rounds;
    output::hint(&format!(
        "takes about {time}{longer}: {cells} cells in {rounds} rounds, estimated from one run of each kind"
    ));
    Ok(())
}

fn measure(
    session: &mut Session,
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<(), CliError> {
    if let Some(what) = interference::unobservable() {
        output::hint(&format!("not available here: {what}"));
    }
    let began = Instant::now();
    let (mut done, mut has_printed_time) = (0_u32, false);
    let mut status = StatusLine::on_terminal();
    session.run(experiment, &stopping::end, cancel, &mut |sample, left| {
        done += 1;
        if let Some(problem) = sample.outcome.problem() {
            status.show(String::new);
            output::error(&format!("{}: {problem}", sample.cell));
        }
        // After the first round, the times of all methods are known.
        let left_time = began.elapsed() / done * u32::try_from(left).unwrap_or(u32::MAX);
        if sample.round == 1
            && !mem::replace(&mut has_printed_time, true)
            && left_time > MIN_REPORTED_TIME
        {
            let time = units::duration(left_time);
            status.show(String::new);
            output::hint(&format!("about {time} left, judging by the first round"));
        }
        status.show(|| {
            let (time, last) = (units::duration(left_time), &sample.cell);
            match left {
                0 => format!("round {}, until ratios are precise; last: {last}", sample.round + 1),
                _ => format!("{left} runs left, about {time}; last: {last}"),
            }
        });
    })?;
    Ok(())
}

fn examine_calls(
    session: &mut Session,
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<(), CliError> {
    session.time_calls(experiment, cancel, &mut each_cell("time its calls"))?;
    if let Some(why_not) = accesses::unavailable_reason() {
        output::hint(&format!("calls are not counted: {why_not}"));
        return Ok(());
    }
    Ok(session.count_calls(experiment, cancel, &mut each_cell("count its calls"))?)
}

/// Returns a function that shows the progress of an operation on every cell, and prints its errors.
fn each_cell(operation: &str) -> impl FnMut(&str, Result<(), String>, usize) {
    let mut status = StatusLine::on_terminal();
    move |cell, result, left| {
        if let Err(reason) = result {
            status.show(String::new);
            output::error(&format!("{cell}: cannot {operation}: {reason}"));
        }
        status.show(|| format!("{left} cells left, last: {cell}"));
    }
}

/// Builds the contenders that are needed. One that cannot be built becomes a row with the reason.
fn launcher<'c>(
    contenders: impl Iterator<Item = &'c Contender>,
    cancel: &Cancel,
) -> Result<Launcher, CliError> {
    let program = own_program()?;
    let cache = user_dirs::cache("contenders")?;
    let mut status = StatusLine::on_terminal();
    let (mut built, mut failed) = (BTreeMap::new(), BTreeSet::new());
    for contender in contenders {
        let name = &contender.name;
        if built.contains_key(name) || failed.contains(name) || cancel.is_cancelled() {
            continue;
        }
        status.show(|| format!("building contender '{name}'"));
        match contender.build(&cache) {
            Ok(out) => {
                built.insert(name.clone(), out);
            }
            Err(reason) => {
                output::error(&format!("cannot build contender '{name}': {reason}"));
                failed.insert(name.clone());
            }
        }
    }
    Ok(Launcher { program, built, disturbable: true })
}
