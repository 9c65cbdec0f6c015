//! Profiles: the settings that were measured as fastest on a file system, stored for the engine. One file
//! for each file system.
//!
//! The lab writes them; `scan`, `list` and `transform` use them, and `doctor` shows them. What the lab
//! knows beyond that (the machine, the device) is stored with them and not interpreted here.

mod by_name;
mod cache_state;
mod evidence;
mod store;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use transect::internal::{WalkProfile, WalkSettings};
use transect_text::size;
use transect_transform::pass::{IoMethod, Load, Preference, SizeClass};
use transect_transform::publish::Durability;

pub use by_name::{load, method, size_class};
pub use cache_state::CacheState;
pub use evidence::{Evidence, TransformEvidence, write_evidence};
pub use store::ProfileStore;

/// Schema of a profile.
pub const SCHEMA: &str = "transect.profile/1";

/// The profile of a file system: the settings that won, and the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The name and version of the format: `transect.profile/1`.
    pub schema: String,
    /// Identity of the file system (`transect_sys::host::file_system_identity`).
    pub identity: String,
    /// Type and options of the file system.
    pub file_system: Value,
    /// The tree that was walked.
    pub measured: PathBuf,
    /// Number of its entries.
    pub entries: u64,
    /// The cache states that were measured; empty without walks.
    pub states: Vec<CacheState>,
    /// The machine and the time of measurement.
    pub environment: Environment,
    /// The settings that won.
    pub settings: WalkSettings,
    /// Every setting tried.
    pub evidence: Vec<Evidence>,
    /// The methods that won for transforms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<TransformSetting>,
}

/// The machine and the system that a profile was measured on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// When the measurement began, in seconds since 1970 UTC.
    pub began: u64,
    /// Processors that the process could use.
    pub cores: usize,
    /// The system and its version.
    pub system: String,
    /// The version of transect.
    pub version: String,
    /// Everything else that the lab knows of it.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

transect_sys::words! {
    /// What has to be synced to the device before the clock stops.
    ///
    /// The rule applies to all cells, including third-party programs, however each of them syncs. The engine
    /// follows it by a [`Durability`]: file by file, or in a batch.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SyncRule {
        /// Sync nothing.
        None = "none",
        /// Sync the output.
        Inside = "inside",
    }
}

impl From<Durability> for SyncRule {
    /// Returns the rule that a durability follows.
    fn from(durability: Durability) -> Self {
        match durability {
            Durability::None => Self::None,
            Durability::File | Durability::Batch => Self::Inside,
        }
    }
}

/// The method that won for transforms of some files, and the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransformSetting {
    /// The load of the transform, as the planner classifies it.
    #[serde(with = "load")]
    pub load: Load,
    /// Size class of the files.
    #[serde(with = "size_class")]
    pub size: SizeClass,
    /// Cache state of the input.
    pub state: CacheState,
    /// Whether the output is synced before the end.
    pub sync: SyncRule,
    /// The method that won.
    #[serde(with = "method")]
    pub method: IoMethod,
    /// Block size in bytes; `None` for the default of the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
    /// The kind of transform measured, as the lab calls it.
    pub kind: String,
    /// Lengths of the inputs, in bytes.
    pub bytes: Vec<u64>,
    /// The planner's default, the base of the evidence.
    #[serde(with = "method")]
    pub by_default: IoMethod,
    /// Ratios of its time to the default's, for each input.
    pub evidence: Vec<TransformEvidence>,
    /// The machine and the time of measurement.
    pub environment: Environment,
}

impl TransformSetting {
    /// Returns the preference for the planner.
    pub fn preference(&self) -> Preference {
        Preference::from(self.method)
            .load(self.load)
            .size(self.size)
            .resident(self.state == CacheState::Warm)
            .block(self.block)
    }
}

impl std::fmt::Display for TransformSetting {
    /// Formats as `copy, files from 64 MiB, input warm, sync none: buffered,block=1M`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { load, size, state, sync, method, block, .. } = self;
        let (load, size, state, sync) = (load.as_str(), size.about(), state.label(), sync.as_str());
        write!(f, "{load}, {size}, input {state}, sync {sync}: {}", method.as_str())?;
        block.map_or(Ok(()), |bytes| write!(f, ",block={}", size::shortest(bytes)))
    }
}

