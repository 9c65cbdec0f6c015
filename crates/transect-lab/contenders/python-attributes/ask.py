"""Questions about attributes in Python: ask.py METHOD QUESTIONS. The protocol is in docs/LAB.md."""

import json
import os
import sys
import time


class Sums:
    def __init__(self):
        self.found = self.missing = self.bytes = self.changed = 0

    def add(self, status):
        self.found += 1
        self.bytes += status.st_size
        self.changed += status.st_mtime_ns


def os_stat(paths, sums):
    for path in paths:
        try:
            sums.add(os.stat(path))
        except OSError:
            sums.missing += 1


def os_scandir(paths, sums):
    if not paths:
        return
    with os.scandir(os.path.dirname(paths[0])) as entries:
        for entry in entries:
            sums.add(entry.stat())


METHODS = {"python-os-stat": os_stat, "python-os-scandir": os_scandir}


def main():
    method = METHODS.get(sys.argv[1]) if len(sys.argv) == 3 else None
    if method is None:
        sys.exit(2)
    with open(sys.argv[2], "rb") as file:
        paths = [os.fsdecode(path) for path in file.read().split(b"\0")[:-1]]
    sums = Sums()
    cpu, start = time.process_time_ns(), time.perf_counter_ns()
    method(paths, sums)
    elapsed, cpu = time.perf_counter_ns() - start, time.process_time_ns() - cpu
    print(json.dumps({
        "files": sums.found, "directories": 0, "bytes": sums.bytes, "errors": sums.missing,
        "changed": sums.changed % 2**64, "elapsed_ns": elapsed, "cpu_ns": cpu,
    }))


main()
