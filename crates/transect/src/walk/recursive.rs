//! A function that calls itself for every directory.

use transect_sys::Reader;

use crate::error::Error;
use crate::sink::Sink;
use crate::walk::task::{Task, Tasks};
use crate::walk::worker::Worker;

/// The maximum recursion depth. Deeper directories start again from depth 0, so that no tree
/// overflows the stack.
pub(super) const MAX_RECURSION: u32 = 4096;

/// Stack size: 4 KiB for each of [`MAX_RECURSION`] levels, far more than a level needs. Untouched
/// pages take no memory.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// Visits `tasks` and all directories below them, on a thread with a large stack.
pub(super) fn drain<'r, R: Reader, S: Sink>(
    mut worker: Worker<'r, R, S>,
    mut tasks: Tasks<R, S>,
) -> Result<(Vec<S>, usize), Error> {
    let sink = std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                while let Some(task) = tasks.pop() {
                    descend(&mut worker, task, 0, &mut tasks);
                }
                worker.into_sink()
            });
        let joined = thread.map_err(Error::ThreadStart)?.join();
        Ok::<_, Error>(joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    Ok((vec![sink], 1))
}

fn descend<R: Reader, S: Sink>(
    worker: &mut Worker<'_, R, S>,
    task: Task<R::Handle, S::Tag>,
    level: u32,
    deeper: &mut Tasks<R, S>,
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
