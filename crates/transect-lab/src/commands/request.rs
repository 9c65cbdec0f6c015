//! Requests for sessions: the part that the subcommands of all experiments share.

use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use globset::{Glob, GlobMatcher};
use transect::Cancel;
use transect_lab::experiments::method::Method;
use transect_lab::harness::cache_state::State;
use transect_lab::harness::error::cannot;
use transect_lab::harness::experiment::{Experiment, Launcher};
use transect_lab::harness::log::Session;
use transect_lab::harness::possible_states::{DropScope, PossibleStates};
use transect_lab::harness::scratch::Scratch;
use transect_lab::rivals::builtin;
use transect_lab::rivals::contender::Contender;
use transect_lab::spec::words::Words;
use transect_lab::spec::{Cell, SessionSpec};
use transect_stats::verdict::MIN_ROUNDS;

use crate::args::{LabMethodsArgs, LabSessionArgs};
use transect_program::exit::CliError;
use transect_program::{output, user_dirs};
use transect_text::quote;
use transect_text::units::counted;

/// A request for a session of one experiment, from its subcommand of `lab run`.
pub(super) trait Request {
    /// The part of methods that only this experiment has.
    type Part;

    type Experiment<'s>: Experiment;

    /// The directory that a session works in; `()` if it needs none.
    type Scratch;

    const WORDS: &'static Words;

    /// Whether a page is written beside the session.
    const HAS_PAGE: bool = false;

    fn session(&self) -> &LabSessionArgs;

    fn counts_calls(&self) -> bool;

    /// Whether the slowest methods are left out if the session would exceed its time limit.
    fn leaves_out_slowest(&self) -> bool {
        false
    }

    /// Returns all methods, including those of a resumed session. Prints the errors of contenders that cannot
    /// be read.
    fn methods(&self, resumed: Option<&SessionSpec>) -> Result<Vec<Method<Self::Part>>, CliError>;

    fn scratch(&self) -> Result<Self::Scratch, CliError>;

    /// Writes what the session would measure, and creates nothing.
    fn write_plan(
        &self,
        out: &mut dyn Write,
        methods: &[Method<Self::Part>],
    ) -> Result<(), CliError>;

    /// Plans the session, with the rounds of its preset; `None` if the user interrupts.
    fn plan(
        &self,
        methods: &[Method<Self::Part>],
        scratch: &Self::Scratch,
        cancel: &Cancel,
    ) -> Result<Option<SessionSpec>, CliError>;

    fn check(&self, _: &SessionSpec, _: &Self::Scratch) -> Result<(), CliError> {
        Ok(())
    }

    fn check_resumed(&self, spec: &SessionSpec, scratch: &Self::Scratch) -> Result<(), CliError> {
        self.check(spec, scratch)
    }

    fn experiment<'s>(
        methods: &'s [Method<Self::Part>],
        launcher: &'s Launcher,
        scratch: &'s Self::Scratch,
    ) -> Self::Experiment<'s>;
}

/// Applies the options to a plan.
///
/// # Errors
/// The base or a cell of a pair is not in the session.
pub(super) fn apply(
    session: &LabSessionArgs,
    mut plan: SessionSpec,
) -> Result<SessionSpec, CliError> {
    if let Some(base) = &session.base {
        plan.set_base(base)?;
    }
    session.pairs.iter().try_for_each(|text| plan.add_pair(text))?;
    // A number of rounds that the user chose is not exceeded.
    let max_time = plan.max_time.filter(|_| session.rounds.is_none());
    Ok(SessionSpec {
        rounds: rounds(session, plan.rounds),
        max_time: session.max_time.map(|time| time.as_secs()).or(max_time),
        seed: session.seed.unwrap_or_else(seed_of_the_clock),
        limit: session.limit,
        ..plan
    })
}

/// Returns the contenders, and whether all of them could be read; prints the errors.
pub(super) fn contenders(args: &LabMethodsArgs) -> Result<(Vec<Contender>, bool), CliError> {
    let folder = match &args.contenders {
        Some(folder) => folder.clone(),
        None => {
            let cache = user_dirs::cache("contenders")?;
            builtin::unpack(&cache).map_err(cannot("write contenders to", &cache))?
        }
    };
    let (contenders, wrong) = Contender::load_all(&folder, args.test_doubles);
    wrong.iter().for_each(output::error);
    Ok((contenders, wrong.is_empty()))
}

