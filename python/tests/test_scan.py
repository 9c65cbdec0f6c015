"""scan: totals, options, errors."""

import os
import pathlib
import stat
import subprocess
import sys
import warnings

import pytest
import transect
from conftest import expected


def test_totals_equal_os_walk(tree):
    found = expected(tree)
    modes = [status.st_mode for status in found.values()]
    table = transect.scan(tree)
    assert len(table) == len(found)
    assert table.files == sum(map(stat.S_ISREG, modes))
    assert table.directories == sum(map(stat.S_ISDIR, modes))
    assert table.symlinks == sum(map(stat.S_ISLNK, modes))
    assert table.others == len(found) - table.files - table.directories
    once = {(status.st_dev, status.st_ino): status for status in found.values()}.values()
    assert table.disk_usage == sum(status.st_blocks * 512 for status in once)
    lengths = [status.st_size for status in once if not stat.S_ISDIR(status.st_mode)]
    assert table.apparent_size == sum(lengths)
    assert table.hard_links == 1
    assert table.complete and table.errors == [] and table.error_count == 0
    assert table.roots == [tree] and table.vanished == 0 and table.skipped == {}
    assert repr(table) == (
        f"<transect.Table: {len(found)} entries, {table.disk_usage} bytes of disk usage, complete>"
    )


@pytest.mark.parametrize("make", [str, os.fsencode, pathlib.Path, lambda path: [path]])
def test_path_of_any_type(tree, make):
    assert len(transect.scan(make(tree))) == len(expected(tree))


def test_several_roots(tree):
    table = transect.scan([tree + "/sub", pathlib.Path(tree) / "empty-dir"])
    assert table.roots == [tree + "/empty-dir", tree + "/sub"]
    assert table.directories == 3
    with pytest.raises(ValueError, match="no path was given"):
        transect.scan([])


def test_missing_root_raises(tree):
    with pytest.raises(FileNotFoundError) as caught:
        transect.scan(tree + "/missing")
    assert caught.value.filename == tree + "/missing" and caught.value.errno == 2
    assert str(caught.value) == f"[Errno 2] No such file or directory: '{tree}/missing'"
    with pytest.raises(FileNotFoundError):
        transect.scan([tree, tree + "/missing"])
    with pytest.raises(FileNotFoundError):
        transect.scan("")
    with pytest.raises(NotADirectoryError):
        transect.scan(tree + "/a.txt/")
    with pytest.raises(FileNotFoundError) as caught:
        transect.scan(os.fsencode(tree) + b"/\xff")
    assert os.fsencode(caught.value.filename) == os.fsencode(tree) + b"/\xff"


def test_denied_directory(tmp_path):
    closed = tmp_path / "denied" / "closed"
    (closed / "below").mkdir(parents=True)
    (tmp_path / "denied" / "open").mkdir()
    closed.chmod(0)
    # The superuser may read everything.
    superuser = os.geteuid() == 0
    if superuser:
        for directory in [tmp_path, *tmp_path.parents]:
            if not directory.stat().st_mode & 1:
                directory.chmod(directory.stat().st_mode | 0o711)
        os.seteuid(65534)
    try:
        with pytest.raises(PermissionError) as caught:
            transect.scan(closed)
        assert caught.value.filename == str(closed)
        with pytest.raises(PermissionError) as caught:
            list(transect.walk(closed / "below"))
        assert caught.value.filename == str(closed / "below")
        with pytest.warns(transect.PartialResultWarning):
            table = transect.scan(closed.parent)
        with pytest.warns(transect.PartialResultWarning):
            entries = list(transect.walk(closed.parent))
    finally:
        if superuser:
            os.seteuid(0)
        closed.chmod(0o700)
    [error] = table.errors
    assert (error.path, error.kind, error.errno) == (str(closed), "denied", 13)
    assert len(entries) == len(table) == 3


