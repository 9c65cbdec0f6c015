//! Built without the feature `watch`: nobody tells of changes.

use std::sync::Arc;

use super::AttributeCache;
use super::place::Place;

/// There is none.
#[derive(Debug)]
pub(super) enum Watches {}

impl Watches {
    pub(super) fn new(_most: Option<usize>) -> Result<Self, String> {
        Err("this program was built without it".to_owned())
    }

    pub(super) fn has_notices(&self) -> bool {
        match *self {}
    }

    pub(super) fn len(&self) -> usize {
        match *self {}
    }

    pub(super) fn apply_some(&self, _: &AttributeCache) {
        match *self {}
    }

    pub(super) fn settle(&self, _: &AttributeCache) -> bool {
        match *self {}
    }

    pub(super) fn watch(&self, _: &AttributeCache, _: &Arc<Place>) {
        match *self {}
    }

    pub(super) fn release(&self, _: &[Arc<Place>]) {
        match *self {}
    }
}
