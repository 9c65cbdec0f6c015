//! Parsers of values that several commands of `lab` share.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use transect_lab::corpora;
use transect_lab::experiments::{attributes, transform};
use transect_lab::harness::cache_state::State;
use transect_text::size;

/// Parses one of several values, which help lists with their descriptions.
pub(super) fn one_of<T: Sync>(
    all: &'static [T],
    name: fn(&'static T) -> &'static str,
    about: fn(&'static T) -> &'static str,
) -> impl TypedValueParser<Value = &'static T> {
    let value = |it: &'static T| PossibleValue::new(name(it)).help(about(it));
    PossibleValuesParser::new(all.iter().map(value)).map(move |typed| {
        let named = all.iter().find(|it| name(it) == typed);
        named.expect("BUG: the parser lets only these names pass")
    })
}

/// The states of the caches, or of an input: value, name, help.
pub(super) const STATES: &[(State, &str, &str)] = &[
    (State::Warm, "warm", "All in memory, verified where the system reports it"),
    (
        State::Cold,
        "cold",
        "Nothing in memory, verified likewise; of trees, it needs root or an administrator",
    ),
    (State::AsIs, "as-is", "As it is: neither prepared nor verified"),
];

pub(super) const SYNCS: &[(transform::SyncRule, &str, &str)] = &[
    (transform::SyncRule::None, "none", "Do not wait: data may be in memory only"),
    (transform::SyncRule::Inside, "inside", "Sync the output"),
];

pub(super) fn value_of<T: Copy + Send + Sync + 'static>(
    all: &'static [(T, &'static str, &'static str)],
) -> impl TypedValueParser<Value = T> {
    one_of(all, |it| it.1, |it| it.2).map(|it| it.0)
}

pub(super) fn task_parser() -> impl TypedValueParser<Value = attributes::Task> {
    one_of(attributes::Task::ALL, |it| it.as_str(), |it| it.about()).map(|it| *it)
}

pub(super) fn kind_parser() -> impl TypedValueParser<Value = transform::Kind> {
    one_of(transform::Kind::ALL, |it| it.as_str(), |it| it.about()).map(|it| *it)
}

pub(super) fn block_size(text: &str) -> Result<usize, String> {
    match size::parse(text)? {
        0 => Err("must be at least 1".to_owned()),
        bytes => Ok(bytes),
    }
}

pub(super) fn corpus_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(corpora::CORPORA.iter().map(|definition| &*definition.name))
}
