#!/usr/bin/env python3
"""Files that .gitignore files do not exclude: find.py PATH [GLOB...]

Prints the time of the last change in nanoseconds, the length and the path of every file."""

import os
import sys

import transect

if len(sys.argv) < 2:
    sys.exit("usage: find.py PATH [GLOB...]")
out, files = sys.stdout.buffer, 0
with transect.walk(sys.argv[1], gitignore=True, types="file", glob=sys.argv[2:]) as entries:
    for entry in entries:
        out.write(b"%19d %11d %s\n" % (entry.mtime_ns, entry.size, os.fsencode(entry)))
        files += 1
    for error in entries.errors:
        out.write(b"not read: %s\n" % os.fsencode(error.message))
out.write(b"%d files\n" % files)
