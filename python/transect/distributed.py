"""Read a tree with many processes, on one machine or a cluster, with Dask.

>>> from transect import distributed
>>> result = distributed.scan("/data", out="/shared/parts")                  # doctest: +SKIP
>>> distributed.scan("/data", out="/shared/parts", snapshot="data.parquet")  # doctest: +SKIP

The scan consists of tasks, which ``docs/DISTRIBUTED.md`` describes. A task publishes what it read as a part in the
directory ``out``, and leaves directories over for other tasks. The parts alone say what is left to do: a scan that
was killed goes on when it is started again with the same arguments. A finished one is refused. Needs ``transect[dask]``.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import json
import logging
import os
import queue
import sys
import time
import warnings

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from . import PartialResultWarning, _native

if TYPE_CHECKING:
    import distributed

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]

__all__ = ["LostScheduler", "Progress", "Result", "scan"]

#: The least entries of a task: while there are too few tasks for all workers, so that others soon have work, and otherwise.
#: bench/distributed/simulate.py shows what comes of other numbers.
_FEW_ENTRIES, _LEAST_ENTRIES = 20_000, 200_000
#: The same for each worker: the scheduler needs 1.5 ms for each task, and all workers wait for it.
_ENTRIES_EACH = 400
#: With more entries, no task is a larger share of what one worker has read: otherwise some workers would
#: wait at the end.
_SHARE = 4
#: While there are too few tasks, they take no longer and leave no more lists over than this.
_FEW_SECONDS, _FEW_LISTS = 5.0, 64
#: Seconds between two looks for lost workers, late tasks and a new line of progress.
_TICK = 0.5

_LOST = "the scheduler does not answer any more; started again, the scan goes on"


class LostScheduler(ConnectionError):
    """The scheduler is gone. The same scan, started again, goes on where this one ended."""


@dataclasses.dataclass(frozen=True)
class Progress:
    """Counts of a running scan."""

    #: Rows in the parts so far, with those of directories that were left over.
    rows: int
    #: Errors inside the trees so far.
    errors: int
    #: Tasks that have published a part, that run or are about to, and that wait.
    done: int
    running: int
    waiting: int
    #: The address of Dask's dashboard.
    dashboard: str
    finished: bool


@dataclasses.dataclass(frozen=True)
class Result:
    """What a scan consists of."""

    #: The directory of the parts, and the file in it that names them.
    out: str
    manifest: str
    #: The snapshot of all parts, if one was wanted.
    snapshot: str | None
    parts: int
    entries: int
    #: Errors inside the trees.
    errors: int
    #: Parts that were there before.
    adopted: int

    @property
    def complete(self) -> bool:
        """Whether everything was read."""
        return self.errors == 0


def scan(
    paths: _Path | Iterable[_Path],
    out: _Path,
    *,
    scheduler: "str | distributed.Client | None" = None,
    workers: int | None = None,
    snapshot: _Path | None = None,
    entries: int = 1_000_000,
    seconds: float = 30.0,
    directory_entries: int = 250_000,
    threads: int | None = None,
    deadline: float | None = None,
    attempts: int = 3,
    memory: int | None = None,
    one_file_system: bool = False,
    pseudo_file_systems: bool = False,
    all_times: bool = False,
    exclude: str | Iterable[str] = (),
    progress: bool | Callable[[Progress], object] | None = None,
) -> Result:
    """Read one tree or several into parts, and return what they are.

    paths: a path or an iterable of paths, which all workers must have.
    out: the directory of the parts, which all workers and this process can write to.
    scheduler: the address of a Dask scheduler, or a `distributed.Client`. Without it, a cluster of processes
        on this machine: `workers` of them, by default one for each processor.
    snapshot: store all parts as one snapshot in this file.
    entries, seconds: a task begins no directory after so many entries, and after so much time. While workers are
        idle, tasks are smaller.
    directory_entries: directories with more entries are shared among several tasks.
    threads: the threads of a task; many hide the latency of a network. By default, one for each processor that the
        worker has for itself, and up to 32 while directories wait for a device or a network.
    deadline: a task that takes longer than so many seconds is given to another worker as well, by default
        60 and ten times `seconds`.
    attempts: after so many workers died or hung, the directories of a task are given up: they are errors.
    memory: bytes that putting the parts together may use.
    one_file_system, pseudo_file_systems: as for `transect.scan`. all_times: also ctime, atime and btime.
    exclude: leave out names that match one of these globs, such as ".snapshot".
    progress: True shows a line on standard error. A function is called with a Progress object after each task, and at
        least twice a second.

    Raises ValueError if `out` has a finished scan, or a part that is not a regular file, or if a path does not exist, LostScheduler if the scheduler does not
    answer any more, and the error of a task that failed `attempts`
    times for another reason than its worker. What was published until then stays. Errors below the paths
    are data; they are announced by a PartialResultWarning.
    """
    from distributed import Client

    options = {
        "one_file_system": one_file_system,
        "pseudo": pseudo_file_systems,
        "all_times": all_times,
        "exclude": [exclude] if isinstance(exclude, str) else list(exclude),
    }
    first = _native.first_task(paths, json.dumps(options), directory_entries)
    out = os.path.abspath(os.fsdecode(out))
    os.makedirs(out, exist_ok=True)
    _native.check_folder(out)
    show = progress if callable(progress) else _Line() if progress else lambda counts: None
    if deadline is None:
        deadline = 60 + 10 * seconds
    limits = _Limits(entries, seconds, deadline, attempts, threads)
    with contextlib.ExitStack() as stack:
        if isinstance(scheduler, Client):
            client = scheduler
        else:
            address = scheduler
            if address is None:
                workers = workers or os.cpu_count() or 1
                limits = dataclasses.replace(limits, busy_threads=max(1, (os.cpu_count() or 1) // workers))
                address = stack.enter_context(_local_cluster(workers))
            client = stack.enter_context(Client(address, set_as_default=False))
        driver = _Driver(client, first, out, limits, show)
        driver.run()
    made_by = ["transect.distributed"]
    parts, count, errors = _native.commit(out, snapshot, memory=memory, options=made_by)
    driver.show(finished=True)
    if errors:
        message = f"the result is partial: {errors} errors; the parts have them"
        warnings.warn(message, PartialResultWarning, stacklevel=2)
    manifest = os.path.join(out, "_manifest.json")
    snapshot = None if snapshot is None else os.fsdecode(snapshot)
    return Result(out, manifest, snapshot, parts, count, errors, driver.adopted)


def _local_cluster(workers):
    """A cluster on this machine: processes, as each task is read by threads of its own."""
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        # Any free port: others may have theirs.
        dashboard_address="127.0.0.1:0",
        # Tables are outside of what Dask counts.
        memory_limit=0,
        silence_logs=logging.CRITICAL,
    )


@dataclasses.dataclass(frozen=True)
class _Limits:
    entries: int
    seconds: float
    deadline: float
    attempts: int
    threads: int | None
    busy_threads: int | None = None


@dataclasses.dataclass(eq=False)
class _Task:
    """A task, by its place: the task before it and the number of the list there; nothing for the first one."""

    place: tuple[str, int] | None
    #: How many workers failed, and for how many the deadline passed.
    failures: int = 0
    is_done: bool = False


@dataclasses.dataclass(eq=False)
class _Run:
    """A task that was given to a worker."""

    task: _Task
    future: object
    began: float
    is_late: bool = False


def _run_task(first, out, place, options):
    """What a worker does. It returns nothing: what it found is in the part, also if the worker dies now."""
    _native.run_task(first, out, place, **options)


@contextlib.contextmanager
def _asking_scheduler():
    """Around what the scheduler is asked."""
    from distributed.comm import CommClosedError

    try:
        yield
    except (CommClosedError, TimeoutError, concurrent.futures.CancelledError) as error:
        raise LostScheduler(_LOST) from error


class _Driver:
    """Gives tasks to workers until none is left. Keeps places of tasks, not what they read."""

    def __init__(self, client, first, out, limits, progress):
        self.client, self.first, self.out = client, first, out
        self.limits, self.progress = limits, progress
        self.waiting = collections.deque([_Task(None)])
        self.running = {}
        self.ended = queue.SimpleQueue()
        self.unseen = []
        self.rows = self.errors = self.done = self.adopted = self.submitted = 0
        #: Where late tasks run: these workers get nothing else until then.
        self.hung = {}
        self.threads = {}
        # Asked once: each time, it is a question to the scheduler.
        with _asking_scheduler():
            self.dashboard = client.dashboard_link

    def run(self):
        try:
            while self.waiting or any(not run.task.is_done for run in self.running.values()):
                self.tick()
                self.submit()
                self.wait()
        finally:
            # Also those that another attempt has overtaken.
            runs, self.running = self.running, {}
            with contextlib.suppress(Exception):
                self.client.cancel([run.future for run in runs.values()], force=True)

    def tick(self):
        """Looks for workers that came or went, and for late tasks."""
        if self.client.status != "running":
            raise LostScheduler(_LOST)
        with _asking_scheduler():
            self.threads = self.client.nthreads()
        unseen, self.unseen = self.unseen, []
        for future in unseen:
            self.ended.put(future)
        now = time.monotonic()
        late = [run for run in self.running.values() if not run.is_late and now - run.began > self.limits.deadline]
        if late:
            with _asking_scheduler():
                processing = self.client.processing()
            for run in late:
                run.is_late = True
                key = run.future.key
                self.hung[key] = next((worker for worker, keys in processing.items() if key in keys), None)
                self.again(run.task)
        self.show()

    def show(self, finished=False):
        running = sum(not run.task.is_done for run in self.running.values())
        self.progress(
            Progress(self.rows, self.errors, self.done, running, len(self.waiting), self.dashboard, finished)
        )

    def submit(self):
        """Keeps all workers busy, and one more task for each, so that none waits for this process."""
        hung = set(self.hung.values())
        free = {worker: threads for worker, threads in self.threads.items() if worker not in hung}
        capacity = 2 * sum(free.values())
        active = sum(not run.is_late for run in self.running.values())
        while self.waiting and active < capacity:
            task = self.waiting.popleft()
            if task.is_done:
                continue
            # A scan that was killed goes on.
            if task.failures == 0 and self.collect(task):
                self.adopted += 1
                continue
            active += 1
            self.submitted += 1
            future = self.client.submit(
                _run_task,
                self.first,
                self.out,
                task.place,
                self.options(len(self.waiting) + active, capacity // 2),
                key=f"transect-{os.getpid()}-{id(self)}-{self.submitted}",
                pure=False,
                workers=list(free) if hung else None,
            )
            self.running[future.key] = _Run(task, future, time.monotonic())
            future.add_done_callback(self.ended.put)

    def options(self, tasks, workers):
        """Small tasks that leave much over while there are too few, larger ones later."""
        limits, share = self.limits, self.rows // (_SHARE * workers)
        few, least = (max(entries, _ENTRIES_EACH * workers) for entries in (_FEW_ENTRIES, _LEAST_ENTRIES))
        entries, seconds, split = max(least, share), limits.seconds, 4
        if tasks < 2 * workers:
            entries, seconds = min(least, max(few, share)), min(_FEW_SECONDS, seconds)
            split = min(_FEW_LISTS, 4 * workers)
        entries = min(entries, limits.entries)
        options = {"entries": entries, "seconds": seconds, "split": split}
        return options | {"threads": limits.threads, "busy_threads": limits.busy_threads}

    def wait(self):
        """Waits for a task, or until the next tick; takes all that have ended."""
        until = time.monotonic() + _TICK
        with contextlib.suppress(queue.Empty):
            while True:
                left = until - time.monotonic()
                self.end(self.ended.get(timeout=left) if left > 0 else self.ended.get_nowait())
                self.show()
                if self.waiting:
                    self.submit()
                if not self.running:
                    return

    def end(self, future):
        run = self.running.get(future.key)
        if run is None:
            return
        if future.status == "finished" and not run.task.is_done and not self.collect(run.task):
            # A network file system may show the part later. The deadline passes meanwhile.
            self.unseen.append(future)
            return
        del self.running[future.key]
        self.hung.pop(future.key, None)
        if run.task.is_done:
            return
        if future.status == "cancelled" or self.client.status != "running":
            raise LostScheduler(_LOST)
        with _asking_scheduler():
            error = future.exception()
        self.again(run.task, error)

    def again(self, task, error=None):
        """Runs a task again, elsewhere; a part that was published by then is adopted."""
        from distributed import KilledWorker

        task.failures += 1
        if task.failures < self.limits.attempts:
            self.waiting.appendleft(task)
        elif error is None or isinstance(error, KilledWorker):
            _native.give_up_task(self.first, self.out, task.place)
            self.collect(task)
        else:
            raise error

    def collect(self, task):
        """Counts what the part of a task says; returns whether it is there."""
        part = _native.read_part(self.first, self.out, task.place)
        if part is None:
            return False
        task.is_done = True
        name, rows, errors, following = part
        self.done += 1
        self.rows += rows
        self.errors += errors
        self.waiting.extend(_Task((name, number)) for number in range(following))
        return True


class _Line:
    """Shows progress as one line, over and over."""

    def __init__(self):
        self.began = time.monotonic()
        self.next = 0.0
        self.dashboard = None

    def __call__(self, counts):
        if time.monotonic() < self.next and not counts.finished:
            return
        self.next = time.monotonic() + _TICK
        if counts.dashboard and self.dashboard is None:
            self.dashboard = counts.dashboard
            print(f"Dask dashboard: {counts.dashboard}", file=sys.stderr)
        minutes, seconds = divmod(int(time.monotonic() - self.began), 60)
        text = (
            f"{minutes}:{seconds:02} {counts.rows:,} rows, {counts.errors:,} errors; "
            f"tasks: {counts.done:,} done, {counts.running:,} running, {counts.waiting:,} waiting"
        )
        end = "\n" if counts.finished else ""
        print(f"\r\x1b[K{text}", end=end, file=sys.stderr, flush=True)


def _size(text):
    try:
        return _native.parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m transect.distributed",
        description="Read trees with many processes, on this machine or on a Dask cluster.",
        epilog="A scan that was interrupted goes on when it is started again with the same paths and directory. "
        "A finished one is refused.",
    )
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="a tree, which all workers have at this path")
    add("--out", required=True, metavar="DIR", help="publish the parts in DIR, which all workers can write to")
    add("-o", "--snapshot", metavar="FILE", help="store all parts as one snapshot in FILE")
    add("--scheduler", metavar="ADDRESS", help="use this Dask scheduler, such as tcp://10.0.0.1:8786")
    add("--workers", type=int, metavar="N", help="without --scheduler: N processes on this machine [one a processor]")
    add("--entries", type=int, default=1_000_000, metavar="N", help="entries of a task [1000000]")
    add("--seconds", type=float, default=30.0, metavar="S", help="seconds of a task [30]")
    add("--directory-entries", type=int, default=250_000, metavar="N", help="share larger directories [250000]")
    add("--threads", type=int, metavar="N", help="threads of a task [its processors, up to 32 while waiting]")
    add("--deadline", type=float, metavar="S", help="give a task to another worker after S seconds [360]")
    add("--attempts", type=int, default=3, metavar="N", help="give a task up after N workers died or hung [3]")
    add("--memory", type=_size, metavar="SIZE", help="memory for putting the parts together, such as 1G [256M]")
    add("-x", "--one-file-system", action="store_true", help="stay on the file systems of the paths")
    add("-E", "--exclude", action="append", default=[], metavar="GLOB", help="exclude names that match GLOB")
    add("--all-times", action="store_true", help="store ctime, atime and btime as well")
    add("--json", action="store_true", help="print the result as JSON")
    add("-q", "--quiet", action="store_true", help="show no progress")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a program. Returns its exit code: 0, 1 for a partial result, 2 for an error, 130 after Ctrl-C."""
    options = vars(_parse_arguments(arguments))
    as_json, quiet = options.pop("json"), options.pop("quiet")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PartialResultWarning)
            result = scan(**options, progress=None if quiet or not sys.stderr.isatty() else True)
    except KeyboardInterrupt:
        print("transect: interrupted; started again, the scan goes on", file=sys.stderr)
        return 130
    except ImportError as error:
        print(f"transect: {error}; pip install 'transect[dask]'", file=sys.stderr)
        return 2
    except (OSError, ValueError, RuntimeError) as error:
        print(f"transect: {error}", file=sys.stderr)
        return 2
    if as_json:
        print(json.dumps(dataclasses.asdict(result) | {"complete": result.complete}))
    else:
        print(f"{result.entries:,} entries in {result.parts:,} parts: {result.manifest}")
        if result.snapshot:
            print(f"stored in '{result.snapshot}'")
    if result.errors:
        print(f"transect: {result.errors} errors; the result is partial", file=sys.stderr)
    return 0 if result.complete else 1


if __name__ == "__main__":
    sys.exit(main())
