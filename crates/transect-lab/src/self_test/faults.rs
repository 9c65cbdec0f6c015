//! Contenders that are wrong on purpose: each has to be caught, and a correct one beside them must not be.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use transect::{Cancel, Order, ReaderKind};

use super::request::{SelfTestError, SelfTestRequest, SelfTestStep};
use super::result::{CaughtFault, Control};
use super::tree;
use crate::experiments::walk::measure::{WalkExperiment, dataset};
use crate::experiments::walk::method::{Method, WalkRunner, cells};
use crate::experiments::walk::variant::Variant;
use crate::harness::cache_state::State;
use crate::harness::experiment::Launcher;
use crate::harness::launch::Failure;
use crate::harness::scheduler::Session;
use crate::ranking::{Metric, Ranking, rank_by, stopping};
use crate::spec::{SessionSpec, Spec};

/// The planted faults: methods of the contender `test-double`, and what they do.
const FAULTS: &[(&str, &str)] = &[
    ("wrong-early", "works before its clock starts"),
    ("wrong-stops-early", "stops its clock before it works"),
    ("wrong-slow-clock", "has a clock that is a thousand times too slow"),
    ("wrong-remembers", "repeats a remembered result"),
    ("wrong-hides-dot-names", "skips hidden entries"),
    ("wrong-follows-links", "follows links"),
    ("wrong-drops-empty-files", "drops empty files"),
    ("wrong-counts-links", "counts links as files"),
    ("wrong-link-for-empty-file", "counts a link instead of an empty file"),
    ("wrong-background", "works in a daemon that outlives it"),
    ("wrong-server", "hands its work to a server"),
    ("wrong-no-cpu", "reports no CPU time"),
    ("wrong-part", "reads a part of the tree"),
];

/// Faults that need `fork` or sockets of Unix.
const OF_UNIX: [&str; 2] = ["wrong-background", "wrong-server"];

/// The correct methods beside them: the same program without a fault, and the same calls in C.
const CONTROLS: [&str; 2] = ["honest", "c-fts"];

/// The floor of the session.
const FLOOR: &str = "floor";

/// Rounds: three undisturbed samples are needed to judge wall times.
const ROUNDS: usize = 3;

/// The time limit of a process, in seconds.
const LIMIT: u64 = 60;

/// The faults and the correct methods in one state.
type Tested = (Vec<CaughtFault>, Vec<Control>);

