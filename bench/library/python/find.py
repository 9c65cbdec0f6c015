#!/usr/bin/env python3
"""The example find.py with os.walk, without rules of .gitignore files: Python's library has none."""

import fnmatch
import os
import stat
import sys

if len(sys.argv) < 2:
    sys.exit("usage: find.py PATH [GLOB...]")
globs = sys.argv[2:]
out, files = sys.stdout.buffer, 0


def fail(error):
    out.write(b"not read: %s\n" % os.fsencode(str(error)))


for directory, directories, names in os.walk(sys.argv[1], onerror=fail):
    if ".git" in directories:
        directories.remove(".git")
    for name in names:
        if name == ".git" or globs and not any(fnmatch.fnmatchcase(name, glob) for glob in globs):
            continue
        path = os.path.join(directory, name)
        status = os.lstat(path)
        if stat.S_ISREG(status.st_mode):
            out.write(b"%19d %11d %s\n" % (status.st_mtime_ns, status.st_size, os.fsencode(path)))
            files += 1
out.write(b"%d files\n" % files)
