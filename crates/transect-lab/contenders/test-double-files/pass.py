"""Wrong on purpose, for the lab's tests: pass.py METHOD INPUT OUTPUT. The protocol is in ../README.md."""

import json
import sys
import time

METHODS = {
    "wrong-byte": lambda content: (content[:-1] + b"\0", len(content)),
    "wrong-short": lambda content: (content[:-1], len(content)),
    "wrong-claim": lambda content: (content, len(content) + 1),
    "wrong-nothing": lambda content: (None, len(content)),
}


def main():
    _, name, source, target = sys.argv
    if name not in METHODS:
        print("pass.py: unknown method:", name, file=sys.stderr)
        return 2
    start = time.monotonic_ns()
    with open(source, "rb") as file:
        result, claimed = METHODS[name](file.read())
    if result is not None:
        with open(target, "wb") as file:
            file.write(result)
    tally = {"files": 1, "directories": 0, "bytes": claimed, "errors": 0}
    print(json.dumps({**tally, "elapsed_ns": time.monotonic_ns() - start}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
