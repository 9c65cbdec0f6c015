"""usage: the largest directories and groups, against os.walk."""

import os
import stat

import pytest
import transect
from conftest import expected


def disk_usage(statuses):
    once = {(status.st_dev, status.st_ino): status.st_blocks * 512 for status in statuses}
    return sum(once.values())


def test_largest_directories(tree):
    found = expected(tree)
    directories = [path for path, status in found.items() if stat.S_ISDIR(status.st_mode)]
    below = {
        path: [status for name, status in found.items() if (name + "/").startswith(path + "/")]
        for path in directories
    }
    # `a.txt` and `sub/second-name` are one file, which counts in the tree and at its first name.
    second = os.lstat(tree + "/a.txt").st_blocks * 512
    wanted = {path: disk_usage(statuses) for path, statuses in below.items()}
    wanted[tree + "/sub"] -= second
    largest = transect.usage(tree, top=100)
    # Directories that occupy nothing, as on some file systems, are left out.
    wanted = {path: usage for path, usage in wanted.items() if usage}
    assert {usage.key: usage.disk_usage for usage in largest} == wanted
    sizes = [usage.disk_usage for usage in largest]
    assert sizes == sorted(sizes, reverse=True)
    whole = largest[0]
    table = transect.scan(tree)
    assert (whole.key, whole.files, whole.directories) == (tree, table.files, table.directories)
    assert (whole.others, whole.apparent_size) == (table.others, table.apparent_size)
    assert whole.newest_ns == max(status.st_mtime_ns for status in found.values())
    assert repr(whole) == (
        f"<transect.Usage {tree!r}: {table.disk_usage} bytes of disk usage, {table.files} files>"
    )
    assert [usage.key for usage in transect.usage(tree, top=2)] == [usage.key for usage in largest[:2]]
    assert transect.usage(tree, top=0) == []


@pytest.mark.parametrize("by", ["ext", "owner", "type"])
def test_groups_add_up(tree, by):
    table = transect.scan(tree)
    groups = table.usage(100, by)
    assert sum(group.disk_usage for group in groups) == table.disk_usage
    assert sum(group.apparent_size for group in groups) == table.apparent_size
    assert sum(group.files for group in groups) == table.files
    sizes = [group.disk_usage for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    keys = {group.key for group in groups}
    assert len(keys) == len(groups)
    if by == "owner":
        assert keys == {os.geteuid()}
    elif by == "type":
        assert keys == {"file", "directory", "symlink", "fifo", "socket"}
    else:
        assert keys == {None, "txt", "gz", "TXT"}
        assert {group.key: group.apparent_size for group in groups}["gz"] == 70_000


def test_filters_and_bad_arguments(tree):
    [group] = transect.usage(tree, by="ext", extensions="gz", progress=lambda _: None)
    assert (group.key, group.files, group.directories) == ("gz", 1, 0)
    assert transect.scan(tree, extensions="gz").usage() == []
    with pytest.raises(ValueError, match="there is no key 'age'; keys: ext, owner, type"):
        transect.usage(tree, by="age")
    with pytest.raises(ValueError, match="without the column 'uid'"):
        transect.scan(tree, columns=["path"]).usage(by="owner")
