//! What the lab measured, as a profile stores it.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Returns a value as a type of the profile that has the same fields, or some of them.
pub fn stored<T: DeserializeOwned>(of: &impl Serialize) -> T {
    let stored = serde_json::to_value(of).and_then(serde_json::from_value);
    stored.expect("BUG: it has the fields that a profile needs")
}

#[cfg(test)]
mod tests {
    use crate::harness::environment::Environment;
    use serde_json::Value;
    use transect_program::profile;

    #[test]
    fn environment_stored_with_all_that_is_known() {
        let environment = Environment::capture(vec!["transect".to_owned()]);
        let stored: profile::Environment = super::stored(&environment);
        assert_eq!((stored.began, stored.cores), (environment.began, environment.cores));
        assert_eq!(super::stored::<Value>(&stored), super::stored::<Value>(&environment));
    }
}
