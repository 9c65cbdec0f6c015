//! The counts in the output of an unknown program: a command of the user, whose output is the only proof of
//! its work.
//!
//! The output has to begin like one of the formats of peers, and its counts have to match the tree by the
//! counting rule of some peer.

use std::io::Read;
use std::path::Path;

use super::parse::OutputFormat;
use super::reported::{CountRule, ReportedCounts};
use super::spec::PEERS;
use crate::harness::inventory::Inventory;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    format: OutputFormat,
    counts: ReportedCounts,
    /// A list of names has that of the root: first, or anywhere if several threads write it.
    has_root: bool,
}

impl Claim {
    /// Reads the output of a walk of `root` to its end.
    ///
    /// # Errors
    /// The output contains no counts. The message is one line, to follow "found something else".
    pub fn read(output: impl Read, root: &Path) -> Result<Self, String> {
        let root = root.as_os_str().as_encoded_bytes();
        let (format, counts, has_root) = OutputFormat::find_and_parse(output, root)?;
        Ok(Self { format, counts, has_root })
    }

    /// Compares it with the inventory of the tree. With `names_only`, the work is to print all names and
    /// to query no lengths.
    ///
    /// # Errors
    /// The counts differ, or the program did more or less work.
    pub fn check(self, inventory: &Inventory, names_only: bool) -> Result<(), String> {
        let Self { format, counts, has_root } = self;
        if (format == OutputFormat::NulNames) != names_only {
            return Err(if names_only { MORE } else { LESS }.to_owned());
        }
        let rules = match format {
            OutputFormat::Totals => vec![CountRule::EveryFileOnce],
            OutputFormat::Records | OutputFormat::NcduExport => vec![CountRule::EveryEntry],
            OutputFormat::NulNames => {
                return check_names(counts.files.unwrap_or(0), has_root, inventory);
            }
            OutputFormat::Sum => {
                let peers = PEERS.iter().filter(|peer| peer.output_format == OutputFormat::Sum);
                peers.flat_map(|peer| &peer.counts).copied().collect()
            }
        };
        let rules: Vec<_> = rules.iter().map(|rule| rule.of(inventory)).collect();
        counts.matches_one_of(&rules).map_err(|differences| match format {
            OutputFormat::Sum => format!("{counts}, which no known program would count"),
            _ => differences,
        })
    }
}

const LESS: &str = "names without lengths; the preset `names` compares such programs";
const MORE: &str = "more than names; the preset `programs` compares such programs";

/// Compares a number of names: of all entries, with or without the root, or of regular files.
fn check_names(names: u64, has_root: bool, inventory: &Inventory) -> Result<(), String> {
    let entries: u64 = inventory.parts().iter().map(|part| part.names).sum();
    let entries = entries - u64::from(!has_root);
    let files = inventory.files.names;
    if names == entries || names == files {
        return Ok(());
    }
    Err(format!("{names} names instead of {entries}, or of {files} files"))
}

#[cfg(test)]
mod tests {
    use transect_testkit::{TempDir, trees};

    use super::*;

    fn check(output: &[u8], inventory: &Inventory, names_only: bool) -> Result<(), String> {
        Claim::read(output, Path::new("/t"))?.check(inventory, names_only)
    }

    /// A tree `/t` with a directory and, in it, two files of 5 bytes.
    fn tree() -> (TempDir, Inventory) {
        let temp = TempDir::new();
        std::fs::create_dir_all(temp.join("tree/d")).unwrap();
        for name in ["tree/d/a", "tree/d/b"] {
            std::fs::write(temp.join(name), "12345").unwrap();
        }
        let inventory = Inventory::of(&temp.join("tree"));
        (temp, inventory)
    }

    #[test]
    fn claim_accepted_in_every_format() {
        let (_temp, inventory) = tree();
        let totals = br#"{"files":2,"directories":2,"symlinks":0,"others":0,"apparent_size":10}"#;
        let usage = br#"{"files":2,"directories":2,"others":0,"apparent_size":10,"entries":[]}"#;
        for output in [&totals[..], usage, b"10\t/tree\n", b"  10\n", b"d 9\nd 9\nf 5\nf 5\n"] {
            assert_eq!(check(output, &inventory, false), Ok(()), "{}", output.escape_ascii());
        }
        let with_root = b"/t\0/t/d\0/t/d/a\0/t/d/b\0";
        for names in [
            &with_root[..],
            b"/t/d\0/t/d/a\0/t\0/t/d/b\0",
            b"/t/d/a\0/t/d\0/t/d/b\0",
            b"d/a\0d/b\0",
        ] {
            assert_eq!(check(names, &inventory, true), Ok(()), "{}", names.escape_ascii());
        }
    }

    #[test]
    fn claim_refused_for_other_counts_or_other_work() {
        let (_temp, inventory) = tree();
        let fewer = br#"{"files":1,"directories":2,"symlinks":0,"others":0,"apparent_size":10}"#;
        for (output, names_only, reason) in [
            (&fewer[..], false, "claims 1 files instead of 2 files"),
            (b"11\n", false, "11 bytes, which no known program would count"),
            (b"d/a\0", true, "1 names instead of 3, or of 2 files"),
            (b"/t\0/t/d\0/t/d/a\0", true, "3 names instead of 4, or of 2 files"),
            (b"/t\0/t/d\0/t/d/a\0/t/d/b\0", false, LESS),
            (b"10\n", true, MORE),
            (b"f 5\nf 5\n", false, "claims 0 directories instead of 2 directories"),
            (b"two files\n", false, "nothing that proves its work"),
            (b"", false, "nothing that proves its work"),
            (b"{\"files\":2}", false, "prints an object without counts"),
        ] {
            let refused = check(output, &inventory, names_only).unwrap_err();
            assert!(refused.starts_with(reason), "{}: {refused}", output.escape_ascii());
        }
    }

    #[test]
    fn listing_longer_than_its_head_is_counted_whole() {
        let temp = TempDir::new();
        trees::many_small_dirs(temp.path());
        let inventory = Inventory::of(temp.path());
        let entries: u64 = inventory.parts().iter().map(|part| part.names).sum();
        let path = format!("/t/{}\0", "a".repeat(100));
        let listing = format!("/t\0{}", path.repeat(entries as usize - 1));
        assert!(listing.len() > 8192);
        assert_eq!(check(listing.as_bytes(), &inventory, true), Ok(()));
        assert!(check(&listing.as_bytes()[..listing.len() - 104], &inventory, true).is_err());
    }
}
