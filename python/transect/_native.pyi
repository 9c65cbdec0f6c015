"""Types of the extension module. Its functions and classes have the documentation."""

import builtins
import datetime
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, final

import pandas
import polars
import pyarrow
from typing_extensions import disjoint_base

_Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_Texts: TypeAlias = str | Iterable[str] | None
_FileType: TypeAlias = Literal[
    "file", "directory", "symlink", "block", "char", "fifo", "socket", "unknown"
]
_Key: TypeAlias = Literal["ext", "owner", "type"]
_Time: TypeAlias = datetime.datetime | datetime.timedelta | float | None
_Level: TypeAlias = Literal["frozen", "checked", "watched", "verified"]
_Status: TypeAlias = Literal[
    "changed", "would_change", "same", "looked", "same_file", "skipped", "failed"
]
_Sort: TypeAlias = Literal[
    "path", "name", "size", "allocated", "mtime", "ctime", "atime", "btime", "nlink", "inode"
]

__all__ = [
    "AttributeCache",
    "Attributes",
    "Diff",
    "Entry",
    "ErrorInfo",
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
    "__version__",
    "commit",
    "diff",
    "first_task",
    "give_up_task",
    "glob",
    "list",
    "map",
    "parse_size",
    "read_part",
    "read_snapshot",
    "run_task",
    "scan",
    "transform",
    "usage",
    "walk",
]

__version__: str

class PartialResultWarning(UserWarning): ...

