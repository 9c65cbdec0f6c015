//! The decisions of a session that a profile stores for the planner.

use transect_program::profile::{Profile, TransformEvidence, TransformSetting};
use transect_transform::pass::{Load, SizeClass};

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
    /// Whether the output is synced before the end.
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
            let Some(MethodChoice { load, chosen, .. }) = of_class.first().map(|it| &it.choice)
            else {
                continue;
            };
            let agree = of_class.iter().all(|other| same_choice(chosen, &other.choice.chosen));
            if agree && !matches!(chosen, Chosen::Undecided { .. }) {
                let setting = setting(&data.spec, rules, size, &of_class);
                decisions.push(Decision { load: *load, size, state, sync: rules.sync, setting });
            }
        }
    }
    decisions
}

fn same_choice(one: &Chosen, other: &Chosen) -> bool {
    match (one, other) {
        (
            Chosen::Preferred { method, block, .. },
            Chosen::Preferred { method: same_method, block: same_block, .. },
        ) => (method, block) == (same_method, same_block),
        (one, other) => one == other,
    }
}

fn setting(
    spec: &SessionSpec,
    rules: Rules,
    size: SizeClass,
    agreed: &[&Explanation],
) -> Option<TransformSetting> {
    let &Explanation { state, choice: MethodChoice { load, by_default, ref chosen, .. }, .. } =
        *agreed.first()?;
    let Chosen::Preferred { method, block, .. } = *chosen else { return None };
    let evidence = |it: &&Explanation| match it.choice.chosen {
        Chosen::Preferred { evidence, .. } => Some(TransformEvidence {
            ratios: stored(&evidence.ratios),
            confirmed: stored(&evidence.confirmed),
        }),
        Chosen::Default | Chosen::Undecided { .. } => None,
    };
    Some(TransformSetting {
        load,
        size,
        state,
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
