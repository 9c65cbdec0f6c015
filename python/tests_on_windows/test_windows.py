"""The package on Windows: what differs there, and a walk through every function. Needs pytest and pyarrow.

Cargo runs it under Wine (crates/transect-python/tests/python/on_windows.rs). On Windows: install the wheel, then
`pytest python/tests_on_windows`.
"""

import _thread
import base64
import ctypes
import hashlib
import importlib.metadata
import multiprocessing
import os
import pathlib
import stat
import subprocess
import sys
import threading

import pyarrow
import pyarrow.parquet
import pytest
import transect
from transect import _native

TEXT = b"one\r\ntwo\r\n"


@pytest.fixture
def tree(tmp_path):
    """A tree with names that Windows allows, as a str."""
    root = tmp_path / "tree"
    for name, content in {
        "a.txt": TEXT,
        "empty": b"",
        ".hidden": b"1234567",
        "sub/large.tar.gz": b"x" * 70_000,
        "sub/deeper/x.TXT": b"x",
        "ünï cödé/日本.txt": b"123456",
        " space 😀": b"1",
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    (root / "empty-dir").mkdir()
    (root / "dir.with.dots").mkdir()
    os.link(root / "a.txt", root / "sub" / "second-name")
    # A path that is longer than programs may use without a prefix.
    long = "\\\\?\\" + os.path.join(root, "long")
    for _ in range(3):
        long = os.path.join(long, "x" * 100)
        os.makedirs(long)
    # Unpaired surrogates, where the file system takes them: Wine's does not.
    try:
        (root / "surrogate-\ud800").mkdir()
    except OSError:
        assert is_wine()
    return str(root)


def is_wine():
    return hasattr(ctypes.WinDLL("ntdll"), "wine_get_version")


def expected(root):
    """Returns the attributes of everything in and below a root, by path, as os.lstat finds them."""
    found = {root: os.lstat(root)}
    # With the prefix, so that os.walk finds long paths.
    prefix = "\\\\?\\"
    for directory, directories, files in os.walk(prefix + root):
        for name in directories + files:
            path = os.path.join(directory, name)
            found[path.removeprefix(prefix)] = os.lstat(path)
    return found


@pytest.fixture
def locked(tmp_path):
    """A directory in which one subdirectory cannot be opened: another handle has it, and does not share it."""
    directory = tmp_path / "locked"
    (directory / "good").mkdir(parents=True)
    (directory / "shut").mkdir()
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    create, close = kernel.CreateFileW, kernel.CloseHandle
    create.restype, close.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    list_directory, open_existing, backup_semantics = 1, 3, 0x0200_0000
    path = str(directory / "shut")
    handle = create(path, list_directory, 0, None, open_existing, backup_semantics, None)
    assert handle != ctypes.c_void_p(-1).value, ctypes.get_last_error()
    yield directory
    close(handle)


def test_package_is_the_wheel_for_this_system():
    assert _native.__file__.endswith("_native.pyd")
    assert importlib.metadata.version("transect") == transect.__version__
    wheel = importlib.metadata.distribution("transect").read_text("WHEEL")
    assert "Tag: cp310-abi3-win_amd64" in wheel.splitlines()
    files = {file.name: file for file in importlib.metadata.files("transect") if file.parent.name == "transect"}
    names = [
        "__init__.py",
        "_filters.py",
        "_native.pyd",
        "_native.pyi",
        "_os_walk.py",
        "_progress.py",
        "distributed.py",
        "py.typed",
    ]
    assert sorted(files) == names
    for name, file in files.items():
        digest = hashlib.sha256(file.locate().read_bytes()).digest()
        assert file.hash.value == base64.urlsafe_b64encode(digest).decode().rstrip("="), name


@pytest.mark.parametrize("threads", [None, 1, 16])
def test_entries_equal_lstat(tree, threads):
    found = expected(tree)
    walk = transect.walk(tree, threads=threads)
    entries = {entry.path: entry for entry in walk}
    assert set(entries) == set(found)
    for path, status in found.items():
        entry = entries[path]
        assert os.fspath(entry) == path and pathlib.Path(entry) == pathlib.Path(path)
        assert entry.name == (os.path.basename(path) if path != tree else tree)
        assert entry.depth == path.count("\\") - tree.count("\\")
        assert entry.is_dir() == stat.S_ISDIR(status.st_mode)
        assert entry.is_file() == stat.S_ISREG(status.st_mode)
        if entry.is_file():
            assert entry.size == status.st_size and entry.allocated >= 0
        assert (entry.mtime_ns, entry.inode) == (status.st_mtime_ns, status.st_ino)
        assert (entry.mode, entry.uid, entry.gid) == (None, None, None)
        assert entry.nlink == status.st_nlink or entry.is_dir()
    assert walk.complete and walk.errors == []
    with open(entries[os.path.join(tree, "a.txt")], "rb") as file:
        assert file.read() == TEXT


def test_totals_equal_lstat(tree):
    statuses = expected(tree).values()
    table = transect.scan(tree)
    files = [status for status in statuses if stat.S_ISREG(status.st_mode)]
    once = {status.st_ino: status.st_size for status in files}
    assert (len(table), table.files) == (len(statuses), len(files))
    assert table.directories == len(statuses) - len(files) and table.symlinks == table.others == 0
    assert table.apparent_size == sum(once.values())
    assert table.hard_links == 1 and table.complete
    assert table.roots == [tree] and table.host == os.environ["COMPUTERNAME"]
    assert "large.tar.gz" not in table._repr_html_() and "sub" in table._repr_html_()


@pytest.mark.parametrize(
    "make",
    [
        os.fsencode,
        pathlib.Path,
        lambda path: [path],
        lambda path: path.replace("\\", "/"),
        lambda path: "\\\\?\\" + path,
        lambda path: path + "\\",
        lambda path: path.upper(),
        os.path.relpath,
    ],
)
def test_path_of_any_form(tree, monkeypatch, make):
    monkeypatch.chdir(pathlib.Path(tree).parent)
    assert len(transect.scan(make(tree))) == len(expected(tree))


def test_names_pass_both_ways(tree):
    for name in ["no \U0001f600", "no \ud800", "no \udc80\ud83d"]:
        path = os.path.join(tree, name)
        for given in [path, os.fsencode(path), pathlib.Path(path)]:
            with pytest.raises(FileNotFoundError) as caught:
                transect.scan(given)
            assert caught.value.filename == path
    with pytest.raises(UnicodeDecodeError):
        transect.scan(b"not-\xff-utf8")
    for wrong in ["a\0b", b"a\0b"]:
        with pytest.raises(ValueError, match="embedded null byte"):
            transect.scan(wrong)


def test_errors_of_the_system(tree, locked):
    missing = os.path.join(tree, "missing")
    for path, number in [(missing, 2), (os.path.join(missing, "below"), 3)]:
        with pytest.raises(FileNotFoundError) as caught:
            transect.scan(path)
        error = caught.value
        assert (error.errno, error.winerror, error.filename) == (2, number, path)
        assert str(error).startswith(f"[WinError {number}] ") and "os error" not in str(error)
        with pytest.raises(FileNotFoundError):
            next(transect.walk(path))
        with pytest.raises(FileNotFoundError):
            transect.AttributeCache().get(path)
        with pytest.raises(FileNotFoundError):
            transect.read_snapshot(path)
    with pytest.raises(PermissionError) as caught:
        transect.scan(locked / "shut")
    assert (caught.value.errno, caught.value.winerror) == (13, 32)
    assert caught.value.filename == str(locked / "shut")


def test_errors_in_a_tree_are_data(locked):
    with pytest.warns(transect.PartialResultWarning, match="1 error"):
        table = transect.scan(locked)
    [error] = table.errors
    assert not table.complete and table.error_count == 1 and len(table) == 3
    assert (error.path, error.operation) == (str(locked / "shut"), "open_directory")
    assert (error.kind, error.errno) == ("sharing_violation", 32)
    walk = transect.walk(locked)
    with pytest.warns(transect.PartialResultWarning, match="1 error"):
        assert {entry.name for entry in walk} == {str(locked), "good", "shut"}
    assert [error.kind for error in walk.errors] == ["sharing_violation"] and not walk.complete


def test_list_and_glob(tree, monkeypatch):
    found = expected(tree)
    files = [path for path, status in found.items() if stat.S_ISREG(status.st_mode)]
    by_size = sorted(files, key=lambda path: (-found[path].st_size, path.encode(errors="surrogatepass")))
    for limit in [None, 1, 3]:
        listed = transect.entries(tree, types="file", sort="size", limit=limit)
        assert [entry.path for entry in listed] == by_size[:limit]
    monkeypatch.chdir(tree)

    def glob(*args, **options):
        return [entry.path for entry in transect.glob(*args, sort="path", **options)]

    assert glob("/*.txt") == [".\\a.txt"]
    assert glob("sub/**/*.TXT") == [".\\sub\\deeper\\x.TXT"]
    assert glob("*.txt", tree, ignore_case=True, exclude="ünï*") == [
        os.path.join(tree, "a.txt"), os.path.join(tree, "sub", "deeper", "x.TXT"),
    ]
    assert os.path.join(tree, ".hidden") not in [entry.path for entry in transect.entries(tree, hidden=False)]
    with pytest.raises(ValueError, match="no numeric owners"):
        transect.entries(tree, owner=0)


def test_early_end_and_threads(tree):
    for entry in transect.walk(tree, threads=4):
        break
    assert entry.path == tree
    with transect.walk(tree) as walk:
        next(walk)
    assert next(walk, None) is None and not walk.complete
    counts = []
    wanted = len(expected(tree))

    def count():
        counts.append((len(transect.scan(tree)), sum(1 for _ in transect.walk(tree))))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [(wanted, wanted)] * 4


def test_interrupt_stops_scan(tree):
    """As Ctrl-C does, which no program can send to itself alone."""
    finished = []

    def progress(counts):
        finished.append(counts.finished)
        _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        transect.scan(tree, progress=progress)
    assert finished


def scan_in_child(path):
    return len(transect.scan(path))


def test_spawned_process_and_its_end(tree):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(scan_in_child, [tree]) == [len(expected(tree))]
    # An interpreter that ends while a walk runs.
    code = "import sys, transect; walk = transect.walk(sys.argv[1]); next(walk); print('end')"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code, tree], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_arrow_table_equals_lstat(tree):
    found = expected(tree)
    table = transect.scan(tree, columns=["path", "dir", "name", "extension", "size", "mtime", "inode", "path_raw", "mode"])
    arrow = table.to_arrow()
    arrow.validate(full=True)
    assert arrow.schema.field("mtime").type == pyarrow.timestamp("ns", tz="UTC")
    rows = arrow.set_column(5, "mtime", arrow["mtime"].cast(pyarrow.int64())).to_pylist()
    paths = []
    for row in rows:
        # What is not UTF-8 on Windows are unpaired surrogates.
        path = os.fsdecode(row["path_raw"]) if row["path_raw"] else row["path"]
        paths.append(path)
        status = found[path]
        assert row["path"] == path.encode(errors="surrogatepass").decode(errors="replace")
        assert (row["mtime"], row["inode"], row["mode"]) == (status.st_mtime_ns, status.st_ino, None)
        if stat.S_ISREG(status.st_mode):
            assert row["size"] == status.st_size
            assert row["extension"] == (os.path.splitext(path)[1][1:] or None)
        if path != tree:
            assert os.path.join(row["dir"], row["name"]) == row["path"]
    assert paths == sorted(found, key=lambda path: path.encode(errors="surrogatepass").split(b"\\"))
    # A consumer that stops early, and one that reads all.
    reader = pyarrow.RecordBatchReader.from_stream(table)
    assert reader.read_next_batch().num_rows == len(found)
    del reader
    assert len(pyarrow.table(table)) == len(table)


