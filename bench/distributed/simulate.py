#!/usr/bin/env python3
"""Simulate a scan of a made-up tree by many workers. Nothing here is measured but the costs below.

    bench/distributed/simulate.py                          1, 10, 100, 1,000 workers; 10^9 entries
    bench/distributed/simulate.py --latency 0.005 --threads 64
    bench/distributed/simulate.py --help                   the shape of the tree, and all costs

The driver is that of python/transect/distributed.py: a queue of tasks; at most two for each worker are submitted;
tasks are small and leave much over while fewer of them are known than that, and larger otherwise. A task takes directories from
its list, depth first, until its entries or seconds are spent, and shares what is left among lists of equal length.

What the simulation assumes:
* A free worker takes the oldest submitted task. (Dask assigns tasks earlier, and moves them when a worker is idle.)
* All workers are as fast as each other, none dies, and the storage serves all of them as fast as one.
* A worker reads `rate` entries a second, or as many as its threads get in `latency` for each call, if that is less.
* The driver and the scheduler each handle one message after the other. Each takes the same time for every task.
* A large directory is not shared out: directories of the made-up tree are small.
* Putting the parts together is not simulated: its time is the number of entries by the measured rate.

Defaults of the costs: 2026-11-24, two cores of an AMD EPYC guest, Linux 6.18, ext4, shared with other programs, so that
they are rather too high than too low. bench/distributed/costs measures them.
"""

import argparse
import collections
import heapq
import random

COSTS = {
    "rate": (290_000.0, "entries a second of a worker with one thread, with what it takes to encode its part"),
    "start": (0.010, "seconds from a free worker to the first directory of its task: that of a process, an upper bound"),
    "publish": (0.008, "seconds to sync and to link a part"),
    "driver": (0.0006, "seconds of the driver for each task: it reads what the part says"),
    "scheduler": (0.00145, "seconds of Dask's scheduler, and of its client, for each task"),
    "commit": (1_320_000.0, "entries a second of `transect commit`"),
}
#: As python/transect/distributed.py.
FEW_SECONDS = 5.0


class Tree:
    """A tree of which only the directories are made that a task divides: others are a number of entries."""

    def __init__(self, options):
        self.files, self.fanout, self.skew, self.seed = options.files, options.fanout, options.skew, options.seed

    def children(self, node):
        """The files of a directory, and its directories: (number, entries with all below it)."""
        number, entries = node
        dice = random.Random(number ^ self.seed << 64)
        files = min(entries - 1, int(dice.expovariate(1 / self.files)))
        rest = entries - 1 - files
        count = min(1 + int(dice.expovariate(1 / self.fanout)), rest)
        if count == 0:
            return entries - 1, []
        # The larger the skew, the more is in the largest directory.
        weights = [dice.random() ** self.skew for _ in range(count)]
        scale = (rest - count) / sum(weights)
        sizes = [1 + int(weight * scale) for weight in weights]
        sizes[0] += rest - sum(sizes)
        return files, [(number * 1_000_003 + place + 1 & (1 << 64) - 1, size) for place, size in enumerate(sizes)]


def run_task(tree, items, budget):
    """What a task reads: the entries, and what it leaves over."""
    read, stack = 0, list(items)
    while stack and read < budget:
        node = stack.pop()
        if read + node[1] <= budget:
            read += node[1]
            continue
        files, children = tree.children(node)
        read += 1 + files
        stack.extend(children)
    return read, stack


