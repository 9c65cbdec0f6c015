"""watch: changes, and how the iterator ends."""

import os
import shutil
import signal
import subprocess
import sys
import threading

import pytest
import transect

if sys.platform not in ("linux", "win32"):

    def test_watch_refused_where_it_does_not_exist(tmp_path):
        with pytest.raises(RuntimeError, match="cannot watch"):
            transect.watch(tmp_path)

if sys.platform == "linux":

    def until(watch, kind, path):
        """Returns the change of this kind of a path."""
        for change in watch:
            if (change.kind, change.path) == (kind, path):
                return change
        raise AssertionError(f"it ended before {path} was {kind}")

    def test_changes_invalidate_a_frozen_cache(tmp_path):
        file, new = tmp_path / "file", tmp_path / "new"
        file.write_text("1")
        cache = transect.AttributeCache("frozen")
        with transect.watch(tmp_path) as watch:
            assert cache.get(file).size == 1 and not cache.exists(new)
            file.write_text("22")
            file.rename(new)
            assert cache.get(file).size == 1 and not cache.exists(new)
            for change in watch:
                for path in filter(None, (change.path, change.old_path)):
                    cache.invalidate(path)
                if (change.kind, change.path) == ("added", str(new)):
                    break
        assert cache.get(new).size == 2 and not cache.exists(file)

    def test_changes_have_kinds_paths_and_types(tmp_path):
        (tmp_path / "a").mkdir()
        (tmp_path / "a/file").write_text("1")
        with transect.watch(tmp_path) as watch:
            assert (watch.entries, watch.unwatched, watch.gaps) == (3, 0, 0)
            os.rename(tmp_path / "a", tmp_path / "b")
            a, b = str(tmp_path / "a"), str(tmp_path / "b")
            renamed = until(watch, "renamed", b)
            assert (renamed.old_path, renamed.type) == (a, "directory")
            name = os.fsencode(tmp_path) + b"/b/not-\xff-utf8"
            open(name, "w").close()
            added = until(watch, "added", os.fsdecode(name))
            assert os.fsencode(added) == name and added.old_path is None
            shutil.rmtree(b)
            assert until(watch, "removed", b).type == "directory"
            assert not watch.complete
        assert list(watch) == []

    def test_bytes_and_path_objects_accepted_others_refused(tmp_path):
        for path in [os.fsencode(tmp_path), str(tmp_path), tmp_path]:
            with transect.watch(path) as watch:
                (tmp_path / "file").write_text("1")
                change = next(watch)
                assert os.fspath(change) == str(tmp_path / "file") and "file" in repr(change)
            os.unlink(tmp_path / "file")
        with pytest.raises(FileNotFoundError):
            transect.watch(tmp_path / "none")
        (tmp_path / "file").write_text("1")
        with pytest.raises(OSError, match="[Nn]ot a directory"):
            transect.watch(tmp_path / "file")
        with pytest.raises(TypeError):
            transect.watch(1)

    def test_iterator_ends_when_closed_by_another_thread(tmp_path):
        watch = transect.watch(tmp_path)
        ended = []
        waiting = threading.Thread(target=lambda: ended.append(list(watch)))
        waiting.start()
        watch.close()
        waiting.join()
        assert ended == [[]]

    def test_iterator_ends_with_the_directory(tmp_path):
        root = tmp_path / "root"
        root.mkdir()
        watch = transect.watch(root)
        root.rmdir()
        assert [change.kind for change in watch if change.path != str(root)] == []
        assert watch.complete and watch.errors == []

    def test_interrupt_ends_a_wait(tmp_path):
        program = (
            "import transect, sys\n"
            "watch = transect.watch(sys.argv[1])\n"
            "try:\n"
            "    print('ready', flush=True)\n"
            "    next(watch)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted')\n"
        )
        command = [sys.executable, "-c", program, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout.readline() == "ready\n"
            running.send_signal(signal.SIGINT)
            assert running.stdout.read() == "interrupted\n"
