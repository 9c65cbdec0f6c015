//! Contenders that are wrong on purpose: each has to be caught, and a correct one beside them must not be.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use transect::internal::Order;
use transect::{Cancel, ReaderKind};

use crate::result::{CaughtFault, Control};
use crate::{PROGRAM, tree};
use transect_lab::experiments::method::Origin;
use transect_lab::experiments::walk::measure::{WalkExperiment, dataset};
use transect_lab::experiments::walk::method::{Method, cells};
use transect_lab::experiments::walk::variant::Variant;
use transect_lab::harness::cache_state::State;
use transect_lab::harness::experiment::Launcher;
use transect_lab::harness::log::Session;
use transect_lab::ranking::{Metric, Ranking, rank_by, stopping};
use transect_lab::rivals::contender::Contender;
use transect_lab::spec::SessionSpec;

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

/// Measures all faults in a state of the caches.
pub(crate) fn run(folder: &Path, state: State, files: usize) -> Tested {
    let folder = folder.join(state.as_str());
    let root = folder.join("tree");
    std::fs::create_dir(&folder)
        .and_then(|()| tree::create(&root, files))
        .and_then(|()| tree::add_odd_entries(&root))
        .expect("a tree");
    let contenders = Path::new(env!("CARGO_MANIFEST_DIR")).join("contenders");
    let mut methods = methods(&contenders);
    let built = build(&mut methods);
    let here: Vec<&Method> =
        methods.iter().filter(|method| method.unavailable_reason.is_none()).collect();
    let has_server = here.iter().any(|method| method.name == "wrong-server");
    let _server = has_server.then(|| serve(&contenders, &root).expect("the server of a fault"));

    let datasets = vec![dataset("tree".to_owned(), root)];
    let base = methods[0].name.as_str();
    let spec = SessionSpec::new("self-test", datasets, cells(&here, base), base);
    let floor = here.iter().any(|method| method.name == FLOOR).then(|| FLOOR.to_owned());
    let (seed, rounds) = (spec.environment.began, ROUNDS);
    let spec = SessionSpec { cache_states: vec![state], rounds, seed, limit: LIMIT, floor, ..spec };
    let launcher = Launcher { program: PROGRAM.into(), built, disturbable: true };
    let mut session = Session::begin(spec, &folder.join("faults.jsonl")).expect("a session");
    let mut experiment = WalkExperiment::new(&methods, &launcher);
    let cancel = Cancel::new();
    session.run(&mut experiment, &stopping::end, &cancel, &mut |_, _| ()).expect("samples");
    let started = session.time_starts(&mut experiment, &cancel, &mut |name, result, _| {
        assert!(result.is_ok(), "{name}: {result:?}");
    });
    started.expect("starts");
    // By time, however busy the machine is: methods without a known CPU time would be left out.
    let ranking = rank_by(session.data(), 0, 0, Metric::Time);
    judged(&ranking, &methods, state)
}

/// Returns the base, and the contenders that are needed.
fn methods(contenders: &Path) -> Vec<Method> {
    let base = Method::variant(&Variant::new(ReaderKind::best(), Order::default()));
    let (all, _) = Method::all(&Contender::load_all(contenders, true).0);
    let is_wanted = |method: &Method| {
        let name = method.name.as_str();
        let is_fault = FAULTS.iter().any(|(fault, _)| *fault == name);
        is_fault || name == FLOOR || CONTROLS.contains(&name)
    };
    std::iter::once(base).chain(all.into_iter().filter(is_wanted)).collect()
}

/// Builds contenders, and returns the folders of those that can be built.
fn build(methods: &mut [Method]) -> BTreeMap<String, PathBuf> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache/transect/contenders");
    let mut built = BTreeMap::new();
    for method in methods {
        let Origin::Contender(contender) = &method.origin else { continue };
        if method.unavailable_reason.is_some() || built.contains_key(&contender.name) {
            continue;
        }
        match contender.build(&cache) {
            Ok(out) => drop(built.insert(contender.name.clone(), out)),
            Err(reason) => method.unavailable_reason = Some(reason),
        }
    }
    built
}

/// Returns which faults were caught, and which correct methods were ranked.
fn judged(ranking: &Ranking, methods: &[Method], state: State) -> Tested {
    let reason = |name: &str| {
        let method = methods.iter().find(|method| method.name == name);
        method.map_or(Some("it is missing".to_owned()), |it| it.unavailable_reason.clone())
    };
    let faults = FAULTS.iter().map(|&(name, about)| {
        let objection = objection(ranking, name);
        CaughtFault {
            method: name.to_owned(),
            about: about.to_owned(),
            state,
            caught: objection.is_some(),
            reason: objection.or_else(|| reason(name)),
        }
    });
    let base = methods[0].name.as_str();
    let controls = CONTROLS.iter().chain([&base]).map(|&name| Control {
        method: name.to_owned(),
        state,
        ranked: ranking.rows.iter().any(|row| row.cell.name == name),
        reason: objection(ranking, name).or_else(|| reason(name)),
    });
    (faults.collect(), controls.collect())
}

/// Returns why a cell is not ranked.
fn objection(ranking: &Ranking, cell: &str) -> Option<String> {
    let unranked = ranking.unranked.iter().find(|unranked| unranked.cell == cell);
    unranked.map(|unranked| unranked.reason.clone())
}

/// Starts the server, which is no child of any method, and waits until it listens.
fn serve(contenders: &Path, root: &Path) -> std::io::Result<Server> {
    let mut command = Command::new("python3");
    command.arg(contenders.join("test-double/walk.py")).arg("serve").arg(root);
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
