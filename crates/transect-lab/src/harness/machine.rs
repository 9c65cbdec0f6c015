//! Settings of the machine and its system that affect measurements. They are shown next to the results
//! and used for nothing else.

use std::path::Path;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

/// A setting: its name in sessions and in reports, and how it is read: a text, a number of bytes, or several by
/// name. `None` if the system does not report it.
type Setting = (&'static str, &'static str, fn() -> Option<Value>);

/// The settings, in the order of reports.
const SETTINGS: [Setting; 8] = [
    // Of the host's hypervisor, or of the machine.
    ("maker", "maker", || {
        let files = ["/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"];
        let known: Vec<String> = files.iter().filter_map(|file| line(file)).collect();
        (!known.is_empty()).then(|| known.join(" ").into())
    }),
    ("governor", "governor", || {
        line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").map(Value::from)
    }),
    ("mitigations", "mitigations", mitigations),
    ("clock", "clock", || {
        line("/sys/devices/system/clocksource/clocksource0/current_clocksource").map(Value::from)
    }),
    ("huge_pages", "huge pages", || {
        Some(chosen(&line("/sys/kernel/mm/transparent_hugepage/enabled")?).into())
    }),
    ("dirty", "unwritten at most", dirty),
    ("swap", "swap", || memory("SwapTotal").map(Value::from)),
    // Cached files count.
    ("memory_limit", "memory limit", || {
        Some(smallest_limit(&read("/proc/self/cgroup"), number)?.into())
    }),
];

/// The kernel's mitigations of the processor's vulnerabilities: they make every system call slower.
#[expect(clippy::disallowed_methods, reason = "files of the kernel, not a tree to be measured")]
fn mitigations() -> Option<Value> {
    let files = std::fs::read_dir("/sys/devices/system/cpu/vulnerabilities").ok()?.flatten();
    let known = files.filter_map(|file| {
        let mitigation = line(file.path().to_str()?).filter(|it| it != "Not affected")?;
        Some((file.file_name().into_string().ok()?, mitigation.into()))
    });
    known_by_name(known.collect())
}

/// The kernel's limits on the amount and age of unwritten data (`proc_sys_vm(5)`).
fn dirty() -> Option<Value> {
    let names = [
        "dirty_ratio",
        "dirty_bytes",
        "dirty_background_ratio",
        "dirty_background_bytes",
        "dirty_expire_centisecs",
        "dirty_writeback_centisecs",
    ];
    let known = names.iter().filter_map(|name| {
        Some(((*name).to_owned(), number(&format!("/proc/sys/vm/{name}"))?.into()))
    });
    known_by_name(known.collect())
}

fn known_by_name(known: Map<String, Value>) -> Option<Value> {
    (!known.is_empty()).then_some(Value::Object(known))
}

/// The known settings of a machine, by their names in sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Machine(Map<String, Value>);

impl Machine {
    pub fn look() -> Self {
        let known =
            SETTINGS.iter().filter_map(|(name, _, read)| Some(((*name).to_owned(), read()?)));
        Self(known.collect())
    }

    /// Returns whether no setting is known, as in a session of an older version or on another system.
    pub fn is_unknown(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the smallest memory limit of this process's control groups, in bytes, if there is one.
    pub fn memory_limit(&self) -> Option<u64> {
        self.0.get("memory_limit")?.as_u64()
    }

    fn known(&self) -> impl Iterator<Item = (&'static Setting, &Value)> {
        SETTINGS.iter().filter_map(|setting| Some((setting, self.0.get(setting.0)?)))
    }

    pub fn details(&self) -> Vec<(&'static str, String)> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let shown = |value: &Value| match value {
            Value::Object(named) => {
                let named = named.iter().map(|(name, value)| format!("{name}: {}", text(value)));
                named.collect::<Vec<_>>().join("; ")
            }
            Value::Number(bytes) => {
                transect_text::size::shortest(bytes.as_u64().unwrap_or(0) as usize)
            }
            value => text(value),
        };
        self.known().map(|((_, label, _), value)| (*label, shown(value))).collect()
    }
}