/// Creates the directory of a session in `dir`, or in the user's cache.
pub(super) fn scratch(dir: Option<&Path>) -> Result<Scratch, CliError> {
    let parent = match dir {
        Some(dir) => dir.to_owned(),
        None => user_dirs::cache("scratch")?,
    };
    let parent = parent.canonicalize().map_err(cannot("access", &parent))?;
    Ok(Scratch::new(&parent).map_err(cannot("make a directory in", &parent))?)
}

/// Resumes a session of one experiment.
///
/// # Errors
/// The file cannot be read, or the session is of another experiment.
pub(super) fn resume(file: &Path, words: &Words) -> Result<Session, CliError> {
    let session = Session::resume(file)?;
    let own = session.data().spec.words();
    if own.command == words.command {
        return Ok(session);
    }
    let (file, about, word) = (file.display(), own.plural, own.command);
    let other = format!("use transect lab run {word} --resume");
    Err(format!("'{file}' is a session of {about}; {other}").into())
}

pub(super) fn write_cells(
    out: &mut dyn Write,
    cells: &[Cell],
    (datasets, [one, many]): (usize, [&str; 2]),
    cache_states: usize,
    rounds: usize,
) -> std::io::Result<()> {
    let of = |number: usize, one, many| counted(number as u64, one, many);
    let all = of(cells.len() * datasets * cache_states * rounds, "sample", "samples");
    let cells_of = of(cells.len(), "cell", "cells");
    let (datasets, states) = (of(datasets, one, many), of(cache_states, "state", "states"));
    writeln!(out, "{all}: {cells_of}, {datasets}, {states}, {}", of(rounds, "round", "rounds"))?;
    cells.iter().try_for_each(|cell| writeln!(out, "  {}", quote::for_terminal(cell.name.as_ref())))
}

/// Returns the states that the user asks for, or those of the preset; an error if one is not available here.
/// On other systems than Linux, a preset's cold state is then replaced.
pub(super) fn possible(
    asked: &[State],
    of_the_preset: &[State],
    scope: DropScope,
) -> Result<PossibleStates, CliError> {
    let refused = |why_not| format!("cannot measure with cold caches: {why_not}");
    Ok(PossibleStates::of(asked, of_the_preset, scope).map_err(refused)?)
}

/// Returns the available methods that match the globs; without globs, the defaults.
pub(super) fn choose<'m, R>(
    globs: &[String],
    methods: &'m [Method<R>],
    is_default: impl Fn(&Method<R>) -> bool,
    is_always: impl Fn(&Method<R>) -> bool,
) -> Result<Vec<&'m Method<R>>, CliError> {
    let globs: Vec<GlobMatcher> =
        globs.iter().map(|text| glob(text, methods)).collect::<Result<_, _>>()?;
    let is_chosen = |method: &&Method<R>| match globs.as_slice() {
        _ if is_always(method) => true,
        [] => is_default(method),
        globs => globs.iter().any(|glob| glob.is_match(&method.name)),
    };
    let here = methods.iter().filter(|method| method.unavailable_reason.is_none());
    Ok(here.filter(is_chosen).collect())
}

/// Parses a value of `--methods`, which has to match an available method.
fn glob<R>(text: &str, methods: &[Method<R>]) -> Result<GlobMatcher, CliError> {
    let glob = Glob::new(text).map_err(CliError::failed)?.compile_matcher();
    let named = methods.iter().filter(|method| glob.is_match(&method.name));
    let reasons: Vec<Option<&str>> =
        named.map(|method| method.unavailable_reason.as_deref()).collect();
    if reasons.is_empty() {
        let known = "`transect lab list` shows all";
        return Err(format!("no method is called '{text}'; {known}").into());
    }
    if let Some(Some(reason)) = reasons.iter().min_by_key(|reason| reason.is_some()) {
        return Err(format!("'{text}' cannot run here: {reason}").into());
    }
    Ok(glob)
}

/// Returns the number of rounds: that of the user, or that of the preset. With `--max-time`, it is at least
/// the minimum for verdicts.
pub(super) fn rounds(asked: &LabSessionArgs, preset: usize) -> usize {
    let rounds = asked.rounds.map_or(preset, usize::from);
    if asked.max_time.is_some() { rounds.max(MIN_ROUNDS) } else { rounds }
}

fn seed_of_the_clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64
}
