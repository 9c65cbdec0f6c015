//! The machine, system and programs of a session.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::harness::launch;
use crate::harness::machine::{Machine, memory, read, value};

/// Set by `make build`. A build script that runs Git would rebuild everything after each commit.
const COMMIT: Option<&str> = option_env!("TRANSECT_COMMIT");

/// The time limit for a program to print its version; generous, for slow and busy machines.
const VERSION_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// When the session began, in seconds since 1970 UTC.
    pub began: u64,
    pub processor: Option<String>,
    /// Processors that this process may use.
    pub cores: usize,
    /// Memory of the machine, in bytes.
    pub memory: Option<u64>,
    /// The system and its version.
    pub system: String,
    /// The version of Wine; `None` on a real system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wine: Option<String>,
    /// Whether it runs under a hypervisor, as far as it can detect: then the host's caches cannot be
    /// dropped.
    pub hypervisor: bool,
    /// The load average of the last minute when the session began.
    pub load: Option<String>,
    pub version: String,
    /// The commit that it was built from, if the build recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The time of the cheapest system call, in nanoseconds; `None` if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_ns: Option<u64>,
    /// The time in which a page of new memory is touched for the first time, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault_ns: Option<u64>,
    /// Further settings of the machine and its system that affect measurements.
    #[serde(default, skip_serializing_if = "Machine::is_unknown")]
    pub machine: Machine,
    /// The versions that programs report: peers, commands, and what builds and runs contenders.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, String>,
    pub command: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    pub scheduler: String,
    pub rotates: bool,
    /// Its write cache: `write back` or `write through`.
    pub write_cache: Option<String>,
    pub discards: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Its kind, such as `ext4`, if the system reports it.
    pub name: Option<String>,
    pub options: Option<String>,
    /// The source of the mount: a device or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The device below it, if the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// The read-ahead for sequential readers, in bytes, if the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<u64>,
}

/// Returns the time of a system call that only returns a number, in nanoseconds: the shortest mean of many.
#[cfg(target_os = "linux")]
fn cheapest_call() -> Option<u64> {
    const CALLS: u32 = 256;
    let mean = |_| {
        let began = std::time::Instant::now();
        for _ in 0..CALLS {
            std::hint::black_box(std::os::unix::process::parent_id());
        }
        began.elapsed() / CALLS
    };
    (0..64).map(mean).min().map(|shortest| shortest.as_nanos() as u64)
}

#[cfg(not(target_os = "linux"))]
fn cheapest_call() -> Option<u64> {
    None
}

/// Returns the time of a page fault in new memory, in nanoseconds: the shortest mean of several. The memory is in pieces
/// that the allocator maps anew, each too small for a huge page.
fn page_fault() -> u64 {
    const PIECE: usize = 256 << 10;
    const PAGE: usize = 4096;
    let mean = |_| {
        let mut pieces: Vec<Vec<u8>> = (0..8).map(|_| vec![0; PIECE]).collect();
        let began = std::time::Instant::now();
        pieces
            .iter_mut()
            .for_each(|piece| piece.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1));
        let elapsed = began.elapsed().as_nanos() as u64;
        std::hint::black_box(&pieces);
        elapsed / (8 * PIECE / PAGE) as u64
    };
    (0..8).map(mean).min().unwrap_or_default()
}

impl FileSystem {
    #[cfg(target_os = "linux")]
    pub fn of(root: &Path) -> Self {
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let mut file_system = Self::default();
        if let Some(mount) = transect_sys::linux::mount_of(&root) {
            file_system.name = Some(mount.file_system);
            file_system.options = Some(mount.options);
            file_system.source = Some(mount.source);
        }
        let number = transect_sys::file::attributes_at(&root).ok().and_then(|it| it.device());
        let Some(number) = number else { return file_system };
        let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
        let queue = Queue::of(Path::new("/sys/dev/block").join(format!("{major}:{minor}")));
        file_system.read_ahead = queue.number("read_ahead_kb").map(|kib| kib * 1024);
        file_system.device = queue.device();
        file_system
    }

    /// Returns a file system of which nothing is known.
    #[cfg(not(target_os = "linux"))]
    pub fn of(_: &Path) -> Self {
        Self::default()
    }

    pub fn kind(&self) -> &str {
        self.name.as_deref().unwrap_or("unknown file system")
    }

    pub fn below(&self) -> Option<String> {
        let Device { scheduler, rotates, write_cache, discards } = self.device.as_ref()?;
        let source = self.source.as_deref().unwrap_or("unknown");
        let mut told = vec![source.to_owned(), format!("scheduler {scheduler}")];
        told.extend(rotates.then(|| "turns".to_owned()));
        told.extend(write_cache.clone());
        told.extend(discards.then(|| "discards".to_owned()));
        Some(told.join(", "))
    }
}

impl Environment {
    pub fn of_this_command() -> Self {
        Self::capture(std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect())
    }

