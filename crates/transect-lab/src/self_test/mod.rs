//! Tests the lab itself, on this machine: how often its verdicts are false, how often it finds a true
//! difference, and whether it catches contenders that are wrong on purpose.
//!
//! ```text
//! one method under several names ─► one long session, really measured ─► split into short sessions ─► rank
//! samples drawn with known noise ──────────────────────────────────────► short sessions ────────────► rank
//! contenders with planted faults ─► a session, warm and cold ───────────────────────────────────────► rank
//! ```
//!
//! Everything is measured, ranked and judged by the code of all sessions.

mod equal;
mod faults;
mod made_up;
mod rate;
mod request;
mod result;
mod tree;

use std::time::Instant;

use transect::Cancel;

use crate::experiments::walk::preset as walk;
use crate::harness::environment::Environment;
use crate::harness::log::SessionData;

use rate::{Length, MAX_ROUNDS};

pub use rate::{DELAY, MAX_FALSE, MIN_FOUND, Rate, VerdictRates};
pub use request::{Part, SelfTestError, SelfTestRequest, SelfTestStep};
pub use result::{CaughtFault, Control, Measured, SCHEMA, SelfTest};

/// Fixed numbers of rounds, as of `--rounds`: they show what each finds.
const FIXED_ROUNDS: [usize; 4] = [12, 20, 30, 45];

/// Tests the lab; returns `None` if cancelled.
///
/// # Errors
/// A session fails, or a method that has to work does.
pub fn self_test(
    request: &SelfTestRequest,
    cancel: &Cancel,
    progress: &mut dyn FnMut(SelfTestStep),
) -> Result<Option<SelfTest>, SelfTestError> {
    let began = Instant::now();
    let mut result = SelfTest {
        schema: SCHEMA,
        passed: false,
        environment: Environment::of_this_command(),
        seconds: 0.0,
        measured: None,
        verdicts: Vec::new(),
        faults: Vec::new(),
        controls: Vec::new(),
    };
    if request.parts.contains(&Part::Verdicts) {
        let Some(data) = equal::measure(request, cancel, progress)? else { return Ok(None) };
        progress(SelfTestStep::Ranking);
        result.measured = Some(equal::measured(&data));
        result.verdicts = measured_rates(&data);
        result.verdicts.extend(made_up::rates(&data.spec, request.made_up));
    }
    if request.parts.contains(&Part::Faults) {
        for &state in &request.states {
            match faults::run(request, state, cancel, progress)? {
                Some((caught, controls)) => {
                    result.faults.extend(caught);
                    result.controls.extend(controls);
                }
                None => return Ok(None),
            }
        }
    }
    result.passed = result.verdicts.iter().all(|rates| rates.passed)
        && result.faults.iter().all(|fault| fault.caught)
        && result.controls.iter().all(|control| control.ranked);
    result.seconds = began.elapsed().as_secs_f64();
    Ok((!cancel.is_cancelled()).then_some(result))
}

/// Returns the rates on measured samples, of sessions as the default preset has them, and of fixed numbers
/// of rounds, which have no target for the true difference.
fn measured_rates(data: &SessionData) -> Vec<VerdictRates> {
    let until_precise = Length::UntilPrecise { min: walk::PRESETS[0].rounds, max: MAX_ROUNDS };
    let fixed = FIXED_ROUNDS.map(|rounds| equal::rates(data, Length::Fixed(rounds), false));
    std::iter::once(equal::rates(data, until_precise, true)).chain(fixed).collect()
}
