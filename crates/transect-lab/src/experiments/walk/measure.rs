//! Walks, measured: every cell of a session is a method that walks a tree.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::experiments::walk::method::{Kind, Method};
use crate::harness::cache_state::{Probe, VOID_RETRIES};
use crate::harness::environment::FileSystem;
use crate::harness::interference::Watch;
use crate::harness::inventory::Inventory;
use crate::harness::launch::{Failure, RunLine, Usage, launch};
use crate::harness::log::{Instead, Outcome};
use crate::harness::scheduler::{Error, Launcher, Measure};
use crate::rivals::peer::{PeerRun, Purpose};
use crate::spec::{Cell, Dataset, Payload, SessionSpec};

/// Runs methods that walk.
#[derive(Debug)]
pub struct Walks<'m> {
    methods: &'m [Method],
    launcher: &'m Launcher,
    /// The peers whose claims were proved, and where. Not kept in the file: whoever goes on with a
    /// session may have other versions of them.
    proved: HashSet<(usize, &'static str)>,
}

impl<'m> Walks<'m> {
    /// Returns what runs these methods.
    pub fn new(methods: &'m [Method], launcher: &'m Launcher) -> Self {
        Self { methods, launcher, proved: HashSet::new() }
    }

    /// Returns what is wrong with a peer that can only prove its work by a listing; asked once in
    /// every dataset, before its first run.
    fn disproof(&mut self, method: &Method, spec: &SessionSpec, dataset: usize) -> Option<Outcome> {
        let Kind::Peer(peer) = method.kind else { return None };
        if peer.is_parsed_in_every_run() || self.proved.contains(&(dataset, peer.name)) {
            return None;
        }
        let SessionSpec { datasets, limit, .. } = spec;
        let (root, inventory) = (&datasets[dataset].root, inventory(&datasets[dataset]));
        match peer.run(root, inventory, Duration::from_secs(*limit), Purpose::Proof) {
            Err(failure) => Some(Outcome::Failed(failure)),
            Ok(PeerRun { judged: Err(found), .. }) => Some(Outcome::Wrong { found }),
            Ok(_) => {
                self.proved.insert((dataset, peer.name));
                None
            }
        }
    }
}

impl Measure for Walks<'_> {
    fn measure(
        &mut self,
        spec: &SessionSpec,
        cell: &Cell,
        dataset: usize,
        cache_state: usize,
    ) -> Result<Outcome, Error> {
        let Some(method) = self.methods.iter().find(|known| known.name == cell.method) else {
            return Ok(Outcome::Failed(Failure::unknown()));
        };
        if let Some(outcome) = self.disproof(method, spec, dataset) {
            return Ok(outcome);
        }
        let SessionSpec { datasets, cache_states, runs, limit, .. } = spec;
        let (dataset, state) = (&datasets[dataset], cache_states[cache_state]);
        let mut void = 0;
        for _ in 0..VOID_RETRIES {
            state.prepare().map_err(|error| Error::State(state, error))?;
            let probe = Probe::begin();
            let watch = self.launcher.disturbable.then(Watch::begin);
            let ran = run_once(method, self.launcher, dataset, *runs, Duration::from_secs(*limit));
            let read_kib = probe.end();
            let (lines, usage) = match ran {
                Ok(Ok(ran)) => ran,
                Ok(Err(found)) => return Ok(Outcome::Wrong { found }),
                Err(failure) => return Ok(Outcome::Failed(failure)),
            };
            let beside = watch.and_then(|watch| watch.end(&usage));
            match (state.is_proved_by(read_kib), read_kib) {
                (Some(false), Some(kib)) => void = kib,
                _ => {
                    let beside = beside.map(Box::new);
                    return Ok(Outcome::Right {
                        runs: lines,
                        usage,
                        read_kib,
                        beside,
                        files: None,
                    });
                }
            }
        }
        Ok(Outcome::Void { instead: Instead::Read { read_kib: void } })
    }
}

/// Runs a method in one process; returns what it found instead, if it found something else.
///
/// # Errors
/// It failed.
fn run_once(
    method: &Method,
    launcher: &Launcher,
    dataset: &Dataset,
    runs: usize,
    limit: Duration,
) -> Result<Result<(Vec<RunLine>, Usage), String>, Failure> {
    let Dataset { root, expected, .. } = dataset;
    if let Kind::Peer(peer) = method.kind {
        let PeerRun { usage, judged } = peer.run(root, inventory(dataset), limit, Purpose::Time)?;
        // It has no clock of ours: what it took is what its process took.
        let line = RunLine::new(*expected, usage.wall_ns);
        return Ok(judged.map(|_| (vec![line], usage)));
    }
    let command = launcher.command(method, root, runs).ok_or_else(Failure::not_built)?;
    let (lines, usage) = launch(command, runs, limit)?;
    Ok(match lines.iter().find(|line| line.work != *expected) {
        Some(line) => Err(line.work.to_string()),
        None => Ok((lines, usage)),
    })
}

/// Returns what is in the tree of a dataset.
fn inventory(dataset: &Dataset) -> &Inventory {
    match &dataset.payload {
        Payload::Walk(inventory) => inventory,
        _ => unreachable!("BUG: a session of walks has no other datasets"),
    }
}

/// Returns the dataset that a tree is: one plain recursion, after which it is in memory as far as it fits.
pub fn dataset(name: String, root: PathBuf) -> Dataset {
    let inventory = Inventory::of(&root);
    let file_system = FileSystem::of(&root);
    let (expected, payload) = (inventory.work(), Payload::Walk(inventory));
    Dataset { name, root, file_system, expected, payload }
}
