//! Presets: the rules of a session under one name.
//!
//! Those of the articles are their protocols to the letter (rows P1 to P6 of the seed contract), except
//! for what was wrong with them: every method is a process of its own, so that none warms what the
//! next one walks on, and no time is shown of a method that found something else. A single run
//! decides nothing; `--rounds` makes more of them.

use transect::{Order, ReaderKind};

use crate::experiments::walk::method::Method;
use crate::experiments::walk::variant::Variant;
use crate::harness::cache_state::State;

/// The rules of a session.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The word for it.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The row of the seed contract that it is.
    pub contract: Option<&'static str>,
    /// The state of the caches before each pass.
    pub cache_states: &'static [State],
    /// Rounds.
    pub rounds: usize,
    /// Walks in one process.
    pub runs: usize,
    /// The corpora of the article, which are made where no place is named.
    pub corpora: &'static [&'static str],
    /// The orders of the engine's methods; nothing for all of them.
    orders: &'static [Order],
    /// The threads that its methods on several threads use.
    threads: Option<usize>,
    /// Which contenders and peers take part.
    others: Others,
    /// Whether calls are counted and timed afterwards, in runs of their own.
    pub calls: bool,
}

/// Contenders and peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    All,
    Quick,
    None,
}

const ITERATION: &[Order] = &[Order::Recursive, Order::Queue, Order::Stack, Order::StackPresized];

/// What all presets have in common, unless they say otherwise.
const PLAIN: Preset = Preset {
    name: "full",
    about: "twenty rounds, all methods in all orders",
    contract: None,
    cache_states: &[State::Warm],
    rounds: 20,
    runs: 1,
    corpora: &[],
    orders: &[],
    threads: None,
    others: Others::All,
    calls: true,
};

/// All presets; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "quick",
        about: "twelve rounds, three orders, not all forms of every language: minutes",
        // With fewer rounds than that nothing can be decided among forty cells.
        rounds: 12,
        orders: &[Order::WorkStealing, Order::Recursive, Order::SharedQueue],
        others: Others::Quick,
        ..PLAIN
    },
    PLAIN,
    Preset {
        name: "article-s0",
        about: "1,000, 2,000 and 5,000 files in a directory, cold and at once warm, times against the slowest",
        contract: Some("P3"),
        cache_states: &[State::Cold, State::Warm],
        rounds: 1,
        corpora: &["flat-1000", "flat-2000", "flat-5000"],
        orders: &[Order::Queue],
        ..PLAIN
    },
    Preset {
        name: "article-s1",
        about: "recursion and iteration in every language: eleven walks in a process, the mean of the last ten",
        contract: Some("P1"),
        rounds: 1,
        runs: 11,
        corpora: &["music", "data"],
        orders: ITERATION,
        ..PLAIN
    },
    Preset {
        name: "article-s2",
        about: "a shared queue and seven threads, cold, once; time inside the calls summed over the threads",
        contract: Some("P5"),
        cache_states: &[State::Cold],
        rounds: 1,
        corpora: &["data"],
        orders: &[Order::SharedQueue],
        threads: Some(7),
        others: Others::None,
        ..PLAIN
    },
    Preset {
        name: "article-s3",
        about: "the rules of the file transforms: five processes, caches emptied before each, min, max, median",
        contract: Some("P2"),
        cache_states: &[State::Cold],
        rounds: 5,
        corpora: &["data"],
        orders: &[Order::WorkStealing, Order::Recursive],
        ..PLAIN
    },
    Preset {
        name: "article-s3-naive",
        about: "the same command three times, caches as they are: shows the effect of caching",
        contract: Some("P6"),
        cache_states: &[State::AsIs, State::AsIs, State::AsIs],
        rounds: 1,
        corpora: &["data"],
        orders: &[Order::WorkStealing, Order::Recursive],
        calls: false,
        ..PLAIN
    },
    Preset {
        name: "article-s4",
        about: "all readers in all orders, ten times, every value",
        contract: Some("P4"),
        rounds: 10,
        corpora: &["data"],
        others: Others::None,
        calls: false,
        ..PLAIN
    },
];

impl Preset {
    /// Finds a preset by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns the variants of the engine that take part, where no method is named.
    pub fn variants(&self) -> impl Iterator<Item = Variant> {
        let orders = if self.orders.is_empty() { Order::ALL } else { self.orders };
        ReaderKind::ALL.iter().flat_map(move |&reader| {
            orders.iter().map(move |&order| {
                let threads = self.threads.filter(|_| order.is_parallel());
                Variant { threads, ..Variant::new(reader, order) }
            })
        })
    }

    /// Returns whether a method takes part that is none of the engine's, where no method is named.
    pub fn holds(&self, other: &Method) -> bool {
        match self.others {
            Others::All => true,
            Others::Quick => other.quick,
            Others::None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpora;

    #[test]
    fn every_preset_can_be_found_and_its_corpora_made() {
        for preset in PRESETS {
            assert_eq!(Preset::find(preset.name).map(|found| found.about), Some(preset.about));
            assert!(!preset.cache_states.is_empty() && preset.rounds > 0 && preset.runs > 0);
            for name in preset.corpora {
                assert!(corpora::find(name).is_some(), "{name}");
            }
        }
        assert!(Preset::find("fast").is_none());
    }

    #[test]
    fn the_article_with_seven_threads_has_seven_threads() {
        let preset = Preset::find("article-s2").expect("a preset");
        let variants: Vec<String> = preset.variants().map(|variant| variant.to_string()).collect();
        assert_eq!(variants.len(), ReaderKind::ALL.len());
        assert!(variants.iter().all(|name| name.ends_with("/shared-queue,threads=7")));
    }

    #[test]
    fn every_protocol_of_the_articles_is_a_preset() {
        for protocol in ["P1", "P2", "P3", "P4", "P5", "P6"] {
            assert_eq!(PRESETS.iter().filter(|p| p.contract == Some(protocol)).count(), 1);
        }
    }
}
