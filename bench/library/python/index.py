#!/usr/bin/env python3
"""The example index.py with os.scandir: the file and the comparison are written by hand."""

import os
import pickle
import stat
import sys


def read(root):
    """Returns type, length and time of each path."""
    status = os.lstat(root)
    found, left = {root: (stat.S_IFMT(status.st_mode), status.st_size, status.st_mtime_ns)}, [root]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                found[entry.path] = (stat.S_IFMT(status.st_mode), status.st_size, status.st_mtime_ns)
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
    return found


def changes(before, now):
    for path, entry in now.items():
        old = before.get(path)
        if old is None:
            # A new directory is one line.
            if os.path.dirname(path) in before:
                yield "added", path
        elif old[0] != entry[0]:
            yield "type_changed", path
        elif old != entry and not stat.S_ISDIR(entry[0]):
            yield "modified", path
    for path in before.keys() - now.keys():
        if os.path.dirname(path) in now:
            yield "removed", path


if len(sys.argv) != 3:
    sys.exit("usage: index.py INDEX PATH")
out, index = sys.stdout.buffer, sys.argv[1]
now = read(os.path.abspath(sys.argv[2]))
if os.path.exists(index):
    with open(index, "rb") as file:
        before = pickle.load(file)
    for change, path in changes(before, now):
        out.write(b"%s %s\n" % (change.encode(), os.fsencode(path)))
else:
    out.write(b"%d entries\n" % len(now))
with open(index + ".new", "wb") as file:
    pickle.dump(now, file)
os.replace(index + ".new", index)
