"""Temporary folders: what stays of a process that was killed goes with the next one, and nothing else does."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from litefuse.support.files import temporary
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.tools.demo import SAVED_MODEL
from tests.every import every

MARK = ".made-by-litefuse"
PROGRAM = """
import sys, time
from pathlib import Path
from typing import Any, cast
from litefuse.support.files.temporary import make_temporary_folder
folders = [make_temporary_folder(place or None) for place in sys.argv[1:]]
for folder in folders:
    Path(folder.name, "deep", "er").mkdir(parents=True)
    Path(folder.name, "deep", "file").write_text("x")
print("made", flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def as_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary, "_tidied", set[str]())


def start(*places: Path | str, tmpdir: Path | None = None) -> subprocess.Popen[str]:
    environment = os.environ | ({"TMPDIR": str(tmpdir)} if tmpdir is not None else {})
    command = [sys.executable, "-c", PROGRAM, *map(str, places)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    assert process.stdout.readline() == "made\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def names(place: Path) -> list[str]:
    return sorted(each.name for each in place.iterdir())


def make_one(place: Path) -> None:
    with make_temporary_folder(place) as folder:
        assert Path(folder).is_dir()


def test_folders_go_in_every_way(tmp_path: Path) -> None:
    first, second = make_temporary_folder(tmp_path), make_temporary_folder(tmp_path)
    with make_temporary_folder(tmp_path) as third:
        Path(third, "file").write_text("x")
        assert len({first.name, second.name, third}) == 3
        assert every(Path(each).is_absolute() for each in (first.name, third))
    assert not Path(third).exists()
    assert Path(first.name).is_dir()
    first.cleanup()
    first.cleanup()
    del second
    gc.collect()
    assert names(tmp_path) == []


def test_what_a_killed_process_left_goes(tmp_path: Path) -> None:
    kill(start(tmp_path))
    assert len(names(tmp_path)) == 1
    make_one(tmp_path)
    assert names(tmp_path) == []


def test_also_in_the_folder_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill(start("", tmpdir=tmp_path))
    assert len(names(tmp_path)) == 1
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with make_temporary_folder():
        assert len(names(tmp_path)) == 1
    assert names(tmp_path) == []


def test_what_a_living_process_has_stays(tmp_path: Path) -> None:
    process = start(tmp_path)
    try:
        before = sorted(tmp_path.rglob("*"))
        make_one(tmp_path)
        assert sorted(tmp_path.rglob("*")) == before
        assert len(before) == 6
    finally:
        kill(process)


def marked(path: Path) -> Path:
    path.mkdir()
    (path / MARK).write_text("")
    (path / "file").write_text("x")
    return path


def a_folder_without_the_mark(place: Path) -> None:
    (place / ".litefuse-mine").mkdir()
    (place / ".litefuse-mine" / "thesis.txt").write_text("x")


def a_file(place: Path) -> None:
    (place / ".litefuse-abcdefgh").write_text("x")


def a_link_to_a_folder_of_ours(place: Path) -> None:
    (place / "litefuse-link").symlink_to(marked(place / "elsewhere"))


def a_mark_that_is_a_link(place: Path) -> None:
    (place / ".litefuse-linked").mkdir()
    (place / "real").write_text("")
    (place / ".litefuse-linked" / MARK).symlink_to(place / "real")


def a_mark_that_is_a_folder(place: Path) -> None:
    (place / ".litefuse-folder" / MARK).mkdir(parents=True)


def another_name(place: Path) -> None:
    marked(place / "litefuse")
    marked(place / "my.litefuse-abc")


@pytest.mark.parametrize(
    "make",
    [
        a_folder_without_the_mark,
        a_file,
        a_link_to_a_folder_of_ours,
        a_mark_that_is_a_link,
        a_mark_that_is_a_folder,
        another_name,
    ],
)
def test_what_is_not_ours_stays(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    make_one(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_what_is_another_user_s_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marked(tmp_path / ".litefuse-abcdefgh")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    make_one(tmp_path)
    assert names(tmp_path) == [".litefuse-abcdefgh"]
    monkeypatch.undo()
    monkeypatch.setattr(temporary, "_tidied", set[str]())
    make_one(tmp_path)  # and the same folder goes where it is this user's
    assert names(tmp_path) == []


def test_links_in_what_goes_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("x")
    left = marked(tmp_path / ".litefuse-abcdefgh")
    (left / "folder").symlink_to(tmp_path / "kept")
    (left / "file link").symlink_to(tmp_path / "kept" / "file")
    (left / "broken").symlink_to(tmp_path / "nothing")
    make_one(tmp_path)
    assert names(tmp_path) == ["kept"]
    assert (tmp_path / "kept" / "file").read_text() == "x"


def test_a_fork_leaves_the_folders_of_its_parent(tmp_path: Path) -> None:
    folder = make_temporary_folder(tmp_path)
    child = os.fork()
    if child == 0:
        folder.cleanup()
        os._exit(0)
    os.waitpid(child, 0)
    assert Path(folder.name).is_dir()
    folder.cleanup()
    assert names(tmp_path) == []


def test_a_conversion_that_was_killed_leaves_nothing_for_long(tmp_path: Path) -> None:
    # The worker imports this in place of the engine, and never ends.
    (tmp_path / "litert_converter.py").write_text("import time; time.sleep(600)")
    (tmp_path / "out").mkdir()
    output = tmp_path / "out" / "m.tflite"
    command = [sys.executable, "-m", "litefuse", "convert", str(SAVED_MODEL), "-o", str(output)]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    process = subprocess.Popen(command, env=environment, start_new_session=True)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "out").glob(f".litefuse-*/{MARK}")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert len(names(tmp_path / "out")) == 1
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert names(tmp_path / "out") == ["m.tflite"]


def test_a_folder_that_ends_while_another_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the garbage collector may have it, within any call."""
    first = [make_temporary_folder(tmp_path)]
    make = cast("Callable[..., str]", tempfile.mkdtemp)

    def made_meanwhile(*args: Any, **options: Any) -> str:
        first.clear()
        return make(*args, **options)

    monkeypatch.setattr(tempfile, "mkdtemp", made_meanwhile)
    with make_temporary_folder(tmp_path) as second:
        assert Path(second).is_dir()
        assert len([*Path(second).parent.glob("tmp*")]) == 1
    assert [*tmp_path.iterdir()] == []
