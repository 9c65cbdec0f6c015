//! Tests the lab itself, on this machine: how often its verdicts are false, how often it finds a true
//! difference, and whether it catches contenders that are wrong on purpose.
//!
//! ```text
//! one method under several names ─► sessions, really measured ─► rank
//! samples drawn with known noise ─► sessions ──────────────────► rank
//! contenders with planted faults ─► a session, warm and cold ──► rank
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

use crate::harness::environment::Environment;
use crate::harness::log::SessionData;

use crate::experiments::walk::preset::PRESETS;
use rate::Length;

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
        let Some(sessions) = equal::measure(request, cancel, progress)? else { return Ok(None) };
        progress(SelfTestStep::Ranking);
        result.measured = Some(equal::measured(&sessions));
        result.verdicts = measured_rates(&sessions);
        result.verdicts.extend(made_up::rates(&sessions[0].spec, request.made_up));
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

/// Returns the rates of the measured sessions, and of fixed numbers of their rounds, which have no target for
/// the true difference.
fn measured_rates(sessions: &[SessionData]) -> Vec<VerdictRates> {
    let length = Length::UntilPrecise { min: PRESETS[0].rounds, max: usize::MAX };
    let as_measured = equal::rates_of("measured".to_owned(), length, sessions, true);
    let fixed = FIXED_ROUNDS.map(|rounds| equal::rates_of_fixed(sessions, rounds));
    std::iter::once(as_measured).chain(fixed).collect()
}