def test_usage(tree):
    table = transect.scan(tree)
    [whole, *_] = transect.usage(tree)
    assert (whole.key, whole.files, whole.disk_usage) == (tree, table.files, table.disk_usage)
    by_extension = {group.key: group.apparent_size for group in table.usage(100, by="ext")}
    assert by_extension["gz"] == 70_000 and sum(by_extension.values()) == table.apparent_size
    assert {group.key for group in table.usage(by="type")} == {"file", "directory"}
    assert [group.key for group in table.usage(by="owner")] == [None]


def test_snapshot_and_diff(tree, tmp_path):
    file = tmp_path / "a.parquet"
    table = transect.scan(tree)
    table.write_snapshot(file)
    snapshot = transect.read_snapshot(file)
    assert snapshot.to_arrow().equals(table.to_arrow())
    assert (snapshot.roots, snapshot.host) == ([tree], os.environ["COMPUTERNAME"])
    assert len(pyarrow.parquet.read_table(file, columns=["size"])) == len(table)
    assert not transect.diff(file, tree)
    pathlib.Path(tree, "a.txt").write_bytes(b"longer than before")
    os.rename(os.path.join(tree, "ünï cödé", "日本.txt"), os.path.join(tree, "中国.txt"))
    os.rmdir(os.path.join(tree, "empty-dir"))
    columns = ["change", "path", "before_size", "after_size"]
    rows = transect.diff(file, tree, ignore="mtime").to_arrow().select(columns).to_pylist()
    found = {(row["change"], row["path"]) for row in rows if row["change"] != "modified"}
    assert ("removed", os.path.join(tree, "empty-dir")) in found
    assert ("renamed", os.path.join(tree, "中国.txt")) in found
    [text] = [row for row in rows if row["path"] == os.path.join(tree, "a.txt")]
    assert (text["before_size"], text["after_size"]) == (len(TEXT), 18)
    with pytest.raises(ValueError, match="not an absolute path"):
        transect.scan(os.path.relpath(__file__, os.path.dirname(__file__)) + "/..").write_snapshot(file)


