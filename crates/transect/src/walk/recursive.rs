//! A function that calls itself for every directory.

use std::thread::Builder;

use transect_sys::Reader;

use crate::error::Error;
use crate::walk::task::{Task, Tasks};
use crate::walk::worker::Worker;

/// The maximum recursion depth. Deeper directories start again from depth 0, so that no tree
/// overflows the stack.
pub(super) const MAX_RECURSION: u32 = 4096;

/// Stack size: 4 KiB for each of [`MAX_RECURSION`] levels, far more than a level needs. Untouched
/// pages take no memory.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// Visits `tasks` and all directories below them, on a thread with a large stack.
pub(super) fn drain<R: Reader>(
    worker: &mut Worker<'_, R>,
    mut tasks: Tasks<R>,
) -> Result<usize, Error> {
    std::thread::scope(|scope| {
        let thread = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
            while let Some(task) = tasks.pop() {
                descend(worker, task, 0, &mut tasks);
            }
        });
        let joined = thread.map_err(Error::ThreadStart)?.join();
        joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(1)
    })
}

fn descend<R: Reader>(
    worker: &mut Worker<'_, R>,
    task: Task<R::Handle>,
    level: u32,
    deeper: &mut Tasks<R>,
) {
    if level == MAX_RECURSION {
        return deeper.push(task);
    }
    let mut children = Vec::new();
    worker.visit(task, &mut children);
    for child in children {
        descend(worker, child, level + 1, deeper);
    }
}
