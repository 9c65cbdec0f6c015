//! What of a machine and of its system numbers hang on, beyond what it is called: shown beside them, and
//! used for nothing else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What bounds how much may wait to be written, and for how long (`proc_sys_vm(5)`).
const DIRTY: &[&str] = &[
    "dirty_ratio",
    "dirty_bytes",
    "dirty_background_ratio",
    "dirty_background_bytes",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
];

/// Flaws of processors that the kernel may work against, at a price for every call.
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

/// What is known of a machine. What the system does not tell is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The product name: of the host's hypervisor, or of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maker: Option<String>,
    /// What chooses the processors' frequency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// What the kernel does against flaws of the processor that it has.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub mitigations: BTreeMap<String, String>,
    /// Where time comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// When memory is given out in huge pages without being asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huge_pages: Option<String>,
    /// What bounds how much may wait to be written.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dirty: BTreeMap<String, u64>,
    /// Memory on devices, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap: Option<u64>,
    /// What this process may have of the memory, in bytes, if that is less than there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<u64>,
}

impl Machine {
    /// Looks around.
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
            memory_limit: group().and_then(|group| number(&format!("{group}/memory.max"))),
        }
    }

    /// Returns whether nothing is known of it: a session of an older version, or another system.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what is known of it, for people: what it is, and how it is.
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

/// Returns the control group of this process, as a folder.
fn group() -> Option<String> {
    let groups = read("/proc/self/cgroup");
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(format!("/sys/fs/cgroup{path}"))
}

/// Returns the word in brackets of a list of words, one of which is chosen: `always [madvise] never`;
/// or the whole, if none is.
pub(crate) fn chosen(words: &str) -> String {
    let in_brackets = |word: &str| Some(word.strip_prefix('[')?.strip_suffix(']')?.to_owned());
    words.split_whitespace().find_map(in_brackets).unwrap_or_else(|| words.to_owned())
}

/// Returns the content of a file of the kernel; nothing where there is none.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Returns what follows `key :` in a list of the kernel.
pub(crate) fn value(list: &str, key: &str) -> Option<String> {
    let line = list.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_one_stands_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("none"), "none");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_linux_tells_is_told() {
        let machine = Machine::look();
        assert!(!machine.is_unknown() && machine.dirty.contains_key("dirty_ratio"), "{machine:?}");
        let details = machine.details();
        let unwritten = details.iter().find(|(what, _)| *what == "unwritten at most").unwrap();
        assert!(unwritten.1.contains("dirty_ratio: "), "{unwritten:?}");
        assert!(Machine::default().details().is_empty());
    }
}
