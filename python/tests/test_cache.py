"""AttributeCache: its levels, its errors, and many paths at once."""

import os
import pathlib
import threading

import polars
import pyarrow
import pytest
import transect
from conftest import expected

LEVELS = ["frozen", "checked", "verified"]


@pytest.mark.parametrize("level", LEVELS)
def test_attributes_equal_stat(tree, level):
    cache = transect.AttributeCache(level)
    assert cache.level == level and repr(cache) == f"<transect.AttributeCache: {level}>"
    for _ in range(2):
        for path, status in expected(tree).items():
            found = cache.get(path, follow=False)
            assert (found.size, found.mode, found.inode) == (status.st_size, status.st_mode, status.st_ino)
            assert (found.mtime_ns, found.ctime_ns) == (status.st_mtime_ns, status.st_ctime_ns)
            assert (found.uid, found.gid, found.nlink) == (status.st_uid, status.st_gid, status.st_nlink)
            assert found.allocated == status.st_blocks * 512 and found.device == status.st_dev
    link = pathlib.Path(tree, "link")
    assert cache.get(link).is_file() and cache.get(os.fsencode(link), follow=False).is_symlink()
    assert cache.exists(tree) and not cache.exists(tree + "/missing/name")
    assert repr(cache.get(tree + "/a.txt")) == "<transect.Attributes: file, 5 bytes>"


def test_levels_see_changes(tree):
    caches = {level: transect.AttributeCache(level) for level in LEVELS}
    path, missing = tree + "/a.txt", tree + "/new"
    for cache in caches.values():
        assert cache.get(path).size == 5 and not cache.exists(missing)
    pathlib.Path(path).write_text("longer than before")
    pathlib.Path(missing).write_text("new")
    for level in ["checked", "verified"]:
        assert caches[level].get(path).size == 18 and caches[level].exists(missing), level
    frozen = caches["frozen"]
    assert frozen.get(path).size == 5 and not frozen.exists(missing)
    frozen.thaw()
    assert frozen.get(path).size == 5
    frozen.clear()
    assert frozen.get(path).size == 18 and frozen.exists(missing)
    pathlib.Path(path).write_text("x")
    assert frozen.get(path).size == 18
    frozen.invalidate(tree)
    assert frozen.get(path).size == 1
    frozen.clear()
    assert frozen.memory == 0 or frozen.counts["names"] == 0
    # `freeze` and `thaw` switch a cache of another level.
    checked = caches["checked"]
    checked.freeze()
    assert checked.level == "frozen" and checked.get(path).size == 1
    pathlib.Path(path).write_text("four")
    assert checked.get(path).size == 1
    checked.thaw()
    assert checked.level == "checked" and checked.get(path).size == 4


def test_frozen_cache_queries_nothing_twice(tree):
    cache = transect.AttributeCache("frozen")
    paths = [path for path in expected(tree) if os.path.exists(path)]
    for path in paths:
        cache.get(path)
    first = cache.counts
    for path in paths:
        cache.get(path)
    second = cache.counts
    assert second["hits"] == first["hits"] + len(paths)
    assert (second["queries"], second["misses"]) == (first["queries"], first["misses"])
    assert second["names"] >= len(paths) - 1 and cache.memory > 0


def test_get_many_equals_lstat(tree):
    found = expected(tree)
    paths = [*found, tree + "/missing", tree + "/a.txt/below"]
    for level in LEVELS:
        rows = transect.AttributeCache(level).get_many(paths, follow=False)
        assert len(rows) == len(paths)
        table = pyarrow.table(rows)
        table.validate(full=True)
        assert table.schema.metadata == {b"transect.version": transect.__version__.encode()}
        for path, row in zip(paths, table.to_pylist()):
            assert row["path"] == os.fsencode(path).decode(errors="replace")
            raw = row["path_raw"] or row["path"].encode()
            assert raw == os.fsencode(path)
            if path in found:
                status = found[path]
                got = [row[name] for name in ["size", "mode", "uid", "gid", "nlink", "inode", "device"]]
                want = [status.st_size, status.st_mode, status.st_uid, status.st_gid]
                assert got == [*want, status.st_nlink, status.st_ino, status.st_dev]
                assert row["error"] is None and row["errno"] is None
        errors = table.column("error").to_pylist()[-2:]
        assert errors == ["not_found", "not_a_directory"]
        assert table.column("errno").to_pylist()[-2:] == [2, 20]
        assert table.column("size").to_pylist()[-2:] == [None, None]
    frame = transect.AttributeCache().get_many([tree + "/link", tree + "/broken"]).to_polars()
    assert frame["type"].to_list() == ["file", None]
    assert isinstance(frame, polars.DataFrame)
    assert len(transect.AttributeCache().get_many([])) == 0
    assert pyarrow.table(transect.AttributeCache().get_many([])).num_rows == 0


def test_errors_are_exceptions(tree):
    cache = transect.AttributeCache("frozen", roots=[tree])
    for _ in range(2):
        with pytest.raises(FileNotFoundError) as caught:
            cache.get(tree + "/missing")
        assert caught.value.filename == tree + "/missing"
        with pytest.raises(NotADirectoryError):
            cache.get(tree + "/a.txt/below")
    with pytest.raises(OSError, match="Too many levels"):
        os.symlink("own", tree + "/own")
        cache.get(tree + "/own")
    with pytest.raises(ValueError, match="'relative' is relative, and there is no base"):
        transect.AttributeCache().get("relative")
    with pytest.raises(ValueError, match="outside the roots"):
        cache.get("/")
    with pytest.raises(ValueError, match="outside the roots"):
        cache.invalidate("/")
    with pytest.raises(ValueError, match="embedded null byte"):
        cache.get("a\0b")
    with pytest.raises(ValueError, match="there is no level 'fresh'; levels: frozen, checked"):
        transect.AttributeCache("fresh")
    with pytest.raises(ValueError, match="absolute"):
        transect.AttributeCache(base="relative")
    rows = cache.get_many([tree, "/", tree + "/missing"]).to_arrow().to_pylist()
    assert [row["error"] for row in rows] == [None, "outside_roots", "not_found"]


def test_base_and_memory(tree):
    cache = transect.AttributeCache(base=tree)
    assert cache.get("a.txt").size == 5 and cache.exists(pathlib.Path("sub"))
    small = transect.AttributeCache("frozen", memory=1)
    for path in expected(tree):
        small.get(path, follow=False)
    assert small.counts["evictions"] > 0


def test_threads_share_a_cache(large):
    cache = transect.AttributeCache("frozen")
    paths = [f"{large}/{directory}/{name}" for directory in range(50) for name in range(100)]
    sizes = []

    def ask():
        sizes.append(sum(cache.get(path).size for path in paths))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sizes == [5 * len(paths)] * 4


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_cache_made_before_fork(tree):
    cache = transect.AttributeCache("frozen")
    cache.get(tree)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                cache.get(tree)
            except RuntimeError as error:
                assert "made before a fork" in str(error)
                assert transect.AttributeCache("frozen").get(tree).is_dir()
                code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert cache.get(tree).is_dir()
