"""The keyword arguments with which functions select entries: `scan` explains them. None is the default of each."""

import datetime
import os
from collections.abc import Iterable
from typing import Literal, TypeAlias, TypedDict

_FileType: TypeAlias = Literal["file", "directory", "symlink", "block", "char", "fifo", "socket", "unknown"]
_Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Texts: TypeAlias = str | Iterable[str] | None
_Time: TypeAlias = datetime.datetime | datetime.timedelta | float | None


class FiltersOfGlob(TypedDict, total=False):
    """The filters of `glob`, whose patterns are its first argument."""

    exclude: _Texts
    extensions: _Texts
    regex: _Texts
    types: _FileType | Iterable[_FileType] | None
    ignore_case: bool | None
    hidden: bool | None
    gitignore: bool | None
    min_depth: int | None
    max_depth: int | None
    min_size: int | None
    max_size: int | None
    newer: _Time
    older: _Time
    owner: int | str | None
    perm: int | str | None
    empty: bool | None
    broken_links: bool | None
    follow: bool | None
    every_link: bool | None
    one_file_system: bool | None
    pseudo_file_systems: bool | None


class Filters(FiltersOfGlob, total=False):
    """The filters of `scan`, `walk` and all functions that take `**filters`, for programs that pass them on."""

    glob: _Texts
