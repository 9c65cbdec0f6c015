"""Processes: fork, spawn, threads, memory, start."""

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys

import pytest
import transect


def count(path):
    return len(transect.scan(path)), sum(1 for _ in transect.walk(path))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(tree, method):
    wanted = count(tree)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(count, [tree] * 8) == [wanted] * 8


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_walk_begun_before_fork(large):
    walk = transect.walk(large, threads=4)
    next(walk)
    table = transect.scan(large)
    child = os.fork()
    if child == 0:
        # Nothing here may reach pytest.
        code = 1
        try:
            try:
                next(walk)
            except RuntimeError as error:
                assert "made before a fork" in str(error)
                del walk
                assert count(large) == (5_051, 5_051) and len(table.to_arrow()) == 5_051
                code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert sum(1 for _ in walk) == 5_050


def test_threads_scan_at_once(tree):
    wanted = count(tree)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(count, [tree] * 40)) == [wanted] * 40


MEMORY = """
import os
import sys
import transect

tree, snapshot = sys.argv[1:]
cache = transect.AttributeCache("frozen")

def memory():
    # The bytes of this process that are in memory and not shared with files.
    with open("/proc/self/smaps_rollup") as file:
        sizes = dict(line.split(":") for line in list(file)[1:])
    return int(sizes["Anonymous"].split()[0]) * 1024

def run():
    table = transect.scan(tree)
    table.to_arrow()
    table.__arrow_c_stream__()
    table.__arrow_c_schema__()
    for entry in transect.walk(tree):
        entry.path
    next(transect.walk(tree))
    list(transect.entries(tree, sort="size", limit=10))
    cache.get_many([tree, tree + "/missing"]).to_arrow()
    transect.diff(snapshot, table).to_arrow()
    if runs % 10 == 0:
        list(transect.transform("xxh3", tree))
        transect.read_snapshot(snapshot)
        transect.treemap(table)

for runs in range(100):
    run()
before = memory()
for runs in range(1000):
    run()
print(memory() - before, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))
"""


@pytest.mark.once
def test_memory_does_not_grow_over_1000_scans(tmp_path):
    """A leak of one table, batch or list of paths in each run would exceed the bound."""
    tree, snapshot = tmp_path / "tree", tmp_path / "a.parquet"
    for directory in range(2):
        os.makedirs(tree / str(directory))
        for name in range(50):
            # One file, which is faster than many.
            if not (tree / "file").exists():
                (tree / "file").touch()
            os.link(tree / "file", tree / str(directory) / f"{name}-{'x' * 200}")
    transect.scan(tree).write_snapshot(snapshot)
    # With one heap, what is freed by one thread is used by the others.
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}
    command = [sys.executable, "-c", MEMORY, str(tree), str(snapshot)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    grown, descriptors, threads = map(int, done.stdout.split())
    # 104 paths of more than 200 bytes.
    assert grown < 1000 * 20_000 / 2
    assert descriptors < 20 and threads < 20


def test_import_loads_no_library():
    code = "import sys, transect; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = loaded.stdout.split()
    assert "transect" in modules
    assert not {"numpy", "pandas", "polars", "pyarrow", "duckdb", "tqdm"} & set(modules)


def test_interpreter_ends_with_a_running_walk(large):
    code = "import sys, transect; walk = transect.walk(sys.argv[1]); next(walk); print('end')"
    command = [sys.executable, "-W", "error", "-c", code, str(large)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_free_threaded_python_is_refused():
    """The extension is for builds with an interpreter lock; others report that they cannot use it."""
    code = "import sys; sys.version = %r; import transect"
    for version, refused in [("3.14.3 free-threading build (main)", True), ("3.14.3 (main)", False)]:
        done = subprocess.run([sys.executable, "-c", code % version], capture_output=True, text=True)
        assert (done.returncode == 1) == refused
        assert ("ImportError: transect has no build for free-threaded Python" in done.stderr) == refused
