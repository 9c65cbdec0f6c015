"""changes: what a running service reports after a cursor."""

import os
import subprocess
import sys

import pytest
import transect

CURSOR = "0123456789abcdef:1"


def test_no_service_and_no_cursor_reported(tmp_path):
    with pytest.raises(ValueError, match="not a cursor"):
        transect.changes(tmp_path, "yesterday")
    with pytest.raises(FileNotFoundError):
        transect.changes(tmp_path / "none")
    with pytest.raises(RuntimeError, match="service"):
        transect.changes(tmp_path, CURSOR, socket=tmp_path / "none")


if sys.platform == "linux" and "TRANSECT" in os.environ:

    @pytest.fixture
    def followed(live, tmp_path):
        (tmp_path / "tree/a").mkdir(parents=True)
        os.symlink("tree", tmp_path / "link")
        live(tmp_path / "tree")
        return tmp_path / "tree"

    def test_changes_since_a_cursor_in_their_order(followed):
        begin = transect.changes(followed)
        assert list(begin) == [] and not begin.gap
        (followed / "a/new").mkdir()
        added = transect.changes(followed, begin.cursor)
        os.rename(followed / "a", followed / "b")
        since = transect.changes(followed, begin.cursor)
        assert len(since) == len(list(since)) and since.cursor != added.cursor != begin.cursor
        told = [(it.kind, it.path, it.old_path, it.type) for it in since if it.kind != "modified"]
        a, b = str(followed / "a"), str(followed / "b")
        assert told == [("added", a + "/new", None, "directory"), ("renamed", b, a, "directory")]
        assert [it.kind for it in transect.changes(followed, added.cursor) if it.kind != "modified"] == ["renamed"]
        assert [it for it in transect.changes(followed, since=since.cursor) if it.kind != "modified"] == []
        assert "cursor" in repr(since)

    def test_paths_begin_as_given(followed, monkeypatch):
        cursor = transect.changes(followed).cursor
        (followed / "file").write_text("1")
        monkeypatch.chdir(followed.parent)
        for given in ["link", b"tree", os.path.join("tree", "..", "tree")]:
            [added] = [it for it in transect.changes(given, cursor) if it.kind == "added"]
            assert added.path == os.path.join(os.fsdecode(given), "file")

    def test_cursor_of_another_service_lost_and_the_one_of_now_returned(followed):
        with pytest.raises(transect.CursorLostError, match="anything may have changed") as lost:
            transect.changes(followed, CURSOR)
        (followed / "file").write_text("1")
        assert "added" in [it.kind for it in transect.changes(followed, lost.value.cursor)]
        assert issubclass(transect.CursorLostError, RuntimeError)

    def test_directory_that_is_not_followed_or_gone_reported(followed):
        for path in [followed / "a", followed.parent]:
            with pytest.raises(RuntimeError, match="not follow.*start `transect live"):
                transect.changes(path)
        cursor = transect.changes(followed).cursor
        os.rename(followed, followed.parent / "moved")
        followed.mkdir()
        with pytest.raises(FileNotFoundError):
            transect.changes(followed, cursor)

    def test_cursors_are_those_of_the_program(followed):
        printed = subprocess.run([os.environ["TRANSECT"], "changes", "--cursor", followed], capture_output=True)
        assert printed.stdout.decode().strip() == transect.changes(followed).cursor
