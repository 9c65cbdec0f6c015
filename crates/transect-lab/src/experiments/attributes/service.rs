//! The service as a method: a server that the lab starts, and what asks it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use transect_sys::private_dir::PrivateTempDir;

use super::answers::{Run, WANT};
use crate::harness::interference::TICK;
use crate::harness::launch::ask_to_end;

/// The longest that is waited for a server to answer, or to end, on a slow and busy machine, too.
const SERVER_TIMEOUT: Duration = Duration::from_secs(600);

/// A server of a session, which ends with it.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    folder: PrivateTempDir,
}

impl Server {
    /// Starts a server with what programs have by default.
    ///
    /// # Errors
    /// It does not answer: one line.
    pub(super) fn start(program: &Path) -> Result<Self, String> {
        // Not below the session's folder: the name of a socket has to be short.
        let folder = PrivateTempDir::new("service").map_err(|error| transect::reason(&error))?;
        let mut command = Command::new(program);
        // Should the lab be killed, it ends by itself.
        command
            .args(["serve", "--cache", "--idle", "15m", "--socket"])
            .arg(socket_in(folder.path()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| transect::reason(&error))?;
        let mut server = Self { child, folder };
        let began = Instant::now();
        loop {
            let has_ended = server.child.try_wait().is_ok_and(|status| status.is_some());
            match transect_service::Client::connect(&server.socket()) {
                Ok(_) => return Ok(server),
                Err(error) if has_ended || began.elapsed() > SERVER_TIMEOUT => {
                    return Err(error.to_string());
                }
                Err(_) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Has it asked for all paths, so that it knows them.
    ///
    /// # Errors
    /// It does not answer: one line.
    pub(super) fn prime(&self, paths: &[PathBuf]) -> Result<(), String> {
        let client = transect_service::Client::connect(&self.socket());
        let asked = client.and_then(|mut client| client.attributes(paths, WANT, true));
        asked.map(drop).map_err(|error| error.to_string())
    }

    /// Returns the processor time that it has used, in nanoseconds, to a tick; nothing where the system
    /// does not tell.
    pub(super) fn processor_ns(&self) -> Option<u64> {
        processor_ns(&std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?)
    }

    /// Asks it to end, and returns whether it did.
    fn ends(&mut self) -> bool {
        if !ask_to_end(&self.child) {
            return false;
        }
        let asked_at = Instant::now();
        while asked_at.elapsed() < SERVER_TIMEOUT {
            match self.child.try_wait() {
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
                ended => return ended.is_ok(),
            }
        }
        false
    }

    /// Returns where it answers.
    pub(super) fn socket(&self) -> PathBuf {
        socket_in(self.folder.path())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Who is killed leaves behind what it has for itself.
        if !self.ends() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Parses what `proc_pid_stat(5)` describes: behind the name, which may hold anything, the twelfth and
/// the thirteenth word are time in the program and in the kernel.
fn processor_ns(stat: &str) -> Option<u64> {
    let (_, behind) = stat.rsplit_once(')')?;
    let mut ticks = behind.split_whitespace().skip(11).map(str::parse::<u64>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some((user + system).saturating_mul(TICK))
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("cache.sock")
}

/// Asks a service for all paths. The clock runs from connecting to the last answer.
///
/// # Errors
/// It does not answer, or did not know all: one line.
#[cfg(target_os = "linux")]
pub(super) fn ask(socket: &Path, paths: &[PathBuf]) -> Result<Run, String> {
    use transect_service::{Client, Error};

    use super::answers::Sums;
    use crate::harness::protocol::Held;

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
            Ok(Run { sums, elapsed, held: Some(held) })
        }
        misses => Err(format!("{misses} answers were not known, and all should be")),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn ask(_: &Path, _: &[PathBuf]) -> Result<Run, String> {
    Err("on Linux only".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_server_is_found_behind_whatever_its_name_is() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 100 0 0 0 12 30 0 0 20 0 4 0 99 1 2";
        assert_eq!(processor_ns(stat), Some(420_000_000));
        assert_eq!(processor_ns("7 (a) S 1"), None);
    }
}
