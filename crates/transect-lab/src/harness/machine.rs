//! Settings of the machine and its system that affect measurements. They are shown next to the results
//! and used for nothing else.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The kernel's limits on the amount and age of unwritten data (`proc_sys_vm(5)`).
const DIRTY: &[&str] = &[
    "dirty_ratio",
    "dirty_bytes",
    "dirty_background_ratio",
    "dirty_background_bytes",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
];

/// Processor vulnerabilities whose mitigations in the kernel make every system call slower.
const FLAWS: &[&str] = &[
    "gather_data_sampling",
    "indirect_target_selection",
    "itlb_multihit",
    "l1tf",
    "mds",
    "meltdown",
    "mmio_stale_data",
    "reg_file_data_sampling",
    "retbleed",
    "spec_rstack_overflow",
    "spec_store_bypass",
    "spectre_v1",
    "spectre_v2",
    "srbds",
    "tsa",
    "tsx_async_abort",
    "vmscape",
];

/// The settings of a machine. A setting that the system does not report is `None` or missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The product name: of the host's hypervisor, or of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maker: Option<String>,
    /// The governor of the processors' frequency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// The kernel's mitigation for each vulnerability of the processor.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mitigations: BTreeMap<String, String>,
    /// The kernel's clock source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// When the kernel uses transparent huge pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huge_pages: Option<String>,
    /// The limits on unwritten data, by the names of `proc_sys_vm(5)`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dirty: BTreeMap<String, u64>,
    /// The size of the swap space, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap: Option<u64>,
    /// The smallest memory limit of this process's control groups, in bytes, if there is one. Cached files count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<u64>,
}

impl Machine {
    /// Reads the settings of this machine.
    pub fn look() -> Self {
        let line = |path: &str| Some(read(path).trim().to_owned()).filter(|text| !text.is_empty());
        let number = |path: &str| read(path).trim().parse::<u64>().ok();
        let maker = ["/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"];
        let maker: Vec<String> = maker.iter().filter_map(|path| line(path)).collect();
        let mitigation = |flaw: &&str| {
            let told = line(&format!("/sys/devices/system/cpu/vulnerabilities/{flaw}"))?;
            (told != "Not affected").then(|| ((*flaw).to_owned(), told))
        };
        let dirty =
            |name: &&str| Some(((*name).to_owned(), number(&format!("/proc/sys/vm/{name}"))?));
        let swap = value(&read("/proc/meminfo"), "SwapTotal");
        Self {
            maker: Some(maker.join(" ")).filter(|text| !text.is_empty()),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            mitigations: FLAWS.iter().filter_map(mitigation).collect(),
            clock: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            huge_pages: line("/sys/kernel/mm/transparent_hugepage/enabled").map(|it| chosen(&it)),
            dirty: DIRTY.iter().filter_map(dirty).collect(),
            swap: swap
                .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
                .map(|kib| kib * 1024),
            memory_limit: smallest_limit(&read("/proc/self/cgroup"), number),
        }
    }

    /// Returns whether no setting is known, as in a session of an older version or on another system.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the known settings as pairs of label and value.
    pub fn details(&self) -> Vec<(&'static str, String)> {
        let pairs = |map: &mut dyn Iterator<Item = (&String, String)>| {
            let pairs: Vec<String> = map.map(|(name, value)| format!("{name}: {value}")).collect();
            Some(pairs.join("; ")).filter(|text| !text.is_empty())
        };
        let numbers = &mut self.dirty.iter().map(|(name, value)| (name, value.to_string()));
        let mitigations = &mut self.mitigations.iter().map(|(name, told)| (name, told.clone()));
        let size = |bytes: u64| transect_text::size::shortest(bytes as usize);
        [
            ("maker", self.maker.clone()),
            ("governor", self.governor.clone()),
            ("mitigations", pairs(mitigations)),
            ("clock", self.clock.clone()),
            ("huge pages", self.huge_pages.clone()),
            ("unwritten at most", pairs(numbers)),
            ("swap", self.swap.map(size)),
            ("memory limit", self.memory_limit.map(size)),
        ]
        .into_iter()
        .filter_map(|(what, told)| Some((what, told?)))
        .collect()
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

    #[cfg(target_os = "linux")]
    #[test]
    fn machine_on_linux_has_settings() {
        let machine = Machine::look();
        assert!(!machine.is_unknown() && machine.dirty.contains_key("dirty_ratio"), "{machine:?}");
        let details = machine.details();
        let unwritten = details.iter().find(|(what, _)| *what == "unwritten at most").unwrap();
        assert!(unwritten.1.contains("dirty_ratio: "), "{unwritten:?}");
        assert!(Machine::default().details().is_empty());
    }
}
