//! `transect lab self-test`: how far the verdicts of the lab can be trusted on this machine.

use std::time::{Duration, Instant};

use transect_lab::harness::cache_state::{self, State};
use transect_lab::report::self_test::write_self_test;
use transect_lab::rivals::builtin;
use transect_lab::self_test::{Part, SelfTestRequest, SelfTestStep, self_test};

use super::error::{cannot, lab, own_program};
use super::request::scratch;
use crate::args::LabSelfTestArgs;
use transect_program::exit::{CliError, ExitStatus};
use transect_program::interrupt::cancel_on_signal;
use transect_program::status_line::StatusLine;
use transect_program::user_dirs;
use transect_program::{file, output};
use transect_text::units;

pub(crate) fn run(args: &LabSelfTestArgs) -> Result<ExitStatus, CliError> {
    let states = states(&args.state)?;
    if let Some(file) = args.output.as_ref().filter(|file| file.exists()) {
        return Err(CliError::Failed(format!("'{}' already exists", file.display())));
    }
    let parts = match args.part.as_slice() {
        [] => vec![Part::Verdicts, Part::Faults],
        parts => parts.to_vec(),
    };
    let cache = user_dirs::cache("contenders")?;
    let contenders = match &args.contenders {
        Some(folder) => folder.canonicalize().map_err(cannot("access", folder))?,
        None => builtin::unpack(&cache).map_err(cannot("write contenders to", &cache))?,
    };
    let scratch = scratch(args.dir.as_deref())?;
    let request = SelfTestRequest {
        program: own_program()?,
        contenders,
        cache,
        folder: scratch.folder().to_owned(),
        parts,
        sessions: args.sessions.into(),
        max_time: args.max_time.map(|time| time.as_secs()),
        made_up: args.sessions.into(),
        states,
        files: args.files as usize,
    };
    let cancel = cancel_on_signal()?;
    let mut status = StatusLine::on_terminal();
    let mut ends: Option<Instant> = None;
    let result = self_test(&request, &cancel, &mut |step| {
        if let SelfTestStep::Estimated(state, time) = step
            && !time.is_zero()
        {
            ends = Some(Instant::now() + time);
            let what = match state {
                None => "sessions of equal methods".to_owned(),
                Some(state) => format!("planted faults, caches {},", state.label()),
            };
            let time = units::duration(time);
            output::hint(&format!("{what} take about {time}"));
        }
        if let Some(status) = &mut status {
            status.show(line(step, ends));
        }
    });
    drop(status);
    let Some(result) = result.map_err(lab)? else { return Ok(ExitStatus::Interrupted) };
    drop(scratch);
    if let Some(file) = &args.output {
        file::write(file, |mut out| output::write_json(&mut out, &result))?;
    }
    let mut out = output::buffer();
    match args.json {
        true => output::write_json(&mut out, &result)?,
        false => write_self_test(&mut out, &result)?,
    }
    output::print(out)?;
    Ok(if result.passed { ExitStatus::Complete } else { ExitStatus::Partial })
}

/// Returns the states in which contenders run: by default all that can be made here.
fn states(asked: &[State]) -> Result<Vec<State>, CliError> {
    let why_not = cache_state::unavailable_reason(State::Cold);
    if let Some(why_not) = why_not.as_ref().filter(|_| asked.contains(&State::Cold)) {
        return Err(CliError::Failed(format!("cannot measure with cold caches: {why_not}")));
    }
    if !asked.is_empty() {
        return Ok(asked.to_vec());
    }
    let cold = why_not.is_none().then_some(State::Cold);
    Ok(std::iter::once(State::Warm).chain(cold).collect())
}

/// Returns a line of progress.
fn line(step: SelfTestStep, ends: Option<Instant>) -> String {
    let time = ends.map_or(String::new(), |ends| {
        let left = ends.saturating_duration_since(Instant::now());
        format!(", about {}", units::duration(Duration::from_secs(left.as_secs())))
    });
    match step {
        SelfTestStep::Estimated(..) => "the first of them are complete".to_owned(),
        SelfTestStep::SessionsLeft(left) => {
            format!("sessions of equal methods: {left} left{time}")
        }
        SelfTestStep::Ranking => "ranking sessions of equal methods".to_owned(),
        SelfTestStep::FaultsLeft(state, left) => {
            format!("planted faults, caches {}: {left} runs left{time}", state.label())
        }
    }
}
