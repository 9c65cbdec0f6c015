"""walk: entries, options, the end of walks."""

import os
import pathlib
import shutil
import stat
import threading
import time
import warnings
from datetime import datetime, timedelta, timezone

import pytest
import transect
from conftest import expected, make_names

TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
}


STAT_NAMES = [name for name in dir(transect.Attributes) if name.startswith("st_")]


def threads_of_process():
    """Returns how many threads this process has, those of other languages included."""
    return len(os.listdir("/proc/self/task"))


def wait_for_threads(count):
    """Waits until this process has at most `count` threads: the kernel lists one until shortly after its
    end, and `count` may include such a one."""
    deadline = time.monotonic() + 300
    while (threads := threads_of_process()) > count:
        assert time.monotonic() < deadline, f"{threads} threads, more than {count}"


@pytest.mark.parametrize("threads", [None, 1, 2, 16])
def test_entries_equal_os_walk(tree, threads):
    found = expected(tree)
    walk = transect.walk(tree, threads=threads)
    entries = {entry.path: entry for entry in walk}
    assert set(entries) == set(found) and len(STAT_NAMES) == 11
    for path, status in found.items():
        entry = entries[path]
        assert os.fspath(entry) == path and pathlib.Path(entry) == pathlib.Path(path)
        assert os.fsencode(entry) == os.fsencode(path)
        assert entry.name == (os.path.basename(path) if path != tree else tree)
        assert entry.depth == path.count("/") - tree.count("/")
        assert entry.type == TYPES[stat.S_IFMT(status.st_mode)]
        assert entry.is_dir() == stat.S_ISDIR(status.st_mode)
        assert entry.is_file() == stat.S_ISREG(status.st_mode)
        assert entry.is_symlink() == stat.S_ISLNK(status.st_mode)
        assert entry.size == status.st_size and entry.allocated == status.st_blocks * 512
        assert entry.mtime == status.st_mtime and entry.mtime_ns == status.st_mtime_ns
        microseconds = (entry.modified - datetime.fromtimestamp(0, timezone.utc)) // timedelta(microseconds=1)
        assert microseconds == status.st_mtime_ns // 1000
        assert entry.ctime_ns == status.st_ctime_ns
        assert (entry.mode, entry.uid, entry.gid) == (status.st_mode, status.st_uid, status.st_gid)
        assert (entry.nlink, entry.inode) == (status.st_nlink, status.st_ino)
        assert entry.device == status.st_dev
        for name in STAT_NAMES:
            # Reading a directory changes when it was read.
            if name != "st_atime_ns" or not entry.is_dir():
                assert getattr(entry, name) == getattr(status, name), name
        assert repr(entry) == f"<transect.Entry {path!r}>"
    assert walk.complete and walk.errors == [] and walk.error_count == 0
    assert next(walk, None) is None


def test_directory_before_its_entries(large):
    seen = {os.path.dirname(str(large))}
    for entry in transect.walk(large):
        assert os.path.dirname(entry.path) in seen
        if entry.is_dir():
            seen.add(entry.path)
    assert len(seen) == 52


def test_names_without_attributes(tree):
    entries = list(transect.walk(tree, attributes=False))
    assert {entry.path for entry in entries} == set(expected(tree))
    assert all(entry.mode is None for entry in entries if not entry.is_dir())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"glob": "*.txt"},
        {"glob": ["*.txt", "*.gz"], "exclude": ["sub/deeper", "dir-*"]},
        {"exclude": "sub"},
        {"extensions": "txt"},
        {"extensions": ["txt", ".gz"], "ignore_case": True},
        {"regex": ["^a", "x$"]},
        {"types": "file"},
        {"types": ["directory", "symlink"]},
        {"hidden": False},
        {"gitignore": True},
        {"min_depth": 1},
        {"max_depth": 1},
        {"min_depth": 2, "max_depth": 2},
        {"min_size": 5, "max_size": 70_000},
        {"follow": True},
        {"one_file_system": True, "pseudo_file_systems": True, "threads": 3},
        {"glob": None, "min_depth": None, "threads": None, "hidden": None},
    ],
)
def test_options_select_the_same_for_scan_and_walk(tree, options):
    with open(tree + "/.gitignore", "w") as file:
        file.write("*.gz\n")
    walked = sorted(entry.path for entry in transect.walk(tree, **options))
    table = transect.scan(tree, columns=["path", "type"], **options)
    listed = table.to_arrow().to_pylist()
    if any(row["path"].count("\ufffd") for row in listed):
        walked = sorted(os.fsencode(path).decode(errors="replace") for path in walked)
    assert sorted(row["path"] for row in listed) == walked
    assert len(table) == len(walked)
    everything = len(expected(tree))
    selective = [value for key, value in options.items() if key not in SELECT_EVERYTHING]
    assert (0 < len(walked) < everything) == any(value is not None for value in selective)


