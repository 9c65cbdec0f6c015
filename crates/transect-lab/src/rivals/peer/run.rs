//! One process of a peer: to check its counts, or to measure its time.

use std::process::Command;
use std::time::Duration;

use super::spec::Peer;
use crate::harness::inventory::Inventory;
use crate::harness::launch::{self, Failure, Usage};

/// Purpose of a process of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Check its output, however long. Its time is not used.
    Proof,
    /// Measure its time; check its output only if it is short.
    Time,
}

/// Result of a process that ended normally.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerRun {
    pub usage: Usage,
    /// Whether its counts are right; `Ok` if its output was not read.
    pub judged: Result<(), String>,
}

impl Peer {
    /// Runs its `command` once, for at most `limit`.
    ///
    /// # Errors
    /// It timed out, failed, or printed another format.
    pub fn run(
        &'static self,
        command: Command,
        inventory: &Inventory,
        limit: Duration,
        purpose: Purpose,
    ) -> Result<PeerRun, Failure> {
        if purpose == Purpose::Time && !self.is_parsed_in_every_run() {
            return launch::time(command, limit).map(|usage| PeerRun { usage, judged: Ok(()) });
        }
        let (claimed, usage) = launch::listen(command, limit, |output| self.parse(output))?;
        let claimed = claimed.map_err(|line| Failure::ProtocolError { line })?;
        Ok(PeerRun { usage, judged: self.check_counts(claimed, inventory) })
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use transect_testkit::TempDir;

    use super::*;

    #[test]
    fn sum_checked_in_timed_run_listing_in_proof_run_only() {
        let temp = TempDir::new();
        std::fs::write(temp.join("file"), "12345").unwrap();
        let there = Inventory::of(temp.path());
        let nothing = Inventory::default();
        let limit = transect_testkit::WATCHDOG;
        for (name, purpose, is_judged) in [
            ("du", Purpose::Proof, true),
            ("du", Purpose::Time, true),
            ("find", Purpose::Proof, true),
            ("find", Purpose::Time, false),
        ] {
            let peer = Peer::find(name).unwrap();
            let command = || peer.command(temp.path()).unwrap();
            let ran = peer.run(command(), &there, limit, purpose).unwrap();
            assert_eq!(ran.judged, Ok(()), "{name} {purpose:?}");
            assert!(ran.usage.wall_ns > 0);
            let ran = peer.run(command(), &nothing, limit, purpose).unwrap();
            assert_eq!(ran.judged.is_err(), is_judged, "{name} {purpose:?}");
        }
        let du = Peer::find("du").unwrap();
        let nowhere = du.run(du.command(&temp.join("no")).unwrap(), &there, limit, Purpose::Time);
        assert!(matches!(nowhere, Err(Failure::Died { .. })), "{nowhere:?}");
    }
}
