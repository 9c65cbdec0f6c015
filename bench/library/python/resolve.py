#!/usr/bin/env python3
"""The example resolve.py with os.path.exists: every question goes to the system."""

import os
import re
import sys

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\r\n]+)', re.MULTILINE)

if len(sys.argv) < 2:
    sys.exit("usage: resolve.py FILE.c DIRECTORY...")
first, *directories = map(os.fsencode, sys.argv[1:])
out, left, seen = sys.stdout.buffer, [first], set()
while left:
    file = left.pop()
    with open(file, "rb") as opened:
        names = INCLUDE.findall(opened.read())
    for name in names:
        paths = [os.path.join(directory, name) for directory in [os.path.dirname(file), *directories]]
        found = next(filter(os.path.exists, paths), None)
        if found is None:
            out.write(name + b": not found\n")
        elif found not in seen:
            seen.add(found)
            out.write(found + b"\n")
            left.append(found)
