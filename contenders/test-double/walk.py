"""Wrong on purpose, for the lab's tests: walk.py METHOD ROOT RUNS [check]. The protocol is in ../README.md."""

import json
import os
import signal
import sys
import time


BASIS, PRIME = 0xCBF29CE484222325, 0x100000001B3


def fnv(octets, start):
    for octet in octets:
        start = (start ^ octet) * PRIME % 2**64
    return start


class Walk:
    """Relative to descriptors, so that paths may be longer than the system takes."""

    def __init__(self, fault):
        self.fault = fault
        self.tally = {"files": 0, "directories": 0, "bytes": 0, "errors": 0}
        self.digest = 0
        self.above = []  # the directories from the root to here: followed links must not go round
        self.dropped = self.added = False

    def file(self, prefix, name, size):
        self.tally["files"] += 1
        self.tally["bytes"] += size
        self.digest += fnv(b"\0f" + size.to_bytes(8, "little"), fnv(name, prefix))

    def directory(self, descriptor, path, prefix):
        self.tally["directories"] += 1
        self.digest += fnv(b"\0d", path)
        status = os.fstat(descriptor)
        self.above.append((status.st_dev, status.st_ino))
        with os.scandir(descriptor) as entries:
            for entry in entries:
                self.entry(descriptor, prefix, entry)
        self.above.pop()

    def entry(self, parent, prefix, entry):
        name = os.fsencode(entry.name)
        follow = self.fault == "follows-links"
        if self.fault == "hides-dot-names" and name.startswith(b"."):
            return
        if self.fault == "skips-non-utf8" and not utf8(name):
            return
        if self.fault == "link-for-empty-file" and not self.added and entry.is_symlink():
            self.added = True
            self.file(prefix, name, 0)
            return
        try:
            if entry.is_dir(follow_symlinks=follow):
                status = entry.stat(follow_symlinks=follow)
                if follow and (status.st_dev, status.st_ino) in self.above:
                    return
                path = fnv(name, prefix)
                flags = os.O_RDONLY | os.O_DIRECTORY
                descriptor = os.open(name, flags, dir_fd=parent)
                try:
                    self.directory(descriptor, path, fnv(b"/", path))
                finally:
                    os.close(descriptor)
            elif entry.is_file(follow_symlinks=follow):
                size = entry.stat(follow_symlinks=follow).st_size
                if self.fault == "link-for-empty-file" and not self.dropped and size == 0:
                    self.dropped = True
                    return
                self.file(prefix, name, size)
        except OSError:
            self.tally["errors"] += 1


def utf8(name):
    try:
        name.decode()
        return True
    except UnicodeDecodeError:
        return False


def walk(root, fault=None):
    walk = Walk(fault)
    start = time.monotonic_ns()
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    walk.directory(descriptor, BASIS, BASIS)
    os.close(descriptor)
    line = {**walk.tally, "elapsed_ns": time.monotonic_ns() - start}
    # A digest of what it counted, right or wrong.
    return {**line, "digest": f"{walk.digest % 2**64:016x}"} if sys.argv[-1] == "check" else line


def honest(root):
    return walk(root)


def faulty(fault):
    return lambda root: print(json.dumps(walk(root, fault)), flush=True)


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
    "honest": faulty(None),
    "wrong-follows-links": faulty("follows-links"),
    "wrong-hides-dot-names": faulty("hides-dot-names"),
    "wrong-link-for-empty-file": faulty("link-for-empty-file"),
    "wrong-skips-non-utf8": faulty("skips-non-utf8"),
    "wrong-drops-last": drops_last,
    "wrong-early": early,
    "wrong-slow-clock": slow_clock,
    "wrong-garbage": garbage,
    "wrong-hangs": hangs,
    "wrong-dies": dies,
}


def main():
    name, root, runs = sys.argv[1:4]
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
