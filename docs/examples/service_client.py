#!/usr/bin/env python3
"""Print the attributes of paths as JSON lines: service_client.py SOCKET PATH...

A client of `transect live` on Linux, as docs/SERVICE.md specifies it."""

import errno, io, itertools, json, os, socket, struct, sys

TYPES = ["unknown", "file", "directory", "symlink", "block", "char", "fifo", "socket"]
# Name, bit and format of each attribute, in the order of records.
ATTRIBUTES = [("mode", 0x2, "H"), ("nlink", 0x4, "I"), ("uid", 0x8, "I"), ("gid", 0x10, "I"),
              ("mtime", 0x40, "q"), ("ctime", 0x80, "q"), ("inode", 0x100, "Q"),
              ("size", 0x200, "Q"), ("allocated", 0x400, "Q"), ("btime", 0x800, "q"),
              ("device", 0x1000, "Q")]
ALL = sum(bit for _, bit, _ in ATTRIBUTES)
MISSING, DENIED, OTHER = 1, 2, 3


def string(data):
    return struct.pack("<H", len(data)) + data


class Service:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        peer = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", peer)[1] != os.geteuid():
            raise PermissionError(f"the service at {path} belongs to another user")
        self.stream = self.socket.makefile("rb")
        self.request(1, b"TSCT" + struct.pack("<H", 1))

    def request(self, kind, payload=b""):
        self.socket.sendall(struct.pack("<IB", 1 + len(payload), kind) + payload)
        head = self.stream.read(5)
        if len(head) < 5:
            raise ConnectionError("the service has ended")
        length, answered = struct.unpack("<IB", head)
        answer = self.stream.read(length - 1)
        if answered != kind | 0x80:
            raise OSError(answer[4:].decode(errors="replace"))
        return io.BytesIO(answer)

    def attributes(self, paths, want=ALL, follow=False):
        # 100 paths fit into a request, however long they are.
        for start in range(0, len(paths), 100):
            parts = [path[:8192].rpartition(b"/") for path in paths[start:start + 100]]
            payload = struct.pack("<HB", want, follow)
            for directory, group in itertools.groupby(parts, lambda part: part[0]):
                names = [string(name) for _, _, name in group]
                payload += string(directory) + struct.pack("<I", len(names)) + b"".join(names)
            answer = self.request(2, payload)
            yield from (self.record(answer, want) for _ in parts)

    def record(self, answer, want):
        def take(kind):
            return struct.unpack("<" + kind, answer.read(struct.calcsize("<" + kind)))[0]

        status = take("B")
        if status:
            number = take("I") if status == OTHER else None
            return {"os_error": {MISSING: errno.ENOENT, DENIED: errno.EACCES}.get(status, number)}
        record, known = {"type": TYPES[take("B")]}, take("H")
        for name, bit, kind in ATTRIBUTES:
            if bit & want:
                value = take(kind)
                record[name] = value if bit & known else None
        return record


if __name__ == "__main__":
    asked = [os.path.join(os.getcwdb(), os.fsencode(path)) for path in sys.argv[2:]]
    for path, found in zip(asked, Service(sys.argv[1]).attributes(asked)):
        print(json.dumps({"path": path.decode(errors="replace"), **found}))
