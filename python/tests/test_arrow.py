"""The Arrow interface: every column against os.lstat, through the libraries that read it."""

import ctypes
import datetime
import gc
import os
import stat

import duckdb
import pandas
import polars
import pyarrow
import pytest
import transect
from conftest import expected, make_names
from test_walk import TYPES

DEFAULT = (
    "path name extension type depth size allocated mtime mode uid gid nlink inode device path_raw".split()
)
ALL = DEFAULT + ["dir", "ctime", "atime", "btime"]


def lossy(path):
    return os.fsencode(path).decode(errors="replace")


def is_utf8(path):
    return lossy(path).encode() == os.fsencode(path)


def rows(tree):
    """Returns the rows that a table must have, in tree order."""
    found = []
    for path, status in expected(tree).items():
        name = os.path.basename(path)
        extension = os.path.splitext(name)[1][1:] or None
        if name.startswith(".") and name.count(".") == 1 or stat.S_ISDIR(status.st_mode):
            extension = None
        found.append(
            {
                "path": lossy(path),
                "dir": lossy(os.path.dirname(path)) if path != tree else "",
                "name": lossy(name) if path != tree else path,
                "extension": extension and lossy(extension),
                "type": TYPES[stat.S_IFMT(status.st_mode)],
                "depth": path.count("/") - tree.count("/"),
                "size": status.st_size,
                "allocated": status.st_blocks * 512,
                "mtime": status.st_mtime_ns,
                "ctime": status.st_ctime_ns,
                "mode": status.st_mode,
                "uid": status.st_uid,
                "gid": status.st_gid,
                "nlink": status.st_nlink,
                "inode": status.st_ino,
                "device": status.st_dev,
                "path_raw": None if is_utf8(path) else os.fsencode(path),
                "order": os.fsencode(path).split(b"/"),
            }
        )
    found.sort(key=lambda row: row.pop("order"))
    return found


def test_every_column_equals_lstat(tree):
    table = transect.scan(tree, columns=ALL).to_arrow()
    assert table.column_names == ALL
    for name in ["mtime", "ctime", "atime", "btime"]:
        assert table.schema.field(name).type == pyarrow.timestamp("ns", tz="UTC")
        index = table.schema.get_field_index(name)
        table = table.set_column(index, name, table[name].cast(pyarrow.int64()))
    table.validate(full=True)
    wanted = rows(tree)
    got = table.to_pylist()
    assert [row["path"] for row in got] == [row["path"] for row in wanted]
    for row, want in zip(got, wanted):
        assert {key: row[key] for key in want} == want
        assert row["atime"] is not None


def test_types_and_metadata(tree, failing):
    schema = transect.scan(tree).to_arrow().schema
    text, u32, u64 = pyarrow.large_string(), pyarrow.uint32(), pyarrow.uint64()
    types = [text, text, text, text, u32, u64, u64, pyarrow.timestamp("ns", tz="UTC")]
    types += [pyarrow.uint16(), u32, u32, u32, u64, u64, pyarrow.large_binary()]
    assert schema.names == DEFAULT and schema.types == types
    assert all(field.nullable for field in schema)
    metadata = {b"transect.version": transect.__version__.encode(), b"transect.complete": b"true"}
    assert schema.metadata == metadata
    assert pyarrow.schema(transect.scan(tree)) == schema
    with pytest.warns(transect.PartialResultWarning):
        partial = transect.scan(failing, gitignore=True)
    assert pyarrow.schema(partial).metadata[b"transect.complete"] == b"false"


def test_polars_pandas_duckdb_read_the_same(tree):
    table = transect.scan(tree)
    wanted = rows(tree)
    total = sum(row["size"] for row in wanted)

    frame = table.to_polars()
    assert isinstance(frame, polars.DataFrame) and frame.columns == DEFAULT
    assert frame["path"].to_list() == [row["path"] for row in wanted]
    assert frame["path_raw"].to_list() == [row["path_raw"] for row in wanted]
    assert frame["size"].sum() == total
    assert frame.schema["mtime"] == polars.Datetime("ns", "UTC")

    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == DEFAULT
    assert list(frame["path"]) == [row["path"] for row in wanted]
    assert frame["size"].sum() == total
    assert list(frame["mtime"].astype("int64")) == [row["mtime"] for row in wanted]

    # DuckDB finds the table by the name of the variable.
    sums = dict(duckdb.sql('SELECT extension, sum(size)::BIGINT FROM "table" GROUP BY ALL').fetchall())
    assert sums["gz"] == 70_000 and sum(sums.values()) == total
    # A second query reads the table once more.
    assert duckdb.sql('SELECT count(*), count(path_raw) FROM "table"').fetchall() == [
        (len(wanted), sum(row["path_raw"] is not None for row in wanted))
    ]


