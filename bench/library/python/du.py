#!/usr/bin/env python3
"""The example du.py with os.scandir: disk usage of the directories right below a path."""

import os
import stat
import sys

seen = set()
out = sys.stdout.buffer


def own(status):
    """Returns the bytes that an entry occupies, or 0 at another name of the same file."""
    if status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode):
        if (status.st_dev, status.st_ino) in seen:
            return 0
        seen.add((status.st_dev, status.st_ino))
    return status.st_blocks * 512


def usage(directory, show=None):
    """Returns the bytes below a directory; `show` receives each directory right below it with its bytes."""
    total, directories = 0, []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                size = own(entry.stat(follow_symlinks=False))
                total += size
                if entry.is_dir(follow_symlinks=False):
                    directories.append((entry.path, size))
    except OSError as error:
        out.write(b"not counted: %s\n" % os.fsencode(str(error)))
    for path, size in directories:
        below = usage(path)
        total += below
        if show:
            show(path, size + below)
    return total


def show(path, size):
    out.write(b"%15d %s\n" % (size, os.fsencode(path)))


for root in sys.argv[1:]:
    seen.clear()
    show(root, own(os.lstat(root)) + usage(root, show))