@final
class ErrorInfo:
    @property
    def path(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def errno(self) -> int | None: ...
    @property
    def message(self) -> str: ...

@final
class Progress:
    @property
    def entries(self) -> int: ...
    @property
    def directories(self) -> int: ...
    @property
    def disk_usage(self) -> int: ...
    @property
    def errors(self) -> int: ...
    @property
    def finished(self) -> bool: ...

@disjoint_base
class Rows:
    def __len__(self) -> int: ...
    def to_polars(self) -> polars.DataFrame: ...
    def to_pandas(self) -> pandas.DataFrame: ...
    def to_arrow(self) -> pyarrow.Table: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Table(Rows):
    @property
    def roots(self) -> builtins.list[str]: ...
    @property
    def files(self) -> int: ...
    @property
    def directories(self) -> int: ...
    @property
    def others(self) -> int: ...
    @property
    def symlinks(self) -> int: ...
    @property
    def disk_usage(self) -> int: ...
    @property
    def apparent_size(self) -> int: ...
    @property
    def hard_links(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    @property
    def errors(self) -> builtins.list[ErrorInfo]: ...
    @property
    def error_count(self) -> int: ...
    @property
    def vanished(self) -> int: ...
    @property
    def skipped(self) -> dict[str, int]: ...
    @property
    def started_ns(self) -> int | None: ...
    @property
    def ended_ns(self) -> int | None: ...
    @property
    def host(self) -> str | None: ...
    def write_snapshot(self, path: _Path) -> None: ...
    def __bool__(self) -> bool: ...
    def _repr_html_(self) -> str: ...
    def usage(self, top: int = 20, by: _Key | None = None) -> builtins.list[Usage]: ...

@final
class Diff(Rows):
    @property
    def complete(self) -> bool: ...
    @property
    def counts(self) -> dict[str, int]: ...
    @property
    def disk_usage_before(self) -> int: ...
    @property
    def disk_usage_after(self) -> int: ...
    @property
    def growth(self) -> builtins.list[Growth]: ...
    def __bool__(self) -> bool: ...

@final
class Growth:
    @property
    def path(self) -> str: ...
    @property
    def before(self) -> int: ...
    @property
    def after(self) -> int: ...

@final
class Usage:
    @property
    def key(self) -> Any: ...
    @property
    def disk_usage(self) -> int: ...
    @property
    def apparent_size(self) -> int: ...
    @property
    def files(self) -> int: ...
    @property
    def directories(self) -> int: ...
    @property
    def others(self) -> int: ...
    @property
    def newest_ns(self) -> int | None: ...

@disjoint_base
class Attributes:
    @property
    def type(self) -> _FileType: ...
    @property
    def size(self) -> int | None: ...
    @property
    def allocated(self) -> int | None: ...
    @property
    def mtime(self) -> float | None: ...
    @property
    def mtime_ns(self) -> int | None: ...
    @property
    def ctime_ns(self) -> int | None: ...
    @property
    def atime_ns(self) -> int | None: ...
    @property
    def btime_ns(self) -> int | None: ...
    @property
    def mode(self) -> int | None: ...
    @property
    def uid(self) -> int | None: ...
    @property
    def gid(self) -> int | None: ...
    @property
    def nlink(self) -> int | None: ...
    @property
    def inode(self) -> int | None: ...
    @property
    def device(self) -> int | None: ...
    def is_dir(self) -> bool: ...
    def is_file(self) -> bool: ...
    def is_symlink(self) -> bool: ...

@final
class Entry(Attributes, os.PathLike[str]):
    @property
    def path(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def depth(self) -> int: ...
    def __fspath__(self) -> str: ...

@final
class Walk:
    def __iter__(self) -> Iterator[Entry]: ...
    def __next__(self) -> Entry: ...
    def close(self) -> None: ...
    @property
    def complete(self) -> bool: ...
    @property
    def errors(self) -> builtins.list[ErrorInfo]: ...
    @property
    def error_count(self) -> int: ...
    def __enter__(self) -> Walk: ...
    def __exit__(self, *_args: object) -> None: ...

def scan(
    paths: _Path | Iterable[_Path],
    *,
    columns: Sequence[str] | None = None,
    progress: bool | Callable[[Progress], object] | None = None,
    glob: _Texts = None,
    exclude: _Texts = None,
    extensions: _Texts = None,
    regex: _Texts = None,
    types: _FileType | Iterable[_FileType] | None = None,
    ignore_case: bool = False,
    hidden: bool = True,
    gitignore: bool = False,
    min_depth: int = 0,
    max_depth: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    newer: _Time = None,
    older: _Time = None,
    owner: int | str | None = None,
    perm: int | str | None = None,
    empty: bool = False,
    broken_links: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
    pseudo_file_systems: bool = False,
    threads: int | None = None,
) -> Table: ...
def usage(
    paths: _Path | Iterable[_Path],
    *,
    top: int = 20,
    by: _Key | None = None,
    progress: bool | Callable[[Progress], object] | None = None,
    glob: _Texts = None,
    exclude: _Texts = None,
    extensions: _Texts = None,
    regex: _Texts = None,
    types: _FileType | Iterable[_FileType] | None = None,
    ignore_case: bool = False,
    hidden: bool = True,
    gitignore: bool = False,
    min_depth: int = 0,
    max_depth: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    newer: _Time = None,
    older: _Time = None,
    owner: int | str | None = None,
    perm: int | str | None = None,
    empty: bool = False,
    broken_links: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
    pseudo_file_systems: bool = False,
    threads: int | None = None,
) -> builtins.list[Usage]: ...
@final
class Map:
    @property
    def html(self) -> str: ...
    def write(self, path: _Path) -> None: ...
    def _repr_html_(self) -> str: ...

@final
class Outcome:
    @property
    def path(self) -> str: ...
    @property
    def status(self) -> _Status: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def same_file_as(self) -> str | None: ...
    @property
    def bytes_in(self) -> int | None: ...
    @property
    def bytes_out(self) -> int | None: ...
    @property
    def findings(self) -> builtins.list[dict[str, str]]: ...
    @property
    def lost_metadata(self) -> builtins.list[str]: ...
    @property
    def error(self) -> ErrorInfo | None: ...

@final
class Transform:
    def __iter__(self) -> Iterator[Outcome]: ...
    def __next__(self) -> Outcome: ...
    def close(self) -> None: ...
    @property
    def complete(self) -> bool: ...
    @property
    def errors(self) -> builtins.list[ErrorInfo]: ...
    def __enter__(self) -> Transform: ...
    def __exit__(self, *_args: object) -> None: ...

@final
class AttributeCache:
    def __new__(
        cls,
        level: _Level = "checked",
        *,
        base: _Path | None = None,
        roots: _Path | Iterable[_Path] | None = None,
        memory: int | None = None,
    ) -> AttributeCache: ...
    @property
    def level(self) -> _Level: ...
    @property
    def memory(self) -> int: ...
    @property
    def counts(self) -> dict[str, int]: ...
    def get(self, path: _Path, *, follow: bool = True) -> Attributes: ...
    def get_many(self, paths: Iterable[_Path], *, follow: bool = True) -> Rows: ...
    def exists(self, path: _Path) -> bool: ...
    def freeze(self) -> None: ...
    def thaw(self) -> None: ...
    def settle(self) -> bool: ...
    def clear(self) -> None: ...
    def invalidate(self, path: _Path) -> None: ...

def diff(
    a: Table | _Path,
    b: Table | _Path,
    *,
    ignore: str | Iterable[str] | None = None,
    verify: bool = False,
) -> Diff: ...
def read_snapshot(path: _Path, *, columns: Sequence[str] | None = None) -> Table: ...
def glob(
    patterns: str | Iterable[str],
    paths: _Path | Iterable[_Path] | None = None,
    *,
    sort: _Sort | None = None,
    reverse: bool = False,
    limit: int | None = None,
    attributes: bool = True,
    exclude: _Texts = None,
    extensions: _Texts = None,
    regex: _Texts = None,
    types: _FileType | Iterable[_FileType] | None = None,
    ignore_case: bool = False,
    hidden: bool = True,
    gitignore: bool = False,
    min_depth: int = 0,
    max_depth: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    newer: _Time = None,
    older: _Time = None,
    owner: int | str | None = None,
    perm: int | str | None = None,
    empty: bool = False,
    broken_links: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
    pseudo_file_systems: bool = False,
    threads: int | None = None,
) -> Walk: ...
def list(
    paths: _Path | Iterable[_Path] | None = None,
    *,
    sort: _Sort | None = None,
    reverse: bool = False,
    limit: int | None = None,
    attributes: bool = True,
    glob: _Texts = None,
    exclude: _Texts = None,
    extensions: _Texts = None,
    regex: _Texts = None,
    types: _FileType | Iterable[_FileType] | None = None,
    ignore_case: bool = False,
    hidden: bool = True,
    gitignore: bool = False,
    min_depth: int = 0,
    max_depth: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    newer: _Time = None,
    older: _Time = None,
    owner: int | str | None = None,
    perm: int | str | None = None,
    empty: bool = False,
    broken_links: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
    pseudo_file_systems: bool = False,
    threads: int | None = None,
) -> Walk: ...
def transform(
    steps: str | Iterable[str],
    paths: _Path | Iterable[_Path],
    *,
    in_place: bool = False,
    check: bool = False,
    break_links: bool = False,
    keep_times: bool = False,
    binary: bool = False,
    threads: int | None = None,
    glob: _Texts = None,
    exclude: _Texts = None,
    extensions: _Texts = None,
    regex: _Texts = None,
    types: _FileType | Iterable[_FileType] | None = None,
    ignore_case: bool = False,
    hidden: bool = True,
    gitignore: bool = False,
    min_depth: int = 0,
    max_depth: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    newer: _Time = None,
    older: _Time = None,
    owner: int | str | None = None,
    perm: int | str | None = None,
    empty: bool = False,
    broken_links: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
    pseudo_file_systems: bool = False,
) -> Transform: ...
def map(
    tree: Table | _Path | Iterable[_Path],
    *,
    measure: Literal["disk_usage", "apparent_size"] = "disk_usage",
    max_entries: int = 100000,
    height: int = 600,
    progress: bool | Callable[[Progress], object] | None = None,
    glob: _Texts = None,
    exclude: _Texts = None,
    extensions: _Texts = None,
    regex: _Texts = None,
    types: _FileType | Iterable[_FileType] | None = None,
    ignore_case: bool = False,
    hidden: bool = True,
    gitignore: bool = False,
    min_depth: int = 0,
    max_depth: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    newer: _Time = None,
    older: _Time = None,
    owner: int | str | None = None,
    perm: int | str | None = None,
    empty: bool = False,
    broken_links: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
    pseudo_file_systems: bool = False,
    threads: int | None = None,
) -> Map: ...
def walk(
    paths: _Path | Iterable[_Path],
    *,
    attributes: bool = True,
    glob: _Texts = None,
    exclude: _Texts = None,
    extensions: _Texts = None,
    regex: _Texts = None,
    types: _FileType | Iterable[_FileType] | None = None,
    ignore_case: bool = False,
    hidden: bool = True,
    gitignore: bool = False,
    min_depth: int = 0,
    max_depth: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    newer: _Time = None,
    older: _Time = None,
    owner: int | str | None = None,
    perm: int | str | None = None,
    empty: bool = False,
    broken_links: bool = False,
    follow: bool = False,
    one_file_system: bool = False,
    pseudo_file_systems: bool = False,
    threads: int | None = None,
) -> Walk: ...

# For `transect.distributed`.
def first_task(paths: _Path | Iterable[_Path], options: str, directory_entries: int) -> str: ...
def run_task(
    first: str,
    folder: _Path,
    place: tuple[str, int] | None = None,
    *,
    entries: int,
    seconds: float | None = None,
    split: int,
    threads: int | None = None,
    busy_threads: int | None = None,
) -> bool: ...
def give_up_task(first: str, folder: _Path, place: tuple[str, int] | None = None) -> None: ...
def read_part(
    first: str, folder: _Path, place: tuple[str, int] | None = None
) -> tuple[str, int, int, int] | None: ...
def parse_size(text: str) -> int: ...
def commit(
    folder: _Path, output: _Path | None = None, *, memory: int | None = None, options: Sequence[str] = ...
) -> tuple[int, int, int]: ...
