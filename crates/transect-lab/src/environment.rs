//! Where numbers come from: without it they are nobody's.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The machine that a session was measured on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// When it began, in seconds since 1970 UTC.
    pub began: u64,
    /// The processor, as the system names it.
    pub processor: Option<String>,
    /// Processors that this process may use.
    pub cores: usize,
    /// Memory of the machine, in bytes.
    pub memory: Option<u64>,
    /// The system and its version.
    pub system: String,
    /// It is a guest of another system, as far as it is told: caches below it are out of reach.
    pub hypervisor: bool,
    /// Processes that wanted to run, on average over a minute, when the session began.
    pub load: Option<String>,
    /// The version of transect.
    pub version: String,
    /// The command line.
    pub command: Vec<String>,
}

/// What a tree lies on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystem {
    /// Its kind, such as `ext4`; nothing where the system does not tell.
    pub name: Option<String>,
    /// Its mount options.
    pub options: Option<String>,
    /// How many bytes the system reads ahead of who reads in order; nothing where that is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead: Option<u64>,
}

impl FileSystem {
    /// Returns what `root` lies on.
    pub fn of(root: &Path) -> Self {
        mount(root)
    }
}

impl Environment {
    /// Looks around; `command` is what the user typed.
    pub fn capture(command: Vec<String>) -> Self {
        let cpuinfo = read("/proc/cpuinfo");
        Self {
            began: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            processor: value(&cpuinfo, "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: value(&read("/proc/meminfo"), "MemTotal")
                .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
                .map(|kib| kib * 1024),
            system: transect_sys::host::system(),
            hypervisor: cpuinfo
                .lines()
                .any(|line| line.starts_with("flags") && line.contains(" hypervisor")),
            load: read("/proc/loadavg")
                .split(' ')
                .next()
                .map(str::to_owned)
                .filter(|t| !t.is_empty()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command,
        }
    }
}

/// Returns the content of a file of the kernel; nothing where there is none.
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Returns what follows `key :` in a list of the kernel.
fn value(list: &str, key: &str) -> Option<String> {
    let line = list.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(target_os = "linux")]
fn mount(root: &Path) -> FileSystem {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mount = transect_sys::linux::mount_of(&root);
    let (name, options) = mount.map(|mount| (mount.file_system, mount.options)).unzip();
    FileSystem { name, options, read_ahead: read_ahead(&root) }
}

/// Returns what the device below a folder reads ahead. A part of a device has what the whole has.
#[cfg(target_os = "linux")]
fn read_ahead(root: &Path) -> Option<u64> {
    let device = transect_sys::file::attributes_at(root).ok()?.device()?;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let device = Path::new("/sys/dev/block").join(format!("{major}:{minor}"));
    let queues = [device.join("queue"), device.join("../queue")];
    let told = |queue: &std::path::PathBuf| {
        std::fs::read_to_string(queue.join("read_ahead_kb")).ok()?.trim().parse::<u64>().ok()
    };
    Some(queues.iter().find_map(told)? * 1024)
}

#[cfg(not(target_os = "linux"))]
fn mount(_: &Path) -> FileSystem {
    FileSystem::default()
}
