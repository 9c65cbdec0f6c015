//! The service as a method: a server that the lab starts, and a client.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use transect_service::{Client, Error};
use transect_sys::private_dir::PrivateTempDir;

use super::answers::{Run, Sums, WANT};
use crate::harness::account::stat_number;
use crate::harness::interference::TICK;
use crate::harness::protocol::Held;
use crate::harness::stopwatch::RunTime;

/// The time limit for a server to answer; generous, for slow and busy machines.
const SERVER_TIMEOUT: Duration = Duration::from_secs(600);

/// A server, stopped on drop.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    folder: PrivateTempDir,
}

impl Server {
    pub(super) fn start(program: &Path) -> Result<Self, String> {
        // Not in the session's directory: the path of a socket has to be short.
        let folder = PrivateTempDir::new("service").map_err(|error| transect::reason(&error))?;
        let mut command = Command::new(program);
        // The server exits by itself if the lab is killed.
        command.args(["live", "--level", "frozen", "--idle", "15m", "--socket"]);
        command.arg(socket_in(folder.path()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| transect::reason(&error))?;
        let mut server = Self { child, folder };
        let began = Instant::now();
        loop {
            let has_ended = server.child.try_wait().is_ok_and(|status| status.is_some());
            match Client::connect(&server.socket()) {
                Ok(_) => return Ok(server),
                Err(error) if has_ended || began.elapsed() > SERVER_TIMEOUT => {
                    return Err(error.to_string());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Fills the cache of the server by querying all paths.
    pub(super) fn prime(&self, paths: &[PathBuf]) -> Result<(), String> {
        let client = Client::connect(&self.socket());
        let asked = client.and_then(|mut client| client.attributes(paths, WANT, true));
        asked.map(drop).map_err(|error| error.to_string())
    }

    /// Returns the processor time of the server, in nanoseconds with the precision of a tick, if the system
    /// reports it.
    pub(super) fn processor_ns(&self) -> Option<u64> {
        processor_ns(&std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?)
    }

    pub(super) fn socket(&self) -> PathBuf {
        socket_in(self.folder.path())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A killed server leaves its socket behind, in a directory that is removed with this value.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn processor_ns(stat: &str) -> Option<u64> {
    Some((stat_number(stat, 14)? + stat_number(stat, 15)?).saturating_mul(TICK))
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("cache.sock")
}

/// Queries all paths from a service. The clock runs from connecting to the last answer.
pub(super) fn ask(socket: &Path, paths: &[PathBuf]) -> Result<Run, String> {
    let failed = |error: Error| error.to_string();
    let stats = || -> Result<_, Error> {
        let stats = Client::connect(socket)?.stats()?;
        let of = move |name: &str| {
            stats.iter().find(|(known, _)| known == name).map_or(0, |&(_, value)| value)
        };
        Ok(of)
    };
    let misses = stats().map_err(failed)?("misses");
    let start = Instant::now();
    let mut client = Client::connect(socket).map_err(failed)?;
    let answers = client.attributes(paths, WANT, true).map_err(failed)?;
    let sums = Sums::of(&answers);
    let elapsed = start.elapsed();
    let after = stats().map_err(failed)?;
    match after("misses") - misses {
        0 => {
            let held = Held { memory: after("memory"), names: after("names") };
            // The CPU time is that of the service, too, which this process cannot see.
            Ok(Run { sums, time: RunTime { elapsed, cpu: None }, held: Some(held) })
        }
        misses => Err(format!("{misses} answers were not known, and all should be")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_parsed_despite_parentheses_in_name() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 100 0 0 0 12 30 0 0 20 0 4 0 99 1 2";
        assert_eq!(processor_ns(stat), Some(420_000_000));
        assert_eq!(processor_ns("7 (a) S 1"), None);
    }
}
