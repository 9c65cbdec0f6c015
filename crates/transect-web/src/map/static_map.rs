//! A map that is served as it is.

use std::io;

use serde_json::Value;
use transect::Cancel;

use super::changes::Comparison;
use super::{ALIVE, RenderedMap, Settings};
use crate::page::Nonce;
use crate::serve::{Action, PageSource, Refusal};

/// A map that does not change while it is served.
#[derive(Debug)]
pub struct StaticMap {
    map: RenderedMap,
    cancel: Cancel,
}

impl StaticMap {
    /// Returns the map of what changed between two tables. `cancel` ends the server.
    ///
    /// # Errors
    /// Memory for packing the columns ran out, or there are too many entries.
    pub fn of_changes(
        comparison: Comparison<'_>,
        settings: &Settings,
        cancel: Cancel,
    ) -> io::Result<Self> {
        let mut map = RenderedMap::of_changes(comparison, settings)?;
        map.scripts.push(ALIVE);
        map.connects = true;
        Ok(Self { map, cancel })
    }
}

impl PageSource for StaticMap {
    fn page(&self) -> io::Result<Option<String>> {
        Ok(Some(self.map.html(&Nonce::random()?)))
    }

    fn columns(&self, _: u64) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn act(&self, _: Action) -> Result<Option<Value>, Refusal> {
        Err(Refusal::forbidden("this map shows stored trees"))
    }

    fn has_ended(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
