//! The decisions of a session that a profile stores for the planner.

use transect_program::profile::{Profile, TransformSetting};
use transect_transform::pass::{IoMethod, Load, SizeClass};

use super::choice::{Chosen, MethodChoice};
use super::explanation::Explanation;
use crate::experiments::transform::{Rules, SyncRule};
use crate::harness::cache_state::State;
use crate::harness::log::SessionData;
use crate::spec::SessionSpec;
use crate::tune::stored;

/// A decision about files of one load, size class and cache state.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub load: Load,
    pub size: SizeClass,
    pub state: State,
    pub sync: SyncRule,
    /// The winner; `None` if it is the planner's default.
    pub setting: Option<TransformSetting>,
}

/// Returns the decisions of a session. All inputs of a size class have to agree; otherwise nothing is
/// decided for that class.
pub fn decisions(data: &SessionData, explained: &[Explanation]) -> Vec<Decision> {
    let Some(rules) = data.spec.transform else { return Vec::new() };
    let mut decisions = Vec::new();
    for state in [State::Warm, State::Cold] {
        for &size in SizeClass::ALL {
            let is_of_class = |it: &&Explanation| it.state == state && it.choice.size == Some(size);
            let of_class: Vec<&Explanation> = explained.iter().filter(is_of_class).collect();
            let Some(first) = of_class.first() else { continue };
            let is_decided =
                |it: &&Explanation| !matches!(it.choice.chosen, Chosen::Undecided { .. });
            let agrees = |it: &&Explanation| preferred(it) == preferred(first);
            if of_class.iter().all(|it| is_decided(it) && agrees(it)) {
                let (load, sync) = (first.choice.load, rules.sync);
                let setting = setting(&data.spec, rules, size, &of_class);
                decisions.push(Decision { load, size, state, sync, setting });
            }
        }
    }
    decisions
}

/// Returns the method and the block that are preferred to the default, if any are.
fn preferred(explanation: &Explanation) -> Option<(IoMethod, Option<usize>)> {
    match explanation.choice.chosen {
        Chosen::Preferred { method, block, .. } => Some((method, block)),
        Chosen::Default | Chosen::Undecided { .. } => None,
    }
}

fn setting(
    spec: &SessionSpec,
    rules: Rules,
    size: SizeClass,
    agreed: &[&Explanation],
) -> Option<TransformSetting> {
    let first = agreed.first()?;
    let (method, block) = preferred(first)?;
    let MethodChoice { load, by_default, .. } = first.choice;
    let evidence = |it: &&Explanation| match it.choice.chosen {
        Chosen::Preferred { evidence, .. } => Some(evidence),
        Chosen::Default | Chosen::Undecided { .. } => None,
    };
    Some(TransformSetting {
        load,
        size,
        state: first.state,
        sync: rules.sync,
        method,
        block,
        kind: rules.kind.as_str().to_owned(),
        bytes: agreed.iter().map(|it| spec.datasets[it.dataset].expected.bytes).collect(),
        by_default,
        evidence: agreed.iter().filter_map(evidence).collect(),
        environment: stored(&spec.environment),
    })
}

/// Applies decisions to a profile: each replaces an earlier one with the same load, size class, cache state
/// and sync rule. The rest of the profile is unchanged.
pub fn apply(decisions: Vec<Decision>, profile: &mut Profile) {
    for Decision { load, size, state, sync, setting } in decisions {
        let is_about = |it: &TransformSetting| {
            (it.load, it.size, it.state, it.sync) == (load, size, state, sync)
        };
        profile.passes.retain(|before| !is_about(before));
        profile.passes.extend(setting);
    }
}