/// The server of the fault that needs one; ended on drop.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures all faults in a state of the caches; returns `None` if cancelled.
pub(super) fn run(
    request: &SelfTestRequest,
    state: State,
    cancel: &Cancel,
    progress: &mut dyn FnMut(SelfTestStep),
) -> Result<Option<Tested>, SelfTestError> {
    let prepare = |what: &str| {
        let what = what.to_owned();
        move |error| SelfTestError::Prepare(what, error)
    };
    let folder = request.folder.join(state.as_str());
    let root = folder.join("tree");
    std::fs::create_dir(&folder)
        .and_then(|()| tree::create(&root, request.files))
        .and_then(|()| tree::add_odd_entries(&root))
        .map_err(prepare("a tree"))?;

    let planted: Vec<(&str, &str)> =
        FAULTS.iter().filter(|(name, _)| cfg!(unix) || !OF_UNIX.contains(name)).copied().collect();
    let base = Method::variant(&Variant::new(ReaderKind::best(), Order::default()));
    let (all, _) = Method::all(Some(&request.contenders), true);
    let is_wanted = |method: &&Method| {
        let name = method.name.as_str();
        let is_fault = planted.iter().any(|(fault, _)| *fault == name);
        is_fault || name == FLOOR || CONTROLS.contains(&name)
    };
    let mut methods = vec![base];
    methods.extend(all.iter().filter(is_wanted).cloned());
    let mut built = BTreeMap::new();
    for method in &mut methods {
        let WalkRunner::Contender(contender) = &method.runner else { continue };
        if method.unavailable_reason.is_some() || built.contains_key(&contender.name) {
            continue;
        }
        match contender.build(&request.cache) {
            Ok(out) => drop(built.insert(contender.name.clone(), out)),
            Err(reason) => method.unavailable_reason = Some(reason),
        }
    }
    let here: Vec<&Method> =
        methods.iter().filter(|method| method.unavailable_reason.is_none()).collect();
    let has_server = here.iter().any(|method| method.name == "wrong-server");
    let _server = match has_server {
        true => Some(serve(request, &root).map_err(prepare("the server of a planted fault"))?),
        false => None,
    };

    let datasets = vec![dataset("tree".to_owned(), root)];
    let base = methods[0].name.as_str();
    let spec = SessionSpec::new(Spec::Walk, "self-test", datasets, cells(&here, base), base);
    let floor = here.iter().any(|method| method.name == FLOOR).then(|| FLOOR.to_owned());
    let (seed, rounds) = (spec.environment.began, ROUNDS);
    let spec = SessionSpec { cache_states: vec![state], rounds, seed, limit: LIMIT, floor, ..spec };
    let launcher = Launcher { program: request.program.clone(), built, disturbable: true };
    let mut session = Session::begin(spec, &folder.join("faults.jsonl"))?;
    let mut experiment = WalkExperiment::new(&methods, &launcher);
    let (began, mut done) = (Instant::now(), 0);
    session.run(&mut experiment, &stopping::end, cancel, &mut |_, left| {
        done += 1;
        if done == here.len() {
            // Each start is measured up to six times.
            let left = u32::try_from(left + 6 * here.len()).unwrap_or(u32::MAX);
            let each = began.elapsed() / u32::try_from(done).unwrap_or(u32::MAX);
            progress(SelfTestStep::Estimated(Some(state), each * left));
        }
        progress(SelfTestStep::FaultsLeft(state, left));
    })?;
    let mut failed = None;
    session.time_starts(&mut experiment, cancel, &mut |name, result, _| {
        if let Err(reason) = result {
            failed.get_or_insert((name.to_owned(), reason));
        }
    })?;
    if let Some((name, reason)) = failed {
        return Err(SelfTestError::Method(name, Failure::NotStarted { reason }));
    }
    if cancel.is_cancelled() {
        return Ok(None);
    }
    // By time, however busy the machine is: methods without a known CPU time would be left out.
    let ranking = rank_by(session.data(), 0, 0, Metric::Time);
    let reason = |name: &str| {
        let method = methods.iter().find(|method| method.name == name);
        method.map_or(Some("it is missing".to_owned()), |it| it.unavailable_reason.clone())
    };
    let faults = planted.iter().map(|&(name, about)| {
        let objection = objection(&ranking, name);
        CaughtFault {
            method: name.to_owned(),
            about: about.to_owned(),
            state,
            caught: objection.is_some(),
            reason: objection.or_else(|| reason(name)),
        }
    });
    let controls = CONTROLS.iter().chain([&base]).map(|&name| Control {
        method: name.to_owned(),
        state,
        ranked: ranking.rows.iter().any(|row| row.cell.name == name),
        reason: objection(&ranking, name).or_else(|| reason(name)),
    });
    Ok(Some((faults.collect(), controls.collect())))
}

/// Returns why a cell is not ranked.
fn objection(ranking: &Ranking, cell: &str) -> Option<String> {
    let implausible = ranking.implausible.iter().find(|row| row.cell.name == cell);
    let unranked = ranking.unranked.iter().find(|unranked| unranked.cell == cell);
    implausible.and_then(|row| row.implausible.clone()).or(unranked.map(|it| it.reason.clone()))
}

/// Starts the server, which is no child of any method, and waits until it listens.
fn serve(request: &SelfTestRequest, root: &std::path::Path) -> std::io::Result<Server> {
    let mut command = Command::new("python3");
    command.arg(request.contenders.join("test-double/walk.py")).arg("serve").arg(root);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut server = Server(command.spawn()?);
    let output = server.0.stdout.take().expect("BUG: stdout is a pipe");
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    if line.is_empty() {
        return Err(std::io::ErrorKind::BrokenPipe.into());
    }
    Ok(server)
}
