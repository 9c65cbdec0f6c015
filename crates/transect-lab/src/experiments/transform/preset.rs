//! Presets of transform sessions.

use super::method::{Implementation, Method};
use crate::harness::cache_state::State;

/// The rules of a session.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// The row of the seed contract that it implements.
    pub contract: Option<&'static str>,
    /// Sizes of inputs, in bytes.
    pub sizes: &'static [u64],
    /// Blocks, in bytes.
    pub blocks: &'static [usize],
    /// The states of the input.
    pub states: &'static [State],
    /// Rounds.
    pub rounds: usize,
    /// The number of small files, which go through all phases, instead of one large file.
    pub files: Option<usize>,
    /// Whether system calls are counted afterwards, in separate runs.
    pub calls: bool,
    /// The methods included; empty for all.
    methods: &'static [&'static str],
}

/// The preset with the methods and blocks of the article.
pub const CLASSIC: &str = "classic";

const KIB: usize = 1 << 10;
const MIB: u64 = 1 << 20;

/// All presets; the first is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "quick",
        about: "ten rounds on 64 MiB, two blocks, warm and cold: a minute",
        contract: None,
        sizes: &[64 * MIB],
        blocks: &[16 * KIB, 1024 * KIB],
        states: &[State::Warm, State::Cold],
        // The minimum for verdicts among twenty cells.
        rounds: 10,
        files: None,
        calls: false,
        methods: &[],
    },
    Preset {
        name: "full",
        about: "twelve rounds on 256 MiB, all blocks, all methods, warm and cold",
        contract: None,
        sizes: &[256 * MIB],
        blocks: &[KIB, 16 * KIB, 128 * KIB, 1024 * KIB, 2048 * KIB],
        states: &[State::Warm, State::Cold],
        rounds: 12,
        files: None,
        calls: true,
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
        files: None,
        calls: false,
        methods: &["c-stdio", "cpp-iostream", "buffered", "mapped", "c-mmap"],
    },
    Preset {
        name: "many-files",
        about: "1,000 files of 14 KiB: created, read, rewritten unchanged and changed, removed; ten rounds",
        contract: None,
        sizes: &[],
        blocks: &[],
        states: &[State::Warm],
        rounds: 10,
        files: Some(1000),
        calls: false,
        methods: &[],
    },
];

impl Preset {
    /// Finds a preset by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns whether the preset includes a method.
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
    use crate::stats::verdict::can_decide;

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
