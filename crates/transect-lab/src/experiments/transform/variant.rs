//! A method with its settings: the name of a cell.

use std::fmt;
use std::str::FromStr;

use transect_text::size;

/// A method with its settings: `buffered`, `c-stdio,block=16K`, `c-stdio,block=16K,hint=sequential`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    pub method: String,
    /// Block size in bytes; `None` for the method's default.
    pub block: Option<usize>,
    /// Whether to advise the system that the input is read sequentially.
    pub hint: bool,
}

impl Variant {
    pub fn plain(method: impl Into<String>) -> Self {
        Self { method: method.into(), block: None, hint: false }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.method)?;
        if let Some(block) = self.block {
            write!(f, ",block={}", size::shortest(block))?;
        }
        if self.hint { f.write_str(",hint=sequential") } else { Ok(()) }
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(',');
        let mut variant = Self::plain(words.next().unwrap_or_default());
        for word in words {
            match word.split_once('=') {
                Some(("block", size)) => {
                    let block = size::parse(size).ok().filter(|block| *block > 0);
                    variant.block = Some(block.ok_or_else(|| format!("no block is '{size}'"))?);
                }
                Some(("hint", "sequential")) => variant.hint = true,
                _ => return Err(format!("no setting is called '{word}'")),
            }
        }
        Ok(variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variant_name_round_trips() {
        for (text, block, hint) in [
            ("buffered", None, false),
            ("c-stdio,block=16K", Some(16 << 10), false),
            ("c-stdio,block=2M,hint=sequential", Some(2 << 20), true),
        ] {
            let variant: Variant = text.parse().unwrap();
            assert_eq!((variant.block, variant.hint), (block, hint));
            assert_eq!(variant.to_string(), text);
        }
        for text in ["a,block=0", "a,block=x", "a,blok=1K", "a,", "a,hint=random"] {
            assert!(text.parse::<Variant>().is_err(), "{text}");
        }
    }
}