@pytest.mark.parametrize("level", ["frozen", "checked", "verified"])
def test_attribute_cache(tree, level):
    cache = transect.AttributeCache(level, base=tree)
    path, new = pathlib.Path(tree, "a.txt"), os.path.join(tree, "new")
    for _ in range(2):
        for of, status in expected(tree).items():
            if stat.S_ISREG(status.st_mode):
                assert (cache.get(of).size, cache.get(of).inode) == (status.st_size, status.st_ino)
    assert cache.get("A.TXT").size == len(TEXT) and not cache.exists(new)
    path.write_bytes(b"changed")
    pathlib.Path(new).touch()
    assert (cache.get(path).size == 7, cache.exists(new)) == (level != "frozen", level != "frozen")
    rows = cache.get_many([path, os.path.join(tree, "missing")]).to_arrow()
    assert rows["error"].to_pylist() == [None, "not_found"]
    assert rows["errno"].to_pylist() == [None, 2]


def test_watch(tree):
    new = os.path.join(tree, "new")
    with transect.watch(tree) as watch:
        open(new, "w").close()
        assert ("added", new) in ((change.kind, change.path) for change in watch)
    assert list(watch) == []


def test_transform(tree):
    file = pathlib.Path(tree, "sub", "crlf.txt")
    file.write_bytes(TEXT)
    [outcome] = transect.transform("sha256", file)
    assert outcome.findings[0]["value"] == hashlib.sha256(TEXT).hexdigest()
    [outcome] = transect.transform("eol=lf", file, check=True)
    assert outcome.status == "would_change" and file.read_bytes() == TEXT
    transform = transect.transform("eol=lf", tree, in_place=True, glob="*.txt")
    with pytest.warns(transect.PartialResultWarning, match="1 error: not all files"):
        outcomes = {os.path.basename(outcome.path): outcome for outcome in transform}
    statuses = {name: outcome.status for name, outcome in outcomes.items()}
    assert statuses == {"a.txt": "failed", "crlf.txt": "changed", "日本.txt": "same"}
    assert file.read_bytes() == b"one\ntwo\n"
    assert outcomes["a.txt"].error.kind == "many_names"


def test_map(tree, tmp_path):
    page = transect.treemap(tree)
    assert page.html.startswith("<!DOCTYPE html>") and "<iframe " in page._repr_html_()
    page.write(tmp_path / "map.html")
    assert (tmp_path / "map.html").read_bytes().decode() == page.html
    with pytest.raises(FileNotFoundError):
        page.write(tmp_path / "missing" / "map.html")
