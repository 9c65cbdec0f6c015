//! The settings of a walk, as a profile stores them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use transect::ReaderKind;
use transect::internal::{Order, StatOrder, WalkSettings};

use super::by_name::{order, reader, stat_order};

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
pub(super) fn serialize<S: Serializer>(settings: &WalkSettings, to: S) -> Result<S::Ok, S::Error> {
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

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<WalkSettings, D::Error> {
    let stored = StoredSettings::deserialize(from)?;
    Ok(WalkSettings {
        reader: stored.reader,
        order: stored.order,
        busy_threads: stored.busy_threads,
        waiting_threads: stored.waiting_threads,
        buffer_size: stored.buffer_size,
        stat_order: stored.stat_order,
    })
}