    /// Captures the environment; `command` is the command line that the user typed.
    pub fn capture(command: Vec<String>) -> Self {
        let cpuinfo = read("/proc/cpuinfo");
        Self {
            began: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            processor: value(&cpuinfo, "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory("MemTotal"),
            system: transect_sys::host::system_version(),
            wine: transect_sys::host::wine_version(),
            hypervisor: cpuinfo
                .lines()
                .any(|line| line.starts_with("flags") && line.contains(" hypervisor")),
            load: read("/proc/loadavg")
                .split(' ')
                .next()
                .map(str::to_owned)
                .filter(|t| !t.is_empty()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: COMMIT.filter(|commit| !commit.is_empty()).map(str::to_owned),
            call_ns: cheapest_call(),
            fault_ns: cfg!(target_os = "linux").then(page_fault),
            machine: Machine::look(),
            tools: BTreeMap::new(),
            command,
        }
    }

    pub fn processors(&self) -> String {
        let guest = if self.hypervisor { ", a guest" } else { "" };
        let processor = self.processor.as_deref().unwrap_or("unknown processor");
        format!("{processor}, {} cores{guest}", self.cores)
    }

    /// Returns details as pairs of label and value: Wine, the commit, settings of the machine, versions of tools.
    pub fn details(&self) -> Vec<(String, String)> {
        let wine = self.wine.clone().map(|wine| ("under Wine".to_owned(), wine));
        let commit = self.commit.clone().map(|commit| ("commit".to_owned(), commit));
        let machine = self.machine.details().into_iter().map(|(what, is)| (what.to_owned(), is));
        let tools = self.tools.iter().map(|(name, version)| (name.clone(), version.clone()));
        wine.into_iter().chain(commit).chain(machine).chain(tools).collect()
    }
}

/// Asks a program for its version, and returns the first line of its output that is not empty.
pub fn version_of(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg(match program {
        "go" => "version",
        // An installation without an SDK has no version of its own.
        "dotnet" => "--list-runtimes",
        // All others have the option.
        _ => "--version",
    });
    let (said, _) = launch::listen(command, VERSION_TIMEOUT, |mut output| {
        let mut said = Vec::new();
        output.read_to_end(&mut said).map(|_| said)
    })
    .ok()?;
    let said = said.ok()?;
    let said = String::from_utf8_lossy(&said);
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    if program == "dotnet" {
        return newest_runtime(lines);
    }
    lines.next().map(str::to_owned)
}

/// Returns the last runtime of a list of .NET, which contenders run on, without its directory:
/// `Microsoft.NETCore.App 8.0.1 [/usr/share/dotnet/shared/Microsoft.NETCore.App]`.
fn newest_runtime<'l>(lines: impl Iterator<Item = &'l str>) -> Option<String> {
    let line = lines.filter(|line| line.starts_with("Microsoft.NETCore.App ")).last()?;
    Some(line.split(" [").next().unwrap_or(line).to_owned())
}

/// The queue of a block device in `/sys`. A partition has the queue of its device.
#[cfg(target_os = "linux")]
struct Queue([std::path::PathBuf; 2]);

#[cfg(target_os = "linux")]
impl Queue {
    fn of(device: std::path::PathBuf) -> Self {
        Self([device.join("queue"), device.join("../queue")])
    }

    fn told(&self, name: &str) -> Option<String> {
        let told =
            self.0.iter().find_map(|queue| std::fs::read_to_string(queue.join(name)).ok())?;
        Some(told.trim().to_owned())
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.told(name)?.parse().ok()
    }

    fn device(&self) -> Option<Device> {
        Some(Device {
            // The active one is in brackets.
            scheduler: crate::harness::machine::chosen(&self.told("scheduler")?),
            rotates: self.number("rotational")? != 0,
            write_cache: self.told("write_cache"),
            discards: self.number("discard_max_bytes").is_some_and(|bytes| bytes > 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn version_of_program_is_first_line_of_output() {
        let said = version_of(env!("CARGO")).unwrap();
        assert!(said.starts_with("cargo ") && !said.contains('\n'), "{said}");
        assert_eq!(version_of("nowhere-at-all"), None);
    }

    #[test]
    fn newest_runtime_of_dotnet_is_the_last() {
        let lines = [
            "Microsoft.NETCore.App 6.0.1 [/a]",
            "Microsoft.NETCore.App 8.0.1 [/a b]",
            "Other 9 [/a]",
        ];
        let expected = Some("Microsoft.NETCore.App 8.0.1".to_owned());
        assert_eq!(newest_runtime(lines.into_iter()), expected);
        assert_eq!(newest_runtime(["no runtime"].into_iter()), None);
    }

    #[test]
    fn environment_of_older_version_deserializes() {
        let old = r#"{"began":1,"processor":null,"cores":2,"memory":null,"system":"Linux",
                      "hypervisor":false,"load":null,"version":"0.1.0","command":[]}"#;
        let old: Environment = serde_json::from_str(old).unwrap();
        assert_eq!((old.commit, old.machine.is_unknown(), old.tools.len()), (None, true, 0));
        let now = Environment::capture(Vec::new());
        let back: Environment =
            serde_json::from_str(&serde_json::to_string(&now).unwrap()).unwrap();
        assert_eq!(back, now);
    }
}
