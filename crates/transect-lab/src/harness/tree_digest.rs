//! A digest of the files and directories of a tree, independent of their order.
//!
//! Sums do not tell two trees apart if one method drops an empty file and counts a link in its place. This
//! digest does. `contenders/README.md` defines it byte by byte, as contenders in other languages compute
//! it, too.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The sum, modulo 2^64, of the hashes of all entries that count: regular files and directories.
///
/// The hash of an entry is FNV-1a with 64 bits of its path, a NUL, and `d`; or `f` and its length as eight
/// bytes, the lowest first. A path is relative to the root, and has a `/` between names. The path of the
/// root is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeDigest(u64);

impl TreeDigest {
    /// Adds the root. Returns the prefix of its entries.
    pub fn add_root(&mut self) -> PathPrefix {
        self.add(Hash::new().byte(0).byte(b'd'));
        PathPrefix(Hash::new())
    }

    /// Adds a directory by its name. Returns the prefix of its entries.
    pub fn add_directory(&mut self, parent: PathPrefix, name: &[u8]) -> PathPrefix {
        let path = parent.0.bytes(name);
        self.add(path.byte(0).byte(b'd'));
        PathPrefix(path.byte(b'/'))
    }

    pub fn add_file(&mut self, parent: PathPrefix, name: &[u8], length: u64) {
        self.add(parent.0.bytes(name).byte(0).byte(b'f').bytes(&length.to_le_bytes()));
    }

    pub fn merge(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }

    fn add(&mut self, hash: Hash) {
        self.0 = self.0.wrapping_add(hash.0);
    }
}

/// The hash of the path of a directory and the slash behind it, from which the hashes of its entries go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPrefix(Hash);

/// FNV-1a, 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn byte(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        bytes.iter().fold(self, |hash, &byte| hash.byte(byte))
    }
}

impl fmt::Display for TreeDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for TreeDigest {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_digest = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16).ok().filter(|_| is_digest);
        number.map(Self).ok_or("a digest of a tree has 16 hexadecimal digits")
    }
}

// As text: numbers of JSON are exact to 53 bits in some languages.
impl Serialize for TreeDigest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TreeDigest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the digest of an empty tree, and of one with a file, a link and a directory with a file.
    fn examples() -> [TreeDigest; 2] {
        let (mut empty, mut small) = Default::default();
        TreeDigest::add_root(&mut empty);
        let root = TreeDigest::add_root(&mut small);
        small.add_file(root, b"a", 5);
        let below = small.add_directory(root, b"b");
        small.add_file(below, b"c", 0);
        [empty, small]
    }

    #[test]
    fn digest_matches_worked_examples_of_the_protocol() {
        let readme = include_str!("../../contenders/README.md");
        for (digest, what) in examples().into_iter().zip(["an empty tree", "a small tree"]) {
            let line = format!("`{digest}`");
            assert!(readme.contains(&line), "{what}: {line}");
        }
    }

    #[test]
    fn digest_independent_of_order_and_of_threads() {
        let [_, expected] = examples();
        let mut parts = [TreeDigest::default(); 2];
        let root = parts[1].add_root();
        let below = parts[0].add_directory(root, b"b");
        parts[0].add_file(below, b"c", 0);
        parts[1].add_file(root, b"a", 5);
        parts[0].merge(parts[1]);
        assert_eq!(parts[0], expected);
    }

    #[test]
    fn digest_differs_by_path_type_and_length() {
        let of = |add: &dyn Fn(&mut TreeDigest, PathPrefix)| {
            let mut digest = TreeDigest::default();
            let root = digest.add_root();
            add(&mut digest, root);
            digest
        };
        let all = [
            of(&|_, _| {}),
            of(&|digest, root| digest.add_file(root, b"a", 0)),
            of(&|digest, root| digest.add_file(root, b"a", 1)),
            of(&|digest, root| digest.add_file(root, b"b", 0)),
            of(&|digest, root| _ = digest.add_directory(root, b"a")),
            of(&|digest, root| {
                let below = digest.add_directory(root, b"a");
                digest.add_file(below, b"a", 0);
            }),
        ];
        let different: std::collections::HashSet<u64> = all.iter().map(|digest| digest.0).collect();
        assert_eq!(different.len(), all.len());
    }

    #[test]
    fn digest_stored_as_sixteen_digits() {
        let digest = TreeDigest(0x0123_4567_89ab_cdef);
        assert_eq!(serde_json::to_string(&digest).unwrap(), "\"0123456789abcdef\"");
        for (text, parsed) in [
            ("\"0123456789abcdef\"", Some(digest)),
            ("\"123456789abcdef\"", None),
            ("\"+123456789abcdef\"", None),
            ("1", None),
        ] {
            assert_eq!(serde_json::from_str(text).ok(), parsed, "{text}");
        }
    }
}
