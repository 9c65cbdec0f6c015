"""list and glob: orders, limits, patterns, and the filters that all functions share."""

import datetime
import os
import warnings

import pytest
import transect
from conftest import expected
from test_walk import threads_of_process, wait_for_threads


def paths(entries):
    return [entry.path for entry in entries]


def test_list_equals_walk(tree, monkeypatch):
    assert sorted(paths(transect.entries(tree))) == sorted(expected(tree))
    monkeypatch.chdir(tree)
    assert sorted(paths(transect.entries())) == sorted(expected("."))
    [entry] = transect.entries("a.txt")
    assert (entry.path, entry.size, entry.is_file()) == ("a.txt", 5, True)
    assert isinstance(entry, transect.Attributes)


VALUES = {
    "size": lambda status: -status.st_size,
    "allocated": lambda status: -status.st_blocks,
    "mtime": lambda status: -status.st_mtime_ns,
    "ctime": lambda status: -status.st_ctime_ns,
    "nlink": lambda status: -status.st_nlink,
    "inode": lambda status: status.st_ino,
    "path": lambda status: 0,
}


@pytest.mark.parametrize("key", VALUES)
@pytest.mark.parametrize("limit", [None, 1, 5, 1000])
@pytest.mark.parametrize("reverse", [False, True])
def test_list_sorts(tree, key, limit, reverse):
    found = expected(tree)
    wanted = sorted(found, key=lambda path: (VALUES[key](found[path]), os.fsencode(path)))
    wanted = (wanted[::-1] if reverse else wanted)[:limit]
    assert paths(transect.entries(tree, sort=key, limit=limit, reverse=reverse)) == wanted
    # The attribute of the order is queried even if no others are.
    assert paths(transect.entries(tree, sort=key, limit=limit, reverse=reverse, attributes=False)) == wanted


def test_list_sorts_names(tree):
    names = [entry.name for entry in transect.entries(tree, sort="name", min_depth=1)]
    assert names == sorted(map(os.path.basename, set(expected(tree)) - {tree}), key=os.fsencode)


def test_limit_keeps_the_first_of_many(large):
    entries = transect.entries(large, sort="path", limit=3, types="file")
    assert paths(entries) == [f"{large}/0/0", f"{large}/0/1", f"{large}/0/10"]
    before = threads_of_process()
    assert len(list(transect.entries(large, limit=7))) == 7
    wait_for_threads(before)


def test_early_break_stops_threads(large):
    before = threads_of_process()
    for entry in transect.entries(large, threads=4):
        break
    wait_for_threads(before)
    # Nothing was sent yet, as nothing is sorted yet.
    transect.entries(large, sort="size", threads=4).close()
    wait_for_threads(before)


def test_signal_stops_sorted_list(growing, interrupted):
    """A handler that raises ends a list while it collects what it sorts."""
    for roots in growing:
        entries = transect.entries(roots, sort="path", threads=1)
        # A signal may also arrive before or after the call. Then a longer walk is tried.
        if interrupted(lambda: next(entries)) and next(entries, None) is None:
            assert not entries.complete
            break


def test_glob(tree, monkeypatch):
    monkeypatch.chdir(tree)
    assert sorted(paths(transect.glob("*.txt"))) == sorted(
        path for path in expected(".") if os.fsencode(path).endswith(b".txt")
    )
    assert paths(transect.glob("/*.txt", sort="path")) == [
        "./a.txt", os.fsdecode(b"./not-\xff-utf8.txt"),
    ]
    assert paths(transect.glob("sub/**/*.TXT")) == ["./sub/deeper/x.TXT"]
    assert paths(transect.glob(["*.gz", "*.TXT"], "sub", sort="size")) == [
        "sub/large.tar.gz", "sub/deeper/x.TXT",
    ]
    assert paths(transect.glob("*.txt", tree, hidden=False, exclude="dir-*", limit=1, sort="path")) == [
        tree + "/a.txt"
    ]
    assert list(transect.glob("no-such-name")) == []


def test_glob_equals_pathlib(tree):
    import pathlib

    wanted = sorted(map(str, pathlib.Path(tree, "sub").rglob("*.gz")))
    assert paths(transect.glob("*.gz", pathlib.Path(tree, "sub"), sort="path")) == wanted


DAY = datetime.timedelta(days=1)