SELECT_EVERYTHING = ["follow", "one_file_system", "pseudo_file_systems", "threads"]


def test_missing_root_raises(tree):
    walk = transect.walk([tree + "/missing"])
    with pytest.raises(FileNotFoundError) as caught:
        next(walk)
    assert caught.value.filename == tree + "/missing"
    assert next(walk, None) is None and not walk.complete


def test_root_that_vanishes(tmp_path):
    root = tmp_path / "root"
    for directory in range(20):
        make_names(root / str(directory), 50)
    before = transect.scan(root)
    remover = threading.Thread(target=shutil.rmtree, args=[root])
    remover.start()
    while os.path.lexists(root):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", transect.PartialResultWarning)
                assert len(transect.scan(root).to_arrow()) <= len(before)
                assert sum(1 for _ in transect.walk(root)) <= len(before)
        except FileNotFoundError as error:
            assert error.filename == str(root)
    remover.join()
    with pytest.raises(FileNotFoundError):
        transect.scan(root)
    # What was read stays.
    assert len(before.to_arrow()) == len(before) == 1_021


def test_partial_result_warns_after_the_last_entry(failing):
    walk = transect.walk(failing, gitignore=True)
    with pytest.warns(transect.PartialResultWarning, match="1 error"):
        entries = [entry.path for entry in walk]
    assert str(failing / "good") in entries
    assert not walk.complete and walk.error_count == 1
    assert [error.kind for error in walk.errors] == ["loop"]


def test_early_end_stops_threads(large):
    before = threads_of_process()
    for entry in transect.walk(large, threads=4):
        break
    # The iterator is gone, so its threads are.
    wait_for_threads(before)
    assert entry.path == str(large)
    walk = transect.walk(large, threads=4)
    next(walk)
    walk.close()
    wait_for_threads(before)
    assert next(walk, None) is None and not walk.complete
    walk.close()
    with transect.walk(large) as walk:
        next(walk)
    wait_for_threads(before)
    assert list(walk) == []
    with pytest.raises(KeyError):
        with transect.walk(large) as walk:
            raise KeyError
    wait_for_threads(before)
    transect.walk(large)
    wait_for_threads(before)


def test_first_entries_start_no_thread(tmp_path):
    # More entries than a thread can read ahead of the caller.
    for directory in range(100):
        make_names(tmp_path / str(directory), 100)
    before = threads_of_process()
    deadline = time.monotonic() + 300
    while True:
        walk = transect.walk(tmp_path)
        next(walk)
        if threads_of_process() <= before:
            break
        # Reading took so long that a thread continues it.
        walk.close()
        wait_for_threads(before)
        assert time.monotonic() < deadline, "every walk starts a thread"
    # A thread continues after some of the others, and loses none.
    assert len(list(walk)) == 10_100 and walk.complete


def test_entries_outlive_the_walk(tree):
    with transect.walk(tree) as walk:
        entries = [next(walk) for _ in range(3)]
    assert all(entry.path.startswith(tree) and entry.size is not None for entry in entries)


def test_one_walk_shared_by_threads(large):
    walk = transect.walk(large)
    found, lock = [], threading.Lock()

    def take():
        for entry in walk:
            with lock:
                found.append(entry.path)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(set(found)) == 5_051


def test_close_ends_a_waiting_thread(large):
    # Selects nothing, so `next` waits until the end.
    walk = transect.walk(large, glob="nothing")
    results = []
    thread = threading.Thread(target=lambda: results.append(next(walk, None)))
    thread.start()
    walk.close()
    thread.join()
    assert results == [None]


def test_signal_stops_walk(growing, interrupted):
    """A handler that raises ends a walk that selects nothing, while `next` waits."""
    before = threads_of_process()
    # A signal may also arrive before or after the call. Then a longer walk is tried.
    for roots in growing:
        walk = transect.walk(roots, glob="nothing", threads=1)
        if interrupted(lambda: next(walk, None)):
            assert next(walk, None) is None
            if not walk.complete:
                break
    wait_for_threads(before)
