//! What the lab measured, as a profile stores it.

use serde::Serialize;
use serde_json::Value;
use transect_program::profile;
use transect_stats::Ratios;

use crate::harness::environment::{Environment, FileSystem};

pub(crate) fn ratios(ratios: Ratios) -> profile::Ratios {
    let Ratios { n, median, low, high, mad, p, seed } = ratios;
    profile::Ratios { n, median, low, high, mad, p, seed }
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("BUG: an object of plain fields can be written")
}

impl FileSystem {
    pub fn stored(&self) -> Value {
        value(self)
    }
}

impl Environment {
    pub fn stored(&self) -> profile::Environment {
        let stored = serde_json::from_value(value(self));
        stored.expect("BUG: it has the fields that a profile needs")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_stored_with_all_that_is_known() {
        let environment = Environment::capture(vec!["transect".to_owned()]);
        let stored = environment.stored();
        assert_eq!((stored.began, stored.cores), (environment.began, environment.cores));
        assert_eq!(value(&stored), value(&environment));
    }
}
