//! Conditions that the seed articles name as costs or as rules: a limit of cached memory (row A60), programs that
//! scan files (A62), and 8.3 names (A66). They are recorded and shown, never changed.

use std::path::Path;

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use crate::harness::machine::read;

/// The text of a condition that the system does not report.
const UNKNOWN: &str = "unknown";

/// The conditions of a machine, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conditions {
    /// The smallest limit of memory, cached files included, that applies to this process.
    pub cache_limit: String,
    /// Programs that watch accesses to files, or that are known to scan them.
    pub scanner: String,
}

impl Conditions {
    /// Reads the conditions of this machine.
    pub fn look() -> Self {
        Self { cache_limit: cache_limit(), scanner: scanner() }
    }
}

#[cfg(target_os = "linux")]
fn cache_limit() -> String {
    limit_of(&read("/proc/self/cgroup"), |path| {
        let text = read(path);
        (!text.is_empty()).then_some(text)
    })
}

/// Returns the smallest limit of the control groups in the text of `/proc/self/cgroup`. `file` returns the
/// content of a file, if it exists (`cgroups(7)`, `Documentation/admin-guide/cgroup-v2.rst`).
#[cfg(target_os = "linux")]
fn limit_of(groups: &str, file: impl Fn(&str) -> Option<String>) -> String {
    let hierarchies = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        match controllers {
            "" => Some(("/sys/fs/cgroup", path, &["memory.max", "memory.high"][..])),
            it if it.split(',').any(|name| name == "memory") => {
                Some(("/sys/fs/cgroup/memory", path, &["memory.limit_in_bytes"][..]))
            }
            _ => None,
        }
    });
    let mut is_known = false;
    let mut limit: Option<u64> = None;
    for (root, path, names) in hierarchies {
        // A group is bound by the limits of all above it.
        for group in Path::new(path).ancestors() {
            let group = group.to_str().unwrap_or_default().trim_end_matches('/');
            for name in names {
                let Some(text) = file(&format!("{root}{group}/{name}")) else { continue };
                is_known = true;
                // Version 1 prints its largest number for no limit, version 2 the word `max`.
                let bytes = text.trim().parse::<u64>().ok().filter(|&bytes| bytes < 1 << 62);
                limit = bytes.into_iter().chain(limit).min();
            }
        }
    }
    match limit {
        Some(bytes) => format!("{} (control group)", transect_text::units::bytes(bytes)),
        None if is_known => "none".to_owned(),
        None => UNKNOWN.to_owned(),
    }
}

#[cfg(not(target_os = "linux"))]
fn cache_limit() -> String {
    UNKNOWN.to_owned()
}

/// Names of processes that scan files for malware, as the kernel cuts them.
#[cfg(target_os = "linux")]
const SCANNERS: &[&str] = &[
    "clamd",
    "clamonacc",
    "wdavdaemon",
    "falcon-sensor",
    "savd",
    "savscand",
    "ds_agent",
    "ds_am",
    "cbagentd",
    "cbdaemon",
    "elastic-endpoin",
    "s1-agent",
    "cylancesvc",
    "oaeventd",
    "kesl",
    "mfetpd",
    "sfc",
];

/// A process that may slow down accesses to files.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    name: String,
    /// Whether it watches files with fanotify; `None` if its descriptors cannot be read.
    watches: Option<bool>,
}

#[cfg(target_os = "linux")]
fn scanner() -> String {
    describe(processes())
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "/proc, not a tree to be measured")]
fn processes() -> Vec<Process> {
    let entries = |path: &Path| std::fs::read_dir(path).ok().map(Iterator::flatten);
    let process = |folder: std::path::PathBuf| {
        let name = read(folder.join("comm").to_str()?).trim().to_owned();
        let is_fanotify =
            |target: std::path::PathBuf| target.as_os_str() == "anon_inode:[fanotify]";
        let watches = entries(&folder.join("fd")).map(|mut descriptors| {
            descriptors.any(|it| std::fs::read_link(it.path()).is_ok_and(is_fanotify))
        });
        (!name.is_empty()).then_some(Process { name, watches })
    };
    let all = entries(Path::new("/proc")).into_iter().flatten().map(|entry| entry.path());
    let is_process = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().iter().all(u8::is_ascii_digit))
    };
    all.filter(is_process).filter_map(process).collect()
}

