#!/usr/bin/env python3
"""Measures the package on a tree of many names: large.py FOLDER [NAMES]

Makes a tree of NAMES names below FOLDER, by default ten million: hard links, 1,000 in each directory, to as few
files as the file system allows. Prints time and memory of each use, which is a process of its own, and removes
the tree.
"""

import os
import resource
import shutil
import sys
import tempfile
import time

IN_DIRECTORY = 1_000
# Ext4 has the least limit: 65,000 names of one file.
OF_FILE = 60_000


def make(root, names):
    for number in range(names // IN_DIRECTORY):
        directory = os.path.join(root, str(number // 1000), str(number))
        os.makedirs(directory)
        for name in range(IN_DIRECTORY):
            if (number * IN_DIRECTORY + name) % OF_FILE == 0:
                file = os.path.join(directory, f"file-{name:06}.txt")
                with open(file, "w"):
                    continue
            os.link(file, os.path.join(directory, f"file-{name:06}.txt"))


def walk(root):
    import transect

    return sum(1 for _ in transect.walk(root))


def walk_first(root):
    import transect

    return sum(1 for _ in zip(range(3), transect.walk(root)))


def scan(root):
    import transect

    return len(transect.scan(root))


def frame(root):
    import transect

    return len(transect.scan(root).to_polars())


def arrow(root):
    import transect

    return transect.scan(root, columns=["path", "size"]).to_arrow().num_rows


def snapshot(root):
    import transect

    transect.scan(root).write_snapshot(root + ".parquet")
    table = transect.read_snapshot(root + ".parquet")
    assert not transect.diff(root + ".parquet", root + ".parquet")
    os.unlink(root + ".parquet")
    return len(table)


def measure(function, root):
    """Runs a function in a process of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            before = time.perf_counter()
            found = function(root)
            os.write(writer, f"{found} {time.perf_counter() - before}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        said = file.read()
    _, _, used = os.wait4(child, 0)
    found, seconds = said.split()
    print(
        f"{function.__name__:11} {int(found):>12,} entries {float(seconds):8.2f} s"
        f" {used.ru_utime + used.ru_stime:8.2f} s of processor time {used.ru_maxrss / 1024:8.0f} MiB"
    )


def main(folder, names=10_000_000):
    root = tempfile.mkdtemp(prefix="transect-", dir=folder)
    try:
        make(root, names)
        print(f"{names:,} names made, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB before each use")
        for function in [walk_first, walk, scan, frame, arrow, snapshot]:
            measure(function, root)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
