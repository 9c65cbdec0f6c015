#!/usr/bin/env python3
"""An index that follows changes: index.py INDEX PATH prints what changed since it was last called.

The index is a snapshot. A directory that is new or gone is one line, for everything in it. Needs pyarrow."""

import os
import sys

import transect

if len(sys.argv) != 3:
    sys.exit("usage: index.py INDEX PATH")
out, index = sys.stdout.buffer, sys.argv[1]
table = transect.scan(os.path.abspath(sys.argv[2]), columns=["path", "type", "size", "mtime"])
if os.path.exists(index):
    difference = transect.diff(index, table, ignore="allocated")
    # Without a change, pyarrow is not imported.
    for change in difference.to_arrow().to_pylist() if difference else []:
        # Directories change with their entries.
        if change["change"] != "modified" or change["after_type"] != "directory":
            path = change["path_raw"] or os.fsencode(change["path"])
            out.write(b"%s %s\n" % (change["change"].encode(), path))
else:
    out.write(b"%d entries\n" % len(table))
table.write_snapshot(index)
