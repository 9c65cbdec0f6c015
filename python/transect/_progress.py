"""Shows the progress of a scan on standard error."""

import sys


def meter():
    """Return a function for ``progress``: with tqdm if it is installed, otherwise with a plain line."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _plain
    bar = tqdm(unit=" entries", unit_scale=True, file=sys.stderr)

    def show(counts):
        bar.update(counts.entries - bar.n)
        if counts.finished:
            bar.close()

    return show


def _plain(counts):
    end = "\n" if counts.finished else ""
    print(f"\r{counts.entries:,} entries, {counts.errors:,} errors", end=end, file=sys.stderr, flush=True)
