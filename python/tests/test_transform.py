"""transform: outcomes, errors, and what happens to the files."""

import hashlib
import os
import pathlib

import pytest
import transect
from test_walk import threads_of_process, wait_for_threads


@pytest.fixture
def texts(tmp_path):
    root = tmp_path / "texts"
    (root / "below").mkdir(parents=True)
    (root / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    (root / "lf.txt").write_bytes(b"one\ntwo\n")
    (root / "binary").write_bytes(b"\0\r\n")
    (root / "below" / os.fsdecode(b"\xff.txt")).write_bytes(b"x\r\n")
    return root


def statuses(outcomes, root):
    return {os.path.relpath(outcome.path, root): outcome.status for outcome in outcomes}


NOT_UTF8 = os.path.join("below", os.fsdecode(b"\xff.txt"))
WOULD = {"crlf.txt": "would_change", "lf.txt": "same", "binary": "skipped", NOT_UTF8: "would_change"}


def test_check_changes_nothing(texts):
    before = {path: path.read_bytes() for path in texts.rglob("*") if path.is_file()}
    for in_place in [False, True]:
        outcomes = list(transect.transform("eol=lf", texts, in_place=in_place, check=True))
        assert statuses(outcomes, texts) == WOULD
        assert [outcome.path for outcome in outcomes] == sorted(
            (outcome.path for outcome in outcomes), key=os.fsencode
        )
    assert {path: path.read_bytes() for path in texts.rglob("*") if path.is_file()} == before
    binary, = [outcome for outcome in outcomes if outcome.status == "skipped"]
    assert (binary.reason, binary.bytes_in, binary.error, binary.findings) == ("binary", None, None, [])
    assert repr(binary) == f"<transect.Outcome '{texts}/binary': skipped>"


def test_in_place(texts):
    transform = transect.transform("eol=lf", [texts], in_place=True)
    assert (texts / "crlf.txt").read_bytes() == b"one\r\ntwo\r\n", "nothing happens before the first next"
    outcomes = list(transform)
    wanted = {name: status.replace("would_change", "changed") for name, status in WOULD.items()}
    assert statuses(outcomes, texts) == wanted
    assert (texts / "crlf.txt").read_bytes() == b"one\ntwo\n"
    assert (texts / NOT_UTF8).read_bytes() == b"x\n"
    assert (texts / "binary").read_bytes() == b"\0\r\n"
    [changed] = [outcome for outcome in outcomes if outcome.path == str(texts / "crlf.txt")]
    assert (changed.bytes_in, changed.bytes_out, changed.lost_metadata) == (10, 8, [])
    assert transform.complete and transform.errors == []
    assert next(transform, None) is None
    again = statuses(transect.transform("eol=lf", texts, in_place=True), texts)
    assert set(again.values()) == {"same", "skipped"}


def test_filters_and_steps(texts):
    only = transect.transform(["eol=lf", "case=upper"], texts, in_place=True, glob="crlf*")
    assert statuses(only, texts) == {"crlf.txt": "changed"}
    assert (texts / "crlf.txt").read_bytes() == b"ONE\nTWO\n"
    list(transect.transform("eol=crlf | case=lower", texts / "crlf.txt", in_place=True))
    assert (texts / "crlf.txt").read_bytes() == b"one\r\ntwo\r\n"
    every = statuses(transect.transform("eol=lf", texts, check=True, binary=True), texts)
    assert every["binary"] == "would_change"


def test_findings(texts):
    [outcome] = transect.transform(["blake3", "sha256", "crc32c"], texts / "lf.txt")
    assert outcome.status == "inspected" and outcome.bytes_in == 8
    found = {finding["name"]: finding for finding in outcome.findings}
    wanted = hashlib.sha256(b"one\ntwo\n").hexdigest()
    assert found["sha256"] == {"step": "sha256", "stage": "input", "name": "sha256", "value": wanted}
    assert len(found["blake3"]["value"]) == 64 and len(found["crc32c"]["value"]) == 8


def test_hard_links(texts):
    os.link(texts / "crlf.txt", texts / "second")
    outcomes = {outcome.path: outcome for outcome in transect.transform("eol=lf", texts, in_place=True)}
    first, second = outcomes[str(texts / "crlf.txt")], outcomes[str(texts / "second")]
    assert (first.status, second.status) == ("changed", "same_file")
    assert second.same_file_as == first.path and first.same_file_as is None
    assert os.path.samefile(first.path, second.path)
    os.link(texts / "second", texts / "below" / "third")
    (texts / "second").write_bytes(b"\r\n")
    with pytest.warns(transect.PartialResultWarning, match="1 error: not all files"):
        [failed] = transect.transform("eol=lf", texts / "second", in_place=True)
    assert failed.error.kind == "many_names"
    [broken] = transect.transform("eol=lf", texts / "second", in_place=True, break_links=True)
    assert broken.status == "changed" and (texts / "crlf.txt").read_bytes() == b"\r\n"


def test_failed_files_are_data(texts):
    (texts / "bad.gz").write_bytes(b"not compressed")
    transform = transect.transform("decode=utf-8", texts, check=True, glob="*.gz")
    [good] = transform
    assert good.status == "same" and transform.complete
    (texts / "bad.gz").write_bytes(b"\xff\xfe\xff")
    transform = transect.transform("decode=utf-8", texts, check=True, glob="*.gz", binary=True)
    with pytest.warns(transect.PartialResultWarning, match="1 error"):
        [bad] = transform
    assert bad.status == "failed" and not transform.complete
    assert (bad.error.kind, bad.error.operation) == ("refused", "transform")
    assert bad.error.path == str(texts / "bad.gz") and "bad.gz" in bad.error.message
    assert (texts / "bad.gz").read_bytes() == b"\xff\xfe\xff"


def test_missing_root_raises_before_anything_changes(texts):
    transform = transect.transform("eol=lf", [texts, texts / "missing"], in_place=True)
    with pytest.raises(FileNotFoundError) as caught:
        next(transform)
    assert caught.value.filename == str(texts / "missing")
    assert (texts / "crlf.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert next(transform, None) is None and not transform.complete


def test_early_end_stops(large):
    before = threads_of_process()
    with transect.transform("xxh3", large) as transform:
        next(transform)
    wait_for_threads(before)
    assert list(transform) == [] and not transform.complete
    for outcome in transect.transform("xxh3", large):
        break
    wait_for_threads(before)
    assert outcome.status in ["inspected", "same_file"]
    unused = transect.transform("xxh3", large)
    unused.close()
    assert list(unused) == []


@pytest.mark.parametrize(
    ("steps", "options", "error", "message"),
    [
        ("eol=lf", {}, ValueError, "use in_place=True or check=True"),
        ("copy", {}, ValueError, "use in_place=True or check=True"),
        ([], {"check": True}, ValueError, "no step was given"),
        ("eol=lfx", {"check": True}, ValueError, "eol=lfx"),
        ("eoll=lf", {"check": True}, ValueError, "did you mean"),
        ("eol=lf", {"check": True, "threads": 0}, ValueError, "threads must be at least 1"),
        ("eol=lf", {"check": True, "glob": "["}, ValueError, "cannot parse pattern"),
        ("eol=lf", {"check": True, "output": "x"}, TypeError, "unexpected keyword argument 'output'"),
        (3, {"check": True}, TypeError, None),
    ],
)
def test_bad_arguments(texts, steps, options, error, message):
    with pytest.raises(error, match=message):
        transect.transform(steps, texts, **options)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_transform_made_before_fork(large):
    transform = transect.transform("xxh3", large, threads=2)
    next(transform)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                next(transform)
            except RuntimeError as error:
                assert "made before a fork" in str(error)
                del transform
                code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert sum(1 for _ in transform) == 4_999
