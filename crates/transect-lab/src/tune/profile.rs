//! Profiles: the settings that the lab measured as fastest on a file system, stored for the engine. One
//! file for each file system.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use transect::{Order, ReaderKind, StatOrder, WalkProfile, WalkSettings};
use transect_sys::private_dir::{self, OtherUsers};
use transect_transform::pass::{IoMethod, Load, Preference, SizeClass};
use transect_transform::publish::put;
use transect_transform::{Error, Operation};

use crate::experiments::transform::{Kind, SyncRule, Variant as PassVariant};
use crate::harness::cache_state::State;
use crate::harness::environment::{Environment, FileSystem};
use crate::ranking::Metric;
use transect_stats::{Ratios, Verdict};

/// Schema of a profile.
pub const SCHEMA: &str = "transect.profile/1";

/// The profile of a file system: the settings that won, and the evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// `transect.profile/1`.
    pub schema: String,
    /// Identity of the file system (`transect_sys::host::file_system_identity`).
    pub identity: String,
    /// Type and options of the file system.
    pub file_system: FileSystem,
    /// The tree that was walked.
    pub measured: PathBuf,
    /// Number of its entries.
    pub entries: u64,
    /// The cache states that were measured; empty without walks.
    pub states: Vec<State>,
    /// The machine and the time of measurement.
    pub environment: Environment,
    /// The settings that won.
    #[serde(serialize_with = "store_settings", deserialize_with = "load_settings")]
    pub settings: WalkSettings,
    /// Every setting tried.
    pub evidence: Vec<Evidence>,
    /// The methods that won for transforms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<TransformSetting>,
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
    pub state: State,
    /// Whether the output is synced before the end.
    pub sync: SyncRule,
    /// The method that won.
    #[serde(with = "method")]
    pub method: IoMethod,
    /// Block size in bytes; `None` for the default of the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
    /// The kind of transform measured.
    pub kind: Kind,
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

/// Ratios of the time of a chosen method to that of the planner's default.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransformEvidence {
    /// Over all rounds.
    pub ratios: Ratios,
    /// Over the rounds that were not used for choosing.
    pub confirmed: Ratios,
}

impl TransformSetting {
    /// Returns the preference for the planner.
    pub fn preference(&self) -> Preference {
        Preference::from(self.method)
            .load(self.load)
            .size(self.size)
            .resident(self.state == State::Warm)
            .block(self.block)
    }
}

impl std::fmt::Display for TransformSetting {
    /// Formats as `copy, files from 64 MiB, input warm, sync none: buffered,block=1M`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { load, size, state, sync, method, block, .. } = self;
        let (load, size, state, sync) = (load.as_str(), size.about(), state.label(), sync.as_str());
        let way = PassVariant { block: *block, ..PassVariant::plain(method.as_str()) };
        write!(f, "{load}, {size}, input {state}, sync {sync}: {way}")
    }
}

/// [`WalkSettings`] as a profile stores them.
#[derive(Serialize, Deserialize)]
struct StoredSettings {
    #[serde(default, with = "reader", skip_serializing_if = "Option::is_none")]
    reader: Option<ReaderKind>,
    #[serde(default, with = "order", skip_serializing_if = "Option::is_none")]
    order: Option<Order>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    busy_threads: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waiting_threads: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    buffer_size: Option<usize>,
    #[serde(default, with = "stat_order", skip_serializing_if = "Option::is_none")]
    stat_order: Option<StatOrder>,
}

/// Stores [`WalkSettings`] as [`StoredSettings`].
fn store_settings<S: Serializer>(settings: &WalkSettings, to: S) -> Result<S::Ok, S::Error> {
    let stored = StoredSettings {
        reader: settings.reader,
        order: settings.order,
        busy_threads: settings.busy_threads,
        waiting_threads: settings.waiting_threads,
        buffer_size: settings.buffer_size,
        stat_order: settings.stat_order,
    };
    stored.serialize(to)
}

fn load_settings<'de, D: Deserializer<'de>>(from: D) -> Result<WalkSettings, D::Error> {
    let stored = StoredSettings::deserialize(from)?;
    let mut settings = WalkSettings::default();
    settings.reader = stored.reader;
    settings.order = stored.order;
    settings.busy_threads = stored.busy_threads;
    settings.waiting_threads = stored.waiting_threads;
    settings.buffer_size = stored.buffer_size;
    settings.stat_order = stored.stat_order;
    Ok(settings)
}

impl Profile {
    /// Returns an empty profile of a file system.
    pub fn new(identity: String, file_system: FileSystem, measured: PathBuf) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            identity,
            file_system,
            measured,
            entries: 0,
            states: Vec::new(),
            environment: Environment::of_this_command(),
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

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Name of the setting: `threads`, `buffer_size` …, or `all` for all winners together.
    pub setting: String,
    /// Its value.
    pub value: String,
    /// The cache state.
    pub state: State,
    /// Ratios of its time to the default's; `None` if it failed, gave a different result, or nothing could
    /// be compared.
    pub ratios: Option<Ratios>,
    /// The metric that was compared: CPU time on a busy machine.
    #[serde(default, skip_serializing_if = "Metric::is_time")]
    pub by: Metric,
    /// The verdict on these ratios.
    pub verdict: Verdict,
}

