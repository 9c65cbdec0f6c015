//! `transect lab run`: a session.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::time::{Duration, Instant};

use transect::Cancel;
use transect_lab::experiments::walk::measure::Walks;
use transect_lab::experiments::walk::method::{Kind, Method};
use transect_lab::experiments::walk::spec::WORDS;
use transect_lab::harness::accesses;
use transect_lab::harness::estimate::Estimate;
use transect_lab::harness::experiment::{Experiment, Launcher};
use transect_lab::harness::interference;
use transect_lab::harness::log::{Outcome, Sample};
use transect_lab::harness::scheduler::Session;
use transect_lab::rivals::contender::Contender;
use transect_lab::spec::SessionSpec;

use super::{begin, methods, report};
use crate::args::LabRunArgs;
use crate::exit::{End, Fatal};
use crate::folders;
use crate::interrupt::cancel_on_signal;
use crate::output::{self, units};
use crate::progress::StatusLine;

/// A time that somebody may want to know of who watches no status line.
const WORTH_TELLING: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &LabRunArgs) -> Result<End, Fatal> {
    let cancel = cancel_on_signal()?;
    let (mut methods, _) = methods(&args.all)?;
    if args.session.dry_run {
        return begin::show_plan(args, &mut methods);
    }
    let Some(mut session) = session(args, &mut methods, &cancel)? else {
        return Ok(End::Interrupted);
    };
    let wanted: BTreeSet<&str> =
        session.data().spec.cells.iter().map(|cell| cell.method.as_str()).collect();
    methods.retain(|method| wanted.contains(method.name.as_str()));
    let contenders = methods.iter().filter_map(|method| match &method.kind {
        Kind::Contender(contender) => Some(&**contender),
        _ => None,
    });
    let launcher = launcher(contenders, &cancel)?;
    let mut walks = Walks::new(&methods, &launcher);
    if args.resume.is_none() {
        let spec = &session.data().spec;
        tell_time(spec, &Estimate::of(spec), &mut walks, &cancel)?;
    }
    measure(&mut session, &mut walks, &cancel)?;
    if args.preset.calls && !args.session.no_calls {
        time_calls(&mut session, &mut walks, &cancel)?;
        count_calls(&mut session, &mut walks, &cancel)?;
    }
    report::show(session.data(), false)?;
    write_page(&session)?;
    Ok(if cancel.is_cancelled() { End::Interrupted } else { End::Complete })
}

/// Goes on with a session, or begins one; nothing if somebody interrupts before it begins.
fn session(
    args: &LabRunArgs,
    methods: &mut Vec<Method>,
    cancel: &Cancel,
) -> Result<Option<Session>, Fatal> {
    if let Some(file) = &args.resume {
        let session = begin::resume(file, &WORDS)?;
        begin::add_methods_of(&session.data().spec, methods);
        return Ok(Some(session));
    }
    begin::add_variants(args, methods);
    let Some(spec) = begin::spec(args, methods, cancel)? else { return Ok(None) };
    let file = args.session.output.clone().unwrap_or_else(|| begin::file_of(&spec));
    output::hint(&format!("samples go to '{}'; --resume goes on with it", file.display()));
    Session::begin(spec, &file).map(Some).map_err(lab)
}

/// Writes the page of a session beside its file.
fn write_page(session: &Session) -> Result<(), Fatal> {
    let page = session.file().with_extension("html");
    report::write_page(session.data(), &page)?;
    output::hint(&format!("the page is '{}'", page.display()));
    Ok(())
}

pub(super) fn lab(error: impl std::fmt::Display) -> Fatal {
    Fatal::Lab(error.to_string())
}