def split(items, lists):
    length = max(1, -(-len(items) // lists))
    return [items[at : at + length] for at in range(0, len(items), length)]


def simulate(options, workers):
    tree = Tree(options)
    calls = options.threads / (options.latency * options.calls) if options.latency else options.rate
    rate = min(options.rate, calls)
    capacity = 2 * workers
    waiting = collections.deque([[(1, options.entries)]])
    submitted, events = collections.deque(), []
    active = parts = entries = in_events = known = 0
    driver_free = scheduler_free = now = last_full = 0.0
    free = workers

    def submit(now):
        nonlocal active, driver_free, scheduler_free, in_events
        while waiting and active < capacity:
            items = waiting.popleft()
            active += 1
            few = len(waiting) + active < capacity
            share = known // (options.share * workers)
            least, fewest = (max(it, options.each * workers) for it in (options.least_entries, options.few_entries))
            limits = max(least, share), options.seconds, 4
            if few:
                most = min(least, max(fewest, share))
                limits = most, FEW_SECONDS, min(options.few_lists, 4 * workers)
            limits = min(options.task_entries, limits[0]), *limits[1:]
            driver_free = max(driver_free, now) + options.driver
            scheduler_free = max(scheduler_free, driver_free) + options.scheduler
            in_events += 1
            heapq.heappush(events, (scheduler_free, in_events, "arrived", (items, limits)))

    submit(0.0)
    while events:
        now, _, what, value = heapq.heappop(events)
        if what == "arrived":
            submitted.append(value)
        elif what == "ended":
            free += 1
            # The scheduler passes it on; the driver reads the part.
            driver_free = max(driver_free, now)
            in_events += 1
            heapq.heappush(events, (driver_free, in_events, "known", value))
        else:
            active -= 1
            lists, read = value
            known += read
            waiting.extend(lists)
            submit(now)
        while free and submitted:
            items, (most, seconds, lists) = submitted.popleft()
            free -= 1
            read, left = run_task(tree, items, min(most, rate * seconds))
            parts += 1
            entries += read
            end = now + options.start + read / rate + options.publish
            in_events += 1
            heapq.heappush(events, (end, in_events, "ended", (split(left, lists) if left else [], read)))
        if free == 0:
            last_full = now
    assert entries == options.entries, (entries, options.entries)
    ideal = options.entries / (rate * workers)
    return {
        "workers": f"{workers:,}",
        "wall": f"{now:,.0f} s",
        "efficiency": f"{ideal / now:.0%}",
        "parts": f"{parts:,}",
        "tail": f"{now - last_full:,.1f} s",
        "driver": f"{parts * options.driver / now:.1%}",
        "scheduler": f"{parts * options.scheduler / now:.1%}",
        "commit": f"{options.entries / options.commit:,.0f} s",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--workers", type=int, nargs="+", default=[1, 10, 100, 1000])
    add("--entries", type=int, default=10**9, help="entries of the tree [10^9]")
    add("--files", type=float, default=9.0, help="mean number of files in a directory [9]")
    add("--fanout", type=float, default=6.0, help="mean number of directories in a directory that has some [6]")
    add("--skew", type=float, default=3.0, help="how much larger the largest of them is: 0 is not at all [3]")
    add("--seed", type=int, default=23, help="of the tree [23]")
    add("--task-entries", type=int, default=1_000_000, help="entries of a task [1000000]")
    add("--seconds", type=float, default=30.0, help="seconds of a task [30]")
    add("--share", type=int, default=4, help="with more entries, a task is no larger share of what a worker has read [4]")
    add("--least-entries", type=int, default=200_000, help="the least entries of a task [200000]")
    add("--each", type=int, default=400, help="for each worker, the least entries of a task [400]")
    add("--few-entries", type=int, default=20_000, help="the same while there are too few tasks [20000]")
    add("--few-lists", type=int, default=64, help="lists that such a task leaves over, at most [64]")
    add("--threads", type=int, default=1, help="threads of a worker, which wait at the same time [1]")
    add("--latency", type=float, default=0.0, help="seconds of a call to the storage [0]")
    add("--calls", type=float, default=1.3, help="calls for each entry [1.3]")
    for name, (value, meaning) in COSTS.items():
        add(f"--{name}", type=float, default=value, help=f"{meaning} [{value}]")
    options = parser.parse_args()
    assumed = {name: value for name, value in vars(options).items() if name != "workers"}
    print("simulated, not measured; assumed:")
    print(*(f"    {name} {value:,}" for name, value in assumed.items()), sep="\n")
    rows = [simulate(options, workers) for workers in options.workers]
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---:|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(row.values()) + " |")


if __name__ == "__main__":
    main()