/// Describes the processes that scan or watch files.
#[cfg(target_os = "linux")]
fn describe(mut processes: Vec<Process>) -> String {
    if processes.is_empty() {
        return UNKNOWN.to_owned();
    }
    let are_all_known = processes.iter().all(|process| process.watches.is_some());
    processes.retain(|it| it.watches == Some(true) || SCANNERS.contains(&it.name.as_str()));
    processes.sort();
    processes.dedup();
    let found = processes.iter().map(|process| match process.watches {
        Some(true) => format!("{} (watches files with fanotify)", process.name),
        _ => process.name.clone(),
    });
    let found: Vec<String> = found.collect();
    let found = if found.is_empty() { "none found".to_owned() } else { found.join(", ") };
    // Only root may read the descriptors of other users.
    let rest = if are_all_known { "" } else { "; fanotify of other users' processes unknown" };
    format!("{found}{rest}")
}

#[cfg(windows)]
fn scanner() -> String {
    let service = output_of("sc.exe", &["query", "WinDefend"]);
    let key = r"HKLM\SOFTWARE\Microsoft\Windows Defender\Real-Time Protection";
    let real_time = output_of("reg.exe", &["query", key, "/v", "DisableRealtimeMonitoring"]);
    defender(service.as_deref(), real_time.as_deref())
}

#[cfg(not(any(windows, target_os = "linux")))]
fn scanner() -> String {
    UNKNOWN.to_owned()
}

/// Describes Defender from the output of `sc query WinDefend`, and of a query of its setting in the registry.
/// Numbers are the same in all languages, words are not.
#[cfg(any(windows, test))]
fn defender(service: Option<&str>, real_time: Option<&str>) -> String {
    const RUNNING: u64 = 4;
    let mut states = service.into_iter().flat_map(str::lines).filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        let is_state = key.trim().eq_ignore_ascii_case("STATE");
        is_state.then(|| value.split_whitespace().next()?.parse::<u64>().ok()).flatten()
    });
    let is_off = real_time.and_then(registry_number) == Some(1);
    match states.next() {
        Some(RUNNING) if is_off => "Defender, real-time protection off".to_owned(),
        Some(RUNNING) => "Defender".to_owned(),
        Some(_) => "Defender not running; others unknown".to_owned(),
        None => UNKNOWN.to_owned(),
    }
}

/// Returns the number in the output of `reg query KEY /v NAME`.
#[cfg(any(windows, test))]
fn registry_number(output: &str) -> Option<u64> {
    let word = output.split_whitespace().find_map(|word| word.strip_prefix("0x"))?;
    u64::from_str_radix(word, 16).ok()
}

/// Returns whether the system creates 8.3 names on the volume of a path, in words; `None` on systems without
/// such names.
#[cfg(windows)]
pub(crate) fn short_names(path: &Path) -> Option<String> {
    use std::path::{Component, Prefix};

    let prefix = path.components().next();
    let drive = match prefix {
        Some(Component::Prefix(prefix)) => match prefix.kind() {
            Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => Some(char::from(letter)),
            _ => None,
        },
        _ => None,
    };
    let volume = drive
        .and_then(|drive| output_of("fsutil.exe", &["8dot3name", "query", &format!("{drive}:")]));
    let key = r"HKLM\SYSTEM\CurrentControlSet\Control\FileSystem";
    let registry = output_of("reg.exe", &["query", key, "/v", "NtfsDisable8dot3NameCreation"]);
    Some(creation_of_short_names(volume.as_deref(), registry.as_deref()).to_owned())
}

/// Returns `None`: only Windows creates 8.3 names.
#[cfg(not(windows))]
pub(crate) fn short_names(_: &Path) -> Option<String> {
    None
}