impl Profile {
    /// Returns an empty profile of a file system.
    pub fn new(
        identity: String,
        file_system: Value,
        measured: PathBuf,
        environment: Environment,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            identity,
            file_system,
            measured,
            entries: 0,
            states: Vec::new(),
            environment,
            settings: WalkSettings::default(),
            evidence: Vec::new(),
            passes: Vec::new(),
        }
    }

    /// Returns whether it contains measurements of walks, not only of transforms.
    pub fn has_walks(&self) -> bool {
        !self.states.is_empty()
    }

    /// Returns the part that the engine uses; `None` without measurements of walks.
    pub fn walk_profile(&self) -> Option<WalkProfile> {
        let Self { identity, environment, settings, .. } = self;
        let identity = identity.clone();
        self.has_walks().then(|| WalkProfile::new(identity, environment.began, *settings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transect::ReaderKind;
    use transect_testkit::TempDir;

    fn profile(identity: &str) -> Profile {
        let file_system = serde_json::json!({ "name": "ext4" });
        Profile {
            entries: 7,
            states: vec![CacheState::Warm],
            settings: WalkSettings {
                reader: Some(ReaderKind::Portable),
                busy_threads: Some(3),
                ..Default::default()
            },
            ..Profile::new(identity.to_owned(), file_system, PathBuf::from("here"), environment())
        }
    }

    fn environment() -> Environment {
        let details = serde_json::json!({ "hypervisor": true, "command": ["transect", "lab"] });
        Environment {
            began: 1_795_335_680,
            cores: 2,
            system: "Linux".to_owned(),
            version: "0.1.0".to_owned(),
            details: details.as_object().cloned().unwrap_or_default(),
        }
    }

    #[test]
    fn profile_found_by_file_system_until_forgotten() {
        let temp = TempDir::new();
        let profiles = ProfileStore::of(temp.join("deep/profiles"));
        assert!(profiles.load(temp.path()).unwrap().is_none());
        let identity = transect_sys::host::file_system_identity(temp.path()).unwrap();
        let stored = profile(&identity);
        let file = profiles.store(&stored).unwrap();
        assert_eq!(profiles.load(temp.path()).unwrap().as_ref(), Some(&stored));
        // Replaces the earlier one.
        assert_eq!(profiles.store(&stored).unwrap(), file);

        std::fs::write(&file, "{}").unwrap();
        assert!(profiles.load(temp.path()).is_err());
        profiles.store(&Profile { identity: "other".to_owned(), ..stored }).unwrap();
        std::fs::rename(profiles.file("other"), &file).unwrap();
        assert_eq!(
            profiles.load(temp.path()).unwrap_err().to_string(),
            "schema transect.profile/1 of other"
        );

        assert_eq!(profiles.forget(&identity).unwrap(), Some(file));
        assert_eq!(profiles.forget(&identity).unwrap(), None);
        assert!(profiles.load(temp.path()).unwrap().is_none());
    }

    #[test]
    fn transform_setting_becomes_planner_preference() {
        let setting = TransformSetting {
            load: Load::Copy,
            size: SizeClass::Large,
            state: CacheState::Cold,
            sync: SyncRule::None,
            method: IoMethod::Buffered,
            block: Some(1 << 20),
            kind: "copy".to_owned(),
            bytes: vec![64 << 20],
            by_default: IoMethod::KernelCopy,
            evidence: Vec::new(),
            environment: environment(),
        };
        assert_eq!(
            setting.to_string(),
            "copy, files from 64 MiB, input cold, sync none: buffered,block=1M"
        );
        assert_eq!(setting.preference().resident, Some(false));
        let stored = Profile { passes: vec![setting], ..profile("x") };
        let text = serde_json::to_string(&stored).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&text).unwrap(), stored);
        let text = text.replace("\"buffered\"", "\"telepathy\"");
        let error = serde_json::from_str::<Profile>(&text).unwrap_err().to_string();
        assert!(error.starts_with("no method is called 'telepathy'"), "{error}");
    }

    #[test]
    fn walk_settings_stored_by_name() {
        let stored = serde_json::to_value(profile("x")).unwrap();
        let expected = serde_json::json!({ "reader": "portable", "busy_threads": 3 });
        assert_eq!(stored["settings"], expected);
        let text = stored.to_string().replace("portable", "telepathy");
        let error = serde_json::from_str::<Profile>(&text).unwrap_err().to_string();
        assert!(error.starts_with("unknown variant `telepathy`, expected one of"), "{error}");

        let used = profile("x").walk_profile().unwrap();
        assert_eq!((used.identity.as_str(), used.settings), ("x", profile("x").settings));
        let without_walks = Profile { states: Vec::new(), ..profile("x") };
        assert_eq!(without_walks.walk_profile(), None);
    }

    /// As versions before this crate wrote it.
    const EARLIER: &str = r#"{
        "schema": "transect.profile/1", "identity": "bc21511272a4a191",
        "file_system": { "name": "ext4", "options": "rw,relatime", "read_ahead": 8388608 },
        "measured": "/data/tree", "entries": 7, "states": ["warm", "as_is"],
        "environment": {
            "began": 1795559132, "processor": null, "cores": 2, "memory": 25276510208,
            "system": "Linux 6.18", "hypervisor": true, "load": "19.76", "version": "0.1.0",
            "machine": { "clock": "tsc", "swap": 0 }, "command": ["transect", "lab", "tune"]
        },
        "settings": { "buffer_size": 16384 },
        "evidence": [
            {
                "setting": "buffer_size", "value": "16K", "state": "as_is",
                "ratios": {
                    "n": 27, "median": 0.9, "low": 0.85, "high": 0.95, "mad": 0.07, "p": 0.01,
                    "seed": 1795559125
                },
                "by": "processor", "verdict": "less_cpu"
            },
            {
                "setting": "reader", "value": "portable", "state": "warm", "ratios": null,
                "verdict": "undecided"
            }
        ]
    }"#;

    #[test]
    fn profile_of_earlier_version_loads_unchanged() {
        let profile: Profile = serde_json::from_str(EARLIER).unwrap();
        assert_eq!(profile.walk_profile().unwrap().settings.buffer_size, Some(16384));
        assert_eq!(profile.environment.details["machine"]["clock"], "tsc");
        let (stored, read) = (serde_json::to_value(&profile).unwrap(), EARLIER.parse::<Value>());
        assert_eq!(stored, read.unwrap());
    }
}
