"""Snapshots and differences, also against the program's own columns and names."""

import os
import pathlib
import shutil

import duckdb
import polars
import pyarrow
import pyarrow.parquet
import pytest
import transect
from conftest import expected
from test_arrow import DEFAULT


@pytest.fixture
def stored(tree, tmp_path):
    transect.scan(tree).write_snapshot(tmp_path / "a.parquet")
    return tmp_path / "a.parquet"


def test_snapshot_has_what_was_scanned(tree, stored):
    table, snapshot = transect.scan(tree), transect.read_snapshot(stored)
    assert isinstance(snapshot, transect.Table) and len(snapshot) == len(expected(tree))
    for name in [
        "roots", "files", "directories", "others", "symlinks", "disk_usage", "apparent_size", "hard_links",
        "complete", "errors", "error_count", "vanished", "skipped", "host",
    ]:
        assert getattr(snapshot, name) == getattr(table, name), name
    assert snapshot.host == os.uname().nodename
    assert 0 < snapshot.started_ns <= snapshot.ended_ns <= table.started_ns <= table.ended_ns
    assert snapshot.to_arrow().equals(table.to_arrow())
    assert [usage.key for usage in snapshot.usage(top=3)] == [usage.key for usage in table.usage(top=3)]
    columns = ["name", "size", "dir"]
    chosen = transect.read_snapshot(str(stored), columns=columns).to_arrow()
    assert chosen.column_names == columns
    assert chosen.equals(transect.scan(tree, columns=columns).to_arrow())


def test_other_programs_read_the_file(tree, stored):
    wanted = sum(status.st_size for status in expected(tree).values())
    assert pyarrow.parquet.read_table(stored, columns=["size"])["size"].to_pylist().count(70_000) == 1
    assert polars.read_parquet(stored, columns=["size"])["size"].sum() == wanted
    assert duckdb.sql(f"SELECT sum(size) FROM '{stored}'").fetchall() == [(wanted,)]


def test_attributes_that_are_not_stored(tree, tmp_path):
    file = tmp_path / "sizes.parquet"
    transect.scan(tree, columns=["size"]).write_snapshot(file)
    frame = transect.read_snapshot(file).to_polars()
    assert frame.columns == DEFAULT
    assert frame["size"].null_count() == 0 and frame["mtime"].null_count() == len(frame)
    with pytest.raises(ValueError, match="sizes.parquet' does not have 'mtime'"):
        transect.read_snapshot(file, columns=["path", "mtime"])


def test_snapshot_without_checksums_is_unverified(tree, stored):
    golden = pathlib.Path(__file__).with_name("version-1.parquet")
    with pytest.warns(transect.PartialResultWarning):
        assert transect.read_snapshot(golden).unverified
    assert not transect.read_snapshot(stored).unverified and not transect.scan(tree).unverified
    with pytest.warns(transect.PartialResultWarning):
        assert transect.diff(golden, stored).unverified
    assert not transect.diff(stored, stored).unverified


def test_partial_snapshot_warns(failing, tmp_path):
    file = tmp_path / "partial.parquet"
    with pytest.warns(transect.PartialResultWarning):
        table = transect.scan(failing, gitignore=True)
    table.write_snapshot(file)
    with pytest.warns(transect.PartialResultWarning, match="1 error"):
        snapshot = transect.read_snapshot(file)
    assert not snapshot.complete and snapshot.error_count == 1
    assert [error.message for error in snapshot.errors] == [error.message for error in table.errors]
    with pytest.warns(transect.PartialResultWarning, match="changes may be missing"):
        difference = transect.diff(file, table)
    assert not difference.complete and repr(difference) == "<transect.Diff: 0 changes, partial>"