impl Serialize for Machine {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.known().map(|((name, ..), value)| (name, value)))
    }
}

/// Returns the smallest limit of the control groups in the text of `/proc/self/cgroup`, in bytes. `number` reads a
/// file (`Documentation/admin-guide/cgroup-v2.rst`). A group without a limit has the word `max` in it.
fn smallest_limit(groups: &str, number: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    // A group is bound by the limits of all above it.
    let groups = Path::new(path).ancestors().filter_map(Path::to_str);
    let files = groups.flat_map(|group| {
        let group = group.trim_end_matches('/');
        ["max", "high"].map(|name| format!("/sys/fs/cgroup{group}/memory.{name}"))
    });
    files.filter_map(|file| number(&file)).min()
}

/// Returns the word in brackets, which marks the chosen one in a list such as `always [madvise] never`; or
/// the whole text, if there are no brackets.
pub(crate) fn chosen(words: &str) -> String {
    let in_brackets = |word: &str| Some(word.strip_prefix('[')?.strip_suffix(']')?.to_owned());
    words.split_whitespace().find_map(in_brackets).unwrap_or_else(|| words.to_owned())
}

/// Returns the content of a file of the kernel; empty if it cannot be read.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn line(path: &str) -> Option<String> {
    Some(read(path).trim().to_owned()).filter(|text| !text.is_empty())
}

fn number(path: &str) -> Option<u64> {
    line(path)?.parse().ok()
}

/// Returns a number of bytes in `/proc/meminfo` (`proc_meminfo(5)`).
pub(crate) fn memory(key: &str) -> Option<u64> {
    let kib: u64 = value(&read("/proc/meminfo"), key)?.split(' ').next()?.parse().ok()?;
    Some(kib * 1024)
}

/// Returns the value after `key:` in a list of the kernel.
pub(crate) fn value(list: &str, key: &str) -> Option<String> {
    let line = list.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_word_in_brackets_or_whole_text() {
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("none"), "none");
    }

    #[test]
    fn smallest_limit_of_all_groups_applies() {
        let limit = |files: &[(&str, u64)]| {
            let number = |path: &str| files.iter().find(|(name, _)| *name == path).map(|it| it.1);
            smallest_limit("1:cpu:/c\n0::/a/b\n", number)
        };
        let (own, high) = ("/sys/fs/cgroup/a/b/memory.max", "/sys/fs/cgroup/a/b/memory.high");
        assert_eq!(limit(&[(own, 3), (high, 2), ("/sys/fs/cgroup/a/memory.max", 1)]), Some(1));
        assert_eq!(limit(&[(own, 3), (high, 2), ("/sys/fs/cgroup/c/memory.max", 1)]), Some(2));
        assert_eq!(limit(&[("/sys/fs/cgroup/memory.max", 4)]), Some(4));
        assert_eq!(limit(&[]), None);
    }

    #[test]
    fn stored_settings_shown_with_labels_in_their_order() {
        let stored = r#"{"maker":"QEMU","mitigations":{"meltdown":"PTI"},"dirty":{"a":1,"b":0},"swap":1048576}"#;
        let machine: Machine = serde_json::from_str(stored).unwrap();
        let details = machine.details();
        let expected = [
            ("maker", "QEMU"),
            ("mitigations", "meltdown: PTI"),
            ("unwritten at most", "a: 1; b: 0"),
            ("swap", "1M"),
        ];
        assert_eq!(details, expected.map(|(what, is)| (what, is.to_owned())));
        assert_eq!(serde_json::to_string(&machine).unwrap(), stored);
        assert!(Machine::default().details().is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn machine_on_linux_has_settings() {
        let machine = Machine::look();
        let details = machine.details();
        let unwritten = details.iter().find(|(what, _)| *what == "unwritten at most").unwrap();
        assert!(unwritten.1.contains("dirty_ratio: "), "{unwritten:?}");
    }
}
