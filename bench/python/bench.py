#!/usr/bin/env python3
"""Measures the Python package beside what Python has: bench.py TREE [ROUNDS [PROGRAM]]

Needs the package and polars. PROGRAM is the program transect, to compare with `transect usage`; by default
the one in PATH. Each run is a process of its own that imports first and is timed afterwards; the runs of one
round follow each other, so that what disturbs the machine disturbs all of them. Prints medians, and medians of
ratios within rounds with what they should be.
"""

import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import time


def add(columns, path, name, depth, status):
    extension = os.path.splitext(name)[1][1:]
    values = (
        path, name, extension, depth, status.st_size, status.st_blocks * 512, status.st_mtime_ns,
        status.st_mode, status.st_uid, status.st_gid, status.st_nlink, status.st_ino, status.st_dev,
    )
    for column, value in zip(columns.values(), values):
        column.append(value)


NAMES = "path name extension depth size allocated mtime mode uid gid nlink inode device".split()


def frame(columns):
    import polars

    data = polars.DataFrame(columns, schema_overrides={"inode": polars.UInt64, "device": polars.UInt64})
    return len(data), data["size"].sum()


def frame_transect(root):
    import transect

    data = transect.scan(root).to_polars()
    return len(data), data["size"].sum()


def frame_scandir(root):
    columns = {name: [] for name in NAMES}
    add(columns, root, root, 0, os.lstat(root))

    def read(directory, depth):
        with os.scandir(directory) as entries:
            for entry in entries:
                add(columns, entry.path, entry.name, depth, entry.stat(follow_symlinks=False))
                if entry.is_dir(follow_symlinks=False):
                    read(entry.path, depth + 1)

    read(root, 1)
    return frame(columns)


def frame_walk_lstat(root):
    columns = {name: [] for name in NAMES}
    add(columns, root, root, 0, os.lstat(root))
    for directory, directories, files in os.walk(root):
        depth = directory.count("/") - root.count("/") + 1
        for name in directories + files:
            path = os.path.join(directory, name)
            add(columns, path, name, depth, os.lstat(path))
    return frame(columns)


def sizes_transect(root):
    import transect

    entries = size = names = 0
    for entry in transect.walk(root):
        entries += 1
        names += len(entry.name)
        size += entry.size
    return entries, size


def sizes_scandir(root):
    entries, size, names = 1, os.lstat(root).st_size, 0

    def read(directory):
        nonlocal entries, size, names
        with os.scandir(directory) as found:
            for entry in found:
                entries += 1
                names += len(entry.name)
                size += entry.stat(follow_symlinks=False).st_size
                if entry.is_dir(follow_symlinks=False):
                    read(entry.path)

    read(root)
    return entries, size


def names_in(triples):
    entries = names = 0
    for _, directories, files in triples:
        entries += len(directories) + len(files)
        names += sum(map(len, directories)) + sum(map(len, files))
    return entries, names


def names_os_walk(root):
    return names_in(os.walk(root))


def names_transect(root):
    import transect

    return names_in(transect.os_walk(root))


def import_transect(_):
    import transect

    return len(transect.__all__), 0


FUNCTIONS = [
    frame_transect, frame_scandir, frame_walk_lstat, sizes_transect, sizes_scandir, names_transect,
    names_os_walk, import_transect,
]
USAGE = "transect usage"

# What the package aims at: one measurement may take so many times as long as another one, at least or at
# most.
TARGETS = [
    ("frame_transect", USAGE, "at most", 1.25),
    ("frame_scandir", "frame_transect", "at least", 5),
    ("frame_walk_lstat", "frame_transect", "at least", 8),
    ("sizes_scandir", "sizes_transect", "at least", 3),
    ("names_transect", "names_os_walk", "at most", 0.75),
]
IMPORT = 15


def processor(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def one(function, root):
    """Runs a function once and prints seconds, processor seconds, entries and bytes."""
    if function in [frame_transect, sizes_transect, names_transect]:
        import transect  # noqa: F401
    if "frame" in function.__name__:
        import polars  # noqa: F401
    used, before = processor(resource.RUSAGE_SELF), time.perf_counter()
    result = function(root)
    print(json.dumps([time.perf_counter() - before, processor(resource.RUSAGE_SELF) - used, *result]))


def run(name, root, program):
    """Runs a function, or the program, in a process of its own. Returns what `one` prints."""
    if name != USAGE:
        command = [sys.executable, __file__, "--one", name, root]
        return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    used, before = processor(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([program, "usage", root], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return [time.perf_counter() - before, processor(resource.RUSAGE_CHILDREN) - used]


def report(samples):
    print("milliseconds: median (least, most), processor time; entries and bytes")
    for name, runs in samples.items():
        wall, used = [run[0] * 1000 for run in runs], [run[1] * 1000 for run in runs]
        print(
            f"  {name:18} {statistics.median(wall):9.1f} ({min(wall):.1f}, {max(wall):.1f})"
            f"  {statistics.median(used):9.1f}  {' '.join(map(str, runs[0][2:]))}"
        )
    print("medians of ratios within rounds")
    for a, b, bound, aim in TARGETS:
        if a in samples and b in samples:
            time_, used = [
                statistics.median(x[index] / y[index] for x, y in zip(samples[a], samples[b]))
                for index in (0, 1)
            ]
            verdict = "reached" if (time_ <= aim) == (bound == "at most") else "MISSED"
            print(f"  {a} / {b}: {time_:.2f}, aim {bound} {aim}: {verdict}; processor time {used:.2f}")
    time_ = statistics.median(run[0] for run in samples["import_transect"]) * 1000
    print(f"  import_transect: {time_:.1f} ms, aim at most {IMPORT}: {'reached' if time_ <= IMPORT else 'MISSED'}")


def main(root, rounds=11, program=None):
    import polars
    import transect

    program = program or shutil.which("transect")
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
    kind = subprocess.run(["stat", "-fc", "%T", root], stdout=subprocess.PIPE, text=True).stdout.strip()
    print(f"{model}, {os.cpu_count()} processors, {platform.system()} {platform.release()}, {kind}")
    print(f"Python {platform.python_version()}, transect {transect.__version__}, polars {polars.__version__}")
    samples = {function.__name__: [] for function in FUNCTIONS}
    if program:
        samples[USAGE] = []
    load = os.getloadavg()[0]
    # The first round fills the cache.
    for number in range(rounds + 1):
        # The order differs from round to round, so that none always follows the same one.
        names = [*samples][number % len(samples):] + [*samples][: number % len(samples)]
        for name in names:
            found = run(name, root, program)
            if number:
                samples[name].append(found)
    print(f"{root}, {rounds} rounds, load {load:.1f} before and {os.getloadavg()[0]:.1f} after")
    report(samples)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--one":
        one(globals()[sys.argv[2]], sys.argv[3])
    elif 2 <= len(sys.argv) <= 4:
        main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:])
    else:
        sys.exit(__doc__)