def test_files_that_are_not_snapshots(tree, stored, tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        transect.read_snapshot(tmp_path / "missing")
    assert caught.value.filename == str(tmp_path / "missing")
    with pytest.raises(ValueError, match="not a Parquet file"):
        transect.read_snapshot(tree + "/a.txt")
    with pytest.raises(OSError):
        transect.read_snapshot(tree)
    other = tmp_path / "other.parquet"
    polars.DataFrame({"a": [1, 2]}).write_parquet(other)
    with pytest.raises(ValueError, match="not a snapshot of transect"):
        transect.read_snapshot(other)
    with pytest.raises(ValueError, match="embedded null byte"):
        transect.read_snapshot("a\0b")


def test_damaged_snapshots_never_crash(tree, stored, tmp_path):
    whole = stored.read_bytes()
    file = tmp_path / "damaged.parquet"
    failed = 0
    for position in range(0, len(whole), max(1, len(whole) // 150)):
        for damaged in [whole[:position], whole[:position] + b"\xff\x00\xff" + whole[position + 3 :]]:
            file.write_bytes(damaged)
            try:
                transect.diff(transect.read_snapshot(file), file)
            except (ValueError, OverflowError, OSError):
                failed += 1
    assert failed > 100


def test_write_is_atomic_and_refuses_relative_roots(tree, tmp_path, monkeypatch):
    file = tmp_path / "kept.parquet"
    file.write_text("before")
    with pytest.raises(ValueError, match="not an absolute path; scan os.path.abspath"):
        monkeypatch.chdir(tree)
        transect.scan(".").write_snapshot(file)
    assert file.read_text() == "before"
    with pytest.raises(FileNotFoundError):
        transect.scan(tree).write_snapshot(tmp_path / "missing" / "a.parquet")
    with pytest.raises(OSError):
        transect.scan(tree).write_snapshot(tree)
    transect.scan(tree).write_snapshot(os.fsencode(file))
    assert len(transect.read_snapshot(file)) == len(expected(tree))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.parquet", "tree"]


@pytest.fixture
def changed(tree, stored):
    """Changes the tree of `stored`."""
    root = pathlib.Path(tree)
    (root / "a.txt").write_text("longer than before")
    (root / "new").mkdir()
    (root / "new" / "file").write_text("1234")
    (root / "empty").unlink()
    (root / "empty-dir").rmdir()
    (root / "empty-dir").write_text("a file")
    (root / "sub" / "deeper").rename(root / "moved")
    os.rename(os.fsencode(root) + b"/not-\xff-utf8.txt", os.fsencode(root) + b"/now-\xff.txt")
    return root


def changes(difference):
    """Returns kind, path and path in the first tree of each change, without attributes of directories."""
    rows = difference.to_arrow().to_pylist()
    consequence = {"size", "allocated", "mtime", "ctime", "nlink"}
    own = [
        row for row in rows
        if row["after_type"] != "directory" or row["change"] != "modified"
        or not set(row["changed"].split(",")) <= consequence
    ]
    return {(row["change"], row["path"], row["from"]) for row in own}


def test_diff_of_paths_tables_and_directories(changed, stored, tmp_path):
    now = transect.scan(changed)
    other = tmp_path / "b.parquet"
    now.write_snapshot(other)
    before, root = transect.read_snapshot(stored), str(changed)
    wanted = {
        ("modified", f"{root}/a.txt", None),
        ("modified", f"{root}/sub/second-name", None),
        ("added", f"{root}/new", None),
        ("removed", f"{root}/empty", None),
        ("type_changed", f"{root}/empty-dir", None),
        ("renamed", f"{root}/moved", f"{root}/sub/deeper"),
        ("renamed", f"{root}/now-\ufffd.txt", f"{root}/not-\ufffd-utf8.txt"),
    }
    for a in [stored, str(stored), before]:
        for b in [changed, now, other, transect.read_snapshot(other)]:
            difference = transect.diff(a, b)
            found = changes(difference)
            # Without times of creation, a directory that moved is removed and added.
            if ("removed", f"{root}/sub/deeper", None) in found:
                found -= {("removed", f"{root}/sub/deeper", None), ("added", f"{root}/moved", None)}
                found |= {("renamed", f"{root}/moved", f"{root}/sub/deeper")}
            assert found == wanted, (a, b)
            assert difference.complete and difference
            assert difference.disk_usage_before == before.disk_usage
            assert difference.disk_usage_after == now.disk_usage
            assert difference.counts["added"] >= 2 and difference.counts["type_changed"] == 1
            assert len(difference) == difference.to_arrow().num_rows
    assert repr(difference) == f"<transect.Diff: {len(difference)} changes, complete>"


def test_columns_of_a_diff(changed, stored):
    difference = transect.diff(stored, changed)
    table = pyarrow.table(difference)
    table.validate(full=True)
    assert table.schema.field("growth").type == pyarrow.int64()
    assert table.schema.field("before_mtime").type == pyarrow.timestamp("ns", tz="UTC")
    rows = {row["path"]: row for row in table.to_pylist()}
    text = rows[f"{changed}/a.txt"]
    assert (text["before_size"], text["after_size"], text["before_entries"]) == (5, 18, 1)
    assert {"size", "mtime"} <= set(text["changed"].split(",")) and text["growth"] == 0
    new = rows[f"{changed}/new"]
    assert (new["before_type"], new["after_type"], new["after_entries"]) == (None, "directory", 2)
    assert new["growth"] == new["after_total_allocated"] > 0 and new["changed"] is None
    moved = rows[f"{changed}/now-\ufffd.txt"]
    assert moved["path_raw"] == os.fsencode(changed) + b"/now-\xff.txt"
    assert moved["from_raw"] == os.fsencode(changed) + b"/not-\xff-utf8.txt"
    added = duckdb.sql("SELECT count(*) FROM difference WHERE change = 'added'").fetchall()
    assert added == [(1,)]
    assert difference.to_polars().height == len(difference) == len(difference.to_pandas())


def test_growth_of_directories(tree, stored):
    pathlib.Path(tree, "sub", "huge").write_bytes(b"x" * 1_000_000)
    difference = transect.diff(stored, tree)
    [growth, *_] = difference.growth
    assert growth.path == tree + "/sub" and growth.after - growth.before >= 1_000_000
    assert repr(growth) == f"<transect.Growth '{tree}/sub': +{growth.after - growth.before} bytes>"


def test_ignored_attributes(tree, stored):
    os.utime(tree + "/a.txt", ns=(1, 1))
    assert transect.diff(stored, tree)
    both = ["mtime", "ctime"]
    assert not transect.diff(stored, tree, ignore=both)
    assert not transect.diff(stored, tree, ignore="mtime", verify=True)
    assert len(transect.diff(stored, stored)) == 0
    with pytest.raises(ValueError, match="'path' is not compared; compared are: size, allocated"):
        transect.diff(stored, tree, ignore=["path"])


def test_diff_of_a_missing_tree(tree, stored):
    with pytest.raises(FileNotFoundError) as caught:
        transect.diff(stored, tree + "/missing")
    assert caught.value.filename == tree + "/missing"
    with pytest.raises(TypeError):
        transect.diff(stored, 3)


def test_diff_of_a_relative_directory(tree, stored, monkeypatch):
    monkeypatch.chdir(tree)
    shutil.rmtree("sub")
    found = changes(transect.diff(stored, "."))
    assert ("removed", tree + "/sub", None) in found
    assert not transect.diff(".", ".")


def test_signal_stops_diff(growing, interrupted):
    for roots in growing:
        if interrupted(lambda: transect.diff(roots[-1].parent, roots[-1].parent)):
            break
    assert not transect.diff(roots[0], roots[0])
