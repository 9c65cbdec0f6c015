//! What each method of a dataset needs to do its work.

use crate::harness::cache_state::State;
use crate::ranking::minimum_cost::{Cost, missing_cpu, missing_reads, proves_cold};
use crate::ranking::run_cpu::StartUp;
use crate::ranking::runs::{Ran, Run, read_bytes};
use crate::spec::{SessionSpec, Spec};

/// What each method of a dataset needs, in a state of the caches ([`minimum_cost`](super::minimum_cost)).
pub(super) struct Needs<'d> {
    spec: &'d SessionSpec,
    state: State,
    /// The reads of a cell with cold caches, with its name.
    reads: Option<(Cost, &'d str)>,
    /// The CPU time of the floor, with its name.
    cpu: Option<(Cost, &'d str)>,
}

impl<'d> Needs<'d> {
    pub(super) fn of(spec: &'d SessionSpec, state: State, ran: &[Ran<'d>]) -> Self {
        let find = |name: &str| ran.iter().find(|it| it.cell.name == name);
        let floor = spec.floor.as_deref().and_then(find);
        let reads = |it: &Ran<'d>| Some((it.reads()?, it.cell.name.as_str()));
        let is_cold = state == State::Cold && spec.has_cold_programs();
        let reference = floor.and_then(reads).or_else(|| find(&spec.base).and_then(reads));
        let cpu = floor.filter(|_| spec.experiment() == Spec::Walk);
        Self {
            spec,
            state,
            reads: reference.filter(|_| is_cold),
            cpu: cpu.and_then(|it| Some((it.cpu()?, it.cell.name.as_str()))),
        }
    }

    /// Returns why a cell cannot have done the work, if so. Methods of this program are not judged.
    pub(super) fn objection_to(&self, ran: &Ran<'_>) -> Option<String> {
        if self.spec.is_own(ran.cell) {
            return None;
        }
        let is_other = |name: &str| ran.cell.name != name;
        let reads = self.reads.filter(|(_, name)| is_other(name));
        let cpu = self.cpu.filter(|(_, name)| is_other(name));
        reads
            .and_then(|(needed, name)| missing_reads(&ran.reads()?, &needed, name))
            .or_else(|| cpu.and_then(|(needed, name)| missing_cpu(&ran.cpu()?, &needed, name)))
    }

    pub(super) fn is_proved(&self, run: &Run, start: Option<StartUp>) -> bool {
        if self.state != State::Cold || run.files.is_some() {
            return run.is_proved == Some(true);
        }
        let cost = || {
            let start = start?.read_bytes?;
            Some(Cost { process: read_bytes(&run.usage)?, start, runs: 1 })
        };
        let (Some(cost), Some((needed, _))) = (cost(), &self.reads) else { return false };
        proves_cold(&cost, needed)
    }
}
