//! Nonces of content security policies.

use std::fmt;
use std::io;

/// A number that the page's policy requires of every script and style. It is random, so no name in
/// the page can contain it.
#[derive(Debug)]
pub struct Nonce(pub(crate) u128);

impl Nonce {
    /// Returns a random nonce.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        Ok(Self(u128::from_le_bytes(random)))
    }

    /// Returns a fixed nonce, for tests and comparisons.
    pub fn predictable(number: u128) -> Self {
        Self(number)
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonce_random_is_new_every_time() {
        let (one, other) = (Nonce::random().unwrap(), Nonce::random().unwrap());
        assert_ne!(one.to_string(), other.to_string());
        assert_eq!(one.to_string().len(), 32);
    }
}