def test_columns_in_the_order_of_the_choice(tree):
    frame = transect.scan(tree, columns=["size", "path"]).to_polars()
    assert frame.columns == ["size", "path"]
    assert frame["size"].sum() == sum(row["size"] for row in rows(tree))


def test_batches_are_bounded(tmp_path):
    # More rows than one batch holds.
    for directory in "12":
        make_names(tmp_path / directory, 35_000)
    table = transect.scan(tmp_path)
    reader = pyarrow.RecordBatchReader.from_stream(table)
    batches = list(reader)
    assert [batch.num_rows for batch in batches] == [65_536, 70_003 - 65_536]
    paths = [path for batch in batches for path in batch["path"].to_pylist()]
    assert len(set(paths)) == 70_003 and paths == sorted(paths, key=lambda path: path.split("/"))
    # A consumer may stop early, and read again.
    reader = pyarrow.RecordBatchReader.from_stream(table)
    first = reader.read_next_batch()
    del reader
    assert first.num_rows == 65_536 and first.equals(batches[0])
    assert table.to_polars().height == 70_003


def test_arrays_outlive_their_table(tree):
    table = transect.scan(tree)
    capsule = table.__arrow_c_stream__()
    arrow = table.to_arrow()
    column = arrow["path"]
    frame = table.to_polars()
    del table, arrow
    gc.collect()
    wanted = [row["path"] for row in rows(tree)]
    assert column.to_pylist() == wanted == frame["path"].to_list()

    class Holder:
        def __arrow_c_stream__(self, requested_schema=None):
            return capsule

    assert pyarrow.table(Holder())["path"].to_pylist() == wanted
    # The consumer has taken the stream over.
    with pytest.raises(Exception, match="(?i)released|invalid"):
        pyarrow.table(Holder())


def test_capsules_that_are_not_used_are_freed(tree):
    table = transect.scan(tree)
    for _ in range(100):
        table.__arrow_c_stream__(requested_schema=None)
        table.__arrow_c_schema__()
        table.__arrow_c_stream__(table.__arrow_c_schema__())
    assert len(table.to_arrow()) == len(table)


class ArrowArray(ctypes.Structure):
    """The struct of the C data interface."""


ArrowArray._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))),
    ("private_data", ctypes.c_void_p),
]


class ArrowArrayStream(ctypes.Structure):
    """The struct of the C stream interface."""


ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.c_void_p),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ArrowArray))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ("private_data", ctypes.c_void_p),
]


def test_consumer_takes_over_a_child(tree):
    """As the specification allows: a child is moved out, then its parent and the stream are released."""
    capsule = transect.scan(tree, columns=["size", "path"]).__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, b"arrow_array_stream")
    stream = ArrowArrayStream.from_address(address)
    batch, moved = ArrowArray(), ArrowArray()
    assert stream.get_next(address, batch) == 0 and batch.n_children == 2
    ctypes.memmove(ctypes.byref(moved), batch.children[0], ctypes.sizeof(ArrowArray))
    ctypes.memset(ctypes.byref(batch.children[0].contents, ArrowArray.release.offset), 0, 8)
    batch.release(batch)
    assert not batch.release
    stream.release(address)
    assert not stream.release
    del capsule
    gc.collect()
    wanted = [row["size"] for row in rows(tree)]
    values = ctypes.cast(moved.buffers[1], ctypes.POINTER(ctypes.c_uint64))
    assert values[: moved.length] == wanted and moved.null_count == 0 and not moved.buffers[0]
    moved.release(moved)
    assert not moved.release


def test_last_array_is_released(tmp_path):
    capsule = transect.scan(tmp_path).__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(capsule, b"arrow_array_stream")
    stream = ArrowArrayStream.from_address(address)
    array = ArrowArray()
    assert stream.get_next(address, array) == 0 and array.length == 1
    array.release(array)
    for _ in range(2):
        assert stream.get_next(address, array) == 0 and not array.release
    assert stream.get_last_error(address) is None


def test_times_before_1970_and_unknown(tmp_path):
    (tmp_path / "old").touch()
    os.utime(tmp_path / "old", ns=(0, -1))
    table = transect.scan(tmp_path, columns=["name", "mtime", "btime"]).to_arrow()
    last = table.to_pylist()[-1]
    assert last["name"] == "old"
    assert last["mtime"].value == -1 if hasattr(last["mtime"], "value") else last["mtime"] < EPOCH
    assert last["btime"] is None or last["btime"] > EPOCH


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