def test_partial_result_warns(failing):
    with pytest.warns(transect.PartialResultWarning, match="1 error: the result is partial"):
        table = transect.scan(failing, gitignore=True)
    assert not table.complete and table.error_count == 1
    [error] = table.errors
    assert error.path == str(failing)
    assert (error.operation, error.kind, error.errno) == ("read_rules", "loop", 40)
    assert error.message.startswith("cannot read filter rules of '") and error.message in repr(error)
    assert "Partial: 1 error." in table._repr_html_() and "partial" in repr(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error", transect.PartialResultWarning)
        with pytest.raises(transect.PartialResultWarning):
            transect.scan(failing, gitignore=True)


def test_bad_arguments(tree):
    for wrong in ["a\0b", b"a\0b"]:
        with pytest.raises(ValueError, match="embedded null byte"):
            transect.scan(wrong)
        with pytest.raises(ValueError, match="embedded null byte"):
            transect.walk(wrong)
    for wrong in [None, 3, [3]]:
        with pytest.raises(TypeError):
            transect.scan(wrong)
    with pytest.raises(TypeError, match="unexpected keyword argument 'globs'"):
        transect.scan(tree, globs="*")
    with pytest.raises(TypeError):
        transect.scan(tree, gitignore="yes")
    with pytest.raises(ValueError, match="cannot parse pattern"):
        transect.scan(tree, glob="[")
    with pytest.raises(ValueError, match="there is no file type 'f'"):
        transect.scan(tree, types="f")
    with pytest.raises(ValueError, match="threads must be at least 1"):
        transect.scan(tree, threads=0)
    with pytest.raises(ValueError, match="minimum depth 3 is greater"):
        transect.scan(tree, min_depth=3, max_depth=2)
    with pytest.raises(ValueError, match="there is no column 'sizes'"):
        transect.scan(tree, columns=["sizes"])
    with pytest.raises(ValueError, match="named twice"):
        transect.scan(tree, columns=["size", "size"])
    with pytest.raises(ValueError, match="must not be empty"):
        transect.scan(tree, columns=[])


def test_progress_counts(large):
    calls = []
    table = transect.scan(large, progress=calls.append)
    last = calls[-1]
    assert [call.finished for call in calls] == [False] * (len(calls) - 1) + [True]
    assert (last.entries, last.directories, last.errors) == (len(table), 51, 0)
    assert last.disk_usage >= table.disk_usage

    def fail(_):
        raise KeyError("from the callback")

    with pytest.raises(KeyError, match="from the callback"):
        transect.scan(large, progress=fail)


def test_progress_line(tree):
    code = "import sys, transect; sys.modules['tqdm'] = None; transect.scan(sys.argv[1], progress=True)"
    done = subprocess.run([sys.executable, "-c", code, tree], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.endswith(f"{len(expected(tree)):,} entries, 0 errors\n")


def test_progress_bar(tree):
    code = "import sys, transect; transect.scan(sys.argv[1], progress=True)"
    done = subprocess.run([sys.executable, "-c", code, tree], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # As tqdm prints it, with a rate.
    assert f"{len(expected(tree)):.1f} entries [" in done.stderr and " entries/s]" in done.stderr


def test_signal_stops_scan(growing, interrupted):
    """A handler that raises ends a scan before its last call of `progress`."""
    # A signal may also arrive before or after the scan. Then a longer one is tried.
    for roots in growing:
        calls = []
        if interrupted(lambda: transect.scan(roots, progress=calls.append, threads=1)):
            if calls and not calls[-1].finished:
                break
    assert len(transect.scan(roots)) == 5_051 * len(roots)


def test_html_escapes_names(tmp_path):
    root = tmp_path / "<b>&\"'"
    (root / "<script>alert(1)").mkdir(parents=True)
    (root / os.fsdecode(b"\xff<i>")).mkdir()
    html = transect.scan(root)._repr_html_()
    assert "<b>" not in html and "<script" not in html and "<i>" not in html
    assert "&lt;script&gt;alert(1)" in html and "\ufffd&lt;i&gt;" in html
    assert "0 files" in html and "3 directories" in html and "Complete." in html
