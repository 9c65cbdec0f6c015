//! Compares a result on the device with the written bytes.

use std::fs::File;
use std::io;

use transect_sys::residency::drop_pages;

use crate::source::fill_at;

/// The digest of a result: collision-resistant, and faster than reading.
pub(crate) type Digest = blake3::Hash;

/// Computes the digest.
pub(crate) type Digester = blake3::Hasher;

/// Bytes to read at once.
const BLOCK: usize = 256 << 10;

/// Returns whether a synced file has this digest.
pub(super) fn matches_digest(file: &File, expected: &Digest) -> io::Result<bool> {
    // Cached pages do not prove what the device holds.
    match drop_pages(file) {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
        dropped => dropped?,
    }
    let mut digester = Digester::new();
    let mut block = vec![0; BLOCK];
    loop {
        let read = fill_at(file, &mut block, digester.count())?;
        digester.update(&block[..read]);
        if read < block.len() {
            return Ok(digester.finalize() == *expected);
        }
    }
}

#[cfg(test)]
mod tests {
    use transect_testkit::TempDir;

    use crate::publish::{Existing, ReplaceOptions, Replacement};

    #[test]
    fn read_back_mismatch_not_published() {
        let temp = TempDir::new();
        let target = temp.join("target");
        std::fs::write(&target, "old").unwrap();
        let options = ReplaceOptions { existing: Existing::Replace, ..ReplaceOptions::default() };
        for (made, device) in [(&b"new"[..], &b"nex"[..]), (b"new", b"ne"), (b"new", b"new\0")] {
            let mut out = Replacement::begin(&target, None, options).unwrap();
            out.append(device).unwrap();
            out.expect_digest(Some(blake3::hash(made)));
            let refused = out.publish().unwrap_err().to_string();
            let path = target.display();
            let why = "the device does not return what was written";
            assert_eq!(refused, format!("cannot read back '{path}': {why}"));
            assert_eq!(std::fs::read(&target).unwrap(), b"old");
        }
        let mut out = Replacement::begin(&target, None, options).unwrap();
        out.append(b"new").unwrap();
        out.expect_digest(Some(blake3::hash(b"new")));
        out.publish().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
    }
}
