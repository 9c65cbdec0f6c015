//! The single-threaded orders that keep a list of tasks; they differ in the end they take from.

use std::collections::VecDeque;

use transect_sys::Reader;

use crate::walk::task::{Task, Tasks};
use crate::walk::worker::Worker;

/// A list of waiting tasks.
pub(super) trait Frontier<T> {
    /// Moves new tasks into the list.
    fn add(&mut self, tasks: &mut Vec<T>);
    /// Removes and returns the next task.
    fn next(&mut self) -> Option<T>;
}

/// Visits `tasks` and all directories below them, on one thread.
pub(super) fn drain<R: Reader>(
    worker: &mut Worker<'_, R>,
    mut tasks: Tasks<R>,
    mut frontier: impl Frontier<Task<R::Handle>>,
) -> usize {
    frontier.add(&mut tasks);
    while let Some(task) = frontier.next() {
        worker.visit(task, &mut tasks);
        frontier.add(&mut tasks);
    }
    1
}

/// A list that only grows, and the index of the next task.
pub(super) struct Array<T> {
    tasks: Vec<Option<T>>,
    next: usize,
}

/// Capacity of a pre-sized stack, in tasks: more than wait at any time in a tree of a few million
/// entries.
pub(super) const PRESIZED: usize = 64 * 1024;

impl<T> Default for Array<T> {
    fn default() -> Self {
        Self { tasks: Vec::new(), next: 0 }
    }
}

/// First in, first out.
impl<T> Frontier<T> for VecDeque<T> {
    fn add(&mut self, tasks: &mut Vec<T>) {
        self.extend(tasks.drain(..));
    }

    fn next(&mut self) -> Option<T> {
        self.pop_front()
    }
}

/// Last in, first out.
impl<T> Frontier<T> for Vec<T> {
    fn add(&mut self, tasks: &mut Vec<T>) {
        self.append(tasks);
    }

    fn next(&mut self) -> Option<T> {
        self.pop()
    }
}

impl<T> Frontier<T> for Array<T> {
    fn add(&mut self, tasks: &mut Vec<T>) {
        self.tasks.extend(tasks.drain(..).map(Some));
    }

    fn next(&mut self) -> Option<T> {
        let task = self.tasks.get_mut(self.next)?.take();
        self.next += 1;
        task
    }
}
