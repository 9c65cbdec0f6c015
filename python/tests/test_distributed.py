"""Scans of many tasks on Dask: whatever is killed, every entry is there, and none twice."""

import errno
import json
import logging
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

import transect
from conftest import wait_until
from transect import distributed

#: The seconds after which something that has to happen counts as never happening.
WAIT = 300

# Short tasks, so that small trees have many.
TASKS = {"entries": 20, "seconds": 30.0, "deadline": 1000.0}


def rows(snapshot):
    """The rows of a snapshot, in the order of their paths."""
    return transect.read_snapshot(snapshot).to_arrow().sort_by("path").to_pylist()


@pytest.fixture(scope="module")
def client():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=0, silence_logs=logging.CRITICAL
    ) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def same(large, tmp_path):
    """A function that checks that a scan of `large` has its entries, each once, and left nothing unfinished."""
    expected = transect.scan(large)
    expected.write_snapshot(tmp_path / "expected.parquet")

    def check(result):
        assert result.complete and result.entries == len(expected)
        assert rows(result.snapshot) == rows(tmp_path / "expected.parquet")
        assert not transect.diff(str(tmp_path / "expected.parquet"), result.snapshot).to_arrow().num_rows
        names = os.listdir(result.out)
        assert not [name for name in names if name.startswith(".")]
        with open(result.manifest) as file:
            manifest = json.load(file)
        assert sorted(part["file"] for part in manifest["parts"]) == sorted(set(names) - {"_manifest.json"})
        assert manifest["entries"] == result.entries

    return check


@pytest.fixture
def arguments(tmp_path):
    return {"out": tmp_path / "parts", "snapshot": tmp_path / "all.parquet", **TASKS}


def once(condition, action):
    """A function for `progress` that does something as soon as a condition is met, and says whether it was."""

    def progress(counts):
        if not progress.happened and condition(counts):
            progress.happened = True
            action()

    progress.happened = False
    return progress


def test_same_as_scan(client, large, same, arguments):
    seen = []
    result = distributed.scan(large, scheduler=client, progress=seen.append, **arguments)
    same(result)
    assert result.parts > 20 and result.adopted == 0
    assert seen[-1].finished and seen[-1].done == result.parts and seen[-1].running == seen[-1].waiting == 0
    before = os.stat(result.snapshot)
    with pytest.raises(ValueError, match="has a finished scan"):
        distributed.scan([large], scheduler=client, **arguments)
    assert os.stat(result.snapshot) == before
    os.remove(result.manifest)
    again = distributed.scan([large], scheduler=client, **arguments)
    assert (again.parts, again.adopted) == (result.parts, result.parts)
    same(again)


