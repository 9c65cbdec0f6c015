"""Tree walks in Python: walk.py METHOD ROOT RUNS. The protocol is in ../README.md.

Timed walks run with -O, which leaves out all `if __debug__`: without it, they add up the digest.
"""

import functools
import os
import stat
import sys
import time
from pathlib import Path


class Tally:
    def __init__(self):
        self.files = self.directories = self.bytes = self.errors = self.digest = 0

    def note(self, path, kind, size=None):
        path = os.fsencode(os.path.relpath(path, sys.argv[2]).replace(os.sep, "/"))
        end = b"\0" + kind + (b"" if size is None else size.to_bytes(8, "little"))
        self.digest += fnv(end, of_path(b"" if path == b"." else path))


def fnv(octets, start):
    for octet in octets:
        start = (start ^ octet) * 0x100000001B3 % 2**64
    return start


@functools.cache
def of_path(path):
    parent, slash, name = path.rpartition(b"/")
    return fnv(slash + name, of_path(parent) if slash else 0xCBF29CE484222325)


def os_walk(root, tally):
    def refused(error):  # os.walk does not hand such a directory out
        tally.directories += 1
        tally.errors += 1
        if __debug__:
            tally.note(error.filename, b"d")

    for path, _, names in os.walk(root, onerror=refused):
        tally.directories += 1
        if __debug__:
            tally.note(path, b"d")
        for name in names:
            try:
                status = os.lstat(os.path.join(path, name))
            except OSError:
                tally.errors += 1
                continue
            if stat.S_ISREG(status.st_mode):
                tally.files += 1
                tally.bytes += status.st_size
                if __debug__:
                    tally.note(os.path.join(path, name), b"f", status.st_size)


def scandir(path, tally):
    tally.directories += 1
    if __debug__:
        tally.note(path, b"d")
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    if entry.is_dir(follow_symlinks=False):
                        scandir(entry.path, tally)
                    elif entry.is_file(follow_symlinks=False):
                        size = entry.stat(follow_symlinks=False).st_size
                        tally.files += 1
                        tally.bytes += size
                        if __debug__:
                            tally.note(entry.path, b"f", size)
                except OSError:
                    tally.errors += 1
    except OSError:
        tally.errors += 1


def rglob(root, tally):
    def directory(path):
        tally.directories += 1
        if __debug__:
            tally.note(path, b"d")
        if not os.access(path, os.R_OK | os.X_OK):  # rglob passes over it and says nothing
            tally.errors += 1

    root = Path(root)
    directory(root)
    for path in root.rglob("*"):
        try:
            status = path.lstat()
        except OSError:
            tally.errors += 1
            continue
        if stat.S_ISDIR(status.st_mode):
            directory(path)
        elif stat.S_ISREG(status.st_mode):
            tally.files += 1
            tally.bytes += status.st_size
            if __debug__:
                tally.note(path, b"f", status.st_size)


METHODS = {
    "python-os-walk": os_walk,
    "python-scandir": scandir,
    "python-pathlib-rglob": rglob,
}


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: walk.py METHOD ROOT RUNS")
    _, name, root, runs = sys.argv
    if name not in METHODS:
        print("walk.py: unknown method:", name, file=sys.stderr)
        return 2
    if os.path.islink(root) or not os.path.isdir(root):
        print("walk.py: not a directory:", ascii(root), file=sys.stderr)
        return 1
    for _ in range(int(runs)):
        tally = Tally()
        cpu, start = time.process_time_ns(), time.monotonic_ns()
        METHODS[name](root, tally)
        elapsed, cpu = time.monotonic_ns() - start, time.process_time_ns() - cpu
        digest = f'"digest":"{tally.digest % 2**64:016x}",' if __debug__ else ""
        print(
            f'{{{digest}"files":{tally.files},"directories":{tally.directories},"bytes":{tally.bytes},'
            f'"errors":{tally.errors},"elapsed_ns":{elapsed},"cpu_ns":{cpu}}}',
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
