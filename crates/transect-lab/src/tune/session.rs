//! A session of tuning.

use std::path::Path;

use transect::Cancel;
use transect::internal::WalkSettings;

use super::request::{TuneProgress, TuneRequest};
use crate::experiments::walk::measure::{WalkExperiment, dataset};
use crate::experiments::walk::method::{Method, cells};
use crate::experiments::walk::sample_tree::SampleTree;
use crate::experiments::walk::variant::Variant;
use crate::harness::log::Session;
use crate::ranking::{Ranking, rank, stopping};
use crate::spec::SessionSpec;

pub(super) const WALK_TIMEOUT_SECONDS: u64 = 60;

pub(super) struct TuneSession<'a> {
    pub(super) request: &'a TuneRequest<'a>,
    pub(super) sample_tree: &'a SampleTree,
    pub(super) rounds: usize,
}

impl TuneSession<'_> {
    /// Measures settings against the default; returns `None` if cancelled.
    pub(super) fn run(
        &self,
        file: &Path,
        settings: &[WalkSettings],
        cancel: &Cancel,
        progress: &mut dyn FnMut(TuneProgress<'_>),
    ) -> Result<Option<Vec<Ranking>>, String> {
        let TuneRequest { states, .. } = self.request;
        let default = WalkSettings::default();
        let methods: Vec<Method> = std::iter::once(&default)
            .chain(settings)
            .map(|settings| Method::variant(&Variant::from(*settings)))
            .collect();
        let base = methods[0].name.as_str();
        let cells = cells(&methods.iter().collect::<Vec<_>>(), base);
        let root = self.sample_tree.root.clone();
        let datasets = vec![dataset(root.display().to_string(), root)];
        let spec = SessionSpec::new("tune", datasets, cells, base);
        let spec = SessionSpec {
            cache_states: states.to_vec(),
            rounds: self.rounds,
            seed: spec.environment.began,
            limit: WALK_TIMEOUT_SECONDS,
            ..spec
        };
        let mut session = Session::begin(spec, file)?;
        let mut experiment = WalkExperiment::new(&methods, &self.request.launcher);
        session.run(&mut experiment, &stopping::end, cancel, &mut |_, left| {
            progress(TuneProgress::WalksLeft(left));
        })?;
        Ok((!cancel.is_cancelled()).then(|| rank(session.data())))
    }
}
