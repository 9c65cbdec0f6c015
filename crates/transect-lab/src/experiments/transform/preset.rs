//! Presets of transform sessions: `presets.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::method::Method;
use crate::experiments::method::Origin;
use crate::experiments::preset;
use crate::list::list;

pub type Preset = preset::Preset<TransformWork>;

pub static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| list(include_str!("presets.toml")));

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformWork {
    /// Sizes of inputs, in MiB.
    sizes: Vec<u64>,
    /// Blocks, in KiB.
    blocks: Vec<usize>,
    /// The methods included; empty for all.
    #[serde(default)]
    methods: Vec<String>,
}

impl Preset {
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    pub fn sizes(&self) -> Vec<u64> {
        self.work.sizes.iter().map(|size| size << 20).collect()
    }

    pub fn blocks(&self) -> Vec<usize> {
        self.work.blocks.iter().map(|block| block << 10).collect()
    }

    pub fn holds(&self, method: &Method) -> bool {
        match self.work.methods.as_slice() {
            _ if matches!(method.origin, Origin::Floor) => true,
            [] => method.quick || self.name != PRESETS[0].name,
            named => named.contains(&method.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::cache_state::State;
    use transect_stats::verdict::can_decide;

    #[test]
    fn preset_of_article_has_its_blocks_and_rules() {
        let article = Preset::find("article-s3").unwrap();
        assert_eq!(article.sizes(), [256 << 20]);
        assert_eq!(article.blocks(), [1, 16, 128, 1024, 2048].map(|block| block << 10));
        assert_eq!((article.protocol_rounds, &*article.states), (5, &[State::Cold][..]));
    }

    #[test]
    fn ten_rounds_decide_among_twenty_cells() {
        assert!(can_decide(20, Preset::find("quick").unwrap().rounds));
    }
}
