//! What pages request of the program while a map is served: reading again, removals, searches. One
//! at a time, on the thread that reads.

use std::sync::Arc;

use serde_json::{Value, json};
use transect::Cancel;
use transect::table::Row;
use transect_duplicates::Progress;

use super::duplicates;
use super::removal::{PreparedRemoval, RemovalProgress};
use crate::serve::Refusal;

#[derive(Debug)]
pub(super) enum Task {
    Rescan,
    Remove(PreparedRemoval),
    /// Searches below a row of the finished map.
    FindDuplicates(Row),
}

#[derive(Clone, Debug)]
pub(super) enum TaskProgress {
    Rescan,
    Removal(RemovalProgress),
    Search(Arc<Progress>),
}

impl TaskProgress {
    fn json(&self) -> Value {
        match self {
            Self::Rescan => json!({}),
            Self::Removal(progress) => progress.json(),
            Self::Search(progress) => duplicates::progress(progress),
        }
    }

    /// Returns what the program does.
    fn activity(&self) -> &'static str {
        match self {
            Self::Rescan => "reading the tree again",
            Self::Removal(_) => "removing entries",
            Self::Search(_) => "searching for duplicates",
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// The number of the last task.
    number: u64,
    pub(super) requested: Option<Task>,
    /// Set from the request to the end of a task.
    running: Option<TaskProgress>,
    /// Stops the running task.
    pub(super) cancel: Cancel,
    /// The outcome of the last task that has one.
    outcome: Option<Value>,
    /// The removal that waits for its confirmation. Another one replaces it.
    pub(super) prepared: Option<PreparedRemoval>,
    /// The number of entries read before the last rescan.
    pub(super) entries_before: u64,
}

impl Tasks {
    /// Requests a task. Returns its number.
    ///
    /// # Errors
    /// Another one is running.
    pub(super) fn start(&mut self, task: Task, progress: TaskProgress) -> Result<u64, Refusal> {
        self.check_idle()?;
        self.number += 1;
        self.requested = Some(task);
        self.running = Some(progress);
        self.cancel = Cancel::new();
        self.outcome = None;
        Ok(self.number)
    }

    /// Requests another walk, unless a task is running. It is no task of the page that asked for
    /// another one, whose outcome stays.
    pub(super) fn start_rescan(&mut self) -> bool {
        let is_idle = self.running.is_none();
        if is_idle {
            self.requested = Some(Task::Rescan);
            self.running = Some(TaskProgress::Rescan);
        }
        is_idle
    }

    /// Ends the walk that began, if it did.
    pub(super) fn finish_rescan(&mut self) {
        if self.is_rescanning() && self.requested.is_none() {
            self.running = None;
        }
    }

    /// # Errors
    /// A task is running.
    pub(super) fn check_idle(&self) -> Result<(), Refusal> {
        match &self.running {
            Some(running) => Err(Refusal::conflict(format!("busy: {}", running.activity()))),
            None => Ok(()),
        }
    }

    pub(super) fn is_rescanning(&self) -> bool {
        matches!(self.running, Some(TaskProgress::Rescan))
    }

    pub(super) fn set_progress(&mut self, progress: TaskProgress) {
        self.running = Some(progress);
    }

    /// Ends the running task.
    pub(super) fn finish(&mut self, outcome: Option<Value>) {
        self.running = None;
        self.outcome = outcome;
    }

    /// Returns the state of the last task, for the page.
    pub(super) fn json(&self) -> Value {
        let progress = self.running.as_ref().filter(|_| !self.is_rescanning());
        json!({
            "number": self.number,
            "running": progress.is_some(),
            "stopping": progress.is_some() && self.cancel.is_cancelled(),
            "progress": progress.map(TaskProgress::json),
            "outcome": self.outcome,
        })
    }
}
