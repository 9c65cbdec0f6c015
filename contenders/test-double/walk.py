"""Wrong on purpose, for the lab's tests: walk.py METHOD ROOT RUNS. The protocol is in ../README.md."""

import json
import os
import signal
import sys
import time


def honest(root):
    tally = {"files": 0, "directories": 0, "bytes": 0, "errors": 0}
    start = time.monotonic_ns()

    def walk(path):
        tally["directories"] += 1
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        walk(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        tally["files"] += 1
                        tally["bytes"] += entry.stat(follow_symlinks=False).st_size
        except OSError:
            tally["errors"] += 1

    walk(root)
    tally["elapsed_ns"] = time.monotonic_ns() - start
    return tally


def drops_last(root):
    tally = honest(root)
    tally["files"] = max(tally["files"] - 1, 0)
    print(json.dumps(tally), flush=True)


def long_walk(root):
    """Walks until that takes much more than the start of this process, on any machine."""
    enough, tally = 10 * time.process_time(), honest(root)
    elapsed = tally["elapsed_ns"]
    while tally["files"] > 0 and time.process_time() < enough:
        elapsed += honest(root)["elapsed_ns"]
    return tally, elapsed


def early(root):
    tally, _ = long_walk(root)
    tally["elapsed_ns"] = 17_000
    print(json.dumps(tally), flush=True)


def slow_clock(root):
    tally, elapsed = long_walk(root)
    tally["elapsed_ns"] = elapsed // 1000 + 1
    print(json.dumps(tally), flush=True)


def garbage(_root):
    print("files: many", flush=True)


def hangs(_root):
    while True:
        signal.pause()


def dies(root):
    line = json.dumps(honest(root))
    print(line[: len(line) // 2], end="", flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


METHODS = {
    "wrong-drops-last": drops_last,
    "wrong-early": early,
    "wrong-slow-clock": slow_clock,
    "wrong-garbage": garbage,
    "wrong-hangs": hangs,
    "wrong-dies": dies,
}


def main():
    _, name, root, runs = sys.argv
    if name not in METHODS:
        print("walk.py: unknown method:", name, file=sys.stderr)
        return 2
    if os.path.islink(root) or not os.path.isdir(root):
        print("walk.py: not a directory:", ascii(root), file=sys.stderr)
        return 1
    for _ in range(int(runs)):
        METHODS[name](root)
    return 0


if __name__ == "__main__":
    sys.exit(main())
