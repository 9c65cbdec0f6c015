//! The sink behind an iterator.

use std::sync::Arc;
use std::time::Duration;

use transect_sys::Want;

use super::found::FoundEntries;
use super::queue::ChunkQueue;
use crate::dir::Dir;
use crate::sink::{Diagnostics, Flow, Omission, Sink, Visit};

/// Collects entries: in the queue, or in a chunk of its own.
pub(super) struct ChunkSink {
    pub(super) want: Want,
    /// `None` while the walk runs on the iterator's thread, which takes the chunk itself.
    pub(super) queue: Option<Arc<ChunkQueue>>,
    pub(super) chunk: FoundEntries,
    pub(super) diagnostics: Diagnostics,
    waited: Duration,
}

impl ChunkSink {
    pub(super) fn new(want: Want, queue: Option<Arc<ChunkQueue>>) -> Self {
        Self {
            want,
            queue,
            chunk: FoundEntries::default(),
            diagnostics: Diagnostics::new(0),
            waited: Duration::ZERO,
        }
    }

    fn send(&mut self, add: impl FnOnce(&mut FoundEntries)) -> Flow {
        match &self.queue {
            None => add(&mut self.chunk),
            Some(queue) => match queue.send(add) {
                Some(waited) => self.waited += waited,
                None => return Flow::Quit,
            },
        }
        Flow::Continue
    }
}

impl Sink for ChunkSink {
    fn want(&self) -> Want {
        self.want
    }

    fn visit(&mut self, visit: Visit<'_>) -> Flow {
        self.send(|chunk| chunk.add(&visit))
    }

    fn omit(&mut self, _: &Dir, omission: Omission<'_>) -> Flow {
        self.diagnostics.count(&omission);
        match omission {
            Omission::Failed(error) => self.send(|chunk| chunk.add_error(error.into())),
            _ => Flow::Continue,
        }
    }

    fn take_wait(&mut self) -> Duration {
        std::mem::take(&mut self.waited)
    }

    fn merge(&mut self, other: Self) {
        self.diagnostics.merge(other.diagnostics);
    }
}
