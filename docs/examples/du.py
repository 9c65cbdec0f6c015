#!/usr/bin/env python3
"""Disk usage of the directories right below a path, read on all processors: du.py PATH...

A file with several names counts once, at one of them."""

import os
import sys

import transect

out = sys.stdout.buffer
for root in sys.argv[1:]:
    table = transect.scan(root)
    below = len(os.path.join(root, ""))
    directories = table.usage(top=len(table))
    shown = [directory for directory in directories if os.sep not in directory.key[below:]]
    for directory in sorted(shown, key=lambda it: (it.key == root, os.fsencode(it.key))):
        out.write(b"%15d %s\n" % (directory.disk_usage, os.fsencode(directory.key)))
    for error in table.errors:
        out.write(b"not counted: %s\n" % os.fsencode(error.message))