/// Describes the creation of 8.3 names from the output of `fsutil 8dot3name query`, which needs an
/// administrator, and from the setting of all volumes in the registry: 0 on, 1 off, 2 by volume, 3 on the
/// system's volume only.
#[cfg(any(windows, test))]
fn creation_of_short_names(volume: Option<&str>, registry: Option<&str>) -> &'static str {
    let number_in = |line: &str| line.split_once(": ")?.1.split_whitespace().next()?.parse().ok();
    let volume = volume.and_then(|text| text.lines().find_map(number_in));
    match (registry.and_then(registry_number), volume) {
        (Some(0), _) | (Some(2), Some(0_u64)) => "created",
        (Some(1), _) | (Some(2), Some(1)) => "not created",
        (Some(3), _) => "created on the system's volume only",
        _ => UNKNOWN,
    }
}

/// Returns the output of a program of the system; `None` if it fails.
#[cfg(windows)]
fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    use std::io::Read;

    let mut command = std::process::Command::new(program);
    command.args(arguments);
    let limit = std::time::Duration::from_secs(60);
    let (text, _) = crate::harness::launch::listen(command, limit, |mut output| {
        let mut text = Vec::new();
        output.read_to_end(&mut text).map(|_| text)
    })
    .ok()?;
    Some(String::from_utf8_lossy(&text.ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn smallest_limit_of_all_groups_applies() {
        let files = |files: &'static [(&str, &str)]| {
            move |path: &str| {
                let file = files.iter().find(|(name, _)| *name == path);
                file.map(|(_, text)| (*text).to_owned())
            }
        };
        let two = files(&[
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/b/memory.high", "1073741824\n"),
            ("/sys/fs/cgroup/a/memory.max", "536870912\n"),
        ]);
        assert_eq!(limit_of("0::/a/b\n", two), "512 MiB (control group)");
        let none = files(&[("/sys/fs/cgroup/a/memory.max", "max\n")]);
        assert_eq!(limit_of("0::/a\n", none), "none");
        let first = files(&[
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "67108864\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(limit_of("3:cpu:/\n2:memory,hugetlb:/a\n", first), "64.0 MiB (control group)");
        assert_eq!(limit_of("", |_| None), UNKNOWN);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn scanners_named_with_what_is_unknown() {
        let process = |name: &str, watches| Process { name: name.to_owned(), watches };
        assert_eq!(describe(vec![process("sh", Some(false))]), "none found");
        let root = [
            process("sh", Some(false)),
            process("agent", Some(true)),
            process("clamd", Some(false)),
        ];
        assert_eq!(describe(root.to_vec()), "agent (watches files with fanotify), clamd");
        let user = [process("sh", None), process("clamd", None)];
        let expected = "clamd; fanotify of other users' processes unknown";
        assert_eq!(describe(user.to_vec()), expected);
        assert_eq!(describe(Vec::new()), UNKNOWN);
    }

    #[test]
    fn defender_state_read_in_any_language() {
        let running =
            "\r\nSERVICE_NAME: WinDefend\r\n  TYPE  : 10  WIN32\r\n  STATE  : 4  RUNNING\r\n";
        let off = "  DisableRealtimeMonitoring    REG_DWORD    0x1\r\n";
        assert_eq!(defender(Some(running), None), "Defender");
        assert_eq!(defender(Some(running), Some(off)), "Defender, real-time protection off");
        let stopped = running.replace('4', "1");
        assert_eq!(defender(Some(&stopped), None), "Defender not running; others unknown");
        assert_eq!(defender(None, None), UNKNOWN);
    }

    #[test]
    fn short_names_by_volume_and_registry() {
        let volume = |state: u8| {
            format!("The volume state is: {state} (words).\r\nThe registry state is: 2 (x).")
        };
        let registry =
            |value: u8| format!("    NtfsDisable8dot3NameCreation    REG_DWORD    0x{value}\r\n");
        for (state, value, expected) in [
            (Some(0), Some(2), "created"),
            (Some(1), Some(2), "not created"),
            (None, Some(0), "created"),
            (Some(0), Some(1), "not created"),
            (None, Some(2), UNKNOWN),
            (Some(0), None, UNKNOWN),
        ] {
            let (state, value) = (state.map(volume), value.map(registry));
            let found = creation_of_short_names(state.as_deref(), value.as_deref());
            assert_eq!(found, expected, "{state:?} {value:?}");
        }
    }

    #[test]
    fn conditions_of_this_machine_are_never_empty() {
        let Conditions { cache_limit, scanner } = Conditions::look();
        assert!(!cache_limit.is_empty() && !scanner.is_empty());
    }
}
