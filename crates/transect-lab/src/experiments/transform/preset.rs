//! Presets of transform sessions.

use super::method::{Implementation, Method};
use crate::harness::cache_state::State;
use crate::spec::pairs::PresetPair;

/// The rules of a session.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    pub name: &'static str,
    pub about: &'static str,
    /// The row of the seed contract that it implements.
    pub contract: Option<&'static str>,
    /// Sizes of inputs, in bytes.
    pub sizes: &'static [u64],
    /// Blocks, in bytes.
    pub blocks: &'static [usize],
    pub states: &'static [State],
    pub rounds: usize,
    /// Time limit of a session, in seconds, for further rounds until every ratio is precise enough.
    pub max_time: Option<u64>,
    /// Whether system calls are counted afterwards, in separate runs.
    pub calls: bool,
    /// The pairs of methods that it compares, besides the comparisons with the base.
    pub pairs: &'static [PresetPair],
    /// The methods included; empty for all.
    methods: &'static [&'static str],
}

/// The preset with the methods and blocks of the article.
pub const CLASSIC: &str = "classic";

const KIB: usize = 1 << 10;
const MIB: u64 = 1 << 20;

const BLOCKS: &[PresetPair] = &[
    ("blocks of 1M against 16K, buffered", "buffered,block=1M", "buffered,block=16K"),
    ("mapped against buffered", "mapped,block=1M", "buffered,block=1M"),
];

/// The questions of the article.
const OF_THE_ARTICLE: &[PresetPair] = &[
    ("blocks of 1M against 16K, C", "c-stdio,block=1M", "c-stdio,block=16K"),
    ("blocks of 1M against 16K, C++", "cpp-iostream,block=1M", "cpp-iostream,block=16K"),
    ("blocks of 1M against 16K, system calls", "buffered,block=1M", "buffered,block=16K"),
    ("the C library against system calls", "c-stdio,block=1M", "buffered,block=1M"),
    ("streams of C++ against the C library", "cpp-iostream,block=1M", "c-stdio,block=1M"),
    ("mapped against system calls", "c-mmap", "buffered,block=1M"),
];

/// All presets; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "quick",
        about: "twelve rounds and up to two minutes for more on 64 MiB, two blocks, warm and cold",
        contract: None,
        sizes: &[64 * MIB],
        blocks: &[16 * KIB, 1024 * KIB],
        states: &[State::Warm, State::Cold],
        rounds: 12,
        max_time: Some(120),
        calls: false,
        pairs: BLOCKS,
        methods: &[],
    },
    Preset {
        name: "full",
        about: "twelve rounds and up to half an hour for more on 256 MiB, all blocks, all methods, warm and cold",
        contract: None,
        sizes: &[256 * MIB],
        blocks: &[KIB, 16 * KIB, 128 * KIB, 1024 * KIB, 2048 * KIB],
        states: &[State::Warm, State::Cold],
        rounds: 12,
        max_time: Some(1800),
        calls: true,
        pairs: BLOCKS,
        methods: &[],
    },
    Preset {
        name: CLASSIC,
        about: "the article's: C, C++, system calls, mapped; five blocks, 256 MiB to 2 GiB, cold, five times",
        contract: Some("A52"),
        sizes: &[256 * MIB, 512 * MIB, 1024 * MIB, 2048 * MIB],
        blocks: &[KIB, 16 * KIB, 128 * KIB, 1024 * KIB, 2048 * KIB],
        states: &[State::Cold],
        rounds: 5,
        max_time: None,
        calls: false,
        pairs: OF_THE_ARTICLE,
        methods: &["c-stdio", "cpp-iostream", "buffered", "mapped", "c-mmap"],
    },
];

impl Preset {
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    pub fn holds(&self, method: &Method) -> bool {
        match self.methods {
            _ if matches!(method.runner.implementation, Implementation::Floor(_)) => true,
            [] => method.quick || self.name != PRESETS[0].name,
            named => named.contains(&method.name.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect_stats::verdict::can_decide;

    #[test]
    fn classic_preset_has_grid_of_article() {
        let classic = Preset::find("classic").unwrap();
        assert_eq!(classic.sizes, [256 * MIB, 512 * MIB, 1024 * MIB, 2048 * MIB]);
        assert_eq!(classic.blocks, [1, 16, 128, 1024, 2048].map(|blocks| blocks * KIB));
        assert_eq!((classic.rounds, classic.states), (5, &[State::Cold][..]));
    }

    #[test]
    fn ten_rounds_decide_among_twenty_cells() {
        assert!(can_decide(20, Preset::find("quick").unwrap().rounds));
    }
}
