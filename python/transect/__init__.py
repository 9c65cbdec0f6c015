"""Read directory trees as fast as the system allows.

>>> import transect
>>> table = transect.scan("/usr/share")          # doctest: +SKIP
>>> table.disk_usage, table.complete             # doctest: +SKIP
>>> frame = table.to_polars()                    # doctest: +SKIP

``scan`` reads trees into a table for data frames, ``walk``, ``entries`` and ``glob`` iterate over their
entries, ``os_walk`` replaces ``os.walk``, ``usage`` lists what needs the most space, ``read_snapshot`` and ``diff`` tell what changed,
``treemap`` shows a tree as a treemap, ``watch`` tells what changes as it happens, ``changes`` what changed since a cursor,
``transform`` changes files.
"""

import sys as _sys

# Before the extension is imported: on Linux such a Python does not find it, on Windows it would load it.
if "free-threading build" in _sys.version:
    raise ImportError("transect has no build for free-threaded Python: use one with an interpreter lock")

from ._filters import Filters
from ._native import (
    AttributeCache,
    Attributes,
    Change,
    Changes,
    CursorLostError,
    Diff,
    Entry,
    ErrorInfo,
    Growth,
    Map,
    Outcome,
    PartialResultWarning,
    Progress,
    Rows,
    Table,
    Transform,
    Usage,
    Walk,
    Watch,
    __version__,
    changes,
    diff,
    entries,
    glob,
    read_snapshot,
    scan,
    transform,
    treemap,
    usage,
    walk,
    watch,
)
from ._os_walk import os_walk

__all__ = [
    "AttributeCache",
    "Attributes",
    "Change",
    "Changes",
    "CursorLostError",
    "Diff",
    "Entry",
    "ErrorInfo",
    "Filters",
    "Growth",
    "Map",
    "Outcome",
    "PartialResultWarning",
    "Progress",
    "Rows",
    "Table",
    "Transform",
    "Usage",
    "Walk",
    "Watch",
    "__version__",
    "changes",
    "diff",
    "entries",
    "glob",
    "os_walk",
    "read_snapshot",
    "scan",
    "transform",
    "treemap",
    "usage",
    "walk",
    "watch",
]
