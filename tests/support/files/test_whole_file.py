"""Files that appear whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from litefuse.support.files.whole_file import whole_file, write_new


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with whole_file(path) as partial:
        partial.write_text("after")
        assert path.read_text() == "before"
        (folder,) = (each for each in tmp_path.iterdir() if each != path)
        assert partial.is_relative_to(folder)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert path.read_text() == "after"
    (tmp_path / "plain").touch()
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "plain"]


def test_nothing_is_left_of_what_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with whole_file(tmp_path / "file") as partial:
            partial.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 250, "\u00e4" * 120, "a b"])
def test_names_of_any_length(tmp_path: Path, name: str) -> None:
    with whole_file(tmp_path / name) as partial:
        partial.write_text("all")
    assert (tmp_path / name).read_text() == "all"


def test_no_partial_file_is_named_alike_twice(tmp_path: Path) -> None:
    with whole_file(tmp_path / "file") as one, whole_file(tmp_path / "file") as other:
        assert one != other
        one.touch()
        other.touch()


def test_a_link_stays_one(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder / "file")
    with whole_file(tmp_path / "link") as partial:
        partial.write_text("all")
    assert (tmp_path / "link").is_symlink()
    assert (folder / "file").read_text() == "all"


def test_nothing_is_written_through_a_link_in_a_new_folder(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (tmp_path / "link").symlink_to(other)
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "link", b"content")
    other.write_text("kept")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "link", b"content")
    assert other.read_text() == "kept"
