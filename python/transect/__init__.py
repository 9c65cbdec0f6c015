"""Read directory trees as fast as the system allows.

>>> import transect
>>> table = transect.scan("/usr/share")          # doctest: +SKIP
>>> table.disk_usage, table.complete             # doctest: +SKIP
>>> frame = table.to_polars()                    # doctest: +SKIP

``scan`` reads trees into a table for data frames, ``walk`` iterates over their entries, ``usage`` lists
what needs the most space.
"""

from ._native import (
    Entry,
    ErrorInfo,
    PartialResultWarning,
    Progress,
    Table,
    Usage,
    Walk,
    __version__,
    scan,
    usage,
    walk,
)

__all__ = [
    "Entry",
    "ErrorInfo",
    "PartialResultWarning",
    "Progress",
    "Table",
    "Usage",
    "Walk",
    "__version__",
    "scan",
    "usage",
    "walk",
]
