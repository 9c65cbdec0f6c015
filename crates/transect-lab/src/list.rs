//! The lists of this program in TOML files, each of which has one.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

/// Parses a file that this program contains.
pub(crate) fn list<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let file: BTreeMap<String, Vec<T>> = toml::from_str(text).expect("BUG: the list is correct");
    file.into_values().flatten().collect()
}