/// Says how long a session will take, after a trial of it.
pub(super) fn tell_time(
    spec: &SessionSpec,
    estimate: &Estimate,
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<(), Fatal> {
    let mut status = StatusLine::on_a_terminal();
    if let Some(status) = &mut status {
        status.show("finding out how long it will take".to_owned());
    }
    let time = estimate.run(experiment, cancel).map_err(lab)?;
    drop(status);
    let Some(time) = time else { return Ok(()) };
    let (time, cells) = (units::duration(time), spec.cells.len());
    let (rounds, base) = (spec.rounds, &spec.base);
    let longer = spec.max_time.map_or(String::new(), |seconds| {
        format!(
            ", with further rounds up to about {}",
            units::duration(Duration::from_secs(seconds))
        )
    });
    output::hint(&format!(
        "takes about {time}{longer}: {cells} cells in {rounds} rounds, if all take what {base} took \
         once; what is slower takes longer"
    ));
    Ok(())
}

/// Runs what is left of a session, and shows how far it is.
pub(super) fn measure(
    session: &mut Session,
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<(), Fatal> {
    let unseen = interference::unseen();
    if !unseen.is_empty() {
        output::hint(&format!("cannot be looked at here: {}", unseen.join(", ")));
    }
    let began = Instant::now();
    let (mut done, mut told) = (0_u32, false);
    let mut status = StatusLine::on_a_terminal();
    let measured = session.run(experiment, cancel, &mut |sample, left| {
        done += 1;
        tell(sample);
        // The first round knows all methods, and the time that they take.
        let left_time = began.elapsed() / done * u32::try_from(left).unwrap_or(u32::MAX);
        if sample.round == 1 && !mem::replace(&mut told, true) && left_time > WORTH_TELLING {
            let time = units::duration(left_time);
            output::hint(&format!("about {time} more, by what the first round took"));
        }
        if let Some(status) = &mut status {
            let time = units::duration(left_time);
            status.show(format!("{left} runs left, about {time}; last: {}", sample.cell));
        }
    });
    measured.map_err(lab)
}

/// Times the calls of every method that can report that.
pub(super) fn time_calls(
    session: &mut Session,
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<(), Fatal> {
    let mut status = StatusLine::on_a_terminal();
    let timed = session.time_calls(experiment, cancel, &mut |cell, timed, left| {
        if let Err(reason) = timed {
            output::complain(&format!("{cell}: cannot time its calls: {reason}"));
        }
        if let Some(status) = &mut status {
            status.show(format!("timing calls, {left} left; last: {cell}"));
        }
    });
    timed.map_err(lab)
}

/// Counts the system calls of every method.
pub(super) fn count_calls(
    session: &mut Session,
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<(), Fatal> {
    if let Some(why_not) = accesses::why_not() {
        output::hint(&format!("calls are not counted: {why_not}"));
        return Ok(());
    }
    let mut status = StatusLine::on_a_terminal();
    let counted = session.count_calls(experiment, cancel, &mut |cell, counted, left| {
        if let Err(reason) = counted {
            output::complain(&format!("{cell}: cannot count its calls: {reason}"));
        }
        if let Some(status) = &mut status {
            status.show(format!("counting calls, {left} left; last: {cell}"));
        }
    });
    counted.map_err(lab)
}

/// Times the start of every program that has no clock of its own.
pub(super) fn time_starts(
    session: &mut Session,
    experiment: &mut impl Experiment,
    cancel: &Cancel,
) -> Result<(), Fatal> {
    let timed = session.time_starts(experiment, cancel, &mut |cell, timed, _| {
        if let Err(reason) = timed {
            output::complain(&format!("{cell}: cannot time its start: {reason}"));
        }
    });
    timed.map_err(lab)
}

/// Builds the contenders that are needed; one that cannot be built is a row that says so.
pub(super) fn launcher<'c>(
    contenders: impl Iterator<Item = &'c Contender>,
    cancel: &Cancel,
) -> Result<Launcher, Fatal> {
    let program = std::env::current_exe()?;
    let cache = folders::cache("contenders")?;
    let mut status = StatusLine::on_a_terminal();
    let (mut built, mut failed) = (BTreeMap::new(), BTreeSet::new());
    for contender in contenders {
        let name = &contender.name;
        if built.contains_key(name) || failed.contains(name) || cancel.is_cancelled() {
            continue;
        }
        if let Some(status) = &mut status {
            status.show(format!("building contender '{name}'"));
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
    Ok(Launcher { program, built, disturbable: true })
}

/// Says what went wrong in a sample.
fn tell(sample: &Sample) {
    let wrong = match &sample.outcome {
        Outcome::Right { .. } => None,
        Outcome::Wrong { found } => Some(format!("found something else: {found}")),
        Outcome::Void { instead } => Some(format!("could not prove its state: {instead}")),
        Outcome::Failed(failure) => Some(failure.to_string()),
    };
    if let Some(wrong) = wrong {
        output::complain(&format!("{}: {wrong}", sample.cell));
    }
}