/// A folder of profiles.
#[derive(Clone, Debug)]
pub struct ProfileStore(PathBuf);

impl ProfileStore {
    /// Returns the store in a folder, which need not exist.
    pub fn of(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Returns the path of the profile of a file system; the file need not exist.
    pub fn file(&self, identity: &str) -> PathBuf {
        self.0.join(format!("{identity}.json"))
    }

    /// Loads the profile of the file system of a path; `None` if there is none.
    ///
    /// # Errors
    /// The profile cannot be read, or other users can write to the folder.
    pub fn load(&self, path: &Path) -> io::Result<Option<Profile>> {
        // Most machines have no profiles; they pay one system call.
        if !private_dir::exists(&self.0, OtherUsers::ReadOnly)? {
            return Ok(None);
        }
        let Some(identity) = transect_sys::host::file_system_identity(path) else {
            return Ok(None);
        };
        let text = match std::fs::read_to_string(self.file(&identity)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let profile: Profile = serde_json::from_str(&text)?;
        if profile.schema != SCHEMA || profile.identity != identity {
            let why = format!("schema {} of {}", profile.schema, profile.identity);
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(Some(profile))
    }

    /// Stores a profile, replacing an earlier one; returns the path of its file.
    ///
    /// # Errors
    /// A system call fails; an earlier profile is then unchanged.
    pub fn store(&self, profile: &Profile) -> Result<PathBuf, Error> {
        private_dir::create_all(&self.0, OtherUsers::ReadOnly).map_err(|refused| {
            Error::System {
                operation: Operation::Create,
                path: self.0.clone(),
                source: refused.into(),
            }
        })?;
        let file = self.file(&profile.identity);
        let mut text = serde_json::to_vec_pretty(profile).expect("BUG: a profile can be written");
        text.push(b'\n');
        put(&file, &text)?;
        Ok(file)
    }

    /// Removes the profile of a file system; returns the path of its file, `None` if there was none.
    ///
    /// # Errors
    /// A system call fails.
    pub fn forget(&self, identity: &str) -> io::Result<Option<PathBuf>> {
        let file = self.file(identity);
        match std::fs::remove_file(&file) {
            Ok(()) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Declares a module that serializes values of a type by name.
macro_rules! by_name {
    ($module:ident, $type:ty, $what:literal) => {
        pub(crate) mod $module {
            use serde::{Deserialize, Deserializer, Serializer, de::Error};

            type Named = $type;

            pub(crate) fn serialize<S: Serializer>(
                value: &Named,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(value.as_str())
            }

            pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Named, D::Error> {
                let name = String::deserialize(deserializer)?;
                let known = Named::ALL.iter().find(|value| value.as_str() == name).copied();
                known.ok_or_else(|| D::Error::custom(format!("no {} is called '{name}'", $what)))
            }
        }
    };
}

/// The same for `Option` values.
macro_rules! by_name_if_any {
    ($module:ident, $type:ty, $what:literal) => {
        mod $module {
            use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

            type Named = $type;

            pub(super) fn serialize<S: Serializer>(
                value: &Option<Named>,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                value.map(Named::as_str).serialize(serializer)
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Option<Named>, D::Error> {
                let Some(name) = Option::<String>::deserialize(deserializer)? else {
                    return Ok(None);
                };
                let known = Named::ALL.iter().find(|value| value.as_str() == name);
                let unknown = || D::Error::custom(format!("no {} is called '{name}'", $what));
                known.map(|&value| Some(value)).ok_or_else(unknown)
            }
        }
    };
}

by_name_if_any!(reader, transect::ReaderKind, "reader");
by_name_if_any!(order, transect::Order, "order");
by_name_if_any!(stat_order, transect::StatOrder, "stat order");
by_name!(method, transect_transform::pass::IoMethod, "method");
by_name!(load, transect_transform::pass::Load, "load");
by_name!(size_class, transect_transform::pass::SizeClass, "size");

#[cfg(test)]
mod tests {
    use super::*;
    use transect_testkit::TempDir;

    fn profile(identity: &str) -> Profile {
        Profile {
            schema: SCHEMA.to_owned(),
            identity: identity.to_owned(),
            file_system: FileSystem::default(),
            measured: PathBuf::from("here"),
            entries: 7,
            states: vec![State::Warm],
            environment: Environment::capture(Vec::new()),
            settings: WalkSettings::default().reader(ReaderKind::Portable).busy_threads(3),
            evidence: Vec::new(),
            passes: Vec::new(),
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
            state: State::Cold,
            sync: SyncRule::None,
            method: IoMethod::Buffered,
            block: Some(1 << 20),
            kind: Kind::Copy,
            bytes: vec![64 << 20],
            by_default: IoMethod::KernelCopy,
            evidence: Vec::new(),
            environment: Environment::capture(Vec::new()),
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
        assert!(error.starts_with("no reader is called 'telepathy'"), "{error}");

        let used = profile("x").walk_profile().unwrap();
        assert_eq!((used.identity.as_str(), used.settings), ("x", profile("x").settings));
        let without_walks = Profile { states: Vec::new(), ..profile("x") };
        assert_eq!(without_walks.walk_profile(), None);
    }
}