def test_part_that_is_not_a_file_is_refused_before_the_first_task(tree, tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    for plant in os.mkfifo, os.mkdir, lambda path: os.symlink("nowhere", path):
        planted = parts / f"part-{'0' * 32}.parquet"
        plant(planted)
        # No scheduler is asked.
        with pytest.raises(ValueError, match="not a regular file") as refused:
            distributed.scan(tree, parts, scheduler="tcp://127.0.0.1:1")
        assert planted.name in str(refused.value)
        os.rename(planted, tmp_path / "away")
        shutil.rmtree(tmp_path / "away") if (tmp_path / "away").is_dir() else os.remove(tmp_path / "away")


def test_large_directory_is_shared(client, large, same, arguments):
    result = distributed.scan(large, scheduler=client, **arguments | {"directory_entries": 60, "entries": 1000})
    same(result)
    assert result.parts > 50


@pytest.mark.parametrize("exclude", ["*.none", ("file 1*", "directory 3")])
def test_exclude(client, tmp_path, exclude):
    tree = tmp_path / "tree"
    (tree / "directory 3").mkdir(parents=True)
    for name in ["x.none", "file 1", "file 2", "directory 3/file 1"]:
        (tree / name).touch()
    snapshot = tmp_path / "all.parquet"
    distributed.scan(tree, tmp_path / "parts", scheduler=client, snapshot=snapshot, entries=1, exclude=exclude)
    transect.scan(tree, exclude=exclude).write_snapshot(tmp_path / "expected.parquet")
    assert rows(snapshot) == rows(tmp_path / "expected.parquet")
    assert len(transect.read_snapshot(snapshot)) < len(transect.scan(tree))


def test_named_tree(client, tree, tmp_path):
    result = distributed.scan(
        os.fsencode(tree), tmp_path / "parts", scheduler=client, snapshot=tmp_path / "all.parquet", entries=1
    )
    table = transect.scan(tree)
    table.write_snapshot(tmp_path / "expected.parquet")
    assert result.entries == len(table)
    assert rows(result.snapshot) == rows(tmp_path / "expected.parquet")


def test_own_cluster_as_program(large, same, arguments, tmp_path):
    command = [sys.executable, "-m", "transect.distributed", str(large), "--workers", "2", "--json"]
    command += ["--out", str(arguments["out"]), "-o", str(arguments["snapshot"]), "--entries", "20"]
    wrong = subprocess.run([*command, "--memory", "much"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "--memory: " in wrong.stderr, wrong
    command += ["--memory", "96M"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done
    said = json.loads(done.stdout)
    assert said.pop("complete") is True
    same(distributed.Result(**said))
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 2 and "has a finished scan" in again.stderr, again
    (tmp_path / "empty").mkdir()
    other = [*command[:3], str(tmp_path / "empty"), *command[4:]]
    os.remove(arguments["out"] / "_manifest.json")
    mixed = subprocess.run(other, capture_output=True, text=True)
    assert mixed.returncode == 2 and "several scans" in mixed.stderr, mixed


def test_driver_killed(large, same, arguments):
    command = [sys.executable, "-m", "transect.distributed", str(large), "--workers", "2", "--entries", "1"]
    driver = subprocess.Popen([*command, "--out", str(arguments["out"])], start_new_session=True)
    def has_parts():
        return arguments["out"].is_dir() and len(os.listdir(arguments["out"])) >= 5

    try:
        wait_until("five parts", has_parts, alive=lambda: driver.poll() is None)
    finally:
        # With its workers: they are in its session.
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    published = [name for name in os.listdir(arguments["out"]) if name.startswith("part-")]
    result = distributed.scan(large, workers=1, **arguments)
    assert result.adopted >= len(published) > 0
    same(result)


def test_worker_killed(client, large, same, arguments):
    victims = list(client.run(os.getpid).values())
    kill = once(lambda counts: counts.done >= 3, lambda: os.kill(victims[0], signal.SIGKILL))
    result = distributed.scan(large, scheduler=client, progress=kill, **arguments)
    assert kill.happened
    same(result)


def test_worker_hung(client, large, same, arguments):
    client.wait_for_workers(2, timeout=WAIT)
    victim = next(iter(client.run(os.getpid).values()))
    stop = once(lambda counts: counts.done >= 3, lambda: os.kill(victim, signal.SIGSTOP))
    # The deadline may pass for others as well: that costs time, and changes nothing.
    arguments |= {"deadline": 0.5, "attempts": 1_000_000}
    try:
        result = distributed.scan(large, scheduler=client, progress=stop, **arguments)
    finally:
        os.kill(victim, signal.SIGCONT)
    assert stop.happened
    same(result)


def test_scheduler_killed(large, same, arguments, tmp_path):
    file = tmp_path / "scheduler.json"
    scheduler = ["distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    worker = ["distributed.cli.dask_worker", "--scheduler-file", str(file), "--no-nanny", "--nthreads", "1"]
    worker += ["--no-dashboard", "--death-timeout", "60", "--local-directory", str(tmp_path)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    programs = [subprocess.Popen([sys.executable, "-m", *program], **quiet) for program in (scheduler, worker)]
    try:
        wait_until(
            "the address of the scheduler",
            lambda: file.exists() and file.read_text().endswith("}"),
            alive=lambda: all(program.poll() is None for program in programs),
        )
        address = json.loads(file.read_text())["address"]
        kill = once(lambda counts: counts.done >= 3, programs[0].kill)
        with pytest.raises(distributed.LostScheduler):
            distributed.scan(large, scheduler=address, progress=kill, **arguments | {"entries": 1})
    finally:
        for program in programs:
            program.kill()
            program.wait()
    assert kill.happened and not os.path.exists(arguments["out"] / "_manifest.json")
    same(distributed.scan(large, workers=1, **arguments))


def race(first, folder, barrier, results):
    barrier.wait(timeout=WAIT)
    results.put(transect._native.run_task(first, folder, entries=10_000, split=2))


def test_two_writers_of_one_part(large, tmp_path):
    spawn = multiprocessing.get_context("spawn")
    barrier, results = spawn.Barrier(2), spawn.Queue()
    first = transect._native.first_task(large, "{}", 1000)
    writers = [spawn.Process(target=race, args=(first, tmp_path, barrier, results)) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        found = sorted(results.get(timeout=WAIT) for _ in writers)
    finally:
        for writer in writers:
            writer.kill()
            writer.join()
    assert found == [False, True]
    _, rows, errors, following = transect._native.read_part(first, tmp_path)
    assert (rows, errors, following) == (len(transect.scan(large)), 0, 0)
    assert len([name for name in os.listdir(tmp_path) if name.startswith("part-")]) == 1


def test_worker_without_permission(client, tmp_path):
    closed = tmp_path / "tree" / "closed"
    closed.mkdir(parents=True)
    (tmp_path / "tree" / "open").mkdir()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts").chmod(0o777)
    closed.chmod(0)
    is_superuser = os.geteuid() == 0
    if is_superuser:
        for directory in [tmp_path, *tmp_path.parents]:
            with_search = directory.stat().st_mode | 0o711
            if with_search != directory.stat().st_mode:
                directory.chmod(with_search)
        client.run(os.seteuid, 65534)
    try:
        with pytest.warns(transect.PartialResultWarning, match="1 error"):
            result = distributed.scan(tmp_path / "tree", tmp_path / "parts", scheduler=client)
    finally:
        if is_superuser:
            client.run(os.seteuid, 0)
        closed.chmod(0o700)
    assert (result.errors, result.complete, result.entries) == (1, False, 3)


def test_full_disk(client, large, same, arguments):
    """Workers cannot write a file of more than some bytes. With room, the scan goes on."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(soft):
        client.run(resource.setrlimit, resource.RLIMIT_FSIZE, (soft, before[1]))

    limit(1000)
    try:
        with pytest.raises(OSError, match="part-") as full:
            distributed.scan(large, scheduler=client, **arguments)
    finally:
        limit(before[0])
    assert full.value.errno == errno.EFBIG
    assert os.listdir(arguments["out"]) == [] and not arguments["snapshot"].exists()
    same(distributed.scan(large, scheduler=client, **arguments))


def test_parts_of_an_earlier_scan_are_refused(client, tmp_path):
    """Both scans begin with the same task: the tree is the same, but not what is in it."""
    for name in ["a", "b"]:
        (tmp_path / "tree" / name).mkdir(parents=True)
    for out in ["one", "two"]:
        (tmp_path / "tree" / "a" / out).touch()
        distributed.scan(tmp_path / "tree", tmp_path / out, scheduler=client, entries=1)
    parts = [{name for name in os.listdir(tmp_path / out) if name.startswith("part-")} for out in ["one", "two"]]
    [common] = parts[0] & parts[1]
    assert min(map(len, parts)) > 1
    shutil.copy(tmp_path / "two" / common, tmp_path / "one")
    os.remove(tmp_path / "one" / "_manifest.json")
    with pytest.raises(ValueError, match="several scans"):
        distributed.scan(tmp_path / "tree", tmp_path / "one", scheduler=client)
    assert not (tmp_path / "one" / "_manifest.json").exists()


def test_task_without_end_is_given_up(client, large, tmp_path):
    """All workers hang. At the deadline, the first task is given up: its directory is an error."""
    client.wait_for_workers(2, timeout=WAIT)
    victims = list(client.run(os.getpid).values())
    for victim in victims:
        os.kill(victim, signal.SIGSTOP)
    try:
        with pytest.warns(transect.PartialResultWarning, match="1 error"):
            result = distributed.scan(
                large, tmp_path / "parts", scheduler=client, snapshot=tmp_path / "all.parquet", deadline=0.1, attempts=1
            )
    finally:
        for victim in victims:
            os.kill(victim, signal.SIGCONT)
    assert (result.entries, result.errors) == (1, 1)
    with pytest.warns(transect.PartialResultWarning):
        [error] = transect.read_snapshot(result.snapshot).errors
    assert (error.path, error.operation, error.kind) == (str(large), "read_directory", "timed_out")


def test_invalid(client, tmp_path):
    (tmp_path / "tree").mkdir()
    with pytest.raises(ValueError, match="lies in"):
        distributed.scan([tmp_path, tmp_path / "tree"], tmp_path / "parts", scheduler=client)
    with pytest.raises(NotADirectoryError):
        (tmp_path / "file").touch()
        distributed.scan(tmp_path / "tree", tmp_path / "file" / "parts", scheduler=client)
    snapshot = tmp_path / "missing.parquet"
    with pytest.raises(ValueError, match="cannot access '.*none'"):
        distributed.scan(tmp_path / "none", tmp_path / "missing-parts", scheduler=client, snapshot=snapshot)
    assert not snapshot.exists() and not os.listdir(tmp_path / "missing-parts")
    (tmp_path / "other").mkdir()
    transect._native.run_task(
        transect._native.first_task(tmp_path / "other", "{}", 1000), tmp_path / "missing-parts", entries=1, split=1
    )
    with pytest.raises(ValueError, match="several scans"):
        distributed.scan(tmp_path / "tree", tmp_path / "missing-parts", scheduler=client)
    with pytest.raises(OSError):
        distributed.scan(tmp_path / "tree", tmp_path, snapshot=tmp_path / "none" / "x.parquet", scheduler=client)


def test_documentation(large, tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parent.parent / "DISTRIBUTED.md").read_text()
    programs = re.findall(r"```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(programs) == 2
    monkeypatch.chdir(tmp_path)
    names = {}
    for program in programs:
        exec(program.replace('"tree"', f'"{large}"'), names)
    entries = len(transect.scan(large))
    size = sum(transect.scan(large).to_arrow().column("size").to_pylist())
    assert capsys.readouterr().out == f"{entries} 1 True\n({entries}, {size})\n{size}\n"


def test_other_engines_read_the_parts(client, large, arguments):
    import dask.dataframe
    import duckdb
    import pyarrow.parquet

    arguments.pop("snapshot")
    result = distributed.scan(large, scheduler=client, **arguments)
    with open(result.manifest) as file:
        files = [os.path.join(result.out, part["file"]) for part in json.load(file)["parts"]]
    query = "SELECT count(*), sum(size) FROM read_parquet(?) WHERE unread IS DISTINCT FROM 'left_over'"
    count, size = duckdb.execute(query, [files]).fetchone()
    found = transect.scan(large).to_arrow()
    total = sum(found.column("size").to_pylist())
    assert (count, size) == (result.entries, total)
    # Spark and other users of parquet-mr refuse a version that they cannot parse.
    created_by = pyarrow.parquet.read_metadata(files[0]).created_by
    assert re.fullmatch(r"transect version \d+\.\d+\.\d+", created_by)
    frame = dask.dataframe.read_parquet(files, columns=["name", "size", "unread"])
    frame = frame[(frame["unread"] != "left_over").fillna(True)]
    assert (len(frame), frame["size"].sum().compute()) == (result.entries, total)