def test_times(tree):
    found = expected(tree)
    middle = sorted(status.st_mtime for status in found.values())[len(found) // 2]
    newer = {path for path, status in found.items() if status.st_mtime > middle}
    older = {path for path, status in found.items() if status.st_mtime < middle}
    # A float has less than nanoseconds: entries of that very microsecond may be on either side.
    near = {path for path, status in found.items() if abs(status.st_mtime - middle) < 2e-6}
    assert set(paths(transect.walk(tree, newer=middle))) ^ newer <= near
    assert set(paths(transect.walk(tree, older=middle))) ^ older <= near
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    assert paths(transect.entries(tree, older=epoch)) == [tree + "/empty"]
    assert paths(transect.entries(tree, older=0)) == [tree + "/empty"]
    assert paths(transect.entries(tree, older=datetime.datetime(1980, 1, 1))) == [tree + "/empty"]
    assert set(paths(transect.entries(tree, newer=DAY))) == set(found) - {tree + "/empty"}
    assert transect.scan(tree, older=DAY).files == 1


def test_owner_and_permissions(tree):
    import grp
    import pwd

    os.chmod(tree + "/a.txt", 0o4755)
    os.chmod(tree + "/empty", 0o600)
    both = [tree + "/a.txt", tree + "/sub/second-name"]
    assert paths(transect.entries(tree, perm=0o4755, sort="path")) == both
    assert paths(transect.entries(tree, perm="4755", sort="path")) == both
    assert paths(transect.entries(tree, perm="-4000", sort="path")) == both
    assert paths(transect.entries(tree, perm="600", types="file")) == [tree + "/empty"]
    assert tree + "/empty" not in paths(transect.entries(tree, perm="/111"))
    everything = len(expected(tree))
    uid, gid = os.geteuid(), os.getegid()
    for owner in [uid, str(uid), f"{uid}:{gid}", f":{gid}", f"{uid}:"]:
        assert len(list(transect.entries(tree, owner=owner))) == everything, owner
    try:
        names = [pwd.getpwuid(uid).pw_name, f":{grp.getgrgid(gid).gr_name}"]
    except KeyError:
        names = []
    for owner in names:
        assert len(list(transect.entries(tree, owner=owner))) == everything, owner
    assert list(transect.entries(tree, owner=uid + 1)) == []


def test_empty_and_broken_links(tree):
    names = [os.path.basename(path) for path in paths(transect.entries(tree, empty=True, sort="path"))]
    assert names == ["dir.with.dots", "empty", "empty-dir"]
    assert paths(transect.entries(tree, broken_links=True)) == [tree + "/broken"]
    assert transect.scan(tree, broken_links=True).symlinks == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sort": "length"}, ValueError, "there is no key 'length'; keys: path, name, natural, size"),
        ({"reverse": True}, ValueError, "reverse needs sort"),
        ({"limit": 0}, ValueError, "limit must be at least 1"),
        ({"limit": -1}, OverflowError, None),
        ({"newer": "yesterday"}, TypeError, "a time must be a datetime, a timedelta before now"),
        ({"newer": float("nan")}, OverflowError, "out of range"),
        ({"older": 10**12}, OverflowError, "out of range"),
        ({"owner": "no such user"}, ValueError, "no such user: 'no such user'"),
        ({"owner": ":no such group"}, ValueError, "no such group: 'no such group'"),
        ({"owner": ":"}, ValueError, "name a user or a group"),
        ({"owner": 1.5}, TypeError, None),
        ({"perm": "u+x"}, ValueError, "perm 'u\\+x' is not an octal number up to 7777"),
        ({"perm": 3.5}, TypeError, None),
        ({"unknown": 1}, TypeError, "unexpected keyword argument 'unknown'"),
    ],
)
def test_bad_arguments(tree, options, error, message):
    with pytest.raises(error, match=message):
        transect.entries(tree, **options)


def test_glob_bad_arguments(tree):
    with pytest.raises(ValueError, match="cannot parse pattern"):
        transect.glob("[", tree)
    with pytest.raises(ValueError, match="the patterns are the first argument"):
        transect.glob("*", tree, glob="*")
    with pytest.raises(FileNotFoundError):
        next(transect.glob("*", tree + "/missing"))


def test_partial_list_warns(failing):
    for options in [{}, {"sort": "path"}]:
        entries = transect.entries(failing, gitignore=True, **options)
        with pytest.warns(transect.PartialResultWarning, match="1 error"):
            assert len(list(entries)) == 3
        assert not entries.complete and entries.error_count == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", transect.PartialResultWarning)
        with pytest.raises(transect.PartialResultWarning):
            list(transect.entries(failing, gitignore=True))
