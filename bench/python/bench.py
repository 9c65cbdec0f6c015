#!/usr/bin/env python3
"""Measures the Python package beside what Python has: bench.py TREE [ROUNDS [PROGRAM]]

Needs the package and polars. PROGRAM is the program transect, to compare with `transect usage`. Each run is a
process of its own that imports first and is timed afterwards; the runs of one round follow each other, so
that what disturbs the machine disturbs all of them. Prints medians, and medians of ratios within rounds.
"""

import json
import os
import platform
import resource
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


GROUPS = {
    "a frame with the default columns": [frame_transect, frame_scandir, frame_walk_lstat],
    "names and sizes in a loop": [sizes_transect, sizes_scandir],
}


def cpu():
    times = os.times()
    return times.user + times.system


def one(function, root):
    """Runs a function once and prints seconds, processor seconds, entries and bytes."""
    if "transect" in function.__name__:
        import transect  # noqa: F401
    if "frame" in function.__name__:
        import polars  # noqa: F401
    cpu_before, before = cpu(), time.perf_counter()
    result = function(root)
    print(json.dumps([time.perf_counter() - before, cpu() - cpu_before, *result]))


def run(name, root):
    command = [sys.executable, __file__, "--one", name, root]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def run_program(program, root):
    before = time.perf_counter()
    used = os.times()
    subprocess.run([program, "usage", root], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    seconds = time.perf_counter() - before
    processor = after.children_user + after.children_system - used.children_user - used.children_system
    return [seconds, processor]


def processor_seconds(code):
    """Returns the processor time of a Python that runs `code`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def report(title, rounds, samples):
    print(f"{title}; {rounds} rounds; milliseconds: median (least, most), processor time")
    for name, runs in samples.items():
        wall, processor = [run[0] * 1000 for run in runs], [run[1] * 1000 for run in runs]
        print(
            f"  {name:18} {statistics.median(wall):9.1f} ({min(wall):.1f}, {max(wall):.1f})"
            f"  {statistics.median(processor):9.1f}  {' '.join(map(str, runs[0][2:]))}"
        )
    first, *others = samples
    for other in others:
        ratios = [
            statistics.median(b[index] / a[index] for a, b in zip(samples[first], samples[other]))
            for index in (0, 1)
        ]
        print(f"  {other} / {first}: {ratios[0]:.2f}, processor time {ratios[1]:.2f}")


def main(root, rounds=11, program=None):
    import polars
    import transect

    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "?")
    kind = subprocess.run(["stat", "-fc", "%T", root], stdout=subprocess.PIPE, text=True).stdout.strip()
    print(f"{model}, {os.cpu_count()} processors, {platform.system()} {platform.release()}, {kind}, load {os.getloadavg()[0]:.1f}")
    print(f"Python {platform.python_version()}, transect {transect.__version__}, polars {polars.__version__}")
    for title, functions in GROUPS.items():
        samples = {function.__name__: [] for function in functions}
        if program and functions[0] is frame_transect:
            samples["transect usage"] = []
        # The first round fills the cache.
        for number in range(rounds + 1):
            for name, runs in samples.items():
                found = run_program(program, root) if name == "transect usage" else run(name, root)
                if number:
                    runs.append(found)
        report(title, rounds, samples)
    imports = [
        processor_seconds("import transect") - processor_seconds("pass") for _ in range(4 * rounds)
    ]
    print(f"import transect: {statistics.median(imports) * 1000:.1f} milliseconds of processor time")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--one":
        one(globals()[sys.argv[2]], sys.argv[3])
    elif 2 <= len(sys.argv) <= 4:
        main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:])
    else:
        sys.exit(__doc__)
