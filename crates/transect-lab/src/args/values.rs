//! Parsers of values that several commands of `lab` share.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use transect_lab::corpora;
use transect_lab::experiments::{attributes, transform};
use transect_lab::harness::cache_state::State;
use transect_text::size;

/// Parses one of several values by name. Help lists the names with their descriptions, if there are any.
pub(super) fn one_of<T: Sync>(
    all: &'static [T],
    name: fn(&T) -> &'static str,
    about: fn(&T) -> Option<&'static str>,
) -> impl TypedValueParser<Value = &'static T> {
    let value = |it: &'static T| match about(it) {
        Some(about) => PossibleValue::new(name(it)).help(about),
        None => PossibleValue::new(name(it)),
    };
    PossibleValuesParser::new(all.iter().map(value)).map(move |typed| {
        let named = all.iter().find(|it| name(it) == typed);
        named.expect("BUG: the parser lets only these names pass")
    })
}

/// The states of the caches: value, name, help.
pub(super) const STATES: &[(State, &str, &str)] = &[
    (
        State::Warm,
        "warm",
        if cfg!(windows) {
            "All in memory, not verified"
        } else {
            "All in memory, verified: nothing is read from devices"
        },
    ),
    (
        State::Cold,
        "cold",
        if cfg!(windows) {
            "Dropped from memory, not verified; needs an administrator"
        } else {
            "Nothing in memory, verified: data is read from devices; needs root"
        },
    ),
    (State::AsIs, "as-is", "As it is: neither prepared nor verified"),
];

/// The states of an input: value, name, help.
pub(super) const FILE_STATES: &[(State, &str, &str)] = &[
    (
        State::Warm,
        "warm",
        if cfg!(windows) {
            "All in memory, not verified"
        } else {
            "All in memory, verified with the system"
        },
    ),
    (
        State::Cold,
        "cold",
        if cfg!(windows) {
            "Dropped from memory, not verified"
        } else {
            "Nothing in memory, verified with the system; caches of a host are out of reach"
        },
    ),
    (State::AsIs, "as-is", "As it is: neither prepared nor verified"),
];

pub(super) const KINDS: &[(transform::Kind, &str, &str)] = &[
    (transform::Kind::Copy, "copy", "Copy them"),
    (transform::Kind::Case, "case", "Convert ASCII letters to upper case"),
    (transform::Kind::Blake3, "blake3", "Copy them, and compute their digest"),
    (transform::Kind::Zstd, "zstd", "Compress them"),
];

pub(super) const SYNCS: &[(transform::SyncRule, &str, &str)] = &[
    (transform::SyncRule::None, "none", "Do not wait: data may be in memory only"),
    (transform::SyncRule::Inside, "inside", "Sync the output"),
];

/// Parses one of several values, each with its name and help.
pub(super) fn value_of<T: Copy + Send + Sync + 'static>(
    all: &'static [(T, &'static str, &'static str)],
) -> impl TypedValueParser<Value = T> {
    one_of(all, |it| it.1, |it| Some(it.2)).map(|it| it.0)
}

pub(super) fn task_parser() -> impl TypedValueParser<Value = attributes::Task> {
    one_of(attributes::Task::ALL, |it| it.as_str(), |it| Some(it.about())).map(|it| *it)
}

pub(super) fn block_size(text: &str) -> Result<usize, String> {
    match size::parse(text)? {
        0 => Err("must be at least 1".to_owned()),
        bytes => Ok(bytes),
    }
}

pub(super) fn corpus_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(corpora::CORPORA.iter().map(|definition| definition.name))
}
